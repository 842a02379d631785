"""The commands of someone who takes the course."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from .compare import first_difference, record
from .dev.source import Module, module, symbols_in
from .learn import learn as watch
from .mine import run_script, selected
from .run import show_problem, try_and_show
from .stages import CourseError, Hole, Stage, find_stage, stages
from .trial import debug_files
from .workspace import Workspace, find_workspace, make_workspace

app = typer.Typer()
Where = Annotated[
    Path | None, typer.Option("--dir", help="The workspace; by default the one you are in.")
]
What = Annotated[str, typer.Argument(help="A stage, such as 03, or one hole of it, 03.2.")]


def _told(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command say what is wrong in one sentence, and exit with 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except CourseError as error:
            typer.echo(f"minigrad: {error}", err=True)
            raise typer.Exit(2) from None

    return wrapped


def console() -> Console:
    """Return the console for everything that is said."""
    return Console(highlight=False)


def find_holes(what: str) -> tuple[Stage, list[Hole]]:
    """Return the stage and the holes that "03" or "03.2" names; CourseError if there are none."""
    number, dot, _ = what.partition(".")
    stage = find_stage(number)
    holes = [hole for hole in stage.holes if not dot or hole.id == what]
    if not stage.holes:
        raise CourseError(f"stage {stage.number} has nothing to write: read lessons/{stage.key}.md")
    if not holes:
        known = ", ".join(hole.id for hole in stage.holes)
        raise CourseError(f"stage {stage.number} has no exercise {what!r}; it has {known}")
    return stage, holes


@app.command()
@_told
def init(
    folder: Annotated[Path, typer.Argument(help="A folder that is new or empty.")],
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Whole modules to write: names, signatures and "
                                                  "docstrings are there, and no body.")
    ] = False,
) -> None:
    """Make a workspace: the exercises, for you to edit.

    \b
    Examples:
      minigrad init ~/engine
      minigrad init ~/engine --from-scratch
    """
    space = make_workspace(folder, scratch=from_scratch)
    count = sum(len(stage.holes) for stage in stages())
    console().print(f"{escape(str(space.root))} holds {count} exercises. Next:\n"
                    f"  cd {escape(str(folder))}\n  minigrad learn", soft_wrap=True)


@app.command()
@_told
def upgrade(where: Where = None) -> None:
    """Bring a workspace up to date with the installed package; your answers stay.

    \b
    Example:
      minigrad upgrade
    """
    done = find_workspace(where).upgrade()
    for kind, files in done.items():
        for file in files:
            console().print(f"{kind}: {escape(str(file))}", soft_wrap=True)
    if done["conflict"]:
        console().print("Where it says conflict your file is as it was, and the new one lies "
                        "beside it.")
    if not any(done.values()):
        console().print("nothing to do")


@app.command("list")
@_told
def list_exercises(where: Where = None) -> None:
    """List all exercises and how they stand.

    \b
    Example:
      minigrad list
    """
    space = find_workspace(where)
    table = Table("", "exercise", "points", "hints", box=None, pad_edge=False)
    for stage in stages():
        table.add_row("", f"[bold]{stage.number} {escape(stage.words['title'])}[/]", "", "")
        for hole in stage.holes:
            title = stage.words["hole"][hole.id]["title"]
            table.add_row("[green]done[/]" if space.solved(hole) else "",
                          f"  {hole.id} {escape(title)}", str(hole.points),
                          str(space.hints_taken(hole) or ""))
    console().print(table)


@app.command()
@_told
def progress(where: Where = None) -> None:
    """Say how far you are.

    \b
    Example:
      minigrad progress
    """
    space = find_workspace(where)
    earned = wanted = 0
    for stage in stages():
        if not stage.holes:
            continue
        done = sum(hole.points for hole in stage.holes if space.solved(hole))
        whole = sum(hole.points for hole in stage.holes)
        bar = "#" * round(20 * done / whole)
        console().print(f"{stage.number:4}{bar:<20} {done:3} of {whole}  "
                        f"{escape(stage.words['title'])}")
        earned, wanted = earned + done, wanted + whole
    console().print(f"{earned} of {wanted} points")


@app.command()
@_told
def run(
    what: Annotated[
        str | None, typer.Argument(help="A stage, such as 03, or one hole of it, 03.2.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", help="Stages of yours that stand in too: 01,02 or "
                                                "01-03. Progress stays as it is.")
    ] = None,
    pdb: Annotated[
        bool, typer.Option("--pdb", help="Stop in a debugger where a test first fails, in your "
                                         "file if it came that far. Progress stays as it is.")
    ] = False,
    where: Where = None,
) -> None:
    """Test your answers to a stage; without one, to the first that is not solved.

    Your files stand in for the package's modules while its tests run. Exits with 1 while something
    is open.

    \b
    Examples:
      minigrad run
      minigrad run 03
      minigrad run 03.2
      minigrad run 03 --keep 01,02
      minigrad run 03.2 --pdb
    """
    space = find_workspace(where)
    if what is None:
        stage = next((each for each in stages()
                      if not all(space.solved(hole) for hole in each.holes)), None)
        if stage is None:
            console().print("Everything is solved.")
            return
        holes = list(stage.holes)
    else:
        stage, holes = find_holes(what)
    kept = [] if keep is None else selected(keep, stages())
    files = {path: file for each in [*kept, stage] for path, file in space.files(each).items()}
    if pdb:
        trial = debug_files(stage, files, [hole.id for hole in holes])
        if trial.problem:
            show_problem(console(), trial)
        raise typer.Exit(int(bool(trial.problem)))
    found = try_and_show(console(), stage, files, holes)
    if found is None:
        raise typer.Exit(1)
    if keep is None:
        space.record((each.hole, each.state == "solved") for each in found)
    raise typer.Exit(int(any(each.state != "solved" for each in found)))


@app.command()
@_told
def hint(
    what: Annotated[str | None, typer.Argument(help="An exercise, such as 03.2.")] = None,
    where: Where = None,
) -> None:
    """Show the next hint for an exercise, and those before it; without one, for the first that is
    not solved.

    \b
    Examples:
      minigrad hint
      minigrad hint 03.2
    """
    space = find_workspace(where)
    if what is None:
        what = next((hole.id for stage in stages() for hole in stage.holes
                     if not space.solved(hole)), None)
        if what is None:
            console().print("Everything is solved.")
            return
    _, holes = find_holes(what)
    if len(holes) > 1:
        raise CourseError(f"name one exercise: {', '.join(hole.id for hole in holes)}")
    for line in next_hint(space, *find_holes(what)):
        console().print(line)


def next_hint(space: Workspace, stage: Stage, holes: list[Hole]) -> list[str]:
    """Return the hints for a hole up to the next, and note that it was taken."""
    (hole,) = holes
    hints = stage.words["hole"][hole.id]["hints"]
    taken = min(space.hints_taken(hole) + 1, len(hints))
    space.note(hole, hints=taken)
    lines = [f"{hole.id}, hint {i + 1} of {len(hints)}: {escape(hints[i])}" for i in range(taken)]
    if taken == len(hints):
        lines.append(f"There are no more; `minigrad solution {hole.id} --give-up` shows an answer.")
    return lines


@app.command()
@_told
def reset(
    what: Annotated[str, typer.Argument(help="A stage, such as 03.")],
    where: Where = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Put a stage's files back as they were handed out; yours are kept as backups.

    \b
    Example:
      minigrad reset 03
    """
    if "." in what:
        raise CourseError(f"stages are put back whole: minigrad reset {what.partition('.')[0]}")
    space, stage = find_workspace(where), find_stage(what)
    if not stage.holes:
        raise CourseError(f"stage {stage.number} has no files of yours")
    if not yes and not typer.confirm(f"Put all files of stage {stage.number} back?"):
        raise typer.Exit(1)
    for copy in space.reset(stage):
        console().print(f"your file is kept as {escape(str(copy))}", soft_wrap=True)
    console().print(f"stage {stage.number} is as it was handed out")


@app.command()
@_told
def solution(
    what: What,
    where: Where = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it although the exercise is not solved.")
    ] = False,
) -> None:
    """Show the package's answer beside yours, once an exercise is solved.

    \b
    Examples:
      minigrad solution 03.2
      minigrad solution 03.2 --give-up
    """
    space = find_workspace(where)
    stage, holes = find_holes(what)
    for hole in holes:
        if not (space.solved(hole) or give_up):
            raise CourseError(f"{hole.id} is not solved yet (`minigrad run {hole.id}`); to see an "
                              "answer all the same, add --give-up")
        if not space.solved(hole):
            space.note(hole, gave_up=True)
        _beside(console(), space, stage, hole)


def _beside(out: Console, space: Workspace, stage: Stage, hole: Hole) -> None:
    files = space.files(stage)
    for path in stage.modules:
        for symbol in symbols_in(hole, path):
            theirs = module(stage.package, path)
            panels = [_panel("the package's", theirs.cut(theirs.find(symbol)))]
            try:
                mine = Module.read(files[path], path)
                panels.insert(0, _panel("yours", mine.cut(mine.find(symbol))))
            except (CourseError, SyntaxError, UnicodeDecodeError) as error:
                out.print(f"yours cannot be read: {escape(str(error))}")
            out.print(f"{hole.id}  {path}: {symbol}")
            out.print(Columns(panels, equal=True) if out.width >= 160 else panels[0])
            if out.width < 160 and len(panels) > 1:
                out.print(panels[1])


def _panel(title: str, code: str) -> Panel:
    return Panel(Syntax(code, "python", background_color="default", word_wrap=True), title=title)


@app.command()
@_told
def learn(
    where: Where = None,
    polling: Annotated[
        bool, typer.Option("--polling", help="Look for changes every second; for network drives.")
    ] = False,
) -> None:
    """Work through the course: each time you save a file, it is tested.

    Keys: h a hint, n the next exercise, l the list, r reset the stage, q quit.

    \b
    Example:
      minigrad learn
    """
    raise typer.Exit(watch(console(), find_workspace(where), polling))


@app.command("python", context_settings={"ignore_unknown_options": True,
                                         "allow_interspersed_args": False})
@_told
def python(
    script: Annotated[Path, typer.Argument(help="A Python program that imports minigrad.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="What it gets.")] = None,
    mine: Annotated[
        str, typer.Option(help="The stages of yours that stand in: 01, 01-05 or 01,03.")
    ] = "",
    where: Where = None,
) -> None:
    """Run a program on your own engine: your files stand in for the package's modules.

    \b
    Examples:
      minigrad python --mine 01-05 train.py
      minigrad python --mine 03 train.py --steps 10
    """
    space = find_workspace(where)
    files = {path: file for stage in selected(mine, stages())
             for path, file in space.files(stage).items()}
    raise typer.Exit(run_script(script, arguments or [], files))


@app.command()
@_told
def compare(
    script: Annotated[Path, typer.Argument(help="A Python program that imports torch.")]
) -> None:
    """Run a program on minigrad and on PyTorch and show where they first differ.

    Compared after each statement: errors, tensors with their graph and gradients, what was
    printed. Exits with 1 if there is a difference.

    \b
    Example:
      minigrad compare train.py
    """
    ours, theirs = record("minigrad", script), record("torch", script)
    found = first_difference(ours, theirs)
    if found is None:
        console().print(f"no difference in {len(ours)} statements")
        return
    console().print(f"{escape(str(script))}:{found.line}: {escape(found.what)} differs")
    console().print(f"  minigrad: {escape(str(found.ours))}")
    console().print(f"  PyTorch:  {escape(str(found.theirs))}")
    raise typer.Exit(1)
