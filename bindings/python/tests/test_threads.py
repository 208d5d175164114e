"""The calls of a workspace off the main thread, where they wait in C: the same tests, the same answers."""

import threading
import unittest
from typing import Any, Callable, List

import cove
from tests import test_files, test_story


class Elsewhere:
    """A workspace whose methods are called on a thread of their own."""

    def __init__(self, workspace: cove.Workspace) -> None:
        self._workspace = workspace

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._workspace, name)
        return _elsewhere(found) if callable(found) else found


def _elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        ends: List[Callable[[], Any]] = []

        def run() -> None:
            try:
                value = function(*arguments, **named)
                ends.append(lambda: value)
            except BaseException as error:
                ends.append(lambda caught=error: _again(caught))  # type: ignore[misc]

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return ends[0]()

    return call


def _again(error: BaseException) -> None:
    raise error


class CommandsElsewhere(test_story.Commands):
    def setUp(self) -> None:
        super().setUp()
        self.workspace: Any = Elsewhere(type(self).workspace)

    def test_a_cancel_ends_a_call_that_waits_in_c(self) -> None:
        cancel = cove.Cancel()
        ended: List[cove.ExecResult] = []
        waiting = threading.Thread(
            target=lambda: ended.append(
                type(self).workspace.exec(["sh", "-c", "touch begun; exec sleep 100"], cancel=cancel)
            )
        )
        waiting.start()
        while not any(entry.path.endswith("begun") for entry in type(self).workspace.list(".")):
            pass
        cancel.trigger()
        waiting.join()
        self.assertEqual(ended[0].outcome, "cancelled")

    def test_other_threads_go_on_meanwhile(self) -> None:
        line = "until [ -e go ]; do sleep 0.01; done"
        waiting = threading.Thread(target=type(self).workspace.exec, args=(["sh", "-c", line],))
        waiting.start()
        type(self).workspace.write_file("go", b"")  # the interpreter's lock is free
        waiting.join()


class FilesElsewhere(test_files.Contents):
    def setUp(self) -> None:
        super().setUp()
        self.workspace: Any = Elsewhere(type(self).workspace)


# Only what is of this module runs here.
del test_story, test_files

if __name__ == "__main__":
    unittest.main()
