"""What an acquire prepares: variables and secrets, files, an init script, steps of the application."""

from __future__ import annotations

import inspect
import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Awaitable, Callable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _ffi, _options, _skills
from ._calls import Owned, drop, registry
from ._errors import CoveError, InternalError
from ._ffi import lib
from ._skills import Skill, SkillSource
from ._workspace import Workspace

if TYPE_CHECKING:
    from . import aio

_MIRRORS = {"npm": 1, "pypi": 2, "apt": 3, "go": 4, "cargo": 5, "maven": 6, "rubygems": 7}
_STAGES = {
    "directories": 1,
    "mirrors": 2,
    "input_files": 3,
    "skills": 4,
    "builtin_skills": 5,
    "app_init": 6,
    "skill_init": 7,
    "capabilities": 8,
}
_EVENTS = ("", "waiting", "started", "progress", "finished")

FileSource = Union[bytes, bytearray, memoryview, "os.PathLike[str]"]
OnEvent = Callable[[str, str, str], Any]
Starter = Callable[[Owned], None]


@dataclass(frozen=True)
class StepResult:
    """What a step that is done says of itself. `skipped`: there was nothing to do."""

    reason: str = ""
    output: str = ""
    note: str = ""
    skipped: bool = False


class StepRun:
    """A step that runs: its workspace, and what is known of the last time."""

    def __init__(self, owned: Owned) -> None:
        self._owned = owned
        #: Commands, files and searches of the workspace that is prepared.
        self.workspace: Workspace = _borrowed(owned)
        #: What the step kept when it was last done; it can be written from inside the sandbox.
        self.note: str = (lib["cove_step_run_note"](owned.raw) or b"").decode("utf-8", "replace")

    @property
    def over(self) -> bool:
        """True where nobody waits for the step any more."""
        return bool(lib["cove_step_run_is_over"](self._owned.raw))

    def tell(self, text: str) -> None:
        """Tells `on_event` how far the step is."""
        lib["cove_step_run_tell"](self._owned.raw, _options.text("text", text))


Apply = Callable[[StepRun], Optional[StepResult]]
#: The same as a coroutine function, for acquires of cove.aio.
AsyncApply = Callable[["aio.StepRun"], Awaitable[Optional[StepResult]]]


@dataclass(frozen=True)
class PrepareStep:
    """A step of the application's own.

    `apply(run)` is called on a thread of its own; what it raises is the step's failure, with what a
    CoveError has as "output" in its context. A coroutine function runs on the event loop, with the
    `StepRun` of cove.aio. The step is applied where the sandbox knows another `fingerprint` ("" = at
    every acquire), and may be repeated after a crash. One that is not `required` does not stop the
    acquire.
    """

    name: str
    apply: Union[Apply, AsyncApply]
    fingerprint: str = ""
    required: bool = True
    after: str = "builtin_skills"
    timeout: float = 30.0


@dataclass(frozen=True)
class Prepare:
    """What acquires prepare before the workspace is handed out; see docs/prepare.md.

    `files` maps names, as the user's machine has them, to bytes or to paths of this machine. `skills` are
    version ids of `Cove.add_skill`, or `Skill`s; `builtin_skills`, which the platform brings, packages or
    directories by their names. A skill's own init script has `skill_init_timeout` seconds; None = it is
    not run.
    `secrets` are never written to a disk, a log, an error or a report. `on_event(event, step, text)`
    hears of progress, on one of Cove's threads; it must not call Cove.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    time_zone: Optional[str] = None
    locale: Optional[str] = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    files: Union[Mapping[str, FileSource], Sequence[Tuple[str, FileSource]]] = ()
    init_script: Optional[str] = None
    init_version: str = ""
    init_cwd: Optional[str] = None
    init_timeout: float = 30.0
    skills: Sequence[Union[str, Skill]] = ()
    builtin_skills: Mapping[str, SkillSource] = field(default_factory=dict)
    skill_init_timeout: Optional[float] = 30.0
    steps: Sequence[PrepareStep] = ()
    on_event: Optional[OnEvent] = None


class Host:
    """Who applies steps, and hears of progress: threads of their own, and Cove's."""

    def starter(self, apply: Any) -> Starter:
        """What begins a step, on a thread of Cove; it must not wait."""
        if is_coroutine(apply):
            raise TypeError("a step's apply that is a coroutine function needs an acquire of cove.aio")

        def start(owned: Owned) -> None:
            thread = threading.Thread(target=_apply, args=(owned, apply), name="cove-step", daemon=True)
            thread.start()

        return start

    def hearer(self, on_event: OnEvent) -> OnEvent:
        return on_event


def is_coroutine(apply: Any) -> bool:
    return inspect.iscoroutinefunction(apply) or inspect.iscoroutinefunction(getattr(apply, "__call__", None))


def make(prepare: Prepare, host: Host) -> Owned:
    """The same for C."""
    if not isinstance(prepare, Prepare):
        raise TypeError(f"prepare must be a cove.Prepare, not {type(prepare).__name__}")
    raw, argument = _ffi.out(_ffi.Prepare)
    owned = Owned(raw, "cove_prepare_free")
    lib["cove_prepare_create"](argument)
    _set_environment(raw, prepare)
    for name, url in _options.mapping("mirrors", prepare.mirrors).items():
        number = _chosen("mirrors", _MIRRORS, name)
        lib["cove_prepare_set_mirror"](raw, number, _options.text(f"mirrors[{name!r}]", url))
    files = prepare.files.items() if isinstance(prepare.files, Mapping) else _options.items("files", prepare.files)
    for file in files:
        if not isinstance(file, (tuple, list)) or len(file) != 2:
            raise TypeError(f"files must be a dict, or a list of (name, source), not of {type(file).__name__}")
        _add_file(raw, *file)
    if prepare.init_script is not None:
        _set_init(raw, prepare)
    _skills.add_to(raw, prepare.skills, prepare.builtin_skills)
    limit = _options.milliseconds("skill_init_timeout", prepare.skill_init_timeout)
    lib["cove_prepare_set_skill_init_timeout"](raw, limit)
    for i, step in enumerate(_options.items("steps", prepare.steps)):
        _check_step(f"steps[{i}]", step)
        _add_step(raw, step, host.starter(step.apply))
    if prepare.on_event is not None:
        if not callable(prepare.on_event):
            raise TypeError(f"on_event must be callable, not {type(prepare.on_event).__name__}")
        hearer = host.hearer(prepare.on_event)
        lib["cove_prepare_set_observer"](raw, _on_event_fn, registry.add(hearer), drop)
    return owned


def _chosen(what: str, known: Mapping[str, int], name: str) -> int:
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, not {name!r}")
    return known[name]


def _set_environment(raw: Any, prepare: Prepare) -> None:
    for name, value in _options.mapping("variables", prepare.variables).items():
        key = _options.text("a name in variables", name)
        lib["cove_prepare_set_variable"](raw, key, _options.text(f"variables[{name!r}]", value))
    for name, value in _options.mapping("secrets", prepare.secrets).items():
        key = _options.text("a name in secrets", name)
        lib["cove_prepare_set_secret"](raw, key, _options.text(f"secrets[{name!r}]", value))
    lib["cove_prepare_set_locale"](
        raw,
        _options.optional_text("time_zone", prepare.time_zone),
        _options.optional_text("locale", prepare.locale),
    )


def _add_file(raw: Any, name: str, source: FileSource) -> None:
    label = _options.path("a name in files", name)
    if isinstance(source, os.PathLike):
        lib["cove_prepare_add_host_file"](raw, label, _options.path(f"files[{name!r}]", source))
        return
    data = _options.data(f"files[{name!r}]", source)
    lib["cove_prepare_add_file"](raw, label, data, len(data))


def _set_init(raw: Any, prepare: Prepare) -> None:
    options = _ffi.InitOptions(
        version=_options.text("init_version", prepare.init_version),
        cwd=_options.optional_text("init_cwd", prepare.init_cwd),
        script_timeout_ms=_options.milliseconds("init_timeout", prepare.init_timeout),
    )
    script = _options.text("init_script", prepare.init_script)
    lib["cove_prepare_set_init_script"](raw, script, _ffi.pointer_to(options))


def _check_step(name: str, step: object) -> None:
    if not isinstance(step, PrepareStep):
        raise TypeError(f"{name} must be a cove.PrepareStep, not {type(step).__name__}")
    if not callable(step.apply):
        raise TypeError(f"{name}.apply must be callable, not {type(step.apply).__name__}")


def _add_step(raw: Any, step: PrepareStep, starter: Starter) -> None:
    options = _ffi.StepOptions(
        policy=_ffi.STEP_REQUIRED if step.required else _ffi.STEP_BEST_EFFORT,
        fingerprint=_options.text("fingerprint", step.fingerprint),
        timeout_ms=_options.milliseconds("timeout", step.timeout),
        after=_chosen("after", _STAGES, step.after),
    )
    name = _options.text("name", step.name)
    lib["cove_prepare_add_step"](
        raw, name, _ffi.pointer_to(options), _on_step_fn, registry.add(starter), drop
    )


class _Borrowed(Owned):
    """A handle that belongs to another, which it keeps."""

    def __init__(self, raw: Any, keeper: Owned) -> None:
        self.raw = raw
        self._keeper = keeper


def _borrowed(run: Owned) -> Workspace:
    return Workspace._of(borrowed_workspace(run))


def borrowed_workspace(run: Owned) -> Owned:
    """The handle of the workspace that a step prepares."""
    return _Borrowed(_ffi.Workspace(lib["cove_step_run_workspace"](run.raw)), run)


def _apply(owned: Owned, apply: Apply) -> None:
    """On the step's own thread: whatever comes of it, the run is answered."""
    try:
        finish(owned, apply(StepRun(owned)))
    except Exception as error:  # the acquire's caller hears of it
        fail(owned, error)


def finish(owned: Owned, result: Optional[StepResult]) -> None:
    done = StepResult() if result is None else result
    if not isinstance(done, StepResult):
        raise TypeError(f"a step must return a cove.StepResult or None, not {type(done).__name__}")
    told = _ffi.StepResult(
        nothing_to_do=1 if done.skipped else 0,
        reason=_options.text("reason", done.reason),
        output=_options.text("output", done.output),
        note=_options.text("note", done.note),
    )
    lib["cove_step_run_finish"](owned.raw, _ffi.pointer_to(told))


def fail(owned: Owned, error: BaseException) -> None:
    code, message, output = InternalError.code, f"the step raised {type(error).__name__}: {error}", ""
    if isinstance(error, CoveError):
        code, message = error.code or code, error.message
        output = error.context.get("output", "")
    try:
        lib["cove_step_run_fail"](owned.raw, code, _plain(message), _plain(output))
    except CoveError:
        pass  # it was finished, and that failed


def _plain(text: str) -> bytes:
    return text.replace("\0", " ").encode("utf-8", "replace")


def _on_step(number: Optional[int], run: _ffi.StepRun) -> None:
    starter: Starter = registry.get(number)
    starter(Owned(run, "cove_step_run_free"))


def _on_event(number: Optional[int], event: int, step: bytes, text: bytes) -> None:
    on_event: OnEvent = registry.get(number)
    on_event(_EVENTS[event], step.decode("utf-8", "replace"), text.decode("utf-8", "replace"))


_on_step_fn = _ffi.callback(_ffi.StepFn, _on_step)
_on_event_fn = _ffi.callback(_ffi.PrepareEventFn, _on_event)

__all__: List[str] = ["Prepare", "PrepareStep", "StepResult", "StepRun"]
