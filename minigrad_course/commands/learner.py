"""The commands for taking the course: `init`, `run`, `hint`, `solution`, `learn` and more."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from textwrap import dedent
from typing import Annotated

import typer
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from ..content.own_exercises import added
from ..content.selection import exercises_named, one_exercise, stages_named
from ..content.source import Module, body_span, module, symbols_in
from ..content.stages import CourseError, Hole, Stage, checkout, stages
from ..learner import skipped_stages
from ..learner.bridge import bridge_lines
from ..learner.next_step import glossary, next_exercise, next_step, note_tested, solved_summary
from ..learner.package_answer import write_answer
from ..learner.workspace import Workspace, find_workspace, make_workspace
from ..running.compare_engines import early_end, first_difference, record
from ..running.learner_files import combine_files
from ..running.program import run_script
from ..running.trial import debug_files
from ..terminal.learn import learn as watch
from ..terminal.markdown_page import show_code
from ..terminal.progress_chart import progress_chart
from ..terminal.show_verdicts import show_problem, try_and_show
from ..terminal.wrapping import print_wrapped
from .shared import OwnExercises, Where, console, in_one_sentence

app = typer.Typer()
What = Annotated[
    str, typer.Argument(help="An exercise, 03.2, or stages: 03, 13 (13a and 13b), 05-08 or 01,03.")
]
Some = Annotated[
    str, typer.Argument(metavar="STAGES", help="03, 13 (13a and 13b), 05-08 or 01,03.")
]


def on_a_terminal() -> bool:
    """Return whether a person can answer a question here."""
    return sys.stdin.isatty()


@app.command()
@in_one_sentence
def init(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Write whole modules: you get names, signatures "
                                                  "and docstrings, but no bodies.")
    ] = False,
) -> None:
    """Make a workspace: a folder with the exercises for you to edit.

    \b
    Examples:
      minigrad init ~/engine
      minigrad init ~/engine --from-scratch
    """
    space = make_workspace(folder, scratch=from_scratch)
    count = sum(len(stage.holes) for stage in stages())
    print_wrapped(console(), f"created {escape(str(space.root))} with {count} exercises. Next:\n"
                  f"  cd {escape(str(folder))}\n  minigrad learn")


@app.command()
@in_one_sentence
def upgrade(where: Where = None) -> None:
    """Update a workspace to the installed package, keeping your answers.

    \b
    Example:
      minigrad upgrade
    """
    done = find_workspace(where).upgrade()
    for what, lines in done.items():
        for line in lines:
            print_wrapped(console(), f"{what}: {escape(line)}")
    if "unknown name" in done:
        print_wrapped(console(), "An unknown name is one that your answer uses but its file no "
                      "longer has: it was renamed, or the task no longer needs it.")
    if "conflict" in done:
        console().print("In a conflict your file stays unchanged; the new version is next to it.")
    if not done:
        console().print("already up to date")


@app.command("list")
@in_one_sentence
def list_exercises(
    what: Annotated[
        str | None, typer.Argument(metavar="[STAGES]", help="03, 13 (13a and 13b), 05-08 or 01,03; "
                                                            "by default all stages.")
    ] = None,
    where: Where = None,
) -> None:
    """List exercises: which are done, their points, and the hints you took.

    \b
    Examples:
      minigrad list
      minigrad list 05-08
    """
    space, chosen = find_workspace(where), stages() if what is None else stages_named(what)
    left_out = skipped_stages.skipped(space)
    table = Table("", "exercise", "points", "hints", box=None, pad_edge=False)
    upcoming = next_exercise(space)
    for stage in chosen:
        table.add_row("", f"[bold]{stage.number} {escape(stage.words['title'])}[/]", "", "")
        for hole in stage.holes:
            title = stage.words["hole"][hole.id]["title"]
            state = "[dim]skipped[/]" if stage.number in left_out else \
                "[bold]next[/]" if upcoming and upcoming[1] == hole else ""
            waits = space.waits_for(hole)
            table.add_row("[green]done[/]" if space.solved(hole) else state,
                          f"  {hole.id} {escape(title)}"
                          + (f": correct, but waits for {waits}" if waits else ""),
                          str(hole.points),
                          str(space.hints_taken(hole) or ""))
    console().print(table)
    for line in next_step(space):
        print_wrapped(console(), line)


@app.command()
@in_one_sentence
def progress(where: Where = None) -> None:
    """Show how far you are: one row per stage, one mark per exercise.

    \b
    Example:
      minigrad progress
    """
    space, out = find_workspace(where), console()
    steps = list(next_step(space))
    height = out.height - len(steps) - 1 if out.is_terminal else None
    for line in progress_chart(space, out.encoding, height):
        out.print(line)
    for line in steps:
        print_wrapped(out, line)


@app.command()
@in_one_sentence
def run(
    what: Annotated[
        str | None, typer.Argument(
            help="An exercise, 03.2, or stages: 03, 13 (13a and 13b), 05-08 or 01,03.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", help="Also use your files of these stages: 01,02 or "
                                                "01-03. Does not record progress.")
    ] = None,
    pdb: Annotated[
        bool, typer.Option("--pdb", help="Stop in a debugger where a test first fails, in your "
                                         "file if possible. Does not record progress.")
    ] = False,
    own: OwnExercises = None,
    where: Where = None,
) -> None:
    """Test your answers to a stage; by default, to the first stage that is not solved.

    Your files replace the package's modules while the tests run. The tests of each exercise have a
    limit of 10 seconds. Exits with 1 until everything passes.

    \b
    Examples:
      minigrad run
      minigrad run 03
      minigrad run 03.2
      minigrad run 05-08
      minigrad run 03 --keep 01,02
      minigrad run 03.2 --pdb
      minigrad run --exercises ../scale_gradient
    """
    with added(own) as mine:
        _run(find_workspace(where), what, keep, pdb, mine)


def _run(space: Workspace, what: str | None, keep: str | None, pdb: bool, mine: list[Stage]
         ) -> None:
    out = console()
    for stage in mine:
        for file in space.add_missing(stage):
            out.print(f"created {escape(str(file))}", soft_wrap=True)
    if what is None and mine:
        chosen = [(stage, list(stage.holes)) for stage in mine]
    elif what is None:
        found = next_exercise(space)
        if found is None:
            out.print("All exercises are solved.")
            return
        chosen = [(found[0], list(found[0].holes))]
    else:
        chosen = exercises_named(what)
    kept = skipped_stages.own_files(space, [] if keep is None else stages_named(keep))
    done = True
    for stage, holes in chosen:
        files, shared = combine_files([*(each for each in kept if each[0] != stage),
                                  (stage, space.files(stage))])
        if pdb:
            trial = debug_files(stage, files, [hole.id for hole in holes], shared)
            if trial.problem:
                show_problem(out, trial)
            raise typer.Exit(int(bool(trial.problem)))
        if len(chosen) > 1:
            out.print(f"[bold]{stage.number} {escape(stage.words['title'])}[/]")
        was_solved = stage in skipped_stages.solved_stages(space)
        verdicts = try_and_show(out, stage, files, holes, shared)
        is_recorded = keep is None and verdicts is not None and not stage.is_own
        if is_recorded and verdicts is not None:
            space.record((each.hole, each.is_right) for each in verdicts)
            space.record_waits(verdicts)
            if stage.beside and holes != list(stage.holes) and not was_solved and \
                    stage in skipped_stages.solved_stages(space):  # test below the whole package
                holes = list(stage.holes)
                verdicts = try_and_show(out, stage, files, holes, shared) or []
                space.record((each.hole, each.is_right) for each in verdicts)
        done &= bool(verdicts) and all(each.is_right for each in verdicts or ())
        if is_recorded:
            if len(holes) == len(stage.holes):
                note_tested(space, stage)
            if stage in skipped_stages.solved_stages(space):
                for line in solved_summary(space, stage):
                    print_wrapped(out, line)
    if done and keep is None and not chosen[-1][0].is_own:
        for line in next_step(space, chosen[-1][0]):
            print_wrapped(out, line)
    raise typer.Exit(int(not done))


@app.command()
@in_one_sentence
def hint(
    what: Annotated[str | None, typer.Argument(help="An exercise, such as 03.2.")] = None,
    where: Where = None,
) -> None:
    """Show the next hint for an exercise, after those you have seen; by default, for the first
    exercise that is not solved.

    \b
    Examples:
      minigrad hint
      minigrad hint 03.2
    """
    space = find_workspace(where)
    found = next_exercise(space) if what is None else one_exercise(what)
    if found is None:
        console().print("All exercises are solved.")
        return
    for line in next_hint(space, *found):
        print_wrapped(console(), line)


def next_hint(space: Workspace, stage: Stage, hole: Hole) -> list[str]:
    """Return the hints for an exercise up to the next one, and record that it was taken."""
    hints = stage.words["hole"][hole.id]["hints"]
    if space.solved(hole):
        taken = len(hints)  # looking back at hints is free
    else:
        taken = min(space.hints_taken(hole) + 1, len(hints))
        space.note(hole, hints=taken)
    lines = [f"{hole.id}, hint {i + 1} of {len(hints)}: {escape(hints[i])}" for i in range(taken)]
    lines.append(f"[dim]for names used inside the package, see {escape(glossary())}[/]")
    if space.solved(hole):
        lines.append(f"`minigrad solution {hole.id}` shows the package's answer next to yours.")
    elif taken == len(hints):
        lines.append("That was the last hint; "
                     f"`minigrad solution {hole.id} --give-up` shows an answer.")
    return lines


@app.command()
@in_one_sentence
def reset(
    what: Some,
    where: Where = None,
    yes: Annotated[bool, typer.Option("--yes", help="Replace files without asking.")] = False,
) -> None:
    """Reset the files of stages to how they were handed out, with a backup of yours.

    \b
    Examples:
      minigrad reset 03
      minigrad reset 03 --yes
    """
    if "." in what:
        raise CourseError(
            f"reset works on whole stages, not on {what}: minigrad reset {what.partition('.')[0]}")
    space, chosen = find_workspace(where), exercises_named(what)
    numbers = ", ".join(stage.number for stage, _ in chosen)
    noun = "stages" if len(chosen) > 1 else "stage"
    if not yes and not on_a_terminal():
        raise CourseError(f"cannot ask for confirmation without a terminal: `minigrad reset {what} "
                          f"--yes` resets the files of {noun} {numbers}")
    if not yes and not typer.confirm(f"Reset all files of {noun} {numbers}?"):
        raise typer.Exit(1)
    for stage, _ in chosen:
        for copy in space.reset(stage):
            print_wrapped(console(), f"backup of your file: {escape(str(copy))}")
        console().print(f"stage {stage.number} is reset")


@app.command()
@in_one_sentence
def skip(what: Some, where: Where = None) -> None:
    """Skip stages: the package's own code does their work. `unskip` undoes it.

    \b
    Example:
      minigrad skip 00-04
    """
    space, chosen = find_workspace(where), stages_named(what)
    if not any(stage.holes for stage in chosen):
        raise CourseError(f"stage {_numbers(chosen)} has no exercises to skip")
    new = skipped_stages.skip(space, chosen)
    console().print(f"skipped: {_numbers(new)}; `minigrad unskip` undoes it" if new
                    else "already skipped")
    for line in next_step(space):
        print_wrapped(console(), line)


@app.command()
@in_one_sentence
def unskip(
    what: Annotated[
        str | None, typer.Argument(metavar="[STAGES]", help="Such as 00-04; by default all skipped "
                                                            "stages.")
    ] = None,
    where: Where = None,
) -> None:
    """Bring back stages that you skipped.

    \b
    Examples:
      minigrad unskip
      minigrad unskip 03
    """
    back = skipped_stages.unskip(find_workspace(where),
                                 stages() if what is None else stages_named(what))
    console().print(f"no longer skipped: {_numbers(back)}" if back else "these were not skipped")


def _numbers(chosen: list[Stage]) -> str:
    return ", ".join(stage.number for stage in chosen)


@app.command()
@in_one_sentence
def solution(
    what: What,
    where: Where = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it even if the exercise is not solved.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write it into your file, with a backup.")
    ] = False,
) -> None:
    """Show the package's answer next to yours, once an exercise is solved.

    It shows the functions without their docstrings and without the task.

    \b
    Examples:
      minigrad solution 03.2
      minigrad solution 03.2 --give-up
      minigrad solution 03.2 --give-up --write
    """
    space, out = find_workspace(where), console()
    chosen = [(stage, hole) for stage, holes in exercises_named(what) for hole in holes]
    for _, hole in chosen:
        if not (space.solved(hole) or give_up):
            raise CourseError(f"{hole.id} is not solved yet (`minigrad run {hole.id}`); to see the "
                              "answer anyway, add --give-up")
    for stage, hole in chosen:
        if not space.solved(hole):
            space.note(hole, gave_up=True)
        if not write:
            _beside(out, space, stage, hole)
            continue
        for file, copy in write_answer(space, stage, hole):
            print_wrapped(out, f"{hole.id} is now in {escape(str(file))}")
            print_wrapped(out, f"  backup of your file: {escape(str(copy))}")


def _beside(out: Console, space: Workspace, stage: Stage, hole: Hole) -> None:
    """Show the bodies of the learner and of the package, without the given code."""
    files = space.files(stage)
    for path in stage.modules:
        for symbol in symbols_in(hole, path):
            answers = {"the package's": _body(module(stage.package, path), symbol, hole)}
            try:
                mine = _body(Module.read(files[path], path), symbol, hole)
                answers = {"yours": mine} | answers
            except (CourseError, SyntaxError, UnicodeDecodeError) as error:
                out.print(f"cannot read your answer: {escape(str(error))}")
            out.print(f"{hole.id}  {path}: {symbol}")
            if len(answers) > len(set(answers.values())):
                out.print("  yours is the same as the package's")
                continue
            if out.width >= 160:
                out.print(Columns([_panel(*each) for each in answers.items()], equal=True))
                continue
            for title, code in answers.items():
                out.print(f"\n  [bold]{title}[/]", end="")
                show_code(out, code)
            out.print()


def _body(source: Module, symbol: str, hole: Hole) -> str:
    """Return a function's body without its docstring and the task; a class as a whole."""
    found = source.find(symbol)
    if not isinstance(found, ast.FunctionDef):
        return source.cut(found)
    first, last = body_span(source, found)
    lines = source.lines[first - 1 : last]
    while lines and not lines[0].strip():
        del lines[0]
    if lines and lines[0].strip().startswith(f"# {hole.id} "):
        while len(lines) > 1 and lines[0].strip()[:1] in ("#", ""):
            del lines[0]
    return dedent("\n".join(lines))


def _panel(title: str, code: str) -> Panel:
    return Panel(Syntax(code, "python", background_color="default", word_wrap=True), title=title)


@app.command()
@in_one_sentence
def learn(
    where: Where = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="STAGE",
                                 help="Start with this stage, and skip earlier ones that are not "
                                      "solved; `unskip` brings them back.")
    ] = None,
    polling: Annotated[
        bool, typer.Option("--polling",
                           help="Check for changes every second, for network drives.")
    ] = False,
    create: Annotated[
        bool, typer.Option("--create", help="If there is no workspace in the folder after --dir, "
                                            "make one first.")
    ] = False,
) -> None:
    """Work through the course: saving a file tests its stage.

    Keys: h next hint, n next exercise, l list, r reset the stage, q quit. They also work while
    tests run.

    \b
    Examples:
      minigrad learn
      minigrad learn --from 05
      minigrad learn --dir ~/engine --create
    """
    if create:
        if where is None:
            raise CourseError("--create needs --dir, the folder for the new workspace")
        if not (where / "progress.json").exists():
            made = make_workspace(where)
            print_wrapped(console(), f"created {escape(str(made.root))} for your answers")
    space = find_workspace(where)
    if begin is not None:
        first = stages_named(begin)[0]
        solved = skipped_stages.solved_stages(space)
        skipped_stages.unskip(space, [each for each in stages() if each.key >= first.key])
        new = skipped_stages.skip(space, [each for each in stages()
                                    if each.key < first.key and each not in solved])
        if new:
            print_wrapped(console(), f"skipped: {_numbers(new)}; `minigrad unskip` undoes it")
            for line in bridge_lines(first):
                print_wrapped(console(), line)
            print_wrapped(console(), "If you'd rather write whole modules than single functions, "
                          "make a workspace with `minigrad init FOLDER --from-scratch`.")
    raise typer.Exit(watch(console(), space, polling))


@app.command("python", context_settings={"ignore_unknown_options": True,
                                         "allow_interspersed_args": False})
@in_one_sentence
def python(
    script: Annotated[Path, typer.Argument(help="A Python program that imports minigrad.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Its arguments.")] = None,
    mine: Annotated[
        str | None, typer.Option(metavar="STAGES", help="Use your files of these stages: 01, 01-05 "
                                 "or 01,03. By default all that are solved.")
    ] = None,
    where: Where = None,
) -> None:
    """Run a program on your own engine: your files replace the package's modules.

    A lesson's program, such as moons.py of lesson 00, can be given by its name alone.

    \b
    Examples:
      minigrad python train.py
      minigrad python --mine 01-05 train.py
      minigrad python --mine 03 train.py --steps 10
    """
    space = find_workspace(where)
    chosen = skipped_stages.solved_stages(space) if mine is None else stages_named(mine)
    if not chosen:
        typer.echo("minigrad: no stage is solved yet, so this runs on the package's code only",
                   err=True)
    ours = checkout() / "lessons" / "programs" / script
    if not script.is_file() and ours.is_file():
        script = ours
    files, shared = combine_files(skipped_stages.own_files(space, chosen))
    raise typer.Exit(run_script(script, arguments or [], files, shared))


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@in_one_sentence
def compare(
    script: Annotated[Path, typer.Argument(help="A Python program that imports torch.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Its arguments.")] = None,
) -> None:
    """Run a program on minigrad and on PyTorch, and show where they first differ.

    Compares after each statement: errors, tensors with their graphs and gradients, and printed
    output. Exits with 1 if there is a difference, or if the program ended early on both.

    \b
    Examples:
      minigrad compare train.py
      minigrad compare train.py --steps 10
    """
    ours, theirs = (record(engine, script, arguments) for engine in ("minigrad", "torch"))
    found = first_difference(ours, theirs)
    if found is None:
        end = early_end(ours)
        if end is None:
            console().print(f"no difference in {len(ours)} statements")
            return
        print_wrapped(console(), f"{escape(str(script))}: ended early on both, in statement "
                      f"{len(ours)} of {ours[-1]['of']}: {escape(end)}")
        raise typer.Exit(1)
    console().print(f"{escape(str(script))}:{found.line}: {escape(found.what)} differs")
    console().print(f"  minigrad: {escape(str(found.ours))}")
    console().print(f"  PyTorch:  {escape(str(found.theirs))}")
    raise typer.Exit(1)
