"""Files and directories that are sent piece by piece.

C asks for each piece on the thread that made the call. That is one of our own here, so that where the
pieces come from, an exception there, and Ctrl-C are on the host's.
"""

from __future__ import annotations

import queue
from typing import Any, Callable, Iterable, Optional

from . import _ffi, _options
from ._calls import Cancel
from ._download import OnProgress
from ._errors import CancelledError

_CANCELLED = CancelledError.code


class Source:
    """What is uploaded: a binary file object, or bytes in pieces of any size."""

    def __init__(self, source: Any) -> None:
        self._read = getattr(source, "read", None)
        self._rest = memoryview(b"")
        if self._read is not None:
            return
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = [source]
        if isinstance(source, str) or not isinstance(source, Iterable):
            raise TypeError(
                f"source must be a binary file or an iterable of bytes, not {type(source).__name__}"
            )
        self._pieces = iter(source)

    def next(self, capacity: int) -> bytes:
        """At most `capacity` bytes; none at the end."""
        if self._read is not None:
            data = _options.data("what source.read gave", self._read(capacity))
            if len(data) > capacity:
                raise ValueError(f"source.read({capacity}) gave {len(data)} bytes")
            return data
        while not self._rest:
            try:
                piece = next(self._pieces)
            except StopIteration:
                return b""
            self._rest = memoryview(_options.data("a piece of source", piece))
        data = bytes(self._rest[:capacity])
        self._rest = self._rest[capacity:]
        return data


class Upload:
    """A call that asks for pieces on a thread of its own, and gets them from the caller's."""

    def __init__(self) -> None:
        # How many bytes are wanted, then None: the call ended.
        self._questions: "queue.SimpleQueue[Optional[int]]" = queue.SimpleQueue()
        # Bytes; None ends the upload.
        self._answers: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()
        self._result: Any = None
        self._error: Optional[BaseException] = None

    def run(self, call: Callable[[Any], Any]) -> None:
        """On the thread of the call: call(callbacks) gives its result."""

        def next_piece(number: Optional[int], buffer: int, capacity: int, out_size: Any) -> int:
            self._questions.put(capacity)
            piece = self._answers.get()
            if piece is None:
                return _CANCELLED
            _ffi.copy_to(buffer, piece)
            out_size[0] = len(piece)
            return 0

        try:
            self._result = call(_ffi.UploadCallbacks(next_piece=_ffi.FeedFn(next_piece)))
        except BaseException as error:  # raised to the caller, not lost on this thread
            self._error = error
        finally:
            self._questions.put(None)

    def serve(self, source: Source, on_progress: Optional[OnProgress], token: Cancel) -> Any:
        """On the caller's thread, to the end of the call."""
        try:
            self._give(source, on_progress)
        except BaseException:
            self._answers.put(None)
            token.trigger()
            while self._questions.get() is not None:
                pass
            raise
        if self._error is not None:
            raise self._error
        return self._result

    def _give(self, source: Source, on_progress: Optional[OnProgress]) -> None:
        done = 0
        while True:
            capacity = self._questions.get()
            if done > 0 and on_progress is not None and capacity is not None:
                on_progress(done, None)
            if capacity is None:
                return
            piece = source.next(capacity)
            done += len(piece)
            self._answers.put(piece)
