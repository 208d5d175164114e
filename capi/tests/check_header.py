"""Checks that the header, the export lists and the Python table say the same.

Usage: check_header.py REPOSITORY
"""

import ast
import pathlib
import re
import sys

import header_manifest

# How a C type of a field looks in _ffi.py.
FIELD_TYPES = {
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "int64_t": "c_int64",
    "size_t": "c_size_t",
    "const char*": "c_char_p",
    "const void*": "c_char_p",
    "const char* const*": "POINTER(c_char_p)",
    "const cove_edit*": "POINTER(Edit)",
    "void*": "c_void_p",
    "cove_cancel*": "Cancel",
    "const cove_prepare*": "Prepare",
    "int32_t": "c_int32",
    "const cove_instance_ref*": "POINTER(InstanceRef)",
    "const struct cove_clock*": "POINTER(Clock)",
    "const struct cove_metadata_store*": "POINTER(MetadataStore)",
    "const struct cove_object_store*": "POINTER(ObjectStore)",
    "const struct cove_provider*": "POINTER(Provider)",
}


def table_of(tree: ast.Module) -> dict:
    """Function name -> its arguments as source, `_ANSWER` written out."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "_FUNCTIONS":
            rows = {}
            for row in node.value.elts:
                arguments = []
                for item in row.elts[2].elts:
                    arguments += ["c_void_p", "DropFn", "P(Error)"] if isinstance(item, ast.Starred) else [ast.unparse(item)]
                rows[row.elts[0].value] = (arguments, ast.unparse(row.elts[3]))
            return rows
    sys.exit("_ffi.py has no _FUNCTIONS")


def structs_of(tree: ast.Module) -> dict:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and [ast.unparse(b) for b in node.bases] == ["_Versioned"]:
            fields = node.body[-1].value.elts
            found[node.name] = [(f.elts[0].value, ast.unparse(f.elts[1])) for f in fields]
    return found


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.removeprefix("cove_").split("_"))


def check_functions(functions: dict, root: pathlib.Path, errors: list) -> None:
    for name, entry in functions.items():
        if not entry["documented"] or not entry["since"]:
            errors.append(f"cove.h: {name} has no comment with a Since")
    symbols = (root / "capi/abi/symbols.txt").read_text().split()
    if symbols != sorted(functions):
        errors.append(f"symbols.txt differs from cove.h: {sorted(set(symbols) ^ set(functions))}")
    mapped = re.findall(r"^\s+(cove_\w+);", (root / "capi/abi/cove.map").read_text(), re.MULTILINE)
    if sorted(mapped) != symbols:
        errors.append(f"cove.map differs from symbols.txt: {sorted(set(symbols) ^ set(mapped))}")


def check_python(manifest: dict, tree: ast.Module, errors: list) -> None:
    table = table_of(tree)
    for name in sorted(set(table) ^ set(manifest["functions"])):
        errors.append(f"{name} is not in both cove.h and _ffi.py")
    for name, (arguments, check) in table.items():
        entry = manifest["functions"].get(name)
        if entry and len(entry["arguments"]) != len(arguments):
            errors.append(f"_ffi.py: {name} has {len(arguments)} arguments, cove.h {len(entry['arguments'])}")
        fails = bool(entry) and bool(entry["arguments"]) and entry["arguments"][-1] == "cove_error** out_error"
        if fails != (check == "_check"):
            errors.append(f"_ffi.py: {name} must {'' if fails else 'not '}be checked")
    structs = structs_of(tree)
    if set(structs) != {camel(name) for name in manifest["structs"]}:
        errors.append(f"structs differ: {set(structs) ^ {camel(n) for n in manifest['structs']}}")
    for name, fields in manifest["structs"].items():
        wanted = [(f, FIELD_TYPES.get(k.replace(" *", "*"), camel(k))) for k, f in fields]
        if structs.get(camel(name)) != wanted:
            errors.append(f"_ffi.py: {camel(name)} is {structs.get(camel(name))}, cove.h has {wanted}")


def main(root: pathlib.Path) -> int:
    manifest = header_manifest.read(root / "capi/include/cove.h")
    tree = ast.parse((root / "bindings/python/src/cove/_ffi.py").read_text())
    errors: list = []
    check_functions(manifest["functions"], root, errors)
    check_python(manifest, tree, errors)
    print("\n".join(errors) or f"{len(manifest['functions'])} functions and {len(manifest['structs'])} structs agree")
    return 1 if errors or len(manifest["functions"]) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
