"""Moving a workspace to another provider of the configuration, and what is said of where things are."""

import os
import unittest
from typing import Any, Dict, List

import cove
from cove import aio
from tests.support import KEY, Home, make_tree

SYSTEM = "if [ -e /etc/mark ]; then cat /etc/mark; else echo host; fi"


def home_with_tree() -> Home:
    """One whose configuration has the provider "tree" beside the usual one."""
    home = Home()
    tree = os.path.join(home.path, "tree")
    make_tree(tree)
    home.config = {"providers": {"tree": {"root_tree": tree}}}
    return home


class Relocate(unittest.TestCase):
    def setUp(self) -> None:
        self.home = home_with_tree()
        self.addCleanup(self.home.end)

    def system_of(self, c: cove.Cove) -> str:
        with c.acquire(KEY) as workspace:
            return workspace.exec(["sh", "-c", SYSTEM]).out.text

    def test_a_workspace_moves_to_a_named_tree_and_back_with_its_files(self) -> None:
        events: List[Dict[str, Any]] = []
        with self.home.open(on_event=events.append) as c:
            with c.acquire(KEY) as workspace:
                sandbox = workspace.sandbox_id
                workspace.write_file("note.txt", b"hello")
            self.assertEqual(self.system_of(c), "host\n")
            c.relocate(sandbox, "tree")
            known = c.status(sandbox)
            self.assertEqual((known["provider"], known["state"]), ("tree", "running"))
            self.assertEqual(self.system_of(c), "named tree\n")
            c.relocate(sandbox, "tree")  # it is there
            c.archive(sandbox)
            c.relocate(sandbox, provider="local", timeout=120)
            self.assertEqual(self.system_of(c), "host\n")
            with c.acquire(KEY) as workspace:
                self.assertEqual(workspace.read_file("note.txt"), b"hello")
            self.assertEqual(c.orphans()["volumes"], [])
        ended = [(e["operation"], e["state"], e["reason"]) for e in events if e["completed"]]
        self.assertEqual([e for e in ended if e[0] == "relocate"], [("relocate", "running", "asked")])

    def test_use_refuses_it_or_is_ended(self) -> None:
        with self.home.open() as c, c.acquire(KEY) as workspace:
            sandbox = workspace.sandbox_id
            with workspace.stream(["sh", "-c", "echo up; exec sleep 1000"]) as run:
                self.assertEqual(next(run), ("stdout", b"up\n"))
                with self.assertRaises(cove.FailedPreconditionError):
                    c.relocate(sandbox, "tree")
                self.assertEqual(c.status(sandbox)["provider"], "local")
                c.relocate(sandbox, "tree", drain="cancel")
            self.assertEqual(c.status(sandbox)["provider"], "tree")
            self.assertEqual(workspace.exec(["sh", "-c", SYSTEM]).out.text, "named tree\n")

    def test_what_cannot_be_meant_is_refused(self) -> None:
        with self.home.open() as c:
            with c.acquire(KEY) as workspace:
                sandbox = workspace.sandbox_id
            with self.assertRaisesRegex(cove.InvalidArgumentError, "no provider 'nowhere'"):
                c.relocate(sandbox, "nowhere")
            with self.assertRaises(cove.InvalidArgumentError):
                c.relocate(sandbox, "")
            with self.assertRaises(cove.InvalidArgumentError):
                c.relocate(sandbox, "tree", wait=3601)
            with self.assertRaises(cove.NotFoundError):
                c.relocate(cove.sandbox_id_of(("app", "demo", "bob")), "tree")
            with self.assertRaisesRegex(ValueError, "drain must be"):
                c.relocate(sandbox, "tree", drain="soon")
            with self.assertRaisesRegex(TypeError, "provider must be str, not int"):
                c.relocate(sandbox, 7)  # type: ignore[arg-type]
            known = c.status(sandbox)
            self.assertEqual((known["provider"], known["state"]), ("local", "running"))

    def test_what_is_foreign_is_told_with_its_provider(self) -> None:
        sandboxes = {}
        with self.home.open(config={**self.home.config, "metadata": {"type": "memory"}}) as c:
            for user, provider in (("ana", "local"), ("bob", "tree")):
                with c.acquire(("app", "demo", user)) as workspace:
                    sandbox = workspace.sandbox_id
                c.relocate(sandbox, provider)
                c.stop(sandbox)
                sandboxes[sandbox] = provider
        with self.home.open() as c:
            found = c.orphans()
        told = {volume["sandbox_id"]: volume["provider"] for volume in found["foreign_volumes"]}
        self.assertEqual(told, sandboxes)
        self.assertEqual((found["volumes"], found["instances"], found["foreign_instances"]), ([], [], []))


class AsyncRelocate(unittest.IsolatedAsyncioTestCase):
    async def test_the_same_on_an_event_loop(self) -> None:
        home = home_with_tree()
        self.addCleanup(home.end)
        async with aio.Cove(os.path.join(home.path, "state"), config=home.config) as c:
            async with c.acquire(KEY) as workspace:
                sandbox = workspace.sandbox_id
                await workspace.write_file("note.txt", b"hello")
            with self.assertRaises(cove.InvalidArgumentError):
                await c.relocate(sandbox, "nowhere")
            await c.relocate(sandbox, "tree", drain="cancel", wait=1)
            self.assertEqual((await c.status(sandbox))["provider"], "tree")
            async with c.acquire(KEY) as workspace:
                self.assertEqual((await workspace.exec(["sh", "-c", SYSTEM])).out.text, "named tree\n")
                self.assertEqual(await workspace.read_file("note.txt"), b"hello")


if __name__ == "__main__":
    unittest.main()
