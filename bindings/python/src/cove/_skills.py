"""Skills: what acquires place, what a workspace has, and the shelf of published ones."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _calls, _ffi, _options
from ._calls import Calling, Cancel
from ._ffi import lib

#: A package's bytes (zip, tar, tar.gz or tar.zst), or a package file or directory of this machine.
SkillSource = Union[bytes, bytearray, memoryview, "os.PathLike[str]"]


@dataclass(frozen=True)
class Skill:
    """A published skill that an acquire places in /workspace/skills/<version_id>.

    Without `content` it is the one that `Cove.add_skill` keeps under the version id. `sha256` is 64 hex
    of the package's bytes, which are then checked.
    """

    version_id: str
    content: Optional[SkillSource] = None
    sha256: str = ""


@dataclass(frozen=True)
class SkillInfo:
    """A skill of a workspace, placed and verified."""

    name: str
    description: str
    #: Of its SKILL.md, for sandbox_read_file.
    location: str
    #: Of the package that it came in; "" of a builtin one.
    version_id: str


@dataclass(frozen=True)
class Skills:
    """What a workspace has of skills: published ones in the order of the acquire, then builtin ones."""

    skills: List[SkillInfo]
    #: About packages that are left out, since what lies there is not what was published.
    problems: List[str]
    #: The block for a model's prompt, XML-escaped, whole skills only; "" where there is none.
    prompt: str


@dataclass(frozen=True)
class PublishedSkill:
    """A skill that a package holds; `path` of its SKILL.md below the package."""

    name: str
    description: str
    path: str


@dataclass(frozen=True)
class SkillPackage:
    """What is known of a package that was read and checked."""

    version_id: str
    #: 64 hex of its bytes.
    sha256: str
    #: 64 hex of what it holds, the same whatever archive it came in.
    content_hash: str
    packed_bytes: int
    content_bytes: int
    files: int
    skills: List[PublishedSkill]


def _package_of(value: Dict[str, Any]) -> SkillPackage:
    skills = [PublishedSkill(s["name"], s["description"], s["path"]) for s in value["skills"]]
    return SkillPackage(
        value["version_id"],
        value["sha256"],
        value["content_hash"],
        value["packed_bytes"],
        value["content_bytes"],
        value["files"],
        skills,
    )


def _take_package(raw: Any) -> SkillPackage:
    return _package_of(json.loads(_ffi.take_buffer(raw)))


def _take_packages(raw: Any) -> List[SkillPackage]:
    return [_package_of(value) for value in json.loads(_ffi.take_buffer(raw))["packages"]]


def _take_skills(raw: Any) -> Skills:
    value = json.loads(_ffi.take_buffer(raw))
    skills = [
        SkillInfo(s["name"], s["description"], s["location"], s["version_id"]) for s in value["skills"]
    ]
    return Skills(skills, value["problems"], value["prompt"])


def inspect_skill(version_id: str, package: _options.Data) -> SkillPackage:
    """Reads a package as `Cove.add_skill` does, and says what it holds. Needs no open Cove."""
    data = _options.data("package", package)
    raw, argument = _ffi.out(_ffi.Buffer)
    lib["cove_inspect_skill_json"](_options.text("version_id", version_id), data, len(data), argument)
    return _take_package(raw)


class SkillShelf(Calling):
    """The published skills of a Cove, in its object store."""

    def add_skill(
        self,
        version_id: str,
        package: _options.Data,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> SkillPackage:
        """Checks a package and keeps it under a version id that it has for ever.

        The same bytes again are a success, others AlreadyExistsError, also after the version was removed.
        """
        data = _options.data("package", package)
        added: SkillPackage = self._call(
            "cove_add_skill_json_start",
            _options.text("version_id", version_id),
            data,
            len(data),
            gives=_calls.GIVES_BUFFER,
            take=_take_package,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return added

    def list_skills(
        self, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> List[SkillPackage]:
        """Those that were added, by version id."""
        packages: List[SkillPackage] = self._call(
            "cove_list_skills_json_start",
            gives=_calls.GIVES_BUFFER,
            take=_take_packages,
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )
        return packages

    def remove_skill(
        self, version_id: str, *, timeout: Optional[float] = None, cancel: Optional[Cancel] = None
    ) -> None:
        """Takes a package out of the object store; workspaces keep what they have."""
        return self._do(
            "cove_remove_skill_start",
            _options.text("version_id", version_id),
            options=_ffi.CallOptions(timeout_ms=_options.milliseconds("timeout", timeout)),
            cancel=cancel,
        )


class WorkspaceSkills(Calling):
    """The skills of a Workspace."""

    def skills(
        self,
        *,
        max_characters: int = 16_000,
        timeout: Optional[float] = None,
        cancel: Optional[Cancel] = None,
    ) -> Skills:
        """The skills of the acquire that lie in the workspace as they were published.

        `max_characters` bounds the prompt. Asks the sandbox once for each start of it.
        """
        found: Skills = self._call(
            "cove_workspace_skills_json_start",
            gives=_calls.GIVES_BUFFER,
            take=_take_skills,
            options=_ffi.SkillsOptions(
                max_characters=_options.count("max_characters", max_characters, 1, 2**62),
                timeout_ms=_options.milliseconds("timeout", timeout),
            ),
            cancel=cancel,
        )
        return found


def add_to(raw: Any, skills: Sequence[Union[str, Skill]], builtin: Mapping[str, SkillSource]) -> None:
    """What a preparation is to place."""
    for skill in _options.items("skills", skills):
        _add(raw, Skill(skill) if isinstance(skill, str) else skill)
    for name, content in _options.mapping("builtin_skills", builtin).items():
        label = _options.text("a name in builtin_skills", name)
        if isinstance(content, os.PathLike):
            path = _options.path(f"builtin_skills[{name!r}]", content)
            lib["cove_prepare_add_host_builtin_skill"](raw, label, path)
        else:
            data = _options.data(f"builtin_skills[{name!r}]", content)
            lib["cove_prepare_add_builtin_skill"](raw, label, data, len(data))


def _add(raw: Any, skill: Skill) -> None:
    if not isinstance(skill, Skill):
        raise TypeError(f"skills must be version ids or cove.Skill, not {type(skill).__name__}")
    version_id = _options.text("version_id", skill.version_id)
    sha256 = _options.text("sha256", skill.sha256)
    if skill.content is None:
        lib["cove_prepare_add_stored_skill"](raw, version_id)
    elif isinstance(skill.content, os.PathLike):
        lib["cove_prepare_add_host_skill"](raw, version_id, _options.path("content", skill.content), sha256)
    else:
        data = _options.data("content", skill.content)
        lib["cove_prepare_add_skill"](raw, version_id, data, len(data), sha256)
