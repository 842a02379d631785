"""Show how many submissions of a class are graded, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

__all__ = ["Counted", "time_left"]


def time_left(seconds: float) -> str:
    """Return a length of time in words.

    >>> time_left(20), time_left(150), time_left(4000)
    ('less than a minute', 'about 2 minutes', 'about 1 hour 7 minutes')
    """
    minutes = round(seconds / 60)
    if seconds < 50:
        return "less than a minute"
    hours, minutes = divmod(max(minutes, 1), 60)
    parts = [(hours, "hour"), (minutes, "minute")]
    return "about " + " ".join(f"{count} {unit}{'s' if count != 1 else ''}"
                               for count, unit in parts if count)


class Counted:
    """A count of graded submissions: a bar on a terminal, otherwise a line for each tenth.

    Only submissions graded in this run count for the speed; known verdicts took no time.
    """

    def __init__(self, console: Console, total: int,
                 now: Callable[[], float] = time.monotonic) -> None:
        self.console, self.total, self.done, self.now = console, total, 0, now
        self.begun, self.known = now(), 0
        self.bar = Progress(TextColumn("graded"), BarColumn(), MofNCompleteColumn(),
                            TextColumn("{task.fields[left]}"), console=console, transient=True,
                            disable=total == 1 or not console.is_terminal)
        self.task = self.bar.add_task("graded", total=total, left="")

    def __enter__(self) -> Counted:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    @property
    def left(self) -> str:
        """The estimate of the remaining time; "" before the first submission is graded."""
        if self.done == self.known or self.done >= self.total:
            return ""
        graded = self.done - self.known
        seconds = (self.now() - self.begun) / graded * (self.total - self.done)
        return f"{time_left(seconds)} left"

    def went_on(self, known: int) -> None:
        """Start the clock, with `known` verdicts from earlier."""
        self.begun, self.known, self.done = self.now(), known, known
        self.bar.update(self.task, completed=known)
        if known:
            self.console.print(f"{known} of {self.total} were graded earlier", soft_wrap=True)

    def advance(self) -> None:
        """Count one more graded submission."""
        self.done += 1
        self.bar.update(self.task, completed=self.done, left=self.left)
        is_tenth = self.done * 10 // self.total > (self.done - 1) * 10 // self.total
        if self.total > 1 and not self.console.is_terminal and is_tenth:
            self.console.print(f"graded {self.done} of {self.total}"
                               + (f", {self.left}" if self.left else ""), soft_wrap=True)
