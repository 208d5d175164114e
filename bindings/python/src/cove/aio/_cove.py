"""Cove: one open deployment in this process."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, AsyncIterator, Dict, Generator, Mapping, Optional, Type, Union

from .. import _cove
from .._calls import Cancel, Owned
from .._clock import Clock
from .._cove import Log
from .._errors import FailedPreconditionError
from .._metadata import MetadataStore
from .._objects import ObjectStore
from ._loop import on_worker, run, tell_loop
from ._prepare import LoopHost
from ._shapes import Plan, asked, opening, worked
from ._workspace import PlannedWorkspace, Workspace

_Blocking = _cove.Cove


class _PlannedCove(Plan, _Blocking):
    """Says which calls are to be made."""

    _workspace_of = PlannedWorkspace

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

    What it takes is as of `cove.Cove`. `log(level, message)` is called on the event loop that opens it; stores and
    clocks are those of `cove`, whose methods are called on threads of Cove's.
    Closing ends no sandbox. Any event loop, also of several threads.
    """

    def __init__(
        self,
        state_dir: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        config: Optional[Mapping[str, Any]] = None,
        log: Optional[Log] = None,
        metadata: Optional[MetadataStore] = None,
        objects: Optional[ObjectStore] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        self._where = (state_dir, config, log)
        self._parts: Dict[str, Any] = {"metadata": metadata, "objects": objects, "clock": clock}
        self._plan: _PlannedCove = _NotOpen()

    def __await__(self) -> Generator[Any, Any, Cove]:
        return self._open().__await__()

    async def _open(self) -> Cove:
        if not isinstance(self._plan, _NotOpen):
            raise FailedPreconditionError("this Cove was opened before")
        state_dir, config, log = self._where
        heard = None if log is None else _heard_on_loop(log)
        self._plan = await on_worker(_PlannedCove, state_dir, config=config, log=heard, **self._parts)
        return self

    @opening(_Blocking.acquire)
    async def acquire(self, key: Any, **named: Any) -> Workspace:
        asking: Any = self._plan.acquire(key, **named)
        return Workspace(await run(asking))

    stop = asked(_Blocking.stop)
    archive = asked(_Blocking.archive)
    destroy = asked(_Blocking.destroy)
    destroy_source = asked(_Blocking.destroy_source)
    recover = asked(_Blocking.recover)
    metrics = asked(_Blocking.metrics)
    sweep = asked(_Blocking.sweep)
    status = asked(_Blocking.status)
    doctor = worked(_Blocking.doctor)
    close = worked(_Blocking.close)

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
            page, after = await on_worker(self._plan._list_page, source, after, timeout, cancel)
            for record in page:
                yield record
            if not after:
                return

    @property
    def closed(self) -> bool:
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


def _heard_on_loop(log: Log) -> Log:
    loop = asyncio.get_running_loop()
    return lambda level, message: tell_loop(loop, log, level, message)
