"""Skills: published ones from bytes, a directory and the shelf, builtin ones, and what a workspace has."""

import io
import pathlib
import tempfile
import unittest
import zipfile
from typing import Any

import cove
from tests.support import KEY, WithAsyncCove, WithCove

SKILL = "---\nname: {0}\ndescription: makes <{0}>\n---\n# {0}\n"


def package(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("SKILL.md", SKILL.format(name))
        archive.writestr("run.sh", f"echo {name}\n")
    return made.getvalue()


class Shelf(WithCove):
    def acquire(self, chat: str, **named: Any) -> cove.Workspace:
        workspace = self.cove.acquire(KEY, chat_id=chat, prepare=cove.Prepare(**named))
        self.addCleanup(workspace.close)
        return workspace

    def test_packages_are_added_listed_and_removed_and_keep_their_ids(self) -> None:
        data = package("pdf")
        inspected = cove.inspect_skill("pdf-1", data)
        added = self.cove.add_skill("pdf-1", data)
        self.assertEqual(added, inspected)
        self.assertEqual(added.skills, [cove.PublishedSkill("pdf", "makes <pdf>", "SKILL.md")])
        self.assertEqual((added.version_id, added.packed_bytes, added.files), ("pdf-1", len(data), 2))
        self.assertEqual(self.cove.add_skill("pdf-1", data), added)
        with self.assertRaises(cove.AlreadyExistsError):
            self.cove.add_skill("pdf-1", package("other"))
        self.assertEqual(self.cove.list_skills(), [added])
        self.cove.remove_skill("pdf-1")
        self.assertEqual(self.cove.list_skills(), [])
        with self.assertRaises(cove.NotFoundError):
            self.cove.remove_skill("pdf-1")
        with self.assertRaisesRegex(cove.AlreadyExistsError, "was removed and had another content"):
            self.cove.add_skill("pdf-1", package("other"))
        with self.assertRaises(cove.InvalidArgumentError):
            cove.inspect_skill("bad-1", b"no package")
        with self.assertRaisesRegex(TypeError, "package must be bytes"):
            self.cove.add_skill("x", "text")  # type: ignore[arg-type]

    def test_skills_of_every_origin_are_placed_and_told_to_the_model(self) -> None:
        self.cove.add_skill("stored-1", package("stored"))
        self.addCleanup(self.cove.remove_skill, "stored-1")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "SKILL.md").write_text(SKILL.format("local"))
            workspace = self.acquire(
                "skills",
                skills=["stored-1", cove.Skill("bytes-1", package("bytes")), cove.Skill("local-1", pathlib.Path(folder))],
                builtin_skills={"charts": package("charts")},
                skill_init_timeout=None,
            )
        found = workspace.skills()
        self.assertEqual([skill.name for skill in found.skills], ["stored", "bytes", "local", "charts"])
        self.assertEqual(found.skills[0].location, "/workspace/skills/stored-1/SKILL.md")
        self.assertEqual((found.skills[0].version_id, found.skills[3].version_id), ("stored-1", ""))
        self.assertEqual(found.problems, [])
        self.assertIn("makes &lt;stored&gt;", found.prompt)
        self.assertLess(len(workspace.skills(max_characters=200).prompt), 201)
        self.assertEqual(workspace.read_file(found.skills[2].location).decode(), SKILL.format("local"))
        with self.assertRaises(ValueError):
            workspace.skills(max_characters=0)

    def test_what_is_wrong_is_said(self) -> None:
        with self.assertRaises(cove.NotFoundError):
            self.acquire("none", skills=["never-added"])
        with self.assertRaises(cove.InvalidArgumentError):
            self.acquire("bad", skills=[cove.Skill("bad/id", package("x"))])
        with self.assertRaisesRegex(TypeError, "skills must be"):
            self.acquire("type", skills=[7])
        with self.assertRaises(cove.IntegrityError):
            self.acquire("sum", skills=[cove.Skill("sum-1", package("x"), sha256="0" * 64)])


class AsyncShelf(WithAsyncCove):
    async def test_the_shelf_and_the_skills_of_a_workspace(self) -> None:
        added = await self.cove.add_skill("pdf-1", package("pdf"))
        self.assertEqual(await self.cove.list_skills(), [added])
        prepare = cove.Prepare(skills=["pdf-1"], builtin_skills={"charts": package("charts")})
        async with self.cove.acquire(KEY, chat_id="skills", prepare=prepare) as workspace:
            found = await workspace.skills()
            self.assertEqual([skill.name for skill in found.skills], ["pdf", "charts"])
        await self.cove.remove_skill("pdf-1")
        self.assertEqual(await self.cove.list_skills(), [])


if __name__ == "__main__":
    unittest.main()
