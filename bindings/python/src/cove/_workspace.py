"""Workspace: commands, processes and files of one user, seen from one chat."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, List, Mapping, Optional, Sequence, Type

from . import _calls, _ffi, _files, _options
from ._calls import Cancel, Owned
from ._errors import FailedPreconditionError
from ._exec import CommandOptions, ExecResult, ExecStream, OutputChunk, command
from ._ffi import lib
from ._files import FileInfo
from ._processes import Processes
from ._search import Searches
from ._tools import Tools

_WORK = ("none", "provisioned", "resumed", "restored")
OnOutput = Callable[[str, bytes], Any]


class Workspace(Processes, Searches, Tools):
    """A workspace that runs and is held by this process. Any thread; made by `Cove.acquire`.

    `with` releases it at the end. Time limits are seconds, None = none.
    """

    def __init__(self, raw: Any) -> None:
        self._owned: Optional[Owned] = Owned(raw, "cove_workspace_free")
        #: The session's directory as commands see it: "/workspace/sessions/c1".
        self.directory: str = lib["cove_workspace_directory"](raw).decode()
        self.sandbox_id: str = lib["cove_workspace_sandbox_id"](raw).decode()
        #: What the acquire had to do: "none", "provisioned", "resumed" or "restored".
        self.work: str = _WORK[lib["cove_workspace_work"](raw)]

    def exec(
        self,
        argv: Sequence[_options.Path],
        *,
        on_output: Optional[OnOutput] = None,
        options: Optional[CommandOptions] = None,
        cwd: Optional[_options.Path] = None,
        env: Optional[Mapping[str, str]] = None,
        stdin: Optional[_options.Data] = None,
        command_timeout: Optional[float] = None,
        kill_grace: Optional[float] = None,
        head_bytes: Optional[int] = None,
        tail_bytes: Optional[int] = None,
        max_total_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> ExecResult:
        """Runs a command to its end.

        `on_output(stream, data)` gets the output as it comes, on the calling thread; an exception
        in it, or Ctrl-C, ends the command and is raised. `command_timeout` is the command's own
        (the result says "timed_out"); `timeout` and `cancel` are of the whole call. Each stream's
        first `head_bytes` and last `tail_bytes` are kept (50 KiB each); past `max_total_bytes`
        (1 GiB) the command is ended. `options` has what few commands need.
        """
        run = self._run(
            argv,
            on_output is not None,
            options=options,
            cwd=cwd,
            env=env,
            stdin=stdin,
            command_timeout=command_timeout,
            kill_grace=kill_grace,
            head_bytes=head_bytes,
            tail_bytes=tail_bytes,
            max_total_bytes=max_total_bytes,
            timeout=timeout,
            cancel=cancel,
        )
        if on_output is None:
            return run.wait()
        with run:
            for stream, data in run:
                on_output(stream, data)
            return run.result

    def stream(
        self,
        argv: Sequence[_options.Path],
        *,
        keep_stdin: bool = False,
        options: Optional[CommandOptions] = None,
        cwd: Optional[_options.Path] = None,
        env: Optional[Mapping[str, str]] = None,
        stdin: Optional[_options.Data] = None,
        command_timeout: Optional[float] = None,
        kill_grace: Optional[float] = None,
        head_bytes: Optional[int] = None,
        tail_bytes: Optional[int] = None,
        max_total_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> ExecStream:
        """Starts a command and gives its output piece by piece; see ExecStream.

        `keep_stdin`: its stdin stays open after `stdin`, for `write_stdin` and `close_stdin`.
        """
        return self._run(
            argv,
            True,
            keep_stdin=keep_stdin,
            options=options,
            cwd=cwd,
            env=env,
            stdin=stdin,
            command_timeout=command_timeout,
            kill_grace=kill_grace,
            head_bytes=head_bytes,
            tail_bytes=tail_bytes,
            max_total_bytes=max_total_bytes,
            timeout=timeout,
            cancel=cancel,
        )

    def read_file(
        self,
        path: _options.Path,
        *,
        offset: int = 0,
        max_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> bytes:
        """Reads a file, or a range of it, of at most 64 MiB."""
        options = _ffi.ReadOptions(
            offset=_options.count("offset", offset, 0, 2**63 - 1),
            max_bytes=_options.optional_count("max_bytes", max_bytes),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        content: bytes = self._call(
            "cove_workspace_read_file_start",
            _options.path("path", path),
            gives=_calls.GIVES_BUFFER,
            take=_ffi.take_buffer,
            options=options,
            cancel=cancel,
        )
        return content

    def write_file(
        self,
        path: _options.Path,
        data: _options.Data,
        *,
        mode: Optional[int] = None,
        create_parents: bool = True,
        durable: bool = False,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Creates a file or replaces it as a whole. `mode` None = an existing file's, else 0o644.

        `durable`: file and directory are synced before it counts.
        """
        flags = (0 if create_parents else _ffi.WRITE_EXISTING_PARENTS) | (_ffi.WRITE_DURABLE if durable else 0)
        options = _ffi.WriteOptions(
            flags=flags,
            mode=0 if mode is None else _options.count("mode", mode, 1, 0o7777),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        content = _options.data("data", data)
        info: FileInfo = self._call(
            "cove_workspace_write_file_start",
            _options.path("path", path),
            content,
            len(content),
            gives=_calls.GIVES_FILE_INFO,
            take=_files.take_info,
            options=options,
            cancel=cancel,
        )
        return info

    def stat(
        self, path: _options.Path, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> FileInfo:
        """Says what a path is, of a symlink itself."""
        info: FileInfo = self._call(
            "cove_workspace_stat_start",
            _options.path("path", path),
            gives=_calls.GIVES_FILE_INFO,
            take=_files.take_info,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return info

    def list(
        self, path: _options.Path = ".", *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> List[FileInfo]:
        """Lists a directory in the order of the names' bytes. `timeout` bounds each page."""
        entries: List[FileInfo] = []
        after = b""
        while True:
            page, after = self._call(
                "cove_workspace_list_start",
                _options.path("path", path),
                gives=_calls.GIVES_FILE_PAGE,
                take=_files.take_page,
                options=_ffi.FileListOptions(
                    limit=10_000, after=after, timeout_ms=_options.milliseconds("timeout", timeout)
                ),
                cancel=cancel,
            )
            entries += page
            if not after:
                return entries

    def make_directory(
        self, path: _options.Path, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Makes a directory and the missing ones above it; success where it is one already."""
        self._call(
            "cove_workspace_make_directory_start",
            _options.path("path", path),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
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
        self._call(
            "cove_workspace_remove_start",
            _options.path("path", path),
            options=_ffi.RemoveOptions(
                flags=_ffi.REMOVE_RECURSIVE if recursive else 0,
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )

    def release(self, *, timeout: Optional[float] = None) -> None:
        """Ends the use of the workspace; later calls fail. The sandbox runs on until it is idle."""
        owned = self._use()
        options = _ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout))
        lib["cove_workspace_release"](owned.raw, _ffi.pointer_to(options))
        self._owned = None

    def close(self) -> None:
        """Releases the workspace if that was not done. May be repeated, also after the Cove's close."""
        if self._owned is None:
            return
        try:
            self.release()
        except FailedPreconditionError:
            self._owned = None  # the Cove let go of it before, or it is the parent process's

    @property
    def closed(self) -> bool:
        return self._owned is None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cove.Workspace {self.sandbox_id} {'closed' if self.closed else self.directory}>"

    def _use(self) -> Owned:
        owned = self._owned
        if owned is None:
            raise _calls.closed("workspace")
        return owned

    def _run(self, argv: Sequence[_options.Path], collect: bool, **named: Any) -> ExecStream:
        owned = self._use()
        started = command(argv, **named)

        def begin(callbacks: Any, out_process: Any) -> None:
            options = _ffi.pointer_to(started.options)
            lib["cove_workspace_exec_start"](
                owned.raw, started.argv, started.argc, options, callbacks, out_process
            )

        return ExecStream(owned, begin, collect=collect)

    def _call(self, start: str, *arguments: Any, **named: Any) -> Any:
        owned = self._use()
        return _calls.call(start, owned.raw, *arguments, **named)


__all__ = ["Workspace", "OutputChunk"]
