"""The cases of tests/tools/behaviour.json, blocking: what every API does alike."""

import itertools
import json
import pathlib
import threading
import unittest
from typing import Any, Callable, Dict, List, Optional

import cove
from tests.support import Home

CASES = json.loads((pathlib.Path(__file__).resolve().parents[3] / "tests/tools/behaviour.json").read_text())["cases"]
Step = Dict[str, Any]


def seconds(step: Step, name: str) -> Optional[float]:
    return step[name] / 1000 if name in step else None


def file_of(info: cove.FileInfo) -> Dict[str, Any]:
    return {"type": info.type, "size": info.size, "mode": info.mode, "link_target": info.link_target}


class Player:
    """Does the steps of one case."""

    def __init__(self, cove_: cove.Cove, key: cove.WorkspaceKey, chat: str) -> None:
        self.cove, self.key, self.chat = cove_, key, chat
        self.workspace = cove_.acquire(key, chat_id=chat)
        self.running: List[threading.Thread] = []

    def close(self) -> None:
        self.workspace.close()
        for thread in self.running:
            thread.join()

    def play(self, step: Step) -> Dict[str, Any]:
        does: Callable[[Step], Optional[Dict[str, Any]]] = getattr(self, "do_" + step["do"])
        try:
            return does(step) or {}
        except cove.CoveError as error:
            return {"error": error.name}

    def do_exec(self, step: Step) -> Dict[str, Any]:
        options = cove.CommandOptions(shell_line=step["shell"]) if "shell" in step else None
        result = self.workspace.exec(
            step.get("argv", []),
            options=options,
            cwd=step.get("cwd"),
            env=step.get("env"),
            stdin=step["stdin"].encode() if "stdin" in step else None,
            command_timeout=seconds(step, "command_timeout_ms"),
            head_bytes=step.get("head_bytes"),
            tail_bytes=step.get("tail_bytes"),
            max_total_bytes=step.get("max_total_bytes"),
        )
        return {
            "outcome": result.outcome,
            "code": result.code,
            "shell_code": result.shell_code,
            "out": result.out.text,
            "err": result.err.text,
            "total_bytes": result.out.total_bytes,
            "dropped_bytes": result.out.dropped_bytes,
        }

    def do_start(self, step: Step) -> None:
        up = threading.Event()
        options = cove.CommandOptions(shell_line="echo up; " + step["shell"])

        def run() -> None:
            try:
                self.workspace.exec([], options=options, on_output=lambda stream, data: up.set())
            except cove.CoveError:
                pass  # its sandbox was stopped
            up.set()

        self.running.append(threading.Thread(target=run))
        self.running[-1].start()
        up.wait()

    def do_write(self, step: Step) -> Dict[str, Any]:
        info = self.workspace.write_file(
            step["path"],
            step["text"].encode(),
            append=step.get("append", False),
            if_absent=step.get("if_absent", False),
            if_unchanged_since=step.get("if_unchanged_since"),
            create_parents=not step.get("existing_parents", False),
        )
        return file_of(info)

    def do_read(self, step: Step) -> Dict[str, Any]:
        content = self.workspace.read_file(step["path"], offset=step.get("offset", 0), max_bytes=step.get("length"))
        return {"text": content.decode()}

    def do_read_lines(self, step: Step) -> Dict[str, Any]:
        more = {"count": step["count"]} if "count" in step else {}
        part = self.workspace.read_lines(step["path"], first=step["first"], **more)
        return {"text": part.text, "first": part.first, "next": part.next}

    def do_stat(self, step: Step) -> Dict[str, Any]:
        return file_of(self.workspace.stat(step["path"]))

    def do_list(self, step: Step) -> Dict[str, Any]:
        depth = step.get("depth", 1) or None
        return {"names": [entry.path for entry in self.workspace.list(step["path"], depth=depth)]}

    def do_mkdir(self, step: Step) -> None:
        self.workspace.make_directory(step["path"])

    def do_remove(self, step: Step) -> None:
        self.workspace.remove(step["path"], recursive=step.get("recursive", False))

    def do_move(self, step: Step) -> Dict[str, Any]:
        return file_of(self.workspace.move(step["from"], step["to"], overwrite=step.get("overwrite", False)))

    def do_copy(self, step: Step) -> Dict[str, Any]:
        counts = self.workspace.copy(step["from"], step["to"])
        return {"entries": counts.entries, "bytes": counts.bytes}

    def do_chmod(self, step: Step) -> Dict[str, Any]:
        return file_of(self.workspace.set_mode(step["path"], step["mode"]))

    def do_symlink(self, step: Step) -> Dict[str, Any]:
        return file_of(self.workspace.make_symlink(step["path"], step["target"]))

    def do_edit(self, step: Step) -> Dict[str, Any]:
        edits = [cove.Edit(e["old"], e["new"], replace_all=e.get("all", False)) for e in step["edits"]]
        result = self.workspace.edit_file(step["path"], edits)
        return {"replaced": [outcome.replaced for outcome in result.edits]}

    def do_grep(self, step: Step) -> Dict[str, Any]:
        more = {"limit": step["limit"]} if "limit" in step else {}
        with self.workspace.grep(step["pattern"], step["path"], literal=step.get("literal", False), **more) as found:
            lines = [[line.path, line.line, line.text] for line in found]
            return {"lines": lines, "ended": found.summary.ended}

    def do_find(self, step: Step) -> Dict[str, Any]:
        with self.workspace.find(step.get("glob", ""), step["path"], min_bytes=step.get("min_bytes")) as found:
            return {"names": [entry.path for entry in found]}

    def do_release(self, step: Step) -> None:
        self.workspace.release()

    def do_stop(self, step: Step) -> None:
        self.cove.stop(self.workspace.sandbox_id, drain=step.get("drain", "refuse"))

    def do_archive(self, step: Step) -> None:
        self.cove.archive(self.workspace.sandbox_id)

    def do_destroy(self, step: Step) -> None:
        self.cove.destroy(self.workspace.sandbox_id)

    def do_status(self, step: Step) -> Dict[str, Any]:
        return {"state": self.cove.status(self.workspace.sandbox_id)["state"]}

    def do_acquire(self, step: Step) -> Dict[str, Any]:
        self.workspace = self.cove.acquire(self.key, chat_id=self.chat)
        return {"work": self.workspace.work}


class Behaviour(unittest.TestCase):
    def test_every_case_is_as_it_says(self) -> None:
        home = Home()
        self.addCleanup(home.end)
        self.assertGreaterEqual(len(CASES), 40)
        numbers = itertools.count(1)
        with home.open() as c:
            for case in CASES:
                chat = f"case-{next(numbers)}"
                key = cove.WorkspaceKey("app", "behaviour", chat if case.get("own") else "all")
                player = Player(c, key, chat)
                for number, step in enumerate(case["steps"]):
                    with self.subTest(case=case["name"], step=number, do=step["do"]):
                        given = player.play(step)
                        self.assertEqual({name: given.get(name) for name in step["expect"]}, step["expect"], given)
                        self.assertEqual("error" in given, "error" in step["expect"], given)
                player.close()


if __name__ == "__main__":
    unittest.main()
