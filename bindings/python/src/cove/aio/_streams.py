"""What comes piece by piece: output, results of searches, changes, files. Slow readers slow it down."""

from __future__ import annotations

import asyncio
import inspect
import time
from types import TracebackType
from typing import Any, AsyncIterator, Generic, Optional, Type, TypeVar

from .. import _exec
from .._calls import Owned, end_by
from .._download import Writable
from .._exec import ExecResult, OutputChunk
from .._found import SearchSummary
from .._pipe import Next
from .._watch import FileEvent
from ._loop import end_of, next_of, to_the_end
from ._shapes import Plan, asked

Item = TypeVar("Item")
Self = TypeVar("Self", bound="Stream[Any]")


#: Seconds for which a reader may take what is there already before others have their turn.
_TURN = 0.005


class Stream(Generic[Item]):
    """An asynchronous iterator over what a blocking one has in its pipe. One task at a time."""

    def __init__(self, of: Any) -> None:
        self._of = of
        self._turn_began = 0.0

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        item: Optional[Item] = self._of._given(await self._next())
        if item is None:
            raise StopAsyncIteration
        return item

    async def _next(self) -> Next:
        now = time.monotonic()
        if now - self._turn_began < _TURN:
            found: Optional[Next] = self._of._pipe.poll()
            if found is not None:
                return found
        else:
            await asyncio.sleep(0)
        found = await next_of(self._of._pipe)
        self._turn_began = time.monotonic()
        return found

    async def close(self) -> None:
        """Ends it if it runs, waits for that, and throws away what was not read."""
        end_by(self._of._abandon)  # once; later calls do nothing
        await to_the_end(end_of(self._of._pipe))

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is GeneratorExit:  # the loop is gone, and nothing can be awaited
            end_by(self._of._abandon)
        else:
            await self.close()


class _ExecPlan(Plan, _exec.ExecStream):
    """The stdin, signals and sizes of a command."""

    def __init__(self, of: _exec.ExecStream) -> None:
        self._process = of._process

    def _use(self) -> Owned:
        return self._process


class ExecStream(Stream[OutputChunk]):
    """A command that runs. Iterating gives its output as it comes; then `result` says how it ended.

    >>> async with workspace.stream(["make"]) as run:
    ...     async for stream, data in run:
    ...         print(stream, data)
    ...     print(run.result.succeeded)

    A slow reader slows the command down; nothing is lost. Leaving the block early, or dropping the last
    reference, ends the command; where it is a process that was attached to, that goes on.
    """

    def __init__(self, of: _exec.ExecStream) -> None:
        super().__init__(of)
        self._plan = _ExecPlan(of)

    @property
    def result(self) -> ExecResult:
        """How the command ended. Only after the last piece was read."""
        result: ExecResult = self._of.result
        return result

    async def wait(self) -> ExecResult:
        """Waits for the end; output that was not read is only kept in the result."""
        try:
            async for _ in self:
                pass
        except asyncio.CancelledError:
            await self.close()
            raise
        return self.result

    def cancel(self) -> None:
        """Ends the command's tree; the output so far can still be read. Harmless after the end."""
        self._of.cancel()

    def detach(self) -> None:
        """Lets go of a process that was attached to, which goes on; reading raises CancelledError at
        the end. A command of `stream` is ended as by `cancel`."""
        self._of.detach()

    write_stdin = asked(_exec.ExecStream.write_stdin)
    close_stdin = asked(_exec.ExecStream.close_stdin)
    send_signal = asked(_exec.ExecStream.send_signal)
    resize = asked(_exec.ExecStream.resize)


class Search(Stream[Item]):
    """A search that runs. Iterating gives what it finds as it comes; then `summary` says the rest.

    Leaving an `async with` block early, or dropping the last reference, ends it.
    """

    @property
    def summary(self) -> SearchSummary:
        """How the search ended. Only after the last result was read."""
        summary: SearchSummary = self._of.summary
        return summary

    def cancel(self) -> None:
        """Ends the search; what it found can still be read. Harmless after the end."""
        self._of.cancel()


class Watch(Stream[FileEvent]):
    """A watch that runs. Iterating waits for the next change and gives it.

    It ends by leaving an `async with` block or by `cancel`; what else ends it is raised. Changes that
    nobody reads wait, and become one "overflow" when they are too many. While it runs the workspace does
    not go idle.
    """

    def cancel(self) -> None:
        """Ends the watch; changes that came can still be read. Harmless after the end."""
        self._of.cancel()

    async def close(self) -> None:
        """Ends the watch if it runs, waits for that, and throws unread changes away."""
        self._of._cancelled = True
        await super().close()


class Download(Stream[bytes]):
    """A file, or a directory as a tar stream. Iterating gives it piece by piece.

    A slow reader slows it down; about 1 MiB is held. Leaving an `async with` block early, or dropping the
    last reference, ends it.
    """

    async def save(self, file: Writable) -> int:
        """Writes all that is left to a binary file object, and returns how many bytes that were.

        `file.write` may be a coroutine function; else it runs on a thread of the loop's executor.
        """
        loop = asyncio.get_running_loop()
        is_async = inspect.iscoroutinefunction(file.write)
        size = 0
        async with self:
            async for piece in self:
                if is_async:
                    await file.write(piece)
                else:
                    await loop.run_in_executor(None, file.write, piece)
                size += len(piece)
        return size
