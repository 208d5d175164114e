"""Tools on the event loop: the links that a call wants meanwhile, and its end."""

from __future__ import annotations

import asyncio
import inspect
from typing import Awaitable, Callable, List, Optional, Sequence, Set, Union

from .._tools import FileToLink, LinkRequest, ToolCall, ToolResult
from ._loop import end_of, next_of, to_the_end

#: Gives a link for each file, in their order; may be a coroutine function.
LinkMaker = Callable[[List[FileToLink]], Union[Sequence[str], Awaitable[Sequence[str]]]]


async def serve(call: ToolCall, link_maker: Optional[LinkMaker]) -> ToolResult:
    """Makes links on the event loop until the call ends."""
    making = _Making(link_maker)
    try:
        while True:
            request: Optional[LinkRequest] = (await next_of(call.pipe)).item
            if request is None:
                break
            making.begin(request)
            del request
    except GeneratorExit:  # the loop is gone, and nothing can be awaited
        call.token.trigger()
        raise
    except asyncio.CancelledError:
        call.token.trigger()
        making.cancel()
        await to_the_end(end_of(call.pipe))
        raise
    making.cancel()  # nobody waits for their links any more
    if making.failed is not None:
        raise making.failed
    result: ToolResult = call.pipe.reply.outcome()
    return result


class _Making:
    """Link makers that run."""

    def __init__(self, link_maker: Optional[LinkMaker]) -> None:
        self._link_maker = link_maker
        self._tasks: "Set[asyncio.Task[None]]" = set()
        #: What one raised that is no CoveError.
        self.failed: Optional[Exception] = None

    def begin(self, request: LinkRequest) -> None:
        if self._link_maker is None:
            return
        task = asyncio.ensure_future(self._answer(request, self._link_maker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _answer(self, request: LinkRequest, link_maker: LinkMaker) -> None:
        try:
            files = request.files()
            links = link_maker(files)
            request.answer(await links if inspect.isawaitable(links) else links, files)
        except Exception as error:
            self.failed = request.refuse(error) or self.failed
