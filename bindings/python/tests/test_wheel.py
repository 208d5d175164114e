"""The wheel: its name, its files, and that it works where only it is."""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"  # Debian's, which has setuptools and wheel


def can_build() -> bool:
    probe = [PYTHON, "-c", "import setuptools, wheel"]
    return os.path.exists(PYTHON) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_build(), "python3-setuptools and python3-wheel are not installed")
class Wheel(unittest.TestCase):
    def build(self, folder: str, library: str) -> "subprocess.CompletedProcess[str]":
        copy = pathlib.Path(folder) / "source"
        subprocess.run(["cp", "-r", str(ROOT), str(copy)], check=True)
        return subprocess.run(
            [PYTHON, "setup.py", "-q", "bdist_wheel", "--dist-dir", folder],
            cwd=copy,
            env={**os.environ, "COVE_LIBRARY": library},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test_it_brings_its_library_and_imports_without_anything_else(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            built = self.build(folder, os.environ["COVE_LIBRARY"])
            self.assertEqual(built.returncode, 0, built.stdout)
            (wheel,) = glob.glob(folder + "/*.whl")
            self.assertRegex(wheel, r"cove_workspace-0\.1\.0-py3-none-linux_\w+\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                names = [n for n in archive.namelist() if n.startswith("cove/")]
                archive.extractall(folder + "/site")
            self.assertIn("cove/libcove.so.0.1", names)
            self.assertIn("cove/py.typed", names)
            environment = {k: v for k, v in os.environ.items() if k not in ("COVE_LIBRARY", "PYTHONPATH")}
            code = "import sys; sys.path.insert(0, sys.argv[1]); import cove; print(cove.__file__, cove.__version__)"
            done = subprocess.run(
                [sys.executable, "-I", "-c", code, folder + "/site"],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            self.assertEqual(done.stdout.split(), [folder + "/site/cove/__init__.py", "0.1.0"])

    def test_it_refuses_to_be_built_without_the_library(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            built = self.build(folder, "")
            self.assertNotEqual(built.returncode, 0)
            self.assertIn("cannot be installed without its binary", built.stdout)
            self.assertEqual(glob.glob(folder + "/*.whl"), [])


if __name__ == "__main__":
    unittest.main()
