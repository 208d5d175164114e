"""Writes every ```cpp and ```c block of the given documents as a source file, and prints their names for CMake.

Usage: extract_snippets.py OUTPUT_DIR DOCUMENT...
A block that has no function of its own is put into one; its #include lines stay in front. The places that docs name
on a host become the macros STATE and CHARTS in C, so that its blocks can be run.
"""

import pathlib
import re
import sys

PLACES = {"/var/lib/app/cove": '" STATE "', "/opt/app/charts": '" CHARTS "'}
BLOCK = re.compile(r"^```(cpp|c)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def as_source(code: str, language: str) -> str:
    if re.search(r"^\w[\w:<>*& ]*\([^;]*\)\s*\{", code, re.MULTILINE):
        return code
    lines = code.splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    if language == "cpp":
        includes += ["#include <cstdio>", "#include <span>"]
        head = "[[maybe_unused]] static void snippet() {"
    else:
        head = "void snippet(void);\nvoid snippet(void) {"
    return "\n".join([*includes, head, *body, "}", ""])


def main(output: str, *documents: str) -> None:
    folder = pathlib.Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for document in documents:
        text = pathlib.Path(document).read_text()
        for number, (language, code) in enumerate(BLOCK.findall(text), start=1):
            name = folder / f"{pathlib.Path(document).stem}_{number}.{'cpp' if language == 'cpp' else 'c'}"
            source = as_source(code, language)
            if language == "c":
                for place, macro in PLACES.items():
                    source = source.replace(place, macro)
            if not name.exists() or name.read_text() != source:
                name.write_text(source)
            names.append(str(name))
    print(";".join(names), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
