"""Ctrl-C right before and right after C began something: it is called off, and nothing is lost."""

import asyncio
import contextlib
import gc
import sys
import time
import unittest
from typing import Any, Callable, Dict, List
from unittest import mock

import cove
from cove import _calls, _ffi
from cove._calls import registry
from tests.support import KEY, WithAsyncCove, WithCove

#: What starts each kind of call, by the function of C that is broken off.
STARTS: Dict[str, Callable[[Any], Any]] = {
    "cove_workspace_exec_start": lambda w: w.exec(["true"]),
    "cove_workspace_start_process_start": lambda w: w.start_process(["true"]),
    "cove_workspace_write_file_start": lambda w: w.write_file("a", b"x"),
    "cove_workspace_watch_start": lambda w: w.watch("."),
    "cove_workspace_grep_start": lambda w: w.grep("x", limit=None),
    "cove_workspace_find_start": lambda w: w.find("x"),
    "cove_workspace_download_start": lambda w: w.download("zeros"),
    "cove_workspace_upload_start": lambda w: w.upload("b", [b"x"]),
    "cove_upload_write_start": lambda w: w.upload("b", [b"x"]),
    "cove_workspace_tool_call_start": lambda w: w.call_tool(
        "sandbox_ls", {"path": "."}, link_maker=lambda files: [""]
    ),
}

#: Those whose call waits in C, where it is not asyncio's.
WAITING = {
    "cove_workspace_exec_start",
    "cove_workspace_start_process_start",
    "cove_workspace_write_file_start",
    "cove_upload_write_start",
}


def called(start: str) -> str:
    """What the call of a thread calls in C."""
    return start[: -len("_start")] if start in WAITING else start


def interrupted(name: str, *, before: bool) -> Any:
    """Ctrl-C comes right before the function of C is called, or right after it returned, once."""
    real = _ffi.lib[name]
    left = [None]

    def call(*arguments: Any) -> None:
        if left and before:
            left.pop()
            raise KeyboardInterrupt
        real(*arguments)
        if left:
            left.pop()
            raise KeyboardInterrupt

    return mock.patch.dict(_ffi.lib, {name: call})


class Counted(unittest.TestCase):
    """Tells of what is left in the registry, and of what callbacks raised."""

    def setUp(self) -> None:
        self.raised: List[str] = []
        hook = mock.patch.object(sys, "unraisablehook", lambda told: self.raised.append(repr(told.exc_value)))
        hook.start()
        self.addCleanup(hook.stop)

    def check_nothing_stays(self, before: int) -> None:
        gc.collect()
        until = time.monotonic() + 20
        while len(registry._objects) > before and time.monotonic() < until:
            time.sleep(0.01)
        self.assertLessEqual(len(registry._objects), before, registry._objects)
        self.assertEqual(self.raised, [])

    def break_off(self, name: str, before: bool, call: Callable[[], Any]) -> None:
        known = len(registry._objects)
        with self.subTest(name, before=before), interrupted(name, before=before):
            with self.assertRaises(KeyboardInterrupt):
                call()
            self.check_nothing_stays(known)


class Interrupts(WithCove, Counted):
    def test_what_c_began_is_called_off_and_ended(self) -> None:
        self.workspace.write_file("zeros", bytes(8 << 20))
        for name, call in STARTS.items():
            self.break_off(called(name), False, lambda: call(self.workspace))
        self.assertEqual(self.workspace.exec(["echo", "up"]).out.text, "up\n")

    def test_what_c_did_not_begin_is_not_waited_for(self) -> None:
        for name, call in STARTS.items():
            self.break_off(called(name), True, lambda: call(self.workspace))
        self.break_off("cove_acquire", True, lambda: self.cove.acquire(KEY))

    def test_a_workspace_that_nobody_got_is_not_in_use(self) -> None:
        key = cove.WorkspaceKey("app", "demo", "interrupted")
        self.break_off("cove_acquire", False, lambda: self.cove.acquire(key))
        # It was called off before there was a record, or is let go of.
        records = {record["sandbox_id"]: record for record in self.cove.list()}
        sandbox_id = cove.sandbox_id_of(key)
        if sandbox_id in records:
            self.cove.stop(sandbox_id)

    def test_a_cove_that_nobody_got_is_freed(self) -> None:
        freed: List[int] = []
        real = _ffi.lib["cove_free"]

        def free(raw: Any) -> None:
            freed.append(raw.value)
            real(raw)

        with mock.patch.dict(_ffi.lib, {"cove_free": free}):
            self.break_off("cove_open", False, lambda: cove.Cove(self.home.path + "/another"))
        self.assertEqual([value is not None for value in freed], [True])

    def test_a_command_that_was_attached_to_goes_on(self) -> None:
        process = self.workspace.start_process(["sleep", "1000"])
        self.break_off("cove_workspace_attach_process", False, lambda: self.workspace.attach_process(process.id))
        self.assertTrue(self.workspace.find_process(process.id).running)
        self.workspace.end_process(process.id)

    def test_what_comes_for_nobody_is_freed(self) -> None:
        freed: List[str] = []
        names = ("cove_buffer_free", "cove_workspace_free", "cove_exec_result_free", "cove_error_free")
        with mock.patch.dict(_ffi.lib, {name: lambda raw, name=name: freed.append(name) for name in names}):
            _calls.ending("cove_buffer_free")(0, _ffi.Buffer(), _ffi.Error())
            _calls.ending("cove_workspace_free")(None, _ffi.Workspace(), _ffi.Error())
            _calls.on_done(0, _ffi.Error())
            cove._exec._on_done_fn(0, _ffi.ExecResult(), _ffi.Error())
        self.assertEqual(
            freed, [names[0], names[3], names[1], names[3], names[3], names[2], names[3]]
        )

    def test_what_c_refused_leaves_nothing(self) -> None:
        before = len(registry._objects)
        released = self.cove.acquire(KEY, chat_id="released")
        owned = released._owned
        released.release()
        released._owned = owned
        for call in STARTS.values():
            with contextlib.suppress(cove.FailedPreconditionError):
                call(released).close()  # a stream says it to its reader
        with self.assertRaises(cove.InvalidArgumentError):
            self.cove.acquire(("a-b", "demo", "ana"))
        self.check_nothing_stays(before)


class AsyncInterrupts(WithAsyncCove, Counted):
    def test_what_c_began_is_called_off(self) -> None:
        workspace = self.workspace
        for name, call in STARTS.items():
            if name == "cove_workspace_exec_start":
                continue  # of a stream, as those of the others

            async def run(call: Any = call) -> None:
                made = call(workspace)
                if asyncio.iscoroutine(made):
                    await made

            for before in (False, True):
                self.break_off(name, before, lambda: asyncio.run(run()))


if __name__ == "__main__":
    unittest.main()
