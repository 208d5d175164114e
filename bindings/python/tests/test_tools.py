"""Tools through the binding: what is described, the calls of tests/tools/calls.json, and links."""

import threading
import time
import unittest
from typing import Any, Dict, List

import cove
from cove import aio
from tests.support import WithAsyncCove, WithCove
from tests.tool_cases import TRIES, arguments_of, cases, check_answer, filled, is_awaited, keep, links_to


class Tools(WithCove):
    def test_every_form_describes_the_same_tools(self) -> None:
        plain = cove.describe_tools("plain")
        names = [tool["name"] for tool in plain]
        self.assertIn("sandbox_read_file", names)
        self.assertEqual([t["function"]["name"] for t in cove.describe_tools()], names)
        self.assertEqual([t["name"] for t in cove.describe_tools("mcp")], names)
        self.assertEqual(
            cove.describe_tools("openai")[0]["function"]["parameters"], plain[0]["parameters"]
        )
        with self.assertRaisesRegex(ValueError, "format must be"):
            cove.describe_tools("xml")

    def test_every_call_of_the_file_gets_its_answer(self) -> None:
        calls = 0
        for chat, case in cases():
            with self.cove.acquire(("app", "tools", "ana"), chat_id=chat) as workspace:
                with self.subTest(case=case["name"]):
                    self.run_case(workspace, case)
            calls += len(case["calls"])
        self.assertGreaterEqual(calls, 150)

    def run_case(self, workspace: cove.Workspace, case: Dict[str, Any]) -> None:
        for path, content in case.get("files", {}).items():
            workspace.write_file(path, content.encode())
        if "shell" in case:
            workspace.exec(["sh", "-c", case["shell"]])
        kept: Dict[str, str] = {}
        for step in (filled(each, kept) for each in case["calls"]):
            for _ in range(TRIES):
                answer = workspace.call_tool(step["tool"], arguments_of(step), link_maker=links_to)
                if not is_awaited(step, answer):
                    break
            check_answer(self, answer, step)
            keep(kept, step, answer)
        for path, content in case.get("then", {}).items():
            self.assertEqual(workspace.read_file(path), content.encode(), path)

    def test_without_a_link_maker_the_tool_says_so(self) -> None:
        self.workspace.write_file("page.html", b"<p>")
        answer = self.workspace.call_tool("sandbox_get_file_url", {"paths": ["page.html"]})
        self.assertTrue(answer.is_error)
        self.assertEqual(answer.data["error"]["code"], "unsupported")

    def test_a_link_maker_runs_on_the_calling_thread_and_may_use_the_workspace(self) -> None:
        self.workspace.write_file("page.html", b"<!DOCTYPE html><p>hello")
        seen = []

        def make(files: List[cove.FileToLink]) -> List[str]:
            seen.append((threading.current_thread(), files[0].info.path, files[0].content_type))
            return ["https://x/" + self.workspace.exec(["cat", "page.html"]).out.text[-5:]]

        answer = self.workspace.call_tool(
            "sandbox_get_file_url", '{"paths": ["page.html"]}', link_maker=make
        )
        self.assertFalse(answer.is_error, answer.text)
        self.assertEqual(answer.data["files"][0]["url"], "https://x/hello")
        thread, path, content_type = seen[0]
        self.assertIs(thread, threading.current_thread())
        self.assertEqual(path, "sessions/c1/page.html")
        self.assertTrue(content_type.startswith("text/"), content_type)

    def test_what_a_link_maker_raises_is_the_answer_or_is_raised(self) -> None:
        self.workspace.write_file("page.html", b"<p>")
        ask = {"paths": ["page.html"]}

        def refuse(files: List[cove.FileToLink]) -> List[str]:
            raise cove.PermissionDeniedError("files of this chat are private")

        answer = self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=refuse)
        self.assertTrue(answer.is_error)
        self.assertEqual(answer.data["error"]["code"], "permission_denied")
        self.assertIn("private", answer.text)
        with self.assertRaises(ZeroDivisionError):
            self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=lambda files: [str(1 // 0)])
        with self.assertRaisesRegex(ValueError, "2 links for 1 files"):
            self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=lambda files: ["a", "b"])
        with self.assertRaisesRegex(TypeError, "must return a list of str"):
            self.workspace.call_tool("sandbox_get_file_url", ask, link_maker=lambda files: "https://x/")

    def test_a_time_limit_gives_what_a_command_had_by_then(self) -> None:
        began = time.monotonic()
        answer = self.workspace.call_tool(
            "sandbox_shell", {"command": "echo before; sleep 100"}, timeout=1
        )
        self.assertIn("before", answer.text)
        self.assertLess(time.monotonic() - began, 50)

    def test_a_call_that_was_called_off_is_an_exception(self) -> None:
        cancel = cove.Cancel()
        cancel.trigger()
        with self.assertRaises(cove.CancelledError):
            self.workspace.call_tool("sandbox_ls", {}, cancel=cancel)

    def test_arguments_of_a_wrong_type_are_named(self) -> None:
        with self.assertRaisesRegex(TypeError, "arguments must be JSON"):
            self.workspace.call_tool("sandbox_ls", None)  # type: ignore[arg-type]
        answer = self.workspace.call_tool("no_such_tool", "{}")
        self.assertTrue(answer.is_error)
        self.assertIn("sandbox_ls", answer.text)


class AsyncTools(WithAsyncCove):
    async def test_every_call_of_the_file_gets_its_answer(self) -> None:
        for chat, case in cases():
            async with self.cove.acquire(("app", "tools", "ana"), chat_id=chat) as workspace:
                with self.subTest(case=case["name"]):
                    await self.run_case(workspace, case)

    async def run_case(self, workspace: aio.Workspace, case: Dict[str, Any]) -> None:
        for path, content in case.get("files", {}).items():
            await workspace.write_file(path, content.encode())
        if "shell" in case:
            await workspace.exec(["sh", "-c", case["shell"]])
        kept: Dict[str, str] = {}
        for step in (filled(each, kept) for each in case["calls"]):
            for _ in range(TRIES):
                answer = await workspace.call_tool(
                    step["tool"], arguments_of(step), link_maker=links_to
                )
                if not is_awaited(step, answer):
                    break
            check_answer(self, answer, step)
            keep(kept, step, answer)
        for path, content in case.get("then", {}).items():
            self.assertEqual(await workspace.read_file(path), content.encode(), path)


if __name__ == "__main__":
    unittest.main()
