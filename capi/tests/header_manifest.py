"""cove.h as data: its functions with their documentation, and its structs with their fields.

Usage: header_manifest.py COVE_H      prints JSON
"""

import json
import pathlib
import re
import sys

DOCUMENTED = re.compile(r"/\*((?:(?!\*/).)*)\*/\s*COVE_API\s+([^;]+);", re.DOTALL)
DECLARED = re.compile(r"COVE_API\s+([^;]+);")
PROTOTYPE = re.compile(r"(.*?)\b(cove_\w+)\s*\((.*)\)\s*$", re.DOTALL)
STRUCT = re.compile(r"typedef struct (cove_\w+) \{(.*?)\} \1;", re.DOTALL)
FIELD = re.compile(r"([\w\s*]+?[\s*])(\w+)\s*;")


def read(path: pathlib.Path) -> dict:
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", path.read_text(), flags=re.MULTILINE)
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    docs = {PROTOTYPE.match(code).group(2): doc for doc, code in DOCUMENTED.findall(text)}
    functions = {}
    for code in DECLARED.findall(bare):
        result, name, arguments = PROTOTYPE.match(" ".join(code.split())).groups()
        since = re.search(r"Since: (\d+\.\d+)", docs.get(name, ""))
        functions[name] = {
            "result": result.strip(),
            "arguments": [] if arguments == "void" else [a.strip() for a in arguments.split(",")],
            "documented": name in docs,
            "since": since.group(1) if since else None,
        }
    structs = {
        name: [[" ".join(kind.split()), field] for kind, field in FIELD.findall(body)]
        for name, body in STRUCT.findall(bare)
    }
    return {"functions": functions, "structs": structs}


if __name__ == "__main__":
    print(json.dumps(read(pathlib.Path(sys.argv[1])), indent=1))
