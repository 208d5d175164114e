"""Finds and loads libcove.so."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Callable, List, Tuple

#: Before 1.0 every minor is an ABI of its own.
ABI = "0.1"
SONAME = f"libcove.so.{ABI}"
_FOLDER = pathlib.Path(__file__).resolve().parent

Opener = Callable[..., Any]


def candidates() -> List[Tuple[str, str]]:
    """What is tried, in order, each with where it comes from."""
    named = os.environ.get("COVE_LIBRARY")
    if named:
        # Whoever names a library means that one: another would be a silent surprise.
        return [(named, "COVE_LIBRARY")]
    return [(str(_FOLDER / SONAME), "in this package"), (SONAME, "of the system")]


def load(open_library: Opener) -> Any:
    """The library, by ctypes.CDLL given as `open_library`."""
    tried: List[str] = []
    for path, origin in candidates():
        try:
            library = open_library(path, mode=_mode(open_library))
        except OSError as error:
            tried.append(f"{path} ({origin}): {error}")
            continue
        return library
    raise ImportError(
        "cove: libcove.so was not found or cannot be loaded. Tried:\n  "
        + "\n  ".join(tried)
        + "\nInstall the package with its binary, or set COVE_LIBRARY to the path of " + SONAME
    )


def _mode(open_library: Opener) -> int:
    """Own symbols first: the host's process may have other copies of what libcove.so uses."""
    mode: int = os.RTLD_NOW | os.RTLD_LOCAL
    process = open_library(None)
    if any(hasattr(process, name) for name in ("__asan_init", "__tsan_init")):
        return mode  # the sanitizers' own functions must win over the library's
    return mode | getattr(os, "RTLD_DEEPBIND", 0)


def check_version(version: str, path: str) -> None:
    """Once, at load: the binding and the library must be of one ABI."""
    if version.split(".")[:2] != ABI.split("."):
        raise ImportError(f"cove: this package needs libcove.so {ABI}, but {path} is {version}")
