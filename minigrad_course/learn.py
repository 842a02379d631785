"""`minigrad learn`: tests what was saved, shows the first open exercise, listens to keys."""

from __future__ import annotations

import queue
import sys
import threading
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .run import show, show_problem
from .stages import CourseError, Hole, Stage, stages
from .trial import try_files
from .verdict import verdicts
from .workspace import Workspace

KEYS = "h hint   n next   l list   r reset   q quit"
QUIT = {"q", "\x03", "\x04"}


class Session:
    """Someone at work: which exercise is shown, and what a key or a saved file leads to."""

    def __init__(self, console: Console, space: Workspace) -> None:
        self.console, self.space = console, space
        self.skipped: set[str] = set()
        self.asked_to_reset = False

    def open_exercise(self) -> tuple[Stage, Hole] | None:
        """Return the first exercise that is neither solved nor skipped."""
        for stage in stages():
            for hole in stage.holes:
                if hole.id not in self.skipped and not self.space.solved(hole):
                    return stage, hole
        return None

    def welcome(self) -> None:
        """Say where the course begins to someone who has solved nothing yet."""
        if not self.space.progress()["holes"]:
            first = stages()[0]
            self.console.print(f"The course begins with a lesson to read: "
                               f"{escape(first.words['title'])}, {escape(str(first.lesson))}",
                               soft_wrap=True)

    def try_open(self) -> None:
        """Test the stage of the open exercise and show the first one that is not solved."""
        while (found := self.open_exercise()) is not None:
            stage, _ = found
            self.console.print(f"\nstage {stage.number}, {escape(stage.words['title'])}: testing",
                               style="dim")
            trial = try_files(stage, self.space.files(stage))
            if trial.problem:
                show_problem(self.console, trial)
                break
            results = verdicts(stage, trial, list(stage.holes))
            self.space.record((each.hole, each.state == "solved") for each in results)
            waiting = [each for each in results
                       if each.state != "solved" and each.hole.id not in self.skipped]
            if not waiting:
                self.console.print(f"[green]stage {stage.number} is solved[/]")
                continue
            first = waiting[0]
            show(self.console, first)
            if first.state == "untouched":
                for path, names in groupby(first.hole.symbols, lambda each: each.partition(":")[0]):
                    file = stage.exercise(path, self.space.exercises)
                    symbols = ", ".join(each.partition(":")[2] for each in names)
                    self.console.print(f"  write {escape(symbols)} in {escape(str(file))}",
                                       soft_wrap=True)
                self.console.print(f"  the lesson is {escape(str(stage.lesson))}", soft_wrap=True)
            break
        else:
            if self.skipped:
                self.console.print("All that is left was skipped; n starts again from the first.")
            else:
                last = stages()[-1]
                self.console.print("[green]Everything is solved.[/] The course ends with a lesson "
                                   f"to read: {escape(last.words['title'])}, "
                                   f"{escape(str(last.lesson))}", soft_wrap=True)
        self.console.print(KEYS, style="dim")

    def key(self, pressed: str) -> bool:
        """Do what a key asks for; return False where it ends the session."""
        found = self.open_exercise()
        if pressed == "y" and self.asked_to_reset and found is not None:
            for copy in self.space.reset(found[0]):
                self.console.print(f"your file is kept as {escape(str(copy))}", soft_wrap=True)
            self.asked_to_reset = False
            self.try_open()
            return True
        self.asked_to_reset = False
        if pressed in QUIT:
            return False
        if pressed == "h" and found is not None:
            self.hint(*found)
        elif pressed == "n":
            if found is None:
                self.skipped.clear()
            else:
                self.skipped.add(found[1].id)
            self.try_open()
        elif pressed == "l":
            for stage in stages():
                for hole in stage.holes:
                    mark = "done" if self.space.solved(hole) else "    "
                    title = stage.words["hole"][hole.id]["title"]
                    self.console.print(f"{mark} {hole.id} {escape(title)}")
            self.console.print(KEYS, style="dim")
        elif pressed == "r" and found is not None:
            self.asked_to_reset = True
            self.console.print(f"Put the files of stage {found[0].number} back? y for yes")
        return True

    def hint(self, stage: Stage, hole: Hole) -> None:
        """Show the next hint."""
        hints = stage.words["hole"][hole.id]["hints"]
        taken = min(self.space.hints_taken(hole) + 1, len(hints))
        self.space.note(hole, hints=taken)
        self.console.print(f"{hole.id}, hint {taken} of {len(hints)}: {escape(hints[taken - 1])}")


def learn(console: Console, space: Workspace, polling: bool = False) -> int:
    """Serve keys and saved files until the learner quits; 0."""
    session, events, over = Session(console, space), queue.SimpleQueue[str](), threading.Event()
    for target, arguments in ((_watch, (space.exercises, events, over, polling)),
                              (_listen, (events, over))):
        threading.Thread(target=target, args=arguments, daemon=True).start()
    try:
        session.welcome()
        session.try_open()
        while True:
            came = [events.get()]
            while not events.empty():
                came.append(events.get())
            if "saved" in came and not QUIT.intersection(came):  # however often: test once
                session.try_open()
            for pressed in came:
                if pressed != "saved" and not session.key(pressed):
                    return 0
    except KeyboardInterrupt:
        return 0
    except CourseError as error:
        console.print(f"[red]{escape(str(error))}[/]")
        return 2
    finally:
        over.set()


def _watch(folder: Path, events: queue.SimpleQueue[str], over: threading.Event,
           polling: bool) -> None:
    from watchfiles import watch

    for _ in watch(folder, stop_event=over, watch_filter=lambda _, path: path.endswith(".py"),
                   force_polling=polling or None, poll_delay_ms=500):
        events.put("saved")


def _listen(events: queue.SimpleQueue[str], over: threading.Event) -> None:
    if not sys.stdin.isatty():
        for line in sys.stdin:  # piped: one key a line, so that it can be driven by a program
            events.put(line.strip()[:1])
        events.put("q")
        return
    import readchar

    while not over.is_set():
        try:
            events.put(readchar.readchar())
        except KeyboardInterrupt:
            events.put("q")
            return
