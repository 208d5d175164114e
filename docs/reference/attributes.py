#!/usr/bin/env python3
"""Copies the Python package with the `#:` comment of each variable as a docstring behind it, which is what pdoc reads.

Usage: attributes.py FROM TO      TO is replaced
"""

import ast
import pathlib
import shutil
import sys


def with_docstrings(text: str) -> str:
    lines = text.split("\n")
    added = []  # of each: behind which line, and what
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        first = node.lineno - 1
        comment = []
        while first > 0 and lines[first - 1].lstrip().startswith("#:"):
            first -= 1
            comment.insert(0, lines[first].lstrip()[2:].strip())
        if comment:
            added.append((node.end_lineno, " " * node.col_offset + repr(" ".join(comment))))
    for line, docstring in sorted(added, reverse=True):
        lines.insert(line, docstring)
    return "\n".join(lines)


def main() -> None:
    source, target = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for path in target.rglob("*.py"):
        path.write_text(with_docstrings(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
