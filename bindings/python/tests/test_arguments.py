"""What is wrong in a call is said before C sees it; needs no sandbox."""

import ctypes
import os
import tempfile
import unittest
from typing import Any, List
from unittest import mock

import cove
from cove import _edits, _errors, _exec, _ffi, _options


class Arguments(unittest.TestCase):
    def test_the_sandbox_id_is_the_promised_one(self) -> None:
        self.assertEqual(cove.sandbox_id_of(("app", "demo", "ana")), "app-52b3bfdf3477b4e1a1bf8608dc581e36")
        self.assertEqual(cove.sandbox_id_of(("app", "数据", "a-b")), "app-437a76ef03ccf4f4718c84565ce373a4")

    def test_a_wrong_key_is_an_error_of_its_code_with_a_message(self) -> None:
        with self.assertRaises(cove.InvalidArgumentError) as caught:
            cove.sandbox_id_of(("a-b", "demo", "ana"))
        self.assertEqual(caught.exception.code, 1)
        self.assertEqual(caught.exception.name, "invalid_argument")
        self.assertIn("source_type", caught.exception.message)
        self.assertIsInstance(caught.exception, ValueError)

    def test_wrong_types_are_named(self) -> None:
        keys: List[Any] = ["app", ("app", "demo"), ["app", "demo", "ana"], None]
        for wrong in keys:
            with self.assertRaisesRegex(TypeError, "key must be"):
                cove.sandbox_id_of(wrong)
        with self.assertRaisesRegex(TypeError, "source_id must be str, not int"):
            cove.sandbox_id_of(("app", 7, "ana"))  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "user_id must not contain NUL"):
            cove.sandbox_id_of(("app", "demo", "a\0b"))
        with self.assertRaisesRegex(TypeError, "argv must be a list"):
            _options.arguments("sh -c x")
        with self.assertRaisesRegex(TypeError, r"argv\[1\] must be"):
            _options.arguments(["sh", 1])
        with self.assertRaisesRegex(TypeError, "use .encode"):
            _options.data("data", "text")

    def test_times_are_seconds_and_never_become_unlimited(self) -> None:
        self.assertEqual(_options.milliseconds("timeout", None), 0)
        self.assertEqual(_options.milliseconds("timeout", 1.5), 1500)
        self.assertEqual(_options.milliseconds("timeout", 0.0001), 1)
        self.assertEqual(_options.milliseconds("timeout", float("inf")), 2**63)
        for wrong in (0, -1, float("nan")):
            with self.assertRaises(ValueError):
                _options.milliseconds("timeout", wrong)
        for other in ("1", True, b""):
            with self.assertRaises(TypeError):
                _options.milliseconds("timeout", other)

    def test_kept_bytes_tells_the_default_from_nothing(self) -> None:
        self.assertEqual(_options.kept_bytes("head_bytes", None, 99), 0)
        self.assertEqual(_options.kept_bytes("head_bytes", 0, 99), 99)
        self.assertEqual(_options.kept_bytes("head_bytes", 5, 99), 5)
        with self.assertRaises(ValueError):
            _options.kept_bytes("head_bytes", -1, 99)

    def test_names_that_are_no_utf8_go_in_and_come_back(self) -> None:
        name = os.fsdecode(b"\xff\xfe")
        self.assertEqual(_options.path("path", name), b"\xff\xfe")
        self.assertEqual(_options.environment({"A": "1", "B": name}), [b"A=1", b"B=\xff\xfe"])
        with self.assertRaisesRegex(ValueError, "holds '='"):
            _options.environment({"A=B": "1"})

    def test_an_environment_of_another_kind_is_named(self) -> None:
        for wrong in (["A=1"], "A=1", [], 1):
            with self.assertRaisesRegex(TypeError, f"^env must be a dict, not {type(wrong).__name__}$"):
                _exec.command(["true"], env=wrong)  # type: ignore[arg-type]
        self.assertEqual(_options.environment(None), [])

    def test_half_a_surrogate_pair_is_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "^user_id must not contain half of a surrogate pair$") as caught:
            cove.sandbox_id_of(("app", "demo", "a\ud800"))
        self.assertNotIsInstance(caught.exception, UnicodeError)
        with self.assertRaisesRegex(ValueError, "^path must not contain half of a surrogate pair$"):
            _options.path("path", "a\ud800")
        with self.assertRaisesRegex(ValueError, r"^edits\[0\].old must not contain half of a surrogate pair$"):
            _edits.raw_edits([cove.Edit("\udfff", "b")])

    def test_a_handle_of_another_kind_is_refused_by_the_table(self) -> None:
        with self.assertRaises(ctypes.ArgumentError):
            _ffi.lib["cove_workspace_directory"](_ffi.Cove())
        with self.assertRaises(ctypes.ArgumentError):
            _ffi.lib["cove_buffer_size"](_ffi.Error())

    def test_every_code_has_a_class_and_the_names_are_those_of_the_library(self) -> None:
        self.assertEqual(sorted(_errors.ERRORS), list(range(1, 17)))
        for code, error in _errors.ERRORS.items():
            self.assertEqual(_ffi.lib["cove_status_name"](code).decode(), error.name)
            self.assertIn(error.__name__, cove.__all__)

    def test_a_configuration_that_is_wrong_names_the_key(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(cove.InvalidArgumentError, "no_such_key"):
                cove.Cove(folder, config={"no_such_key": 1})

    def test_the_log_is_dropped_when_the_open_fails(self) -> None:
        from cove._calls import registry

        before = len(registry._objects)
        with self.assertRaises(cove.InvalidArgumentError):
            cove.Cove("/nowhere", config={"no_such_key": 1}, log=lambda level, message: None)
        self.assertEqual(len(registry._objects), before)


class StateDir(unittest.TestCase):
    def state_dir(self, uid: int, **environment: str) -> str:
        with mock.patch.dict(os.environ, {"HOME": "/home/ana", **environment}, clear=True):
            with mock.patch("os.geteuid", return_value=uid):
                return cove.default_state_dir()

    def test_the_rule_is_that_of_the_command(self) -> None:
        self.assertEqual(self.state_dir(1000, COVE_HOME="/x"), "/x")
        self.assertEqual(self.state_dir(0, XDG_STATE_HOME="/s"), "/var/lib/cove")
        self.assertEqual(self.state_dir(1000, XDG_STATE_HOME="/s"), "/s/cove")
        self.assertEqual(self.state_dir(1000, XDG_STATE_HOME="relative"), "/home/ana/.local/state/cove")
        self.assertEqual(self.state_dir(1000), "/home/ana/.local/state/cove")


if __name__ == "__main__":
    unittest.main()
