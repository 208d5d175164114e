"""Files and directories that come piece by piece, driven by Cove's callbacks."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Callable, Iterator, NamedTuple, Optional, Protocol, Type

from . import _ffi
from ._calls import GIVES_NOTHING, Owned, begin_stream, drop, end_by, registry
from ._ffi import lib
from ._pipe import Next, Pipe

#: Is told after each piece how many bytes are done and, where it is known, of how many.
OnProgress = Callable[[int, Optional[int]], Any]


class Writable(Protocol):
    """A binary file object."""

    def write(self, __data: bytes) -> Any:
        ...


class Piece(NamedTuple):
    data: bytes
    #: Bytes with this one, and of how many.
    done: int
    total: Optional[int]


class _Receiver:
    """What C's callbacks fill; on a thread of Cove, one call at a time."""

    def __init__(self, pipe: Pipe[Piece]) -> None:
        self.pipe = pipe
        self.done = 0
        self.total: Optional[int] = None

    def take(self, data: bytes) -> int:
        self.done += len(data)
        return self.pipe.push([(Piece(data, self.done, self.total), len(data))])

    def complete(self, value: Any, error: _ffi.Error) -> None:
        self.pipe.complete(value, error)


def _nothing(value: Any) -> None:
    return None


def _abandon(pipe: Pipe[Piece], download: Owned) -> None:
    """Ends a download that nobody reads any more."""
    pipe.discard()
    lib["cove_download_cancel"](download.raw)


class Download:
    """A file, or a directory as a tar stream. Iterating gives it piece by piece.

    >>> with open("chart.png", "wb") as file:
    ...     workspace.download("out/chart.png").save(file)

    A slow reader slows it down; about 1 MiB is held. Leaving a `with` block early, or dropping the last
    reference, ends it. One thread at a time.
    """

    def __init__(
        self, start: str, owner: Owned, path: bytes, on_progress: Optional[OnProgress], options: Any
    ) -> None:
        self._owner = owner  # the workspace stays while it is read from
        self._on_progress = on_progress
        self._pipe: Pipe[Piece] = Pipe(_nothing)
        raw, argument = _ffi.out(_ffi.Download)
        self._download = Owned(raw, "cove_download_free")
        self._abandon = weakref.finalize(self, _abandon, self._pipe, self._download)
        self._abandon.atexit = False
        number = registry.add(_Receiver(self._pipe))
        callbacks = _ffi.PieceCallbacks(
            on_piece=_on_piece_fn, on_progress=_on_progress_fn, on_done=GIVES_NOTHING, user_data=number, drop=drop
        )

        def begin() -> None:
            lib[start](owner.raw, path, _ffi.pointer_to(callbacks), _ffi.pointer_to(options), argument)

        begin_stream(begin, raw, number, self._abandon, self._pipe.reply)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        data = self._given(self._pipe.pop())
        if data is None:
            raise StopIteration
        return data

    def _given(self, next: Next) -> Optional[bytes]:
        """What the reader gets of a piece; raises what ended the download."""
        if next.resume:
            lib["cove_download_resume"](self._download.raw)
        piece: Optional[Piece] = next.item
        if piece is None:
            if not self._pipe.discarding:
                self._pipe.reply.outcome()
            return None
        if self._on_progress is not None:
            self._on_progress(piece.done, piece.total)
        return piece.data

    def save(self, file: Writable) -> int:
        """Writes all that is left to a binary file object, and returns how many bytes that were."""
        size = 0
        with self:
            for piece in self:
                file.write(piece)
                size += len(piece)
        return size

    def close(self) -> None:
        """Ends the download if it runs, waits for that, and throws unread pieces away."""
        end_by(self._abandon)  # once; later calls do nothing
        self._pipe.reply.wait()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _on_piece(number: Optional[int], data: Optional[int], size: int) -> int:
    receiver: _Receiver = registry.get(number)
    return receiver.take(_ffi.bytes_at(data, size))


def _on_progress(number: Optional[int], done: int, total: int) -> None:
    """Comes before the first piece, too: then the total is known, where it ever is."""
    receiver: _Receiver = registry.get(number)
    receiver.total = None if total < 0 else total


_on_piece_fn = _ffi.callback(_ffi.PieceFn, _on_piece)
_on_progress_fn = _ffi.callback(_ffi.ProgressFn, _on_progress)
