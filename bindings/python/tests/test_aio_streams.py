"""What comes and goes piece by piece on an event loop: output, searches, changes, files."""

import asyncio
import gc
import io
import os
import tarfile
import threading
import unittest
from typing import AsyncIterator, Iterator, List, Tuple

import cove
from cove import _pipe, aio
from tests.support import WithAsyncCove, eventually


class Output(WithAsyncCove):
    async def test_output_comes_as_it_is_written_then_the_result(self) -> None:
        async with self.workspace.stream(["sh", "-c", "echo one; read x; echo two >&2"], stdin=b"\n") as run:
            with self.assertRaises(cove.FailedPreconditionError):
                run.result
            pieces = [piece async for piece in run]
            self.assertEqual(b"".join(d for s, d in pieces if s == "stdout"), b"one\n")
            self.assertEqual(b"".join(d for s, d in pieces if s == "stderr"), b"two\n")
            self.assertTrue(run.result.succeeded)

    async def test_a_slow_reader_slows_the_command_down_and_loses_nothing(self) -> None:
        # 16 MiB through a buffer of 1 MiB: it pauses and resumes many times.
        total = 0
        async with self.workspace.stream(["head", "-c", str(16 << 20), "/dev/zero"]) as run:
            async for _, data in run:
                total += len(data)
                self.assertLess(run._of._pipe._buffered, (1 << 20) + (1 << 19))
            self.assertEqual(run.result.out.total_bytes, 16 << 20)
        self.assertEqual(total, 16 << 20)

    async def test_leaving_early_ends_the_command(self) -> None:
        async with self.workspace.stream(["sh", "-c", "echo $$ > pid; echo up; exec yes"]) as run:
            async for stream, data in run:
                self.assertEqual(stream, "stdout")
                break
        self.assertTrue((await self.workspace.exec(["sh", "-c", "! test -d /proc/$(cat pid)"])).succeeded)
        self.assertEqual([piece async for piece in run], [])

    async def test_forgetting_it_ends_the_command(self) -> None:
        forgotten = self.workspace.stream(["sh", "-c", "echo up; exec sleep 100"])
        await forgotten.__anext__()
        pipe = forgotten._of._pipe
        del forgotten
        gc.collect()
        await eventually(lambda: bool(pipe.drained))
        self.assertEqual(pipe.reply.outcome().outcome, "cancelled")

    async def test_a_read_that_was_given_up_loses_nothing(self) -> None:
        async with self.workspace.stream(["sh", "-c", "read x; echo got $x; cat"], keep_stdin=True) as run:
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(run.__anext__(), 0.1)
            await run.write_stdin(b"it\n")
            self.assertEqual(await run.__anext__(), ("stdout", b"got it\n"))
            await run.close_stdin()
            self.assertTrue((await run.wait()).succeeded)

    async def test_cancelling_the_task_that_reads_ends_the_command(self) -> None:
        up = asyncio.Event()

        async def read() -> None:
            async with self.workspace.stream(["sh", "-c", "echo $$ > pid4; echo up; exec sleep 100"]) as run:
                async for _ in run:
                    up.set()

        task = asyncio.create_task(read())
        await up.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue((await self.workspace.exec(["sh", "-c", "! test -d /proc/$(cat pid4)"])).succeeded)

    async def test_a_command_that_cannot_run_is_an_error_of_the_reading(self) -> None:
        async with self.workspace.stream(["no-such-program"]) as run:
            with self.assertRaises(cove.NotFoundError):
                await run.__anext__()

    async def test_a_terminal_signals_and_a_cancel(self) -> None:
        options = cove.CommandOptions(terminal=(31, 97))
        line = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done"
        async with self.workspace.stream(["sh", "-c", line], options=options) as run:
            self.assertEqual(await run.__anext__(), ("stdout", b"31 97\r\n"))
            await run.resize(40, 120)
            self.assertEqual(await run.__anext__(), ("stdout", b"40 120\r\n"))
            await run.send_signal(9)
            self.assertEqual((await run.wait()).code, 9)
        async with self.workspace.stream(["sh", "-c", "echo up; exec sleep 100"]) as run:
            await run.__anext__()
            run.cancel()
            self.assertEqual((await run.wait()).outcome, "cancelled")

    async def test_an_attached_process_goes_on(self) -> None:
        info = await self.workspace.start_process(["sh", "-c", "echo up; exec sleep 100"])
        async with self.workspace.attach_process(info.id) as run:
            self.assertEqual(await run.__anext__(), ("stdout", b"up\n"))
        self.assertTrue((await self.workspace.find_process(info.id)).running)
        async with self.workspace.attach_process(info.id) as run:
            run.detach()
            with self.assertRaises(cove.CancelledError):
                await run.wait()
        await self.workspace.end_process(info.id)


class Searches(WithAsyncCove):
    async def test_lines_and_names_come_with_their_summaries(self) -> None:
        await self.workspace.write_file("src/a.py", b"# TODO: one\n")
        await self.workspace.write_file("src/b.cc", b"// TODO two\n")
        async with self.workspace.grep("TODO", "src", literal=True) as found:
            lines = [(line.path, line.text) async for line in found]
            self.assertEqual(found.summary.matches, 2)
        self.assertEqual(lines, [("a.py", "# TODO: one"), ("b.cc", "// TODO two")])
        names = [entry.path async for entry in self.workspace.find("*.py", "src")]
        self.assertEqual(names, ["a.py"])
        with self.assertRaisesRegex(cove.InvalidArgumentError, r"\("):
            [line async for line in self.workspace.grep("TODO(", "src")]

    async def test_a_slow_reader_holds_only_some_and_loses_nothing(self) -> None:
        # 20,000 lines of 100 bytes through a buffer of 1 MiB: it pauses and resumes.
        await self.workspace.exec(["sh", "-c", "yes $(printf '%099d' 0) | head -n 20000 > many.txt"])
        count = 0
        async with self.workspace.grep("0", "many.txt", literal=True, limit=None) as found:
            async for line in found:
                count += 1
                self.assertEqual(line.line, count)
                self.assertLess(found._of._pipe._buffered, 4 * _pipe.BUFFER_BYTES)
            self.assertEqual(found.summary.matches, 20000)

    async def test_a_quick_reader_lets_others_have_their_turn(self) -> None:
        await self.workspace.exec(["sh", "-c", "yes | head -n 20000 > turn.txt"])
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        task = asyncio.create_task(other())
        async with self.workspace.grep("y", "turn.txt", limit=None) as found:
            while found._of._pipe._buffered < _pipe.BUFFER_BYTES // 2:
                await asyncio.sleep(0.01)
            before = turns
            for _ in range(1000):
                await found.__anext__()
                found._turn_began = 0.0  # as if the last one had taken long
            self.assertGreater(turns - before, 500)
        task.cancel()

    async def test_a_cancel_leaves_what_was_found(self) -> None:
        await self.workspace.exec(["sh", "-c", "yes | head -n 300000 > yes.txt"])
        async with self.workspace.grep("y", "yes.txt", limit=None) as found:
            await found.__anext__()
            with self.assertRaises(cove.FailedPreconditionError):
                found.summary
            found.cancel()
            rest = sum([1 async for _ in found])
            self.assertEqual(found.summary.ended, "cancelled")
            self.assertLess(rest, 299_999)


class Watches(WithAsyncCove):
    async def test_changes_come_as_they_happen(self) -> None:
        await self.workspace.make_directory("seen")

        async def knock() -> None:
            while True:
                await self.workspace.write_file("seen/knock", b"x")
                await asyncio.sleep(0.05)

        async with self.workspace.watch("seen") as changes:
            knocking = asyncio.create_task(knock())
            event = await changes.__anext__()
            knocking.cancel()
            self.assertEqual(event.path, "knock")
        self.assertEqual([event async for event in changes], [])

    async def test_what_ends_it_is_raised_but_for_a_cancel(self) -> None:
        watch = self.workspace.watch(".", timeout=0.2)
        with self.assertRaises(cove.DeadlineError):
            async for _ in watch:
                pass
        watch = self.workspace.watch(".")
        watch.cancel()
        async for _ in watch:
            pass


class Transfers(WithAsyncCove):
    async def test_files_go_up_and_down_from_every_kind_of_source(self) -> None:
        content = os.urandom(3 << 20)

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(content), 100_000):
                await asyncio.sleep(0)
                yield content[at : at + 100_000]

        class Reader:
            def __init__(self) -> None:
                self.file = io.BytesIO(content)

            async def read(self, size: int) -> bytes:
                await asyncio.sleep(0)
                return self.file.read(size)

        told: List[Tuple[int, object]] = []
        sources: List[aio.Sent] = [content, io.BytesIO(content), [content[:5], content[5:]], pieces(), Reader()]
        for number, source in enumerate(sources):
            name = f"file{number}"
            told.clear()
            info = await self.workspace.upload(name, source, on_progress=lambda done, of: told.append((done, of)))
            self.assertEqual(info.size, len(content), number)
            self.assertEqual(told[-1], (len(content), None), number)
            got = b"".join([piece async for piece in self.workspace.download(name)])
            self.assertTrue(got == content, number)

    async def test_a_download_is_saved_to_files_of_both_kinds(self) -> None:
        await self.workspace.write_file("saved.bin", b"x" * 2_000_000)

        class Writer:
            def __init__(self) -> None:
                self.size = 0

            async def write(self, data: bytes) -> None:
                await asyncio.sleep(0)
                self.size += len(data)

        plain, writer = io.BytesIO(), Writer()
        self.assertEqual(await self.workspace.download("saved.bin").save(plain), 2_000_000)
        self.assertEqual(await self.workspace.download("saved.bin").save(writer), 2_000_000)
        self.assertEqual((len(plain.getvalue()), writer.size), (2_000_000, 2_000_000))

    async def test_an_exception_in_the_source_leaves_the_old_file(self) -> None:
        await self.workspace.write_file("kept.txt", b"old")

        async def broken() -> AsyncIterator[bytes]:
            yield b"new" * 1_000_000
            raise ZeroDivisionError("in the source")

        def also_broken() -> Iterator[bytes]:
            yield b"new" * 1_000_000
            raise ZeroDivisionError("in the source")

        sources: List[aio.Sent] = [broken(), also_broken()]
        for source in sources:
            with self.assertRaisesRegex(ZeroDivisionError, "in the source"):
                await self.workspace.upload("kept.txt", source)
            self.assertEqual(await self.workspace.read_file("kept.txt"), b"old")
        with self.assertRaisesRegex(TypeError, "source must be"):
            await self.workspace.upload("kept.txt", "text")  # type: ignore[arg-type]

    async def test_a_source_that_never_comes_ends_with_the_call_or_the_task(self) -> None:
        ended: List[str] = []

        async def never() -> AsyncIterator[bytes]:
            try:
                await asyncio.sleep(1000)
                yield b""
            finally:
                ended.append("ended")

        with self.assertRaises(cove.DeadlineError):
            await self.workspace.upload("never", never(), timeout=0.3)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.workspace.upload("never", never()), 0.3)
        cancel = cove.Cancel()
        pending = asyncio.create_task(self.workspace.upload("never", never(), cancel=cancel))
        await asyncio.sleep(0.1)
        threading.Thread(target=cancel.trigger).start()
        with self.assertRaises(cove.CancelledError):
            await pending
        await eventually(lambda: ended == ["ended"] * 3)
        with self.assertRaises(cove.NotFoundError):
            await self.workspace.stat("never")

    async def test_trees_are_tar_streams(self) -> None:
        await self.workspace.write_file("tree/sub/b.txt", b"two", mode=0o700)
        archive = b"".join([piece async for piece in self.workspace.download_tree("tree")])
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            self.assertIn("sub/b.txt", tar.getnames())
        counts = await self.workspace.upload_tree("placed", archive)
        self.assertEqual(counts.bytes, 3)
        self.assertEqual((await self.workspace.stat("placed/sub/b.txt")).mode, 0o700)

    async def test_a_download_holds_a_mebibyte_and_ends_when_it_is_left_or_forgotten(self) -> None:
        await self.workspace.exec(["sh", "-c", f"head -c {64 << 20} /dev/zero > zeros"])
        threads = threading.active_count()
        async with self.workspace.download("zeros") as download:
            await download.__anext__()
            self.assertLess(download._of._pipe._buffered, 2 << 20)
            self.assertEqual(threading.active_count(), threads)  # it is driven by callbacks
        self.assertEqual([piece async for piece in download], [])
        forgotten = self.workspace.download("zeros")
        await forgotten.__anext__()
        pipe = forgotten._of._pipe
        del forgotten
        gc.collect()
        await eventually(lambda: bool(pipe.drained))


if __name__ == "__main__":
    unittest.main()
