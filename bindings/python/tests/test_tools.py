"""Tools through the binding: what is described, the calls of tests/tools/calls.json, and links."""

import json
import pathlib
import threading
import time
import unittest
from typing import Any, Dict, List

import cove
from tests.support import WithCove

CALLS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "tools" / "calls.json"


def links_to(files: List[cove.FileToLink]) -> List[str]:
    return ["https://files.example/" + file.info.path for file in files]


def has_members(given: Any, wanted: Any) -> bool:
    """Members of `wanted` are in `given`, and so on inside; of arrays each item."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            key in given and has_members(given[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(given, list)
            and len(given) == len(wanted)
            and all(has_members(g, w) for g, w in zip(given, wanted))
        )
    return bool(given == wanted)


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
        for number, case in enumerate(json.loads(CALLS.read_text())["cases"]):
            chat = f"case{number}"
            test = json.loads(json.dumps(case).replace("${session}", chat))
            with self.cove.acquire(("app", "tools", "ana"), chat_id=chat) as workspace:
                with self.subTest(case=test["name"]):
                    self.run_case(workspace, test)
            calls += len(test["calls"])
        self.assertGreaterEqual(calls, 150)

    def run_case(self, workspace: cove.Workspace, test: Dict[str, Any]) -> None:
        for path, content in test.get("files", {}).items():
            workspace.write_file(path, content.encode())
        if "shell" in test:
            workspace.exec(["sh", "-c", test["shell"]])
        for step in test["calls"]:
            arguments = step["arguments"]
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            answer = workspace.call_tool(step["tool"], text, link_maker=links_to)
            self.check_answer(answer, step["expect"], f"{step['tool']} {step['arguments']}: {answer}")
        for path, content in test.get("then", {}).items():
            self.assertEqual(workspace.read_file(path), content.encode(), path)

    def check_answer(self, answer: cove.ToolResult, expect: Dict[str, Any], about: str) -> None:
        self.assertEqual(answer.is_error, expect["is_error"], about)
        if "text" in expect:
            self.assertEqual(answer.text, expect["text"], about)
        self.assertTrue(answer.text.startswith(expect.get("text_starts", "")), about)
        for part in expect.get("text_has", []):
            self.assertIn(part, answer.text, about)
        for part in expect.get("text_lacks", []):
            self.assertNotIn(part, answer.text, about)
        if "data" in expect:
            self.assertTrue(has_members(answer.data, expect["data"]), about)

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


if __name__ == "__main__":
    unittest.main()
