"""What comes on Cove's thread, on its way to whoever reads it: a thread, or an event loop."""

from __future__ import annotations

import collections
import threading
from typing import Any, Callable, Deque, Generic, Iterable, NamedTuple, Optional, Tuple, TypeVar

from . import _ffi
from ._calls import Reply

Item = TypeVar("Item")

#: What waits for its reader; past it whatever gives it is slowed down.
BUFFER_BYTES = 1 << 20

#: Is called once, from any thread, and must not wait.
Wake = Callable[[], None]


class Next(NamedTuple):
    """The next item, None at the end; and whether what gives them is to go on now."""

    item: Any
    resume: bool


class Pipe(Generic[Item]):
    """Items in their order, then the end."""

    def __init__(self, take: Callable[[Any], Any], limit: int = BUFFER_BYTES) -> None:
        self._limit = limit
        self._changed = threading.Condition()
        self._items: Deque[Tuple[Item, int]] = collections.deque()
        self._buffered = 0
        self._paused = False
        self._discarding = False
        self._ended = False
        self._wake: Optional[Wake] = None
        self.reply = Reply(take)

    def push(self, items: Iterable[Tuple[Item, int]]) -> int:
        """On Cove's thread. Each with its size in bytes; gives what the callback gives."""
        ready = list(items)  # read before the lock: it takes a while, and C's memory is borrowed
        with self._changed:
            if self._discarding:
                return _ffi.CONTINUE
            for item, size in ready:
                self._add(item, size)
            self._paused = self._buffered >= self._limit
            self._tell()
            return _ffi.PAUSE if self._paused else _ffi.CONTINUE

    def replace(self, item: Item, size: int) -> None:
        """What waits is thrown away, and this is there instead."""
        with self._changed:
            self._items.clear()
            self._items.append((item, size))
            self._buffered = size

    def complete(self, value: Any, error: _ffi.Error) -> None:
        """On Cove's thread."""
        self.reply.complete(value, error)
        self._end()

    def pop(self) -> Next:
        """Waits for the next item."""
        _ffi.check_may_wait()
        with self._changed:
            while not self._items and not self._ended:
                self._changed.wait()
            return self._take()

    def poll(self, wake: Optional[Wake] = None) -> Optional[Next]:
        """The next item; None = there is none yet, and `wake` is called once, when that changes."""
        with self._changed:
            if self._items or self._ended:
                return self._take()
            self._wake = wake
            return None

    def discard(self) -> None:
        """What is there and what comes is thrown away."""
        with self._changed:
            self._discarding = True
            self._items.clear()
            self._buffered = 0

    @property
    def discarding(self) -> bool:
        with self._changed:
            return self._discarding

    @property
    def drained(self) -> bool:
        with self._changed:
            return self._ended and not self._items

    def _add(self, item: Item, size: int) -> None:
        self._items.append((item, size))
        self._buffered += size

    def _take(self) -> Next:
        if not self._items:
            return Next(None, False)
        item, size = self._items.popleft()
        self._buffered -= size
        resume = self._paused and self._buffered < self._limit // 2
        if resume:
            self._paused = False
        return Next(item, resume)

    def _end(self) -> None:
        with self._changed:
            self._ended = True
            self._tell()

    def _tell(self) -> None:
        self._changed.notify_all()
        wake, self._wake = self._wake, None
        if wake is not None:
            wake()
