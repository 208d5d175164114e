"""A good guest in the host's process: threads, forks, spawns, sub-interpreters, and its end."""

import os
import pickle
import time
import unittest
from typing import Any, List, Tuple
from unittest import mock

import cove
from cove import _cove, _errors, _ffi
from tests.support import Home, run_program, run_python

OPEN = """
import asyncio, os, sys, threading, time
import cove
from cove import aio
KEY = ("app", "demo", "ana")
"""


class Guest(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)
        self.state = os.path.join(self.home.path, "state")

    def check(self, code: str, *lines: str, status: int = 0) -> None:
        """A program of its own says these lines, ends with the status, and nothing is on stderr."""
        done = run_python(OPEN + code, self.state)
        self.assertEqual((done.stdout.splitlines(), done.returncode, done.stderr), (list(lines), status, ""))

    def test_other_threads_go_on_while_a_call_waits(self) -> None:
        self.check(
            """
with cove.Cove(sys.argv[1]) as c, c.acquire(KEY) as workspace:
    waiting = threading.Thread(target=workspace.exec, args=(["sleep", "1"],))
    blocking = threading.Thread(target=lambda: list(c.list()))
    waiting.start()
    blocking.start()
    counted = 0
    while waiting.is_alive():
        time.sleep(0.001)
        counted += 1
    blocking.join()
    print(counted > 20)
""",
            "True",
        )

    def test_no_file_of_coves_takes_the_place_of_a_closed_stdin_stdout_or_stderr(self) -> None:
        told = os.path.join(self.home.path, "told")
        done = run_python(
            OPEN
            + """
for fd in range(3):
    os.close(fd)
with cove.Cove(sys.argv[1]) as c, c.acquire(KEY) as workspace:
    assert workspace.exec(["echo", "up"]).out.text == "up\\n"
    places = [os.readlink(f"/proc/self/fd/{fd}") for fd in range(3)]
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)  # as daemons do; the owner's lock and all else of Cove's stays
    other = cove.Cove(sys.argv[1])
    workspace.exec(["true"])
    with open(sys.argv[2], "w") as file:
        file.write(" ".join(places))
""",
            self.state,
            told,
        )
        self.assertEqual(done.returncode, 0)
        with open(told) as file:
            self.assertEqual(file.read(), "/dev/null /dev/null /dev/null")

    def test_what_a_callback_raises_goes_to_the_hosts_hook_and_harms_nothing(self) -> None:
        self.check(
            """
heard = []
sys.unraisablehook = lambda told: heard.append(type(told.exc_value).__name__)
def log(level, message):
    raise ZeroDivisionError("in the log")
with cove.Cove(sys.argv[1], log=log) as c, c.acquire(KEY) as workspace:
    print(workspace.exec(["echo", "up"]).out.text.strip())
print(set(heard) <= {"ZeroDivisionError"})
""",
            "up",
            "True",
        )

    def test_spawned_processes_have_their_own_and_share_the_workspace(self) -> None:
        program = os.path.join(self.home.path, "spawn.py")
        with open(program, "w") as file:
            file.write(
                OPEN
                + """
import multiprocessing
def work(number):
    with cove.Cove(sys.argv[1]) as c, c.acquire(KEY, chat_id=f"c{number}") as workspace:
        return workspace.exec(["sh", "-c", f"echo {number} $PWD"]).out.text.strip()
def fail(number):
    with cove.Cove(sys.argv[1]) as c, c.acquire(KEY) as workspace:
        workspace.read_file("/etc/passwd")
if __name__ == "__main__":
    with cove.Cove(sys.argv[1]) as c, c.acquire(KEY) as mine:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            print(pool.map(work, [1, 2]))
            try:
                pool.map(fail, [1])
            except cove.PathEscapeError as error:
                print(error.name, "passwd" in error.message)
        print(mine.exec(["echo", "still here"]).out.text.strip())
"""
            )
        done = run_program(program, self.state)
        self.assertEqual(
            (done.stdout.splitlines(), done.returncode),
            (["['1 /workspace/sessions/c1', '2 /workspace/sessions/c2']", "path_escape True", "still here"], 0),
            done.stderr,
        )

    def test_forked_processes_get_a_clear_error_and_the_parent_goes_on(self) -> None:
        self.check(
            """
import multiprocessing, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads
def child(c, workspace, results):
    for call in (lambda: workspace.exec(["true"]), lambda: workspace.read_file("x"), lambda: list(c.list()),
                 lambda: workspace.download("x").save(open(os.devnull, "wb"))):
        try:
            call()
            results.put("no error")
        except cove.FailedPreconditionError as error:
            results.put("forked" in str(error))
    async def other():
        try:
            await again.exec(["true"])
        except cove.FailedPreconditionError as error:
            return "forked" in str(error)
    results.put(asyncio.run(other()))
async def open_other():
    global again
    again = await (await aio.Cove(sys.argv[1])).acquire(KEY)
asyncio.run(open_other())
with cove.Cove(sys.argv[1]) as c, c.acquire(KEY) as workspace:
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    process = fork.Process(target=child, args=(c, workspace, results))
    process.start()
    print([results.get() for _ in range(5)])
    process.join(60)
    print(process.exitcode)
    print(workspace.exec(["echo", "parent goes on"]).out.text.strip())
""",
            "[True, True, True, True, True]",
            "0",
            "parent goes on",
        )

    def test_a_forked_child_may_end_as_any_program(self) -> None:
        self.check(
            """
import warnings
warnings.simplefilter("ignore")
c = cove.Cove(sys.argv[1])
workspace = c.acquire(KEY)
workspace.write_file("zeros", bytes(8 << 20))
download = workspace.download("zeros")
next(download)
child = os.fork()
if child == 0:
    sys.exit(5)  # with all its exit handlers
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
print(sum(len(piece) for piece in download) > 0)
""",
            "5",
            "True",
        )

    def test_exit_in_the_middle_of_everything_is_quiet_and_quick(self) -> None:
        self.check(
            """
c = cove.Cove(sys.argv[1])
workspace = c.acquire(KEY)
workspace.write_file("zeros", bytes(8 << 20))
run = workspace.stream(["sh", "-c", "echo up; exec yes"])
next(run)
download = workspace.download("zeros")
next(download)
def never():
    threading.Event().wait()
    yield b""
for call in (lambda: workspace.exec(["sleep", "100"]), lambda: workspace.upload("never", never()),
             lambda: next(workspace.watch(".")), lambda: next(workspace.grep("y", ".", limit=None)),
             lambda: c.acquire(("app", "demo", "bob"))):
    def quietly(call=call):
        try:
            call()
        except (cove.CoveError, StopIteration):
            pass
    threading.Thread(target=quietly, daemon=True).start()
time.sleep(0.3)
began = time.monotonic()
import atexit
atexit._run_exitfuncs()  # what exit does first
print(time.monotonic() - began < 12)
sys.exit(3)
""",
            "True",
            status=3,
        )

    def test_exit_with_a_loop_that_runs_in_another_thread_is_quiet(self) -> None:
        self.check(
            """
up = threading.Event()
async def main():
    c = await aio.Cove(sys.argv[1])
    workspace = await c.acquire(KEY)
    async def never():
        await asyncio.sleep(1000)
        yield b""
    tasks = [asyncio.ensure_future(call) for call in (
        workspace.exec(["sleep", "100"]), workspace.upload("never", never()), workspace.watch(".").__anext__())]
    await asyncio.sleep(0.3)
    up.set()
    await asyncio.gather(*tasks, return_exceptions=True)
threading.Thread(target=asyncio.run, args=(main(),), daemon=True).start()
up.wait()
print("end")
""",
            "end",
        )

    def test_a_loop_that_is_closed_with_calls_pending_harms_nothing(self) -> None:
        self.check(
            """
loop = asyncio.new_event_loop()
c = loop.run_until_complete(aio.Cove(sys.argv[1])._open())
async def acquire():
    return await c.acquire(KEY)
workspace = loop.run_until_complete(acquire())
task = loop.create_task(workspace.exec(["sleep", "0.3"]))
loop.run_until_complete(asyncio.sleep(0.1))
loop.set_exception_handler(lambda loop, context: None)
loop.close()  # the task is forgotten, its call goes on
time.sleep(0.6)
async def later():
    print((await workspace.exec(["echo", "another loop"])).out.text.strip())
    await workspace.close()
    await c.close()
asyncio.run(later())
task._log_destroy_pending = False
""",
            "another loop",
        )

    def test_a_sub_interpreter_is_refused_clearly(self) -> None:
        self.check(
            """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import sys
sys.path[:0] = %r
try:
    import cove
    said = "imported"
except ImportError as error:
    said = str(error)
import os
os.write(1, ("sub-interpreter" in said and said.startswith("cove: ")).__repr__().encode() + b"\\\\n")
''' % (sys.path,)
interpreters.run_string(interpreters.create(), code)
print(cove.sandbox_id_of(KEY)[:4])
""",
            "True",
            "app-",
        )


class Exit(unittest.TestCase):
    def test_all_that_is_open_is_ended_at_once_and_has_one_time_limit(self) -> None:
        calls: List[Tuple[str, int]] = []

        def close(raw: Any, timeout_ms: int) -> None:
            calls.append((raw, timeout_ms))
            time.sleep(timeout_ms / 1000)
            raise cove.DeadlineError("something still runs in a callback")

        def end_callbacks(timeout_ms: int) -> None:
            calls.append(("callbacks", timeout_ms))
            raise cove.DeadlineError("a callback of the host still runs")

        names = ["a", "b", "c"]
        opened = [mock.Mock(raw=name) for name in names]
        with mock.patch.dict(_ffi.lib, {"cove_close": close, "cove_end_callbacks": end_callbacks}):
            with mock.patch.multiple(_cove, _live=opened, _EXIT_SECONDS=0.2):
                _cove._close_all()
        self.assertEqual(calls[:3], [(name, 0) for name in names])
        self.assertEqual([name for name, _ in calls[3:]], [*names, "callbacks"])
        self.assertGreater(calls[3][1], 100)
        self.assertLessEqual(sum(timeout for _, timeout in calls[:-1]), 200)
        self.assertEqual(calls[-1][1], 1000)  # those that are on their last lines have it in any case


class Errors(unittest.TestCase):
    def test_errors_cross_processes_whole(self) -> None:
        cause = cove.NotFoundError("below", description="below: told")
        for code, kind in _errors.ERRORS.items():
            error = _errors.make_error(code, "a b", "a b (path=x): below", 1500, [("path", "x")], cause)
            copy = pickle.loads(pickle.dumps(error))
            self.assertIs(type(copy), kind)
            self.assertEqual((copy.message, str(copy), copy.retry_after), ("a b", "a b (path=x): below", 1.5))
            self.assertEqual(copy.context, {"path": "x"})
            self.assertIsInstance(copy.cause, cove.NotFoundError)
            self.assertEqual(str(copy.cause), "below: told")
            self.assertIs(error.cause, cause)

    def test_an_error_without_a_cause_or_a_time_has_none(self) -> None:
        error = _errors.make_error(8, "busy", "busy", -1, [], None)
        self.assertEqual((error.retry_after, error.cause, error.name), (None, None, "unavailable"))
        self.assertIsInstance(cove.DeadlineError("x"), TimeoutError)


if __name__ == "__main__":
    unittest.main()
