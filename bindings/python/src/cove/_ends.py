"""How a sandbox stops running where it is: stopped, archived, moved, destroyed."""

from __future__ import annotations

from typing import Optional

from . import _ffi, _options
from ._calls import Calling, Cancel

_DRAINS = {"refuse": _ffi.DRAIN_REFUSE, "cancel": _ffi.DRAIN_CANCEL}


def _drain(drain: str) -> int:
    if drain not in _DRAINS:
        raise ValueError(f'drain must be "refuse" or "cancel", not {drain!r}')
    return _DRAINS[drain]


class Ends(Calling):
    """What is done to a sandbox as a whole."""

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

    def relocate(
        self,
        sandbox_id: str,
        provider: str,
        *,
        drain: str = "refuse",
        wait: Optional[float] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> None:
        """Moves a sandbox to another provider of the configuration, so to another image; it runs there.

        `provider` is its name. Harmless where it is there already. HOME and what else an archive does not
        keep stay behind. `drain` and `wait` are as of `stop`.
        """
        return self._do(
            "cove_relocate_start",
            _options.text("sandbox_id", sandbox_id),
            options=_ffi.RelocateOptions(
                drain=_drain(drain),
                provider=_options.text("provider", provider),
                timeout_ms=_options.milliseconds("timeout", timeout),
                wait_ms=_options.milliseconds("wait", wait),
            ),
            cancel=cancel,
        )

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

    def _stop(
        self,
        start: str,
        sandbox_id: str,
        drain: str,
        wait: Optional[float],
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> None:
        return self._do(
            start,
            _options.text("sandbox_id", sandbox_id),
            options=_ffi.StopOptions(
                drain=_drain(drain),
                timeout_ms=_options.milliseconds("timeout", timeout),
                wait_ms=_options.milliseconds("wait", wait),
            ),
            cancel=cancel,
        )
