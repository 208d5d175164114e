"""Runs the blocks of docs/c-api.md in a directory of their own, and looks at what they say.

Usage: run_c_guide.py DIRECTORY FIRST_PROGRAM GUIDE FIRST_SOURCE
"""

import pathlib
import shutil
import subprocess
import sys
import tarfile

MOST_LINES = 15  # of the first program's main


def run(*command: str) -> str:
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, timeout=240)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def skill(folder: pathlib.Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Makes {name}.\n---\nDo it.\n")


def main() -> None:
    place, first, guide, source = (pathlib.Path(argument) for argument in sys.argv[1:])
    shutil.rmtree(place, ignore_errors=True)
    skill(place / "charts", "charts")
    skill(place / "pdf", "pdf")
    with tarfile.open(place / "pdf.tar", "w") as package:
        package.add(place / "pdf", "pdf")
    body = source.read_text().partition("int main(void) {\n")[2].rpartition("}")[0]
    lines = [line for line in body.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES, f"the first program's main has {len(lines)} lines"
    try:
        said = run(str(first))
        assert said == "42\n", said
        said = run(str(guide), str(place))
        for wanted in ("a.py:1:def all_of(self):\n", "https://files.example/", '"prompt"', '"examined"', "the guide is run\n"):
            assert wanted in said, f"{wanted!r} is not in\n{said}"
    finally:
        run(str(guide), str(place), "end")
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
