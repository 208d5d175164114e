"""Sweeps, sources, sessions, orphans and events."""

import asyncio
import threading
import unittest
from typing import Any, Dict, List, Set

import cove
from cove import aio
from tests.support import KEY, Home, eventually


class Sources(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)

    def test_a_sweep_plans_then_does_what_the_policy_of_a_source_says(self) -> None:
        with self.home.open() as c:
            with c.acquire(KEY) as workspace:
                sandbox = workspace.sandbox_id
            self.assertEqual(c.sweep()["stopped"], 0)
            self.assertEqual(c.idle_policy("app/demo"), cove.IdlePolicy())
            policy = cove.IdlePolicy(stop_after=0, archive_after=1.5, archive="never")
            c.set_idle_policy("app/demo", policy)
            self.assertEqual(c.idle_policy("app/demo"), policy)
            planned = c.sweep(dry_run=True)
            self.assertEqual(planned["planned"], [{"sandbox_id": sandbox, "action": "stop"}])
            self.assertEqual(c.status(sandbox)["state"], "running")
            heard: List[Dict[str, Any]] = []
            done = c.sweep(at_once=1, on_progress=heard.append)
            self.assertEqual((done["stopped"], done["failed"], done["errors"]), (1, 0, []))
            self.assertEqual((heard[0]["sandbox_id"], heard[0]["action"], heard[0]["error"]), (sandbox, "stop", ""))
            self.assertEqual(c.status(sandbox)["state"], "stopped")
            c.set_idle_policy("app/demo", None)
            self.assertEqual(c.idle_policy("app/demo"), cove.IdlePolicy())
            with self.assertRaisesRegex(ValueError, "archive must be"):
                c.set_idle_policy("app/demo", cove.IdlePolicy(archive="soon"))
            with self.assertRaisesRegex(TypeError, "policy must be"):
                c.set_idle_policy("app/demo", 7)  # type: ignore[arg-type]
            with self.assertRaisesRegex(ValueError, "at_once must be 1 to 64"):
                c.sweep(at_once=65)
            with self.assertRaises(cove.InvalidArgumentError):
                c.set_idle_policy("demo", None)

    def test_a_source_is_ended_with_progress_and_revived(self) -> None:
        with self.home.open() as c:
            for user in ("ana", "bob"):
                c.acquire(("app", "demo", user)).close()
            heard: List[Dict[str, Any]] = []
            self.assertEqual(c.destroy_source("app/demo", on_progress=heard.append), 2)
            self.assertEqual([told["destroyed"] for told in heard], [1, 2])
            with self.assertRaises(cove.FailedPreconditionError):
                c.acquire(KEY)
            c.revive_source("app/demo")
            c.acquire(KEY).close()
            with self.assertRaisesRegex(TypeError, "on_progress must be callable"):
                c.destroy_source("app/demo", on_progress=7)  # type: ignore[arg-type]

    def test_a_session_is_removed_and_the_others_stay(self) -> None:
        with self.home.open() as c:
            for chat in ("c1", "c2"):
                with c.acquire(KEY, chat_id=chat) as workspace:
                    workspace.write_file("note.txt", chat.encode())
            c.remove_session(KEY, "c1")
            c.remove_session(KEY, "c1")
            with c.acquire(KEY, chat_id="c2") as workspace:
                self.assertEqual(workspace.read_file("note.txt"), b"c2")
                with self.assertRaises(cove.NotFoundError):
                    workspace.stat("../c1/note.txt")
            with self.assertRaises(cove.InvalidArgumentError):
                c.remove_session(KEY, "")

    def test_events_are_heard_and_nothing_is_an_orphan(self) -> None:
        events: List[Dict[str, Any]] = []
        with self.home.open(on_event=events.append) as c:
            with c.acquire(KEY) as workspace:
                sandbox = workspace.sandbox_id
            c.stop(sandbox)
            found = c.orphans()
            self.assertEqual((found["volumes"], found["instances"]), ([], []))
        ended = [(e["operation"], e["state"], e["reason"]) for e in events if e["completed"]]
        self.assertEqual(ended, [("provision", "running", "acquire"), ("stop", "stopped", "asked")])
        self.assertEqual({e["sandbox_id"] for e in events}, {sandbox})

    def test_the_schema_of_a_configuration_needs_no_cove(self) -> None:
        self.assertIn("state_dir", cove.config_schema()["properties"])


class AsyncSources(unittest.IsolatedAsyncioTestCase):
    async def test_the_same_on_an_event_loop_which_is_where_all_is_heard(self) -> None:
        home = Home()
        self.addCleanup(home.end)
        threads: Set[int] = set()
        events: List[Dict[str, Any]] = []
        steps: List[Dict[str, Any]] = []

        def hear(into: List[Dict[str, Any]]) -> Any:
            def told(what: Dict[str, Any]) -> None:
                threads.add(threading.get_ident())
                into.append(what)

            return told

        async with aio.Cove(f"{home.path}/state", on_event=hear(events)) as c:
            async with c.acquire(KEY, chat_id="c1") as workspace:
                sandbox = workspace.sandbox_id
            await c.remove_session(KEY, "c1")
            await c.set_idle_policy("app/demo", cove.IdlePolicy(stop_after=0, archive="at_once"))
            self.assertEqual((await c.idle_policy("app/demo")).archive, "at_once")
            self.assertEqual((await c.sweep(on_progress=hear(steps)))["stopped"], 1)
            await eventually(lambda: len(steps) > 0)
            self.assertEqual(steps[0]["sandbox_id"], sandbox)
            self.assertEqual((await c.orphans())["volumes"], [])
            self.assertEqual([record["sandbox_id"] async for record in c.list()], [sandbox])
            self.assertEqual(await c.destroy_source("app/demo"), 1)
            await c.revive_source("app/demo")
            await eventually(lambda: any(e["operation"] == "destroy" and e["completed"] for e in events))
        self.assertEqual(threads, {threading.get_ident()})
        self.assertFalse([t.name for t in threading.enumerate() if t.name.startswith("cove")])
        await asyncio.sleep(0)


if __name__ == "__main__":
    unittest.main()
