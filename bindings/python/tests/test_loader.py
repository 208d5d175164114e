"""Finding the library, and saying clearly why it was not found."""

import pathlib
import sys
import tempfile
import unittest

from tests.support import SOURCE, run_python


class Loader(unittest.TestCase):
    def test_a_named_library_that_is_not_there_is_said_and_no_other_is_taken(self) -> None:
        done = run_python("import cove", COVE_LIBRARY="/nowhere/libcove.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: cove: libcove.so was not found", done.stderr)
        self.assertIn("/nowhere/libcove.so (COVE_LIBRARY)", done.stderr)

    def test_without_a_name_the_package_and_the_system_are_tried(self) -> None:
        done = run_python("import cove", COVE_LIBRARY="")
        if done.returncode == 0:
            self.skipTest("a libcove.so is installed on this system")
        self.assertIn("libcove.so.0.1 (in this package)", done.stderr)
        self.assertIn("libcove.so.0.1 (of the system)", done.stderr)
        self.assertIn("set COVE_LIBRARY", done.stderr)

    def test_another_library_is_refused_by_name(self) -> None:
        done = run_python("import cove", COVE_LIBRARY="libc.so.6")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libc.so.6 is no libcove.so", done.stderr)

    def test_a_library_of_another_version_is_refused(self) -> None:
        done = run_python("import cove._loader as l; l.check_version('0.2.0', '/x')")
        self.assertIn("needs libcove.so 0.1, but /x is 0.2.0", done.stderr)

    def test_the_library_sees_its_own_copies_of_what_the_host_also_has(self) -> None:
        done = run_python(
            """
            import os, ctypes, cove._loader as l
            class Plain:
                def __init__(self, path, mode=None): pass
            mode = l._mode(Plain)
            print(mode == os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
            class Sanitized:
                __asan_init = 1
                def __init__(self, path, mode=None): setattr(self, "__asan_init", 1)
            print(l._mode(Sanitized) == os.RTLD_NOW | os.RTLD_LOCAL)
            """
        )
        self.assertEqual(done.stdout.split(), ["True", "True"], done.stderr)

    def test_only_ffi_uses_ctypes(self) -> None:
        users = [f.name for f in (SOURCE / "cove").glob("*.py") if "import ctypes" in f.read_text()]
        self.assertEqual(users, ["_ffi.py"])


if __name__ == "__main__":
    unittest.main()
