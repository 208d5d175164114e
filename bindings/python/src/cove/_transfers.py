"""Files and directories of any size, piece by piece."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Type

from . import _ffi, _files, _options
from ._calls import Calling, Cancel, linked_cancel, raw_cancel
from ._download import Download, OnProgress
from ._ffi import lib
from ._file_calls import write_options
from ._files import FileInfo, TreeCounts
from ._upload import Sent, Source, Upload


class Sending(NamedTuple):
    """An upload that is to be made."""

    #: call(callbacks) makes it, on a thread of its own, and gives its result.
    call: Callable[[Any], Any]
    source: Any
    on_progress: Optional[OnProgress]
    token: Cancel
    timeout_ms: int


class Transfers(Calling):
    """The transfers of a Workspace."""

    def download(
        self,
        path: _options.Path,
        *,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Download:
        """Gives a file of any size piece by piece; see Download.

        `on_progress(done, total)` is called on the reading thread.
        """
        return self._download("cove_workspace_download", path, on_progress, timeout, cancel)

    def download_tree(
        self,
        path: _options.Path,
        *,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Download:
        """Gives a directory as a tar stream; see Download."""
        return self._download("cove_workspace_download_tree", path, on_progress, timeout, cancel)

    def upload(
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
        """Creates or replaces a file of any size from a binary file object or an iterable of bytes.

        `source` and `on_progress(done, None)` are used on the calling thread; an exception in them, or
        Ctrl-C, leaves the old file and is raised.
        """
        options = write_options(
            mode=mode,
            create_parents=create_parents,
            durable=durable,
            if_unchanged_since=if_unchanged_since,
            if_absent=if_absent,
            timeout=timeout,
        )
        info: FileInfo = self._upload(
            "cove_workspace_upload", path, source, options, _ffi.FileInfo, _files.take_info, on_progress, cancel
        )
        return info

    def upload_tree(
        self,
        path: _options.Path,
        source: Sent,
        *,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> TreeCounts:
        """Places a tar stream below a directory, which is made where it is missing; as `upload`."""
        options = _ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout))
        counts: TreeCounts = self._upload(
            "cove_workspace_upload_tree",
            path,
            source,
            options,
            _ffi.TreeCounts,
            _files.take_counts,
            on_progress,
            cancel,
        )
        return counts

    def _download(
        self,
        name: str,
        path: _options.Path,
        on_progress: Optional[OnProgress],
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> Download:
        owned = self._use()
        token = linked_cancel(cancel)
        if owned.opened is not None:
            owned.opened.add(token)
        return Download(name, owned, _options.path("path", path), on_progress, timeout, token)

    def _upload(
        self,
        name: str,
        path: _options.Path,
        source: Any,
        options: Any,
        handle: Type[Any],
        take: Callable[[Any], Any],
        on_progress: Optional[OnProgress],
        cancel: Optional[Cancel],
    ) -> Any:
        owned = self._use()
        place = _options.path("path", path)
        token = linked_cancel(cancel)
        if owned.opened is not None:
            owned.opened.add(token)
        options.cancel = raw_cancel(token)

        def call(callbacks: Any) -> Any:
            raw, argument = _ffi.out(handle)
            lib[name](owned.raw, place, _ffi.pointer_to(callbacks), _ffi.pointer_to(options), argument)
            return take(raw)

        return self._send(Sending(call, source, on_progress, token, options.timeout_ms))

    def _send(self, sending: Sending) -> Any:
        pieces = Source(sending.source)
        upload = Upload(sending.timeout_ms)
        sending.token._link(upload)
        upload.start(sending.call)
        return upload.serve(pieces, sending.on_progress, sending.token)
