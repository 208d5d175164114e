"""Files and directories that are sent piece by piece.

C asks for each piece on the thread that made the call. That is one of our own here, so that where the
pieces come from, an exception there, and Ctrl-C are on the host's.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable, Iterable, Optional, Protocol, Union

from . import _ffi, _options
from ._calls import Cancel
from ._download import OnProgress
from ._errors import CancelledError, DeadlineError
from ._pipe import Pipe

class Readable(Protocol):
    """A binary file object."""

    def read(self, __size: int) -> _options.Data:
        ...


#: What is sent: a binary file object, bytes, or bytes in pieces of any size.
Sent = Union[Readable, _options.Data, Iterable[_options.Data]]


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

    def __init__(self, timeout_ms: int) -> None:
        self._deadline = _options.deadline(timeout_ms)
        # How many bytes are wanted; at the end, the call's result.
        self.questions: Pipe[int] = Pipe(_nothing)
        # Bytes; None ends the upload.
        self._answers: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()

    def start(self, call: Callable[[Any], Any]) -> None:
        """Begins the thread: call(callbacks) gives the result."""
        threading.Thread(target=self._run, args=(call,), name="cove-upload", daemon=True).start()

    def give(self, piece: Optional[bytes]) -> None:
        """Answers a question; None ends the upload, also one that does not ask."""
        self._answers.put(piece)

    def trigger(self) -> None:
        """It was called off: it waits for its source no more."""
        self.give(None)

    def _next(self) -> Union[bytes, int]:
        """A piece, or the status that ends the upload."""
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        try:
            piece = self._answers.get(timeout=left)
        except queue.Empty:
            return DeadlineError.code
        return CancelledError.code if piece is None else piece

    def _run(self, call: Callable[[Any], Any]) -> None:
        def next_piece(number: Optional[int], buffer: int, capacity: int, out_size: Any) -> int:
            self.questions.push([(capacity, 0)])
            piece = self._next()
            if isinstance(piece, int):
                return piece
            _ffi.copy_to(buffer, piece)
            out_size[0] = len(piece)
            return 0

        try:
            result = call(_ffi.UploadCallbacks(next_piece=_ffi.FeedFn(next_piece)))
        except BaseException as error:  # raised to the caller, not lost on this thread
            self.questions.end(error)
        else:
            self.questions.end(None, result)

    def serve(self, source: Source, on_progress: Optional[OnProgress], token: Cancel) -> Any:
        """On the caller's thread, to the end of the call."""
        try:
            self._give_all(source, on_progress)
        except BaseException:
            token.trigger()
            self.questions.reply.wait()
            raise
        return self.questions.reply.outcome()

    def _give_all(self, source: Source, on_progress: Optional[OnProgress]) -> None:
        done = 0
        while True:
            capacity: Optional[int] = self.questions.pop().item
            if done > 0 and on_progress is not None and capacity is not None:
                on_progress(done, None)
            if capacity is None:
                return
            piece = source.next(capacity)
            done += len(piece)
            self.give(piece)


def _nothing(value: Any) -> None:
    return None
