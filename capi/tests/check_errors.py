"""Checks docs/errors.md against the codes of include/cove/error.hpp, cove.h and the Python classes.

Usage: check_errors.py REPOSITORY
"""

import pathlib
import re
import sys

ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| `(\w+)` \| `(\w+)` \| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def main(root: pathlib.Path) -> int:
    header = (root / "include/cove/error.hpp").read_text()
    codes = {int(number): name for name, number in re.findall(r"\bk(\w+) = (\d+),", header)}
    in_c = {int(n): name for name, n in re.findall(r"\b(COVE_\w+) = (\d+)", (root / "capi/include/cove.h").read_text().split("cove_error;")[0])}
    python = (root / "bindings/python/src/cove/_errors.py").read_text()
    classes = {int(n): (cls, name) for cls, n, name in
               re.findall(r'class (\w+)\([^)]*\):\n    """[^"]*"""\n\n    code, name = (\d+), "(\w+)"', python)}
    errors = []
    rows = {int(row[0]): row[1:] for row in ROW.findall((root / "docs/errors.md").read_text())}
    if sorted(rows) != sorted(codes) or len(codes) != 16:
        errors.append(f"errors.md has the codes {sorted(rows)}, error.hpp {sorted(codes)}")
    for number, (name, cxx, c, cls, meaning, retry) in rows.items():
        wanted = (snake(codes.get(number, "")), "k" + codes.get(number, ""), in_c.get(number), *classes.get(number, ("", "")))
        if (name, cxx, c, cls, name) != wanted:
            errors.append(f"errors.md, {number}: has {(name, cxx, c, cls)}, the code has {wanted}")
    remedies = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", (root / "docs/errors.md").read_text(), re.MULTILINE)
    wanted_names = [snake(name) for _, name in sorted(codes.items())]
    if [name for name, _, _ in remedies] != wanted_names:
        errors.append(f"errors.md has causes and remedies of {[row[0] for row in remedies]}, the codes are {wanted_names}")
    print("\n".join(errors) or "errors.md agrees with error.hpp, cove.h and the Python classes")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
