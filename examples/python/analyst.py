"""An analyst's two days: a scripted agent works for ana on penguins.csv, in two chats, over a stop and an archive.

    PYTHONPATH=bindings/python/src COVE_LIBRARY=build/release/lib/libcove.so \\
        python3 examples/python/analyst.py blocking STATE_DIR OUTPUT_DIR

`blocking` is how a script would be written, `asyncio` how a server would; both tell the same story.
"""

import asyncio
import pathlib
import sys

import cove
from cove import aio

ANA = cove.WorkspaceKey("app", "analyst-python", "ana")
BOB = cove.WorkspaceKey("app", "analyst-python", "bob")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
BY_SPECIES, BY_ISLAND = 'GROUP_BY = ["species"]', 'GROUP_BY = ["species", "island"]'


def tell(line: str) -> None:
    print(f"  {line}")


def output_of(result: cove.ExecResult) -> str:
    """What a command wrote; one that failed ends the story."""
    if not result.succeeded:
        sys.exit(f"the command failed ({result.outcome} {result.code}): {result.err.text}")
    return result.out.text.rstrip().replace("\n", "\n  | ")


def blocking(state_dir: str, output: pathlib.Path) -> None:
    with cove.Cove(state_dir) as c:
        with c.acquire(ANA, chat_id="monday") as workspace:
            tell(f"monday: works in {workspace.directory} ({workspace.work})")
            with open(DATA / "penguins.csv", "rb") as table:
                tell(f"penguins.csv: {workspace.upload('penguins.csv', table).size} bytes")
            workspace.write_file("report.py", (DATA / "report.py").read_bytes())
            tell("| " + output_of(workspace.exec(["python3", "report.py"], command_timeout=60)))
            with open(output / "chart-monday.svg", "wb") as chart:
                workspace.download("chart.svg").save(chart)
            sandbox = workspace.sandbox_id

        c.stop(sandbox)  # by itself after 60 idle minutes
        c.archive(sandbox)  # by itself after 7 idle days
        tell(f"night: {c.status(sandbox)['state']}")

        with c.acquire(ANA, chat_id="tuesday") as workspace:
            tell(f"tuesday: {workspace.work}")
            edited = workspace.edit_file("../monday/report.py", [(BY_SPECIES, BY_ISLAND)])
            tell(f"report.py: changed in line {edited.edits[0].first_line}")
            tell("| " + output_of(workspace.exec(["python3", "report.py"], cwd="../monday")))
            with workspace.grep("GROUP_BY", "..", literal=True) as found:
                tell(f"GROUP_BY is in {len(list(found))} lines of {found.summary.files_matched} file")
            with open(output / "chart-tuesday.svg", "wb") as chart:
                workspace.download("../monday/chart.svg").save(chart)

        with c.acquire(BOB) as workspace:
            tell(f"bob sees {len(list(workspace.find(type='file')))} of ana's files")
        for key in (ANA, BOB):
            c.destroy(cove.sandbox_id_of(key))


async def with_asyncio(state_dir: str, output: pathlib.Path) -> None:
    async with aio.Cove(state_dir) as c:
        async with c.acquire(ANA, chat_id="monday") as workspace:
            tell(f"monday: works in {workspace.directory} ({workspace.work})")
            with open(DATA / "penguins.csv", "rb") as table:
                tell(f"penguins.csv: {(await workspace.upload('penguins.csv', table)).size} bytes")
            await workspace.write_file("report.py", (DATA / "report.py").read_bytes())
            report = await asyncio.wait_for(workspace.exec(["python3", "report.py"]), timeout=60)
            tell("| " + output_of(report))
            with open(output / "chart-monday.svg", "wb") as chart:
                await workspace.download("chart.svg").save(chart)
            sandbox = workspace.sandbox_id

        await c.stop(sandbox)
        await c.archive(sandbox)
        tell(f"night: {(await c.status(sandbox))['state']}")

        async with c.acquire(ANA, chat_id="tuesday") as workspace:
            tell(f"tuesday: {workspace.work}")
            edited = await workspace.edit_file("../monday/report.py", [(BY_SPECIES, BY_ISLAND)])
            tell(f"report.py: changed in line {edited.edits[0].first_line}")
            tell("| " + output_of(await workspace.exec(["python3", "report.py"], cwd="../monday")))
            async with workspace.grep("GROUP_BY", "..", literal=True) as found:
                lines = [line async for line in found]
                tell(f"GROUP_BY is in {len(lines)} lines of {found.summary.files_matched} file")
            with open(output / "chart-tuesday.svg", "wb") as chart:
                await workspace.download("../monday/chart.svg").save(chart)

        async with c.acquire(BOB) as workspace:
            tell(f"bob sees {len([entry async for entry in workspace.find(type='file')])} of ana's files")
        # Both at once: a server has no reason to wait for the one before the other.
        await asyncio.gather(*(c.destroy(cove.sandbox_id_of(key)) for key in (ANA, BOB)))


def main(way: str, state_dir: str, output_dir: str) -> None:
    output = pathlib.Path(output_dir)
    output.mkdir(parents=True, exist_ok=True)
    if way == "blocking":
        blocking(state_dir, output)
    else:
        asyncio.run(with_asyncio(state_dir, output))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("blocking", "asyncio"):
        sys.exit(f"usage: {sys.argv[0]} blocking|asyncio STATE_DIR OUTPUT_DIR")
    main(*sys.argv[1:])
