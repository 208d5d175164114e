"""Files and directories that come piece by piece.

C gives each piece on the thread that made the call. That is one of our own here, so that what the host
does with a piece, and Ctrl-C, are on the host's.
"""

from __future__ import annotations

import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Protocol, Type

from . import _ffi, _options
from ._calls import Cancel, Owned, end_by, raw_cancel
from ._errors import CancelledError, DeadlineError
from ._ffi import lib
from ._pipe import Pipe

_CANCELLED, _TIMEOUT = CancelledError.code, DeadlineError.code

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


def _run_download(
    name: str, owned: Owned, path: bytes, options: Any, pipe: Pipe[Piece], token: Cancel
) -> None:
    """On a thread of its own, to the end of the call. `token` lives as long as the options name it."""
    pieces: List[bytes] = []
    deadline = _options.deadline(options.timeout_ms)
    status = 0

    def on_piece(number: Optional[int], data: Optional[int], size: int) -> int:
        pieces.append(_ffi.bytes_at(data, size))
        return _CANCELLED if pipe.discarding else status

    def on_progress(number: Optional[int], done: int, total: int) -> None:
        nonlocal status
        data = pieces.pop()
        if not pipe.push_waiting(Piece(data, done, None if total < 0 else total), len(data), deadline):
            status = _TIMEOUT

    callbacks = _ffi.DownloadCallbacks(
        on_piece=_ffi.SinkFn(on_piece), on_progress=_ffi.ProgressFn(on_progress)
    )
    try:
        lib[name](owned.raw, path, _ffi.pointer_to(callbacks), _ffi.pointer_to(options))
    except BaseException as error:  # raised to the reader, not lost on this thread
        pipe.end(error)
    else:
        pipe.end(None)


def _nothing(value: Any) -> None:
    return None


def _abandon(pipe: Pipe[Piece], token: Cancel) -> None:
    """Ends a download that nobody reads any more."""
    pipe.discard()
    token.trigger()


class Download:
    """A file, or a directory as a tar stream. Iterating gives it piece by piece.

    >>> with open("chart.png", "wb") as file:
    ...     workspace.download("out/chart.png").save(file)

    A slow reader slows it down; about 1 MiB is held. Leaving a `with` block early, or dropping the last
    reference, ends it. One thread at a time.
    """

    def __init__(
        self,
        name: str,
        owned: Owned,
        path: bytes,
        on_progress: Optional[OnProgress],
        timeout: Optional[float],
        token: Cancel,
    ) -> None:
        self._on_progress = on_progress
        self._pipe: Pipe[Piece] = Pipe(_nothing)
        token._link(self._pipe)
        options = _ffi.CallOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(token)
        )
        arguments = (name, owned, path, options, self._pipe, token)
        self._abandon = weakref.finalize(self, _abandon, self._pipe, token)
        self._abandon.atexit = False
        threading.Thread(target=_run_download, args=arguments, name="cove-download", daemon=True).start()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        data = self._given(self._pipe.pop().item)
        if data is None:
            raise StopIteration
        return data

    def _given(self, piece: Optional[Piece]) -> Optional[bytes]:
        """What the reader gets of a piece; raises what ended the download."""
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
