"""What an acquire prepares: inputs, steps of the application, the report."""

import pathlib
import tempfile
import unittest
from typing import Any, List, Tuple

import cove
from tests.support import KEY, WithCove


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

    def test_wrong_inputs_are_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "mirrors must be one of"):
            self.acquire("wrong", mirrors={"nuget": "https://x"})
        with self.assertRaisesRegex(ValueError, "after must be one of"):
            self.acquire("wrong", steps=[cove.PrepareStep("x", lambda run: None, after="then")])
        with self.assertRaises(TypeError):
            self.cove.acquire(KEY, prepare={"files": {}})  # type: ignore[arg-type]
        with self.assertRaisesRegex(cove.InvalidArgumentError, "HOME is the sandbox's own"):
            self.acquire("wrong", variables={"HOME": "/root"})


if __name__ == "__main__":
    unittest.main()
