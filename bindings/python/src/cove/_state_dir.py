"""Where a deployment keeps its state when the program does not say: the rule of the `cove` command."""

from __future__ import annotations

import os
import pathlib


def default_state_dir() -> str:
    """COVE_HOME, else /var/lib/cove for root, else $XDG_STATE_HOME/cove, else ~/.local/state/cove."""
    named = os.environ.get("COVE_HOME")
    if named:
        return named
    if os.geteuid() == 0:
        return "/var/lib/cove"
    # The XDG rule: a relative path there is invalid and counts as unset.
    state_home = os.environ.get("XDG_STATE_HOME", "")
    if state_home.startswith("/"):
        return str(pathlib.Path(state_home) / "cove")
    return str(pathlib.Path.home() / ".local" / "state" / "cove")
