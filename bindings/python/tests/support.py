"""What the tests of the binding share: a Cove of its own below a temporary directory."""

import asyncio
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any, Callable, Dict, Optional, TypeVar

import cove
from cove import aio

SOURCE = pathlib.Path(cove.__file__).resolve().parent.parent
T = TypeVar("T")
KEY = cove.WorkspaceKey("app", "demo", "ana")


class Home:
    """A state directory with what runs below it; `end` leaves nothing behind."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="cove-python-")
        #: Of every Cove that is opened here without another one, also the one that ends all.
        self.config: Dict[str, Any] = {}

    def open(self, **named: Any) -> cove.Cove:
        named.setdefault("config", self.config)
        return cove.Cove(os.path.join(self.path, "state"), **named)

    def end(self) -> None:
        with contextlib.suppress(cove.CoveError), self.open() as c:
            destroy_all(c)
        shutil.rmtree(self.path, ignore_errors=True)


def destroy_all(c: cove.Cove) -> None:
    for record in list(c.list()):
        c.destroy(record["sandbox_id"])


def make_tree(root: str) -> None:
    """The least root file system that has a shell, and a file by which a command knows it."""
    os.makedirs(root + "/etc")
    pathlib.Path(root, "etc/mark").write_text("named tree\n")
    for top in ("bin", "lib", "lib64"):
        os.makedirs(f"{root}/usr/{top}")
        os.symlink(f"usr/{top}", f"{root}/{top}")
    libraries = [f"/usr/lib/{machine}-linux-gnu/libc.so.6" for machine in ("x86_64", "aarch64")]
    loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
    for name in ["/bin/sh", "/bin/cat", *loaders, *libraries, "/usr/lib64/libc.so.6"]:
        if os.path.exists(name):
            there = root + (name if name.startswith("/usr/") else "/usr" + name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy(os.path.realpath(name), there)


class WithCove(unittest.TestCase):
    home: Home
    workspace: cove.Workspace
    cove: cove.Cove

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = Home()
        cls.addClassCleanup(cls.home.end)
        cls.cove = cls.home.open()
        cls.addClassCleanup(cls.cove.close)
        cls.workspace = cls.cove.acquire(KEY, chat_id="c1")
        cls.addClassCleanup(cls.workspace.close)


def given(value: Optional[T]) -> T:
    """A value that is there."""
    assert value is not None
    return value


def run_python(code: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs code in a process of its own, with the binding on its path."""
    return run_program("-c", textwrap.dedent(code), *arguments, **environment)


def run_program(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The same with the arguments that Python gets."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )


class WithAsyncCove(unittest.IsolatedAsyncioTestCase):
    """A Cove that all tests of a class share, each on an event loop of its own."""

    home: Home
    workspace: aio.Workspace
    cove: aio.Cove

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = Home()
        cls.addClassCleanup(cls.home.end)
        asyncio.run(cls._open())
        cls.addClassCleanup(lambda: asyncio.run(cls._close()))

    @classmethod
    async def _open(cls) -> None:
        cls.cove = await aio.Cove(os.path.join(cls.home.path, "state"))
        cls.workspace = await cls.cove.acquire(KEY, chat_id="c1")

    @classmethod
    async def _close(cls) -> None:
        await cls.workspace.close()
        await cls.cove.close()


async def eventually(true: Callable[[], bool]) -> None:
    """Waits until it is so; the test's time limit is what ends a wait in vain."""
    while not true():
        await asyncio.sleep(0.01)
