"""Read a lesson in the terminal: run its blocks one by one, and keep its answers hidden."""

from __future__ import annotations

import queue
import re
import sys
from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..content.stages import CourseError, Stage
from ..learner.own_engine import Engine
from ..lessons.block_runner import Runner
from ..lessons.pieces import Piece, pieces_of, sections
from ..verdicts.verdict import unwritten
from .keys import END, Keys
from .markdown_page import show_code, show_output

#: Wider text is hard to read.
WIDTH = 100


class _Table(TableElement):
    """A table whose cells wrap words that are too long instead of cutting them off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)
            for column in table.columns:
                column.overflow = "fold"
            yield table


class _Page(Markdown):
    elements = {**Markdown.elements, "table_open": _Table}


class Reader:
    """Shows a lesson; `ask` returns the key that the reader presses; `None` without a reader."""

    def __init__(self, console: Console, runner: Runner, ask: Callable[[str], str] | None,
                 run: bool, answers: bool) -> None:
        self.console, self.runner, self.ask = console, runner, ask
        self.runs, self.answers = run, answers
        self.quiet = False  # true in skipped sections, whose code runs without being shown

    def read(self, pieces: list[Piece], begin: int = 1) -> bool:
        """Show the pieces from section `begin` on; return False if the reader quits."""
        section = 0
        for piece in pieces:
            new_section = piece.kind == "heading" and piece.level == 2
            section += new_section
            self.quiet = section < begin and begin > 1
            if new_section and section > max(begin, 1) and self.ask is not None and \
                    self._asked("Enter continues   q quits") == END:
                return False
            if not self.show(piece, section):
                return False
        return True

    def show(self, piece: Piece, section: int = 0) -> bool:
        """Show one piece; return False if the reader quits."""
        if piece.kind == "run":
            return self._block(piece)
        if self.quiet:
            return True
        if piece.kind == "heading":
            self._heading(piece, section)
        elif piece.kind == "text":
            self.console.print()
            self.console.print(_Page(piece.text, hyperlinks=False),
                               width=min(self.console.width, WIDTH))
        elif piece.kind == "code":
            self._code(piece)
        elif piece.kind == "picture":
            self._picture(piece)
        else:
            return self._answer(piece)
        return True

    def _heading(self, piece: Piece, section: int) -> None:
        self.console.print()
        if piece.level == 1:
            self.console.rule(f"[bold]{escape(piece.text)}[/]", characters="═")
        elif piece.level == 2:
            title = re.sub(r"^\d+\. ", "", piece.text)  # the last headings have no number
            self.console.rule(f"[bold]{section}. {escape(title)}[/]", align="left")
        else:
            self.console.print(Text(piece.text, "bold"))

    def _code(self, piece: Piece) -> None:
        if piece.language == "python":
            show_code(self.console, piece.text)
            return
        self.console.print()
        for line in piece.text.splitlines():
            self.console.print(Text(f"    {line}"), soft_wrap=True)

    def _picture(self, piece: Piece) -> None:
        """Describe a picture in words, followed by its caption."""
        width = min(self.console.width, WIDTH)
        for words, style in ((f"Picture: {piece.text}", ""), (piece.caption, "dim")):
            self.console.print(Padding(Text(words.replace("`", ""), style),
                                       (int(not style), 0, 0, 4)), width=width)

    def _block(self, piece: Piece) -> bool:
        if self.quiet:
            self.runner.run(piece.text)
            return True
        show_code(self.console, piece.text)
        key = ""
        if self.ask is not None:
            first = "make your guess   " if piece.predicted else ""
            key = self._asked(f"{first}Enter runs it   s shows the lesson's output   q quits")
            if key == END:
                return False
        if piece.predicted and self.ask is None and not (self.runs or self.answers):
            self.console.print("\n  [dim](predict the output; --answers shows it)[/]")
            return True
        if key == "s" or not self.runs:
            show_output(self.console, piece.printed)
            return True
        self._result(piece, self.runner.run(piece.text))
        return True

    def _result(self, piece: Piece, result: dict[str, str]) -> None:
        if self.runner.news:
            self.console.print(f"  [dim]{escape(self.runner.news)}[/]")
        error = result["error"]
        printed = result["printed"] + result["value"] + (error if piece.raises else "")
        printed = printed.rstrip("\n")
        show_output(self.console, printed)
        if error and not piece.raises:
            self._error(result)
            return
        if piece.raises and not error:
            self.console.print("  [yellow]this block should have raised an error[/]")
        if printed != piece.printed:
            self.console.print("  [dim]the lesson's output:[/]")
            show_output(self.console, piece.printed)

    def _error(self, result: dict[str, str]) -> None:
        number = unwritten(result["error"])
        if number is not None:
            self.console.print(f"  [yellow]this block needs {number}, which you have not "
                               "written yet[/]")
            return
        for line in result["traceback"].splitlines() or [result["error"]]:
            self.console.print(Text(f"  {line}", "red"), soft_wrap=True)

    def _answer(self, piece: Piece) -> bool:
        if not self.answers:
            if self.ask is None:
                self.console.print(f"\n  [dim]({escape(piece.text)}: --answers shows it)[/]")
                return True
            key = self._asked(f"a {escape(piece.text).lower()}   Enter continues   q quits")
            if key != "a":
                return key != END
        self.console.print()
        self.console.print(Text(f"  {piece.text}", "bold"))
        return all(self.show(each) for each in piece.inside)

    def _asked(self, choices: str) -> str:
        assert self.ask is not None
        self.console.print(Padding(f"[dim]{choices}[/]", (1, 0, 0, 0)))
        return self.ask(choices)


def read_lesson(console: Console, stage: Stage, engine: Callable[[], Engine] | None = None,
                run: bool = False, answers: bool = False, begin: int = 1) -> int:
    """Show a lesson, stopping at each block for a reader at a terminal; return the exit status.

    Its blocks run on the package, or on the learner's `engine`.
    """
    pieces = pieces_of(stage)
    titles = sections(pieces)
    if not 1 <= begin <= max(len(titles), 1):
        raise CourseError(f"--from {begin}: lesson {stage.number} has sections 1 to {len(titles)}")
    interactive = sys.stdin.isatty() and console.is_terminal and not run
    with Runner(engine) as runner:
        if not interactive:
            Reader(console, runner, None, run or engine is not None, answers).read(pieces, begin)
            return 0
        keys: queue.SimpleQueue[str] = queue.SimpleQueue()
        with Keys(keys.put) as source:
            console.print(f"[dim]{len(titles)} sections, {stage.minutes} minutes; start with "
                          "--from 3 to begin at the third[/]")
            Reader(console, runner, _asking(keys), True, answers).read(pieces, begin)
            return 128 + source.ended if source.ended else 0


def _asking(keys: queue.SimpleQueue[str]) -> Callable[[str], str]:
    def ask(choices: str) -> str:
        wanted = {"\n", "\r", " ", END, *re.findall(r"(?:^|   )([a-z]) ", choices)}
        while True:
            try:
                key = keys.get(timeout=0.5)  # signals only arrive between waits on Windows
            except queue.Empty:
                continue
            if key in wanted or not key:
                return END if not key else "" if key.isspace() else key

    return ask
