"""Files and directories of any size, piece by piece."""

from __future__ import annotations

from typing import Any, Optional

from . import _calls, _ffi, _files, _options
from ._calls import Calling, Cancel, raw_cancel
from ._download import Download, OnProgress
from ._file_calls import write_options
from ._files import FileInfo, TreeCounts
from ._upload import Sending, Sent, send


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
        return self._download("cove_workspace_download_start", path, on_progress, timeout, cancel)

    def download_tree(
        self,
        path: _options.Path,
        *,
        on_progress: Optional[OnProgress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Download:
        """Gives a directory as a tar stream; see Download."""
        return self._download("cove_workspace_download_tree_start", path, on_progress, timeout, cancel)

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
        options.cancel = raw_cancel(cancel)
        info: FileInfo = self._send(
            Sending(
                self._use(),
                "cove_workspace_upload_start",
                _calls.GIVES_FILE_INFO,
                _files.take_info,
                _options.path("path", path),
                options,
                source,
                on_progress,
                cancel,
            )
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
        options = _ffi.CallOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(cancel)
        )
        counts: TreeCounts = self._send(
            Sending(
                self._use(),
                "cove_workspace_upload_tree_start",
                _calls.GIVES_TREE_COUNTS,
                _files.take_counts,
                _options.path("path", path),
                options,
                source,
                on_progress,
                cancel,
            )
        )
        return counts

    def _download(
        self,
        start: str,
        path: _options.Path,
        on_progress: Optional[OnProgress],
        timeout: Optional[float],
        cancel: Optional[Cancel],
    ) -> Download:
        options = _ffi.CallOptions(
            timeout_ms=_options.milliseconds("timeout", timeout), cancel=raw_cancel(cancel)
        )
        return Download(start, self._use(), _options.path("path", path), on_progress, options)

    def _send(self, sending: Sending) -> Any:
        return send(sending)
