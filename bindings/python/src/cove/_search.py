"""Searches: lines that match a pattern, and names that match a glob."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Callable, Generic, Iterator, List, Optional, Sequence, Type, TypeVar

from . import _ffi, _options
from ._calls import Calling, Cancel, Owned, begin_stream, drop, end_by, ending, raw_cancel, registry
from ._errors import FailedPreconditionError
from ._ffi import lib
from ._files import TYPES
from ._found import FindEntry, GrepLine, SearchSummary, entries_of, lines_of, take_summary
from ._pipe import Next, Pipe

Found = TypeVar("Found")


def _abandon(pipe: Pipe[Any], search: Owned) -> None:
    """Ends a search whose results nobody reads any more."""
    pipe.discard()
    lib["cove_search_cancel"](search.raw)
    lib["cove_search_resume"](search.raw)


#: Starts a search: begin(user_data, out_search).
_Begin = Callable[[int, Any], None]


class Search(Generic[Found]):
    """A search that runs. Iterating gives what it finds as it comes; then `summary` says the rest.

    >>> with workspace.grep("TODO", literal=True, limit=None) as found:
    ...     for line in found:
    ...         print(line.path, line.line, line.text)
    ...     print(found.summary.matches)

    A slow reader slows the search down; only some results are held at a time. Leaving the `with`
    block early, or dropping the last reference, ends it. One thread at a time; `cancel` from any.
    """

    def __init__(self, owner: Owned, begin: _Begin) -> None:
        self._owner = owner  # the workspace stays while its search runs
        self._pipe: Pipe[Found] = Pipe(take_summary)
        raw, argument = _ffi.out(_ffi.Search)
        self._search = Owned(raw, "cove_search_free")
        self._abandon = weakref.finalize(self, _abandon, self._pipe, self._search)
        self._abandon.atexit = False
        number = registry.add(self._pipe)
        begin_stream(lambda: begin(number, argument), raw, number, self._abandon, self._pipe.reply)

    def __iter__(self) -> Iterator[Found]:
        return self

    def __next__(self) -> Found:
        found = self._given(self._pipe.pop())
        if found is None:
            raise StopIteration
        return found

    def _given(self, next: Next) -> Optional[Found]:
        """What the reader gets; raises where the search could not be made."""
        if next.resume:
            lib["cove_search_resume"](self._search.raw)
        if next.item is None:
            self._pipe.reply.outcome()
        found: Optional[Found] = next.item
        return found

    @property
    def summary(self) -> SearchSummary:
        """How the search ended. Only after the last result was read."""
        if not self._pipe.drained:
            raise FailedPreconditionError("the search's results were not read to their end")
        value: SearchSummary = self._pipe.reply.outcome()
        return value

    def cancel(self) -> None:
        """Ends the search; what it found can still be read. Harmless after the end."""
        lib["cove_search_cancel"](self._search.raw)
        # Where it waits for its reader, it is to hear of this now.
        lib["cove_search_resume"](self._search.raw)

    def close(self) -> None:
        """Ends the search if it runs, waits for that, and throws unread results away."""
        end_by(self._abandon)  # once; later calls do nothing
        self._pipe.reply.wait()

    def __enter__(self) -> Search[Found]:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _on_lines(number: Optional[int], lines: _ffi.GrepLines) -> int:
    pipe: Pipe[GrepLine] = registry.get(number)
    return pipe.push(lines_of(lines))


def _on_entries(number: Optional[int], entries: _ffi.FindEntries) -> int:
    pipe: Pipe[FindEntry] = registry.get(number)
    return pipe.push(entries_of(entries))


_on_lines_fn = _ffi.callback(_ffi.GrepLinesFn, _on_lines)
_on_entries_fn = _ffi.callback(_ffi.FindEntriesFn, _on_entries)
_on_done_fn = _ffi.callback(_ffi.SearchDoneFn, ending("cove_search_summary_free"))


def _limit(value: Optional[int]) -> int:
    return _ffi.NO_LIMIT if value is None else _options.count("limit", value, 1, 2**62)


def _globs(name: str, value: Sequence[_options.Path]) -> List[bytes]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f'{name} must be a list as ["*.py"], not {type(value).__name__}')
    return [_options.path(f"{name}[{i}]", glob) for i, glob in enumerate(value)]


def _time(name: str, seconds: Optional[float]) -> int:
    """Nanoseconds since 1970; None = 0, which C reads as any time."""
    if seconds is None:
        return 0
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} must be seconds since 1970, not {type(seconds).__name__}")
    whole = int(seconds // 1)
    nanoseconds = whole * 10**9 + int((seconds - whole) * 1e9)
    return _options.count(f"{name} in nanoseconds", nanoseconds, -(2**63), 2**63 - 1) or 1


class Searches(Calling):
    """The searches of a Workspace."""

    def grep(
        self,
        pattern: _options.Path,
        path: _options.Path = ".",
        *,
        literal: bool = False,
        ignore_case: bool = False,
        whole_word: bool = False,
        context: int = 0,
        context_before: Optional[int] = None,
        context_after: Optional[int] = None,
        include: Sequence[_options.Path] = (),
        exclude: Sequence[_options.Path] = (),
        use_ignore_files: bool = True,
        hidden: bool = False,
        max_file_bytes: Optional[int] = None,
        limit: Optional[int] = 100,
        max_line_bytes: int = 500,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Search[GrepLine]:
        """Searches the files below a directory, or one file, for lines that match; see Search.

        `pattern` is RE2's syntax, or plain where `literal`. `context` lines are given on both sides.
        `include` and `exclude` are globs; .gitignore, .ignore and .coveignore count too where
        `use_ignore_files`. After `limit` matching lines it stops; None = never. `timeout` and
        `cancel` end it with what it has found by then.
        """
        owned = self._use()
        wanted = _options.path("pattern", pattern)
        place = _options.path("path", path)
        included = _ffi.strings(_globs("include", include))
        excluded = _ffi.strings(_globs("exclude", exclude))
        flags = _ffi.GREP_LITERAL if literal else 0
        flags |= _ffi.GREP_IGNORE_CASE if ignore_case else 0
        flags |= _ffi.GREP_WHOLE_WORD if whole_word else 0
        flags |= _ffi.GREP_HIDDEN if hidden else 0
        flags |= 0 if use_ignore_files else _ffi.GREP_NO_IGNORE_FILES
        before = context if context_before is None else context_before
        after = context if context_after is None else context_after
        options = _ffi.GrepOptions(
            flags=flags,
            context_before=_options.count("context_before", before, 0, 1000),
            context_after=_options.count("context_after", after, 0, 1000),
            include=_ffi.as_string_pointer(included),
            include_count=len(included),
            exclude=_ffi.as_string_pointer(excluded),
            exclude_count=len(excluded),
            max_file_bytes=_options.optional_count("max_file_bytes", max_file_bytes),
            limit=_limit(limit),
            max_line_bytes=_options.count("max_line_bytes", max_line_bytes, 16, 65536),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )

        def begin(number: int, out_search: Any) -> None:
            callbacks = _ffi.GrepCallbacks(
                on_lines=_on_lines_fn, on_done=_on_done_fn, user_data=number, drop=drop
            )
            lib["cove_workspace_grep_start"](
                owned.raw, place, wanted, _ffi.pointer_to(options), _ffi.pointer_to(callbacks), out_search
            )

        return Search(owned, begin)

    def find(
        self,
        glob: _options.Path = "",
        path: _options.Path = ".",
        *,
        type: Optional[str] = None,
        exclude: Sequence[_options.Path] = (),
        min_bytes: Optional[int] = None,
        max_bytes: Optional[int] = None,
        modified_from: Optional[float] = None,
        modified_until: Optional[float] = None,
        use_ignore_files: bool = True,
        hidden: bool = False,
        max_depth: Optional[int] = None,
        limit: Optional[int] = 1000,
        newest_first: bool = False,
        facts: bool = False,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Search[FindEntry]:
        """Looks for names below a directory; see Search.

        `glob` "" = everything; `type` is "file", "directory", "symlink" or "other". Sizes are bytes,
        both included; times are seconds since 1970. `max_depth` 1 = the directory's own entries.
        `newest_first` gives the `limit` newest, after the walk. `facts`: size, mode and times too.
        """
        owned = self._use()
        name = _options.path("glob", glob)
        place = _options.path("path", path)
        if type is not None and type not in TYPES[1:]:
            raise ValueError(f'type must be "file", "directory", "symlink" or "other", not {type!r}')
        excluded = _ffi.strings(_globs("exclude", exclude))
        flags = _ffi.FIND_HIDDEN if hidden else 0
        flags |= 0 if use_ignore_files else _ffi.FIND_NO_IGNORE_FILES
        flags |= _ffi.FIND_NEWEST_FIRST if newest_first else 0
        flags |= _ffi.FIND_FACTS if facts else 0
        options = _ffi.FindOptions(
            flags=flags,
            glob=name,
            type=0 if type is None else TYPES.index(type),
            max_depth=0 if max_depth is None else _options.count("max_depth", max_depth, 1, 2**32 - 1),
            exclude=_ffi.as_string_pointer(excluded),
            exclude_count=len(excluded),
            min_bytes=0 if min_bytes is None else _options.count("min_bytes", min_bytes, 0, 2**62),
            max_bytes=_options.kept_bytes("max_bytes", max_bytes, _ffi.BYTES_NONE),
            modified_from_ns=_time("modified_from", modified_from),
            modified_until_ns=_time("modified_until", modified_until),
            limit=_limit(limit),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )

        def begin(number: int, out_search: Any) -> None:
            callbacks = _ffi.FindCallbacks(
                on_entries=_on_entries_fn, on_done=_on_done_fn, user_data=number, drop=drop
            )
            lib["cove_workspace_find_start"](
                owned.raw, place, _ffi.pointer_to(options), _ffi.pointer_to(callbacks), out_search
            )

        return Search(owned, begin)
