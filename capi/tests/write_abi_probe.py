"""Writes a C file that defines every function of cove.h with an empty body.

The compiler holds libcove.so's functions to the header's declarations, so a library of this file has
the same ABI, without the debug information of everything that the real one is made of.
Usage: write_abi_probe.py COVE_H OUTPUT
"""

import pathlib
import sys

import header_manifest


def definition(name: str, result: str, arguments: list) -> str:
    body = "" if result == "void" else "return 0;"
    return f"{result} {name}({', '.join(arguments) or 'void'}) {{ {body} }}"


def main(header: str, output: str) -> None:
    functions = header_manifest.read(pathlib.Path(header))["functions"]
    lines = ["#include <cove.h>", *(definition(n, f["result"], f["arguments"]) for n, f in functions.items())]
    pathlib.Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
