"""Builds the wheel py3-none-<platform>: pure Python that brings its libcove.so.

COVE_LIBRARY names the libcove.so to bundle, as build/release/lib/libcove.so.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
LOADER = (HERE / "src" / "cove" / "_loader.py").read_text()
SONAME = "libcove.so." + re.search(r'^ABI = "([^"]+)"', LOADER, re.MULTILINE).group(1)


class BundleLibrary(build_py):
    def run(self):
        library = os.environ.get("COVE_LIBRARY")
        if not library or not pathlib.Path(library).is_file():
            raise SystemExit(
                "cove: this package cannot be installed without its binary. Build libcove.so, then run again with\n"
                "  COVE_LIBRARY=<repository>/build/release/lib/libcove.so"
            )
        super().run()
        target = pathlib.Path(self.build_lib) / "cove" / SONAME
        target.parent.mkdir(parents=True, exist_ok=True)
        # The file itself, whatever links lead to it; its debug information stays with the build.
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", "-o", str(target), library], check=True)
        else:
            shutil.copy(library, target)


class WithBinary(Distribution):
    def has_ext_modules(self):
        return True  # so that the wheel names the platform


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]  # ctypes needs no Python ABI


setup(
    version="0.1.0",
    cmdclass={"build_py": BundleLibrary, "bdist_wheel": AnyPython},
    distclass=WithBinary,
)
