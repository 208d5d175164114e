"""Parts of a program's own: a metadata store, an object store, a clock, and the agent's program."""

import os
import stat
import threading
import unittest
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple
from unittest import mock

import cove
from cove import _ffi, aio
from tests.support import KEY, Home

Id = Tuple[str, bytes]


class DictStore(cove.MetadataStore):
    """Documents in memory; what was asked, and on which threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.documents: Dict[Id, cove.Document] = {}
        self.last_version = 0
        self.threads_seen: Set[int] = set()
        self.closed = 0

    def insert(self, document: cove.Document, durable: bool) -> int:
        with self.lock:
            self.threads_seen.add(threading.get_ident())
            if (document.kind, document.name) in self.documents:
                raise cove.AlreadyExistsError("it is there")
            return self._put(document)

    def find(self, kind: str, name: bytes) -> Optional[cove.Document]:
        with self.lock:
            return self.documents.get((kind, name))

    def compare_and_swap(self, document: cove.Document, expected: int, durable: bool) -> int:
        with self.lock:
            self._check((document.kind, document.name), expected)
            return self._put(document)

    def remove(self, kind: str, name: bytes, expected: int) -> None:
        with self.lock:
            self._check((kind, name), expected)
            del self.documents[kind, name]

    def query(self, query: cove.DocumentQuery) -> cove.DocumentPage:
        with self.lock:
            return query.select(self.documents.values())

    def close(self) -> None:
        self.closed += 1

    def _check(self, key: Id, expected: int) -> None:
        found = self.documents.get(key)
        if found is None or found.version != expected:
            raise cove.ConflictError("somebody else changed it")

    def _put(self, document: cove.Document) -> int:
        self.last_version += 1
        self.documents[document.kind, document.name] = document.with_version(self.last_version)
        return self.last_version


class DictObjects(cove.ObjectStore):
    def __init__(self) -> None:
        self.objects: Dict[str, bytes] = {}
        self.closed_sources = 0

    def put(self, key: str, content: cove.ObjectContent) -> None:
        data = b"".join(content)
        if key in self.objects:
            raise cove.AlreadyExistsError("the key is taken")
        if not content.over:
            self.objects[key] = data

    def get(self, key: str) -> Iterator[bytes]:
        if key not in self.objects:
            raise cove.NotFoundError(f"no object {key}")
        return self._pieces(self.objects[key])

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            yield b""  # is not the end
            for at in range(0, len(data), 1000):
                yield data[at : at + 1000]
        finally:
            self.closed_sources += 1

    def stat(self, key: str) -> int:
        if key not in self.objects:
            raise cove.NotFoundError(f"no object {key}")
        return len(self.objects[key])

    def list(self, prefix: str, after: str, limit: int) -> cove.ObjectPage:
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        return cove.ObjectPage([(key, len(self.objects[key])) for key in keys[:limit]], len(keys) <= limit)

    def remove(self, key: str) -> None:
        self.objects.pop(key, None)


class Parts(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.end)

    def test_stores_in_python_hold_everything_over_an_archive(self) -> None:
        metadata, objects = DictStore(), DictObjects()
        with self.home.open(metadata=metadata, objects=objects) as c:
            with c.acquire(KEY, chat_id="c1") as workspace:
                workspace.write_file("note.txt", os.urandom(300_000))
                before = workspace.read_file("note.txt")
                sandbox = workspace.sandbox_id
            self.assertEqual([one["sandbox_id"] for one in c.list()], [sandbox])
            c.archive(sandbox)
            self.assertTrue(objects.objects)
            with c.acquire(KEY, chat_id="c2") as workspace:
                self.assertEqual(workspace.work, "restored")
                self.assertEqual(workspace.read_file("../c1/note.txt"), before)
            c.destroy(sandbox)
            self.assertGreater(objects.closed_sources, 0)
        self.assertEqual(metadata.closed, 1)
        self.assertNotIn(threading.get_ident(), metadata.threads_seen)

    def test_content_that_outlives_its_put_is_over(self) -> None:
        class Keeping(DictObjects):
            def __init__(self) -> None:
                super().__init__()
                self.kept: List[cove.ObjectContent] = []
                self.over: List[bool] = []

            def put(self, key: str, content: cove.ObjectContent) -> None:
                self.kept.append(content)
                self.over.append(content.over)
                super().put(key, content)

        objects = Keeping()
        with self.home.open(objects=objects) as c:
            c.acquire(KEY).close()
            c.archive(cove.sandbox_id_of(KEY))
            c.destroy(cove.sandbox_id_of(KEY))
            self.assertFalse(any(objects.over))
            # What would say it is freed: nobody asks it.
            with mock.patch.dict(_ffi.lib, {"cove_done_is_over": mock.Mock(side_effect=AssertionError)}):
                self.assertEqual([content.over for content in objects.kept], [True] * len(objects.kept))
        self.assertTrue(objects.kept)

    def test_what_a_store_raises_is_the_error_of_whoever_asked(self) -> None:
        class Broken(DictStore):
            def find(self, kind: str, name: bytes) -> Optional[cove.Document]:
                if kind == "sandbox":
                    raise cove.UnavailableError("the database is away", retry_after=0.25)
                return super().find(kind, name)

            def query(self, query: cove.DocumentQuery) -> cove.DocumentPage:
                raise KeyError("oh no")

        with self.home.open(metadata=Broken()) as c:
            with self.assertRaises(cove.UnavailableError) as caught:
                c.status("app-none")
            self.assertEqual((caught.exception.message, caught.exception.retry_after), ("the database is away", 0.25))
            with self.assertRaisesRegex(cove.InternalError, "metadata store raised KeyError: 'oh no'"):
                list(c.list())

    def test_an_answer_that_makes_no_sense_is_an_internal_error(self) -> None:
        class Wrong(DictStore):
            answer: Any = None

            def find(self, kind: str, name: bytes) -> Optional[cove.Document]:
                found: Optional[cove.Document] = self.answer if kind == "sandbox" else super().find(kind, name)
                return found

        store = Wrong()
        with self.home.open(metadata=store) as c:
            for answer in ("text", cove.Document("sandbox", b"another", b"{}"), cove.Document("none", b"x", b"")):
                store.answer = answer
                with self.assertRaises(cove.InternalError):
                    c.status("app-none")
            store.answer = cove.Document("sandbox", b"app-none", b'{"version": 2, "sand', version=1)  # cut
            with self.assertRaises(cove.IntegrityError):
                c.status("app-none")

    def test_a_clock_that_is_set_ahead_makes_a_workspace_idle_and_it_wakes(self) -> None:
        clock = cove.FakeClock()
        with self.home.open(clock=clock, config={"lifecycle": {"stop_after_s": 3600}}) as c:
            c.acquire(KEY).close()
            self.assertEqual(c.sweep()["stopped"], 0)
            clock.advance(61 * 60)
            self.assertEqual(c.sweep()["stopped"], 1)
            with c.acquire(KEY) as workspace:
                self.assertEqual(workspace.work, "resumed")
            c.destroy(cove.sandbox_id_of(KEY))
        clock.advance(1)  # nobody goes by it any more

    def test_time_limits_go_by_the_clock(self) -> None:
        clock = cove.FakeClock()
        with self.home.open(clock=clock) as c:
            workspace = c.acquire(KEY)
            stream = workspace.stream(["sh", "-c", "echo up; exec sleep 100"], timeout=3600)
            self.assertEqual(next(iter(stream)).data, b"up\n")
            clock.advance(3601)
            self.assertEqual(list(stream), [])
            self.assertEqual(stream.result.outcome, "timed_out")
            workspace.close()
            c.destroy(cove.sandbox_id_of(KEY))

    def test_parts_of_another_kind_are_refused_before_anything_opens(self) -> None:
        for name in ("metadata", "objects", "clock"):
            with self.assertRaisesRegex(TypeError, f"{name} must be a cove"):
                self.home.open(**{name: object()})
        with self.assertRaises(ValueError):
            cove.FakeClock().advance(-1)

    def test_a_cove_that_does_not_open_lets_go_of_its_parts(self) -> None:
        store = DictStore()
        with self.assertRaises(cove.InvalidArgumentError):
            self.home.open(metadata=store, config={"no such key": 1})
        self.assertEqual(store.closed, 1)

    def test_the_agent_is_written_whole(self) -> None:
        path = os.path.join(self.home.path, "cove-agent")
        cove.write_agent(path)
        facts = os.stat(path)
        self.assertEqual(stat.S_IMODE(facts.st_mode), 0o555)
        self.assertGreater(facts.st_size, 100_000)
        with self.assertRaises(cove.NotFoundError):
            cove.write_agent(os.path.join(self.home.path, "not", "there"))


class AsyncParts(unittest.IsolatedAsyncioTestCase):
    async def test_stores_and_clocks_go_with_asyncio(self) -> None:
        home = Home()
        self.addCleanup(home.end)
        store = DictStore()
        state = os.path.join(home.path, "state")
        async with aio.Cove(state, metadata=store, clock=cove.FakeClock()) as c:
            found: List[Any] = [one async for one in c.list()]
            self.assertEqual(found, [])
        self.assertEqual(store.closed, 1)
        self.assertIn("deployment", {kind for kind, _ in store.documents})

    async def test_a_clock_that_moves_is_followed(self) -> None:
        home = Home()
        self.addCleanup(home.end)
        clock = cove.FakeClock()
        idle = {"lifecycle": {"stop_after_s": 3600}}
        async with aio.Cove(os.path.join(home.path, "state"), clock=clock, config=idle) as c:
            async with c.acquire(KEY):
                pass
            clock.advance(61 * 60)
            self.assertEqual((await c.sweep())["stopped"], 1)

    async def test_the_agent_is_written(self) -> None:
        home = Home()
        self.addCleanup(home.end)
        path = os.path.join(home.path, "cove-agent")
        await aio.write_agent(path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o555)
        with self.assertRaises(cove.NotFoundError):
            await aio.write_agent(os.path.join(home.path, "not", "there"))


class Queries(unittest.TestCase):
    def test_select_filters_orders_and_pages(self) -> None:
        documents = [
            cove.Document("sandbox", b"b", b"", state="running", active_at_ms=5),
            cove.Document("sandbox", b"a", b"", state="running", active_at_ms=5),
            cove.Document("sandbox", b"\xff", b"", state="stopped", active_at_ms=-1),
            cove.Document("sandbox", b"c", b""),
            cove.Document("lease", b"d", b"", active_at_ms=0),
        ]

        def names(**query: Any) -> Tuple[List[bytes], bool]:
            settings: Dict[str, Any] = {"kind": "sandbox", "order": "name", "limit": 10, **query}
            page = cove.DocumentQuery(**settings).select(documents)
            return [document.name for document in page.documents], page.is_last

        self.assertEqual(names(), ([b"a", b"b", b"c", b"\xff"], True))
        self.assertEqual(names(order="active"), ([b"\xff", b"a", b"b"], True))
        self.assertEqual(names(order="active", limit=1), ([b"\xff"], False))
        self.assertEqual(names(order="active", after=(5, b"a")), ([b"b"], True))
        self.assertEqual(names(state="running"), ([b"a", b"b"], True))
        self.assertEqual(names(state=""), ([], True))
        self.assertEqual(names(active_before_ms=5), ([b"\xff"], True))


if __name__ == "__main__":
    unittest.main()
