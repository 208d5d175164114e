"""Reads the bindings that the loader made for libcove.so in a host with decoys (host.c): none may
lead to the host, nor from the host's decoys' users to libcove.so.

Usage: check_bindings_made.py HOST LIBRARY [deepbind]
"""

import os
import re
import subprocess
import sys
import tempfile

BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `([^']+)'")


def main(host: str, library: str, *flags: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": f"{folder}/loader"}
        done = subprocess.run([host, library, f"{folder}/state", *flags], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"the host ended with {done.returncode}: {done.stderr}")
            return 1
        log = "".join(open(f"{folder}/{name}").read() for name in os.listdir(folder) if name.startswith("loader"))
    name, program = os.path.basename(os.path.realpath(library)), os.path.basename(host)
    same = lambda path, wanted: os.path.basename(os.path.realpath(path)) == wanted
    made = BINDING.findall(log)
    ours = [(target, symbol) for source, target, symbol in made if same(source, name)]
    errors = [f"libcove.so uses the host's {symbol}" for target, symbol in ours if same(target, program)]
    errors += [f"{source} uses {symbol} of libcove.so" for source, target, symbol in made
               if same(target, name) and not same(source, name) and not symbol.startswith("cove_")]
    if not ours:
        errors.append("the loader named no binding of libcove.so")
    print("\n".join(errors) or f"{len(ours)} bindings of libcove.so, none to the host")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
