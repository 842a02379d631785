"""Notebook magics: lessons block by block, cells for answers, tracebacks that reveal no answer.

    %load_ext minigrad_course.jupyter
    %lesson 05              show lesson 05 up to its first block, and put that into the next cell
    %lesson                 continue
    %lesson --answer        show the last hidden answer
    %lesson 05 --mine       the same on your own engine; use it first in a new kernel
    %exercise 00.1          show the task of an exercise, and put its functions into the next cell
    %%exercise 00.1         save the functions in this cell in your workspace, and test them
    %%predict               read a guess of what the cell prints, run it, and compare
    %tracebacks all         also show the package's frames in tracebacks; `short` hides them again

The notebooks of the lessons load these magics in their first cell.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from .child_process.swap import swap_in
from .content.selection import one_exercise, stages_named
from .content.stages import CourseError
from .lessons.pieces import Piece, pieces_of
from .running.trial import as_plan, module_name
from .verdicts.tracebacks import hide_package

__all__ = ["Magics", "load_ipython_extension"]


class Magics:
    """The magics of one notebook, and its position in a lesson."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.pieces: list[Piece] = []
        self.answer: Piece | None = None
        self.short = True

    def tracebacks(self, line: str) -> None:
        """Show every frame with `%tracebacks all`, or hide the package's with `short`."""
        if line.strip() not in ("all", "short"):
            print("usage: %tracebacks all or %tracebacks short")
            return
        self.short = line.strip() == "short"

    def failed(self, shell: Any, error_type: type[BaseException], error: BaseException,
               trace: TracebackType, tb_offset: int | None = None) -> None:
        """Show an error."""
        if self.short and (hidden := hide_package(error)):
            error.add_note(f"({hidden} frame{'s' if hidden > 1 else ''} inside minigrad hidden; "
                           "run %tracebacks all to see them next time)")
        shell.showtraceback((error_type, error, error.__traceback__), tb_offset=tb_offset)

    def lesson(self, line: str) -> None:
        """Begin a lesson with `%lesson 05`, continue with `%lesson`, reveal with `--answer`."""
        words = line.split()
        try:
            if "--answer" in words:
                self._unfold()
                return
            if "--mine" in words:
                words.remove("--mine")
                self._swap(words)
            if words:
                self._begin(words[0])
            self._go_on()
        except CourseError as error:
            print(f"minigrad: {error}")

    def _begin(self, name: str) -> None:
        stage, *more = stages_named(name)
        if more:
            raise CourseError(f"{name!r} names several stages: begin with {stage.number}")
        self.pieces, self.answer = pieces_of(stage, bare=False), None

    def _go_on(self) -> None:
        """Show pieces up to the next block, and put that into the next cell."""
        if not self.pieces:
            print("begin a lesson with its number, as in %lesson 05")
        while self.pieces:
            piece = self.pieces.pop(0)
            if piece.kind == "run":
                self.shell.set_next_input(piece.text)
                return
            self._show(piece)

    def _show(self, piece: Piece) -> None:
        if piece.kind == "answer":
            self.answer = piece
            text = f"*{piece.text}: `%lesson --answer`*"
        elif piece.kind == "heading":
            text = f"{'#' * piece.level} {piece.text}"
        elif piece.kind in ("code", "run"):
            text = f"```{piece.language}\n{piece.text}\n```"
            if piece.printed:
                text += f"\n\n```text\n{piece.printed}\n```"
        elif piece.kind == "picture":
            self._picture(piece)
            return
        else:
            text = piece.text
        self.shell.display_pub.publish({"text/markdown": text, "text/plain": text})

    def _picture(self, piece: Piece) -> None:
        data = {"text/plain": f"Picture: {piece.text}"}
        if piece.file is not None and piece.file.is_file():
            data["image/svg+xml"] = piece.file.read_text(encoding="utf-8")
        self.shell.display_pub.publish(data)
        self.shell.display_pub.publish({"text/markdown": f"*{piece.caption}*",
                                        "text/plain": piece.caption})

    def _unfold(self) -> None:
        if self.answer is None:
            print("the lesson has not reached an answer yet")
        else:
            for piece in self.answer.inside:
                self._show(piece)

    def exercise(self, line: str, cell: str | None = None) -> None:
        """Show a task and begin its cell with `%exercise 00.1`; test it with `%%exercise 00.1`."""
        answers = importlib.import_module("minigrad_course.learner.cell_answer")
        try:
            stage, hole = one_exercise(line.strip())
            if cell is None:
                self._show(Piece("text", answers.task_page(stage, hole)))
                text = answers.cell_text(_workspace(), stage, hole)
                self.shell.set_next_input(f"%%exercise {hole.id}\n{text}")
                return
            space = _workspace() or _new_workspace()
            for file in answers.write_cell(space, stage, hole, cell):
                print(f"saved in {file}")
            _run_tests(hole.id, space.root)
        except CourseError as error:
            print(f"minigrad: {error}")

    def predict(self, line: str, cell: str) -> None:
        """Read a guess of what a cell prints, run the cell, and compare."""
        guess = self._guess()
        capture = importlib.import_module("IPython.utils.capture")
        with capture.capture_output(display=False) as found:
            result = self.shell.run_cell(cell)
        sys.stdout.write(found.stdout)
        sys.stderr.write(found.stderr)
        if guess is not None:
            printed = found.stdout + ("" if result.result is None else repr(result.result))
            is_right = _compact(guess) == _compact(printed)
            print("(your guess was right)" if is_right else f"(you guessed {guess})")

    def _guess(self) -> str | None:
        """Return what the reader types, if there is a reader."""
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None or not getattr(kernel, "_allow_stdin", False):
            return None
        return input("What will this cell print? ")

    def _swap(self, words: list[str]) -> None:
        """Replace the package's modules with the learner's solved exercises in this kernel."""
        if "minigrad" in sys.modules:
            raise CourseError("minigrad is already imported: restart the kernel, then run "
                              "`%lesson ... --mine` before anything else")
        space = importlib.import_module("minigrad_course.learner.workspace").find_workspace()
        part = stages_named(words[0])[0] if words else None
        files, shared = importlib.import_module("minigrad_course.learner.own_engine").own_engine(
            space, part)
        for name in [each for each in sys.modules if each.partition(".")[0] == "minigrad"]:
            del sys.modules[name]
        swap_in({module_name(path): str(file.resolve()) for path, file in files.items()},
                as_plan(shared))


def _compact(text: str) -> str:
    """Return a text without the differences that do not matter in a guess."""
    return "".join(text.split()).strip("\"'").lower()


def _workspace() -> Any:
    """Return the workspace around the notebook or in its `engine` folder, if there is one."""
    module = importlib.import_module("minigrad_course.learner.workspace")
    for start in (None, Path("engine")):
        try:
            return module.find_workspace(start)
        except CourseError:
            continue
    return None


def _new_workspace() -> Any:
    space = importlib.import_module("minigrad_course.learner.workspace").make_workspace(
        Path("engine"))
    print(f"created the workspace {space.root}")
    return space


def _run_tests(exercise: str, folder: Path) -> None:
    """Do what `minigrad run` does."""
    typer = importlib.import_module("typer")
    try:
        importlib.import_module("minigrad_course.commands.learner").run(
            exercise, where=folder)
    except typer.Exit:
        pass


def load_ipython_extension(shell: Any) -> None:
    """Register the magics, and keep matrix products on one core, as `minigrad tour` does."""
    magics = Magics(shell)
    shell.register_magic_function(magics.lesson, "line", "lesson")
    shell.register_magic_function(magics.exercise, "line_cell", "exercise")
    shell.register_magic_function(magics.predict, "cell", "predict")
    shell.register_magic_function(magics.tracebacks, "line", "tracebacks")
    shell.set_custom_exc((Exception,), magics.failed)
    try:
        limits = importlib.import_module("threadpoolctl").threadpool_limits
    except ImportError:
        return
    limits(limits=1, user_api="blas")
