"""Every code block of docs/python.md runs, in order; and the examples do."""

import ast
import asyncio
import contextlib
import hashlib
import inspect
import io
import os
import pathlib
import re
import signal
import tempfile
import textwrap
import threading
import time
import types
import unittest
import zipfile
from typing import Any, Awaitable, Callable, Dict, Iterator, List

import cove
from cove import aio
from tests.support import Home, run_program, run_python

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
GUIDE = REPOSITORY / "docs" / "python.md"
README = REPOSITORY / "bindings" / "python" / "README.md"
KEY = ("app", "shop", "ana")


def blocks_of(document: pathlib.Path) -> List[str]:
    return re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)


def is_program(block: str) -> bool:
    return "/var/lib/app/cove" in block


def code_of(block: str) -> types.CodeType:
    code = compile(block, str(GUIDE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert isinstance(code, types.CodeType)
    return code


def is_async(block: str) -> bool:
    return bool(code_of(block).co_flags & inspect.CO_COROUTINE)


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)

    def test_the_first_programs_say_42_in_at_most_15_lines(self) -> None:
        programs = [block for document in (GUIDE, README) for block in blocks_of(document) if is_program(block)]
        self.assertEqual(len(programs), 4)
        for program in programs:
            self.assertLessEqual(len(program.splitlines()), 15)
            done = run_python(program.replace("/var/lib/app/cove", os.path.join(self.home.path, "state")))
            self.assertEqual((done.stdout.split(), done.returncode, done.stderr), (["42"], 0, ""))

    def test_the_analyst_tells_its_story_in_both_ways(self) -> None:
        example = str(REPOSITORY / "examples" / "python" / "analyst.py")
        told = []
        for way in ("blocking", "asyncio"):
            state = os.path.join(self.home.path, way)
            output = os.path.join(self.home.path, way + "-output")
            done = run_program(example, way, state, output)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            told.append(done.stdout)
            for chart in ("chart-monday.svg", "chart-tuesday.svg"):
                self.assertIn("<svg", pathlib.Path(output, chart).read_text())
            with cove.Cove(state) as c:
                self.assertEqual(list(c.list()), [])
        self.assertIn("Adelie", told[0])
        self.assertIn("Gentoo / Biscoe", told[0])
        self.assertIn("restored", told[0])
        self.assertEqual(*told)


class Blocks(unittest.TestCase):
    """The blocks that are no programs, one after the other, in one session."""

    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)
        self.state = os.path.join(self.home.path, "state")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)  # the blocks read and write files here
        pathlib.Path("model.bin").write_bytes(os.urandom(1 << 20))
        pathlib.Path("logo.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    def names(self) -> Dict[str, Any]:
        async def sign(path: str) -> str:
            return "https://files.example/" + path

        host = types.SimpleNamespace(give_model=lambda told: None)
        call = types.SimpleNamespace(name="sandbox_ls", arguments="{}")
        names: Dict[str, Any] = dict(cove=cove, asyncio=asyncio, aio=aio, signal=signal, time=time, pathlib=pathlib)
        names.update(io=io, threading=threading, zipfile=zipfile)
        names.update(host=host, call=call, sign=sign, url_of=lambda path: "https://files.example/" + path)
        names.update(digest=hashlib.sha256(), key=KEY, data=b"1,2\n", token="s3cr3t")
        return names

    def fill(self, workspace: cove.Workspace) -> None:
        for name in ("log", "app.log", "src/a.py", "out/chart.png", "notes.md"):
            workspace.write_file(name, b"ready\n")
        workspace.write_file("log.txt", b"line\n" * 5000)
        workspace.write_file("a.py", b"x = 1\ntotal = total + x\n")
        workspace.write_file("project/Makefile", b"all:\n\techo made\n")
        workspace.make_directory("/workspace/project")

    @contextlib.contextmanager
    def knocking(self, workspace: cove.Workspace) -> Iterator[None]:
        """Writes a file again and again, for those who wait for a change."""
        ended = threading.Event()

        def knock() -> None:
            while not ended.wait(0.05):
                workspace.write_file("src/knock", b"x")

        thread = threading.Thread(target=knock)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def run_block(self, number: int, block: str, names: Dict[str, Any]) -> None:
        with self.subTest(block=number, code=textwrap.shorten(block, 60)):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code_of(block), names)

    def test_every_blocking_block_runs_after_the_ones_before(self) -> None:
        blocks = [block for block in blocks_of(GUIDE) if not is_program(block) and not is_async(block)]
        self.assertGreaterEqual(len(blocks), 10)
        names = self.names()
        with cove.Cove(self.state) as c, c.acquire(KEY, chat_id="c1") as workspace:
            self.fill(workspace)
            names.update(c=c, app=c, workspace=workspace, sandbox=workspace.sandbox_id)
            with self.knocking(workspace):
                for number, block in enumerate(blocks):
                    if "c.stop(" not in block:
                        self.run_block(number, block, names)
            names["workspace"].close()
            workspace.close()
            for number, block in enumerate(blocks):
                if "c.stop(" in block:
                    self.run_block(number, block, names)

    def test_every_block_of_asyncio_runs_after_the_ones_before(self) -> None:
        blocks = [block for block in blocks_of(GUIDE) if not is_program(block) and is_async(block)]
        self.assertGreaterEqual(len(blocks), 3)
        with cove.Cove(self.state) as c, c.acquire(KEY, chat_id="c1") as workspace:
            self.fill(workspace)
        asyncio.run(self.run_async(blocks))

    async def run_async(self, blocks: List[str]) -> None:
        names = self.names()
        async with aio.Cove(self.state) as c:
            async with c.acquire(KEY, chat_id="c1") as workspace:
                names.update(c=c, workspace=workspace)
                for number, block in enumerate(blocks):
                    with self.subTest(block=number, code=textwrap.shorten(block, 60)):
                        function: Callable[[], Awaitable[None]] = types.FunctionType(code_of(block), names)
                        with contextlib.redirect_stdout(io.StringIO()):
                            await function()


if __name__ == "__main__":
    unittest.main()
