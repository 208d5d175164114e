"""Cove: a persistent, isolated workspace for every user of an agent application.

    import cove

    with cove.Cove("/var/lib/app/cove") as c:
        with c.acquire(("app", "shop", "ana"), chat_id="c1") as workspace:
            workspace.write_file("hello.py", b"print(6 * 7)")
            print(workspace.exec(["python3", "hello.py"]).out.text)   # 42

docs/python.md is the guide; every failure is a CoveError, one class per code (docs/errors.md).
"""

from ._calls import Cancel
from ._clock import Clock, FakeClock
from ._cove import Cove
from ._download import Download
from ._edits import Edit, EditOutcome, EditResult, FileEdit
from ._errors import (
    AlreadyExistsError,
    CancelledError,
    ConflictError,
    CoveError,
    DeadlineError,
    FailedPreconditionError,
    IntegrityError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    PathEscapeError,
    PermissionDeniedError,
    ProviderError,
    QuotaExceededError,
    TooLargeError,
    UnavailableError,
    UnsupportedError,
)
from ._exec import CommandOptions, ExecResult, ExecStream, OutputChunk, StreamOutput
from ._ffi import lib as _lib
from ._files import FileContent, FileInfo, LineSlice, TreeCounts
from ._found import FindEntry, GrepLine, SearchProblem, SearchSummary
from ._keys import WorkspaceKey, config_schema, sandbox_id_of, write_agent
from ._metadata import Document, DocumentPage, DocumentQuery, MetadataStore
from ._objects import ObjectContent, ObjectPage, ObjectStore
from ._prepare import Prepare, PrepareStep, StepResult, StepRun
from ._processes import OutputSlice, ProcessInfo
from ._search import Search
from ._skills import PublishedSkill, Skill, SkillInfo, SkillPackage, Skills, inspect_skill
from ._sources import IdlePolicy
from ._state_dir import default_state_dir
from ._tools import FileToLink, ToolResult, describe_tools
from ._watch import FileEvent, Watch
from ._workspace import Workspace

#: The version of the library that runs.
__version__: str = _lib["cove_version"]().decode()

__all__ = [
    "AlreadyExistsError",
    "Cancel",
    "CancelledError",
    "Clock",
    "CommandOptions",
    "ConflictError",
    "Cove",
    "CoveError",
    "DeadlineError",
    "Document",
    "DocumentPage",
    "DocumentQuery",
    "Download",
    "Edit",
    "EditOutcome",
    "EditResult",
    "ExecResult",
    "ExecStream",
    "FailedPreconditionError",
    "FakeClock",
    "FileContent",
    "FileEdit",
    "FileEvent",
    "FileInfo",
    "FileToLink",
    "FindEntry",
    "GrepLine",
    "IdlePolicy",
    "IntegrityError",
    "InternalError",
    "InvalidArgumentError",
    "LineSlice",
    "MetadataStore",
    "NotFoundError",
    "ObjectContent",
    "ObjectPage",
    "ObjectStore",
    "OutputChunk",
    "OutputSlice",
    "PathEscapeError",
    "PermissionDeniedError",
    "Prepare",
    "PrepareStep",
    "ProcessInfo",
    "ProviderError",
    "PublishedSkill",
    "QuotaExceededError",
    "Search",
    "SearchProblem",
    "SearchSummary",
    "Skill",
    "SkillInfo",
    "SkillPackage",
    "Skills",
    "StepResult",
    "StepRun",
    "StreamOutput",
    "TooLargeError",
    "ToolResult",
    "TreeCounts",
    "UnavailableError",
    "UnsupportedError",
    "Watch",
    "Workspace",
    "WorkspaceKey",
    "config_schema",
    "default_state_dir",
    "describe_tools",
    "inspect_skill",
    "sandbox_id_of",
    "write_agent",
]
