"""Searches through the binding: lines and names, as they are found."""

import gc
import os
import unittest
from typing import Any, List

import cove
from cove import _pipe
from cove._calls import registry
from tests.support import WithCove, given


class Grep(WithCove):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        write = cls.workspace.write_file
        write("src/a.py", b"import os\n# TODO: one\ndone\n# todo TODO\n")
        write("src/b.cc", b"// TODO two\n")
        write(b"src/\xff.py", b"TODO three\n")
        write("src/.hidden.py", b"TODO four\n")
        write("src/ignored.py", b"TODO five\n")
        write("src/.gitignore", b"ignored.py\n")
        write("src/binary.py", b"TODO\0six\n")

    def test_lines_come_in_order_with_where_they_are(self) -> None:
        with self.workspace.grep("TODO", "src", literal=True) as found:
            lines = list(found)
            summary = found.summary
        self.assertEqual(
            [(os.fsencode(line.path), line.line, line.column, line.text) for line in lines],
            [
                (b"a.py", 2, 3, "# TODO: one"),
                (b"a.py", 4, 8, "# todo TODO"),
                (b"b.cc", 1, 4, "// TODO two"),
                (b"\xff.py", 1, 1, "TODO three"),
            ],
        )
        self.assertEqual(lines[0].spans, ((2, 4),))
        self.assertEqual((lines[0].is_context, lines[0].cut, lines[0].encoding), (False, False, "bytes"))
        self.assertEqual((summary.ended, summary.matches, summary.files_matched), ("complete", 4, 3))
        self.assertEqual((summary.files_binary, summary.problems), (1, ()))

    def test_every_filter_arrives(self) -> None:
        def paths(*arguments: Any, **named: Any) -> List[str]:
            return [line.path for line in self.workspace.grep(*arguments, **named)]

        self.assertEqual(paths("todo", "src", ignore_case=True, include=["*.cc"]), ["b.cc"])
        self.assertEqual(paths("TODO", "src", include=["*.py"], exclude=["a*"], limit=None), ["\udcff.py"])
        self.assertIn(".hidden.py", paths("TODO", "src", hidden=True))
        self.assertIn("ignored.py", paths("TODO", "src", use_ignore_files=False))
        self.assertEqual(paths("TOD", "src", whole_word=True), [])
        self.assertEqual(paths("t[w]o", "src"), ["b.cc"])
        self.assertEqual(paths("t[w]o", "src", literal=True), [])
        self.assertEqual(paths("TODO", "src/b.cc", max_file_bytes=3), [])

    def test_context_is_marked(self) -> None:
        lines = list(self.workspace.grep("TODO: one", "src/a.py", context_before=1, context_after=1))
        self.assertEqual([(line.line, line.is_context) for line in lines], [(1, True), (2, False), (3, True)])

    def test_a_limit_stops_and_a_long_line_is_cut(self) -> None:
        self.workspace.write_file("long.txt", b"x" * 10_000 + b"needle" + b"y" * 10_000)
        with self.workspace.grep("needle", "long.txt", max_line_bytes=100) as found:
            (line,) = found
        self.assertTrue(line.cut)
        self.assertIn(b"needle", line.content)
        self.assertEqual(line.content_offset + line.spans[0][0], 10_000)
        with self.workspace.grep("TODO", "src", limit=1) as found:
            self.assertEqual(len(list(found)), 1)
            self.assertEqual(found.summary.ended, "limit")

    def test_a_wrong_pattern_says_where(self) -> None:
        with self.assertRaisesRegex(cove.InvalidArgumentError, r"\("):
            list(self.workspace.grep("TODO(", "src"))
        with self.assertRaises(cove.NotFoundError):
            list(self.workspace.grep("TODO", "no-such-directory"))

    def test_a_slow_reader_holds_only_some_and_loses_nothing(self) -> None:
        # 50,000 lines of 100 bytes through a buffer of 1 MiB: it pauses and resumes many times.
        self.workspace.exec(["sh", "-c", "yes $(printf '%099d' 0) | head -n 50000 > many.txt"])
        count = 0
        with self.workspace.grep("0", "many.txt", literal=True, limit=None) as found:
            for line in found:
                count += 1
                self.assertEqual(line.line, count)
                self.assertLess(found._pipe._buffered, 4 * _pipe.BUFFER_BYTES)
            self.assertEqual(found.summary.matches, 50000)

    def test_the_summary_needs_the_end_and_a_cancel_is_no_error(self) -> None:
        self.workspace.exec(["sh", "-c", "yes | head -n 300000 > yes.txt"])
        with self.workspace.grep("y", "yes.txt", limit=None) as found:
            next(found)
            with self.assertRaises(cove.FailedPreconditionError):
                found.summary
            found.cancel()
            rest = sum(1 for _ in found)
            self.assertEqual(found.summary.ended, "cancelled")
            self.assertLess(rest, 299_999)

    def test_leaving_early_or_forgetting_it_ends_the_search(self) -> None:
        before = len(registry._objects)
        with self.workspace.grep("TODO", "src", limit=None) as found:
            next(found)
        forgotten = self.workspace.grep("TODO", "src", limit=None)
        next(forgotten)
        pipe = forgotten._pipe
        del forgotten
        gc.collect()
        pipe.reply.wait()
        self.assertLessEqual(len(registry._objects), before + 1)  # the last drop may be on its way

    def test_arguments_of_a_wrong_type_are_named(self) -> None:
        with self.assertRaisesRegex(TypeError, "include must be a list"):
            self.workspace.grep("x", include="*.py")
        with self.assertRaisesRegex(ValueError, "limit must be"):
            self.workspace.grep("x", limit=0)
        with self.assertRaisesRegex(ValueError, "context_before must be"):
            self.workspace.grep("x", context=2000)


class Find(WithCove):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        write = cls.workspace.write_file
        write("tree/old.txt", b"12345")
        write("tree/deep/new.txt", b"")
        write("tree/deep/new.py", b"1")
        cls.workspace.exec(
            ["sh", "-c", "cd tree && ln -s old.txt link && touch -d @1000000000 old.txt && touch -d @1000000001.5 deep/new.py"]
        )

    def paths(self, *arguments: Any, **named: Any) -> List[str]:
        return [entry.path for entry in self.workspace.find(*arguments, **named)]

    def test_entries_come_in_order_with_their_types(self) -> None:
        with self.workspace.find(path="tree") as found:
            entries = [(entry.path, entry.type, entry.facts) for entry in found]
            self.assertEqual(found.summary.matches, 5)
        self.assertEqual(
            entries,
            [
                ("deep", "directory", None),
                ("deep/new.py", "file", None),
                ("deep/new.txt", "file", None),
                ("link", "symlink", None),
                ("old.txt", "file", None),
            ],
        )

    def test_every_filter_arrives(self) -> None:
        self.assertEqual(self.paths("**/*.{txt,py}", "tree"), ["deep/new.py", "deep/new.txt", "old.txt"])
        self.assertEqual(self.paths("*.txt", "tree", exclude=["deep"]), ["old.txt"])
        self.assertEqual(self.paths(path="tree", type="symlink"), ["link"])
        self.assertEqual(self.paths(path="tree", max_depth=1), ["deep", "link", "old.txt"])
        self.assertEqual(self.paths(path="tree", min_bytes=5), ["old.txt"])
        self.assertEqual(self.paths(path="tree", max_bytes=0), ["deep/new.txt"])
        self.assertEqual(
            self.paths("*.*", "tree", modified_from=1000000000, modified_until=1000000001), ["old.txt"]
        )
        self.assertEqual(self.paths("*.py", "tree", modified_from=1000000001.5), ["deep/new.py"])
        self.assertEqual(self.paths(path="tree", limit=1), ["deep"])

    def test_newest_first_and_facts(self) -> None:
        found = list(self.workspace.find("*.*", "tree", type="file", newest_first=True, facts=True, limit=2))
        self.assertEqual([entry.path for entry in found], ["deep/new.txt", "deep/new.py"])
        facts = given(found[1].facts)
        self.assertEqual((facts.size, facts.modified_ns), (1, 1000000001500000000))
        with self.assertRaises(cove.InvalidArgumentError):
            list(self.workspace.find(path="tree", newest_first=True, limit=None))

    def test_a_wrong_type_is_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "type must be"):
            self.workspace.find(type="fifo")


if __name__ == "__main__":
    unittest.main()
