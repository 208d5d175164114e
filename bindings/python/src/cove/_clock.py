"""A clock of one's own: what a Cove goes by instead of the machine's."""

from __future__ import annotations

import abc
import threading
import time
import weakref
from typing import Any, Optional

from . import _ffi
from ._calls import Owned, registry
from ._ffi import lib
from ._parts import Part, destroy


class Clock(abc.ABC):
    """What `cove.Cove(clock=...)` goes by: its time limits, pauses and leases, and the time of its own stores.

    Both methods are called often, on any thread, and must neither block nor call Cove. The clock may
    jump ahead and must not stand still. For tests: no other process uses the stores meanwhile.
    """

    @abc.abstractmethod
    def now_ns(self) -> int:
        """Nanoseconds since the machine started; what goes back is taken as standing."""

    @abc.abstractmethod
    def wall_ms(self) -> int:
        """Milliseconds since 1970."""

    def moved(self) -> None:
        """Says that it jumped ahead: what the Coves that have it waited for goes on, where its time has come."""
        with _lock:
            followers = list(_followers.get(self, ()))
        for owned in followers:
            lib["cove_clock_moved"](owned.raw)


class FakeClock(Clock):
    """The machine's clock, which can be set ahead: `clock.advance(3600)`.

    >>> clock = cove.FakeClock()
    >>> with cove.Cove(state_dir, clock=clock) as c:
    ...     clock.advance(2 * 3600)
    ...     c.sweep()["stopped"]
    """

    def __init__(self) -> None:
        self._ahead_ns = 0

    def now_ns(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) + self._ahead_ns

    def wall_ms(self) -> int:
        return (time.time_ns() + self._ahead_ns) // 1_000_000

    def advance(self, seconds: float) -> None:
        """Sets the clock ahead, and says so."""
        if not seconds >= 0:
            raise ValueError(f"seconds must be 0 or more, not {seconds!r}")
        with _lock:
            self._ahead_ns += int(seconds * 1e9)
        self.moved()


_lock = threading.Lock()
#: Who goes by a clock, as long as both live.
_followers: "weakref.WeakKeyDictionary[Clock, weakref.WeakSet[Owned]]" = weakref.WeakKeyDictionary()


def follow(clock: Optional[Clock], owned: Owned) -> None:
    """The Cove is told of the clock's jumps from now on."""
    if clock is None:
        return
    with _lock:
        _followers.setdefault(clock, weakref.WeakSet()).add(owned)


class _ClockPart(Part):
    def __init__(self, clock: Clock) -> None:
        super().__init__("clock", lambda: None)
        self.clock = clock


def make(clock: Clock) -> Any:
    """A pointer to the struct for C, which it keeps."""
    struct = _ffi.Clock(now_ns=_now_fn, wall_ms=_wall_fn, destroy=destroy)
    struct.self = registry.add(_ClockPart(clock))
    return _ffi.kept_pointer(struct)


def _now(number: Optional[int]) -> int:
    part: _ClockPart = registry.get(number)
    return int(part.clock.now_ns())


def _wall(number: Optional[int]) -> int:
    part: _ClockPart = registry.get(number)
    return int(part.clock.wall_ms())


# What these raise ctypes reports, and C gets 0: the time stands.
_now_fn = _ffi.callback(_ffi.ClockFn, _now)
_wall_fn = _ffi.callback(_ffi.ClockFn, _wall)
