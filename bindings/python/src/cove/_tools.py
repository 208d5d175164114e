"""Tools: what a language model calls to work in a workspace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _ffi, _options
from ._calls import Calling, Cancel, Owned, drop, ending, linked_cancel, raw_cancel, registry
from ._errors import CoveError, InternalError
from ._ffi import lib
from ._files import FileInfo, info_of
from ._pipe import Pipe

_FORMATS = {"openai": _ffi.TOOLS_OPENAI, "mcp": _ffi.TOOLS_MCP, "plain": _ffi.TOOLS_PLAIN}


def describe_tools(format: str = "openai") -> List[Dict[str, Any]]:
    """The tools for a model: "openai" (function calling), "mcp" (`tools/list`) or "plain".

    Arguments are checked against the very schemas in it. Needs no open Cove.
    """
    if format not in _FORMATS:
        raise ValueError(f'format must be "openai", "mcp" or "plain", not {format!r}')
    raw, argument = _ffi.out(_ffi.Buffer)
    lib["cove_tools_describe_json"](_FORMATS[format], argument)
    tools: List[Dict[str, Any]] = json.loads(_ffi.take_buffer(raw))
    return tools


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered."""

    #: For the model; at most 2,000 lines or 50 KiB of content, notices in square brackets too.
    text: str
    #: For the host, of the tool's own form (docs/tools.md): "error" where there is one, "notes" where
    #: arguments were not taken as they stood.
    data: Dict[str, Any]
    #: The tool could not do what was asked; the text tells the model.
    is_error: bool


@dataclass(frozen=True)
class FileToLink:
    """A file that a link is wanted for; `info.path` is below /workspace."""

    info: FileInfo
    #: Told from its first bytes: "image/png", "text/plain; charset=utf-8", ...
    content_type: str


#: Gives a link for each file, in their order.
LinkMaker = Callable[[List[FileToLink]], Sequence[str]]


def _take_result(raw: Any) -> ToolResult:
    try:
        return ToolResult(
            text=_ffi.sized_bytes("cove_tool_result_text", raw).decode("utf-8", "replace"),
            data=json.loads(lib["cove_tool_result_data_json"](raw)),
            is_error=lib["cove_tool_result_is_error"](raw) == 1,
        )
    finally:
        lib["cove_tool_result_free"](raw)


class LinkRequest:
    """Files that a tool wants links to. One that is forgotten is refused."""

    def __init__(self, owned: Owned) -> None:
        self._owned = owned

    def files(self) -> List[FileToLink]:
        raw = self._owned.raw
        return [
            FileToLink(
                info=info_of(lib["cove_link_request_file"](raw, i)),
                content_type=lib["cove_link_request_content_type"](raw, i).decode(),
            )
            for i in range(lib["cove_link_request_count"](raw))
        ]

    def answer(self, links: object, files: List[FileToLink]) -> None:
        if isinstance(links, (str, bytes)) or not isinstance(links, Sequence):
            raise TypeError(f"link_maker must return a list of str, not {type(links).__name__}")
        if len(links) != len(files):
            raise ValueError(f"link_maker returned {len(links)} links for {len(files)} files")
        urls = [_options.text(f"link {i}", link) for i, link in enumerate(links)]
        lib["cove_link_request_answer"](self._owned.raw, _ffi.strings(urls), len(urls))

    def refuse(self, error: Exception) -> Optional[Exception]:
        """Says why there are no links; gives back what the caller is to raise."""
        if isinstance(error, CoveError):
            self._refuse(error.code or InternalError.code, error.message)
            return None
        self._refuse(InternalError.code, "the application's link maker failed")
        return error

    def _refuse(self, code: int, message: str) -> None:
        text = message.replace("\0", " ").encode("utf-8", "replace")
        lib["cove_link_request_refuse"](self._owned.raw, code, text)


def _on_links(number: Optional[int], request: _ffi.LinkRequest) -> None:
    wanted = LinkRequest(Owned(request, "cove_link_request_free"))
    pipe: Optional[Pipe[LinkRequest]] = registry.get(number)
    if pipe is not None:
        pipe.push([(wanted, 0)])


_on_result_fn = _ffi.callback(_ffi.ToolResultFn, ending("cove_tool_result_free"))
_on_links_fn = _ffi.callback(_ffi.LinkFn, _on_links)


class ToolCall:
    """A call that was begun: the links that it wants meanwhile, then its result."""

    def __init__(
        self,
        owned: Owned,
        name: str,
        arguments: object,
        wants_links: bool,
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> None:
        self._owned = owned  # the workspace stays while its tool works
        self.token = linked_cancel(cancel)
        self.pipe: Pipe[LinkRequest] = Pipe(_take_result)
        text, given = _options.text("name", name), _arguments(arguments)
        options = _ffi.ToolOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(self.token)
        )
        links = 0
        if wants_links:
            links = registry.add(self.pipe)
            options.make_links = _on_links_fn
            options.link_user_data = links
            options.link_drop = drop
        reply = self.pipe.reply
        try:
            reply.start(
                "cove_workspace_tool_call_start",
                owned.raw,
                text,
                given,
                _ffi.pointer_to(options),
                _on_result_fn,
                known=self.pipe,
            )
        except BaseException:
            if reply.began:  # and KeyboardInterrupt broke in
                self.token.trigger()
                reply.wait()
            else:
                registry.remove(links)
            raise

    def serve(self, link_maker: Optional[LinkMaker]) -> ToolResult:
        """Makes links on the calling thread until the call ends."""
        failed: Optional[Exception] = None
        while True:
            request: Optional[LinkRequest] = self.pipe.pop().item
            if request is None:
                break
            if link_maker is not None:
                failed = _answer(request, link_maker) or failed
        if failed is not None:
            raise failed
        result: ToolResult = self.pipe.reply.outcome()
        return result


def _answer(request: LinkRequest, link_maker: LinkMaker) -> Optional[Exception]:
    try:
        files = request.files()
        request.answer(link_maker(files), files)
    except Exception as error:
        return request.refuse(error)
    return None


def _arguments(value: object) -> bytes:
    if isinstance(value, Mapping):
        return _options.text("arguments", json.dumps(dict(value)))
    if not isinstance(value, str):
        raise TypeError(f"arguments must be JSON as str, or a dict, not {type(value).__name__}")
    # As the model gave it, with halves of surrogate pairs too.
    return _options.text("arguments", value.encode("utf-8", "replace").decode())


class Tools(Calling):
    """The tools of a Workspace."""

    def call_tool(
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
        wrong arguments. `link_maker(files)` gives sandbox_get_file_url a link for each file; it runs
        on the calling thread and may take its time. A CoveError that it raises is the tool's answer;
        any other exception is raised here. After `timeout` a command or a search gives what it had.
        """
        _ffi.check_may_wait()
        call = ToolCall(self._use(), name, arguments, link_maker is not None, timeout, cancel)
        try:
            return call.serve(link_maker)
        except BaseException:
            call.token.trigger()
            call.pipe.reply.wait()
            raise
