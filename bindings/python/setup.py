"""Builds the wheel py3-none-<platform>: pure Python that brings its libcove.so.

It bundles the libcove.so that COVE_LIBRARY names, else the release's or the development build's of the checkout.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
LOADER = (HERE / "src" / "cove" / "_loader.py").read_text()
SONAME = "libcove.so." + re.search(r'^ABI = "([^"]+)"', LOADER, re.MULTILINE).group(1)


def find_library():
    named = os.environ.get("COVE_LIBRARY")
    if named and not pathlib.Path(named).is_file():
        raise SystemExit(f"cove: COVE_LIBRARY names {named}, which is not there")
    builds = [HERE.parents[1] / "build" / preset / "lib" / SONAME for preset in ("release", "dev")]
    tried = [pathlib.Path(named)] if named else builds
    for library in tried:
        if library.is_file():
            return str(library)
    raise SystemExit(
        "cove: this package cannot be installed without its binary. Build it in the repository\n"
        "  cmake --preset release && cmake --build --preset release --target cove_capi\n"
        "or set COVE_LIBRARY to its path. Tried:\n  " + "\n  ".join(map(str, tried))
    )


class BundleLibrary(build_py):
    def run(self):
        library = find_library()
        super().run()
        target = pathlib.Path(self.build_lib) / "cove" / SONAME
        target.parent.mkdir(parents=True, exist_ok=True)
        # The file itself, whatever links lead to it; its debug information stays with the build.
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", "-o", str(target), library], check=True)
        else:
            shutil.copy(library, target)
        for name in ("LICENSE", "NOTICE"):  # of what is in the library
            shutil.copy(HERE.parents[1] / name, target.parent / name)


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
