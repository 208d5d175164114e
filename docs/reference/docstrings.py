#!/usr/bin/env python3
"""Checks that what the Python package gives has a docstring: classes, functions, and their public methods.

Usage: docstrings.py      prints what has none; needs the package and its library
"""

import inspect
import sys

import cove
import cove.aio


def undocumented(module) -> list:
    found = []
    for name in module.__all__:
        given = getattr(module, name)
        if not inspect.isclass(given) and not inspect.isroutine(given):
            continue  # an alias of a type: `#:` comments are theirs
        # what Python makes up for a NamedTuple or a dataclass is its signature
        if not given.__doc__ or given.__doc__.startswith(f"{name}("):
            found.append(f"{module.__name__}.{name}")
        if inspect.isclass(given):
            found += [f"{module.__name__}.{name}.{member}" for member in vars_of(given)
                      if not inspect.getdoc(inspect.getattr_static(given, member))]
    return found


def vars_of(kind) -> list:
    """The public methods and properties, also of private bases of the package."""
    return [
        name
        for name in dir(kind)
        if not name.startswith("_")
        and (isinstance(value := inspect.getattr_static(kind, name), (property, classmethod, staticmethod))
             or inspect.isfunction(value))
    ]


def main() -> int:
    found = undocumented(cove) + undocumented(cove.aio)
    for name in found:
        print(f"{name} has no docstring")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
