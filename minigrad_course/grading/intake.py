"""Read submissions: plain files of plain text only.

A submission is a file (for a stage with one module), a learner's workspace, or its folder
`exercises`.  This module doesn't execute its code, follow its links or trust its contents.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..content.plain_text import Missing, Refused, read_text
from ..content.stages import CourseError, Stage, stages

__all__ = ["Submission", "collect", "labels", "noted", "take_in"]


@dataclass(frozen=True)
class Submission:
    """The submitted texts of one stage, and the problems with the other files."""

    name: str
    texts: dict[str, str] = field(default_factory=dict)  # by path in the package
    problems: dict[str, str] = field(default_factory=dict)  # by path in the package
    notes: tuple[str, ...] = ()  # shown once for the whole submission


def take_in(path: Path, stage: Stage) -> Submission:
    """Read and parse a submission for a stage; raise CourseError if `path` does not exist."""
    return noted(stage, collect(path, stage))


def collect(path: Path, stage: Stage) -> Submission:
    """Read a submission's bytes without parsing them; raise CourseError if `path` does not exist.

    This part runs in the grader's own process, so its cost is bounded: a few files of limited size.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        raise CourseError(f"cannot read {path}: {error.strerror}") from None
    submission = Submission(path.name or str(path))
    found: str | None = None
    for module in stage.modules:
        try:
            if not stat.S_ISDIR(mode):
                if len(stage.modules) > 1:
                    raise Refused(f"stage {stage.number} has {len(stage.modules)} files: hand in "
                                  "the folder")
                if why := _is_packed(path.name):
                    raise Refused(f"{path.name} {why}")
                submission.texts[module] = read_text(path.parent, Path(path.name))
            else:
                submission.texts[module] = read_text(path, _file_of(path, stage, module))
        except Missing as missing:
            found = found_instead(path, stage) if found is None else found
            submission.problems[module] = f"{missing}{found}"
        except Refused as refusal:
            submission.problems[module] = str(refusal)
    return submission


def noted(stage: Stage, submission: Submission) -> Submission:
    """Return a submission with a note on each text that is not Python.  This parses the texts.

    A file that is empty, or was written for another stage, becomes a problem.
    """
    problems = {module: why for module, text in submission.texts.items()
                if (why := _misplaced(stage, module, text))}
    texts = {module: text for module, text in submission.texts.items() if module not in problems}
    return replace(submission, texts=texts, problems={**submission.problems, **problems},
                   notes=tuple(_unreadable(stage, texts)))


def _misplaced(stage: Stage, module: str, text: str) -> str:
    """Return why a text cannot contain this stage's exercises, in a sentence, or ""."""
    name = stage.exercise(module, Path()).as_posix()
    if not text.strip():
        return f"{name} is empty; hand in the file that contains your answers"
    for start, kind in _OTHER_KINDS.items():
        if re.match(rf"\s*{start}", text):
            return f"{name} is {kind}, not Python; hand in the .py file itself"
    defined = set(re.findall(r"^[ \t]*(?:class|def|async[ \t]+def)[ \t]+(\w+)", text, re.MULTILINE))
    if not _names(stage, module).isdisjoint(re.findall(r"\w+", text)):
        return ""
    there = [(len(names), other, path) for other in stages(stage.root) for path in other.modules
             if (names := _names(other, path)) and names <= defined]
    if not there:
        return ""
    _, other, path = max(there, key=lambda each: each[0])
    return (f"{name} looks like stage {other.number} ({other.exercise(path, Path()).as_posix()}), "
            f"not like stage {stage.number}; hand in the file of this stage")


def _names(stage: Stage, module: str) -> set[str]:
    """Return the names of the classes and functions that a module's exercises ask for.

    Names of methods belong to many classes, so only the names of the classes count.
    """
    return {symbol.rpartition(":")[2].partition(".")[0] for hole in stage.holes
            for symbol in hole.symbols if symbol.startswith(f"{module}:")}


def _unreadable(stage: Stage, texts: dict[str, str]) -> Iterator[str]:
    """Yield the first syntax error of each text that is not Python."""
    for module, text in texts.items():
        try:
            ast.parse(text)
        except SyntaxError as error:
            line = (error.text or "").strip()[:80]
            yield (f"{stage.exercise(module, Path()).as_posix()}, line {error.lineno}: {error.msg}"
                   + (f": {line}" if line else ""))
        except (ValueError, RecursionError, MemoryError) as error:
            yield f"{stage.exercise(module, Path()).as_posix()} is not readable as Python: {error}"


#: How files begin that are often saved under the name of a program, and what they are.
_OTHER_KINDS = {r'\{\s*"': "a notebook", "<(!|html|head)": "a web page", r"\{\\rtf": "a document"}
#: The most entries to look at in one folder; a hostile folder may contain millions.
ENTRIES = 2000
#: File endings of archives and notebooks, and what to do with such a file.
_PACKED = {".zip .tar .gz .tgz .7z .rar .whl": "is an archive; unpack it",
           ".ipynb": "is a notebook; hand in the .py files that it writes"}


def _is_packed(name: str) -> str:
    ending = Path(name).suffix.lower()
    return next((why for endings, why in _PACKED.items() if ending in endings.split()), "")


def found_instead(folder: Path, stage: Stage) -> str:
    """Describe what a folder contains instead of a stage's files; "" if it contains nothing."""
    expected = {stage.exercise(module, Path()).as_posix() for module in stage.modules}
    names = {Path(each).name for each in expected}
    nested, packed, others = [], [], []
    for path in itertools.islice(_files_in(folder), ENTRIES):
        inside = path.relative_to(folder).as_posix()
        if why := _is_packed(path.name):
            packed.append(f"{inside} {why}")
        elif inside in expected or inside.removeprefix("exercises/") in expected:
            continue
        elif any(inside.endswith(f"/{each}") for each in expected) or path.name in names:
            nested.append(inside)
        elif path.suffix == ".py":
            others.append(inside)
    there = nested or others
    told = [*([f"{', '.join(there[:3])}{' ...' if len(there) > 3 else ''} "
               f"{'was' if len(there) == 1 else 'were'} found instead"] if there else []),
            *packed[:3]]
    return "".join(f"; {each}" for each in told) or "; no .py file was found"


def _files_in(folder: Path, depth: int = 4) -> Iterator[Path]:
    """Yield the plain files in a folder and its subfolders, without following links."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            some = sorted(itertools.islice(entries, ENTRIES), key=lambda entry: entry.name)
        for each in some:
            is_hidden = each.name.startswith((".", "__"))
            if each.is_dir(follow_symlinks=False) and depth and not is_hidden:
                yield from _files_in(Path(each.path), depth - 1)
            elif each.is_file(follow_symlinks=False):
                yield Path(each.path)


def _file_of(folder: Path, stage: Stage, module: str) -> Path:
    inside = stage.exercise(module, Path())
    nested = Path("exercises") / inside
    return nested if os.path.lexists(folder / nested) else inside


def labels(paths: Sequence[Path]) -> list[str]:
    """Return names for submissions: as much of each path as it takes to make it unique.

    >>> labels([Path("class/ann/hw.py"), Path("class/bo/hw.py"), Path("class/eve.py")])
    ['ann/hw.py', 'bo/hw.py', 'eve.py']
    """
    shown = [path.resolve() if path.name in ("", "..") else path for path in paths]
    lengths = range(1, max((len(path.parts) for path in shown), default=1) + 1)
    ends = [[(length, str(Path(*path.parts[-length:]))) for length in lengths] for path in shown]
    counts = Counter(end for each in ends for end in each)
    made = [next((end[1] for end in each if counts[end] == 1), str(path))
            for each, path in zip(ends, shown, strict=True)]
    return [os.fsencode(each).decode("utf-8", "backslashreplace") for each in made]
