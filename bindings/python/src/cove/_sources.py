"""Sweeps, and what a source wants: its end, its revival, its idle times."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Optional

from . import _calls, _ffi, _options
from ._calls import Calling, Cancel, Hears, hearing

_ARCHIVES = {
    "when_idle": _ffi.ARCHIVE_WHEN_IDLE,
    "at_once": _ffi.ARCHIVE_AT_ONCE,
    "never": _ffi.ARCHIVE_NEVER,
}


@dataclass(frozen=True)
class IdlePolicy:
    """When the sweep stops and archives the sandboxes of a source.

    Seconds; None = as the configuration says. `archive` is "when_idle" (after `archive_after`), "at_once"
    (in the sweep that stopped it, or that finds it stopped) or "never" (only where it is asked for).
    """

    stop_after: Optional[float] = None
    archive_after: Optional[float] = None
    archive: str = "when_idle"


def _raw_policy(policy: Optional[IdlePolicy]) -> _ffi.IdlePolicy:
    wanted = IdlePolicy() if policy is None else policy
    if not isinstance(wanted, IdlePolicy):
        raise TypeError(f"policy must be a cove.IdlePolicy, not {type(wanted).__name__}")
    if wanted.archive not in _ARCHIVES:
        raise ValueError(f'archive must be "when_idle", "at_once" or "never", not {wanted.archive!r}')
    return _ffi.IdlePolicy(
        archive=_ARCHIVES[wanted.archive],
        stop_after_ms=_options.idle_milliseconds("stop_after", wanted.stop_after, _ffi.NO_TIME),
        archive_after_ms=_options.idle_milliseconds("archive_after", wanted.archive_after, _ffi.NO_TIME),
    )


def _seconds(milliseconds: Optional[int]) -> Optional[float]:
    return None if milliseconds is None else milliseconds / 1000


def _take_policy(raw: Any) -> IdlePolicy:
    value = json.loads(_ffi.take_buffer(raw))
    return IdlePolicy(_seconds(value["stop_after_ms"]), _seconds(value["archive_after_ms"]), value["archive"])


class Sources(Calling):
    """The sources of a Cove, each as "source_type/source_id", and its sweeps."""

    def destroy_source(
        self,
        source: str,
        *,
        on_progress: Optional[Hears] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> int:
        """Deletes every sandbox of "source_type/source_id" for ever and forbids new ones.

        Says how many; call it again where it failed or was cut off: it goes on. `on_progress(so_far)`
        hears after each, on one of Cove's threads: "sandbox_id", "destroyed", "failed".
        """
        destroyed: int = self._call(
            "cove_destroy_source_json_start",
            _options.text("source", source),
            gives=_calls.GIVES_BUFFER,
            take=lambda raw: json.loads(_ffi.take_buffer(raw))["destroyed"],
            options=_ffi.DestroySourceOptions(
                timeout_ms=_options.milliseconds("timeout", timeout), **hearing(self._heard(on_progress))
            ),
            cancel=cancel,
        )
        return destroyed

    def revive_source(
        self, source: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Allows a deleted source to have sandboxes again. Harmless where it was not deleted."""
        return self._do(
            "cove_revive_source_start",
            _options.text("source", source),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )

    def set_idle_policy(
        self,
        source: str,
        policy: Optional[IdlePolicy],
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Sets when the sweep stops and archives the sandboxes of a source; None = as configured."""
        raw = _raw_policy(policy)
        return self._do(
            "cove_set_idle_policy_start",
            _options.text("source", source),
            _ffi.pointer_to(raw),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
            kept=raw,
        )

    def idle_policy(
        self, source: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> IdlePolicy:
        """What was set for a source."""
        policy: IdlePolicy = self._call(
            "cove_idle_policy_json_start",
            _options.text("source", source),
            gives=_calls.GIVES_BUFFER,
            take=_take_policy,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return policy

    def sweep(
        self,
        *,
        dry_run: bool = False,
        at_once: int = 4,
        on_progress: Optional[Hears] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Dict[str, Any]:
        """Stops and archives what is idle, and removes garbage, once. Says how much it did.

        `dry_run` decides and does nothing: what it would do is in "planned". `at_once` sandboxes are
        worked on at a time, 1 to 64. `on_progress(step)` hears of each that something was done about, on
        one of Cove's threads: "sandbox_id", "action", "error" and the counts so far.
        """
        done: Dict[str, Any] = self._call(
            "cove_sweep_json_start",
            gives=_calls.GIVES_BUFFER,
            take=lambda raw: json.loads(_ffi.take_buffer(raw)),
            options=_ffi.SweepOptions(
                flags=_ffi.SWEEP_DRY_RUN if dry_run else 0,
                at_once=_options.count("at_once", at_once, 1, 64),
                timeout_ms=_options.milliseconds("timeout", timeout),
                **hearing(self._heard(on_progress)),
            ),
            cancel=cancel,
        )
        return done

    def _heard(self, hears: Optional[Hears]) -> Optional[Hears]:
        """Where a callback of the application's is called: here on Cove's own thread."""
        return hears
