"""Signals that come while the main thread waits in C: their handlers run, and what they raise ends the call."""

import signal
import threading
import unittest
from types import FrameType
from typing import Any, Callable, Optional

from cove import _signals
from tests.support import WithCove

#: A command that goes on until a file is there, and says that it began.
WAITS = ["sh", "-c", "touch begun; until [ -e go ]; do sleep 0.01; done; rm begun go; echo over"]


class Stop(Exception):
    pass


class Signals(WithCove):
    def setUp(self) -> None:
        before = signal.getsignal(signal.SIGUSR1)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

    def waits(self, handler: Callable[[int, Optional[FrameType]], Any]) -> Any:
        """Runs WAITS, with a signal as soon as it began."""
        workspace = type(self).workspace
        signal.signal(signal.SIGUSR1, handler)
        main = threading.get_ident()

        def send() -> None:
            while not any(entry.path.endswith("begun") for entry in workspace.list(".")):
                pass
            signal.pthread_kill(main, signal.SIGUSR1)

        sender = threading.Thread(target=send)
        sender.start()
        try:
            return workspace.exec(WAITS)
        finally:
            sender.join()

    def test_a_handler_runs_and_may_make_calls_while_the_call_goes_on(self) -> None:
        def handler(number: int, frame: Optional[FrameType]) -> None:
            self.workspace.write_file("go", b"")

        self.assertEqual(self.waits(handler).out.text, "over\n")

    def test_what_a_handler_raises_ends_the_command_and_is_raised(self) -> None:
        def handler(number: int, frame: Optional[FrameType]) -> None:
            raise Stop(number)

        with self.assertRaises(Stop) as raised:
            self.waits(handler)
        self.assertEqual(raised.exception.args, (signal.SIGUSR1,))
        self.assertEqual(self.workspace.exec(["pgrep", "-f", "until"]).out.text, "")
        self.workspace.remove("begun")
        self.assertEqual(self.workspace.exec(["echo", "up"]).out.text, "up\n")

    def test_signals_are_heard_after_one_broke_the_listening_off(self) -> None:
        self.workspace.exec(["true"])
        answers = _signals._asked.answers
        assert answers is not None
        answers.close()  # as a second signal does, while the first one's exception is being caught
        self.test_what_a_handler_raises_ends_the_command_and_is_raised()

    def test_answers_that_were_broken_off_call_off(self) -> None:
        self.workspace.exec(["true"])
        self.assertEqual(_signals._asked.check(None), _signals.WAIT_ON)
        assert _signals._asked.answers is not None
        _signals._asked.answers.close()
        self.assertEqual(_signals._asked.check(None), _signals.CALL_OFF)

    def test_a_signal_between_calls_is_none_of_theirs(self) -> None:
        self.workspace.exec(["true"])
        with self.assertRaises(Stop):
            signal.signal(signal.SIGUSR1, self._raise)
            signal.raise_signal(signal.SIGUSR1)
        self.assertEqual(self.workspace.exec(["echo", "up"]).out.text, "up\n")

    @staticmethod
    def _raise(number: int, frame: Optional[FrameType]) -> None:
        raise Stop


if __name__ == "__main__":
    unittest.main()
