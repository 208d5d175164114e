"""What is known of a file in a workspace."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, List, Tuple

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


def info_of(raw: Any) -> FileInfo:
    return FileInfo(
        path=os.fsdecode(lib["cove_file_info_path"](raw)),
        type=TYPES[lib["cove_file_info_type"](raw)],
        size=lib["cove_file_info_size"](raw),
        mode=lib["cove_file_info_mode"](raw),
        modified_ns=lib["cove_file_info_modified_ns"](raw),
        link_target=os.fsdecode(lib["cove_file_info_link_target"](raw)),
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
