"""cove.h as one table: its structures, its callbacks, its functions. Nothing else uses ctypes.

A function of the table that returns a status raises the exception of its code instead, and takes
one argument less than in C: the error is asked for here.
"""

from __future__ import annotations

import functools
import threading

try:
    import ctypes
except ImportError as error:
    raise ImportError(
        "cove: ctypes cannot be loaded here. In a sub-interpreter: import cove in the main one, or in a process of its own"
    ) from error
from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    byref,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from . import _loader
from ._errors import CoveError, FailedPreconditionError, make_error


class Cove(c_void_p):
    """cove *"""


class Workspace(c_void_p):
    """cove_workspace *"""


class Prepare(c_void_p):
    """cove_prepare *"""


class StepRun(c_void_p):
    """cove_step_run *"""


class Process(c_void_p):
    """cove_process *"""


class Cancel(c_void_p):
    """cove_cancel *"""


class Error(c_void_p):
    """cove_error *"""


class Buffer(c_void_p):
    """cove_buffer *"""


class ExecResult(c_void_p):
    """cove_exec_result *"""


class ProcessInfo(c_void_p):
    """cove_process_info *"""


class ProcessList(c_void_p):
    """cove_process_list *"""


class OutputSlice(c_void_p):
    """cove_output_slice *"""


class FileInfo(c_void_p):
    """cove_file_info *"""


class FilePage(c_void_p):
    """cove_file_page *"""


class Watch(c_void_p):
    """cove_watch *"""


class FileContent(c_void_p):
    """cove_file_content *"""


class LineSlice(c_void_p):
    """cove_line_slice *"""


class EditResult(c_void_p):
    """cove_edit_result *"""


class EditResults(c_void_p):
    """cove_edit_results *"""


class TreeCounts(c_void_p):
    """cove_tree_counts *"""


class Download(c_void_p):
    """cove_download *"""


class Upload(c_void_p):
    """cove_upload *"""


class FileEvent(c_void_p):
    """cove_file_event *"""


class FileEvents(c_void_p):
    """cove_file_events *"""


class Search(c_void_p):
    """cove_search *"""


class SearchSummary(c_void_p):
    """cove_search_summary *"""


class GrepLine(c_void_p):
    """cove_grep_line *"""


class GrepLines(c_void_p):
    """cove_grep_lines *"""


class GrepResult(c_void_p):
    """cove_grep_result *"""


class FindEntry(c_void_p):
    """cove_find_entry *"""


class FindEntries(c_void_p):
    """cove_find_entries *"""


class FindResult(c_void_p):
    """cove_find_result *"""


class ToolResult(c_void_p):
    """cove_tool_result *"""


class LinkRequest(c_void_p):
    """cove_link_request *"""


class Done(c_void_p):
    """cove_done *"""


class Content(c_void_p):
    """cove_content *"""


DropFn = CFUNCTYPE(None, c_void_p)
#: Of completions: they come exactly once, and take what they are for out of the registry.
NO_DROP = ctypes.cast(0, DropFn)
WaitCheckFn = CFUNCTYPE(c_int32, c_void_p)
LogFn = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
DoneFn = CFUNCTYPE(None, c_void_p, Error)
ReportFn = CFUNCTYPE(None, c_void_p, c_char_p)
OpenedFn = CFUNCTYPE(None, c_void_p, Cove, Error)
BufferFn = CFUNCTYPE(None, c_void_p, Buffer, Error)
AcquiredFn = CFUNCTYPE(None, c_void_p, Workspace, Error)
StepFn = CFUNCTYPE(None, c_void_p, StepRun)
PrepareEventFn = CFUNCTYPE(None, c_void_p, c_int32, c_char_p, c_char_p)
OutputFn = CFUNCTYPE(c_int32, c_void_p, c_int32, c_void_p, c_size_t)
ExecDoneFn = CFUNCTYPE(None, c_void_p, ExecResult, Error)
ProcessInfoFn = CFUNCTYPE(None, c_void_p, ProcessInfo, Error)
ProcessListFn = CFUNCTYPE(None, c_void_p, ProcessList, Error)
OutputSliceFn = CFUNCTYPE(None, c_void_p, OutputSlice, Error)
FileInfoFn = CFUNCTYPE(None, c_void_p, FileInfo, Error)
FilePageFn = CFUNCTYPE(None, c_void_p, FilePage, Error)
FileContentFn = CFUNCTYPE(None, c_void_p, FileContent, Error)
LineSliceFn = CFUNCTYPE(None, c_void_p, LineSlice, Error)
EditResultFn = CFUNCTYPE(None, c_void_p, EditResult, Error)
EditResultsFn = CFUNCTYPE(None, c_void_p, EditResults, Error)
TreeCountsFn = CFUNCTYPE(None, c_void_p, TreeCounts, Error)
SinkFn = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)
FeedFn = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, POINTER(c_size_t))
ProgressFn = CFUNCTYPE(None, c_void_p, c_uint64, c_int64)
PieceFn = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)
FileEventFn = CFUNCTYPE(c_int32, c_void_p, FileEvent)
FileEventsFn = CFUNCTYPE(None, c_void_p, FileEvents)
SearchDoneFn = CFUNCTYPE(None, c_void_p, SearchSummary, Error)
GrepLinesFn = CFUNCTYPE(c_int32, c_void_p, GrepLines)
FindEntriesFn = CFUNCTYPE(c_int32, c_void_p, FindEntries)
ToolResultFn = CFUNCTYPE(None, c_void_p, ToolResult, Error)
LinkFn = CFUNCTYPE(None, c_void_p, LinkRequest)


class _Inside(threading.local):
    """Whether Cove called what runs on this thread."""

    callback = False


_inside = _Inside()


def callback(kind: Any, function: Callable[..., Any]) -> Any:
    """A function for C to call, in which nothing may wait: it would wait for the thread that it is on.

    Not for the slots of parts that have threads of their own.
    """

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        outer = _inside.callback
        try:
            _inside.callback = True
            return function(*arguments)
        finally:
            _inside.callback = outer

    return kind(call)


def check_may_wait() -> None:
    """As C refuses its calls that wait; here they are started, and Python waits."""
    if _inside.callback:
        raise FailedPreconditionError(
            "this call waits, and inside a callback it would wait for itself: make it on another thread"
        )


STEP_REQUIRED, STEP_BEST_EFFORT = 1, 2
STDOUT, STDERR = 1, 2
CONTINUE, PAUSE, STOP = 0, 1, 2
BYTES_NONE = 2**64 - 1
FOREVER = 2**64 - 1
EXEC_MERGE_OUTPUT, EXEC_SPILL, EXEC_KEEP_STDIN = 1, 2, 4
ATTACH_ONLY_NEW = 1
WRITE_EXISTING_PARENTS, WRITE_DURABLE, WRITE_APPEND, WRITE_IF_ABSENT = 1, 2, 4, 8
EDIT_REPLACE_ALL, EDIT_DURABLE = 1, 2
DEPTH_ALL = 2**32 - 1
MOVE_OVERWRITE, MOVE_EXISTING_PARENTS = 1, 2
WATCH_NOT_RECURSIVE = 1
REMOVE_RECURSIVE = 1
NO_LIMIT = 2**64 - 1
GREP_LITERAL, GREP_IGNORE_CASE, GREP_WHOLE_WORD, GREP_HIDDEN, GREP_NO_IGNORE_FILES = 1, 2, 4, 8, 16
FIND_HIDDEN, FIND_NO_IGNORE_FILES, FIND_NEWEST_FIRST, FIND_FACTS = 1, 2, 4, 8
TOOLS_OPENAI, TOOLS_MCP, TOOLS_PLAIN = 1, 2, 3
DRAIN_REFUSE, DRAIN_CANCEL = 0, 1
SWEEP_DRY_RUN = 1
ARCHIVE_WHEN_IDLE, ARCHIVE_AT_ONCE, ARCHIVE_NEVER = 0, 1, 2
NO_TIME = 2**64 - 1
PART_BLOCKING = 1
TIME_ACTIVE, TIME_HEARTBEAT = 1, 2
ORDER_NAME, ORDER_ACTIVE, ORDER_HEARTBEAT = 0, 1, 2
DURABILITY_RELAXED, DURABILITY_DURABLE = 0, 1


class _Versioned(ctypes.Structure):
    """A struct that begins with struct_size; unnamed fields are 0."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(struct_size=sizeof(type(self)), **fields)


class CallOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class Document(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_uint32),
        ("name", c_char_p),
        ("version", c_uint64),
        ("body", c_char_p),
        ("body_size", c_size_t),
        ("state", c_char_p),
        ("source", c_char_p),
        ("node", c_char_p),
        ("active_at_ms", c_int64),
        ("heartbeat_ms", c_int64),
        ("times", c_uint32),
        ("reserved0", c_uint32),
    ]


class DocumentQuery(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_uint32),
        ("order", c_uint32),
        ("limit", c_uint32),
        ("state", c_char_p),
        ("source", c_char_p),
        ("node", c_char_p),
        ("active_before_ms", c_int64),
        ("heartbeat_before_ms", c_int64),
        ("times", c_uint32),
        ("reserved0", c_uint32),
        ("after_name", c_char_p),
        ("after_ms", c_int64),
    ]


class InstanceRef(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("deployment", c_char_p),
        ("sandbox", c_char_p),
        ("generation", c_char_p),
        ("epoch", c_uint64),
    ]


ClockFn = CFUNCTYPE(c_int64, c_void_p)
InsertDocumentFn = CFUNCTYPE(None, c_void_p, POINTER(Document), c_int32, Done)
FindDocumentFn = CFUNCTYPE(None, c_void_p, c_uint32, c_char_p, Done)
SwapDocumentFn = CFUNCTYPE(None, c_void_p, POINTER(Document), c_uint64, c_int32, Done)
RemoveDocumentFn = CFUNCTYPE(None, c_void_p, c_uint32, c_char_p, c_uint64, Done)
QueryDocumentsFn = CFUNCTYPE(None, c_void_p, POINTER(DocumentQuery), Done)
StoreTimeFn = CFUNCTYPE(None, c_void_p, Done)
NextPieceFn = CFUNCTYPE(None, c_void_p, Done)
PutObjectFn = CFUNCTYPE(None, c_void_p, c_char_p, Content, Done)
GetObjectFn = CFUNCTYPE(None, c_void_p, c_char_p, Done)
StatObjectFn = CFUNCTYPE(None, c_void_p, c_char_p, Done)
ListObjectsFn = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_uint32, Done)
RemoveObjectFn = CFUNCTYPE(None, c_void_p, c_char_p, Done)
InstanceFn = CFUNCTYPE(None, c_void_p, POINTER(InstanceRef), Done)
StartInstanceFn = CFUNCTYPE(None, c_void_p, POINTER(InstanceRef), c_char_p, Done)
ListInstancesFn = CFUNCTYPE(None, c_void_p, c_char_p, Done)
SyncVolumeFn = CFUNCTYPE(None, c_void_p, Done)


class Clock(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("self", c_void_p),
        ("destroy", DropFn),
        ("now_ns", ClockFn),
        ("wall_ms", ClockFn),
    ]


class MetadataStore(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("threads", c_uint32),
        ("reserved0", c_uint32),
        ("self", c_void_p),
        ("destroy", DropFn),
        ("insert", InsertDocumentFn),
        ("find", FindDocumentFn),
        ("compare_and_swap", SwapDocumentFn),
        ("remove", RemoveDocumentFn),
        ("query", QueryDocumentsFn),
        ("now", StoreTimeFn),
    ]


class Object(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("key", c_char_p),
        ("size", c_uint64),
    ]


class ByteSource(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("self", c_void_p),
        ("destroy", DropFn),
        ("next", NextPieceFn),
    ]


class ObjectStore(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("threads", c_uint32),
        ("reserved0", c_uint32),
        ("self", c_void_p),
        ("destroy", DropFn),
        ("put", PutObjectFn),
        ("get", GetObjectFn),
        ("stat", StatObjectFn),
        ("list", ListObjectsFn),
        ("remove", RemoveObjectFn),
    ]


class OfflineVolume(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("directory", c_int32),
        ("id_offset", c_uint32),
        ("id_count", c_uint32),
        ("home", c_int32),
        ("self", c_void_p),
        ("close", DropFn),
        ("sync", SyncVolumeFn),
    ]


class Inventory(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("volumes", POINTER(InstanceRef)),
        ("volume_count", c_size_t),
        ("instances", POINTER(InstanceRef)),
        ("instance_count", c_size_t),
        ("others", POINTER(c_char_p)),
        ("other_count", c_size_t),
    ]


class Provider(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("threads", c_uint32),
        ("reserved0", c_uint32),
        ("self", c_void_p),
        ("destroy", DropFn),
        ("name", c_char_p),
        ("node", c_char_p),
        ("create_volume", InstanceFn),
        ("delete_volume", InstanceFn),
        ("open_volume", InstanceFn),
        ("start_instance", StartInstanceFn),
        ("stop_instance", InstanceFn),
        ("inspect", InstanceFn),
        ("connect", InstanceFn),
        ("list", ListInstancesFn),
    ]


class OpenOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("log", LogFn),
        ("log_user_data", c_void_p),
        ("log_drop", DropFn),
        ("clock", POINTER(Clock)),
        ("metadata", POINTER(MetadataStore)),
        ("objects", POINTER(ObjectStore)),
        ("provider", POINTER(Provider)),
    ]


class WorkspaceKey(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("source_type", c_char_p),
        ("source_id", c_char_p),
        ("user_id", c_char_p),
    ]


class AcquireOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("chat_id", c_char_p),
        ("sandbox_id", c_char_p),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("prepare", Prepare),
    ]


class InitOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("version", c_char_p),
        ("cwd", c_char_p),
        ("script_timeout_ms", c_uint64),
    ]


class StepOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("policy", c_uint32),
        ("fingerprint", c_char_p),
        ("timeout_ms", c_uint64),
        ("after", c_uint32),
        ("reserved0", c_uint32),
    ]


class StepResult(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("nothing_to_do", c_uint32),
        ("reason", c_char_p),
        ("output", c_char_p),
        ("note", c_char_p),
    ]


class ExecOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("cwd", c_char_p),
        ("env", POINTER(c_char_p)),
        ("env_count", c_size_t),
        ("stdin_data", c_char_p),
        ("stdin_size", c_size_t),
        ("command_timeout_ms", c_uint64),
        ("kill_grace_ms", c_uint64),
        ("head_bytes", c_uint64),
        ("tail_bytes", c_uint64),
        ("max_total_bytes", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("shell_line", c_char_p),
        ("quiet_timeout_ms", c_uint64),
        ("orphan_grace_ms", c_uint64),
        ("head_lines", c_uint64),
        ("tail_lines", c_uint64),
        ("memory_bytes", c_uint64),
        ("cpu_seconds", c_uint32),
        ("process_limit", c_uint32),
        ("niceness", c_uint32),
        ("terminal_rows", c_uint32),
        ("terminal_columns", c_uint32),
        ("reserved1", c_uint32),
    ]


class ExecCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_output", OutputFn),
        ("on_done", ExecDoneFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class ProcessOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("name", c_char_p),
        ("keep_alive_s", c_uint64),
    ]


class OutputOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("stream", c_uint32),
        ("offset", c_uint64),
        ("max_bytes", c_uint64),
        ("wait_ms", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class AttachOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("out_offset", c_uint64),
        ("err_offset", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class ReadOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("offset", c_uint64),
        ("max_bytes", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class WriteOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("mode", c_uint32),
        ("reserved0", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("if_unchanged_since", c_char_p),
    ]


class FileListOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("limit", c_uint32),
        ("after", c_char_p),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("depth", c_uint32),
        ("reserved0", c_uint32),
    ]


class RemoveOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class ReadLinesOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("first", c_uint64),
        ("count", c_uint64),
        ("max_bytes", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class Edit(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("old_text", c_char_p),
        ("old_size", c_size_t),
        ("new_text", c_char_p),
        ("new_size", c_size_t),
    ]


class EditOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("if_unchanged_since", c_char_p),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class FileEdit(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("path", c_char_p),
        ("edits", POINTER(Edit)),
        ("edit_count", c_size_t),
        ("if_unchanged_since", c_char_p),
    ]


class MoveOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class DownloadCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_piece", SinkFn),
        ("on_progress", ProgressFn),
        ("user_data", c_void_p),
    ]


class UploadCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("next_piece", FeedFn),
        ("on_progress", ProgressFn),
        ("user_data", c_void_p),
    ]


class PieceCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_piece", PieceFn),
        ("on_progress", ProgressFn),
        ("on_done", DoneFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class WatchOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("max_directories", c_uint32),
        ("reserved0", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class WatchCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_events", FileEventsFn),
        ("on_done", DoneFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class GrepOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("context_before", c_uint32),
        ("context_after", c_uint32),
        ("include", POINTER(c_char_p)),
        ("include_count", c_size_t),
        ("exclude", POINTER(c_char_p)),
        ("exclude_count", c_size_t),
        ("max_file_bytes", c_uint64),
        ("limit", c_uint64),
        ("max_line_bytes", c_uint32),
        ("reserved0", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class GrepCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_lines", GrepLinesFn),
        ("on_done", SearchDoneFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class FindOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("glob", c_char_p),
        ("type", c_uint32),
        ("max_depth", c_uint32),
        ("exclude", POINTER(c_char_p)),
        ("exclude_count", c_size_t),
        ("min_bytes", c_uint64),
        ("max_bytes", c_uint64),
        ("modified_from_ns", c_int64),
        ("modified_until_ns", c_int64),
        ("limit", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class FindCallbacks(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("on_entries", FindEntriesFn),
        ("on_done", SearchDoneFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class ToolOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("make_links", LinkFn),
        ("link_user_data", c_void_p),
        ("link_drop", DropFn),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class SkillsOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("max_characters", c_uint64),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class IdlePolicy(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("archive", c_uint32),
        ("stop_after_ms", c_uint64),
        ("archive_after_ms", c_uint64),
    ]


class SweepOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("at_once", c_uint32),
        ("reserved0", c_uint32),
        ("on_progress", ReportFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class DestroySourceOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved0", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("on_progress", ReportFn),
        ("user_data", c_void_p),
        ("drop", DropFn),
    ]


class StopOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("drain", c_uint32),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("wait_ms", c_uint64),
    ]


class RelocateOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("drain", c_uint32),
        ("provider", c_char_p),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
        ("wait_ms", c_uint64),
    ]


class ListOptions(_Versioned):
    _fields_ = [
        ("struct_size", c_uint32),
        ("limit", c_uint32),
        ("source", c_char_p),
        ("after", c_char_p),
        ("timeout_ms", c_uint64),
        ("cancel", Cancel),
    ]


class Attempt(Error):
    """The error of a start, given behind its arguments by whoever must know whether C began.

    KeyboardInterrupt comes between any two steps: right before C is called, or right after. C clears
    an error before all else.
    """

    def __init__(self) -> None:
        super().__init__(1)  # which C never leaves there

    @property
    def began(self) -> bool:
        return self.value is None


def _check(function: Any, *arguments: Any) -> None:
    error = Error()
    if arguments and isinstance(arguments[-1], Attempt):
        *arguments, error = arguments  # type: ignore[assignment]
    status = function(*arguments, byref(error))
    if status != 0:
        raise take_error(error) or CoveError(f"status {status} without an error")


_Check = Optional[Callable[..., None]]
P = POINTER
_STRINGS = P(c_char_p)
_SIZE = P(c_size_t)
_ANSWER = (c_void_p, DropFn, P(Error))  # what ends every start form

_FUNCTIONS: Tuple[Tuple[str, Any, Tuple[Any, ...], _Check], ...] = (
    # name, result, arguments, check
    ("cove_version", c_char_p, (), None),
    ("cove_status_name", c_char_p, (c_int32,), None),
    ("cove_error_code", c_int32, (Error,), None),
    ("cove_error_message", c_char_p, (Error,), None),
    ("cove_error_describe", c_char_p, (Error,), None),
    ("cove_error_retry_after_ms", c_int64, (Error,), None),
    ("cove_error_cause", Error, (Error,), None),
    ("cove_error_context_count", c_size_t, (Error,), None),
    ("cove_error_context_key", c_char_p, (Error, c_size_t), None),
    ("cove_error_context_value", c_char_p, (Error, c_size_t), None),
    ("cove_error_free", None, (Error,), None),
    ("cove_buffer_data", c_void_p, (Buffer,), None),
    ("cove_buffer_size", c_size_t, (Buffer,), None),
    ("cove_buffer_free", None, (Buffer,), None),
    ("cove_cancel_create", c_int32, (P(Cancel), P(Error)), _check),
    ("cove_cancel_trigger", None, (Cancel,), None),
    ("cove_cancel_free", None, (Cancel,), None),
    ("cove_thread_set_wait_check", None, (WaitCheckFn, c_void_p), None),
    ("cove_call_options_init", None, (P(CallOptions), c_size_t), None),
    ("cove_open_options_init", None, (P(OpenOptions), c_size_t), None),
    ("cove_open", c_int32, (c_char_p, P(OpenOptions), P(Cove), P(Error)), _check),
    ("cove_open_start", c_int32, (c_char_p, P(OpenOptions), OpenedFn, *_ANSWER), _check),
    ("cove_config_schema", c_char_p, (), None),
    ("cove_set_observer", c_int32, (Cove, ReportFn, *_ANSWER), _check),
    ("cove_close", c_int32, (Cove, c_uint64, P(Error)), _check),
    ("cove_close_start", c_int32, (Cove, c_uint64, DoneFn, *_ANSWER), _check),
    ("cove_free", None, (Cove,), None),
    ("cove_end_callbacks", c_int32, (c_uint64, P(Error)), _check),
    ("cove_workspace_key_init", None, (P(WorkspaceKey), c_size_t), None),
    ("cove_sandbox_id_of", c_int32, (P(WorkspaceKey), P(Buffer), P(Error)), _check),
    ("cove_prepare_create", c_int32, (P(Prepare), P(Error)), _check),
    ("cove_prepare_free", None, (Prepare,), None),
    ("cove_prepare_set_mirror", c_int32, (Prepare, c_int32, c_char_p, P(Error)), _check),
    ("cove_prepare_set_variable", c_int32, (Prepare, c_char_p, c_char_p, P(Error)), _check),
    ("cove_prepare_set_secret", c_int32, (Prepare, c_char_p, c_char_p, P(Error)), _check),
    ("cove_prepare_set_locale", c_int32, (Prepare, c_char_p, c_char_p, P(Error)), _check),
    ("cove_prepare_add_file", c_int32, (Prepare, c_char_p, c_char_p, c_size_t, P(Error)), _check),
    ("cove_prepare_add_host_file", c_int32, (Prepare, c_char_p, c_char_p, P(Error)), _check),
    ("cove_init_options_init", None, (P(InitOptions), c_size_t), None),
    ("cove_prepare_set_init_script", c_int32, (Prepare, c_char_p, P(InitOptions), P(Error)), _check),
    ("cove_prepare_add_skill", c_int32, (Prepare, c_char_p, c_char_p, c_size_t, c_char_p, P(Error)), _check),
    ("cove_prepare_add_host_skill", c_int32, (Prepare, c_char_p, c_char_p, c_char_p, P(Error)), _check),
    ("cove_prepare_add_stored_skill", c_int32, (Prepare, c_char_p, P(Error)), _check),
    ("cove_prepare_add_builtin_skill", c_int32, (Prepare, c_char_p, c_char_p, c_size_t, P(Error)), _check),
    ("cove_prepare_add_host_builtin_skill", c_int32, (Prepare, c_char_p, c_char_p, P(Error)), _check),
    ("cove_prepare_set_skill_init_timeout", c_int32, (Prepare, c_uint64, P(Error)), _check),
    ("cove_step_options_init", None, (P(StepOptions), c_size_t), None),
    ("cove_prepare_add_step", c_int32, (Prepare, c_char_p, P(StepOptions), StepFn, *_ANSWER), _check),
    ("cove_step_run_workspace", c_void_p, (StepRun,), None),
    ("cove_step_run_note", c_char_p, (StepRun,), None),
    ("cove_step_run_is_over", c_int32, (StepRun,), None),
    ("cove_step_run_tell", c_int32, (StepRun, c_char_p, P(Error)), _check),
    ("cove_step_result_init", None, (P(StepResult), c_size_t), None),
    ("cove_step_run_finish", c_int32, (StepRun, P(StepResult), P(Error)), _check),
    ("cove_step_run_fail", c_int32, (StepRun, c_int32, c_char_p, c_char_p, P(Error)), _check),
    ("cove_step_run_free", None, (StepRun,), None),
    ("cove_prepare_set_observer", c_int32, (Prepare, PrepareEventFn, *_ANSWER), _check),
    ("cove_acquire_options_init", None, (P(AcquireOptions), c_size_t), None),
    ("cove_acquire", c_int32, (Cove, P(WorkspaceKey), P(AcquireOptions), P(Workspace), P(Error)), _check),
    ("cove_acquire_start", c_int32, (Cove, P(WorkspaceKey), P(AcquireOptions), AcquiredFn, *_ANSWER), _check),
    ("cove_workspace_directory", c_char_p, (Workspace,), None),
    ("cove_workspace_sandbox_id", c_char_p, (Workspace,), None),
    ("cove_workspace_work", c_int32, (Workspace,), None),
    ("cove_workspace_prepare_report_json", c_int32, (Workspace, P(Buffer), P(Error)), _check),
    ("cove_remove_session", c_int32, (Cove, P(WorkspaceKey), P(AcquireOptions), P(Error)), _check),
    ("cove_remove_session_start", c_int32, (Cove, P(WorkspaceKey), P(AcquireOptions), DoneFn, *_ANSWER), _check),
    ("cove_skills_options_init", None, (P(SkillsOptions), c_size_t), None),
    ("cove_workspace_skills_json", c_int32, (Workspace, P(SkillsOptions), P(Buffer), P(Error)), _check),
    ("cove_workspace_skills_json_start", c_int32, (Workspace, P(SkillsOptions), BufferFn, *_ANSWER), _check),
    ("cove_inspect_skill_json", c_int32, (c_char_p, c_char_p, c_size_t, P(Buffer), P(Error)), _check),
    ("cove_add_skill_json", c_int32,
     (Cove, c_char_p, c_char_p, c_size_t, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_add_skill_json_start", c_int32,
     (Cove, c_char_p, c_char_p, c_size_t, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_list_skills_json", c_int32, (Cove, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_list_skills_json_start", c_int32, (Cove, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_remove_skill", c_int32, (Cove, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_remove_skill_start", c_int32, (Cove, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_release_start", c_int32, (Workspace, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_release", c_int32, (Workspace, P(CallOptions), P(Error)), _check),
    ("cove_workspace_free", None, (Workspace,), None),
    ("cove_exec_options_init", None, (P(ExecOptions), c_size_t), None),
    ("cove_workspace_exec", c_int32, (Workspace, _STRINGS, c_size_t, P(ExecOptions), P(ExecResult), P(Error)), _check),
    ("cove_exec_result_outcome", c_int32, (ExecResult,), None),
    ("cove_exec_result_code", c_int32, (ExecResult,), None),
    ("cove_exec_result_shell_code", c_int32, (ExecResult,), None),
    ("cove_exec_result_duration_us", c_uint64, (ExecResult,), None),
    ("cove_exec_result_head", c_void_p, (ExecResult, c_int32, _SIZE), None),
    ("cove_exec_result_tail", c_void_p, (ExecResult, c_int32, _SIZE), None),
    ("cove_exec_result_text", c_void_p, (ExecResult, c_int32, _SIZE), None),
    ("cove_exec_result_total_bytes", c_uint64, (ExecResult, c_int32), None),
    ("cove_exec_result_dropped_bytes", c_uint64, (ExecResult, c_int32), None),
    ("cove_exec_result_spill_path", c_char_p, (ExecResult, c_int32), None),
    ("cove_exec_result_was_quiet", c_int32, (ExecResult,), None),
    ("cove_exec_result_peak_memory_bytes", c_uint64, (ExecResult,), None),
    ("cove_exec_result_user_cpu_us", c_uint64, (ExecResult,), None),
    ("cove_exec_result_system_cpu_us", c_uint64, (ExecResult,), None),
    ("cove_exec_result_best_effort", c_int32, (ExecResult,), None),
    ("cove_exec_result_free", None, (ExecResult,), None),
    ("cove_exec_callbacks_init", None, (P(ExecCallbacks), c_size_t), None),
    ("cove_workspace_exec_start", c_int32,
     (Workspace, _STRINGS, c_size_t, P(ExecOptions), P(ExecCallbacks), P(Process), P(Error)), _check),
    ("cove_process_resume", None, (Process,), None),
    ("cove_process_cancel", None, (Process,), None),
    ("cove_process_detach", None, (Process,), None),
    ("cove_process_write_stdin", c_int32, (Process, c_char_p, c_size_t, P(CallOptions), P(Error)), _check),
    ("cove_process_write_stdin_start", c_int32,
     (Process, c_char_p, c_size_t, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_process_close_stdin", c_int32, (Process, P(CallOptions), P(Error)), _check),
    ("cove_process_close_stdin_start", c_int32, (Process, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_process_signal", c_int32, (Process, c_int32, P(CallOptions), P(Error)), _check),
    ("cove_process_signal_start", c_int32, (Process, c_int32, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_process_resize", c_int32, (Process, c_uint32, c_uint32, P(CallOptions), P(Error)), _check),
    ("cove_process_resize_start", c_int32, (Process, c_uint32, c_uint32, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_process_free", None, (Process,), None),
    ("cove_process_info_id", c_char_p, (ProcessInfo,), None),
    ("cove_process_info_name", c_char_p, (ProcessInfo,), None),
    ("cove_process_info_command", c_char_p, (ProcessInfo,), None),
    ("cove_process_info_cwd", c_char_p, (ProcessInfo,), None),
    ("cove_process_info_started_at_ms", c_int64, (ProcessInfo,), None),
    ("cove_process_info_keep_alive_s", c_uint64, (ProcessInfo,), None),
    ("cove_process_info_has_terminal", c_int32, (ProcessInfo,), None),
    ("cove_process_info_stdin_open", c_int32, (ProcessInfo,), None),
    ("cove_process_info_total_bytes", c_uint64, (ProcessInfo, c_int32), None),
    ("cove_process_info_result", ExecResult, (ProcessInfo,), None),
    ("cove_process_info_free", None, (ProcessInfo,), None),
    ("cove_process_list_count", c_size_t, (ProcessList,), None),
    ("cove_process_list_entry", ProcessInfo, (ProcessList, c_size_t), None),
    ("cove_process_list_free", None, (ProcessList,), None),
    ("cove_process_options_init", None, (P(ProcessOptions), c_size_t), None),
    ("cove_workspace_start_process", c_int32,
     (Workspace, _STRINGS, c_size_t, P(ExecOptions), P(ProcessOptions), P(ProcessInfo), P(Error)), _check),
    ("cove_workspace_start_process_start", c_int32,
     (Workspace, _STRINGS, c_size_t, P(ExecOptions), P(ProcessOptions), ProcessInfoFn, *_ANSWER), _check),
    ("cove_workspace_list_processes", c_int32, (Workspace, P(CallOptions), P(ProcessList), P(Error)), _check),
    ("cove_workspace_list_processes_start", c_int32, (Workspace, P(CallOptions), ProcessListFn, *_ANSWER), _check),
    ("cove_workspace_find_process", c_int32, (Workspace, c_char_p, P(CallOptions), P(ProcessInfo), P(Error)), _check),
    ("cove_workspace_find_process_start", c_int32,
     (Workspace, c_char_p, P(CallOptions), ProcessInfoFn, *_ANSWER), _check),
    ("cove_output_slice_data", c_void_p, (OutputSlice, _SIZE), None),
    ("cove_output_slice_offset", c_uint64, (OutputSlice,), None),
    ("cove_output_slice_next", c_uint64, (OutputSlice,), None),
    ("cove_output_slice_gone", c_uint64, (OutputSlice,), None),
    ("cove_output_slice_at_end", c_int32, (OutputSlice,), None),
    ("cove_output_slice_free", None, (OutputSlice,), None),
    ("cove_output_options_init", None, (P(OutputOptions), c_size_t), None),
    ("cove_workspace_process_output", c_int32,
     (Workspace, c_char_p, P(OutputOptions), P(OutputSlice), P(Error)), _check),
    ("cove_workspace_process_output_start", c_int32,
     (Workspace, c_char_p, P(OutputOptions), OutputSliceFn, *_ANSWER), _check),
    ("cove_workspace_write_process_stdin", c_int32,
     (Workspace, c_char_p, c_char_p, c_size_t, P(CallOptions), P(Error)), _check),
    ("cove_workspace_write_process_stdin_start", c_int32,
     (Workspace, c_char_p, c_char_p, c_size_t, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_close_process_stdin", c_int32, (Workspace, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_workspace_close_process_stdin_start", c_int32,
     (Workspace, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_signal_process", c_int32, (Workspace, c_char_p, c_int32, P(CallOptions), P(Error)), _check),
    ("cove_workspace_signal_process_start", c_int32,
     (Workspace, c_char_p, c_int32, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_resize_process", c_int32,
     (Workspace, c_char_p, c_uint32, c_uint32, P(CallOptions), P(Error)), _check),
    ("cove_workspace_resize_process_start", c_int32,
     (Workspace, c_char_p, c_uint32, c_uint32, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_workspace_end_process", c_int32, (Workspace, c_char_p, P(CallOptions), P(ProcessInfo), P(Error)), _check),
    ("cove_workspace_end_process_start", c_int32,
     (Workspace, c_char_p, P(CallOptions), ProcessInfoFn, *_ANSWER), _check),
    ("cove_workspace_wait_process", c_int32, (Workspace, c_char_p, P(CallOptions), P(ProcessInfo), P(Error)), _check),
    ("cove_workspace_wait_process_start", c_int32,
     (Workspace, c_char_p, P(CallOptions), ProcessInfoFn, *_ANSWER), _check),
    ("cove_workspace_remove_process", c_int32, (Workspace, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_workspace_remove_process_start", c_int32, (Workspace, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_attach_options_init", None, (P(AttachOptions), c_size_t), None),
    ("cove_workspace_attach_process", c_int32,
     (Workspace, c_char_p, P(AttachOptions), P(ExecCallbacks), P(Process), P(Error)), _check),
    ("cove_file_info_path", c_char_p, (FileInfo,), None),
    ("cove_file_info_type", c_int32, (FileInfo,), None),
    ("cove_file_info_size", c_uint64, (FileInfo,), None),
    ("cove_file_info_mode", c_uint32, (FileInfo,), None),
    ("cove_file_info_modified_ns", c_int64, (FileInfo,), None),
    ("cove_file_info_link_target", c_char_p, (FileInfo,), None),
    ("cove_file_info_free", None, (FileInfo,), None),
    ("cove_read_options_init", None, (P(ReadOptions), c_size_t), None),
    ("cove_workspace_read_file", c_int32, (Workspace, c_char_p, P(ReadOptions), P(Buffer), P(Error)), _check),
    ("cove_workspace_read_file_start", c_int32, (Workspace, c_char_p, P(ReadOptions), BufferFn, *_ANSWER), _check),
    ("cove_write_options_init", None, (P(WriteOptions), c_size_t), None),
    ("cove_workspace_write_file", c_int32,
     (Workspace, c_char_p, c_char_p, c_size_t, P(WriteOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_write_file_start", c_int32,
     (Workspace, c_char_p, c_char_p, c_size_t, P(WriteOptions), FileInfoFn, *_ANSWER), _check),
    ("cove_workspace_stat", c_int32, (Workspace, c_char_p, P(CallOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_stat_start", c_int32, (Workspace, c_char_p, P(CallOptions), FileInfoFn, *_ANSWER), _check),
    ("cove_file_page_count", c_size_t, (FilePage,), None),
    ("cove_file_page_entry", FileInfo, (FilePage, c_size_t), None),
    ("cove_file_page_next", c_char_p, (FilePage,), None),
    ("cove_file_page_free", None, (FilePage,), None),
    ("cove_file_list_options_init", None, (P(FileListOptions), c_size_t), None),
    ("cove_workspace_list", c_int32, (Workspace, c_char_p, P(FileListOptions), P(FilePage), P(Error)), _check),
    ("cove_workspace_list_start", c_int32, (Workspace, c_char_p, P(FileListOptions), FilePageFn, *_ANSWER), _check),
    ("cove_workspace_make_directory", c_int32, (Workspace, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_workspace_make_directory_start", c_int32, (Workspace, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_remove_options_init", None, (P(RemoveOptions), c_size_t), None),
    ("cove_workspace_remove", c_int32, (Workspace, c_char_p, P(RemoveOptions), P(Error)), _check),
    ("cove_workspace_remove_start", c_int32, (Workspace, c_char_p, P(RemoveOptions), DoneFn, *_ANSWER), _check),
    ("cove_file_info_etag", c_char_p, (FileInfo,), None),
    ("cove_file_info_is_unreadable", c_int32, (FileInfo,), None),
    ("cove_file_content_data", c_void_p, (FileContent, _SIZE), None),
    ("cove_file_content_type", c_char_p, (FileContent,), None),
    ("cove_file_content_info", FileInfo, (FileContent,), None),
    ("cove_file_content_free", None, (FileContent,), None),
    ("cove_workspace_read", c_int32, (Workspace, c_char_p, P(ReadOptions), P(FileContent), P(Error)), _check),
    ("cove_workspace_read_start", c_int32, (Workspace, c_char_p, P(ReadOptions), FileContentFn, *_ANSWER), _check),
    ("cove_line_slice_text", c_void_p, (LineSlice, _SIZE), None),
    ("cove_line_slice_first", c_uint64, (LineSlice,), None),
    ("cove_line_slice_count", c_uint64, (LineSlice,), None),
    ("cove_line_slice_next", c_uint64, (LineSlice,), None),
    ("cove_line_slice_total_lines", c_int64, (LineSlice,), None),
    ("cove_line_slice_offset", c_uint64, (LineSlice,), None),
    ("cove_line_slice_is_cut", c_int32, (LineSlice,), None),
    ("cove_line_slice_content_type", c_char_p, (LineSlice,), None),
    ("cove_line_slice_info", FileInfo, (LineSlice,), None),
    ("cove_line_slice_free", None, (LineSlice,), None),
    ("cove_read_lines_options_init", None, (P(ReadLinesOptions), c_size_t), None),
    ("cove_workspace_read_lines", c_int32,
     (Workspace, c_char_p, P(ReadLinesOptions), P(LineSlice), P(Error)), _check),
    ("cove_workspace_read_lines_start", c_int32,
     (Workspace, c_char_p, P(ReadLinesOptions), LineSliceFn, *_ANSWER), _check),
    ("cove_edit_init", None, (P(Edit), c_size_t), None),
    ("cove_edit_result_info", FileInfo, (EditResult,), None),
    ("cove_edit_result_count", c_size_t, (EditResult,), None),
    ("cove_edit_result_replaced", c_uint64, (EditResult, c_size_t), None),
    ("cove_edit_result_first_line", c_uint64, (EditResult, c_size_t), None),
    ("cove_edit_result_free", None, (EditResult,), None),
    ("cove_edit_options_init", None, (P(EditOptions), c_size_t), None),
    ("cove_workspace_edit_file", c_int32,
     (Workspace, c_char_p, P(Edit), c_size_t, P(EditOptions), P(EditResult), P(Error)), _check),
    ("cove_workspace_edit_file_start", c_int32,
     (Workspace, c_char_p, P(Edit), c_size_t, P(EditOptions), EditResultFn, *_ANSWER), _check),
    ("cove_file_edit_init", None, (P(FileEdit), c_size_t), None),
    ("cove_edit_results_count", c_size_t, (EditResults,), None),
    ("cove_edit_results_entry", EditResult, (EditResults, c_size_t), None),
    ("cove_edit_results_error", Error, (EditResults, c_size_t), None),
    ("cove_edit_results_free", None, (EditResults,), None),
    ("cove_workspace_edit_files", c_int32,
     (Workspace, P(FileEdit), c_size_t, P(CallOptions), P(EditResults), P(Error)), _check),
    ("cove_workspace_edit_files_start", c_int32,
     (Workspace, P(FileEdit), c_size_t, P(CallOptions), EditResultsFn, *_ANSWER), _check),
    ("cove_move_options_init", None, (P(MoveOptions), c_size_t), None),
    ("cove_workspace_move", c_int32, (Workspace, c_char_p, c_char_p, P(MoveOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_move_start", c_int32,
     (Workspace, c_char_p, c_char_p, P(MoveOptions), FileInfoFn, *_ANSWER), _check),
    ("cove_tree_counts_entries", c_uint64, (TreeCounts,), None),
    ("cove_tree_counts_bytes", c_uint64, (TreeCounts,), None),
    ("cove_tree_counts_skipped", c_uint64, (TreeCounts,), None),
    ("cove_tree_counts_free", None, (TreeCounts,), None),
    ("cove_workspace_copy", c_int32,
     (Workspace, c_char_p, c_char_p, P(MoveOptions), P(TreeCounts), P(Error)), _check),
    ("cove_workspace_copy_start", c_int32,
     (Workspace, c_char_p, c_char_p, P(MoveOptions), TreeCountsFn, *_ANSWER), _check),
    ("cove_workspace_set_mode", c_int32,
     (Workspace, c_char_p, c_uint32, P(CallOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_set_mode_start", c_int32,
     (Workspace, c_char_p, c_uint32, P(CallOptions), FileInfoFn, *_ANSWER), _check),
    ("cove_workspace_make_symlink", c_int32,
     (Workspace, c_char_p, c_char_p, P(CallOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_make_symlink_start", c_int32,
     (Workspace, c_char_p, c_char_p, P(CallOptions), FileInfoFn, *_ANSWER), _check),
    ("cove_download_callbacks_init", None, (P(DownloadCallbacks), c_size_t), None),
    ("cove_upload_callbacks_init", None, (P(UploadCallbacks), c_size_t), None),
    ("cove_workspace_download", c_int32,
     (Workspace, c_char_p, P(DownloadCallbacks), P(CallOptions), P(Error)), _check),
    ("cove_workspace_download_tree", c_int32,
     (Workspace, c_char_p, P(DownloadCallbacks), P(CallOptions), P(Error)), _check),
    ("cove_workspace_upload", c_int32,
     (Workspace, c_char_p, P(UploadCallbacks), P(WriteOptions), P(FileInfo), P(Error)), _check),
    ("cove_workspace_upload_tree", c_int32,
     (Workspace, c_char_p, P(UploadCallbacks), P(CallOptions), P(TreeCounts), P(Error)), _check),
    ("cove_piece_callbacks_init", None, (P(PieceCallbacks), c_size_t), None),
    ("cove_workspace_download_start", c_int32,
     (Workspace, c_char_p, P(PieceCallbacks), P(CallOptions), P(Download), P(Error)), _check),
    ("cove_workspace_download_tree_start", c_int32,
     (Workspace, c_char_p, P(PieceCallbacks), P(CallOptions), P(Download), P(Error)), _check),
    ("cove_download_resume", None, (Download,), None),
    ("cove_download_cancel", None, (Download,), None),
    ("cove_download_free", None, (Download,), None),
    ("cove_workspace_upload_start", c_int32,
     (Workspace, c_char_p, P(WriteOptions), FileInfoFn, c_void_p, DropFn, P(Upload), P(Error)), _check),
    ("cove_workspace_upload_tree_start", c_int32,
     (Workspace, c_char_p, P(CallOptions), TreeCountsFn, c_void_p, DropFn, P(Upload), P(Error)), _check),
    ("cove_upload_write", c_int32, (Upload, c_char_p, c_size_t, P(CallOptions), P(Error)), _check),
    ("cove_upload_write_start", c_int32,
     (Upload, c_char_p, c_size_t, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_upload_finish", None, (Upload,), None),
    ("cove_upload_cancel", None, (Upload,), None),
    ("cove_upload_free", None, (Upload,), None),
    ("cove_file_event_change", c_int32, (FileEvent,), None),
    ("cove_file_event_path", c_char_p, (FileEvent,), None),
    ("cove_file_event_old_path", c_char_p, (FileEvent,), None),
    ("cove_file_event_is_directory", c_int32, (FileEvent,), None),
    ("cove_file_events_count", c_size_t, (FileEvents,), None),
    ("cove_file_events_entry", FileEvent, (FileEvents, c_size_t), None),
    ("cove_watch_options_init", None, (P(WatchOptions), c_size_t), None),
    ("cove_workspace_watch", c_int32,
     (Workspace, c_char_p, P(WatchOptions), FileEventFn, c_void_p, P(Error)), _check),
    ("cove_watch_callbacks_init", None, (P(WatchCallbacks), c_size_t), None),
    ("cove_workspace_watch_start", c_int32,
     (Workspace, c_char_p, P(WatchOptions), P(WatchCallbacks), P(Watch), P(Error)), _check),
    ("cove_watch_cancel", None, (Watch,), None),
    ("cove_watch_free", None, (Watch,), None),
    ("cove_search_summary_ended", c_int32, (SearchSummary,), None),
    ("cove_search_summary_matches", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_files_searched", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_files_matched", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_files_binary", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_files_too_large", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_problem_total", c_uint64, (SearchSummary,), None),
    ("cove_search_summary_problem_count", c_size_t, (SearchSummary,), None),
    ("cove_search_summary_problem_path", c_char_p, (SearchSummary, c_size_t), None),
    ("cove_search_summary_problem_code", c_int32, (SearchSummary, c_size_t), None),
    ("cove_search_summary_problem_message", c_char_p, (SearchSummary, c_size_t), None),
    ("cove_search_summary_free", None, (SearchSummary,), None),
    ("cove_search_resume", None, (Search,), None),
    ("cove_search_cancel", None, (Search,), None),
    ("cove_search_free", None, (Search,), None),
    ("cove_grep_line_path", c_char_p, (GrepLine,), None),
    ("cove_grep_line_number", c_uint64, (GrepLine,), None),
    ("cove_grep_line_column", c_uint64, (GrepLine,), None),
    ("cove_grep_line_text", c_void_p, (GrepLine, _SIZE), None),
    ("cove_grep_line_text_offset", c_uint64, (GrepLine,), None),
    ("cove_grep_line_span_count", c_size_t, (GrepLine,), None),
    ("cove_grep_line_span_offset", c_uint32, (GrepLine, c_size_t), None),
    ("cove_grep_line_span_length", c_uint32, (GrepLine, c_size_t), None),
    ("cove_grep_line_is_context", c_int32, (GrepLine,), None),
    ("cove_grep_line_is_cut", c_int32, (GrepLine,), None),
    ("cove_grep_line_encoding", c_int32, (GrepLine,), None),
    ("cove_grep_lines_count", c_size_t, (GrepLines,), None),
    ("cove_grep_lines_entry", GrepLine, (GrepLines, c_size_t), None),
    ("cove_grep_result_lines", GrepLines, (GrepResult,), None),
    ("cove_grep_result_summary", SearchSummary, (GrepResult,), None),
    ("cove_grep_result_free", None, (GrepResult,), None),
    ("cove_grep_options_init", None, (P(GrepOptions), c_size_t), None),
    ("cove_workspace_grep", c_int32,
     (Workspace, c_char_p, c_char_p, P(GrepOptions), P(GrepResult), P(Error)), _check),
    ("cove_grep_callbacks_init", None, (P(GrepCallbacks), c_size_t), None),
    ("cove_workspace_grep_start", c_int32,
     (Workspace, c_char_p, c_char_p, P(GrepOptions), P(GrepCallbacks), P(Search), P(Error)), _check),
    ("cove_find_entry_path", c_char_p, (FindEntry,), None),
    ("cove_find_entry_type", c_int32, (FindEntry,), None),
    ("cove_find_entry_facts", FileInfo, (FindEntry,), None),
    ("cove_find_entries_count", c_size_t, (FindEntries,), None),
    ("cove_find_entries_entry", FindEntry, (FindEntries, c_size_t), None),
    ("cove_find_result_entries", FindEntries, (FindResult,), None),
    ("cove_find_result_summary", SearchSummary, (FindResult,), None),
    ("cove_find_result_free", None, (FindResult,), None),
    ("cove_find_options_init", None, (P(FindOptions), c_size_t), None),
    ("cove_workspace_find", c_int32, (Workspace, c_char_p, P(FindOptions), P(FindResult), P(Error)), _check),
    ("cove_find_callbacks_init", None, (P(FindCallbacks), c_size_t), None),
    ("cove_workspace_find_start", c_int32,
     (Workspace, c_char_p, P(FindOptions), P(FindCallbacks), P(Search), P(Error)), _check),
    ("cove_tools_describe_json", c_int32, (c_int32, P(Buffer), P(Error)), _check),
    ("cove_tool_result_text", c_void_p, (ToolResult, _SIZE), None),
    ("cove_tool_result_data_json", c_char_p, (ToolResult,), None),
    ("cove_tool_result_is_error", c_int32, (ToolResult,), None),
    ("cove_tool_result_free", None, (ToolResult,), None),
    ("cove_link_request_count", c_size_t, (LinkRequest,), None),
    ("cove_link_request_file", FileInfo, (LinkRequest, c_size_t), None),
    ("cove_link_request_content_type", c_char_p, (LinkRequest, c_size_t), None),
    ("cove_link_request_is_over", c_int32, (LinkRequest,), None),
    ("cove_link_request_answer", c_int32, (LinkRequest, _STRINGS, c_size_t, P(Error)), _check),
    ("cove_link_request_refuse", c_int32, (LinkRequest, c_int32, c_char_p, P(Error)), _check),
    ("cove_link_request_free", None, (LinkRequest,), None),
    ("cove_tool_options_init", None, (P(ToolOptions), c_size_t), None),
    ("cove_workspace_tool_call", c_int32,
     (Workspace, c_char_p, c_char_p, P(ToolOptions), P(ToolResult), P(Error)), _check),
    ("cove_workspace_tool_call_start", c_int32,
     (Workspace, c_char_p, c_char_p, P(ToolOptions), ToolResultFn, *_ANSWER), _check),
    ("cove_stop_options_init", None, (P(StopOptions), c_size_t), None),
    ("cove_stop", c_int32, (Cove, c_char_p, P(StopOptions), P(Error)), _check),
    ("cove_stop_start", c_int32, (Cove, c_char_p, P(StopOptions), DoneFn, *_ANSWER), _check),
    ("cove_archive", c_int32, (Cove, c_char_p, P(StopOptions), P(Error)), _check),
    ("cove_archive_start", c_int32, (Cove, c_char_p, P(StopOptions), DoneFn, *_ANSWER), _check),
    ("cove_relocate_options_init", None, (P(RelocateOptions), c_size_t), None),
    ("cove_relocate", c_int32, (Cove, c_char_p, P(RelocateOptions), P(Error)), _check),
    ("cove_relocate_start", c_int32, (Cove, c_char_p, P(RelocateOptions), DoneFn, *_ANSWER), _check),
    ("cove_destroy", c_int32, (Cove, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_destroy_start", c_int32, (Cove, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_destroy_source_options_init", None, (P(DestroySourceOptions), c_size_t), None),
    ("cove_destroy_source_json", c_int32,
     (Cove, c_char_p, P(DestroySourceOptions), P(Buffer), P(Error)), _check),
    ("cove_destroy_source_json_start", c_int32,
     (Cove, c_char_p, P(DestroySourceOptions), BufferFn, *_ANSWER), _check),
    ("cove_revive_source", c_int32, (Cove, c_char_p, P(CallOptions), P(Error)), _check),
    ("cove_revive_source_start", c_int32, (Cove, c_char_p, P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_idle_policy_init", None, (P(IdlePolicy), c_size_t), None),
    ("cove_set_idle_policy", c_int32, (Cove, c_char_p, P(IdlePolicy), P(CallOptions), P(Error)), _check),
    ("cove_set_idle_policy_start", c_int32,
     (Cove, c_char_p, P(IdlePolicy), P(CallOptions), DoneFn, *_ANSWER), _check),
    ("cove_idle_policy_json", c_int32, (Cove, c_char_p, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_idle_policy_json_start", c_int32, (Cove, c_char_p, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_recover_json", c_int32, (Cove, c_char_p, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_recover_json_start", c_int32,
     (Cove, c_char_p, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_metrics_text", c_int32, (Cove, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_metrics_text_start", c_int32, (Cove, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_sweep_options_init", None, (P(SweepOptions), c_size_t), None),
    ("cove_sweep_json", c_int32, (Cove, P(SweepOptions), P(Buffer), P(Error)), _check),
    ("cove_sweep_json_start", c_int32, (Cove, P(SweepOptions), BufferFn, *_ANSWER), _check),
    ("cove_status_json", c_int32, (Cove, c_char_p, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_status_json_start", c_int32, (Cove, c_char_p, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_list_options_init", None, (P(ListOptions), c_size_t), None),
    ("cove_list_json", c_int32, (Cove, P(ListOptions), P(Buffer), P(Error)), _check),
    ("cove_list_json_start", c_int32, (Cove, P(ListOptions), BufferFn, *_ANSWER), _check),
    ("cove_orphans_json", c_int32, (Cove, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_orphans_json_start", c_int32, (Cove, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_doctor_json_start", c_int32, (Cove, P(CallOptions), BufferFn, *_ANSWER), _check),
    ("cove_doctor_json", c_int32, (Cove, P(CallOptions), P(Buffer), P(Error)), _check),
    ("cove_done_is_over", c_int32, (Done,), None),
    ("cove_done_remaining_ms", c_int64, (Done,), None),
    ("cove_done_ok", c_int32, (Done, P(Error)), _check),
    ("cove_done_fail", c_int32, (Done, c_int32, c_char_p, c_int64, P(Error)), _check),
    ("cove_done_free", None, (Done,), None),
    ("cove_clock_init", None, (P(Clock), c_size_t), None),
    ("cove_clock_moved", None, (Cove,), None),
    ("cove_document_init", None, (P(Document), c_size_t), None),
    ("cove_metadata_store_init", None, (P(MetadataStore), c_size_t), None),
    ("cove_done_version", c_int32, (Done, c_uint64, P(Error)), _check),
    ("cove_done_document", c_int32, (Done, P(Document), P(Error)), _check),
    ("cove_done_documents", c_int32, (Done, P(Document), c_size_t, c_int32, P(Error)), _check),
    ("cove_done_time", c_int32, (Done, c_int64, P(Error)), _check),
    ("cove_content_read", c_int32, (Content, c_void_p, c_size_t, _SIZE, P(Error)), _check),
    ("cove_content_read_start", c_int32, (Content, BufferFn, *_ANSWER), _check),
    ("cove_content_free", None, (Content,), None),
    ("cove_object_init", None, (P(Object), c_size_t), None),
    ("cove_byte_source_init", None, (P(ByteSource), c_size_t), None),
    ("cove_object_store_init", None, (P(ObjectStore), c_size_t), None),
    ("cove_done_size", c_int32, (Done, c_uint64, P(Error)), _check),
    ("cove_done_source", c_int32, (Done, P(ByteSource), P(Error)), _check),
    ("cove_done_bytes", c_int32, (Done, c_char_p, c_size_t, P(Error)), _check),
    ("cove_done_objects", c_int32, (Done, P(Object), c_size_t, c_int32, P(Error)), _check),
    ("cove_instance_ref_init", None, (P(InstanceRef), c_size_t), None),
    ("cove_offline_volume_init", None, (P(OfflineVolume), c_size_t), None),
    ("cove_inventory_init", None, (P(Inventory), c_size_t), None),
    ("cove_provider_init", None, (P(Provider), c_size_t), None),
    ("cove_done_volume", c_int32, (Done, P(OfflineVolume), P(Error)), _check),
    ("cove_done_instance", c_int32, (Done, c_int32, c_int32, P(Error)), _check),
    ("cove_done_socket", c_int32, (Done, c_int32, P(Error)), _check),
    ("cove_done_inventory", c_int32, (Done, P(Inventory), P(Error)), _check),
    ("cove_agent_write", c_int32, (c_char_p, P(Error)), _check),
    ("cove_agent_write_start", c_int32, (c_char_p, DoneFn, *_ANSWER), _check),
)


def _bind(library: Any) -> Dict[str, Callable[..., Any]]:
    bound: Dict[str, Callable[..., Any]] = {}
    # What only reads an object keeps the GIL: a result is read by many such calls, and to give the
    # GIL away at each would make them wait for every other thread in turn.
    readers = ctypes.PyDLL(library._name, handle=library._handle)
    for name, result, arguments, check in _FUNCTIONS:
        is_reader = check is None and result is not None
        try:
            function = getattr(readers if is_reader else library, name)
        except AttributeError:
            raise ImportError(
                f"cove: the loaded libcove.so has no {name}: it is of another version than this package"
            ) from None
        function.restype = result
        function.argtypes = arguments
        bound[name] = function if check is None else _checked(check, function)
    return bound


def _checked(check: Callable[..., None], function: Any) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        check(function, *arguments)

    return call


#: What a function that blocks gives, through its last argument but one: the type of that handle.
_GIVEN: Dict[str, Any] = {
    name: getattr(arguments[-2], "_type_", None)
    for name, _, arguments, check in _FUNCTIONS
    if check is _check and len(arguments) > 1
}

#: Every function of the table by its name in C.
lib: Dict[str, Callable[..., Any]]


def _refuse_subinterpreters() -> None:
    """Callbacks of ctypes run in the main interpreter, so that calls of another one would not end."""
    try:
        state = PYFUNCTYPE(c_void_p)
        this = state(("PyInterpreterState_Get", ctypes.pythonapi))()
        main = state(("PyInterpreterState_Main", ctypes.pythonapi))()
    except AttributeError:
        return  # an implementation of Python that has none
    if this != main:
        raise ImportError(
            "cove: it cannot be used in a sub-interpreter: import it in the main one, or in a process of its own"
        )


def _load() -> Dict[str, Callable[..., Any]]:
    _refuse_subinterpreters()
    library = _loader.load(ctypes.CDLL)
    try:
        library.cove_version.restype = c_char_p
        version: bytes = library.cove_version()
    except AttributeError:
        raise ImportError(f"cove: {library._name} is no libcove.so: it has no cove_version") from None
    _loader.check_version(version.decode(), library._name)
    return _bind(library)


lib = _load()


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def exception_of(error: Error) -> CoveError:
    """The exception for an error that is borrowed."""
    cause = lib["cove_error_cause"](error)
    context: List[Tuple[str, str]] = [
        (_text(lib["cove_error_context_key"](error, i)), _text(lib["cove_error_context_value"](error, i)))
        for i in range(lib["cove_error_context_count"](error))
    ]
    return make_error(
        lib["cove_error_code"](error),
        _text(lib["cove_error_message"](error)),
        _text(lib["cove_error_describe"](error)),
        lib["cove_error_retry_after_ms"](error),
        context,
        exception_of(cause) if cause else None,
    )


def take_error(error: Error) -> Optional[CoveError]:
    """The exception for an error that is ours to free; None for NULL."""
    if not error:
        return None
    try:
        return exception_of(error)
    finally:
        lib["cove_error_free"](error)


def let_go(free: Optional[str], value: Any, error: Error) -> None:
    """Frees what came for nobody."""
    if free is not None:
        lib[free](value)
    lib["cove_error_free"](error)


def take_buffer(buffer: Buffer) -> bytes:
    """The bytes of a buffer that is ours to free."""
    try:
        return ctypes.string_at(lib["cove_buffer_data"](buffer), lib["cove_buffer_size"](buffer))
    finally:
        lib["cove_buffer_free"](buffer)


def sized_bytes(getter: str, *arguments: Any) -> bytes:
    """What a getter gives that says the size through its last argument."""
    size = c_size_t()
    return ctypes.string_at(lib[getter](*arguments, byref(size)), size.value)


def bytes_at(address: Optional[int], size: int) -> bytes:
    """A copy of borrowed memory."""
    return ctypes.string_at(address, size) if address and size else b""


def strings(values: List[bytes]) -> Any:
    """A `const char *const *` that lives as long as what is returned."""
    return (c_char_p * len(values))(*values)


def out(handle: Type[Any]) -> Tuple[Any, Any]:
    """An empty handle and the argument that fills it."""
    value = handle()
    return value, byref(value)


def given_by(blocking: str) -> Type[Any]:
    """The handle that a call which blocks gives, by its last argument but one."""
    handle: Type[Any] = _GIVEN[blocking]
    return handle


def pointer_to(options: ctypes.Structure) -> Any:
    return byref(options)


def as_string_pointer(array: Any) -> Any:
    return ctypes.cast(array, _STRINGS)


def array_of(struct: Type[Any], values: List[Any]) -> Any:
    """An array of structs, for as long as what they point to lives."""
    return (struct * len(values))(*values)


def as_pointer(struct: Type[Any], array: Any) -> Any:
    """The array as a field of a struct."""
    return ctypes.cast(array, POINTER(struct))


def field_bytes(struct: ctypes.Structure, field: str, size: int) -> bytes:
    """What a `const void *` field leads to: read as text it would end at the first NUL."""
    place = ctypes.addressof(struct) + getattr(type(struct), field).offset
    return bytes_at(c_void_p.from_address(place).value, size)


def room_for(size: int) -> Any:
    """Memory that C fills."""
    return ctypes.create_string_buffer(size)


def size_out() -> Tuple[Any, Any]:
    """A size and the argument that fills it."""
    size = c_size_t()
    return size, byref(size)


def kept_pointer(struct: ctypes.Structure) -> Any:
    """A struct as a field of another, for as long as that lives."""
    return ctypes.pointer(struct)


def copy_to(address: int, data: bytes) -> None:
    """Fills memory of C, which has room for it."""
    ctypes.memmove(address, data, len(data))
