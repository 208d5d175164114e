"""Files and directories that come piece by piece.

C gives each piece on the thread that made the call. That is one of our own here, so that what the host
does with a piece, and Ctrl-C, are on the host's.
"""

from __future__ import annotations

import collections
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Deque, Iterator, List, NamedTuple, Optional, Type

from . import _ffi, _options
from ._calls import Cancel, Owned, linked_cancel, raw_cancel
from ._errors import CancelledError
from ._ffi import lib

#: Pieces that wait for their reader; past it the download waits.
_BUFFER_BYTES = 1 << 20

_CANCELLED = CancelledError.code

#: Is told after each piece how many bytes are done and, where it is known, of how many.
OnProgress = Callable[[int, Optional[int]], Any]


class _Piece(NamedTuple):
    data: bytes
    #: Bytes with this one, and of how many.
    done: int
    total: Optional[int]


class _Handover:
    """Pieces on their way from the thread of the call to the reader's."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pieces: Deque[_Piece] = collections.deque()
        self._buffered = 0
        self._closed = False
        self._ended = False
        self._error: Optional[BaseException] = None

    def put(self, piece: _Piece) -> None:
        """Waits for room. Without a reader the piece is thrown away."""
        with self._changed:
            while self._buffered >= _BUFFER_BYTES and not self._closed:
                self._changed.wait()
            if self._closed:
                return
            self._pieces.append(piece)
            self._buffered += len(piece.data)
            self._changed.notify_all()

    def end(self, error: Optional[BaseException]) -> None:
        with self._changed:
            self._ended = True
            self._error = error
            self._changed.notify_all()

    def get(self) -> Optional[_Piece]:
        """The next piece, None at the end; raises what ended the call."""
        with self._changed:
            while not self._pieces and not self._ended:
                self._changed.wait()
            if not self._pieces:
                if self._error is not None and not self._closed:
                    raise self._error
                return None
            piece = self._pieces.popleft()
            self._buffered -= len(piece.data)
            self._changed.notify_all()
            return piece

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._pieces.clear()
            self._changed.notify_all()

    def wait(self) -> None:
        with self._changed:
            while not self._ended:
                self._changed.wait()

    @property
    def closed(self) -> bool:
        with self._changed:
            return self._closed


def _run_download(
    name: str, owned: Owned, path: bytes, options: Any, handover: _Handover, token: Cancel
) -> None:
    """On a thread of its own, to the end of the call. `token` lives as long as the options name it."""
    pieces: List[bytes] = []

    def on_piece(number: Optional[int], data: Optional[int], size: int) -> int:
        pieces.append(_ffi.bytes_at(data, size))
        return _CANCELLED if handover.closed else 0

    def on_progress(number: Optional[int], done: int, total: int) -> None:
        handover.put(_Piece(pieces.pop(), done, None if total < 0 else total))

    callbacks = _ffi.DownloadCallbacks(
        on_piece=_ffi.SinkFn(on_piece), on_progress=_ffi.ProgressFn(on_progress)
    )
    try:
        lib[name](owned.raw, path, _ffi.pointer_to(callbacks), _ffi.pointer_to(options))
    except BaseException as error:  # raised to the reader, not lost on this thread
        handover.end(error)
    else:
        handover.end(None)


def _abandon(handover: _Handover, token: Cancel) -> None:
    """Ends a download that nobody reads any more."""
    handover.close()
    token.trigger()


_live: "weakref.WeakSet[Download]" = weakref.WeakSet()


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
        cancel: Optional[Cancel],
    ) -> None:
        self._on_progress = on_progress
        self._handover = _Handover()
        token = linked_cancel(cancel)
        options = _ffi.CallOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(token)
        )
        arguments = (name, owned, path, options, self._handover, token)
        self._token = token
        self._abandon = weakref.finalize(self, _abandon, self._handover, token)
        self._abandon.atexit = False
        _live.add(self)
        threading.Thread(target=_run_download, args=arguments, name="cove-download", daemon=True).start()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = self._handover.get()
        if piece is None:
            raise StopIteration
        if self._on_progress is not None:
            self._on_progress(piece.done, piece.total)
        return piece.data

    def save(self, file: Any) -> int:
        """Writes all that is left to a binary file object, and returns how many bytes that were."""
        size = 0
        with self:
            for piece in self:
                file.write(piece)
                size += len(piece)
        return size

    def close(self) -> None:
        """Ends the download if it runs, waits for that, and throws unread pieces away."""
        self._abandon()  # once; later calls do nothing
        self._handover.wait()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def end_all() -> None:
    """At exit: a download that still waits for its reader would hold up the close."""
    for download in list(_live):
        download._abandon()
