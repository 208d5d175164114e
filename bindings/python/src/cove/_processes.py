"""Background processes: commands that nobody waits for, known by their id."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence

from . import _calls, _ffi, _options
from ._calls import Calling, Cancel, raw_cancel
from ._exec import CommandOptions, ExecResult, ExecStream, command, read_result
from ._ffi import lib

_STREAMS = {"stdout": _ffi.STDOUT, "stderr": _ffi.STDERR}


@dataclass(frozen=True)
class ProcessInfo:
    """What is known of a process; a copy, which does not change."""

    #: 32 hexadecimal digits.
    id: str
    name: str
    #: For people: cut at 1 KiB.
    command: str
    cwd: str
    #: Seconds since 1970, by the sandbox's clock.
    started_at: float
    #: Seconds for which it keeps its sandbox from an idle stop.
    keep_alive: int
    has_terminal: bool
    stdin_open: bool
    #: Bytes written so far.
    out_bytes: int
    err_bytes: int
    #: How it ended, without output; None = it runs.
    end: Optional[ExecResult]

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.end is None


@dataclass(frozen=True)
class OutputSlice:
    """A part of what a process wrote."""

    data: bytes
    #: Of the first byte: above the one asked for where some are gone.
    offset: int
    #: The offset to ask for next.
    next: int
    #: Bytes before it that nobody has any more.
    gone: int
    #: The process has ended and nothing follows.
    at_end: bool


def _read_info(raw: Any) -> ProcessInfo:
    result = lib["cove_process_info_result"](raw)
    return ProcessInfo(
        id=lib["cove_process_info_id"](raw).decode(),
        name=lib["cove_process_info_name"](raw).decode("utf-8", "replace"),
        command=os.fsdecode(lib["cove_process_info_command"](raw)),
        cwd=os.fsdecode(lib["cove_process_info_cwd"](raw)),
        started_at=lib["cove_process_info_started_at_ms"](raw) / 1e3,
        keep_alive=lib["cove_process_info_keep_alive_s"](raw),
        has_terminal=lib["cove_process_info_has_terminal"](raw) == 1,
        stdin_open=lib["cove_process_info_stdin_open"](raw) == 1,
        out_bytes=lib["cove_process_info_total_bytes"](raw, _ffi.STDOUT),
        err_bytes=lib["cove_process_info_total_bytes"](raw, _ffi.STDERR),
        end=read_result(result) if result else None,
    )


def take_info(raw: _ffi.ProcessInfo) -> ProcessInfo:
    try:
        return _read_info(raw)
    finally:
        lib["cove_process_info_free"](raw)


def take_list(raw: _ffi.ProcessList) -> List[ProcessInfo]:
    try:
        count = lib["cove_process_list_count"](raw)
        return [_read_info(lib["cove_process_list_entry"](raw, i)) for i in range(count)]
    finally:
        lib["cove_process_list_free"](raw)


def take_slice(raw: _ffi.OutputSlice) -> OutputSlice:
    try:
        return OutputSlice(
            data=_ffi.sized_bytes("cove_output_slice_data", raw),
            offset=lib["cove_output_slice_offset"](raw),
            next=lib["cove_output_slice_next"](raw),
            gone=lib["cove_output_slice_gone"](raw),
            at_end=lib["cove_output_slice_at_end"](raw) == 1,
        )
    finally:
        lib["cove_output_slice_free"](raw)


class Processes(Calling):
    """The process calls of a Workspace. All chats of a workspace see the same processes."""

    def start_process(
        self,
        argv: Sequence[_options.Path],
        *,
        name: Optional[str] = None,
        keep_alive: int = 0,
        options: Optional[CommandOptions] = None,
        cwd: Optional[_options.Path] = None,
        env: Optional[Mapping[str, str]] = None,
        stdin: Optional[_options.Data] = None,
        command_timeout: Optional[float] = None,
        kill_grace: Optional[float] = None,
        max_total_bytes: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> ProcessInfo:
        """Starts a process that nobody waits for; returns once the program runs.

        It survives this process and ends with the sandbox's stop. Its stdin stays open after
        `stdin`. `keep_alive`: seconds for which it keeps the sandbox from an idle stop. `timeout`
        and `cancel` are of the start alone.
        """
        started = command(
            argv,
            options=options,
            cwd=cwd,
            env=env,
            stdin=stdin,
            command_timeout=command_timeout,
            kill_grace=kill_grace,
            max_total_bytes=max_total_bytes,
            timeout=timeout,
        )
        process = _ffi.ProcessOptions(
            name=_options.optional_text("name", name),
            keep_alive_s=_options.count("keep_alive", keep_alive, 0, 24 * 60 * 60),
        )
        info: ProcessInfo = self._call(
            "cove_workspace_start_process_start",
            started.argv,
            started.argc,
            gives=_calls.GIVES_PROCESS_INFO,
            take=take_info,
            options=started.options,
            more=(_ffi.pointer_to(process),),
            cancel=cancel,
        )
        return info

    def list_processes(
        self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> List[ProcessInfo]:
        """All that were not removed, in the order of their start."""
        processes: List[ProcessInfo] = self._call(
            "cove_workspace_list_processes_start",
            gives=_calls.GIVES_PROCESS_LIST,
            take=take_list,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return processes

    def find_process(
        self, id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> ProcessInfo:
        """What is known of a process."""
        return self._process_info("cove_workspace_find_process_start", id, timeout, cancel)

    def process_output(
        self,
        id: str,
        stream: str = "stdout",
        *,
        offset: int = 0,
        max_bytes: Optional[int] = None,
        wait: Optional[float] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> OutputSlice:
        """Reads at most `max_bytes` (50 KiB; up to 256 KiB) of what a process wrote, also after its end.

        `wait`: waits so many seconds (at most 60) for a byte or the end.
        """
        if stream not in _STREAMS:
            raise ValueError(f'stream must be "stdout" or "stderr", not {stream!r}')
        output: OutputSlice = self._call(
            "cove_workspace_process_output_start",
            _options.text("id", id),
            gives=_calls.GIVES_OUTPUT_SLICE,
            take=take_slice,
            options=_ffi.OutputOptions(
                stream=_STREAMS[stream],
                offset=_options.count("offset", offset, 0, 2**63 - 1),
                max_bytes=_options.optional_count("max_bytes", max_bytes),
                wait_ms=_options.milliseconds("wait", wait),
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )
        return output

    def write_process_stdin(
        self,
        id: str,
        data: _options.Data,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Gives bytes to a process's stdin; several pieces: `attach_process(...).write_stdin`."""
        content = _options.data("data", data)
        return self._tell("cove_workspace_write_process_stdin_start", id, content, len(content), timeout=timeout, cancel=cancel)

    def close_process_stdin(
        self, id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Ends a process's stdin. Harmless where it is closed already."""
        return self._tell("cove_workspace_close_process_stdin_start", id, timeout=timeout, cancel=cancel)

    def signal_process(
        self, id: str, signal: int, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Sends a signal to a process's group."""
        number = _options.count("signal", signal, 1, 64)
        return self._tell("cove_workspace_signal_process_start", id, number, timeout=timeout, cancel=cancel)

    def resize_process(
        self,
        id: str,
        rows: int,
        columns: int,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Changes the size of a process's terminal."""
        size = _options.terminal("terminal", (rows, columns))
        return self._tell("cove_workspace_resize_process_start", id, *size, timeout=timeout, cancel=cancel)

    def end_process(
        self, id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> ProcessInfo:
        """Ends a process with all that it started (SIGTERM, its grace, SIGKILL) and waits for that."""
        return self._process_info("cove_workspace_end_process_start", id, timeout, cancel)

    def wait_process(
        self, id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> ProcessInfo:
        """Waits for a process's end. After `timeout` or `cancel` it goes on."""
        return self._process_info("cove_workspace_wait_process_start", id, timeout, cancel)

    def remove_process(
        self, id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Forgets a process that has ended, with its output."""
        return self._tell("cove_workspace_remove_process_start", id, timeout=timeout, cancel=cancel)

    def attach_process(
        self,
        id: str,
        *,
        out_offset: int = 0,
        err_offset: int = 0,
        only_new: bool = False,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> ExecStream:
        """Takes hold of a process: its output from the offsets on (`only_new`: from now on), its stdin,
        signals and end. Several may. Leaving the stream lets go of it; `cancel` of the stream ends it.
        """
        owned = self._use()
        name = _options.text("id", id)
        options = _ffi.AttachOptions(
            flags=_ffi.ATTACH_ONLY_NEW if only_new else 0,
            out_offset=_options.count("out_offset", out_offset, 0, 2**63 - 1),
            err_offset=_options.count("err_offset", err_offset, 0, 2**63 - 1),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )

        def begin(callbacks: Any, out_process: Any) -> None:
            lib["cove_workspace_attach_process"](owned.raw, name, _ffi.pointer_to(options), callbacks, out_process)

        return ExecStream(owned, begin, collect=True, attached=True)

    def _process_info(self, start: str, id: str, timeout: Optional[float], cancel: Optional[Cancel]) -> ProcessInfo:
        info: ProcessInfo = self._call(
            start,
            _options.text("id", id),
            gives=_calls.GIVES_PROCESS_INFO,
            take=take_info,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return info

    def _tell(
        self, start: str, id: str, *arguments: Any, timeout: Optional[float], cancel: Optional[Cancel]
    ) -> None:
        return self._do(
            start,
            _options.text("id", id),
            *arguments,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
