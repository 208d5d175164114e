"""What searches give: lines, entries and summaries, read of C."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Tuple

from . import _ffi
from ._errors import ERRORS, InternalError
from ._ffi import lib
from ._files import TYPES, FileInfo, info_of

_ENDS = ("", "complete", "limit", "deadline", "cancelled")
_ENCODINGS = ("", "bytes", "utf-16-le", "utf-16-be")

#: What a result costs beside its texts, about.
_ITEM_BYTES = 256


@dataclass(frozen=True)
class GrepLine:
    """A matching line, or a line beside one."""

    #: Below the searched directory; of a single file its name.
    path: str
    #: From 1.
    line: int
    #: Bytes, from 1, where the first match begins; 0 = a context line.
    column: int
    #: Without the line's end; where `cut`, a part of it with the first match in view.
    content: bytes
    #: (offset, length) of the matches within `content`, at most 64.
    spans: Tuple[Tuple[int, int], ...]
    is_context: bool
    cut: bool
    #: Bytes of the line before `content`.
    content_offset: int
    #: "bytes", or "utf-16-le" or "utf-16-be" by a byte order mark: then all is of the UTF-8 form.
    encoding: str

    @property
    def text(self) -> str:
        """`content` as UTF-8; bytes that are none become U+FFFD."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True)
class FindEntry:
    """Something found by its name."""

    #: Below the searched directory.
    path: str
    #: "file", "directory", "symlink" or "other".
    type: str
    #: What else is known, its path ""; None without `facts=True`.
    facts: Optional[FileInfo]


@dataclass(frozen=True)
class SearchProblem:
    """A file or directory that could not be read."""

    path: str
    #: The name of an error's code, as "permission_denied".
    code: str
    message: str


@dataclass(frozen=True)
class SearchSummary:
    """How a search ended, and what it passed."""

    #: "complete", "limit" (there may be more), "deadline" or "cancelled" (what was found by then).
    ended: str
    #: Matching lines or entries given.
    matches: int
    #: Of find: entries looked at.
    files_searched: int
    files_matched: int
    #: Passed over.
    files_binary: int
    files_too_large: int
    problem_count: int
    #: The first 16.
    problems: Tuple[SearchProblem, ...]


def _problem_of(raw: Any, index: int) -> SearchProblem:
    code = lib["cove_search_summary_problem_code"](raw, index)
    return SearchProblem(
        path=os.fsdecode(lib["cove_search_summary_problem_path"](raw, index)),
        code=ERRORS.get(code, InternalError).name,
        message=lib["cove_search_summary_problem_message"](raw, index).decode("utf-8", "replace"),
    )


def take_summary(raw: Any) -> SearchSummary:
    try:
        told = range(lib["cove_search_summary_problem_count"](raw))
        return SearchSummary(
            ended=_ENDS[lib["cove_search_summary_ended"](raw)],
            matches=lib["cove_search_summary_matches"](raw),
            files_searched=lib["cove_search_summary_files_searched"](raw),
            files_matched=lib["cove_search_summary_files_matched"](raw),
            files_binary=lib["cove_search_summary_files_binary"](raw),
            files_too_large=lib["cove_search_summary_files_too_large"](raw),
            problem_count=lib["cove_search_summary_problem_total"](raw),
            problems=tuple(_problem_of(raw, i) for i in told),
        )
    finally:
        lib["cove_search_summary_free"](raw)


def _line_of(raw: Any) -> GrepLine:
    return GrepLine(
        path=os.fsdecode(lib["cove_grep_line_path"](raw)),
        line=lib["cove_grep_line_number"](raw),
        column=lib["cove_grep_line_column"](raw),
        content=_ffi.sized_bytes("cove_grep_line_text", raw),
        spans=tuple(
            (lib["cove_grep_line_span_offset"](raw, i), lib["cove_grep_line_span_length"](raw, i))
            for i in range(lib["cove_grep_line_span_count"](raw))
        ),
        is_context=lib["cove_grep_line_is_context"](raw) == 1,
        cut=lib["cove_grep_line_is_cut"](raw) == 1,
        content_offset=lib["cove_grep_line_text_offset"](raw),
        encoding=_ENCODINGS[lib["cove_grep_line_encoding"](raw)],
    )


def _entry_of(raw: Any) -> FindEntry:
    facts = lib["cove_find_entry_facts"](raw)
    return FindEntry(
        path=os.fsdecode(lib["cove_find_entry_path"](raw)),
        type=TYPES[lib["cove_find_entry_type"](raw)],
        facts=info_of(facts) if facts else None,
    )


def lines_of(raw: Any) -> Iterable[Tuple[GrepLine, int]]:
    for i in range(lib["cove_grep_lines_count"](raw)):
        line = _line_of(lib["cove_grep_lines_entry"](raw, i))
        yield line, _ITEM_BYTES + len(line.path) + len(line.content)


def entries_of(raw: Any) -> Iterable[Tuple[FindEntry, int]]:
    for i in range(lib["cove_find_entries_count"](raw)):
        entry = _entry_of(lib["cove_find_entries_entry"](raw, i))
        yield entry, _ITEM_BYTES + len(entry.path)
