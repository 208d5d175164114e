"""Workspace: commands, processes, files, searches and tools of one user, seen from one chat."""

from __future__ import annotations

import inspect
from types import TracebackType
from typing import Any, AsyncIterator, List, Mapping, Optional, Sequence, Type, Union

from .. import _ffi, _options, _workspace
from .._calls import Cancel
from .._download import OnProgress
from .._errors import FailedPreconditionError
from .._exec import ExecResult
from .._files import FileInfo, TreeCounts
from .._found import FindEntry, GrepLine
from .._tools import ToolCall, ToolResult
from ._loop import run
from ._shapes import Plan, asked, at_once, begun, like
from ._streams import Download, ExecStream, Search, Watch
from ._tools import LinkMaker, serve
from ._upload import Sent, send

_Blocking = _workspace.Workspace


class PlannedWorkspace(Plan, _Blocking):
    """Says which calls are to be made; begins streams."""

    def _send(self, sending: Any) -> Any:
        return sending


class Workspace:
    """A workspace that runs and is held by this process; made by `Cove.acquire`.

    `async with` releases it at the end. Time limits are seconds, None = none. Any event loop, also of
    several threads.
    """

    def __init__(self, plan: PlannedWorkspace) -> None:
        self._plan = plan
        #: The session's directory as commands see it: "/workspace/sessions/c1".
        self.directory: str = plan.directory
        self.sandbox_id: str = plan.sandbox_id
        #: What the acquire had to do: "none", "provisioned", "resumed" or "restored".
        self.work: str = plan.work

    # Commands and processes.

    @like(_Blocking.exec)
    async def exec(self, argv: Any, *, on_output: Any = None, **named: Any) -> ExecResult:
        async with ExecStream(self._plan._run(argv, on_output is not None, **named)) as running:
            if on_output is None:
                return await running.wait()
            async for stream, data in running:
                told = on_output(stream, data)
                if inspect.isawaitable(told):
                    await told
            return running.result

    stream = begun(_Blocking.stream, ExecStream)
    start_process = asked(_Blocking.start_process)
    list_processes = asked(_Blocking.list_processes)
    find_process = asked(_Blocking.find_process)
    process_output = asked(_Blocking.process_output)
    write_process_stdin = asked(_Blocking.write_process_stdin)
    close_process_stdin = asked(_Blocking.close_process_stdin)
    signal_process = asked(_Blocking.signal_process)
    resize_process = asked(_Blocking.resize_process)
    end_process = asked(_Blocking.end_process)
    wait_process = asked(_Blocking.wait_process)
    remove_process = asked(_Blocking.remove_process)
    attach_process = begun(_Blocking.attach_process, ExecStream)

    # Files.

    read_file = asked(_Blocking.read_file)
    read = asked(_Blocking.read)
    read_lines = asked(_Blocking.read_lines)
    write_file = asked(_Blocking.write_file)
    edit_file = asked(_Blocking.edit_file)
    edit_files = asked(_Blocking.edit_files)
    stat = asked(_Blocking.stat)
    make_directory = asked(_Blocking.make_directory)
    remove = asked(_Blocking.remove)
    move = asked(_Blocking.move)
    copy = asked(_Blocking.copy)
    set_mode = asked(_Blocking.set_mode)
    make_symlink = asked(_Blocking.make_symlink)

    @like(_Blocking.list)
    async def list(self, path: Any = ".", *, depth: Optional[int] = 1, **named: Any) -> List[FileInfo]:
        return [entry async for entry in self.iter_list(path, depth=depth, **named)]

    async def iter_list(
        self,
        path: _options.Path = ".",
        *,
        depth: Optional[int] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> AsyncIterator[FileInfo]:
        """The same, of which only a page is held at a time; the whole tree unless `depth` says less."""
        after = b""
        while True:
            asking: Any = self._plan._list_page(path, depth, after, _PAGE, timeout=timeout, cancel=cancel)
            page, after = await run(asking)
            for entry in page:
                yield entry
            if not after:
                return

    # Transfers and watches.

    download = begun(_Blocking.download, Download)
    download_tree = begun(_Blocking.download_tree, Download)

    async def upload(
        self,
        path: _options.Path,
        source: Sent,
        *,
        mode: Optional[int] = None,
        create_parents: bool = True,
        durable: bool = False,
        if_unchanged_since: Optional[str] = None,
        if_absent: bool = False,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> FileInfo:
        """Creates or replaces a file of any size from bytes, a binary file object or an iterable of bytes.

        An asynchronous source is used on the event loop, any other on threads of the loop's executor. An
        exception in it, and cancelling the task, leave the old file.
        """
        sending: Any = self._plan.upload(
            path,
            source,  # type: ignore[arg-type]
            mode=mode,
            create_parents=create_parents,
            durable=durable,
            if_unchanged_since=if_unchanged_since,
            if_absent=if_absent,
            on_progress=on_progress,
            timeout=timeout,
            cancel=cancel,
        )
        info: FileInfo = await send(sending)
        return info

    async def upload_tree(
        self,
        path: _options.Path,
        source: Sent,
        *,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> TreeCounts:
        """Places a tar stream below a directory, which is made where it is missing; as `upload`."""
        sending: Any = self._plan.upload_tree(
            path,
            source,  # type: ignore[arg-type]
            on_progress=on_progress,
            timeout=timeout,
            cancel=cancel,
        )
        counts: TreeCounts = await send(sending)
        return counts

    watch = begun(_Blocking.watch, Watch)

    # Searches and tools.

    grep = begun(_Blocking.grep, Search[GrepLine])
    find = begun(_Blocking.find, Search[FindEntry])

    async def call_tool(
        self,
        name: str,
        arguments: Union[str, Mapping[str, Any]],
        *,
        link_maker: Optional[LinkMaker] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> ToolResult:
        """Calls a tool with what the model gave: JSON as it stands, or a dict.

        What the model can do something about is a result with `is_error`, also an unknown name or
        wrong arguments. `link_maker(files)` gives sandbox_get_file_url a link for each file; it may be
        a coroutine function. A CoveError that it raises is the tool's answer; any other exception is
        raised here. After `timeout` a command or a search gives what it had.
        """
        call = ToolCall(self._plan._use(), name, arguments, link_maker is not None, timeout, cancel)
        return await serve(call, link_maker)

    # The workspace itself.

    prepare_report = at_once(_Blocking.prepare_report)
    skills = asked(_Blocking.skills)

    @like(_Blocking.release)
    async def release(self, *, timeout: Optional[float] = None) -> None:
        await run(self._plan._leave(timeout))
        self._plan._owned = None

    @like(_Blocking.close)
    async def close(self) -> None:
        if self._plan.closed:
            return
        _ffi.check_may_wait()
        try:
            await self.release()
        except FailedPreconditionError:
            self._plan._owned = None  # the Cove let go of it before, or it is the parent process's

    @property
    def closed(self) -> bool:
        """Whether it was let go of."""
        return self._plan.closed

    async def __aenter__(self) -> Workspace:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is not GeneratorExit:  # the loop is gone, and nothing can be awaited
            await self.close()

    def __repr__(self) -> str:
        return f"<cove.aio.Workspace {self.sandbox_id} {'closed' if self.closed else self.directory}>"


#: Entries of a directory that come at once; reading them keeps the interpreter busy for so long.
_PAGE = 1000
