"""Files and directories that are sent piece by piece: each is given to C, and answered when it is on its way."""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Optional, Protocol, Union

from . import _ffi, _options
from ._calls import Ask, Cancel, Owned, Reply, make
from ._download import OnProgress
from ._errors import CancelledError, FailedPreconditionError
from ._ffi import lib

#: What is asked of a source at once.
PIECE_BYTES = 256 << 10


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


class Sending(NamedTuple):
    """An upload that is to be made."""

    owned: Owned
    #: The start form's name, and what is called by its completion.
    start: str
    gives: Any
    take: Callable[[Any], Any]
    path: bytes
    options: Any
    source: Any
    on_progress: Optional[OnProgress]
    #: The caller's own; the options have it.
    cancel: Optional[Cancel]

    def begin(self, reply: Reply) -> Owned:
        """Starts it; `reply` is completed at its end. Gives the handle that takes the pieces."""
        raw, argument = _ffi.out(_ffi.Upload)
        upload = Owned(raw, "cove_upload_free")
        options = _ffi.pointer_to(self.options)
        try:
            reply.start(self.start, self.owned.raw, self.path, options, self.gives, behind=(argument,))
        except BaseException:
            end(upload)
            raise
        return upload

    def tell(self, done: int) -> None:
        if self.on_progress is not None:
            self.on_progress(done, None)

    def outcome(self, reply: Reply, refused: FailedPreconditionError) -> Any:
        """The result of an upload that was ended since a piece was refused: why it was over before; else
        the refusal itself."""
        try:
            return reply.outcome()
        except CancelledError:
            if self.cancel is not None and self.cancel._is_triggered:
                raise
            raise refused from None


def writing(upload: Owned, piece: bytes) -> Ask:
    """The call that gives a piece; FailedPreconditionError: the upload is over."""
    return Ask(upload, "cove_upload_write_start", (piece, len(piece)), _ffi.CallOptions())


def send(sending: Sending) -> Any:
    """Gives the pieces on the calling thread. What the source raises is raised, and leaves the old file."""
    _ffi.check_may_wait()
    pieces = Source(sending.source)
    reply = Reply(sending.take)
    try:
        upload = sending.begin(reply)
    except BaseException:
        if reply.began:  # and KeyboardInterrupt broke in
            reply.wait()
        raise
    done = 0
    try:
        while True:
            piece = pieces.next(PIECE_BYTES)
            if not piece:
                break
            make(writing(upload, piece))
            done += len(piece)
            sending.tell(done)
        lib["cove_upload_finish"](upload.raw)
        return reply.result()
    except FailedPreconditionError as refused:
        end(upload)
        reply.wait()
        return sending.outcome(reply, refused)
    except BaseException:
        end(upload)
        reply.wait()
        raise


def end(upload: Owned) -> None:
    """Harmless where it is over."""
    lib["cove_upload_cancel"](upload.raw)
