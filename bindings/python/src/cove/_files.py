"""What is known of files in a workspace, and what is done to them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from . import _ffi
from ._ffi import lib

TYPES = ("", "file", "directory", "symlink", "other")


@dataclass(frozen=True)
class FileInfo:
    """Paths that are no UTF-8 are as os.fsdecode gives them, and may be given back."""

    path: str
    #: "file", "directory", "symlink" or "other".
    type: str
    #: Bytes.
    size: int
    #: Permission bits.
    mode: int
    #: When the content last changed, in nanoseconds since 1970.
    modified_ns: int
    #: Where a symlink points; "" for others.
    link_target: str
    #: Another text after every change of content, mode or place; for `if_unchanged_since`.
    etag: str = ""
    #: A directory that a list of several levels could not look into.
    unreadable: bool = False


@dataclass(frozen=True)
class FileContent:
    """Bytes of a file and what was said of it at that moment."""

    data: bytes
    #: Told from its first bytes: "image/png", "text/plain; charset=utf-8", ...,
    #: "application/octet-stream" where they say nothing.
    content_type: str
    info: FileInfo


@dataclass(frozen=True)
class LineSlice:
    """Lines of a file, as far as the limits went."""

    #: As in the file, line ends too.
    content: bytes
    #: Number of the first line in it, and how many there are.
    first: int
    count: int
    #: The first line that was not given; None = the file ends here.
    next: Optional[int]
    #: None where it was not cheap to know.
    total_lines: Optional[int]
    #: Where in the file `content` begins, in bytes.
    offset: int
    #: The only line in it is longer than `max_bytes` and goes on after `content`.
    cut: bool
    content_type: str
    info: FileInfo

    @property
    def text(self) -> str:
        """`content` as UTF-8; bytes that are none become U+FFFD."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True)
class TreeCounts:
    """What was copied, or placed from an archive."""

    entries: int
    #: Of files' content.
    bytes: int
    #: Sockets and devices, which are never copied.
    skipped: int


def info_of(raw: Any) -> FileInfo:
    return FileInfo(
        path=os.fsdecode(lib["cove_file_info_path"](raw)),
        type=TYPES[lib["cove_file_info_type"](raw)],
        size=lib["cove_file_info_size"](raw),
        mode=lib["cove_file_info_mode"](raw),
        modified_ns=lib["cove_file_info_modified_ns"](raw),
        link_target=os.fsdecode(lib["cove_file_info_link_target"](raw)),
        etag=lib["cove_file_info_etag"](raw).decode(),
        unreadable=lib["cove_file_info_is_unreadable"](raw) == 1,
    )


def take_info(raw: Any) -> FileInfo:
    try:
        return info_of(raw)
    finally:
        lib["cove_file_info_free"](raw)


def take_page(raw: Any) -> Tuple[List[FileInfo], bytes]:
    """The entries and what to give as `after` for the next page."""
    try:
        entries = [
            info_of(lib["cove_file_page_entry"](raw, i)) for i in range(lib["cove_file_page_count"](raw))
        ]
        return entries, lib["cove_file_page_next"](raw)
    finally:
        lib["cove_file_page_free"](raw)


def take_content(raw: Any) -> FileContent:
    try:
        return FileContent(
            data=_ffi.sized_bytes("cove_file_content_data", raw),
            content_type=lib["cove_file_content_type"](raw).decode(),
            info=info_of(lib["cove_file_content_info"](raw)),
        )
    finally:
        lib["cove_file_content_free"](raw)


def take_lines(raw: Any) -> LineSlice:
    try:
        total = lib["cove_line_slice_total_lines"](raw)
        return LineSlice(
            content=_ffi.sized_bytes("cove_line_slice_text", raw),
            first=lib["cove_line_slice_first"](raw),
            count=lib["cove_line_slice_count"](raw),
            next=lib["cove_line_slice_next"](raw) or None,
            total_lines=None if total < 0 else total,
            offset=lib["cove_line_slice_offset"](raw),
            cut=lib["cove_line_slice_is_cut"](raw) == 1,
            content_type=lib["cove_line_slice_content_type"](raw).decode(),
            info=info_of(lib["cove_line_slice_info"](raw)),
        )
    finally:
        lib["cove_line_slice_free"](raw)


def take_counts(raw: Any) -> TreeCounts:
    try:
        return TreeCounts(
            entries=lib["cove_tree_counts_entries"](raw),
            bytes=lib["cove_tree_counts_bytes"](raw),
            skipped=lib["cove_tree_counts_skipped"](raw),
        )
    finally:
        lib["cove_tree_counts_free"](raw)
