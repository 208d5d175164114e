"""Waiting on the event loop for what comes on Cove's threads."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Awaitable, Callable, List, Optional, TypeVar

from .. import _ffi
from .._calls import Asking, Reply, linked_cancel
from .._pipe import Next, Pipe

T = TypeVar("T")


class LoopReply(Reply):
    """The completion of a started call, told to an event loop."""

    def __init__(self, take: Callable[[Any], Any]) -> None:
        super().__init__(take)
        self._loop = asyncio.get_running_loop()
        self._waiter: "asyncio.Future[None]" = self._loop.create_future()
        self._told = False

    def _tell(self) -> None:
        tell_loop(self._loop, self._on_loop)

    def _on_loop(self) -> None:
        self._told = True
        set_done(self._waiter)

    async def wait_for(self, call_off: Callable[[], None]) -> Any:
        """The result. Where the task is cancelled the call is called off, and its end awaited."""
        try:
            await self._waiter
        except asyncio.CancelledError:
            call_off()
            while not self._told:
                self._waiter = self._loop.create_future()
                try:
                    await self._waiter
                except asyncio.CancelledError:
                    continue  # it is being called off already
            raise
        return self.outcome()

    async def or_end(self, waiting: "asyncio.Future[T]") -> Optional[T]:
        """What comes; None where the call ended before."""
        either: "List[asyncio.Future[Any]]" = [waiting, self._waiter]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else None

    async def ended(self) -> None:
        """Waits for the end of a call that is being called off."""
        await self._waiter


def tell_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> None:
    """From any thread. A loop that is closed has nobody to tell."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        pass


def set_done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def run(ask: Asking) -> Any:
    """Makes a call and waits for its end."""
    _ffi.check_may_wait()  # a loop that runs inside a callback
    token = linked_cancel(ask.cancel)
    reply = LoopReply(ask.take)
    try:
        ask.begin(token, reply)
    except BaseException:
        if reply.began:  # and KeyboardInterrupt broke in
            token.trigger()
        raise
    return await reply.wait_for(token.trigger)


async def next_of(pipe: Pipe[Any]) -> Next:
    """The next item of a pipe. Cancelling leaves the pipe as it is."""
    _ffi.check_may_wait()
    found = pipe.poll()
    if found is not None:
        return found
    loop = asyncio.get_running_loop()
    while True:
        changed: "asyncio.Future[None]" = loop.create_future()
        found = pipe.poll(functools.partial(tell_loop, loop, set_done, changed))
        if found is not None:
            return found
        await changed


async def end_of(pipe: Pipe[Any]) -> None:
    """Waits until nothing comes any more; what is left is thrown away."""
    pipe.discard()
    while (await next_of(pipe)).item is not None:
        pass


async def to_the_end(waiting: Awaitable[T]) -> T:
    """Waits also where the task is cancelled meanwhile, and only then says so."""
    task = asyncio.ensure_future(waiting)
    cancelled: Optional[asyncio.CancelledError] = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # seen: the task that was cancelled has no use for it
        raise cancelled
    return task.result()
