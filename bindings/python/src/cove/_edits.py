"""Edits of files: what is asked for, and what became of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _ffi, _options
from ._errors import CoveError
from ._ffi import lib
from ._files import FileInfo, info_of


class Edit(NamedTuple):
    """One exact replacement; a str is taken as UTF-8. A plain tuple does as well."""

    #: Found exactly once, or wherever it is with `replace_all`. An LF in it matches the file's line end.
    old: Union[str, bytes]
    new: Union[str, bytes]
    replace_all: bool = False


@dataclass(frozen=True)
class FileEdit:
    """The edits of one file within several."""

    path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
    edits: Sequence[Union[Edit, Tuple[Any, ...]]]
    if_unchanged_since: Optional[str] = None
    durable: bool = False


class EditOutcome(NamedTuple):
    """What one edit replaced."""

    #: In how many places.
    replaced: int
    #: Where the first one begins, in the file as this edit found it.
    first_line: int


@dataclass(frozen=True)
class EditResult:
    """What became of a file that was edited."""

    info: FileInfo
    #: One for each edit, in order.
    edits: Tuple[EditOutcome, ...]


def _edited(raw: Any) -> EditResult:
    return EditResult(
        info=info_of(lib["cove_edit_result_info"](raw)),
        edits=tuple(
            EditOutcome(
                lib["cove_edit_result_replaced"](raw, i), lib["cove_edit_result_first_line"](raw, i)
            )
            for i in range(lib["cove_edit_result_count"](raw))
        ),
    )


def take_edited(raw: Any) -> EditResult:
    try:
        return _edited(raw)
    finally:
        lib["cove_edit_result_free"](raw)


def take_all_edited(raw: Any) -> List[Union[EditResult, CoveError]]:
    try:
        results: List[Union[EditResult, CoveError]] = []
        for i in range(lib["cove_edit_results_count"](raw)):
            entry = lib["cove_edit_results_entry"](raw, i)
            error = lib["cove_edit_results_error"](raw, i)
            results.append(_edited(entry) if entry else _ffi.exception_of(error))
        return results
    finally:
        lib["cove_edit_results_free"](raw)


class _Edits(NamedTuple):
    """Edits as C takes them; `kept` is what they point to."""

    array: Any
    kept: List[Any]


def _edit_text(name: str, value: object) -> bytes:
    return _options.utf8(name, value) if isinstance(value, str) else _options.data(name, value)


def raw_edits(edits: object) -> _Edits:
    if isinstance(edits, (str, bytes, Edit)) or not isinstance(edits, Sequence):
        raise TypeError(f"edits must be a list of cove.Edit, not {type(edits).__name__}")
    raw: List[Any] = []
    kept: List[Any] = []
    for i, given in enumerate(edits):
        if not isinstance(given, tuple) or not 2 <= len(given) <= 3:
            raise TypeError(f"edits[{i}] must be a cove.Edit or (old, new)")
        edit = Edit(*given)
        old, new = _edit_text(f"edits[{i}].old", edit.old), _edit_text(f"edits[{i}].new", edit.new)
        flags = _ffi.EDIT_REPLACE_ALL if edit.replace_all else 0
        raw.append(
            _ffi.Edit(flags=flags, old_text=old, old_size=len(old), new_text=new, new_size=len(new))
        )
        kept += [old, new]
    return _Edits(_ffi.array_of(_ffi.Edit, raw), kept)


def raw_file_edits(files: object) -> Tuple[Any, List[Any]]:
    if isinstance(files, (str, bytes)) or not isinstance(files, Sequence):
        raise TypeError(f"files must be a list of cove.FileEdit, not {type(files).__name__}")
    raw: List[Any] = []
    kept: List[Any] = []
    for i, file in enumerate(files):
        if not isinstance(file, FileEdit):
            raise TypeError(f"files[{i}] must be a cove.FileEdit, not {type(file).__name__}")
        edits = raw_edits(file.edits)
        raw.append(
            _ffi.FileEdit(
                flags=_ffi.EDIT_DURABLE if file.durable else 0,
                path=_options.path(f"files[{i}].path", file.path),
                edits=_ffi.as_pointer(_ffi.Edit, edits.array),
                edit_count=len(edits.array),
                if_unchanged_since=_options.optional_text("if_unchanged_since", file.if_unchanged_since),
            )
        )
        kept.append(edits)
    return _ffi.array_of(_ffi.FileEdit, raw), kept
