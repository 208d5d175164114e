"""A Python host that does calls as each line of its stdin says, and how many milliseconds one of them took.

A line names a call, and how many of them follow one another: of several the median counts. Where it ends in
"elsewhere" they are made off the main thread.
Usage: python3 worker.py STATE_DIR PROGRAM
"""

import concurrent.futures
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "src"))
import cove  # noqa: E402

KEY = ("bench", "bindings", "python")
state, program = sys.argv[1:]


def milliseconds(call, times):
    figures = []
    for _ in range(times):
        began = time.perf_counter_ns()
        call()
        figures.append((time.perf_counter_ns() - began) / 1e6)
    return statistics.median(figures)


with cove.Cove(state) as c, concurrent.futures.ThreadPoolExecutor(1) as elsewhere:
    workspace = c.acquire(KEY)
    workspace.write_file("/workspace/true", pathlib.Path(program).read_bytes(), mode=0o755)
    workspace.write_file("page", b"x" * 4096)
    calls = {
        "exec": lambda: workspace.exec(["/workspace/true"]),
        "read": lambda: workspace.read_file("page"),
    }
    for line in sys.stdin:
        name, times, *where = line.split()
        if where:
            took = elsewhere.submit(milliseconds, calls[name], int(times)).result()
        else:
            took = milliseconds(calls[name], int(times))
        print(took, flush=True)
    workspace.release()
    c.destroy(cove.sandbox_id_of(KEY))
