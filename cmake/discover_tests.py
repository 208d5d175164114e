"""Writes a ctest file with one test per Catch2 case and its interesting tags as labels.

Usage: discover_tests.py BINARY PREFIX LABEL OUTPUT
(Debian 12's Catch2 2.13 has no ADD_TAGS_AS_LABELS.)
"""

import re
import subprocess
import sys

LABEL_TAGS = ("slow", "threads", "fuzz")
SKIPPED_STATUS = 77  # kSkippedStatus of tests/support/skip.hpp: the case could not be run here


def list_cases(binary: str, *spec: str) -> list:
    # Catch2 2.13 exits with the number of cases, so the status says nothing.
    listed = subprocess.run([binary, "--list-test-names-only", *spec], stdout=subprocess.PIPE, text=True)
    if listed.returncode < 0:
        sys.exit(f"{binary} ended by signal {-listed.returncode} while listing its tests")
    return [line for line in listed.stdout.splitlines() if line.strip()]


def main(binary: str, prefix: str, kind: str, output: str) -> None:
    names = list_cases(binary)
    if not names:
        sys.exit(f"{binary} has no test case")
    labelled = {tag: set(list_cases(binary, f"[{tag}]")) for tag in LABEL_TAGS}
    lines = []
    for name in names:
        labels = [kind] + [tag for tag in LABEL_TAGS if name in labelled[tag]]
        spec = re.sub(r"([\\,\[\]\"~*])", r"\\\1", name)
        test = f"[==[{prefix}{name}]==]"
        lines.append(f"add_test({test} [==[{binary}]==] [==[{spec}]==])")
        timeout = 1800 if "slow" in labels else 300
        properties = f'LABELS "{";".join(labels)}" TIMEOUT {timeout} SKIP_RETURN_CODE {SKIPPED_STATUS}'
        lines.append(f"set_tests_properties({test} PROPERTIES {properties})")
    with open(output, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
