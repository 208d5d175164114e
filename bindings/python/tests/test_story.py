"""The binding on the real thing: commands, files, lifecycle, in sandboxes of bubblewrap."""

import gc
import os
import threading
import time
import unittest

import cove
from cove._calls import registry
from tests.support import KEY, Home, WithCove, given, run_python


class Commands(WithCove):
    def test_a_result_says_how_it_ended_and_what_was_written(self) -> None:
        result = self.workspace.exec(["sh", "-c", "pwd; echo oops >&2; exit 7"])
        self.assertEqual((result.outcome, result.code, result.shell_code), ("exited", 7, 7))
        self.assertFalse(result.succeeded)
        self.assertEqual(result.out.text, "/workspace/sessions/c1\n")
        self.assertEqual(result.err.content, b"oops\n")
        self.assertEqual(result.out.dropped_bytes, 0)
        self.assertGreater(result.duration, 0)

    def test_a_signal_is_an_outcome(self) -> None:
        result = self.workspace.exec(["sh", "-c", "kill -TERM $$"])
        self.assertEqual((result.outcome, result.code, result.shell_code), ("signaled", 15, 143))

    def test_arguments_environment_stdin_and_directory_arrive(self) -> None:
        result = self.workspace.exec(
            ["sh", "-c", 'printf "%s|" "$@" "$NAME" "$PWD"; cat', "sh", "", "a b"],
            env={"NAME": "ana"},
            stdin=b"in\0put",
            cwd="/workspace",
        )
        self.assertEqual(result.out.content, b"|a b|ana|/workspace|in\0put")

    def test_a_missing_program_is_an_error_not_an_outcome(self) -> None:
        with self.assertRaises(cove.NotFoundError) as caught:
            self.workspace.exec(["no-such-program"])
        self.assertIn("no-such-program", str(caught.exception))

    def test_a_command_timeout_keeps_the_output_so_far(self) -> None:
        result = self.workspace.exec(["sh", "-c", "echo before; exec sleep 100"], command_timeout=0.5)
        self.assertEqual((result.outcome, result.shell_code), ("timed_out", 124))
        self.assertEqual(result.out.text, "before\n")

    def test_a_long_output_keeps_head_and_tail_and_counts_the_rest(self) -> None:
        result = self.workspace.exec(["seq", "100000"], head_bytes=100, tail_bytes=0)
        self.assertTrue(result.out.head.startswith(b"1\n2\n3\n"))
        self.assertEqual(result.out.tail, b"")
        self.assertEqual(result.out.total_bytes, 588895)
        self.assertEqual(result.out.dropped_bytes, 588895 - len(result.out.head))

    def test_a_cancel_from_another_thread_ends_the_command(self) -> None:
        cancel = cove.Cancel()
        with self.workspace.stream(["sh", "-c", "echo up; exec sleep 100"], cancel=cancel) as run:
            self.assertEqual(next(run), ("stdout", b"up\n"))
            threading.Thread(target=cancel.trigger).start()
            self.assertEqual(run.wait().outcome, "cancelled")

    def test_many_threads_share_one_workspace(self) -> None:
        outputs = [""] * 20

        def run(number: int) -> None:
            outputs[number] = self.workspace.exec(["echo", str(number)]).out.text

        threads = [threading.Thread(target=run, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outputs, [f"{n}\n" for n in range(20)])


class Streams(WithCove):
    def test_output_comes_as_it_is_written_then_the_result(self) -> None:
        with self.workspace.stream(["sh", "-c", "echo one; read x; echo two >&2"], stdin=b"\n") as run:
            with self.assertRaises(cove.FailedPreconditionError):
                run.result
            pieces = list(run)
            self.assertEqual(b"".join(d for s, d in pieces if s == "stdout"), b"one\n")
            self.assertEqual(b"".join(d for s, d in pieces if s == "stderr"), b"two\n")
            self.assertTrue(run.result.succeeded)

    def test_a_slow_reader_slows_the_command_down_and_loses_nothing(self) -> None:
        # 16 MiB through a buffer of 1 MiB: it pauses and resumes many times.
        total = 0
        with self.workspace.stream(["head", "-c", str(16 << 20), "/dev/zero"]) as run:
            for _, data in run:
                total += len(data)
                self.assertLess(run._pipe._buffered, (1 << 20) + (1 << 19))
            self.assertEqual(run.result.out.total_bytes, 16 << 20)
        self.assertEqual(total, 16 << 20)

    def test_pieces_put_together_are_the_text_whatever_they_cut(self) -> None:
        """[pain-52]"""
        command = "i=0; while [ $i -lt 5000 ]; do printf '数据é'; i=$((i+1)); done"
        got = bytearray()
        result = self.workspace.exec(["sh", "-c", command], on_output=lambda s, data: got.extend(data))
        self.assertEqual(got.decode(), "数据é" * 5000)
        self.assertEqual(result.out.total_bytes, len(got))

    def test_an_exception_in_the_callback_ends_the_command_and_is_raised(self) -> None:
        started = time.monotonic()

        def fail(stream: str, data: bytes) -> None:
            raise ZeroDivisionError("in the callback")

        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            self.workspace.exec(["sh", "-c", "echo up; exec sleep 100"], on_output=fail)
        self.assertLess(time.monotonic() - started, 50)

    def test_a_callback_may_call_the_workspace(self) -> None:
        seen = []

        def look(stream: str, data: bytes) -> None:
            seen.append(self.workspace.exec(["echo", "inner"]).out.text)

        self.workspace.exec(["echo", "outer"], on_output=look)
        self.assertEqual(seen, ["inner\n"])

    def test_leaving_early_or_forgetting_the_stream_ends_the_command(self) -> None:
        with self.workspace.stream(["sh", "-c", "echo $$ > /workspace/pid; yes"]) as run:
            next(run)
        forgotten = self.workspace.stream(["sh", "-c", "echo up; exec yes"])
        next(forgotten)
        pipe = forgotten._pipe
        del forgotten
        gc.collect()
        pipe.reply.wait()
        self.assertEqual(pipe.reply.result().outcome, "cancelled")

    def test_nothing_is_kept_for_calls_that_ended(self) -> None:
        before = len(registry._objects)
        for _ in range(5):
            self.workspace.exec(["true"])
            self.workspace.write_file("kept", b"")
            list(self.workspace.stream(["true"]))
        # Cove's thread drops each in turn; only that of the last call may still be on its way.
        self.assertLessEqual(len(registry._objects), before + 1)


class Processes(WithCove):
    """What runs on; [pain-46]."""

    def test_one_is_started_listed_read_ended_and_forgotten(self) -> None:
        info = self.workspace.start_process(
            ["sh", "-c", "echo out; echo err >&2; exec sleep 1000"], name="web 数据", keep_alive=60
        )
        self.assertRegex(info.id, "^[0-9a-f]{32}$")
        self.assertEqual((info.name, info.keep_alive, info.running), ("web 数据", 60, True))
        self.assertEqual(info.cwd, "/workspace/sessions/c1")
        self.assertLess(abs(info.started_at - time.time()), 60)
        self.assertEqual([p.id for p in self.workspace.list_processes()], [info.id])
        output = self.workspace.process_output(info.id, wait=30)
        self.assertEqual((output.data, output.next, output.gone, output.at_end), (b"out\n", 4, 0, False))
        self.assertEqual(self.workspace.process_output(info.id, "stderr", wait=30).data, b"err\n")
        with self.assertRaises(cove.FailedPreconditionError):
            self.workspace.remove_process(info.id)
        ended = self.workspace.end_process(info.id)
        self.assertEqual((ended.running, given(ended.end).outcome), (False, "cancelled"))
        self.assertTrue(self.workspace.process_output(info.id, offset=4).at_end)
        self.workspace.remove_process(info.id)
        with self.assertRaises(cove.NotFoundError):
            self.workspace.find_process(info.id)

    def test_what_is_typed_reaches_it_and_its_end_is_told(self) -> None:
        info = self.workspace.start_process(["sh", "-c", "read a; read b; echo $a $b; exit 3"])
        self.workspace.write_process_stdin(info.id, b"one\n")
        with self.workspace.attach_process(info.id) as run:
            run.write_stdin(b"two\n")
            self.assertEqual(b"".join(data for _, data in run), b"one two\n")
            self.assertEqual(run.result.code, 3)
        self.assertEqual(given(self.workspace.wait_process(info.id).end).code, 3)
        with self.assertRaises(cove.FailedPreconditionError):
            self.workspace.signal_process(info.id, 15)
        self.workspace.remove_process(info.id)

    def test_leaving_an_attached_one_lets_it_go_on(self) -> None:
        info = self.workspace.start_process(["sh", "-c", "echo up; exec sleep 1000"])
        with self.workspace.attach_process(info.id) as run:
            self.assertEqual(next(run), ("stdout", b"up\n"))
        self.assertTrue(self.workspace.find_process(info.id).running)
        with self.assertRaises(cove.DeadlineError):
            self.workspace.wait_process(info.id, timeout=0.05)
        self.workspace.signal_process(info.id, 9)
        self.assertEqual(given(self.workspace.wait_process(info.id).end).code, 9)
        self.workspace.remove_process(info.id)

    def test_stdin_of_a_stream_is_written_piece_by_piece(self) -> None:
        with self.workspace.stream(["sh", "-c", "while read x; do echo got $x; done"], keep_stdin=True) as run:
            run.write_stdin(b"one\n")
            self.assertEqual(next(run), ("stdout", b"got one\n"))
            run.write_stdin(b"two\n")
            self.assertEqual(next(run), ("stdout", b"got two\n"))
            run.close_stdin()
            self.assertTrue(run.wait().succeeded)
            with self.assertRaises(cove.FailedPreconditionError):
                run.write_stdin(b"late")

    def test_a_terminal_has_its_size_and_changes_it(self) -> None:
        options = cove.CommandOptions(terminal=(31, 97))
        line = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done"
        with self.workspace.stream(["sh", "-c", line], options=options) as run:
            self.assertEqual(next(run), ("stdout", b"31 97\r\n"))
            run.resize(40, 120)
            self.assertEqual(next(run), ("stdout", b"40 120\r\n"))
            run.send_signal(9)
            self.assertEqual(run.wait().code, 9)

    def test_options_that_few_commands_need(self) -> None:
        line = cove.CommandOptions(shell_line="echo $((6 * 7)); echo err >&2", merge_output=True)
        result = self.workspace.exec([], options=line)
        self.assertEqual(result.out.text, "42\nerr\n")
        self.assertGreater(result.user_cpu + result.system_cpu, 0)
        quiet = self.workspace.exec(["sleep", "100"], options=cove.CommandOptions(quiet_timeout=0.2))
        self.assertEqual((quiet.outcome, quiet.quiet), ("timed_out", True))
        spilled = self.workspace.exec(
            ["seq", "100000"], head_bytes=10, tail_bytes=10, options=cove.CommandOptions(spill=True)
        )
        self.assertEqual(
            self.workspace.exec(["tail", "-n", "1", given(spilled.out.spill_path)]).out.text, "100000\n"
        )


class Files(WithCove):
    def test_a_file_comes_back_as_it_was_written(self) -> None:
        content = bytes(range(256)) * 100
        info = self.workspace.write_file("data/all.bin", content, mode=0o600, durable=True)
        self.assertEqual((info.type, info.size, info.mode), ("file", len(content), 0o600))
        self.assertEqual(self.workspace.read_file("data/all.bin"), content)
        self.assertEqual(self.workspace.read_file("data/all.bin", offset=10, max_bytes=3), b"\x0a\x0b\x0c")
        self.assertEqual(self.workspace.read_file("data/all.bin", offset=10**9), b"")

    def test_names_that_are_no_utf8(self) -> None:
        self.workspace.make_directory("odd")
        self.workspace.write_file(b"odd/\xff\xfe", b"x")
        (entry,) = self.workspace.list("odd")
        self.assertEqual(os.fsencode(entry.path), b"\xff\xfe")
        self.assertEqual(self.workspace.read_file("odd/" + entry.path), b"x")

    def test_list_stat_and_remove(self) -> None:
        self.workspace.make_directory("tree/sub")
        self.workspace.write_file("tree/b", b"12")
        self.workspace.exec(["ln", "-s", "b", "tree/link"])
        names = [(e.path, e.type, e.link_target) for e in self.workspace.list("tree")]
        self.assertEqual(names, [("b", "file", ""), ("link", "symlink", "b"), ("sub", "directory", "")])
        self.assertEqual(self.workspace.stat("tree/link").type, "symlink")
        self.assertGreater(self.workspace.stat("tree/b").modified_ns, 10**18)
        with self.assertRaises(cove.FailedPreconditionError):
            self.workspace.remove("tree")
        self.workspace.remove("tree", recursive=True)
        with self.assertRaises(cove.NotFoundError):
            self.workspace.stat("tree")

    def test_a_path_out_of_the_workspace_is_refused_and_nothing_read(self) -> None:
        for path in ("../../../etc/passwd", "/etc/passwd"):
            with self.assertRaises(cove.PathEscapeError):
                self.workspace.read_file(path)

    def test_more_entries_than_a_page(self) -> None:
        self.workspace.exec(["sh", "-c", "mkdir many && cd many && seq 10500 | xargs touch"])
        entries = self.workspace.list("many")
        self.assertEqual(len(entries), 10500)
        self.assertEqual([e.path for e in entries], sorted(e.path for e in entries))


class Lifecycle(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)

    def test_a_workspace_lives_sleeps_is_archived_and_wakes(self) -> None:
        with self.home.open() as c:
            with c.acquire(KEY, chat_id="c1") as workspace:
                self.assertEqual(workspace.work, "provisioned")
                sandbox = workspace.sandbox_id
                workspace.write_file("note.txt", b"hello")
            c.stop(sandbox)
            self.assertEqual(c.status(sandbox)["state"], "stopped")
            c.archive(sandbox)
            self.assertEqual(c.status(sandbox)["state"], "archived")
            with c.acquire(KEY, chat_id="c2") as workspace:
                self.assertEqual(workspace.work, "restored")
                self.assertEqual(workspace.read_file("../c1/note.txt"), b"hello")
            self.assertEqual([r["sandbox_id"] for r in c.list()], [sandbox])
            self.assertEqual(list(c.list("app/other")), [])
            self.assertEqual(c.sweep()["errors"], [])
            self.assertIn('cove_sandboxes{state="running"} 1\n', c.metrics())
            self.assertEqual(c.recover()["kept"], 1)
            c.stop(sandbox, wait=1)
            self.assertTrue(all(f["level"] in ("good", "limited", "broken") for f in c.doctor()))
            c.destroy(sandbox)
            with self.assertRaises(cove.NotFoundError):
                c.status(sandbox)
            self.assertEqual(c.destroy_source("app/none"), 0)

    def test_closing_may_be_repeated_and_ends_all_calls(self) -> None:
        c = self.home.open()
        workspace = c.acquire(KEY)
        workspace.close()
        workspace.close()
        with self.assertRaisesRegex(cove.FailedPreconditionError, "this workspace is closed"):
            workspace.exec(["true"])
        other = c.acquire(KEY)
        c.close()
        c.close()
        with self.assertRaisesRegex(cove.FailedPreconditionError, "this Cove is closed"):
            c.acquire(KEY)
        with self.assertRaises(cove.FailedPreconditionError):
            other.exec(["true"])
        other.close()
        self.assertTrue(c.closed and other.closed)

    def test_the_handles_may_go_in_any_order(self) -> None:
        c = self.home.open()
        workspace = c.acquire(KEY)
        del c
        gc.collect()
        self.assertEqual(workspace.exec(["echo", "x"]).out.text, "x\n")

    def test_a_call_has_a_time_limit_and_can_be_called_off(self) -> None:
        with self.home.open() as c, c.acquire(KEY) as workspace:
            result = workspace.exec(["sleep", "100"], timeout=0.3)
            self.assertEqual(result.outcome, "timed_out")
            called_off = cove.Cancel()
            called_off.trigger()
            with self.assertRaises(cove.CancelledError):
                c.acquire(("app", "demo", "bob"), cancel=called_off)

    def test_the_log_gets_lines(self) -> None:
        lines = []
        with self.home.open(log=lambda level, message: lines.append((level, message))):
            pass
        for level, message in lines:
            self.assertIn(level, ("debug", "info", "warning", "error"))
            self.assertNotIn("\n", message)


class Process(unittest.TestCase):
    """What happens to the host's process."""

    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)
        self.state = os.path.join(self.home.path, "state")

    def test_exit_with_live_handles_and_running_commands_is_quiet(self) -> None:
        done = run_python(
            """
            import sys, threading, cove
            c = cove.Cove(sys.argv[1])
            w = c.acquire(("app", "demo", "ana"))
            run = w.stream(["sh", "-c", "echo up; exec yes"])
            next(run)
            threading.Thread(target=lambda: w.exec(["sleep", "100"]), daemon=True).start()
            print("end")
            """,
            self.state,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)
        self.assertNotIn("Fatal", done.stderr)

    def test_a_forked_child_gets_a_clear_error_and_the_parent_goes_on(self) -> None:
        done = run_python(
            """
            import os, sys, cove
            c = cove.Cove(sys.argv[1])
            w = c.acquire(("app", "demo", "ana"))
            pid = os.fork()
            if pid == 0:
                for call in (lambda: w.exec(["true"]), lambda: c.acquire(("app", "demo", "bob")), w.release):
                    try:
                        call()
                    except cove.FailedPreconditionError as error:
                        print("refused:", "forked" in str(error), flush=True)
                sys.exit(0)   # with all its exit handlers
            print("child:", os.waitpid(pid, 0)[1])
            print(w.exec(["echo", "parent goes on"]).out.text, end="")
            w.close()
            c.close()
            """,
            self.state,
        )
        self.assertEqual(
            done.stdout.splitlines(), ["refused: True"] * 3 + ["child: 0", "parent goes on"], done.stderr
        )

    def test_ctrl_c_ends_the_command_and_the_wait(self) -> None:
        done = run_python(
            """
            import signal, sys, threading, time, cove
            c = cove.Cove(sys.argv[1])
            w = c.acquire(("app", "demo", "ana"))
            def interrupt():
                while not w.exec(["test", "-s", "/workspace/pid"]).succeeded:
                    pass
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            threading.Thread(target=interrupt).start()
            began = time.monotonic()
            try:
                w.exec(["sh", "-c", "echo $$ > /workspace/pid; exec sleep 100"])
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - began < 60)
            print("still there:", w.exec(["sh", "-c", "test -d /proc/$(cat /workspace/pid)"]).succeeded)
            """,
            self.state,
        )
        self.assertEqual(done.stdout.splitlines(), ["interrupted True", "still there: False"], done.stderr)


if __name__ == "__main__":
    unittest.main()
