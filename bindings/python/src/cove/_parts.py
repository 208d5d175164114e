"""What the parts that a host brings have in common: questions from Cove, answered by methods."""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _ffi
from ._calls import registry
from ._errors import CoveError, InternalError
from ._ffi import lib


class Part:
    """A part of the host, as C knows it: by its number in the registry."""

    def __init__(self, name: str, close: Callable[[], Any]) -> None:
        #: "metadata store"
        self.name = name
        self._close = close

    def end(self) -> None:
        """The Cove needs it no more."""
        self._close()


def answer(part: Optional[Part], done: _ffi.Done, give: Callable[[], Any]) -> None:
    """Runs what answers a question. Whatever comes of it, C hears of it, and nothing is raised."""
    try:
        give()
    except BaseException as error:  # whoever asked hears of it
        _fail(part, done, error)
    finally:
        lib["cove_done_free"](done)


def _fail(part: Optional[Part], done: _ffi.Done, error: BaseException) -> None:
    name = "part" if part is None else part.name
    code, message, retry_ms = InternalError.code, f"the {name} raised {type(error).__name__}: {error}", -1
    if isinstance(error, CoveError):
        code, message = error.code or code, error.message
        retry_ms = -1 if error.retry_after is None else int(error.retry_after * 1000)
    try:
        lib["cove_done_fail"](done, code, message.replace("\0", " ").encode("utf-8", "replace"), retry_ms)
    except CoveError:
        pass  # it was answered, and that failed: who asked knows


def is_over(done: _ffi.Done) -> bool:
    """True where nobody waits for the answer any more."""
    return bool(lib["cove_done_is_over"](done))


def _on_destroy(number: Optional[int]) -> None:
    part: Part = registry.get(number)
    registry.remove(number)
    part.end()


#: Ends a part, on a thread of Cove; ctypes reports what it raises.
destroy = _ffi.callback(_ffi.DropFn, _on_destroy)
