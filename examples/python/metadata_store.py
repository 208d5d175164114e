"""A metadata store written in Python: two chats of one user, with the records in a dict and a JSON file.

    PYTHONPATH=bindings/python/src COVE_LIBRARY=build/release/lib/libcove.so \\
        python3 examples/python/metadata_store.py STATE_DIR

A store of a team's own would keep the documents in its database instead, each in one row, and let that
do the comparing and swapping.
"""

import base64
import dataclasses
import json
import os
import pathlib
import sys
import threading
from typing import Any, Dict, Optional, Tuple

import cove

ANA = cove.WorkspaceKey("app", "metadata-python", "ana")
Id = Tuple[str, bytes]


class JsonStore(cove.MetadataStore):
    """Documents in memory, and in a file that each durable change replaces. One process at a time."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._documents: Dict[Id, cove.Document] = {}
        self._last_version = 0
        if path.exists():
            self._load(json.loads(path.read_text()))

    def insert(self, document: cove.Document, durable: bool) -> int:
        with self._lock:
            if (document.kind, document.name) in self._documents:
                raise cove.AlreadyExistsError("the document is there already")
            return self._put(document, durable)

    def find(self, kind: str, name: bytes) -> Optional[cove.Document]:
        with self._lock:
            return self._documents.get((kind, name))

    def compare_and_swap(self, document: cove.Document, expected: int, durable: bool) -> int:
        with self._lock:
            self._check((document.kind, document.name), expected)
            return self._put(document, durable)

    def remove(self, kind: str, name: bytes, expected: int) -> None:
        with self._lock:
            self._check((kind, name), expected)
            del self._documents[kind, name]
            self._save()

    def query(self, query: cove.DocumentQuery) -> cove.DocumentPage:
        with self._lock:
            return query.select(self._documents.values())

    def _check(self, key: Id, expected: int) -> None:
        found = self._documents.get(key)
        if found is None or found.version != expected:
            raise cove.ConflictError("the document was changed or removed by somebody else")

    def _put(self, document: cove.Document, durable: bool) -> int:
        self._last_version += 1  # one counter for all: no version is ever used again
        self._documents[document.kind, document.name] = document.with_version(self._last_version)
        if durable:
            self._save()
        return self._last_version

    def _save(self) -> None:
        rows = []
        for document in self._documents.values():
            row = dataclasses.asdict(document)
            for field in ("name", "body"):
                row[field] = base64.b64encode(row[field]).decode()
            rows.append(row)
        fresh = self._path.with_suffix(".new")
        with open(fresh, "w") as file:
            json.dump({"last_version": self._last_version, "documents": rows}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _load(self, saved: Dict[str, Any]) -> None:
        self._last_version = saved["last_version"]
        for row in saved["documents"]:
            for field in ("name", "body"):
                row[field] = base64.b64decode(row[field])
            document = cove.Document(**row)
            self._documents[document.kind, document.name] = document


def main(state_dir: str) -> None:
    records = pathlib.Path(state_dir + ".records.json")
    with cove.Cove(state_dir, metadata=JsonStore(records)) as c:
        with c.acquire(ANA, chat_id="c1") as workspace:
            workspace.write_file("note.txt", b"hello")
            result = workspace.exec(["sh", "-c", 'echo "$(cat note.txt) from $PWD"'])
            print(result.out.text, end="")
            sandbox = workspace.sandbox_id
        c.stop(sandbox)
        c.archive(sandbox)

    # Another store, which reads what the first one left in its file.
    with cove.Cove(state_dir, metadata=JsonStore(records)) as c:
        with c.acquire(ANA, chat_id="c2") as workspace:
            note = workspace.read_file("../c1/note.txt").decode()
            print(f"chat c2 reads: {note} ({workspace.work})")
        c.destroy(sandbox)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} STATE_DIR")
    main(sys.argv[1])
