"""Files through the binding, beyond reading and writing: lines, edits, trees, transfers, watches."""

import gc
import io
import os
import tarfile
import threading
import time
import unittest
from typing import Any, Iterator, List, Union

import cove
from tests.support import KEY, WithCove, destroy_all, given, run_python


class Contents(WithCove):
    def test_a_read_says_what_the_file_is(self) -> None:
        self.workspace.write_file("a.txt", b"hello")
        content = self.workspace.read("a.txt", offset=1, max_bytes=3)
        self.assertEqual((content.data, content.info.size), (b"ell", 5))
        self.assertTrue(content.content_type.startswith("text/plain"), content.content_type)
        self.assertEqual(content.info.etag, self.workspace.stat("a.txt").etag)
        self.workspace.write_file("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
        self.assertEqual(self.workspace.read("a.png").content_type, "image/png")

    def test_lines_are_read_in_parts_to_the_end(self) -> None:
        self.workspace.write_file("lines.txt", b"".join(b"line %d\n" % n for n in range(1, 101)) + b"end")
        part = self.workspace.read_lines("lines.txt", first=99, count=2)
        self.assertEqual((part.text, part.first, part.count, part.next), ("line 99\nline 100\n", 99, 2, 101))
        last = self.workspace.read_lines("lines.txt", first=given(part.next))
        self.assertEqual((last.text, last.next, last.cut), ("end", None, False))
        self.assertEqual(last.offset + len(last.content), self.workspace.stat("lines.txt").size)
        self.workspace.write_file("long.txt", b"x" * 100)
        self.assertTrue(self.workspace.read_lines("long.txt", max_bytes=10).cut)

    def test_a_conditional_write_loses_nobodys_work(self) -> None:
        first = self.workspace.write_file("shared.txt", b"one")
        second = self.workspace.write_file("shared.txt", b"two", if_unchanged_since=first.etag)
        self.assertNotEqual(first.etag, second.etag)
        with self.assertRaises(cove.ConflictError):
            self.workspace.write_file("shared.txt", b"three", if_unchanged_since=first.etag)
        with self.assertRaises(cove.AlreadyExistsError):
            self.workspace.write_file("shared.txt", b"three", if_absent=True)
        self.workspace.write_file("shared.txt", b" more", append=True)
        self.assertEqual(self.workspace.read_file("shared.txt"), b"two more")

    def test_a_list_goes_as_deep_as_it_is_told(self) -> None:
        self.workspace.write_file("deep/a/b/c.txt", b"x")

        def paths(**named: Any) -> List[str]:
            return [entry.path for entry in self.workspace.list("deep", **named)]

        self.assertEqual(paths(), ["a"])
        self.assertEqual(paths(depth=2), ["a", "a/b"])
        self.assertEqual(paths(depth=None), ["a", "a/b", "a/b/c.txt"])
        self.assertEqual(next(self.workspace.iter_list("deep")).path, "a")


class Changes(WithCove):
    def test_edits_are_made_in_order_all_or_none(self) -> None:
        self.workspace.write_file("a.py", b"x = 1\r\ny = 1\r\n")
        result = self.workspace.edit_file("a.py", [("x = 1\ny", "x = 2\ny"), cove.Edit("1", b"3")])
        self.assertEqual(self.workspace.read_file("a.py"), b"x = 2\r\ny = 3\r\n")
        self.assertEqual(result.edits, ((1, 1), (1, 2)))
        self.assertEqual(result.info.etag, self.workspace.stat("a.py").etag)
        with self.assertRaises(cove.FailedPreconditionError) as caught:
            self.workspace.edit_file("a.py", [("x = 2", "x = 9"), ("no such text", "")])
        self.assertEqual(caught.exception.context.get("edit"), "2")
        self.assertEqual(self.workspace.read_file("a.py"), b"x = 2\r\ny = 3\r\n")
        with self.assertRaises(cove.InvalidArgumentError):
            self.workspace.edit_file("a.py", [(" = ", "=")])
        both = self.workspace.edit_file("a.py", [cove.Edit(" = ", "=", replace_all=True)])
        self.assertEqual(both.edits[0].replaced, 2)

    def test_several_files_each_have_their_result_or_error(self) -> None:
        self.workspace.write_file("b.txt", b"one")
        self.workspace.write_file("c.txt", b"one")
        done = self.workspace.edit_files(
            [
                cove.FileEdit("b.txt", [("one", "two")]),
                cove.FileEdit("missing.txt", [("one", "two")]),
                cove.FileEdit("c.txt", [("one", "two")], if_unchanged_since="another"),
            ]
        )
        assert isinstance(done[0], cove.EditResult)
        self.assertEqual(done[0].edits, ((1, 1),))
        self.assertIsInstance(done[1], cove.NotFoundError)
        self.assertIsInstance(done[2], cove.ConflictError)
        self.assertEqual(self.workspace.read_file("c.txt"), b"one")

    def test_wrong_edits_are_named(self) -> None:
        edits: List[Any] = ["x", cove.Edit("a", "b"), ("a", "b"), [("a",)]]
        for wrong in edits:
            with self.assertRaisesRegex(TypeError, "edits"):
                self.workspace.edit_file("a.py", wrong)
        with self.assertRaisesRegex(TypeError, r"edits\[0\].old"):
            self.workspace.edit_file("a.py", [(1, "b")])
        with self.assertRaisesRegex(TypeError, r"files\[0\] must be"):
            self.workspace.edit_files([("a.py", [])])  # type: ignore[list-item]

    def test_move_copy_mode_and_symlink(self) -> None:
        self.workspace.write_file("from/a.txt", b"12345")
        self.workspace.write_file("from/b.txt", b"6")
        counts = self.workspace.copy("from", "copies/one")
        self.assertEqual((counts.entries, counts.bytes, counts.skipped), (3, 6, 0))
        with self.assertRaises(cove.AlreadyExistsError):
            self.workspace.copy("from/a.txt", "from/b.txt")
        moved = self.workspace.move("from/a.txt", "from/b.txt", overwrite=True)
        self.assertEqual((moved.size, self.workspace.read_file("from/b.txt")), (5, b"12345"))
        with self.assertRaises(cove.NotFoundError):
            self.workspace.move("from/b.txt", "nowhere/b.txt", create_parents=False)
        self.assertEqual(self.workspace.set_mode("from/b.txt", 0o750).mode, 0o750)
        link = self.workspace.make_symlink("link", "from/b.txt")
        self.assertEqual((link.type, link.link_target), ("symlink", "from/b.txt"))
        self.assertEqual(self.workspace.read_file("link"), b"12345")


class Transfers(WithCove):
    def test_a_large_file_goes_up_and_down_unchanged_with_progress(self) -> None:
        content = os.urandom(5 << 20)
        told = []
        info = self.workspace.upload(
            "big.bin", io.BytesIO(content), mode=0o600, on_progress=lambda done, total: told.append((done, total))
        )
        self.assertEqual((info.size, info.mode), (len(content), 0o600))
        self.assertEqual(told[-1], (len(content), None))
        told.clear()
        file = io.BytesIO()
        download = self.workspace.download("big.bin", on_progress=lambda done, total: told.append((done, total)))
        self.assertEqual(download.save(file), len(content))
        self.assertEqual(file.getvalue(), content)
        self.assertEqual(told[-1], (len(content), len(content)))

    def test_pieces_of_any_size_are_one_file(self) -> None:
        pieces: List[Union[bytes, memoryview]] = [b"", b"a" * 1_000_000, b"", b"b", memoryview(b"c" * 10)]
        self.workspace.upload("pieces.bin", iter(pieces))
        self.assertEqual(self.workspace.read_file("pieces.bin"), b"".join(pieces))
        self.workspace.upload("none.bin", [])
        self.assertEqual(b"".join(self.workspace.download("none.bin")), b"")

    def test_an_exception_in_the_source_leaves_the_old_file(self) -> None:
        self.workspace.write_file("kept.txt", b"old")

        def broken() -> Iterator[bytes]:
            yield b"new" * 1_000_000
            raise ZeroDivisionError("in the source")

        with self.assertRaisesRegex(ZeroDivisionError, "in the source"):
            self.workspace.upload("kept.txt", broken())
        self.assertEqual(self.workspace.read_file("kept.txt"), b"old")
        with self.assertRaises(cove.ConflictError):
            self.workspace.upload("kept.txt", [b"x"], if_unchanged_since="another")
        with self.assertRaisesRegex(TypeError, "source must be"):
            self.workspace.upload("kept.txt", "text")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "use .encode"):
            self.workspace.upload("kept.txt", io.StringIO("text"))  # type: ignore[arg-type]

    def test_trees_are_tar_streams(self) -> None:
        self.workspace.write_file("tree/a.txt", b"one")
        self.workspace.write_file("tree/sub/b.txt", b"two", mode=0o700)
        archive = b"".join(self.workspace.download_tree("tree"))
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            member = tar.extractfile("sub/b.txt")
            assert member is not None
            self.assertEqual(member.read(), b"two")
        counts = self.workspace.upload_tree("placed", [archive])
        self.assertEqual(counts.bytes, 6)
        self.assertEqual(self.workspace.stat("placed/sub/b.txt").mode, 0o700)
        with self.assertRaises(cove.InvalidArgumentError):
            self.workspace.upload_tree("placed", [b"no tar at all" * 1000])

    def test_what_is_missing_is_raised_to_the_reader(self) -> None:
        with self.assertRaises(cove.NotFoundError):
            next(self.workspace.download("missing.bin"))

    def test_leaving_early_forgetting_and_calling_off_end_it(self) -> None:
        self.workspace.exec(["sh", "-c", f"head -c {64 << 20} /dev/zero > zeros"])
        with self.workspace.download("zeros") as download:
            next(download)
        self.assertEqual(list(download), [])
        forgotten = self.workspace.download("zeros")
        next(forgotten)
        pipe = forgotten._pipe
        del forgotten
        gc.collect()
        pipe.reply.wait()
        cancel = cove.Cancel()
        called_off = self.workspace.download("zeros", cancel=cancel)
        next(called_off)
        cancel.trigger()
        with self.assertRaises(cove.CancelledError):
            for _ in called_off:
                pass

    def test_time_limits_and_calling_off_need_no_reader_and_no_source(self) -> None:
        self.workspace.exec(["sh", "-c", f"head -c {64 << 20} /dev/zero > zeros"])
        late = self.workspace.download("zeros", timeout=0.3)
        late._pipe.reply.wait()
        with self.assertRaises(cove.DeadlineError):
            for _ in late:
                pass
        cancel = cove.Cancel()
        called_off = self.workspace.download("zeros", cancel=cancel)
        next(called_off)
        cancel.trigger()
        called_off._pipe.reply.wait()
        released = threading.Event()

        def slow() -> Iterator[bytes]:
            yield b"first"
            released.wait(0.5)  # longer than the call has
            yield b"second"

        with self.assertRaises(cove.DeadlineError):
            self.workspace.upload("late.bin", slow(), timeout=0.2)
        with self.assertRaises(cove.NotFoundError):
            self.workspace.stat("late.bin")

    def test_closing_a_cove_ends_transfers_that_wait_for_the_host(self) -> None:
        with self.home.open() as c, c.acquire(KEY, chat_id="close") as workspace:
            workspace.exec(["sh", "-c", f"head -c {8 << 20} /dev/zero > zeros"])
            download = workspace.download("zeros")
            first = len(next(download))
            while not download._pipe._paused:  # now it waits for its reader
                time.sleep(0.01)
            began, failed = time.monotonic(), []
            given, released = threading.Event(), threading.Event()

            def source() -> Iterator[bytes]:
                given.set()
                released.wait(60)
                yield b""

            def upload() -> None:
                try:
                    workspace.upload("never", source())
                except cove.CoveError as error:
                    failed.append(error.name)

            uploading = threading.Thread(target=upload)
            uploading.start()
            given.wait()
            c.close()
            self.assertLess(time.monotonic() - began, 8)
            released.set()
            uploading.join()
            self.assertEqual(failed, ["cancelled"])
            try:
                size = first + sum(len(piece) for piece in download)
            except cove.CancelledError:
                return
            self.assertEqual(size, 8 << 20)  # all of it was on its way already

    def test_exit_with_a_download_that_nobody_reads_is_quick(self) -> None:
        done = run_python(
            """
            import sys, time, cove
            c = cove.Cove(sys.argv[1])
            w = c.acquire(("app", "demo", "ana"))
            w.exec(["sh", "-c", "head -c 67108864 /dev/zero > zeros"])
            download = w.download("zeros")
            next(download)
            print("end", flush=True)
            """,
            os.path.join(self.home.path, "other"),
        )
        with cove.Cove(os.path.join(self.home.path, "other")) as c:
            destroy_all(c)
        self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)
        self.assertNotIn("Fatal", done.stderr)


class Watches(WithCove):
    def test_changes_come_as_they_happen(self) -> None:
        self.workspace.make_directory("seen/sub")
        with self.workspace.watch("seen") as changes:
            # The first event proves that the watch has begun: written until it is seen.
            began = threading.Event()

            def knock() -> None:
                while not began.wait(0.05):
                    self.workspace.write_file("seen/knock", b"x")

            knocking = threading.Thread(target=knock)
            knocking.start()
            first = next(changes)
            began.set()
            knocking.join()
            self.assertEqual(first.path, "knock")
            self.workspace.write_file("seen/sub/a.txt", b"1")
            self.workspace.move("seen/sub/a.txt", "seen/sub/b.txt")
            self.workspace.remove("seen/sub/b.txt")
            seen = []
            for event in changes:
                seen.append(event)
                if (event.change, event.path) == ("removed", "sub/b.txt"):
                    break
        self.assertIn(("moved", "sub/b.txt", "sub/a.txt"), [(e.change, e.path, e.old_path) for e in seen])

    def test_a_watch_ends_quietly_when_it_is_told_to_and_else_says_why(self) -> None:
        self.workspace.make_directory("quiet")
        watch = self.workspace.watch("quiet")
        watch.cancel()
        self.assertEqual(list(watch), [])
        watch.close()
        with self.assertRaises(cove.DeadlineError):
            list(self.workspace.watch("quiet", timeout=0.1))
        cancel = cove.Cancel()
        called_off = self.workspace.watch("quiet", cancel=cancel)
        cancel.trigger()
        with self.assertRaises(cove.CancelledError):
            list(called_off)
        with self.assertRaises(cove.NotFoundError):
            list(self.workspace.watch("no-such-directory"))


if __name__ == "__main__":
    unittest.main()
