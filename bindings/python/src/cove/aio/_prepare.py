"""Steps of a preparation that are coroutine functions, and progress, on the event loop."""

from __future__ import annotations

import asyncio
from typing import Any, Set

from .. import _prepare
from .._calls import Owned
from .._errors import UnavailableError
from .._prepare import OnEvent, Starter
from ._loop import tell_loop
from ._workspace import PlannedWorkspace, Workspace


class StepRun:
    """A step that runs: its workspace, and what is known of the last time."""

    def __init__(self, owned: Owned) -> None:
        self._of = _prepare.StepRun(owned)
        #: Commands, files and searches of the workspace that is prepared.
        self.workspace: Workspace = Workspace(PlannedWorkspace._of(_prepare.borrowed_workspace(owned)))
        #: What the step kept when it was last done; it can be written from inside the sandbox.
        self.note: str = self._of.note

    @property
    def over(self) -> bool:
        """True where nobody waits for the step any more."""
        return self._of.over

    def tell(self, text: str) -> None:
        """Tells `on_event` how far the step is."""
        self._of.tell(text)


class LoopHost(_prepare.Host):
    """Steps that are coroutine functions run on the loop of the acquire, others on their own threads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks: "Set[asyncio.Task[None]]" = set()

    def starter(self, apply: Any) -> Starter:
        if not _prepare.is_coroutine(apply):
            return super().starter(apply)
        # Where the loop is closed the run is freed, and so failed.
        return lambda owned: tell_loop(self._loop, self._begin, apply, owned)

    def hearer(self, on_event: OnEvent) -> OnEvent:
        return lambda event, step, text: tell_loop(self._loop, on_event, event, step, text)

    def _begin(self, apply: Any, owned: Owned) -> None:
        task = self._loop.create_task(_apply(apply, owned))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _apply(apply: Any, owned: Owned) -> None:
    """Whatever comes of it, the run is answered."""
    try:
        _prepare.finish(owned, await apply(StepRun(owned)))
    except asyncio.CancelledError:
        _prepare.fail(owned, UnavailableError("the task of the step was cancelled"))
        raise
    except Exception as error:  # the acquire's caller hears of it
        _prepare.fail(owned, error)
