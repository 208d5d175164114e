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


#: What must go with the library that is in it.
LEGAL = ("LICENSE", "NOTICE")

#: A command in a workspace, by the blocking and by the asyncio form.
STORY = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
import cove, cove.aio
key = ("app", "matrix", "ana")
version = ".".join(map(str, sys.version_info[:2]))
with cove.Cove(sys.argv[2]) as c:
    with c.acquire(key) as workspace:
        print(version, workspace.exec(["echo", "hello"]).out.text.strip())
async def again():
    async with cove.aio.Cove(sys.argv[2]) as c:
        async with c.acquire(key) as workspace:
            print(version, (await workspace.exec(["echo", "hello"])).out.text.strip())
        await c.destroy(cove.sandbox_id_of(key))
asyncio.run(again())
"""


def pythons_here() -> "dict[str, str]":
    """One of each version from 3.9 on: by version, where it is."""
    places = glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
    places += filter(None, (shutil.which(f"python3.{minor}") for minor in range(9, 20)))
    found = {}
    for place in places:
        told = subprocess.run(
            [place, "-c", "import sys; print(*sys.version_info[:2])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if told.returncode == 0:
            major, minor = map(int, told.stdout.split())
            if (major, minor) >= (3, 9):
                found[f"{major}.{minor}"] = place
    return found


def can_build() -> bool:
    probe = [PYTHON, "-c", "import setuptools, wheel"]
    return os.path.exists(PYTHON) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_build(), "python3-setuptools and python3-wheel are not installed")
class Wheel(unittest.TestCase):
    def build(self, folder: str, library: str) -> "subprocess.CompletedProcess[str]":
        copy = pathlib.Path(folder) / "bindings" / "python"
        kept_out = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=kept_out)
        for name in LEGAL:
            shutil.copy(ROOT.parents[1] / name, folder)
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
            for name in LEGAL:
                self.assertIn("cove/" + name, names)
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

    def test_pip_install_of_the_checkout_works_in_a_clean_environment(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([sys.executable, "-m", "venv", folder + "/venv"], stdout=subprocess.DEVNULL)
            if made.returncode != 0:
                self.skipTest("this Python makes no environments with pip: python3-venv is not installed")
            pip = [folder + "/venv/bin/python", "-m", "pip", "-q"]
            # pip fetches what builds the wheel into an environment of its own.
            fetched = subprocess.run([*pip, "download", "--no-deps", "-d", folder, "setuptools"], env=clean_environment())
            if fetched.returncode != 0:
                self.skipTest("no package index answers here, and pip fetches setuptools")
            self.build(folder, os.environ["COVE_LIBRARY"])
            named = {**clean_environment(), "COVE_LIBRARY": os.environ["COVE_LIBRARY"]}
            subprocess.run([*pip, "install", "."], cwd=folder + "/bindings/python", env=named, check=True)
            where, version, name = self.run_alone(folder + "/venv/bin/python", "")
            self.assertTrue(where.startswith(folder + "/venv/"), where)
            self.assertEqual((version, name), ("0.1.0", "Workspace"))

    def test_every_python_of_this_machine_from_3_9_on_runs_it(self) -> None:
        pythons = pythons_here()
        if len(pythons) < 2:
            self.skipTest("this machine has no Python but " + sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.build(folder, os.environ["COVE_LIBRARY"]).returncode, 0)
            (wheel,) = glob.glob(folder + "/*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder + "/site")
            for version, python in pythons.items():
                with self.subTest(python=version):
                    state = folder + "/state-" + version
                    told = subprocess.run(
                        [python, "-I", "-c", STORY, folder + "/site", state],
                        env=clean_environment(),
                        stdout=subprocess.PIPE,
                        text=True,
                        check=True,
                    )
                    self.assertEqual(told.stdout, f"{version} hello\n" * 2)

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
