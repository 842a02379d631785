"""`minigrad learn`: test the stage of each saved file, show the open exercise, listen to keys.

NOTE [Tests do not hold anything up]
    A stage's tests run in a process while a thread waits for it.  Keys still work, and saving a
    file kills the process and starts the next one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ..content.stages import CourseError, Hole, Stage, stages
from ..learner.next_step import (
    changed_stages,
    glossary,
    note_tested,
    solved_summary,
    where_to_write,
    with_noun,
)
from ..learner.skipped_stages import skipped, uncounted
from ..learner.workspace import Workspace
from ..running.trial import LIMIT, Trial
from ..verdicts.verdict import Verdict, verdicts
from ..verdicts.waiting import try_answers
from .keys import END, Keys
from .show_verdicts import heading, show, show_printed, show_problem, show_whole
from .wrapping import print_wrapped

KEYS = "h hint   n next   l list   r reset   q quit"

Event = tuple[str, Any]  # ("key", letter), ("saved", paths) or ("tested", (number, stage, trial))


class Session:
    """A learner at work: the exercise on the screen, and the stages whose tests are pending."""

    def __init__(self, console: Console, space: Workspace) -> None:
        self.console, self.space = console, space
        self.passed_over: set[str] = set()
        self.shown: tuple[Stage, Hole] | None = None
        self.waiting: list[Stage] = []
        self.to_reset: Stage | None = None

    def open_exercise(self) -> tuple[Stage, Hole] | None:
        """Return the first exercise that is not solved, skipped or passed over."""
        left_out = skipped(self.space)
        for stage in stages():
            for hole in stage.holes:
                if stage.number not in left_out and hole.id not in self.passed_over and \
                        not self.space.solved(hole):
                    return stage, hole
        return None

    def current(self) -> tuple[Stage, Hole] | None:
        """Return the exercise on the screen, or the first open one."""
        if self.shown is not None and not self.space.solved(self.shown[1]):
            return self.shown
        return self.open_exercise()

    def begin(self) -> None:
        """Welcome the learner; test stages changed since their last test, then the open one."""
        found = self.open_exercise()
        if found is not None and not self.space.progress()["holes"]:
            print_wrapped(self.console, f"Start by reading lesson {found[0].number}, "
                          f"{escape(found[0].words['title'])}: minigrad lesson {found[0].number}")
        self.waiting = changed_stages(self.space)
        self.go_on()

    def saved(self, paths: Iterable[Path]) -> None:
        """Test the stages that saved files belong to; for any other file, the current stage."""
        changed = {path.resolve() for path in paths}
        self.waiting = [stage for stage in stages() if changed.intersection(
            stage.exercise(path, self.space.exercises).resolve() for path in stage.modules)]
        if not self.waiting and (now := self.current()) is not None:
            self.waiting = [now[0]]
        if not self.waiting:
            self.go_on()

    def go_on(self) -> None:
        """Go on to the first open exercise, unless tests are pending."""
        if self.waiting:
            return
        if (found := self.open_exercise()) is not None:
            is_new = self.shown is None or self.shown[0] != found[0]
            if is_new and not self.passed_over and found[0].number in uncounted(self.space):
                print_wrapped(self.console, "[green]This was the last stage before the capstone."
                              f"[/] {self.to_read()} Stage {found[0].number} goes on after it.")
            self.waiting = [found[0]]
            return
        self.shown = None
        left_out = sorted(skipped(self.space))
        if self.passed_over:
            self.console.print("You passed over all that is left; press n to start over.")
        elif left_out:
            print_wrapped(self.console, "Everything is solved except what you skipped: "
                          f"{', '.join(left_out)}. `minigrad unskip` brings it back.")
        else:
            print_wrapped(self.console, f"[green]Everything is solved.[/] {self.to_read()}")
        self.console.print(KEYS, style="dim")

    def to_read(self) -> str:
        """Return a sentence that names the last lesson without exercises."""
        last = next(stage for stage in reversed(stages()) if not stage.holes)
        return (f"One lesson is left to read, {escape(last.words['title'])}: "
                f"minigrad lesson {last.number}.")

    def tested(self, stage: Stage, trial: Trial) -> None:
        """Show the verdicts on a stage, and go on if it has no open exercises."""
        if trial.problem:
            show_problem(self.console, trial)
            self.shown = stage, next((hole for hole in stage.holes
                                      if not self.space.solved(hole)), stage.holes[0])
            self.console.print(KEYS, style="dim")
            return
        before = {hole.id for hole in stage.holes if self.space.solved(hole)}
        results = verdicts(stage, trial, list(stage.holes))
        ran = [each for each in results if trial.of(each.hole) or each.is_right]
        waited = {hole.id: self.space.waits_for(hole) for hole in stage.holes}
        self.space.record((each.hole, each.is_right) for each in ran)
        self.space.record_waits(ran)
        note_tested(self.space, stage)
        for each in ran:
            if each.state == "solved" and each.hole.id not in before:
                self.console.print(f"[green]solved[/]    {each.hole.id} {escape(each.title)}: "
                                   f"{with_noun(each.points, 'point')}")
            elif each.state == "right" and each.waits_for != waited[each.hole.id]:
                self.console.print(heading(each))
            elif not each.is_right and each.hole.id in before:
                self.console.print(f"[yellow]{each.hole.id} was solved, but now fails[/]")
        still = [each for each in results
                 if not each.is_right and each.hole.id not in self.passed_over]
        shown = still[0] if still else None
        for each in results:
            if each is not shown:
                show_printed(self.console, each)
        if shown is None:
            if trial.whole is not None:
                show_whole(self.console, trial.whole)
            if all(self.space.solved(hole) for hole in stage.holes) and len(before) < len(results):
                for line in solved_summary(self.space, stage):
                    print_wrapped(self.console, line)
            self.go_on()
            return
        self.show(stage, shown)
        self.console.print(KEYS, style="dim")

    def show(self, stage: Stage, verdict: Verdict) -> None:
        """Show the open exercise."""
        self.shown = stage, verdict.hole
        show(self.console, verdict)
        if verdict.state == "untouched":
            for line in where_to_write(self.space, stage, verdict.hole):
                print_wrapped(self.console, f"  {line}")

    def key(self, pressed: str) -> bool:
        """Handle a key; return False if it ends the session."""
        asked, self.to_reset = self.to_reset, None
        now = self.current()
        if pressed in (END, "\x03", "\x04"):
            return False
        if pressed == "y" and asked is not None:
            for copy in self.space.reset(asked):
                print_wrapped(self.console, f"backup of your file: {escape(str(copy))}")
            self.waiting = [asked]
        elif pressed == "h" and now is not None:
            self.hint(*now)
        elif pressed == "n":
            if now is None:
                self.passed_over.clear()
            else:
                self.passed_over.add(now[1].id)
            self.shown, self.waiting = None, []
            self.go_on()
        elif pressed == "l":
            self.list_stage()
            self.console.print(KEYS, style="dim")
        elif pressed == "r" and now is not None:
            self.to_reset = now[0]
            self.console.print(f"Reset the files of stage {now[0].number}? Press y for yes.")
        return True

    def list_stage(self) -> None:
        """List the exercises of the current stage, with its position in the course."""
        known = [stage for stage in stages() if stage.holes]
        stage, upcoming = self.current() or (known[-1], None)
        for hole in stage.holes:
            mark = "done" if self.space.solved(hole) else "next" if hole == upcoming else "    "
            waits = self.space.waits_for(hole)
            print_wrapped(self.console,
                          f"{mark} {hole.id} {escape(stage.words['hole'][hole.id]['title'])}"
                          + (f": correct, but waits for {waits}" if waits else ""))
        done = sum(bool(each.get("solved")) for each in self.space.progress()["holes"].values())
        print_wrapped(self.console, f"stage {known.index(stage) + 1} of {len(known)}; "
                      f"{done} of {sum(len(each.holes) for each in known)} exercises are solved; "
                      "`minigrad list` shows all")

    def hint(self, stage: Stage, hole: Hole) -> None:
        """Show the next hint."""
        hints = stage.words["hole"][hole.id]["hints"]
        taken = min(self.space.hints_taken(hole) + 1, len(hints))
        self.space.note(hole, hints=taken)
        self.console.print(f"{hole.id}, hint {taken} of {len(hints)}: {escape(hints[taken - 1])}")
        if taken == 1:
            print_wrapped(self.console, "for names used inside the package, see "
                          f"{escape(glossary())}", style="dim")


class Tester:
    """Runs the tests of one stage at a time and puts the results into `events`."""

    def __init__(self, space: Workspace, events: queue.SimpleQueue[Event]) -> None:
        self.space, self.events = space, events
        self.number = 0  # of the run; the result of a stopped run no longer counts
        self.stop = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self, stage: Stage) -> None:
        """Stop the current run, if there is one, and start another."""
        self.end()
        self.number += 1
        self.stop = threading.Event()
        self.thread = threading.Thread(
            target=self._run, args=(self.number, stage, self.space.files(stage), self.stop))
        self.thread.start()

    def end(self) -> None:
        """Stop the current run."""
        self.stop.set()
        if self.thread is not None:
            self.thread.join()
        self.thread = None

    def _run(self, number: int, stage: Stage, files: dict[str, Path], stop: threading.Event
             ) -> None:
        try:
            trial = try_answers(stage, files, limit=LIMIT, stop=stop, only_first=True)
        except Exception as error:
            trial = Trial(problem=f"{type(error).__name__}: {error}")
        if not stop.is_set():
            self.events.put(("tested", (number, stage, trial)))


def learn(console: Console, space: Workspace, polling: bool = False) -> int:
    """Handle keys and saved files until the learner quits; return 0, or 128 + signal number."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    over, watching = threading.Event(), threading.Event()
    session, tester = Session(console, space), Tester(space, events)
    with Keys(lambda key: events.put(("key", key))) as keys:
        threading.Thread(target=_watch, args=(space.exercises, events, over, watching, polling),
                         daemon=True).start()
        try:
            watching.wait()  # a file saved after the session has looked at it would go unseen
            session.begin()
            while True:
                if session.waiting:
                    stage = session.waiting.pop(0)
                    console.print(f"\nstage {stage.number}, {escape(stage.words['title'])}: "
                                  "testing", style="dim")
                    _start(tester, stage, session)
                elif keys.drained.is_set() and tester.thread is None:
                    return 0
                if not _serve(_next(events), session, tester):
                    return 128 + keys.ended if keys.ended else 0
        except CourseError as error:
            console.print(f"[red]{escape(str(error))}[/]")
            return 2
        finally:
            over.set()
            tester.end()


def _start(tester: Tester, stage: Stage, session: Session) -> None:
    """Start the tests of a stage; if a file is missing, say which, and wait until it is saved."""
    try:
        tester.start(stage)
    except CourseError as error:
        print_wrapped(session.console, f"[red]{escape(str(error))}[/]")
        session.console.print(KEYS, style="dim")


def _next(events: queue.SimpleQueue[Event]) -> list[Event]:
    """Wait for an event; return all events that have happened."""
    while True:
        try:
            came = [events.get(timeout=0.5)]  # signals only arrive between waits on Windows
            break
        except queue.Empty:
            continue
    while not events.empty():
        came.append(events.get())
    return came


def _serve(came: list[Event], session: Session, tester: Tester) -> bool:
    """Handle events, saved files first; return False if the session ends."""
    if any(event == "key" and value == END for event, value in came):
        return False
    saved = [path for event, paths in came if event == "saved" for path in paths]
    if saved:  # test once, no matter how many files were saved
        tester.end()
        session.saved(saved)
    for event, value in came:
        if event == "tested" and not saved and value[0] == tester.number:
            tester.end()
            session.tested(*value[1:])
        elif event == "key" and not session.key(value):
            return False
    return True


def _watch(folder: Path, events: queue.SimpleQueue[Event], over: threading.Event,
           watching: threading.Event, polling: bool) -> None:
    """Report saved files until `over`; set `watching` once no save can be missed."""
    try:
        from watchfiles import watch

        # The first answer, by then an empty one, says that the folder is being watched.
        for changes in watch(folder, stop_event=over, force_polling=polling or None,
                             watch_filter=lambda _, path: path.endswith(".py"),
                             poll_delay_ms=500, rust_timeout=200, yield_on_timeout=True):
            watching.set()
            if changes:
                events.put(("saved", [Path(path) for _, path in changes]))
    finally:
        watching.set()
