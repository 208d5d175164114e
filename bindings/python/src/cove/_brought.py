"""The parts that a program brings to an open, and its log."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

from . import _calls, _clock, _ffi, _metadata, _objects
from ._calls import registry
from ._clock import Clock
from ._metadata import MetadataStore
from ._objects import ObjectStore

Log = Callable[[str, str], Any]

_LEVELS = ("debug", "info", "warning", "error")


class Brought(NamedTuple):
    """What an open goes by that is the program's own; each part belongs to one Cove."""

    log: Optional[Log] = None
    metadata: Optional[MetadataStore] = None
    objects: Optional[ObjectStore] = None
    clock: Optional[Clock] = None

    def options(self) -> _ffi.OpenOptions:
        """What C takes over with the open, and ends whatever comes of that; checked first."""
        self._check()
        options = _ffi.OpenOptions()
        if self.log is not None:
            options = _ffi.OpenOptions(log=_on_log_fn, log_user_data=registry.add(self.log), log_drop=_calls.drop)
        if self.metadata is not None:
            options.metadata = _metadata.make(self.metadata)
        if self.objects is not None:
            options.objects = _objects.make(self.objects)
        if self.clock is not None:
            options.clock = _clock.make(self.clock)
        return options

    def _check(self) -> None:
        for name, part, kind in (
            ("metadata", self.metadata, MetadataStore),
            ("objects", self.objects, ObjectStore),
            ("clock", self.clock, Clock),
        ):
            if part is not None and not isinstance(part, kind):
                raise TypeError(f"{name} must be a cove.{kind.__name__}, not {type(part).__name__}")


def _on_log(number: Optional[int], level: int, message: Optional[bytes]) -> None:
    log: Log = registry.get(number)
    log(_LEVELS[level], (message or b"").decode("utf-8", "replace"))


_on_log_fn = _ffi.callback(_ffi.LogFn, _on_log)
