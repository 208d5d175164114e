"""The calls of tests/tools/calls.json, which every binding answers alike."""

import json
import pathlib
import unittest
from typing import Any, Dict, List, Tuple

import cove

CALLS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "tools" / "calls.json"


def cases() -> List[Tuple[str, Dict[str, Any]]]:
    """Each case with the chat that it is made in."""
    found = json.loads(CALLS.read_text())["cases"]
    return [
        (f"case{number}", json.loads(json.dumps(case).replace("${session}", f"case{number}")))
        for number, case in enumerate(found)
    ]


def arguments_of(step: Dict[str, Any]) -> str:
    arguments = step["arguments"]
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def links_to(files: List[cove.FileToLink]) -> List[str]:
    return ["https://files.example/" + file.info.path for file in files]


def check_answer(test: unittest.TestCase, answer: cove.ToolResult, step: Dict[str, Any]) -> None:
    expect = step["expect"]
    about = f"{step['tool']} {step['arguments']}: {answer}"
    test.assertEqual(answer.is_error, expect["is_error"], about)
    if "text" in expect:
        test.assertEqual(answer.text, expect["text"], about)
    test.assertTrue(answer.text.startswith(expect.get("text_starts", "")), about)
    for part in expect.get("text_has", []):
        test.assertIn(part, answer.text, about)
    for part in expect.get("text_lacks", []):
        test.assertNotIn(part, answer.text, about)
    if "data" in expect:
        test.assertTrue(_has_members(answer.data, expect["data"]), about)


def _has_members(given: Any, wanted: Any) -> bool:
    """Members of `wanted` are in `given`, and so on inside; of arrays each item."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            key in given and _has_members(given[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(given, list)
            and len(given) == len(wanted)
            and all(_has_members(g, w) for g, w in zip(given, wanted))
        )
    return bool(given == wanted)
