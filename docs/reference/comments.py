#!/usr/bin/env python3
"""Gives doxygen a header with its comments in doxygen's form: its INPUT_FILTER. Lines keep their numbers.

What our headers leave to the reader's eye is spelled out here; nothing is made up:
- cove.h has plain comments: before a declaration, behind a field, and one with a line of `=` at each section's begin.
  Its first comment says what `struct_size`, the reserved fields and the COVE_..._INIT macros are, for all of them.
- The first comments of cove.h and cove.hpp are the references' first pages.
- In C++ a comment belongs to all functions that follow it without an empty line, and a file's comment that begins
  with a type's name to that type too.

Usage: comments.py HEADER      prints it
"""

import pathlib
import re
import sys

# What doxygen would take for markup. Words between backticks stay as they are.
MARKUP = re.compile(r"(`[^`\n]*`)|::|[\\@<>&#%*\[\]|~]")
SECTION = re.compile(r"/\* =+ (\d+)\. (.*?) =+")
RULED_FIELD = re.compile(r"^  uint32_t (struct_size|reserved\d);(.*)", re.MULTILINE)
# What ends the functions of one comment: the class does, or what the compiler makes or must not make.
END_OF_RUN = re.compile(r"^\s*(\};|private:|protected:|~)|^\}|= (default|delete);")
INIT_MACRO = re.compile(r"^#define (COVE_(\w+)_INIT)\b", re.MULTILINE)


def escaped(comment: str) -> str:
    """A comment's text for doxygen; lines of code, four spaces in, stay."""
    lines = []
    for line in comment.split("\n"):
        margin = " *" if line.startswith(" *") else ""
        text = line[len(margin) :]
        if not text.startswith(" " * 5):
            text = MARKUP.sub(lambda found: found[1] or "\\" + found[0], text)
            text = re.sub(r"\bSince: (\d+\.\d+)", r"@since \1", text)
        lines.append(margin + text)
    return "\n".join(lines)


def c_comment(found: re.Match) -> str:
    comment, text = found[0], found.string
    before = text[: found.start()].rpartition("\n")[2].strip()
    after = text[found.end() :].lstrip()
    section = SECTION.match(comment)
    if found.start() == 0:
        manual = re.sub(r"(?<=\.\n) \* (?=[A-Z])", " * <p>", escaped(comment[2:-2]))  # each rule is a paragraph
        return "/** @mainpage Cove's C API\n *" + manual + "*//** @file */"
    if section:
        number, title = section.groups()
        end = "" if number == "1" else "/** @} */ "
        # the line that opens the group takes the place of the empty one that follows
        return f"{end}/** @defgroup section{number} {title}" + escaped(comment[section.end() : -2]).rstrip() + "\n * @{ */"
    if before:
        return "/**<" + escaped(comment[2:-2]) + "*/"
    if not after or after.startswith(("#if", "#endif", "struct ")):
        return comment  # it is about the lines of the header, not about a declaration
    return "/**" + escaped(comment[2:-2]) + "*/"


def of_c(text: str) -> str:
    macros = INIT_MACRO.findall(text)
    text = re.sub(r"/\*.*?\*/", c_comment, text, flags=re.DOTALL)
    said = {"struct_size": "the struct's own size, as the INIT macro and the init function set it"}
    text = text.replace("* @{ */\n\n", "* @{ */\n")
    text = RULED_FIELD.sub(
        lambda found: found[0] if "/**<" in found[2]
        else f"{found[0]} /**< {said.get(found[1], 'must be 0')} */", text)
    text = text.replace("#ifdef __cplusplus\n}\n", "/** @} */\n#ifdef __cplusplus\n}\n", 1)
    for macro, name in macros:
        text += f"/** @def {macro}\n * All defaults, with the struct's size; as cove_{name.lower()}_init() gives them. */\n"
    return text


def is_comment(line: str) -> bool:
    return line.lstrip().startswith("///")


def share_comments(lines: list) -> None:
    """Puts the functions of one comment into a group, whose members doxygen gives the first one's comment."""
    at = 0
    while at < len(lines):
        if not is_comment(lines[at]):
            at += 1
            continue
        begin = at
        while at < len(lines) and is_comment(lines[at]):
            at += 1
        code = at
        while at < len(lines) and lines[at].strip() and not is_comment(lines[at]):
            if END_OF_RUN.search(lines[at]):
                break
            at += 1
        margin = re.match(r" *", lines[code])[0] if code < len(lines) else ""
        starts = [n for n in range(code, at)
                  if re.match(rf"{margin}[^\s}}]", lines[n]) and not lines[n - 1].lstrip().startswith("template")]
        ends = [*starts[1:], at]
        if begin > 0 and len(starts) > 1 and all("(" in "".join(lines[n:m]) for n, m in zip(starts, ends)):
            lines[begin - 1] += " /**@{*/"
            lines[at - 1] += " /**@}*/"


def describe_type(lines: list) -> None:
    """Gives the type that the file's comment begins with the comment's first paragraph."""
    first = re.match(r"/// (\w+)(<T>)?: (.*)", lines[0])
    if not first:
        return
    paragraph = [first[3][0].upper() + first[3][1:]]
    for line in lines[1:]:
        if not re.match(r"/// \S", line):
            break
        paragraph.append(line[4:])
    for at, line in enumerate(lines):
        if re.match(rf"(class|struct) (\[\[nodiscard\]\] )?{first[1]}\b[^;]*$", line):
            at -= lines[at - 1].startswith("template <")
            if not is_comment(lines[at - 1]):
                lines[at] = f"/** {' '.join(paragraph)} */ {lines[at]}"


def of_cxx(text: str, is_first_page: bool) -> str:
    about, _, _ = text.partition("#pragma once")
    lines = text.replace("#pragma once", "/// @file", 1).split("\n")
    describe_type(lines)
    share_comments(lines)
    if is_first_page:
        lines += ["/// @mainpage Cove's C++ API", "///", about]
    return "\n".join(lines)


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(of_c(text) if path.suffix == ".h" else of_cxx(text, path.name == "cove.hpp"))


if __name__ == "__main__":
    main()
