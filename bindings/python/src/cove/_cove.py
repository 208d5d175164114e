"""Cove: one open deployment in this process."""

from __future__ import annotations

import atexit
import json
import os
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, Union

from . import _calls, _clock, _ffi, _options, _prepare
from ._brought import Brought, Log
from ._calls import Cancel, Closing, Hears, Opening, Owned, registry
from ._clock import Clock
from ._ends import Ends
from ._errors import CoveError
from ._ffi import lib
from ._keys import Key, raw_key
from ._metadata import MetadataStore
from ._objects import ObjectStore
from ._prepare import Prepare
from ._skills import SkillShelf
from ._sources import Sources
from ._state_dir import default_state_dir
from ._workspace import Workspace


class Cove(Ends, Sources, SkillShelf):
    """One open Cove. Any thread; `with` closes it at the end. Closing ends no sandbox.

    `state_dir` is where it keeps its state; without one, and without "state_dir" in `config`, it is
    `default_state_dir()`. `config` holds any other settings (docs/configuration.md).
    `log(level, message)` gets Cove's messages, `on_event(event)` every step that a sandbox's record takes
    (docs/c-api.md has its members): on one of Cove's threads, where they must not call Cove.
    `metadata` and `objects` are stores of your own instead of those of the configuration, `clock` what it
    goes by instead of the machine's; each of them belongs to one Cove.
    """

    def __init__(
        self,
        state_dir: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        config: Optional[Mapping[str, Any]] = None,
        log: Optional[Log] = None,
        on_event: Optional[Hears] = None,
        metadata: Optional[MetadataStore] = None,
        objects: Optional[ObjectStore] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        self._owned: Optional[Owned] = None
        opening = self._opening(state_dir, config, Brought(log, metadata, objects, clock))
        raw, argument = _ffi.out(_ffi.Cove)
        owned = opening.take(raw)
        lib["cove_open"](opening.config, _ffi.pointer_to(opening.options), argument)
        self._become(owned, on_event, clock)

    @staticmethod
    def _opening(
        state_dir: Optional[Union[str, "os.PathLike[str]"]],
        config: Optional[Mapping[str, Any]],
        brought: Brought,
    ) -> Opening:
        """The open that is to be made; it gives an Owned."""
        settings: Dict[str, Any] = dict(config or {})
        if state_dir is not None:
            settings["state_dir"] = os.fspath(state_dir)
        settings.setdefault("state_dir", default_state_dir())
        text = _options.text("config", json.dumps(settings))
        return Opening(text, brought.options(), _take_cove)

    def _become(self, owned: Owned, on_event: Optional[Hears], clock: Optional[Clock]) -> None:
        """Is this open Cove from now on."""
        self._owned = owned
        self._handle = owned  # what a workspace keeps, also after the close
        _live.add(owned)
        _clock.follow(clock, owned)
        if on_event is not None:
            number = registry.add(self._heard(on_event))
            lib["cove_set_observer"](owned.raw, _calls.REPORTS, number, _calls.drop)

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
            _ffi.pointer_to(raw_key(key)),
            gives=_calls.GIVES_WORKSPACE,
            take=self._take_workspace,
            options=options,
            cancel=cancel,
            kept=prepared,
        )
        return workspace

    def remove_session(
        self,
        key: Key,
        chat_id: str,
        *,
        sandbox_id: Optional[str] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Removes a chat's session directory with all in it; that a chat is deleted removes nothing.

        Brings the workspace up. Harmless where the directory is not there.
        """
        return self._do(
            "cove_remove_session_start",
            _ffi.pointer_to(raw_key(key)),
            options=_ffi.AcquireOptions(
                chat_id=_options.text("chat_id", chat_id),
                sandbox_id=_options.optional_text("sandbox_id", sandbox_id),
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )

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
        page: Tuple[List[Dict[str, Any]], str] = self._call(
            "cove_list_json_start",
            gives=_calls.GIVES_BUFFER,
            take=_take_page,
            options=_ffi.ListOptions(
                source=_options.optional_text("source", source),
                after=_options.text("after", after),
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )
        return page

    def orphans(
        self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> Dict[str, List[Dict[str, Any]]]:
        """What exists on this machine and no record names: "volumes", "instances", and of other
        deployments "foreign_volumes" and "foreign_instances"; "provider" says where each is. Nothing
        is removed."""
        found: Dict[str, List[Dict[str, Any]]] = self._json(
            "cove_orphans_json_start", timeout=timeout, cancel=cancel
        )
        return found

    def doctor(
        self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> List[Dict[str, str]]:
        """What this machine can isolate and what is missing: level, subject, detail, remedy."""
        findings: List[Dict[str, str]] = self._json(
            "cove_doctor_json_start", member="findings", timeout=timeout, cancel=cancel
        )
        return findings

    def close(self, timeout: float = 10.0) -> None:
        """Lets go of everything; ends no sandbox. May be repeated.

        DeadlineError: something was still in a callback after `timeout` seconds; it was left behind.
        """
        closing = self._closing(timeout)
        if closing is not None:
            lib["cove_close"](closing.owned.raw, closing.timeout_ms)

    def _closing(self, timeout: float) -> Optional[Closing]:
        """The close that is to be made; None where it was made."""
        limit = _options.milliseconds("timeout", timeout)
        _ffi.check_may_wait()  # before it counts as closed
        owned, self._owned = self._owned, None
        return None if owned is None else Closing(owned, limit)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
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
        owned.opened = self._handle
        return self._workspace_of._of(owned)

    def _host(self) -> _prepare.Host:
        """Who applies the steps of a preparation."""
        return _prepare.Host()

    def _use(self) -> Owned:
        owned = self._owned
        if owned is None:
            raise _calls.closed("Cove")
        return owned

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


def _take_cove(raw: Any) -> Owned:
    return Owned(raw, "cove_free")


def _take_page(raw: Any) -> Tuple[List[Dict[str, Any]], str]:
    page = json.loads(_ffi.take_buffer(raw))
    return page["sandboxes"], page["next"]


#: What is open, as long as it or something of it is in use.
_live: "weakref.WeakSet[Owned]" = weakref.WeakSet()


#: Seconds for all of them together: commands that ignore SIGTERM take their grace time, of at most 10.
_EXIT_SECONDS = 15.0


@atexit.register
def _close_all() -> None:
    """Ends Cove's threads while Python can still run their callbacks."""
    until = time.monotonic() + _EXIT_SECONDS
    opened = list(_live)
    for owned in opened:
        _end("cove_close", owned.raw, 0)  # begins it, so that none waits for another
    for owned in opened:
        _end("cove_close", owned.raw, _left_ms(until))
    # A thread that comes back to an interpreter which is gone ends the process with an abort; also
    # that of a Cove that was closed long ago may be on its last lines.
    _end("cove_end_callbacks", max(1000, _left_ms(until)))


def _left_ms(until: float) -> int:
    return max(0, int((until - time.monotonic()) * 1000))


def _end(function: str, *arguments: Any) -> None:
    try:
        lib[function](*arguments)
    except CoveError:
        pass  # a callback that does not end: the process ends anyway


# What a forked child finds here is its parent's.
os.register_at_fork(after_in_child=_live.clear)
