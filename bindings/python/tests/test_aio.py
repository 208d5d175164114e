"""The asyncio API on the real thing: calls, their ends, and what cancelling a task does."""

import asyncio
import inspect
import threading
import time
import unittest
from typing import Any, Awaitable, Dict, List, Set

import cove
from cove import aio
from cove._calls import registry
from tests.support import KEY, Home, WithAsyncCove, eventually, given


def public(kind: type) -> Set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


class Names(unittest.TestCase):
    """Whoever knows one API knows the other."""

    def test_every_class_has_the_same_methods(self) -> None:
        pairs = [(cove.Cove, aio.Cove), (cove.Workspace, aio.Workspace), (cove.ExecStream, aio.ExecStream),
                 (cove.Search, aio.Search), (cove.Watch, aio.Watch), (cove.Download, aio.Download)]
        for blocking, other in pairs:
            self.assertEqual(public(blocking), public(other), blocking)
        run_members = public(cove.StepRun)
        self.assertEqual(run_members, public(aio.StepRun))

    def test_every_method_takes_the_same(self) -> None:
        for blocking, other in ((cove.Cove, aio.Cove), (cove.Workspace, aio.Workspace)):
            for name in public(blocking):
                if not callable(getattr(blocking, name)):
                    continue
                wanted, got = (list(inspect.signature(getattr(c, name)).parameters) for c in (blocking, other))
                self.assertEqual(wanted, got, name)

    def test_what_waits_is_a_coroutine_function_and_says_what_it_does(self) -> None:
        for name in ("exec", "read_file", "list", "upload", "call_tool", "release", "close"):
            method = getattr(aio.Workspace, name)
            self.assertTrue(inspect.iscoroutinefunction(method), name)
            self.assertTrue(method.__doc__, name)


class Calls(WithAsyncCove):
    async def test_files_commands_and_processes(self) -> None:
        info = await self.workspace.write_file("a/b.txt", b"one\ntwo\n", mode=0o600)
        self.assertEqual((info.size, info.mode), (8, 0o600))
        self.assertEqual(await self.workspace.read_file("a/b.txt"), b"one\ntwo\n")
        self.assertEqual((await self.workspace.read_lines("a/b.txt", first=2)).text, "two\n")
        await self.workspace.edit_file("a/b.txt", [("two", "three")])
        self.assertEqual([entry.path for entry in await self.workspace.list("a")], ["b.txt"])
        await self.workspace.move("a/b.txt", "a/c.txt")
        await self.workspace.remove("a", recursive=True)
        with self.assertRaises(cove.NotFoundError):
            await self.workspace.stat("a")
        result = await self.workspace.exec(["sh", "-c", "cat; exit 3"], stdin=b"in")
        self.assertEqual((result.out.text, result.code), ("in", 3))
        process = await self.workspace.start_process(["sh", "-c", "read a; echo got $a"])
        await self.workspace.write_process_stdin(process.id, b"it\n")
        self.assertEqual((await self.workspace.process_output(process.id, wait=30)).data, b"got it\n")
        self.assertEqual(given((await self.workspace.wait_process(process.id)).end).code, 0)
        await self.workspace.remove_process(process.id)
        self.assertEqual(await self.workspace.list_processes(), [])

    async def test_a_list_of_more_than_a_page_comes_a_page_at_a_time(self) -> None:
        await self.workspace.exec(["sh", "-c", "mkdir many && cd many && seq 2500 | xargs touch"])
        names = [entry.path async for entry in self.workspace.iter_list("many")]
        self.assertEqual(names, sorted(str(n) for n in range(1, 2501)))

    async def test_two_hundred_commands_at_once_need_no_threads(self) -> None:
        await self.workspace.exec(["true"])
        before = threading.active_count()
        most = 0

        async def run(number: int) -> str:
            nonlocal most
            result = await self.workspace.exec(["echo", str(number)])
            most = max(most, threading.active_count())
            return result.out.text

        texts = await asyncio.gather(*(run(n) for n in range(200)))
        self.assertEqual(list(texts), [f"{n}\n" for n in range(200)])
        self.assertLessEqual(most, before)

    async def test_the_loop_goes_on_while_calls_wait(self) -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await asyncio.gather(*(self.workspace.exec(["sleep", "1"]) for _ in range(5)))
        ticking.cancel()
        self.assertGreater(ticks, 20)

    async def test_output_comes_to_functions_and_to_coroutine_functions(self) -> None:
        plain: List[bytes] = []
        slow: List[bytes] = []

        async def hear(stream: str, data: bytes) -> None:
            await asyncio.sleep(0)
            slow.append(data)

        await self.workspace.exec(["seq", "1000"], on_output=lambda stream, data: plain.append(data))
        await self.workspace.exec(["seq", "1000"], on_output=hear)
        self.assertEqual(b"".join(plain), b"".join(slow))
        with self.assertRaises(ZeroDivisionError):
            await self.workspace.exec(["sh", "-c", "echo up; exec sleep 100"], on_output=lambda *_: 1 / 0)

    async def test_errors_are_those_of_the_blocking_api(self) -> None:
        with self.assertRaises(cove.PathEscapeError):
            await self.workspace.read_file("/etc/passwd")
        with self.assertRaisesRegex(TypeError, "use .encode"):
            await self.workspace.write_file("x", "text")  # type: ignore[arg-type]
        with self.assertRaises(cove.DeadlineError):
            process = await self.workspace.start_process(["sleep", "100"])
            try:
                await self.workspace.wait_process(process.id, timeout=0.05)
            finally:
                await self.workspace.end_process(process.id)
                await self.workspace.remove_process(process.id)

    async def test_several_loops_share_a_workspace(self) -> None:
        texts: Dict[int, str] = {}

        async def run(number: int) -> None:
            texts[number] = (await self.workspace.exec(["echo", str(number)])).out.text

        threads = [threading.Thread(target=lambda n=n: asyncio.run(run(n))) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.get_running_loop().run_in_executor(None, thread.join)
        self.assertEqual(texts, {n: f"{n}\n" for n in range(5)})

    async def test_nothing_is_kept_for_calls_that_ended(self) -> None:
        before = len(registry._objects)
        for _ in range(5):
            await self.workspace.exec(["true"])
            await self.workspace.write_file("kept", b"")
            [chunk async for chunk in self.workspace.stream(["true"])]
        # Cove's thread drops each in turn; only that of the last call may still be on its way.
        self.assertLessEqual(len(registry._objects), before + 1)

    async def test_tools_get_their_links_from_coroutines(self) -> None:
        await self.workspace.write_file("page.html", b"<!DOCTYPE html>")
        ask = {"paths": ["page.html"]}

        async def make(files: List[cove.FileToLink]) -> List[str]:
            inside = await self.workspace.exec(["echo", "-n", "inside"])
            return [f"https://x/{inside.out.text}/{file.info.path}" for file in files]

        answer = await self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=make)
        self.assertEqual(answer.data["files"][0]["url"], "https://x/inside/sessions/c1/page.html")
        answer = await self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=lambda files: ["https://y"])
        self.assertEqual(answer.data["files"][0]["url"], "https://y")

        async def refuse(files: List[cove.FileToLink]) -> List[str]:
            raise cove.PermissionDeniedError("private")

        answer = await self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=refuse)
        self.assertEqual((answer.is_error, answer.data["error"]["code"]), (True, "permission_denied"))
        with self.assertRaises(ZeroDivisionError):
            await self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=lambda files: [str(1 // 0)])
        self.assertTrue((await self.workspace.call_tool("sandbox_get_file_url", ask)).is_error)

    async def test_a_link_maker_that_takes_too_long_is_cancelled_with_its_call(self) -> None:
        await self.workspace.write_file("page.html", b"<!DOCTYPE html>")
        begun: List[str] = []
        ended: List[str] = []

        async def never(files: List[cove.FileToLink]) -> List[str]:
            begun.append("begun")
            try:
                await asyncio.sleep(1000)
            finally:
                ended.append("cancelled")
            return []

        timeout = 0.3
        while not begun:  # a busy machine may take longer to get there
            with self.assertRaises(cove.DeadlineError):
                await self.workspace.call_tool(
                    "sandbox_get_file_url", {"paths": ["page.html"]}, link_maker=never, timeout=timeout
                )
            timeout *= 2
        await eventually(lambda: ended == ["cancelled"])


class Cancelling(WithAsyncCove):
    """Cancelling a task calls the call off, and the task ends when that has no effects any more."""

    async def started(self, name: str) -> None:
        while True:
            try:
                await self.workspace.stat(name)
                return
            except cove.NotFoundError:
                await asyncio.sleep(0.01)

    async def test_a_command_is_gone_when_its_task_has_ended(self) -> None:
        task = asyncio.create_task(self.workspace.exec(["sh", "-c", "echo $$ > pid1; touch up1; exec sleep 100"]))
        await self.started("up1")
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        gone = await self.workspace.exec(["sh", "-c", "! test -d /proc/$(cat pid1)"])
        self.assertTrue(gone.succeeded)

    async def test_a_time_limit_of_asyncio_is_one(self) -> None:
        began = time.monotonic()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.workspace.exec(["sleep", "100"]), 0.3)
        process = await self.workspace.start_process(["sleep", "100"])
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.workspace.wait_process(process.id), 0.1)
        self.assertTrue((await self.workspace.find_process(process.id)).running)
        await self.workspace.end_process(process.id)
        self.assertLess(time.monotonic() - began, 50)

    async def test_cancelling_twice_waits_for_the_end_all_the_same(self) -> None:
        line = "trap '' TERM; echo $$ > pid2; touch up2; while :; do sleep 0.05; done"
        task = asyncio.create_task(self.workspace.exec(["sh", "-c", line], kill_grace=0.5))
        await self.started("up2")
        task.cancel()
        await asyncio.sleep(0.1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue((await self.workspace.exec(["sh", "-c", "! test -d /proc/$(cat pid2)"])).succeeded)

    async def test_the_callers_own_token_is_not_triggered_and_works_from_any_thread(self) -> None:
        mine = cove.Cancel()
        process = await self.workspace.start_process(["sleep", "100"])
        task = asyncio.create_task(self.workspace.wait_process(process.id, cancel=mine))
        await asyncio.sleep(0.05)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        task = asyncio.create_task(self.workspace.wait_process(process.id, cancel=mine))
        await asyncio.sleep(0.05)
        self.assertFalse(task.done())
        threading.Thread(target=mine.trigger).start()
        with self.assertRaises(cove.CancelledError):
            await task
        await self.workspace.end_process(process.id)

    async def test_an_acquire_is_called_off_and_the_next_one_works(self) -> None:
        bob = ("app", "demo", "bob")

        async def acquire() -> aio.Workspace:
            return await self.cove.acquire(bob)

        task = asyncio.create_task(acquire())
        await asyncio.sleep(0)  # it has begun
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        async with self.cove.acquire(bob) as workspace:
            self.assertEqual((await workspace.exec(["echo", "here"])).out.text, "here\n")

    async def test_a_tool_and_its_command_end(self) -> None:
        call = self.workspace.call_tool("sandbox_shell", {"command": "echo $$ > pid3; touch up3; exec sleep 100"})
        task = asyncio.create_task(call)
        await self.started("up3")
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue((await self.workspace.exec(["sh", "-c", "! test -d /proc/$(cat pid3)"])).succeeded)

    async def test_a_call_that_was_just_begun_is_cancelled_too(self) -> None:
        before = len(registry._objects)
        task = asyncio.create_task(self.workspace.read_file("none"))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await eventually(lambda: len(registry._objects) <= before)


class Opening(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)

    def unopened(self, **named: Any) -> aio.Cove:
        return aio.Cove(self.home.path + "/state", **named)

    async def test_a_workspace_lives_sleeps_is_archived_and_wakes(self) -> None:
        async with self.unopened() as c:
            async with c.acquire(KEY, chat_id="c1") as workspace:
                self.assertEqual(workspace.work, "provisioned")
                sandbox = workspace.sandbox_id
                await workspace.write_file("note.txt", b"hello")
            self.assertTrue(workspace.closed)
            await c.stop(sandbox)
            self.assertEqual((await c.status(sandbox))["state"], "stopped")
            await c.archive(sandbox)
            async with c.acquire(KEY, chat_id="c2") as workspace:
                self.assertEqual(workspace.work, "restored")
                self.assertEqual(await workspace.read_file("../c1/note.txt"), b"hello")
            self.assertEqual([record["sandbox_id"] async for record in c.list()], [sandbox])
            self.assertEqual([record async for record in c.list("app/other")], [])
            self.assertEqual((await c.sweep())["errors"], [])
            self.assertTrue(all(f["level"] in ("good", "limited", "broken") for f in await c.doctor()))
            await c.destroy(sandbox)
            with self.assertRaises(cove.NotFoundError):
                await c.status(sandbox)
        self.assertTrue(c.closed)

    async def test_reports_of_the_deployment(self) -> None:
        async with self.unopened() as c:
            async with c.acquire(KEY) as workspace:
                pass
            await c.archive(workspace.sandbox_id)  # recover finds its snapshot
            self.assertIn('cove_sandboxes{state="archived"} 1\n', await c.metrics())
            self.assertEqual((await c.recover())["kept"], 1)
            self.assertEqual(await c.destroy_source("app/none"), 0)

    async def test_one_that_is_not_open_says_so(self) -> None:
        c = self.unopened()
        self.assertTrue(c.closed)
        calls: List[Awaitable[Any]] = [c.stop("x"), c.doctor(), c.acquire(KEY)]
        for call in calls:
            with self.assertRaisesRegex(cove.FailedPreconditionError, "is not open"):
                await call
        await c.close()
        self.assertIs(await c, c)
        self.assertFalse(c.closed)
        with self.assertRaisesRegex(cove.FailedPreconditionError, "opened before"):
            await c
        await c.close()
        await c.close()
        with self.assertRaisesRegex(cove.FailedPreconditionError, "this Cove is closed"):
            await c.acquire(KEY)

    async def test_a_wrong_configuration_is_said_when_it_is_opened(self) -> None:
        with self.assertRaisesRegex(cove.InvalidArgumentError, "no_such_key"):
            await self.unopened(config={"no_such_key": 1})

    async def test_an_open_that_is_cancelled_leaves_nothing_open(self) -> None:
        async def open() -> aio.Cove:
            return await self.unopened()

        task = asyncio.create_task(open())
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        async with self.unopened() as c:
            self.assertEqual([record async for record in c.list()], [])

    async def test_closing_ends_what_is_pending(self) -> None:
        c = await self.unopened()
        workspace = await c.acquire(KEY)
        pending = asyncio.create_task(workspace.exec(["sleep", "100"]))
        await asyncio.sleep(0.2)
        await c.close()
        try:
            self.assertEqual((await pending).outcome, "cancelled")
        except cove.CancelledError:
            pass
        with self.assertRaises(cove.FailedPreconditionError):
            await workspace.exec(["true"])
        await workspace.close()

    async def test_the_log_is_heard_on_the_loop(self) -> None:
        threads: Set[int] = set()

        def log(level: str, message: str) -> None:
            threads.add(threading.get_ident())

        async with self.unopened(log=log) as c:
            async with c.acquire(KEY):
                pass
        await asyncio.sleep(0)
        self.assertLessEqual(threads, {threading.get_ident()})


if __name__ == "__main__":
    unittest.main()
