"""Files and directories that are sent piece by piece, from what the event loop has."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Optional, Protocol, Union

from .. import _options, _upload
from .._transfers import Sending
from .._upload import Source, Upload
from ._loop import end_of, next_of, to_the_end


class AsyncReadable(Protocol):
    """A binary file object whose `read` is a coroutine function."""

    def read(self, __size: int) -> Awaitable[_options.Data]:
        ...


#: What is sent: as of `cove`, or what gives bytes asynchronously.
Sent = Union[_upload.Sent, AsyncReadable, AsyncIterable[_options.Data]]


class _Pieces:
    """Where the pieces come from; blocking sources are read on threads of the loop's executor."""

    def __init__(self, source: Any) -> None:
        self._read = getattr(source, "read", None)
        self._source: Optional[Source] = None
        self._iterator: Optional[AsyncIterator[Any]] = None
        self._rest = memoryview(b"")
        self._is_bytes = isinstance(source, (bytes, bytearray, memoryview))
        if self._read is not None and inspect.iscoroutinefunction(self._read):
            return
        if self._read is None and isinstance(source, AsyncIterable):
            self._iterator = source.__aiter__()
            return
        self._source = Source(source)

    async def next(self, capacity: int) -> bytes:
        """At most `capacity` bytes; none at the end."""
        if self._source is not None:
            if self._is_bytes:
                return self._source.next(capacity)
            return await asyncio.get_running_loop().run_in_executor(None, self._source.next, capacity)
        if self._iterator is None and self._read is not None:
            data = _options.data("what source.read gave", await self._read(capacity))
            if len(data) > capacity:
                raise ValueError(f"source.read({capacity}) gave {len(data)} bytes")
            return data
        return await self._of_iterator(capacity)

    async def _of_iterator(self, capacity: int) -> bytes:
        assert self._iterator is not None
        while not self._rest:
            try:
                piece = await self._iterator.__anext__()
            except StopAsyncIteration:
                return b""
            self._rest = memoryview(_options.data("a piece of source", piece))
        data = bytes(self._rest[:capacity])
        self._rest = self._rest[capacity:]
        return data


async def send(sending: Sending) -> Any:
    """Gives the pieces until the call ends. What the source raises is raised, and leaves the old file."""
    pieces = _Pieces(sending.source)
    upload = Upload(sending.timeout_ms)
    sending.token._link(upload)
    upload.start(sending.call)
    try:
        await _give_all(upload, pieces, sending)
    except GeneratorExit:  # the loop is gone, and nothing can be awaited
        sending.token.trigger()
        raise
    except BaseException:
        sending.token.trigger()
        await to_the_end(end_of(upload.questions))
        raise
    return upload.questions.reply.outcome()


async def _give_all(upload: Upload, pieces: _Pieces, sending: Sending) -> None:
    done = 0
    while True:
        capacity: Optional[int] = (await next_of(upload.questions)).item
        if capacity is None:
            return
        if done > 0 and sending.on_progress is not None:
            sending.on_progress(done, None)
        piece = await _unless_ended(upload, pieces.next(capacity))
        if piece is None:
            return
        done += len(piece)
        upload.give(piece)


async def _unless_ended(upload: Upload, waiting: Any) -> Optional[bytes]:
    """A piece; None where the call ended before: the source may be waiting itself."""
    given = asyncio.ensure_future(waiting)
    ended = asyncio.ensure_future(next_of(upload.questions))
    try:
        await asyncio.wait([given, ended], return_when=asyncio.FIRST_COMPLETED)
        if not given.done():
            return None
        piece: bytes = given.result()
        return piece
    finally:
        given.cancel()
        ended.cancel()
