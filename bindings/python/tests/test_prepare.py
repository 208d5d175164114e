"""What an acquire prepares: inputs, steps of the application, the report."""

import asyncio
import pathlib
import tempfile
import threading
import unittest
from typing import Any, List, Set, Tuple

import cove
from cove import aio
from tests.support import KEY, WithAsyncCove, WithCove, eventually


class Prepares(WithCove):
    def acquire(self, chat: str, **named: Any) -> cove.Workspace:
        workspace = self.cove.acquire(KEY, chat_id=chat, prepare=cove.Prepare(**named))
        self.addCleanup(workspace.close)
        return workspace

    def test_inputs_are_there_and_the_report_says_where(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            local = pathlib.Path(folder, "local.txt")
            local.write_bytes(b"from disk")
            workspace = self.acquire(
                "inputs",
                files={"a/数据.csv": b"1,2", "b.txt": local},
                init_script='echo "$MODE $TOKEN" > /workspace/init.txt',
                variables={"MODE": "demo"},
                secrets={"TOKEN": "s3cr3t"},
                time_zone="UTC",
            )
        report = workspace.prepare_report()
        self.assertEqual(report["path"], "run")
        self.assertFalse(report["failed"])
        base = "sessions/inputs/user_files/"
        self.assertEqual(report["input_files"], [base + "数据.csv", base + "b.txt"])
        self.assertEqual(workspace.read_file("user_files/b.txt"), b"from disk")
        self.assertEqual(workspace.read_file("/workspace/init.txt"), b"demo s3cr3t\n")
        self.assertEqual(workspace.exec(["sh", "-c", "echo $MODE"]).out.text, "demo\n")
        self.assertNotIn("s3cr3t", repr(cove.Prepare(secrets={"TOKEN": "s3cr3t"})))

    def test_a_step_of_the_application_works_in_the_workspace(self) -> None:
        heard: List[Tuple[str, str]] = []

        def apply(run: cove.StepRun) -> cove.StepResult:
            self.assertFalse(run.over)
            run.tell("half")
            done = run.workspace.exec(["sh", "-c", "echo made > step.txt; echo $HOME"])
            return cove.StepResult(reason="as asked", output=done.out.text, note=run.note + "n")

        step = cove.PrepareStep("own", apply, fingerprint="1", after="directories")
        workspace = self.acquire(
            "step", steps=[step], on_event=lambda event, step, text: heard.append((event, step))
        )
        own = workspace.prepare_report()["steps"][1]
        self.assertEqual(own["step"], "host/own")
        self.assertEqual((own["outcome"], own["reason"]), ("applied", "as asked"))
        self.assertIn("/home/sandbox", own["output"])
        self.assertEqual(workspace.read_file("step.txt"), b"made\n")
        self.assertEqual(
            [event for event, step in heard if step == "host/own"],
            ["started", "progress", "finished"],
        )

    def test_a_step_that_raises_is_the_acquires_error_where_it_is_required(self) -> None:
        def missing(run: cove.StepRun) -> None:
            raise cove.NotFoundError("no fonts here")

        def broken(run: cove.StepRun) -> None:
            raise KeyError("x")

        with self.assertRaises(cove.NotFoundError) as caught:
            self.acquire("fail1", steps=[cove.PrepareStep("fonts", missing)])
        self.assertEqual(caught.exception.context["step"], "host/fonts")
        with self.assertRaises(cove.InternalError):
            self.acquire("fail2", steps=[cove.PrepareStep("fonts", broken)])
        weak = cove.PrepareStep("weak", missing, fingerprint="1", required=False)
        report = self.acquire("fail3", steps=[weak]).prepare_report()
        self.assertTrue(report["failed"])
        self.assertEqual(report["steps"][-1]["error"]["code"], "not_found")

    def test_a_step_that_takes_too_long_fails(self) -> None:
        def slow(run: cove.StepRun) -> None:
            run.workspace.exec(["sleep", "1000"])

        weak = cove.PrepareStep("slow", slow, fingerprint="1", required=False, timeout=1.0)
        report = self.acquire("slow", steps=[weak]).prepare_report()
        self.assertEqual(report["steps"][-1]["reason"], "it took longer than its 1 s")

    def test_a_failure_has_the_output_that_it_was_given(self) -> None:
        def broken(run: cove.StepRun) -> None:
            raise cove.UnavailableError("no fonts today", context={"output": "curl: 503"})

        weak = cove.PrepareStep("fonts", broken, fingerprint="1", required=False)
        step = self.acquire("output", steps=[weak]).prepare_report()["steps"][-1]
        self.assertEqual((step["error"]["code"], step["output"]), ("unavailable", "curl: 503"))

    def test_a_coroutine_function_needs_a_loop(self) -> None:
        async def apply(run: aio.StepRun) -> None:
            return None

        with self.assertRaisesRegex(TypeError, "needs an acquire of cove.aio"):
            self.acquire("coroutine", steps=[cove.PrepareStep("x", apply)])

    def test_wrong_inputs_are_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "mirrors must be one of"):
            self.acquire("wrong", mirrors={"nuget": "https://x"})
        with self.assertRaisesRegex(ValueError, "after must be one of"):
            self.acquire("wrong", steps=[cove.PrepareStep("x", lambda run: None, after="then")])
        with self.assertRaises(TypeError):
            self.cove.acquire(KEY, prepare={"files": {}})  # type: ignore[arg-type]
        with self.assertRaisesRegex(cove.InvalidArgumentError, "HOME is the sandbox's own"):
            self.acquire("wrong", variables={"HOME": "/root"})

    def test_wrong_types_of_inputs_are_named(self) -> None:
        for name in ("variables", "secrets", "mirrors", "builtin_skills"):
            with self.assertRaisesRegex(TypeError, f"^{name} must be a dict, not list$"):
                self.acquire("wrong", **{name: [("A", "b")]})
        for name in ("skills", "files", "steps"):
            with self.assertRaisesRegex(TypeError, f"^{name} must be a list, not str$"):
                self.acquire("wrong", **{name: "abc"})
        with self.assertRaisesRegex(TypeError, r"^files must be a dict, or a list of \(name, source\), not of str$"):
            self.acquire("wrong", files=["ab"])
        with self.assertRaisesRegex(TypeError, r"^steps\[1\] must be a cove.PrepareStep, not function$"):
            self.acquire("wrong", steps=[cove.PrepareStep("x", lambda run: None), lambda run: None])
        none: Any = None
        with self.assertRaisesRegex(TypeError, r"^steps\[0\].apply must be callable, not NoneType$"):
            self.acquire("wrong", steps=[cove.PrepareStep("x", none)])
        with self.assertRaisesRegex(TypeError, "^on_event must be callable, not str$"):
            self.acquire("wrong", on_event="x")

    def test_half_a_surrogate_pair_in_a_secret_is_named_without_the_secret(self) -> None:
        with self.assertRaises(ValueError) as caught:
            self.acquire("wrong", secrets={"TOKEN": "s3cr3t\ud800"})
        self.assertEqual(str(caught.exception), "secrets['TOKEN'] must not contain half of a surrogate pair")
        self.assertIsNone(caught.exception.__context__)


class AsyncPrepares(WithAsyncCove):
    async def test_steps_run_on_the_loop_and_progress_is_heard_there(self) -> None:
        threads: Set[int] = set()
        heard: List[Tuple[str, str]] = []

        async def apply(run: aio.StepRun) -> cove.StepResult:
            threads.add(threading.get_ident())
            self.assertFalse(run.over)
            run.tell("half")
            done = await run.workspace.exec(["sh", "-c", "echo made > step.txt; echo $HOME"])
            return cove.StepResult(reason="as asked", output=done.out.text, note=run.note + "n")

        def on_event(event: str, step: str, text: str) -> None:
            threads.add(threading.get_ident())
            heard.append((event, step))

        step = cove.PrepareStep("own", apply, fingerprint="1", after="directories")
        prepare = cove.Prepare(steps=[step], on_event=on_event)
        async with self.cove.acquire(KEY, chat_id="async", prepare=prepare) as workspace:
            own = workspace.prepare_report()["steps"][1]
            self.assertEqual((own["step"], own["outcome"], own["reason"]), ("host/own", "applied", "as asked"))
            self.assertEqual(await workspace.read_file("step.txt"), b"made\n")
        await eventually(lambda: ("finished", "host/own") in heard)
        self.assertEqual(threads, {threading.get_ident()})

    async def test_what_a_coroutine_raises_is_the_steps_failure(self) -> None:
        async def missing(run: aio.StepRun) -> None:
            raise cove.NotFoundError("no fonts here")

        async def broken(run: aio.StepRun) -> None:
            raise KeyError("x")

        async def cancelled(run: aio.StepRun) -> None:
            raise asyncio.CancelledError

        for apply, error in ((missing, cove.NotFoundError), (broken, cove.InternalError), (cancelled, cove.UnavailableError)):
            prepare = cove.Prepare(steps=[cove.PrepareStep("fonts", apply)])
            with self.assertRaises(error) as caught:
                await self.cove.acquire(KEY, chat_id="fails", prepare=prepare)
            self.assertEqual(caught.exception.context["step"], "host/fonts")

    async def test_a_blocking_step_has_a_thread_of_its_own(self) -> None:
        threads: Set[int] = set()

        def apply(run: cove.StepRun) -> None:
            threads.add(threading.get_ident())
            run.workspace.exec(["true"])

        prepare = cove.Prepare(steps=[cove.PrepareStep("own", apply)])
        async with self.cove.acquire(KEY, chat_id="thread", prepare=prepare):
            self.assertNotIn(threading.get_ident(), threads)
            self.assertEqual(len(threads), 1)


if __name__ == "__main__":
    unittest.main()
