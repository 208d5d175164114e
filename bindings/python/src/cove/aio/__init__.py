"""Cove for asyncio: the same names as in `cove`, and nothing blocks the event loop.

    from cove import aio

    async def main() -> None:
        async with aio.Cove("/var/lib/app/cove") as c:
            async with c.acquire(("app", "shop", "ana"), chat_id="c1") as workspace:
                await workspace.write_file("hello.py", b"print(6 * 7)")
                print((await workspace.exec(["python3", "hello.py"])).out.text)   # 42

Everything that can last is a coroutine or an asynchronous iterator, driven by Cove's callbacks: there is
no thread per call. Cancelling a task calls its call off, and the task ends when that has no effects any
more. What a call takes and gives, and its errors, are those of `cove`.
"""

from ._cove import Cove, write_agent
from ._opening import Opening
from ._prepare import StepRun
from ._streams import Download, ExecStream, Search, Watch
from ._tools import LinkMaker
from ._upload import Sent
from ._workspace import Workspace

__all__ = [
    "Cove",
    "Download",
    "ExecStream",
    "LinkMaker",
    "Opening",
    "Search",
    "Sent",
    "StepRun",
    "Watch",
    "Workspace",
    "write_agent",
]
