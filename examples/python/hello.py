"""Two chats of one user, in Python: what chat c1 leaves behind, chat c2 finds, over a stop and an archive.

    PYTHONPATH=bindings/python/src COVE_LIBRARY=build/release/lib/libcove.so \\
        python3 examples/python/hello.py STATE_DIR
"""

import sys

import cove

ANA = cove.WorkspaceKey("app", "hello-python", "ana")


def main(state_dir: str) -> None:
    with cove.Cove(state_dir) as c:
        with c.acquire(ANA, chat_id="c1") as workspace:
            workspace.write_file("note.txt", b"hello")
            result = workspace.exec(["sh", "-c", 'echo "$(cat note.txt) from $PWD"'])
            print(result.out.text, end="")
            sandbox = workspace.sandbox_id

        c.stop(sandbox)
        c.archive(sandbox)

        with c.acquire(ANA, chat_id="c2") as workspace:  # wakes by itself
            note = workspace.read_file("../c1/note.txt").decode()
            print(f"chat c2 reads: {note} ({workspace.work})")

        c.destroy(sandbox)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} STATE_DIR")
    main(sys.argv[1])
