"""Arguments of the public layer, checked and turned into what C takes."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Data = Union[bytes, bytearray, memoryview]

#: What C reads as "longer than anybody waits".
_MAX_MS = 2**63


def text(name: str, value: object) -> bytes:
    """A str without NUL, as UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be str, not {type(value).__name__}")
    return _without_nul(name, utf8(name, value))


def utf8(name: str, value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        pass  # its exception holds the text, which may be a secret
    raise ValueError(f"{name} must not contain half of a surrogate pair")


def optional_text(name: str, value: object) -> Optional[bytes]:
    return None if value is None else text(name, value)


def path(name: str, value: object) -> bytes:
    """A path as the bytes that the file system has."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} must be str, bytes or a path, not {type(value).__name__}")
    try:
        return _without_nul(name, os.fsencode(value))
    except UnicodeEncodeError:
        pass
    raise ValueError(f"{name} must not contain half of a surrogate pair")


def mapping(name: str, value: object) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    return value


def items(name: str, value: object) -> Iterable[Any]:
    """Several of something; a str is one."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list, not {type(value).__name__}")
    return value


def data(name: str, value: object) -> bytes:
    """Bytes; a str must be encoded by the caller, who knows how."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be bytes, not str: use .encode()")
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}")
    return bytes(value)


def milliseconds(name: str, seconds: object) -> int:
    """Seconds as whole milliseconds, at least 1; None = 0, which C reads as no limit."""
    if seconds is None:
        return 0
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {type(seconds).__name__}")
    if not seconds > 0:
        raise ValueError(f"{name} must be more than 0 seconds, not {seconds!r}")
    return max(1, int(min(seconds * 1000, _MAX_MS)))


def idle_milliseconds(name: str, seconds: object, none: int) -> int:
    """The same of a time that may be 0 (`none` in C); None = 0, which C reads as configured."""
    if seconds == 0 and not isinstance(seconds, bool):
        return none
    return milliseconds(name, seconds)


def count(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be int, not {type(value).__name__}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be {low} to {high}, not {value}")
    return value


def optional_count(name: str, value: Optional[int]) -> int:
    """A limit of at least 1; None = 0, which C reads as the default."""
    return 0 if value is None else count(name, value, 1, 2**62)


def kept_bytes(name: str, value: Optional[int], none: int) -> int:
    """A limit of kept output: None = the default (0 in C), 0 = nothing (`none` in C)."""
    if value is None:
        return 0
    return count(name, value, 0, 2**62) or none


def arguments(value: object) -> List[bytes]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError('argv must be a list as ["sh", "-c", "..."], not ' + type(value).__name__)
    if not value:
        raise ValueError("argv has no program")
    return [path(f"argv[{i}]", argument) for i, argument in enumerate(value)]


def terminal(name: str, value: Optional[Tuple[int, int]]) -> Tuple[int, int]:
    """Rows and columns; None = (0, 0), which C reads as no terminal."""
    if value is None:
        return 0, 0
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"{name} must be (rows, columns)")
    return count(f"{name} rows", value[0], 1, 65535), count(f"{name} columns", value[1], 1, 65535)


def environment(value: Optional[Mapping[str, str]]) -> List[bytes]:
    result: List[bytes] = []
    if value is None:
        return result
    for name, content in mapping("env", value).items():
        key = path("a name in env", name)
        if not key or b"=" in key:
            raise ValueError(f"env has a name that is empty or holds '=': {name!r}")
        result.append(key + b"=" + path(f"env[{name!r}]", content))
    return result


def key(value: Any) -> Tuple[bytes, bytes, bytes]:
    if not isinstance(value, tuple) or len(value) != 3:
        raise TypeError("key must be a WorkspaceKey or (source_type, source_id, user_id)")
    source_type, source_id, user_id = value
    return text("source_type", source_type), text("source_id", source_id), text("user_id", user_id)


def _without_nul(name: str, value: bytes) -> bytes:
    if b"\0" in value:
        raise ValueError(f"{name} must not contain NUL")
    return value
