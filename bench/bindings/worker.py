"""A Python host that does one call per line of its stdin and says how many milliseconds it took.

Usage: python3 worker.py STATE_DIR PROGRAM
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "src"))
import cove  # noqa: E402

KEY = ("bench", "bindings", "python")
state, program = sys.argv[1:]
with cove.Cove(state) as c:
    workspace = c.acquire(KEY)
    workspace.write_file("/workspace/true", pathlib.Path(program).read_bytes(), mode=0o755)
    workspace.write_file("page", b"x" * 4096)
    calls = {
        "exec": lambda: workspace.exec(["/workspace/true"]),
        "read": lambda: workspace.read_file("page"),
    }
    for line in sys.stdin:
        call = calls[line.strip()]
        began = time.perf_counter_ns()
        call()
        print((time.perf_counter_ns() - began) / 1e6, flush=True)
    workspace.release()
    c.destroy(cove.sandbox_id_of(KEY))
