"""What waits is refused where Cove calls the program, and is not where the program has a thread of its own."""

import asyncio
import threading
import time
import unittest
from typing import Any, Callable, Dict, List, Optional
from unittest import mock

import cove
from cove import _brought, _ffi, aio
from tests.support import KEY, Home, WithCove
from tests.test_parts import DictStore

Call = Callable[[], Any]


def said(call: Call) -> str:
    """What a call raised."""
    try:
        call()
    except cove.FailedPreconditionError as error:
        return error.message
    return "nothing"


class Callbacks(WithCove):
    def inside(self, *calls: Call) -> List[str]:
        """What calls raise that are made where Cove says how far an acquire is."""
        heard: List[str] = []

        def on_event(event: str, step: str, text: str) -> None:
            if not heard:
                heard.extend(said(call) for call in calls)

        began = time.monotonic()
        prepare = cove.Prepare(on_event=on_event, steps=[cove.PrepareStep("own", lambda run: None)])
        self.cove.acquire(KEY, chat_id="inside", prepare=prepare).close()
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(len(heard), len(calls))
        return heard

    def test_calls_that_wait_are_refused(self) -> None:
        other = self.cove.acquire(KEY, chat_id="other")
        heard = self.inside(
            lambda: self.cove.status(other.sandbox_id),
            lambda: list(self.cove.list(timeout=1)),
            lambda: self.workspace.write_file("a", b"x"),
            lambda: self.workspace.exec(["touch", "made"]),
            lambda: self.workspace.upload("a", [b"x"]),
            lambda: self.workspace.call_tool("sandbox_write_file", {"path": "made", "content": "x"}),
            lambda: asyncio.run(run_async(self.home)),
            other.close,
            self.cove.close,
        )
        for message in heard:
            self.assertRegex(message, "^this call waits, and inside a callback it would wait for itself: ")
        self.assertEqual(list(self.workspace.find("made")), [])
        self.assertFalse(other.closed)
        other.close()
        self.assertEqual(self.workspace.exec(["echo", "up"]).out.text, "up\n")

    def test_streams_are_refused_and_end(self) -> None:
        streams: List[Any] = []

        def begin(stream: Any) -> None:
            streams.append(stream)
            next(stream)

        heard = self.inside(
            lambda: begin(self.workspace.stream(["sleep", "1000"])),
            lambda: begin(self.workspace.watch(".")),
            lambda: begin(self.workspace.grep("x")),
            lambda: begin(self.workspace.download(".")),
            lambda: streams[0].close(),
        )
        for message in heard:
            self.assertRegex(message, "^this call waits")
        for stream in streams:
            stream.close()

    def test_another_thread_and_what_does_not_wait_are_not_refused(self) -> None:
        begun: List[threading.Thread] = []
        made: List[Any] = []

        def elsewhere() -> None:
            begun.append(threading.Thread(target=lambda: made.append(self.cove.status(self.workspace.sandbox_id))))
            begun[0].start()

        token = cove.Cancel()
        self.assertEqual(self.inside(elsewhere, token.trigger), ["nothing", "nothing"])
        begun[0].join()
        self.assertEqual(len(made), 1)

    def test_who_hears_of_records_and_of_sweeps_may_not_wait(self) -> None:
        heard: Dict[str, str] = {}
        home = Home()
        self.addCleanup(home.end)

        def hears(name: str) -> Callable[..., str]:
            return lambda *told: heard.setdefault(name, said(lambda: list(c.list())))

        with home.open(on_event=hears("on_event"), config={"lifecycle": {"stop_after_s": 1}}) as c:
            c.acquire(KEY).close()
            time.sleep(1.1)
            c.sweep(on_progress=hears("on_progress"))
            c.destroy(cove.sandbox_id_of(KEY))
        self.assertEqual(sorted(heard), ["on_event", "on_progress"])
        for message in heard.values():
            self.assertRegex(message, "^this call waits")

    def test_a_log_may_not_wait(self) -> None:
        heard: List[str] = []
        options = _brought.Brought(lambda level, message: heard.append(said(self.cove.doctor))).options()
        options.log(options.log_user_data, 1, b"x")
        options.log_drop(options.log_user_data)
        self.assertRegex(heard[0], "^this call waits")

    def test_a_store_has_threads_of_its_own_and_may_wait_for_another_cove(self) -> None:
        asked: List[Any] = []

        class Asking(DictStore):
            def find(store, kind: str, name: bytes) -> Optional[cove.Document]:
                asked.append(self.cove.status(self.workspace.sandbox_id)["state"])
                return super().find(kind, name)

            def close(store) -> None:
                asked.append(said(self.cove.orphans))

        home = Home()
        self.addCleanup(home.end)
        with home.open(metadata=Asking()) as c:
            self.assertEqual(list(c.list()), [])
        self.assertEqual(set(asked[:-1]), {"running"})
        self.assertRegex(asked[-1], "^this call waits")

    def test_a_callback_that_raises_leaves_its_thread_as_it_was(self) -> None:
        def raises(number: Optional[int]) -> None:
            self.assertRaises(cove.FailedPreconditionError, _ffi.check_may_wait)
            raise ZeroDivisionError

        with mock.patch("sys.unraisablehook") as hook:
            _ffi.callback(_ffi.DropFn, raises)(None)
        self.assertEqual(hook.call_args[0][0].exc_type, ZeroDivisionError)
        _ffi.check_may_wait()


async def run_async(home: Home) -> None:
    """A loop that runs inside a callback stands in its way."""
    async with aio.Cove(home.path + "/another"):
        pass


if __name__ == "__main__":
    unittest.main()
