"""Workspace: commands, processes, files, searches and tools of one user, seen from one chat."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Type, TypeVar

from . import _calls, _ffi, _options
from ._calls import Cancel, Owned
from ._errors import FailedPreconditionError
from ._exec import CommandOptions, ExecResult, ExecStream, OutputChunk, command, take_result
from ._ffi import lib
from ._file_calls import Files
from ._processes import Processes
from ._search import Searches
from ._skills import WorkspaceSkills
from ._tools import Tools
from ._transfers import Transfers
from ._watch import Watches

_WORK = ("none", "provisioned", "resumed", "restored")
Self = TypeVar("Self", bound="Workspace")
OnOutput = Callable[[str, bytes], Any]


class Workspace(Processes, Files, Transfers, Watches, Searches, Tools, WorkspaceSkills):
    """A workspace that runs and is held by this process. Any thread; made by `Cove.acquire`.

    `with` releases it at the end. Time limits are seconds, None = none.
    """

    @classmethod
    def _of(cls: Type[Self], owned: Owned) -> Self:
        workspace = cls.__new__(cls)
        workspace._take(owned)
        return workspace

    def __init__(self) -> None:
        raise TypeError("a workspace is made by Cove.acquire")

    def _take(self, owned: Owned) -> None:
        raw = owned.raw
        self._owned: Optional[Owned] = owned
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
        _ffi.check_may_wait()
        named: Dict[str, Any] = {
            "options": options,
            "cwd": cwd,
            "env": env,
            "stdin": stdin,
            "command_timeout": command_timeout,
            "kill_grace": kill_grace,
            "head_bytes": head_bytes,
            "tail_bytes": tail_bytes,
            "max_total_bytes": max_total_bytes,
            "timeout": timeout,
            "cancel": cancel,
        }
        if on_output is None:
            return self._wait_for(argv, **named)
        with self._run(argv, True, **named) as run:
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

    def prepare_report(self) -> Dict[str, Any]:
        """What the last preparation did: the acquire's, or that of a wake since (docs/prepare.md)."""
        buffer, argument = _ffi.out(_ffi.Buffer)
        lib["cove_workspace_prepare_report_json"](self._use().raw, argument)
        report: Dict[str, Any] = json.loads(_ffi.take_buffer(buffer))
        return report

    def release(self, *, timeout: Optional[float] = None) -> None:
        """Ends the use of the workspace; later calls fail. The sandbox runs on until it is idle."""
        self._leave(timeout)
        self._owned = None

    def _leave(self, timeout: Optional[float]) -> Any:
        """The call of a release; what `_call` gives is handed on."""
        options = _ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout))
        return self._call("cove_workspace_release_start", options=options)

    def close(self) -> None:
        """Releases the workspace if that was not done. May be repeated, also after the Cove's close."""
        if self._owned is None:
            return
        _ffi.check_may_wait()
        try:
            self.release()
        except FailedPreconditionError:
            self._owned = None  # the Cove let go of it before, or it is the parent process's

    @property
    def closed(self) -> bool:
        """Whether it was let go of."""
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

    def _wait_for(self, argv: Sequence[_options.Path], **named: Any) -> ExecResult:
        """Runs a command to its end, waiting in C."""
        owned = self._use()
        started = command(argv, **named)
        raw, argument = _ffi.out(_ffi.ExecResult)
        arguments = (owned.raw, started.argv, started.argc, _ffi.pointer_to(started.options), argument)
        result: ExecResult = _calls.wait_in_c("cove_workspace_exec", arguments, raw, take_result)
        return result

    def _run(self, argv: Sequence[_options.Path], collect: bool, **named: Any) -> ExecStream:
        owned = self._use()
        started = command(argv, **named)

        def begin(callbacks: Any, out_process: Any) -> None:
            options = _ffi.pointer_to(started.options)
            lib["cove_workspace_exec_start"](
                owned.raw, started.argv, started.argc, options, callbacks, out_process
            )

        return ExecStream(owned, begin, collect=collect)


__all__ = ["Workspace", "OutputChunk"]
