"""Files of a workspace: read, written, edited, listed, moved."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

from . import _calls, _edits, _ffi, _files, _options
from ._calls import Calling, Cancel
from ._edits import Edit, EditResult, FileEdit
from ._errors import CoveError
from ._files import FileContent, FileInfo, LineSlice, TreeCounts


def write_options(
    *,
    mode: Optional[int],
    create_parents: bool,
    durable: bool,
    if_unchanged_since: Optional[str],
    if_absent: bool,
    timeout: Optional[float],
    append: bool = False,
) -> _ffi.WriteOptions:
    flags = 0 if create_parents else _ffi.WRITE_EXISTING_PARENTS
    flags |= _ffi.WRITE_DURABLE if durable else 0
    flags |= _ffi.WRITE_APPEND if append else 0
    flags |= _ffi.WRITE_IF_ABSENT if if_absent else 0
    return _ffi.WriteOptions(
        flags=flags,
        mode=0 if mode is None else _options.count("mode", mode, 1, 0o7777),
        timeout_ms=_options.milliseconds("timeout", timeout),
        if_unchanged_since=_options.optional_text("if_unchanged_since", if_unchanged_since),
    )


def _call_options(timeout: Optional[float]) -> _ffi.CallOptions:
    return _ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout))


class Files(Calling):
    """The file calls of a Workspace.

    Paths start at the chat's directory, or lie below /workspace. `if_unchanged_since` is the etag that
    a file must still have, else ConflictError.
    """

    def read_file(
        self,
        path: _options.Path,
        *,
        offset: int = 0,
        max_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> bytes:
        """Reads a file, or a range of it, of at most 64 MiB; larger ones: `download`."""
        content: bytes = self._read(
            "cove_workspace_read_file_start", path, offset, max_bytes, timeout,
            gives=_calls.GIVES_BUFFER, take=_ffi.take_buffer, cancel=cancel,
        )
        return content

    def read(
        self,
        path: _options.Path,
        *,
        offset: int = 0,
        max_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileContent:
        """The same with what is said of the file: its type, told from its content, and its etag."""
        content: FileContent = self._read(
            "cove_workspace_read_start", path, offset, max_bytes, timeout,
            gives=_calls.GIVES_FILE_CONTENT, take=_files.take_content, cancel=cancel,
        )
        return content

    def read_lines(
        self,
        path: _options.Path,
        *,
        first: int = 1,
        count: int = 2000,
        max_bytes: int = 50 * 1024,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> LineSlice:
        """Reads lines of a file of any size, whole ones while they fit into `max_bytes`."""
        options = _ffi.ReadLinesOptions(
            first=_options.count("first", first, 1, 2**62),
            count=_options.count("count", count, 1, 2**62),
            max_bytes=_options.count("max_bytes", max_bytes, 4, 8 << 20),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        lines: LineSlice = self._call(
            "cove_workspace_read_lines_start",
            _options.path("path", path),
            gives=_calls.GIVES_LINE_SLICE,
            take=_files.take_lines,
            options=options,
            cancel=cancel,
        )
        return lines

    def write_file(
        self,
        path: _options.Path,
        data: _options.Data,
        *,
        mode: Optional[int] = None,
        create_parents: bool = True,
        durable: bool = False,
        append: bool = False,
        if_unchanged_since: Optional[str] = None,
        if_absent: bool = False,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Creates a file or replaces it as a whole. `mode` None = an existing file's, else 0o644.

        `durable`: file and directory are synced before it counts. `append` adds to its end instead,
        at most 16 MiB at once. `if_absent`: AlreadyExistsError where the name is taken.
        """
        options = write_options(
            mode=mode,
            create_parents=create_parents,
            durable=durable,
            append=append,
            if_unchanged_since=if_unchanged_since,
            if_absent=if_absent,
            timeout=timeout,
        )
        content = _options.data("data", data)
        return self._info(
            "cove_workspace_write_file_start",
            _options.path("path", path),
            content,
            len(content),
            options=options,
            cancel=cancel,
        )

    def edit_file(
        self,
        path: _options.Path,
        edits: Sequence[Union[Edit, Tuple[Any, ...]]],
        *,
        durable: bool = False,
        if_unchanged_since: Optional[str] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> EditResult:
        """Replaces texts in a file, one after the other, all of them or none.

        >>> workspace.edit_file("a.py", [("x = 1", "x = 2")])

        Each old text is found exactly once, or anywhere with `Edit(..., replace_all=True)`. The file
        keeps its line ends, byte order mark and mode.
        """
        raw = _edits.raw_edits(edits)
        options = _ffi.EditOptions(
            flags=_ffi.EDIT_DURABLE if durable else 0,
            if_unchanged_since=_options.optional_text("if_unchanged_since", if_unchanged_since),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        result: EditResult = self._call(
            "cove_workspace_edit_file_start",
            _options.path("path", path),
            raw.array,
            len(raw.array),
            gives=_calls.GIVES_EDIT_RESULT,
            take=_edits.take_edited,
            options=options,
            cancel=cancel,
        )
        return result

    def edit_files(
        self,
        files: Sequence[FileEdit],
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> List[Union[EditResult, CoveError]]:
        """Edits several files, in order; at each place is its result, or the error of this one.

        Entries with the same path are one change of that file, all of them or none.
        """
        array, kept = _edits.raw_file_edits(files)
        results: List[Union[EditResult, CoveError]] = self._call(
            "cove_workspace_edit_files_start",
            array,
            len(kept),
            gives=_calls.GIVES_EDIT_RESULTS,
            take=_edits.take_all_edited,
            options=_call_options(timeout),
            cancel=cancel,
        )
        return results

    def stat(
        self, path: _options.Path, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> FileInfo:
        """Says what a path is, of a symlink itself."""
        place = _options.path("path", path)
        return self._info("cove_workspace_stat_start", place, options=_call_options(timeout), cancel=cancel)

    def list(
        self,
        path: _options.Path = ".",
        *,
        depth: Optional[int] = 1,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> List[FileInfo]:
        """Lists a directory in the order of the names' bytes. `timeout` bounds each page.

        `depth`: levels of directories, a directory before what is in it; None = the whole tree.
        """
        return [*self.iter_list(path, depth=depth, timeout=timeout, cancel=cancel)]

    def iter_list(
        self,
        path: _options.Path = ".",
        *,
        depth: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Iterator[FileInfo]:
        """The same, of which only a page is held at a time; the whole tree unless `depth` says less."""
        after = b""
        while True:
            page, after = self._list_page(path, depth, after, 10_000, timeout=timeout, cancel=cancel)
            yield from page
            if not after:
                return

    def _list_page(
        self, path: _options.Path, depth: Optional[int], after: bytes, limit: int, *, timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> Tuple[List[FileInfo], bytes]:
        """A page, and what to give as `after` for the next one."""
        page: Tuple[List[FileInfo], bytes] = self._call(
            "cove_workspace_list_start",
            _options.path("path", path),
            gives=_calls.GIVES_FILE_PAGE,
            take=_files.take_page,
            options=_ffi.FileListOptions(
                limit=limit,
                after=after,
                timeout_ms=_options.milliseconds("timeout", timeout),
                depth=_ffi.DEPTH_ALL if depth is None else _options.count("depth", depth, 1, 2**31),
            ),
            cancel=cancel,
        )
        return page

    def make_directory(
        self, path: _options.Path, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Makes a directory and the missing ones above it; success where it is one already."""
        return self._do(
            "cove_workspace_make_directory_start",
            _options.path("path", path),
            options=_call_options(timeout),
            cancel=cancel,
        )

    def remove(
        self,
        path: _options.Path,
        *,
        recursive: bool = False,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Removes a file, a symlink itself, or a directory (`recursive`: with all below it)."""
        return self._do(
            "cove_workspace_remove_start",
            _options.path("path", path),
            options=_ffi.RemoveOptions(
                flags=_ffi.REMOVE_RECURSIVE if recursive else 0,
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )

    def move(
        self,
        source: _options.Path,
        to: _options.Path,
        *,
        overwrite: bool = False,
        create_parents: bool = True,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Moves a file, a symlink itself or a directory to the new path `to`.

        `overwrite` replaces a file, or an empty directory by a directory.
        """
        return self._info(
            "cove_workspace_move_start",
            *_both_paths(source, to),
            options=_move_options(overwrite, create_parents, timeout),
            cancel=cancel,
        )

    def copy(
        self,
        source: _options.Path,
        to: _options.Path,
        *,
        overwrite: bool = False,
        create_parents: bool = True,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> TreeCounts:
        """Copies a file, a symlink itself or a whole directory to the new path `to`, or nothing of it.

        `overwrite` replaces a file by a file.
        """
        counts: TreeCounts = self._call(
            "cove_workspace_copy_start",
            *_both_paths(source, to),
            gives=_calls.GIVES_TREE_COUNTS,
            take=_files.take_counts,
            options=_move_options(overwrite, create_parents, timeout),
            cancel=cancel,
        )
        return counts

    def set_mode(
        self,
        path: _options.Path,
        mode: int,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Sets the permission bits of what a path leads to."""
        place, bits = _options.path("path", path), _options.count("mode", mode, 0, 0o7777)
        return self._info(
            "cove_workspace_set_mode_start", place, bits, options=_call_options(timeout), cancel=cancel
        )

    def make_symlink(
        self,
        path: _options.Path,
        target: _options.Path,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Makes a symlink at `path`; what it leads to need not be there."""
        return self._info(
            "cove_workspace_make_symlink_start",
            _options.path("path", path),
            _options.path("target", target),
            options=_call_options(timeout),
            cancel=cancel,
        )

    def _read(
        self,
        start: str,
        path: _options.Path,
        offset: int,
        max_bytes: Optional[int],
        timeout: Optional[float],
        **named: Any,
    ) -> Any:
        options = _ffi.ReadOptions(
            offset=_options.count("offset", offset, 0, 2**63 - 1),
            max_bytes=_options.optional_count("max_bytes", max_bytes),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        return self._call(start, _options.path("path", path), options=options, **named)

    def _info(self, start: str, *arguments: Any, **named: Any) -> FileInfo:
        info: FileInfo = self._call(
            start, *arguments, gives=_calls.GIVES_FILE_INFO, take=_files.take_info, **named
        )
        return info


def _both_paths(source: _options.Path, to: _options.Path) -> Tuple[bytes, bytes]:
    return _options.path("source", source), _options.path("to", to)


def _move_options(
    overwrite: bool, create_parents: bool, timeout: Optional[float]
) -> _ffi.MoveOptions:
    flags = _ffi.MOVE_OVERWRITE if overwrite else 0
    flags |= 0 if create_parents else _ffi.MOVE_EXISTING_PARENTS
    return _ffi.MoveOptions(flags=flags, timeout_ms=_options.milliseconds("timeout", timeout))
