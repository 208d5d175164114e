"""A Python host that does one call per line of its stdin and says how many milliseconds it took.

A call whose line ends in "elsewhere" is made off the main thread.
Usage: python3 worker.py STATE_DIR PROGRAM
"""

import concurrent.futures
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "src"))
import cove  # noqa: E402

KEY = ("bench", "bindings", "python")
state, program = sys.argv[1:]


def milliseconds(call):
    began = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - began) / 1e6


with cove.Cove(state) as c, concurrent.futures.ThreadPoolExecutor(1) as elsewhere:
    workspace = c.acquire(KEY)
    workspace.write_file("/workspace/true", pathlib.Path(program).read_bytes(), mode=0o755)
    workspace.write_file("page", b"x" * 4096)
    calls = {
        "exec": lambda: workspace.exec(["/workspace/true"]),
        "read": lambda: workspace.read_file("page"),
    }
    for line in sys.stdin:
        name, *where = line.split()
        if where:
            took = elsewhere.submit(milliseconds, calls[name]).result()
        else:
            took = milliseconds(calls[name])
        print(took, flush=True)
    workspace.release()
    c.destroy(cove.sandbox_id_of(KEY))
