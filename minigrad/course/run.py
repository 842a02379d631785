"""`minigrad run`: tests one stage of the course on the learner's files and says what came."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .stages import Hole, Stage
from .trial import Trial, try_files


def run(console: Console, stage: Stage, folder: Path | None = None, hole: str | None = None) -> int:
    """Try the stage's exercise in `folder` (default: `exercises/`); 0 if all tests passed."""
    files = {path: stage.exercise(path, folder) for path in stage.modules}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing:
        console.print(f"[red]missing:[/] {escape(', '.join(missing))}")
        return 2
    holes = [each for each in stage.holes if hole in (None, each.id)]
    if not holes:
        known = ", ".join(each.id for each in stage.holes) or "none"
        console.print(f"[red]stage {stage.number} has no exercise {escape(str(hole))}[/]; "
                      f"it has {known}")
        return 2
    trial = try_files(stage, files, [each.id for each in holes])
    if trial.problem:
        console.print(f"[red]nothing could be tested:[/] {escape(trial.problem)}")
        return 1
    for each in holes:
        _show(console, stage, each, trial)
    solved = sum(each.points for each in holes if trial.solved(each))
    console.print(f"{solved} of {sum(each.points for each in holes)} points")
    return int(any(not trial.solved(each) for each in holes))


def _show(console: Console, stage: Stage, hole: Hole, trial: Trial) -> None:
    title = stage.words["hole"][hole.id]["title"]
    failing = [each for each in trial.of(hole) if not each.passed]
    mark = "[green]passed[/]" if trial.solved(hole) else "[red]open[/]  "
    console.print(f"{mark}  {hole.id} {escape(title)}")
    if not failing:
        return
    first = failing[0]
    untouched = "is yours to write" in first.message and "NotImplementedError" in first.message
    if untouched:
        return
    name = trial.diagnosis(stage, hole)
    if name is not None:
        console.print(f"        [bold]{escape(stage.words['symptoms'][name])}[/]")
    console.print(f"        {escape(first.test)}")
    for line in first.message.splitlines()[:12]:
        console.print(f"        {escape(line)}")
    if first.where:
        console.print(f"        {escape(first.where)}")
    if len(failing) > 1:
        console.print(f"        and {len(failing) - 1} more")
