"""Commands: how they ended, and what they write while they run."""

from __future__ import annotations

import collections
import threading
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Deque, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

from . import _ffi, _options
from ._calls import Cancel, Owned, Reply, drop, raw_cancel, registry
from ._errors import FailedPreconditionError
from ._ffi import lib

_OUTCOMES = ("", "exited", "signaled", "timed_out", "cancelled", "output_limit", "out_of_memory",
             "cpu_limit")
_STREAMS = {_ffi.STDOUT: "stdout", _ffi.STDERR: "stderr"}

#: Output that waits for its reader; past it the command is slowed down.
_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True)
class StreamOutput:
    """What one stream held. Without a drop, `head` is everything."""

    head: bytes
    tail: bytes
    #: Head and tail, with a line between them that says how much is missing where something is.
    content: bytes
    total_bytes: int
    dropped_bytes: int

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
    #: What a shell would show: the code; 128 + n for a signal; 124 timed out; 137 killed.
    shell_code: int
    #: Seconds.
    duration: float
    out: StreamOutput
    err: StreamOutput

    @property
    def succeeded(self) -> bool:
        return self.outcome == "exited" and self.code == 0


class OutputChunk(NamedTuple):
    """A piece of output, in order of its stream ("stdout" or "stderr"). Pieces may cut a character."""

    stream: str
    data: bytes


def _stream_of(raw: Any, stream: int) -> StreamOutput:
    return StreamOutput(
        head=_ffi.stream_bytes("cove_exec_result_head", raw, stream),
        tail=_ffi.stream_bytes("cove_exec_result_tail", raw, stream),
        content=_ffi.stream_bytes("cove_exec_result_text", raw, stream),
        total_bytes=lib["cove_exec_result_total_bytes"](raw, stream),
        dropped_bytes=lib["cove_exec_result_dropped_bytes"](raw, stream),
    )


def _take_result(raw: Any) -> ExecResult:
    try:
        return ExecResult(
            outcome=_OUTCOMES[lib["cove_exec_result_outcome"](raw)],
            code=lib["cove_exec_result_code"](raw),
            shell_code=lib["cove_exec_result_shell_code"](raw),
            duration=lib["cove_exec_result_duration_us"](raw) / 1e6,
            out=_stream_of(raw, _ffi.STDOUT),
            err=_stream_of(raw, _ffi.STDERR),
        )
    finally:
        lib["cove_exec_result_free"](raw)


class _Pipe:
    """Output on its way from Cove's thread to the reader's, and the end of the command."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chunks: Deque[OutputChunk] = collections.deque()
        self._buffered = 0
        self._paused = False
        self._discarding = False
        self._ended = False
        self.reply = Reply(_take_result)

    def push(self, chunk: OutputChunk) -> int:
        """On Cove's thread."""
        with self._changed:
            if self._discarding:
                return _ffi.CONTINUE
            self._chunks.append(chunk)
            self._buffered += len(chunk.data)
            self._paused = self._buffered >= _BUFFER_BYTES
            self._changed.notify()
            return _ffi.PAUSE if self._paused else _ffi.CONTINUE

    def finish(self, result: Any, error: _ffi.Error) -> None:
        """On Cove's thread."""
        self.reply.complete(result, error)
        with self._changed:
            self._ended = True
            self._changed.notify()

    def pop(self) -> Tuple[Optional[OutputChunk], bool]:
        """The next piece, None at the end; and whether the command is to go on now."""
        with self._changed:
            while not self._chunks and not self._ended:
                self._changed.wait()
            if not self._chunks:
                return None, False
            chunk = self._chunks.popleft()
            self._buffered -= len(chunk.data)
            resume = self._paused and self._buffered < _BUFFER_BYTES // 2
            if resume:
                self._paused = False
            return chunk, resume

    def discard(self) -> None:
        """What is there and what comes is thrown away."""
        with self._changed:
            self._discarding = True
            self._chunks.clear()

    @property
    def drained(self) -> bool:
        with self._changed:
            return self._ended and not self._chunks


def _abandon(pipe: _Pipe, process: Owned) -> None:
    """Ends a command whose output nobody reads any more."""
    pipe.discard()
    lib["cove_process_cancel"](process.raw)
    lib["cove_process_resume"](process.raw)


class ExecStream:
    """A command that runs. Iterating gives its output as it comes; then `result` says how it ended.

    >>> with workspace.stream(["make"]) as run:
    ...     for stream, data in run:
    ...         print(stream, data)
    ...     print(run.result.succeeded)

    A slow reader slows the command down; nothing is lost. Leaving the `with` block early, or
    dropping the last reference, ends the command. One thread at a time; `cancel` from any.
    """

    def __init__(
        self,
        owner: Owned,
        argv: Sequence[_options.Path],
        collect: bool,
        *,
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
    ) -> None:
        arguments = _ffi.strings(_options.arguments(argv))
        variables = _ffi.strings(_options.environment(env))
        stdin_data = b"" if stdin is None else _options.data("stdin", stdin)
        options = _ffi.ExecOptions(
            cwd=None if cwd is None else _options.path("cwd", cwd),
            env=_ffi.as_string_pointer(variables),
            env_count=len(variables),
            stdin_data=stdin_data,
            stdin_size=len(stdin_data),
            command_timeout_ms=_options.milliseconds("command_timeout", command_timeout),
            kill_grace_ms=_options.milliseconds("kill_grace", kill_grace),
            head_bytes=_options.kept_bytes("head_bytes", head_bytes, _ffi.BYTES_NONE),
            tail_bytes=_options.kept_bytes("tail_bytes", tail_bytes, _ffi.BYTES_NONE),
            max_total_bytes=_options.optional_count("max_total_bytes", max_total_bytes),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )
        self._owner = owner  # the workspace stays while its command runs
        self._pipe = _Pipe()
        callbacks = _ffi.ExecCallbacks(
            on_done=_on_done_fn, user_data=registry.add(self._pipe), drop=drop
        )
        if collect:
            callbacks.on_output = _on_output_fn
        raw, argument = _ffi.out(_ffi.Process)
        lib["cove_workspace_exec_start"](
            owner.raw,
            arguments,
            len(arguments),
            _ffi.pointer_to(options),
            _ffi.pointer_to(callbacks),
            argument,
        )
        self._process = Owned(raw, "cove_process_free")
        self._abandon = weakref.finalize(self, _abandon, self._pipe, self._process)
        self._abandon.atexit = False

    def __iter__(self) -> Iterator[OutputChunk]:
        return self

    def __next__(self) -> OutputChunk:
        chunk, resume = self._pipe.pop()
        if resume:
            lib["cove_process_resume"](self._process.raw)
        if chunk is None:
            self._pipe.reply.result()  # raises where the command could not run
            raise StopIteration
        return chunk

    @property
    def result(self) -> ExecResult:
        """How the command ended. Only after the last piece was read."""
        if not self._pipe.drained:
            raise FailedPreconditionError("the command's output was not read to its end")
        value: ExecResult = self._pipe.reply.result()
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

    def close(self) -> None:
        """Ends the command if it runs, waits for that, and throws unread output away."""
        self._abandon()  # once; later calls do nothing
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
    pipe: _Pipe = registry.get(number)
    return pipe.push(OutputChunk(_STREAMS[stream], _ffi.bytes_at(data, size)))


def _on_done(number: Optional[int], result: _ffi.ExecResult, error: _ffi.Error) -> None:
    pipe: _Pipe = registry.get(number)
    pipe.finish(result, error)


_on_output_fn = _ffi.OutputFn(_on_output)
_on_done_fn = _ffi.ExecDoneFn(_on_done)
