"""Build all generated files: filled lessons, pictures, notebooks, exercises, solutions."""

from __future__ import annotations

from pathlib import Path

from ..content.lesson_blocks import MADE, parse, picture_file, render
from ..content.source import blank, module
from ..content.stages import MASTER, CourseError, Stage, stages
from .fill_lesson import fill
from .notebook import notebook
from .taught import section


def built(stage: Stage) -> dict[Path, str]:
    """Return the text of each file generated for a stage; raise CourseError if that fails."""
    lesson = f"lessons/{stage.key}.md"
    blocks = parse(stage.text(), lesson)
    fill(blocks, stage)
    files = {
        stage.lesson: MADE + render(blocks),
        stage.root / "notebooks" / f"{stage.key}.ipynb": notebook(blocks, lesson),
    }
    # Jupyter shows no files from outside its folder, so the notebooks' folder has copies.
    for folder in _picture_folders(stage):
        files |= {folder / picture_file(stage, block.detail).name: block.result["svg"]
                  for block in blocks if block.kind == "picture"}
    for path in stage.modules:
        holes = [hole for hole in stage.holes if any(symbol.startswith(f"{path}:")
                                                     for symbol in hole.symbols)]
        files[stage.exercise(path)] = _header(stage, path, "exercise") + blank(stage, path, holes)
        files[stage.solution(path)] = (_header(stage, path, "solution")
                                       + module(stage.package, path).text)
    return files


def overview(root: Path) -> tuple[Path, str]:
    """Return the course's page and its new text, with all stages and what they leave out."""
    page = root / "docs" / "en" / "course.md"
    text = page.read_text(encoding="utf-8")
    rows = ["| stage | lesson | rebuilds | exercises | minutes |", "|---|---|---|---|---|"]
    for stage in stages(root):
        modules = ", ".join(f"`{path}`" for path in stage.modules) or "nothing"
        rows.append(f"| {stage.number} | {stage.words['title']} | {modules} | "
                    f"{len(stage.holes) or ''} | {stage.minutes} |")
    text = _between(text, "stages", "\n".join(rows) + "\n")
    return page, _between(text, "left out", section(root))


def _between(text: str, name: str, made: str) -> str:
    """Return a page's text with `made` between the two comments with this name."""
    begin, end = f"<!-- {name}, made by `minigrad dev build` -->\n", f"<!-- /{name} -->"
    before, found, after = text.partition(begin)
    if not found or end not in after:
        raise CourseError(f"the course's page lacks the comments for: {name}")
    return before + begin + made + end + after.partition(end)[2]


def _header(stage: Stage, path: str, kind: str) -> str:
    title = stage.words["title"]
    lines = [f"# Stage {stage.number}, {title}: the {kind} for minigrad/{path}.",
             f"# Made by `minigrad dev build`. The lesson is lessons/{stage.key}.md."]
    if kind == "exercise":
        lines += [f"{MASTER}: write your answers in a workspace, which `minigrad init DIR` makes.",
                  f"{MASTER}: answers in this file are never tested, and a build overwrites them.",
                  "# Write the bodies that raise NotImplementedError, then run: "
                  f"minigrad run {stage.number}",
                  "# docs/en/glossary.md explains the names used inside the package."]
    else:
        lines.append(f"{MASTER}: a copy of the package's module, which never runs. Your answers "
                     "are in a workspace.")
    return "\n".join(lines) + "\n\n"


def differences(stage: Stage) -> list[Path]:
    """Return a stage's generated files that are out of date or no longer generated."""
    made = built(stage)
    return [path for path, text in made.items()
            if not path.is_file() or path.read_text(encoding="utf-8") != text] + [
        path for path in _pictures_there(stage) if path not in made]


def write(stage: Stage) -> list[Path]:
    """Write a stage's generated files and return the changed ones; delete unused pictures."""
    changed, made = [], built(stage)
    for path, text in made.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    for path in _pictures_there(stage):
        if path not in made:
            path.unlink()
            changed.append(path)
    return changed


def _pictures_there(stage: Stage) -> list[Path]:
    return sorted(path for folder in _picture_folders(stage)
                  for path in folder.glob(f"{stage.number}_*.svg"))


def _picture_folders(stage: Stage) -> list[Path]:
    return [stage.pictures.parent, stage.root / "notebooks" / "pictures"]
