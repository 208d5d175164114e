"""The wheel: its name, its files, and that it works where only it is."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"  # Debian's, which has setuptools and wheel


def clean_environment() -> Dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("COVE_LIBRARY", "PYTHONPATH")}


def can_build() -> bool:
    probe = [PYTHON, "-c", "import setuptools, wheel"]
    return os.path.exists(PYTHON) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_build(), "python3-setuptools and python3-wheel are not installed")
class Wheel(unittest.TestCase):
    def build(self, folder: str, library: str) -> "subprocess.CompletedProcess[str]":
        copy = pathlib.Path(folder) / "bindings" / "python"
        kept_out = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=kept_out)
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
            self.assertIn("cove/aio/__init__.py", names)
            told = self.run_alone(sys.executable, folder + "/site")
            self.assertEqual(told, [folder + "/site/cove/__init__.py", "0.1.0", "Workspace"])

    def test_pip_installs_it_into_a_clean_environment(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([sys.executable, "-m", "venv", folder + "/venv"], stdout=subprocess.DEVNULL)
            if made.returncode != 0:
                self.skipTest("this Python makes no environments with pip: python3-venv is not installed")
            built = self.build(folder, os.environ["COVE_LIBRARY"])
            self.assertEqual(built.returncode, 0, built.stdout)
            python = folder + "/venv/bin/python"
            install = [python, "-m", "pip", "install", "-q", "--no-index", *glob.glob(folder + "/*.whl")]
            subprocess.run(install, check=True, env=clean_environment())
            where, version, name = self.run_alone(python, "")
            self.assertTrue(where.startswith(folder + "/venv/"), where)
            self.assertEqual((version, name), ("0.1.0", "Workspace"))

    def run_alone(self, python: str, path: str) -> List[str]:
        """What the binding says of itself where nothing but the package tells where its library is."""
        code = (
            "import sys; sys.path[:0] = filter(None, sys.argv[1:]); import cove, cove.aio; "
            "print(cove.__file__, cove.__version__, cove.aio.Workspace.__name__)"
        )
        done = subprocess.run(
            [python, "-I", "-c", code, path], env=clean_environment(), stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout.split()

    def test_it_takes_the_library_of_the_checkout(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "build" / "release" / "lib"
            place.mkdir(parents=True)
            (place / "libcove.so.0.1").symlink_to(os.path.realpath(os.environ["COVE_LIBRARY"]))
            built = self.build(folder, "")
            self.assertEqual(built.returncode, 0, built.stdout)
            (wheel,) = glob.glob(folder + "/*.whl")
            with zipfile.ZipFile(wheel) as archive:
                self.assertGreater(archive.getinfo("cove/libcove.so.0.1").file_size, 1 << 20)

    def test_it_refuses_to_be_built_without_the_library(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            built = self.build(folder, "")
            self.assertNotEqual(built.returncode, 0)
            self.assertIn("cannot be installed without its binary", built.stdout)
            self.assertIn(folder + "/build/release/lib/libcove.so.0.1", built.stdout)
            named = self.build(folder + "/2", "/nowhere/libcove.so")
            self.assertIn("COVE_LIBRARY names /nowhere/libcove.so, which is not there", named.stdout)
            self.assertEqual(glob.glob(folder + "/*.whl"), [])


if __name__ == "__main__":
    unittest.main()
