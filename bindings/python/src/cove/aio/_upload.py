"""Files and directories that are sent piece by piece, from what the event loop has."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Optional, Protocol, Union

from .. import _options, _upload
from .._calls import Owned
from .._errors import FailedPreconditionError
from .._ffi import lib
from .._upload import PIECE_BYTES, Sending, Source, end, writing
from ._loop import LoopReply, run, to_the_end


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
    reply = LoopReply(sending.take)
    upload = sending.begin(reply)
    try:
        if await _give_all(sending, pieces, upload, reply):
            lib["cove_upload_finish"](upload.raw)
        return await reply.wait_for(lambda: end(upload))
    except GeneratorExit:  # the loop is gone, and nothing can be awaited
        end(upload)
        raise
    except FailedPreconditionError as refused:
        end(upload)
        await to_the_end(reply.ended())
        return sending.outcome(reply, refused)
    except BaseException:
        end(upload)
        await to_the_end(reply.ended())
        raise


async def _give_all(sending: Sending, pieces: _Pieces, upload: Owned, reply: LoopReply) -> bool:
    """True once all was given; False where the upload ended before: its source may be waiting itself."""
    done = 0
    while True:
        waiting = asyncio.ensure_future(pieces.next(PIECE_BYTES))
        try:
            piece = await reply.or_end(waiting)
        finally:
            waiting.cancel()
        if not piece:
            return piece is not None
        await run(writing(upload, piece))
        done += len(piece)
        sending.tell(done)
