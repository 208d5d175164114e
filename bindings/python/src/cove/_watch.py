"""Watching a directory: what changed below it, as it changes."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Iterator, Optional, Type

from . import _ffi, _options
from ._calls import GIVES_NOTHING, Calling, Cancel, Owned, begin_stream, drop, end_by, raw_cancel, registry
from ._errors import CancelledError
from ._ffi import lib
from ._pipe import Next, Pipe

_CHANGES = ("", "created", "modified", "removed", "moved", "attributes", "overflow")

#: What a change costs beside its paths, about; and what may wait for its reader.
_ITEM_BYTES = 256
_BUFFER_BYTES = 8 << 20


@dataclass(frozen=True)
class FileEvent:
    """A change: where to look, not what happened in detail. Two may come as one, and one twice."""

    #: "created", "modified", "removed", "moved", "attributes", or "overflow": some were lost, list again.
    change: str
    #: Below the watched directory; "" = that directory itself.
    path: str
    #: Where it was before "moved"; else "".
    old_path: str
    is_directory: bool


_OVERFLOW = FileEvent("overflow", "", "", False)


def _event_of(raw: Any) -> FileEvent:
    return FileEvent(
        change=_CHANGES[lib["cove_file_event_change"](raw)],
        path=os.fsdecode(lib["cove_file_event_path"](raw)),
        old_path=os.fsdecode(lib["cove_file_event_old_path"](raw)),
        is_directory=lib["cove_file_event_is_directory"](raw) == 1,
    )


def _nothing(value: Any) -> None:
    return None


def _abandon(pipe: Pipe[FileEvent], watch: Owned) -> None:
    pipe.discard()
    lib["cove_watch_cancel"](watch.raw)


class Watch:
    """A watch that runs. Iterating waits for the next change and gives it.

    >>> with workspace.watch("src") as changes:
    ...     for event in changes:
    ...         print(event.change, event.path)

    It ends by leaving the block or by `cancel`; what else ends it is raised. Changes that nobody reads
    wait, and become one "overflow" when they are too many. While it runs the workspace does not go
    idle. One thread at a time; `cancel` from any.
    """

    def __init__(self, owner: Owned, begin: Callable[[Any, Any], None]) -> None:
        self._owner = owner  # the workspace stays while it is watched
        self._cancelled = False
        self._pipe: Pipe[FileEvent] = Pipe(_nothing, _BUFFER_BYTES)
        raw, argument = _ffi.out(_ffi.Watch)
        self._watch = Owned(raw, "cove_watch_free")
        self._abandon = weakref.finalize(self, _abandon, self._pipe, self._watch)
        self._abandon.atexit = False
        number = registry.add(self._pipe)
        callbacks = _ffi.WatchCallbacks(
            on_events=_on_events_fn, on_done=GIVES_NOTHING, user_data=number, drop=drop
        )
        pointer = _ffi.pointer_to(callbacks)
        begin_stream(lambda: begin(pointer, argument), raw, number, self._abandon, self._pipe.reply)

    def __iter__(self) -> Iterator[FileEvent]:
        return self

    def __next__(self) -> FileEvent:
        event = self._given(self._pipe.pop())
        if event is None:
            raise StopIteration
        return event

    def _given(self, next: Next) -> Optional[FileEvent]:
        """What the reader gets; raises what ended the watch where that was not asked for."""
        if next.item is None:
            try:
                self._pipe.reply.outcome()
            except CancelledError:
                if not self._cancelled:
                    raise
        event: Optional[FileEvent] = next.item
        return event

    def cancel(self) -> None:
        """Ends the watch; changes that came can still be read. Harmless after the end."""
        self._cancelled = True
        lib["cove_watch_cancel"](self._watch.raw)

    def close(self) -> None:
        """Ends the watch if it runs, waits for that, and throws unread changes away."""
        self._cancelled = True
        end_by(self._abandon)  # once; later calls do nothing
        self._pipe.reply.wait()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _on_events(number: Optional[int], events: _ffi.FileEvents) -> None:
    pipe: Pipe[FileEvent] = registry.get(number)
    found = [
        _event_of(lib["cove_file_events_entry"](events, i))
        for i in range(lib["cove_file_events_count"](events))
    ]
    sizes = [_ITEM_BYTES + len(event.path) + len(event.old_path) for event in found]
    if pipe.push(zip(found, sizes)) == _ffi.PAUSE:
        pipe.replace(_OVERFLOW, _ITEM_BYTES)


_on_events_fn = _ffi.callback(_ffi.FileEventsFn, _on_events)


class Watches(Calling):
    """The watches of a Workspace."""

    def watch(
        self,
        path: _options.Path = ".",
        *,
        recursive: bool = True,
        max_directories: int = 20_000,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Watch:
        """Watches a directory, `recursive` also those below it; see Watch.

        More than `max_directories` of them end it with QuotaExceededError.
        """
        owned = self._use()
        place = _options.path("path", path)
        options = _ffi.WatchOptions(
            flags=0 if recursive else _ffi.WATCH_NOT_RECURSIVE,
            max_directories=_options.count("max_directories", max_directories, 1, 100_000),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )

        def begin(callbacks: Any, out_watch: Any) -> None:
            lib["cove_workspace_watch_start"](
                owned.raw, place, _ffi.pointer_to(options), callbacks, out_watch
            )

        return Watch(owned, begin)
