"""The calls of tests/tools/calls.json, which every binding answers alike."""

import json
import pathlib
import unittest
from typing import Any, Dict, List, Tuple

import cove

#: How often a call is made that waits for a text.
TRIES = 100

CALLS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "tools" / "calls.json"


def cases() -> List[Tuple[str, Dict[str, Any]]]:
    """Each case with the chat that it is made in."""
    found = json.loads(CALLS.read_text())["cases"]
    return [
        (f"case{number}", json.loads(json.dumps(case).replace("${session}", f"case{number}")))
        for number, case in enumerate(found)
    ]


def filled(step: Dict[str, Any], kept: Dict[str, str]) -> Dict[str, Any]:
    """The call with what earlier answers gave: ${name} of each that a call kept."""
    text = json.dumps(step)
    for name, value in kept.items():
        text = text.replace("${" + name + "}", value)
    filled_in: Dict[str, Any] = json.loads(text)
    return filled_in


def keep(kept: Dict[str, str], step: Dict[str, Any], answer: cove.ToolResult) -> None:
    """Notes what later calls name."""
    for name, path in step.get("keep", {}).items():
        value: Any = answer.data
        for part in path.split("."):
            value = value[part]
        kept[name] = value


def is_awaited(step: Dict[str, Any], answer: cove.ToolResult) -> bool:
    """Whether the call is to be made again."""
    return step.get("until", "") not in answer.text


def arguments_of(step: Dict[str, Any]) -> str:
    arguments = step["arguments"]
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def links_to(files: List[cove.FileToLink]) -> List[str]:
    return ["https://files.example/" + file.info.path for file in files]


def check_answer(test: unittest.TestCase, answer: cove.ToolResult, step: Dict[str, Any]) -> None:
    expect = step["expect"]
    about = f"{step['tool']} {step['arguments']}: {answer}"
    test.assertEqual(answer.is_error, expect["is_error"], about)
    test.assertIn(step.get("until", ""), answer.text, about)
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
