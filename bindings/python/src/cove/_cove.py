"""Cove: one open deployment in this process."""

from __future__ import annotations

import atexit
import json
import os
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Type, Union

from . import _calls, _clock, _ffi, _metadata, _objects, _options, _prepare
from ._calls import Calling, Cancel, Opened, Owned, raw_cancel, registry
from ._clock import Clock
from ._errors import CoveError
from ._ffi import lib
from ._metadata import MetadataStore
from ._objects import ObjectStore
from ._prepare import Prepare
from ._state_dir import default_state_dir
from ._workspace import Workspace

_LEVELS = ("debug", "info", "warning", "error")
_DRAINS = {"refuse": _ffi.DRAIN_REFUSE, "cancel": _ffi.DRAIN_CANCEL}
Log = Callable[[str, str], Any]


class WorkspaceKey(NamedTuple):
    """Who owns a workspace. A chat is no part of it: all chats of a user share the workspace."""

    source_type: str
    source_id: str
    user_id: str


Key = Union[WorkspaceKey, Tuple[str, str, str]]


def _raw_key(key: Key) -> _ffi.WorkspaceKey:
    source_type, source_id, user_id = _options.key(key)
    return _ffi.WorkspaceKey(source_type=source_type, source_id=source_id, user_id=user_id)


def sandbox_id_of(key: Key) -> str:
    """The sandbox id of a key: always the same one."""
    raw, argument = _ffi.out(_ffi.Buffer)
    lib["cove_sandbox_id_of"](_ffi.pointer_to(_raw_key(key)), argument)
    return _ffi.take_buffer(raw).decode()


def write_agent(path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes the cove-agent of the library, a static program, to a file that anybody may run."""
    lib["cove_agent_write"](_options.path("path", path))


class Cove(Calling):
    """One open Cove. Any thread; `with` closes it at the end. Closing ends no sandbox.

    `state_dir` is where it keeps its state; without one, and without "state_dir" in `config`, it is
    `default_state_dir()`. `config` holds any other settings (docs/configuration.md).
    `log(level, message)` gets Cove's messages, on one of its threads; it must not call Cove.
    `metadata` and `objects` are stores of your own instead of those of the configuration, `clock` what it
    goes by instead of the machine's; each of them belongs to one Cove.
    """

    def __init__(
        self,
        state_dir: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        config: Optional[Mapping[str, Any]] = None,
        log: Optional[Log] = None,
        metadata: Optional[MetadataStore] = None,
        objects: Optional[ObjectStore] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        self._owned: Optional[Owned] = None
        settings: Dict[str, Any] = dict(config or {})
        if state_dir is not None:
            settings["state_dir"] = os.fspath(state_dir)
        settings.setdefault("state_dir", default_state_dir())
        text = _options.text("config", json.dumps(settings))
        options = _open_options(log, metadata, objects, clock)
        raw, argument = _ffi.out(_ffi.Cove)
        lib["cove_open"](text, _ffi.pointer_to(options), argument)
        self._owned = Owned(raw, "cove_free")
        self._opened = Opened(self._owned)
        _clock.follow(clock, self._opened)
        _live.add(self._opened)

    def acquire(
        self,
        key: Key,
        *,
        chat_id: Optional[str] = None,
        sandbox_id: Optional[str] = None,
        prepare: Optional[Prepare] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Workspace:
        """Brings a workspace up, from absent, stopped or archived, prepares it, and holds it.

        `chat_id` chooses the session's directory; None = /workspace itself. `sandbox_id` adopts a
        record of another id. `prepare` says what is made ready before.
        """
        if chat_id == "":
            raise ValueError("chat_id is empty; None means no chat")
        options = _ffi.AcquireOptions(
            chat_id=_options.optional_text("chat_id", chat_id),
            sandbox_id=_options.optional_text("sandbox_id", sandbox_id),
            timeout_ms=_options.milliseconds("timeout", timeout),
        )
        prepared = None if prepare is None else _prepare.make(prepare, self._host())
        if prepared is not None:
            options.prepare = prepared.raw
        workspace: Workspace = self._call(
            "cove_acquire_start",
            _ffi.pointer_to(_raw_key(key)),
            gives=_calls.GIVES_WORKSPACE,
            take=self._take_workspace,
            options=options,
            cancel=cancel,
            kept=prepared,
        )
        return workspace

    def stop(
        self,
        sandbox_id: str,
        *,
        drain: str = "refuse",
        wait: Optional[float] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Ends a sandbox's processes and keeps its files.

        While it is in use, `drain="refuse"` raises FailedPreconditionError, "cancel" ends the use.
        `wait` = seconds (at most 3600) in which what runs may finish before that is decided.
        """
        return self._stop("cove_stop_start", sandbox_id, drain, wait, timeout, cancel)

    def archive(
        self,
        sandbox_id: str,
        *,
        drain: str = "refuse",
        wait: Optional[float] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Stops a sandbox and moves its workspace into the object store; acquire brings it back."""
        return self._stop("cove_archive_start", sandbox_id, drain, wait, timeout, cancel)

    def destroy(
        self, sandbox_id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Deletes a sandbox with its files and its archive, for ever, also while it is in use."""
        return self._do(
            "cove_destroy_start",
            _options.text("sandbox_id", sandbox_id),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )

    def destroy_source(
        self, source: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> int:
        """Deletes every sandbox of "source_type/source_id" for ever and forbids new ones.

        Says how many; call it again where it failed or was cut off: it goes on.
        """
        destroyed: int = self._json(
            "cove_destroy_source_json_start",
            _options.text("source", source),
            member="destroyed",
            timeout=timeout,
            cancel=cancel,
        )
        return destroyed

    def recover(
        self,
        deployment: Optional[str] = None,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Dict[str, Any]:
        """Makes the records again after the metadata was lost. Overwrites nothing; may be repeated.

        `deployment` = which one; None = the only one in the object store. docs/c-api.md has what it
        says.
        """
        name = _options.optional_text("deployment", deployment)
        found: Dict[str, Any] = self._json("cove_recover_json_start", name, timeout=timeout, cancel=cancel)
        return found

    def metrics(self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None) -> str:
        """What there is and what this process did, in Prometheus's text form. Reads every record."""
        text: str = self._call(
            "cove_metrics_text_start",
            gives=_calls.GIVES_BUFFER,
            take=lambda raw: _ffi.take_buffer(raw).decode(),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return text

    def sweep(self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None) -> Dict[str, Any]:
        """Stops and archives what is idle, and removes garbage, once. Says how much it did."""
        done: Dict[str, Any] = self._json("cove_sweep_json_start", timeout=timeout, cancel=cancel)
        return done

    def status(
        self, sandbox_id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> Dict[str, Any]:
        """What is known of a sandbox; docs/c-api.md has the fields."""
        sandbox = _options.text("sandbox_id", sandbox_id)
        known: Dict[str, Any] = self._json("cove_status_json_start", sandbox, timeout=timeout, cancel=cancel)
        return known

    def list(
        self,
        source: Optional[str] = None,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Iterator[Dict[str, Any]]:
        """Every sandbox, by id; `source` = "source_type/source_id" for one app's or skill's only.

        `timeout` bounds each page of them.
        """
        after = ""
        while True:
            page, after = self._list_page(source, after, timeout, cancel)
            yield from page
            if not after:
                return

    def _list_page(
        self, source: Optional[str], after: str, timeout: Optional[float], cancel: Optional[Cancel]
    ) -> Tuple[List[Dict[str, Any]], str]:
        """A page, and what to give as `after` for the next one."""
        owned = self._use()
        options = _ffi.ListOptions(
            source=_options.optional_text("source", source),
            after=_options.text("after", after),
            timeout_ms=_options.milliseconds("timeout", timeout),
            cancel=raw_cancel(cancel),
        )
        raw, argument = _ffi.out(_ffi.Buffer)
        lib["cove_list_json"](owned.raw, _ffi.pointer_to(options), argument)
        page = json.loads(_ffi.take_buffer(raw))
        return page["sandboxes"], page["next"]

    def doctor(
        self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> List[Dict[str, str]]:
        """What this machine can isolate and what is missing: level, subject, detail, remedy."""
        owned = self._use()
        options = _ffi.CallOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(cancel)
        )
        raw, argument = _ffi.out(_ffi.Buffer)
        lib["cove_doctor_json"](owned.raw, _ffi.pointer_to(options), argument)
        findings: List[Dict[str, str]] = json.loads(_ffi.take_buffer(raw))["findings"]
        return findings

    def close(self, timeout: float = 10.0) -> None:
        """Lets go of everything; ends no sandbox. May be repeated.

        DeadlineError: something was still in a callback after `timeout` seconds; it was left behind.
        """
        owned, self._owned = self._owned, None
        if owned is not None:
            self._opened.close(_options.milliseconds("timeout", timeout))

    @property
    def closed(self) -> bool:
        return self._owned is None

    def __enter__(self) -> Cove:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    #: The class of what an acquire gives.
    _workspace_of: Any = Workspace

    def _take_workspace(self, raw: Any) -> Any:
        owned = Owned(raw, "cove_workspace_free")
        owned.opened = self._opened
        return self._workspace_of._of(owned)

    def _host(self) -> _prepare.Host:
        """Who applies the steps of a preparation."""
        return _prepare.Host()

    def _use(self) -> Owned:
        owned = self._owned
        if owned is None:
            raise _calls.closed("Cove")
        return owned

    def _stop(
        self,
        start: str,
        sandbox_id: str,
        drain: str,
        wait: Optional[float],
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> None:
        if drain not in _DRAINS:
            raise ValueError(f'drain must be "refuse" or "cancel", not {drain!r}')
        return self._do(
            start,
            _options.text("sandbox_id", sandbox_id),
            options=_ffi.StopOptions(
                drain=_DRAINS[drain],
                timeout_ms=_options.milliseconds("timeout", timeout),
                wait_ms=_options.milliseconds("wait", wait),
            ),
            cancel=cancel,
        )

    def _json(
        self,
        start: str,
        *arguments: Any,
        member: Optional[str] = None,
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> Any:
        """A JSON object, or one member of it."""

        def take(raw: Any) -> Any:
            value = json.loads(_ffi.take_buffer(raw))
            return value if member is None else value[member]

        return self._call(
            start,
            *arguments,
            gives=_calls.GIVES_BUFFER,
            take=take,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )


def _on_log(number: Optional[int], level: int, message: Optional[bytes]) -> None:
    log: Log = registry.get(number)
    log(_LEVELS[level], (message or b"").decode("utf-8", "replace"))


_on_log_fn = _ffi.LogFn(_on_log)


def _open_options(
    log: Optional[Log],
    metadata: Optional[MetadataStore],
    objects: Optional[ObjectStore],
    clock: Optional[Clock],
) -> _ffi.OpenOptions:
    """What C takes over with cove_open, and ends whatever comes of that; checked first."""
    for name, part, kind in (("metadata", metadata, MetadataStore), ("objects", objects, ObjectStore), ("clock", clock, Clock)):
        if part is not None and not isinstance(part, kind):
            raise TypeError(f"{name} must be a cove.{kind.__name__}, not {type(part).__name__}")
    options = _ffi.OpenOptions()
    if log is not None:
        options = _ffi.OpenOptions(log=_on_log_fn, log_user_data=registry.add(log), log_drop=_calls.drop)
    if metadata is not None:
        options.metadata = _metadata.make(metadata)
    if objects is not None:
        options.objects = _objects.make(objects)
    if clock is not None:
        options.clock = _clock.make(clock)
    return options


_live: "weakref.WeakSet[Opened]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Ends Cove's threads while Python can still run their callbacks."""
    for opened in list(_live):
        try:
            opened.close(15_000)  # commands that ignore SIGTERM take their grace time
        except CoveError:
            pass  # a callback that does not end: the process ends anyway


# What a forked child finds here is its parent's.
os.register_at_fork(after_in_child=_live.clear)
