"""Who owns a workspace, and what needs no open Cove."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, NamedTuple, Tuple, Union

from . import _calls, _ffi, _options
from ._ffi import lib


class WorkspaceKey(NamedTuple):
    """Who owns a workspace. A chat is no part of it: all chats of a user share the workspace."""

    source_type: str
    source_id: str
    user_id: str


Key = Union[WorkspaceKey, Tuple[str, str, str]]


def raw_key(key: Key) -> _ffi.WorkspaceKey:
    source_type, source_id, user_id = _options.key(key)
    return _ffi.WorkspaceKey(source_type=source_type, source_id=source_id, user_id=user_id)


def sandbox_id_of(key: Key) -> str:
    """The sandbox id of a key: always the same one."""
    raw, argument = _ffi.out(_ffi.Buffer)
    lib["cove_sandbox_id_of"](_ffi.pointer_to(raw_key(key)), argument)
    return _ffi.take_buffer(raw).decode()


def config_schema() -> Dict[str, Any]:
    """The JSON Schema that a configuration is checked against."""
    schema: Dict[str, Any] = json.loads(lib["cove_config_schema"]())
    return schema


def writing_agent(path: Union[str, "os.PathLike[str]"]) -> _calls.WritingAgent:
    """What writes it, for who waits in another way."""
    return _calls.WritingAgent(_options.path("path", path))


def write_agent(path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes the cove-agent of the library, a static program, to a file that anybody may run."""
    _calls.make(writing_agent(path))
