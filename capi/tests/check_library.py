"""Checks what libcove.so exports, needs, and leaves open for others to define.

Usage: check_library.py exports LIBRARY SYMBOLS_TXT
       check_library.py needs LIBRARY
       check_library.py notice NOTICE BUILD_DIR TARGET...    TARGET: what ninja links, as build.ninja names it
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

# The C and C++ runtime, and what Debian's archives do not fit into a shared library. Every other
# library is linked in and hidden. A new line here is a new thing that can clash inside a host.
NEEDED = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
SANITIZERS = {"libasan.so.8", "libubsan.so.1", "libtsan.so.2"}
# Undefined symbols must carry a version of those, so that no other library can be meant.
VERSIONS = re.compile(r"@+(GLIBC|GLIBCXX|CXXABI|GCC)_[\w.]+$")


def lines_of(*command: str) -> list:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def exports(library: str, symbols: str) -> list:
    wanted = pathlib.Path(symbols).read_text().split()
    # "value type name@@version"; A is the version node itself.
    found = sorted(line.split()[2] for line in lines_of("nm", "-D", "--defined-only", library) if line.split()[1] != "A")
    bare = [name.split("@")[0] for name in found]
    versions = {name.split("@")[-1] for name in found}
    errors = [f"exported but not in symbols.txt: {name}" for name in bare if name not in wanted]
    errors += [f"in symbols.txt but not exported: {name}" for name in wanted if name not in bare]
    if versions != {"COVE_0.1"}:
        errors.append(f"the version nodes are {versions}")
    return errors


def needs(library: str) -> list:
    dynamic = lines_of("readelf", "-dW", library)
    needed = {m.group(1) for line in dynamic if (m := re.search(r"\(NEEDED\).*\[(.+)\]", line))}
    sanitized = bool(needed & SANITIZERS)
    errors = [f"needs {name}, which is not on the list" for name in sorted(needed - NEEDED - SANITIZERS)]
    if any("TEXTREL" in line for line in dynamic):
        errors.append("has relocations in its code: an archive in it is not position independent")
    stack = [line.split() for line in lines_of("readelf", "-lW", library) if "GNU_STACK" in line]
    if not stack or "RWE" in stack[0]:
        errors.append("asks for an executable stack")
    if not any("SONAME" in line and "libcove.so.0.1" in line for line in dynamic):
        errors.append("its SONAME is not libcove.so.0.1")
    for line in lines_of("nm", "-D", "--undefined-only", library):
        kind, name = line.split()[-2:]
        if kind == "w" or VERSIONS.search(name) or (sanitized and re.match(r"__(asan|ubsan|tsan|sanitizer)", name)):
            continue
        errors.append(f"leaves {name} to whoever defines it in the host's process")
    return errors


def archives_of(command: str) -> set:
    """The archives of other projects that a link command takes."""
    found = set()
    for word in command.split():
        path = word
        if word.startswith("-l"):
            path = os.path.normpath(lines_of("gcc", f"-print-file-name=lib{word[2:]}.a")[0])
        if path.startswith("/usr/") and path.endswith(".a"):
            found.add(path)
    return found


def notice(text: str, build: str, *targets: str) -> list:
    if shutil.which("dpkg") is None:
        print("[skipped] no dpkg, which says what an archive belongs to")
        return []
    told = pathlib.Path(text).read_text()
    errors = []
    for target in targets:
        archives = archives_of(lines_of("ninja", "-C", build, "-t", "commands", target)[-1])
        for archive in sorted(archives):
            package = lines_of("dpkg", "-S", archive)[0].split(":")[0]
            if not re.search(rf"\b{re.escape(package)}$", told, re.MULTILINE):
                errors.append(f"{target} has {archive} in it, but NOTICE names no {package}")
        if not archives:
            errors.append(f"no archive was found in how {target} is linked: this check looks in the wrong place")
    return errors


def main(what: str, *arguments: str) -> int:
    errors = {"exports": exports, "needs": needs, "notice": notice}[what](*arguments)
    print("\n".join(errors) or "as it must be")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
