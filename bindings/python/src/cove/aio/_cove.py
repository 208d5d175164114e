"""Cove: one open deployment in this process."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, Generator, Mapping, Optional, Type, Union

from .. import _cove, _keys
from .._brought import Brought, Log
from .._calls import Cancel, Hears, Owned
from .._clock import Clock
from .._errors import FailedPreconditionError
from .._metadata import MetadataStore
from .._objects import ObjectStore
from ._loop import run, tell_loop
from ._prepare import LoopHost
from ._shapes import Plan, asked, like, opening
from ._workspace import PlannedWorkspace, Workspace

_Blocking = _cove.Cove


class _PlannedCove(Plan, _Blocking):
    """Says which calls are to be made."""

    _workspace_of = PlannedWorkspace

    def __init__(self, owned: Owned, on_event: Optional[Hears], clock: Optional[Clock]) -> None:
        self._become(owned, on_event, clock)

    def _heard(self, hears: Optional[Hears]) -> Optional[Hears]:
        return None if hears is None else _on_loop(hears)

    def _host(self) -> LoopHost:
        return LoopHost()


class _NotOpen(_PlannedCove):
    """What a Cove has before it is opened."""

    def __init__(self) -> None:
        self._owned = None

    def _use(self) -> Owned:
        raise FailedPreconditionError("this Cove is not open: await it, or enter it by `async with`")


class Cove:
    """One Cove: `c = await aio.Cove(...)`, or `async with aio.Cove(...) as c`, which closes it at the end.

    What it takes is as of `cove.Cove`. `log(level, message)` and `on_event(event)` are called on the event
    loop that opens it, `on_progress` on that of its call; stores and clocks are those of `cove`, whose methods are
    called on threads of Cove's. Closing ends no sandbox. Any event loop, also of several threads.
    """

    def __init__(
        self,
        state_dir: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        config: Optional[Mapping[str, Any]] = None,
        log: Optional[Log] = None,
        on_event: Optional[Hears] = None,
        metadata: Optional[MetadataStore] = None,
        objects: Optional[ObjectStore] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        self._where = (state_dir, config)
        self._brought = Brought(log, metadata, objects, clock)
        self._on_event = on_event
        self._plan: _PlannedCove = _NotOpen()

    def __await__(self) -> Generator[Any, Any, Cove]:
        return self._open().__await__()

    async def _open(self) -> Cove:
        if not isinstance(self._plan, _NotOpen):
            raise FailedPreconditionError("this Cove was opened before")
        brought = self._brought
        if brought.log is not None:
            brought = brought._replace(log=_on_loop(brought.log))
        owned = await run(_Blocking._opening(*self._where, brought))
        self._plan = _PlannedCove(owned, self._on_event, brought.clock)
        return self

    @opening(_Blocking.acquire)
    async def acquire(self, key: Any, **named: Any) -> Workspace:
        asking: Any = self._plan.acquire(key, **named)
        return Workspace(await run(asking))

    stop = asked(_Blocking.stop)
    archive = asked(_Blocking.archive)
    relocate = asked(_Blocking.relocate)
    destroy = asked(_Blocking.destroy)
    remove_session = asked(_Blocking.remove_session)
    destroy_source = asked(_Blocking.destroy_source)
    revive_source = asked(_Blocking.revive_source)
    set_idle_policy = asked(_Blocking.set_idle_policy)
    idle_policy = asked(_Blocking.idle_policy)
    add_skill = asked(_Blocking.add_skill)
    list_skills = asked(_Blocking.list_skills)
    remove_skill = asked(_Blocking.remove_skill)
    recover = asked(_Blocking.recover)
    metrics = asked(_Blocking.metrics)
    sweep = asked(_Blocking.sweep)
    status = asked(_Blocking.status)
    orphans = asked(_Blocking.orphans)
    doctor = asked(_Blocking.doctor)

    @like(_Blocking.close)
    async def close(self, timeout: float = 10.0) -> None:
        closing = self._plan._closing(timeout)
        if closing is not None:
            await run(closing)

    async def list(
        self,
        source: Optional[str] = None,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> AsyncIterator[Dict[str, Any]]:
        """Every sandbox, by id; `source` = "source_type/source_id" for one app's or skill's only.

        `timeout` bounds each page of them.
        """
        after = ""
        while True:
            asking: Any = self._plan._list_page(source, after, timeout, cancel)
            page, after = await run(asking)
            for record in page:
                yield record
            if not after:
                return

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._plan.closed

    async def __aenter__(self) -> Cove:
        return await self._open()

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is not GeneratorExit:  # the loop is gone, and nothing can be awaited
            await self.close()


async def write_agent(path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes the cove-agent of the library, a static program, to a file that anybody may run."""
    await run(_keys.writing_agent(path))


def _on_loop(hears: Callable[..., Any]) -> Callable[..., None]:
    """A callback that is called on the event loop that runs now."""
    loop = asyncio.get_running_loop()
    return lambda *told: tell_loop(loop, hears, *told)
