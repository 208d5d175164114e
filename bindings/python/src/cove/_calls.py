"""Calls that last: they wait in C, and let Ctrl-C in (_signals.py), or are started there and end by a callback."""

from __future__ import annotations

import itertools
import json
import threading
import weakref
from typing import Any, Callable, Dict, NamedTuple, Optional, Protocol, Tuple

from . import _ffi, _signals
from ._errors import CoveError, FailedPreconditionError
from ._ffi import lib


class Owned:
    """A handle of C. Whoever calls through it holds it, so it is freed when the last call ended."""

    #: Of a workspace: the open Cove that it belongs to.
    opened: Optional[Owned] = None

    def __init__(self, raw: Any, free: str) -> None:
        self.raw = raw
        self._finalizer = weakref.finalize(self, lib[free], raw)
        # At exit the process ends anyway; what must be said before, Cove says itself.
        self._finalizer.atexit = False


def end_by(finalizer: Any) -> None:
    """Does once what a finalizer does, also while the interpreter ends: by then they do nothing."""
    found = finalizer.detach()
    if found is not None:
        _, function, arguments, named = found
        function(*arguments, **named)


def begin_stream(begin: Callable[[], None], raw: Any, number: int, abandon: Any, reply: Reply) -> None:
    """Starts what fills `raw`. Where KeyboardInterrupt breaks in behind the start, it is ended as by `close`."""
    try:
        begin()
    except BaseException:
        if raw:
            end_by(abandon)
            reply.wait()
        else:
            abandon.detach()
            registry.remove(number)
        raise


class Cancel:
    """Calls off every call that it is given to: `cancel.trigger()`, from any thread.

    >>> cancel = cove.Cancel()
    >>> workspace.exec(["sleep", "100"], cancel=cancel)
    """

    def __init__(self) -> None:
        raw, argument = _ffi.out(_ffi.Cancel)
        self._owned = Owned(raw, "cove_cancel_free")
        lib["cove_cancel_create"](argument)
        self._lock = threading.RLock()  # a signal handler and a finalizer may come in between
        self._triggered = False
        self._linked: "weakref.WeakSet[Cancel]" = weakref.WeakSet()

    def trigger(self) -> None:
        """Calls off what has this token, now and later. Harmless when repeated."""
        with self._lock:
            self._triggered = True
            linked = list(self._linked)
        lib["cove_cancel_trigger"](self._owned.raw)
        for other in linked:
            other.trigger()

    @property
    def _is_triggered(self) -> bool:
        with self._lock:
            return self._triggered

    def _link(self, other: Cancel) -> None:
        """Triggers another with itself, as long as that lives."""
        with self._lock:
            self._linked.add(other)
            triggered = self._triggered
        if triggered:
            other.trigger()


def linked_cancel(cancel: Optional[Cancel]) -> Cancel:
    """A token that `cancel` triggers too, and that can be triggered without it."""
    token = Cancel()
    if cancel is None:
        return token
    raw_cancel(cancel)  # the check of its type
    cancel._link(token)
    return token


def raw_cancel(cancel: Optional[Cancel]) -> Any:
    """The token for an options struct."""
    if cancel is None:
        return None
    if not isinstance(cancel, Cancel):
        raise TypeError(f"cancel must be a cove.Cancel, not {type(cancel).__name__}")
    return cancel._owned.raw


class Registry:
    """Objects that C knows by a number: kept alive until C says that it needs them no more."""

    def __init__(self) -> None:
        self._objects: Dict[int, Any] = {}
        self._numbers = itertools.count(1)

    def add(self, value: Any) -> int:
        number = next(self._numbers)
        self._objects[number] = value
        return number

    def get(self, number: Optional[int]) -> Any:
        return self._objects.get(number or 0)

    def take(self, number: Optional[int]) -> Any:
        """Of what C calls once: it is not needed any more."""
        return self._objects.pop(number or 0, None)

    def remove(self, number: Optional[int]) -> None:
        self._objects.pop(number or 0, None)


registry = Registry()


def _drop(number: Optional[int]) -> None:
    registry.remove(number)


drop = _ffi.callback(_ffi.DropFn, _drop)


class Reply:
    """The completion of one started call: a value or an exception, once."""

    def __init__(self, take: Callable[[Any], Any]) -> None:
        self._take = take
        # Held until the end comes: as an Event, with one lock instead of two and a queue.
        self._ready = threading.Lock()
        self._ready.acquire()
        self._is_over = False
        self._value: Any = None
        self._error: Optional[BaseException] = None
        self._attempt = _ffi.Attempt()

    def start(self, start: str, *arguments: Any, behind: Tuple[Any, ...] = (), known: Any = None) -> None:
        """Calls a start form, whose completion finds this, or `known`, by its number.

        Only where C did not begin is the number taken back: else the completion comes and needs it.
        """
        number = registry.add(self if known is None else known)
        try:
            lib[start](*arguments, number, _ffi.NO_DROP, *behind, self._attempt)
        except BaseException:
            if not self.began:
                registry.remove(number)
            raise

    @property
    def began(self) -> bool:
        """True from when C began what this is the completion of, whatever was raised then."""
        return self._attempt.began

    def complete(self, value: Any, error: _ffi.Error) -> None:
        """On a thread of Cove. Takes what came, whatever happens: it is ours to free."""
        try:
            self._error = _ffi.take_error(error)
            if self._error is None:
                self._value = self._take(value)
        except BaseException as unexpected:  # shown to the caller, not lost on Cove's thread
            self._error = unexpected
        finally:
            self._tell()

    def _tell(self) -> None:
        self._is_over = True
        self._ready.release()

    def wait(self) -> None:
        # Asked first: a KeyboardInterrupt may have come between the two lines below it.
        if not self._is_over:
            _ffi.check_may_wait()
            self._ready.acquire()
            self._ready.release()

    def result(self) -> Any:
        self.wait()
        return self.outcome()

    def outcome(self) -> Any:
        """The result of a call that has ended."""
        if self._error is not None:
            raise self._error
        return self._value


def _nothing(value: Any) -> None:
    return None


def ending(free: str) -> Callable[..., None]:
    """A completion that gives a handle, and what frees that where nobody waits for it."""

    def on_end(number: Optional[int], value: Any, error: _ffi.Error) -> None:
        completed = registry.take(number)  # a Reply, or what has one
        if completed is None:
            _ffi.let_go(free, value, error)
        else:
            completed.complete(value, error)

    return on_end


def on_done(number: Optional[int], error: _ffi.Error) -> None:
    """A completion that gives nothing."""
    completed = registry.take(number)
    if completed is None:
        _ffi.let_go(None, None, error)
    else:
        completed.complete(None, error)


#: Which callback a start form takes, by what it gives. They live as long as this module.
GIVES_NOTHING = _ffi.callback(_ffi.DoneFn, on_done)
GIVES_BUFFER = _ffi.callback(_ffi.BufferFn, ending("cove_buffer_free"))
GIVES_COVE = _ffi.callback(_ffi.OpenedFn, ending("cove_free"))
GIVES_WORKSPACE = _ffi.callback(_ffi.AcquiredFn, ending("cove_workspace_free"))
GIVES_FILE_INFO = _ffi.callback(_ffi.FileInfoFn, ending("cove_file_info_free"))
GIVES_FILE_PAGE = _ffi.callback(_ffi.FilePageFn, ending("cove_file_page_free"))
GIVES_FILE_CONTENT = _ffi.callback(_ffi.FileContentFn, ending("cove_file_content_free"))
GIVES_LINE_SLICE = _ffi.callback(_ffi.LineSliceFn, ending("cove_line_slice_free"))
GIVES_EDIT_RESULT = _ffi.callback(_ffi.EditResultFn, ending("cove_edit_result_free"))
GIVES_EDIT_RESULTS = _ffi.callback(_ffi.EditResultsFn, ending("cove_edit_results_free"))
GIVES_TREE_COUNTS = _ffi.callback(_ffi.TreeCountsFn, ending("cove_tree_counts_free"))
GIVES_PROCESS_INFO = _ffi.callback(_ffi.ProcessInfoFn, ending("cove_process_info_free"))
GIVES_PROCESS_LIST = _ffi.callback(_ffi.ProcessListFn, ending("cove_process_list_free"))
GIVES_OUTPUT_SLICE = _ffi.callback(_ffi.OutputSliceFn, ending("cove_output_slice_free"))


class Ask(NamedTuple):
    """A call that is to be made: what is started, through which handle, and what it gives."""

    owned: Owned
    #: The start form's name.
    start: str
    arguments: Tuple[Any, ...]
    #: The struct that goes behind them; its `cancel` is set when the call is made.
    options: Any
    #: What goes between the options and the callback.
    more: Tuple[Any, ...] = ()
    gives: Any = GIVES_NOTHING
    take: Callable[[Any], Any] = _nothing
    cancel: Optional[Cancel] = None
    #: What the struct points to, where that does not keep it.
    kept: Any = None

    def begin(self, token: Cancel, reply: Reply) -> None:
        self.options.cancel = raw_cancel(token)
        options = _ffi.pointer_to(self.options)
        reply.start(self.start, self.owned.raw, *self.arguments, options, *self.more, self.gives)

    def wait(self) -> Any:
        """Makes the call by the form that blocks, on this thread."""
        self.options.cancel = raw_cancel(self.cancel)
        arguments = (self.owned.raw, *self.arguments, _ffi.pointer_to(self.options), *self.more)
        blocking = self.start[: -len("_start")]
        if self.gives is GIVES_NOTHING:
            return wait_in_c(blocking, arguments, None, self.take)
        raw, argument = _ffi.out(_ffi.given_by(blocking))
        return wait_in_c(blocking, (*arguments, argument), raw, self.take)


class Asking(Protocol):
    """A call that is to be made, and can be called off."""

    @property
    def take(self) -> Callable[[Any], Any]:
        ...

    @property
    def cancel(self) -> Optional[Cancel]:
        ...

    def begin(self, token: Cancel, reply: Reply) -> None:
        ...


class Opening(NamedTuple):
    """An open that is to be made: its configuration and options. It cannot be called off."""

    config: bytes
    options: Any
    take: Callable[[Any], Any]
    cancel: Optional[Cancel] = None

    def begin(self, token: Cancel, reply: Reply) -> None:
        options = _ffi.pointer_to(self.options)
        reply.start("cove_open_start", self.config, options, GIVES_COVE)


class Closing(NamedTuple):
    """A close that is to be made; it has its own time limit."""

    owned: Owned
    timeout_ms: int
    take: Callable[[Any], Any] = _nothing
    cancel: Optional[Cancel] = None

    def begin(self, token: Cancel, reply: Reply) -> None:
        reply.start("cove_close_start", self.owned.raw, self.timeout_ms, GIVES_NOTHING)


class WritingAgent(NamedTuple):
    """The agent's program that is to be written. It cannot be called off."""

    path: bytes
    take: Callable[[Any], Any] = _nothing
    cancel: Optional[Cancel] = None

    def begin(self, token: Cancel, reply: Reply) -> None:
        reply.start("cove_agent_write_start", self.path, GIVES_NOTHING)


def wait_in_c(blocking: str, arguments: Tuple[Any, ...], raw: Any, take: Callable[[Any], Any]) -> Any:
    """Makes a call that blocks and takes what it puts into `raw`. What a signal's handler raises meanwhile,
    KeyboardInterrupt mostly, calls it off first, and what it gave all the same is let go of."""
    listens = _signals.listen()
    try:
        lib[blocking](*arguments)
    except BaseException:
        if raw:
            take(raw)
        if listens:
            _signals.raise_heard()
        raise
    value = take(raw)
    if listens:
        _signals.raise_heard()
    return value


def make(ask: Asking) -> Any:
    """Makes a call and waits for its end. What breaks in, as KeyboardInterrupt, calls it off first."""
    _ffi.check_may_wait()
    if isinstance(ask, Ask):
        return ask.wait()
    token = linked_cancel(ask.cancel)
    reply = Reply(ask.take)
    try:
        ask.begin(token, reply)
        reply.wait()
    except BaseException:
        if reply.began:
            token.trigger()
            reply.wait()
        raise
    return reply.outcome()


class Calling:
    """What makes calls through a handle. Whoever makes them in another way has another `_call`."""

    def _use(self) -> Owned:
        raise NotImplementedError

    def _call(self, start: str, *arguments: Any, options: Any, **named: Any) -> Any:
        return make(Ask(self._use(), start, arguments, options, **named))

    def _do(self, start: str, *arguments: Any, options: Any, **named: Any) -> None:
        """A call that gives nothing; what `_call` gives is handed on all the same."""
        done: None = self._call(start, *arguments, options=options, **named)
        return done


#: Hears how far something is, or an event, as what JSON says.
Hears = Callable[[Dict[str, Any]], Any]


def _on_report(number: Optional[int], text: Optional[bytes]) -> None:
    hears: Hears = registry.get(number)
    hears(json.loads(text or b"{}"))


#: The callback of C behind a Hears; its user_data is the number of the registry.
REPORTS = _ffi.callback(_ffi.ReportFn, _on_report)


def hearing(hears: Optional[Hears]) -> Dict[str, Any]:
    """The fields of an options struct by which C tells `hears`; none where nobody listens."""
    if hears is None:
        return {}
    if not callable(hears):
        raise TypeError(f"on_progress must be callable, not {type(hears).__name__}")
    return {"on_progress": REPORTS, "user_data": registry.add(hears), "drop": drop}


def closed(what: str) -> CoveError:
    return FailedPreconditionError(f"this {what} is closed")
