"""Commands: how they ended, and what they write while they run."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

from . import _ffi, _options
from ._calls import Calling, Cancel, Owned, begin_stream, drop, end_by, ending, raw_cancel, registry
from ._errors import FailedPreconditionError
from ._ffi import lib
from ._pipe import Next, Pipe

_OUTCOMES = ("", "exited", "signaled", "timed_out", "cancelled", "output_limit", "out_of_memory",
             "cpu_limit")
_STREAMS = {_ffi.STDOUT: "stdout", _ffi.STDERR: "stderr"}


@dataclass(frozen=True)
class StreamOutput:
    """What one stream held. Without a drop, `head` is everything."""

    head: bytes
    tail: bytes
    #: Head and tail, with a line between them that says how much is missing where something is.
    content: bytes
    total_bytes: int
    dropped_bytes: int
    #: The file inside that holds all of it, with CommandOptions(spill=True) where something was dropped.
    spill_path: Optional[str] = None

    @property
    def text(self) -> str:
        """`content` as UTF-8; bytes that are none become U+FFFD."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True)
class ExecResult:
    """How a command ended and what was kept of its output. That it ended badly is no exception."""

    #: "exited", "signaled", "timed_out", "cancelled", "output_limit", "out_of_memory" or "cpu_limit".
    outcome: str
    #: The exit code ("exited") or the signal ("signaled"); else 0.
    code: int
    #: What a shell would show: the code; 128 + n for a signal; 124 timed out; 130 cancelled; 137 killed.
    shell_code: int
    #: Seconds.
    duration: float
    out: StreamOutput
    err: StreamOutput
    #: "timed_out" was CommandOptions.quiet_timeout.
    quiet: bool = False
    peak_memory_bytes: int = 0
    #: Seconds of all its processes, outside of the kernel and in it.
    user_cpu: float = 0.0
    system_cpu: float = 0.0
    #: Limits and use were counted process by process, so that some may be missing.
    best_effort: bool = True

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself, with code 0."""
        return self.outcome == "exited" and self.code == 0


@dataclass(frozen=True)
class CommandOptions:
    """What few commands need. Times are seconds; None = the default."""

    #: Instead of argv, which is then []: a line for the shell inside.
    shell_line: Optional[str] = None
    #: Runs the command on a terminal of so many (rows, columns); its output is merged.
    terminal: Optional[Tuple[int, int]] = None
    #: stderr goes where stdout goes, in the order it was written.
    merge_output: bool = False
    #: The longest time without output; then the outcome is "timed_out", and `quiet`.
    quiet_timeout: Optional[float] = None
    #: It goes on so long without this process (5); float("inf") = to its own end.
    orphan_grace: Optional[float] = None
    #: Of what is kept of each stream's begin and end, at most so many lines.
    head_lines: Optional[int] = None
    tail_lines: Optional[int] = None
    #: Output of which something is dropped goes to a file inside, `StreamOutput.spill_path`.
    spill: bool = False
    #: Limits of the command and all that it starts.
    memory_bytes: Optional[int] = None
    cpu_seconds: Optional[int] = None
    process_limit: Optional[int] = None
    #: 0 to 19: the higher, the less of the processor.
    niceness: int = 0


class OutputChunk(NamedTuple):
    """A piece of output, in order of its stream ("stdout" or "stderr"). Pieces may cut a character."""

    stream: str
    data: bytes


_NOTHING = StreamOutput(head=b"", tail=b"", content=b"", total_bytes=0, dropped_bytes=0)


def _stream_of(raw: Any, stream: int) -> StreamOutput:
    # Most wrote nothing or little: of these no more is asked than there is.
    total = lib["cove_exec_result_total_bytes"](raw, stream)
    if total == 0:
        return _NOTHING
    head = _ffi.sized_bytes("cove_exec_result_head", raw, stream)
    dropped = lib["cove_exec_result_dropped_bytes"](raw, stream)
    if dropped == 0 and len(head) == total:
        return StreamOutput(head, b"", head, total, 0)
    return StreamOutput(
        head=head,
        tail=_ffi.sized_bytes("cove_exec_result_tail", raw, stream),
        content=_ffi.sized_bytes("cove_exec_result_text", raw, stream),
        total_bytes=total,
        dropped_bytes=dropped,
        spill_path=lib["cove_exec_result_spill_path"](raw, stream).decode() or None,
    )


def read_result(raw: Any) -> ExecResult:
    """What a result says that C keeps."""
    return ExecResult(
        outcome=_OUTCOMES[lib["cove_exec_result_outcome"](raw)],
        code=lib["cove_exec_result_code"](raw),
        shell_code=lib["cove_exec_result_shell_code"](raw),
        duration=lib["cove_exec_result_duration_us"](raw) / 1e6,
        out=_stream_of(raw, _ffi.STDOUT),
        err=_stream_of(raw, _ffi.STDERR),
        quiet=lib["cove_exec_result_was_quiet"](raw) == 1,
        peak_memory_bytes=lib["cove_exec_result_peak_memory_bytes"](raw),
        user_cpu=lib["cove_exec_result_user_cpu_us"](raw) / 1e6,
        system_cpu=lib["cove_exec_result_system_cpu_us"](raw) / 1e6,
        best_effort=lib["cove_exec_result_best_effort"](raw) == 1,
    )


def take_result(raw: Any) -> ExecResult:
    try:
        return read_result(raw)
    finally:
        lib["cove_exec_result_free"](raw)


class Command(NamedTuple):
    """A command as C takes it: argv, argc and options."""

    argv: Any
    argc: int
    options: _ffi.ExecOptions


def _grace(seconds: Optional[float]) -> int:
    forever = seconds is not None and seconds == float("inf")
    return _ffi.FOREVER if forever else _options.milliseconds("orphan_grace", seconds)


def command(
    argv: Sequence[_options.Path],
    *,
    options: Optional[CommandOptions] = None,
    keep_stdin: bool = False,
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
) -> Command:
    shell_line = None if options is None else _shell_line_of(options)
    program = [] if shell_line is not None and not argv else _options.arguments(argv)
    arguments = _ffi.strings(program)
    # What is not given is not touched: most calls give next to nothing.
    filled = _ffi.ExecOptions()
    if keep_stdin:
        filled.flags = _ffi.EXEC_KEEP_STDIN
    if cwd is not None:
        filled.cwd = _options.path("cwd", cwd)
    if env is not None:
        variables = _ffi.strings(_options.environment(env))
        filled.env, filled.env_count = _ffi.as_string_pointer(variables), len(variables)
    if stdin is not None:
        stdin_data = _options.data("stdin", stdin)
        filled.stdin_data, filled.stdin_size = stdin_data, len(stdin_data)
    if command_timeout is not None:
        filled.command_timeout_ms = _options.milliseconds("command_timeout", command_timeout)
    if kill_grace is not None:
        filled.kill_grace_ms = _options.milliseconds("kill_grace", kill_grace)
    if head_bytes is not None:
        filled.head_bytes = _options.kept_bytes("head_bytes", head_bytes, _ffi.BYTES_NONE)
    if tail_bytes is not None:
        filled.tail_bytes = _options.kept_bytes("tail_bytes", tail_bytes, _ffi.BYTES_NONE)
    if max_total_bytes is not None:
        filled.max_total_bytes = _options.optional_count("max_total_bytes", max_total_bytes)
    if timeout is not None:
        filled.timeout_ms = _options.milliseconds("timeout", timeout)
    if cancel is not None:
        filled.cancel = raw_cancel(cancel)
    if shell_line is not None:
        filled.shell_line = shell_line
    if options is not None:
        _fill(filled, options)
    return Command(arguments, len(arguments), filled)


def _shell_line_of(options: CommandOptions) -> Optional[bytes]:
    if not isinstance(options, CommandOptions):
        raise TypeError(f"options must be a cove.CommandOptions, not {type(options).__name__}")
    return _options.optional_text("shell_line", options.shell_line)


def _fill(filled: _ffi.ExecOptions, more: CommandOptions) -> None:
    """Sets what few commands need."""
    filled.flags |= _ffi.EXEC_MERGE_OUTPUT if more.merge_output else 0
    filled.flags |= _ffi.EXEC_SPILL if more.spill else 0
    filled.terminal_rows, filled.terminal_columns = _options.terminal("terminal", more.terminal)
    filled.quiet_timeout_ms = _options.milliseconds("quiet_timeout", more.quiet_timeout)
    filled.orphan_grace_ms = _grace(more.orphan_grace)
    filled.head_lines = _options.optional_count("head_lines", more.head_lines)
    filled.tail_lines = _options.optional_count("tail_lines", more.tail_lines)
    filled.memory_bytes = _options.optional_count("memory_bytes", more.memory_bytes)
    if more.cpu_seconds is not None:
        filled.cpu_seconds = _options.count("cpu_seconds", more.cpu_seconds, 1, 2**32 - 1)
    if more.process_limit is not None:
        filled.process_limit = _options.count("process_limit", more.process_limit, 1, 2**32 - 1)
    filled.niceness = _options.count("niceness", more.niceness, 0, 19)


def _abandon(pipe: Pipe[OutputChunk], process: Owned, leave: str) -> None:
    """Ends a command whose output nobody reads any more, or lets go of it where it was attached to."""
    pipe.discard()
    lib[leave](process.raw)
    lib["cove_process_resume"](process.raw)


#: Starts a command: begin(callbacks, out_process) as C takes the two.
Begin = Callable[[Any, Any], None]


class ExecStream(Calling):
    """A command that runs. Iterating gives its output as it comes; then `result` says how it ended.

    >>> with workspace.stream(["make"]) as run:
    ...     for stream, data in run:
    ...         print(stream, data)
    ...     print(run.result.succeeded)

    A slow reader slows the command down; nothing is lost. Leaving the `with` block early, or
    dropping the last reference, ends the command; where it is a process that was attached to, that
    goes on. One thread at a time; `cancel`, `detach`, stdin, signals and sizes from any.
    """

    def __init__(self, owner: Owned, begin: Begin, *, collect: bool, attached: bool = False) -> None:
        self._owner = owner  # the workspace stays while its command runs
        self._pipe: Pipe[OutputChunk] = Pipe(take_result)
        raw, argument = _ffi.out(_ffi.Process)
        self._process = Owned(raw, "cove_process_free")
        leave = "cove_process_detach" if attached else "cove_process_cancel"
        self._abandon = weakref.finalize(self, _abandon, self._pipe, self._process, leave)
        self._abandon.atexit = False
        number = registry.add(self._pipe)
        callbacks = _ffi.ExecCallbacks(on_done=_on_done_fn, user_data=number, drop=drop)
        if collect:
            callbacks.on_output = _on_output_fn
        pointer = _ffi.pointer_to(callbacks)
        begin_stream(lambda: begin(pointer, argument), raw, number, self._abandon, self._pipe.reply)

    def __iter__(self) -> Iterator[OutputChunk]:
        return self

    def __next__(self) -> OutputChunk:
        chunk = self._given(self._pipe.pop())
        if chunk is None:
            raise StopIteration
        return chunk

    def _given(self, next: Next) -> Optional[OutputChunk]:
        """What the reader gets; raises where the command could not run."""
        if next.resume:
            lib["cove_process_resume"](self._process.raw)
        if next.item is None:
            self._pipe.reply.outcome()
        chunk: Optional[OutputChunk] = next.item
        return chunk

    def _use(self) -> Owned:
        return self._process

    @property
    def result(self) -> ExecResult:
        """How the command ended. Only after the last piece was read."""
        if not self._pipe.drained:
            raise FailedPreconditionError("the command's output was not read to its end")
        value: ExecResult = self._pipe.reply.outcome()
        return value

    def wait(self) -> ExecResult:
        """Waits for the end; output that was not read is only kept in the result."""
        with self:
            for _ in self:
                pass
            return self.result

    def cancel(self) -> None:
        """Ends the command's tree; the output so far can still be read. Harmless after the end."""
        lib["cove_process_cancel"](self._process.raw)

    def detach(self) -> None:
        """Lets go of a process that was attached to, which goes on; reading raises CancelledError at
        the end. A command of `stream` is ended as by `cancel`."""
        lib["cove_process_detach"](self._process.raw)

    def write_stdin(self, data: _options.Data, *, timeout: Optional[float] = None) -> None:
        """Gives bytes to the command, after those of earlier writes; waits while it does not read."""
        content = _options.data("data", data)
        return self._ask("cove_process_write_stdin_start", content, len(content), timeout=timeout)

    def close_stdin(self, *, timeout: Optional[float] = None) -> None:
        """End of file, after what was written. Harmless where it is closed already."""
        return self._ask("cove_process_close_stdin_start", timeout=timeout)

    def send_signal(self, signal: int, *, timeout: Optional[float] = None) -> None:
        """Sends a signal to the command's process group."""
        return self._ask("cove_process_signal_start", _options.count("signal", signal, 1, 64), timeout=timeout)

    def resize(self, rows: int, columns: int, *, timeout: Optional[float] = None) -> None:
        """Changes the size of the command's terminal."""
        size = _options.terminal("terminal", (rows, columns))
        return self._ask("cove_process_resize_start", *size, timeout=timeout)

    def _ask(self, start: str, *arguments: Any, timeout: Optional[float]) -> None:
        options = _ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout))
        return self._do(start, *arguments, options=options)

    def close(self) -> None:
        """Ends the command if it runs, waits for that, and throws unread output away."""
        end_by(self._abandon)  # once; later calls do nothing
        self._pipe.reply.wait()

    def __enter__(self) -> ExecStream:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _on_output(number: Optional[int], stream: int, data: Optional[int], size: int) -> int:
    pipe: Pipe[OutputChunk] = registry.get(number)
    return pipe.push([(OutputChunk(_STREAMS[stream], _ffi.bytes_at(data, size)), size)])


_on_output_fn = _ffi.callback(_ffi.OutputFn, _on_output)
_on_done_fn = _ffi.callback(_ffi.ExecDoneFn, ending("cove_exec_result_free"))
