"""The verdict on an exercise after its tests ran, for the terminal, the site and grading."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..content.stages import Hole, Stage
from ..running.trial import Outcome, Trial, unreadable, unwritten
from .closest_test import closest

__all__ = [
    "ENDED_EARLY",
    "REFUSED",
    "Verdict",
    "ended_early",
    "failing_line",
    "mistake_sentence",
    "named_together",
    "over_time",
    "running_in",
    "short_name",
    "shown_lines",
    "unwritten",
    "verdicts",
    "whole_package_sentence",
]

#: How many lines of printed text to show, and how many characters of each.
SHOWN_LINES, SHOWN_WIDTH = 20, 300

#: The maximum number of lines of a test to show as one.
LINES_ASKED = 4

#: How the message of an exercise begins whose file is refused; the reason follows.
REFUSED = "Refused: "

#: The message of a trial whose process was ended by the learner's code.
ENDED_EARLY = re.compile(r"the process ended with status (-?\d+)")
#: How the message of a test begins in which `exit`, `quit` or `sys.exit` was called.
_EXITS = "SystemExit"
_RETURNS_OR_RAISES = ("Your code {} before the tests are over. An exercise returns or raises "
                      "instead of calling `exit`.")
_SLIP = re.compile(r"; ((?:every element|it is|it returns|the elements) [^;\n]+)")
_RAISED = re.compile(r"(?!AssertionError|Failed)\w+(?:Error|Exception|Iteration): .{1,200}")
_RUNNING_IN = re.compile(r"\((\w+\.\d+)\)\.$")


@dataclass(frozen=True)
class Verdict:
    """The verdict on an exercise."""

    hole: Hole
    title: str
    #: "solved", "right" (but it waits for `waits_for`), "untouched", "waiting" (its tests reached
    #: `waits_for`, which is not written) or "wrong".
    state: str
    points: int  # points earned
    diagnosis: str | None = None  # a sentence about the mistake
    failing: tuple[Outcome, ...] = ()
    tests: int = 0
    waits_for: str | None = None  # other exercises, open or wrong, that make its tests fail
    printed: tuple[tuple[str, str], ...] = ()  # pairs of a test and what the exercise printed in it

    @property
    def first(self) -> Outcome | None:
        """The first test that failed."""
        return self.failing[0] if self.failing else None

    @property
    def is_readable(self) -> bool:
        """Whether the exercise is valid Python in a file that is taken, so that its tests ran."""
        return self.first is None or not (
            self.first.message.startswith(REFUSED)
            or (unreadable(self.first.message) or ("",))[0] == self.hole.id)

    @property
    def is_right(self) -> bool:
        """Whether the answer is right, even if it waits for others."""
        return self.state in ("solved", "right")

    @property
    def also(self) -> list[str]:
        """The names of the other failing tests, without duplicates, with their number of cases."""
        cases = Counter(short_name(each.test).partition("[")[0] for each in self.failing[1:])
        return [name if count == 1 else f"{name} ({count} cases)" for name, count in cases.items()]

    @property
    def needed(self) -> str:
        """The exercise to write first, or the function if it belongs to no exercise."""
        needed = self.waits_for or ""
        if needed.endswith(".0") and self.first is not None:
            return self.first.message.partition(".0 ")[2].partition(" is yours")[0]
        return needed

    @property
    def printed_first(self) -> tuple[str, str]:
        """A heading and the first text that the exercise printed in a test, or empty strings."""
        if not self.printed:
            return "", ""
        test, text = self.printed[0]
        more = len(self.printed) - 1
        others = f" (and in {more} more test{'s' if more > 1 else ''})" if more else ""
        return f"{self.hole.id} printed in {short_name(test)}{others}:", text


def short_name(test: str) -> str:
    """Return the name of a test without its file.

    >>> short_name("test_05_hooks.py::test_it[1]")
    'test_it[1]'
    """
    return test.rpartition("::")[2]


def failing_line(outcome: Outcome) -> str:
    """Return the line of a test that failed, joined with its continuation lines.

    Returns "" if the failure is in another file.
    """
    path, _, line = outcome.where.rpartition(":")
    if not line.isdecimal() or not Path(path).name.startswith("test_"):
        return ""
    text = linecache.getline(path, int(line)).strip()
    for number in range(int(line) + 1, int(line) + LINES_ASKED):
        if text.count("(") + text.count("[") <= text.count(")") + text.count("]"):
            break
        text += " " + linecache.getline(path, number).strip()
    return text


def shown_lines(text: str) -> tuple[list[str], int]:
    """Return the lines of printed text to show, and the number of further lines.

    >>> shown_lines("one\\ntwo\\n")
    (['one', 'two'], 0)
    """
    lines = text.splitlines()
    return ([line if len(line) <= SHOWN_WIDTH else line[:SHOWN_WIDTH] + " ..."
             for line in lines[:SHOWN_LINES]], max(0, len(lines) - SHOWN_LINES))


def mistake_sentence(stage: Stage, hole: Hole, shown: Container[str],
                     failing: Sequence[tuple[str, str]]) -> str | None:
    """Return a sentence that explains the mistake in an exercise, or `None`.

    If one of the exercise's symptoms is in `shown`, the sentence names the mistake.  Otherwise it
    is what the first failing test expects (`failing`: ids and messages), with what was raised or
    what `slip` of tests/_oracle.py found in the numbers.  That says less, but is never wrong.  Code
    that does not parse is handled first, because it raises everywhere and so shows symptoms too.
    """
    for _, message in failing:
        if message.startswith(REFUSED):
            return message.removeprefix(REFUSED)
        if (ended := ENDED_EARLY.search(message)) is not None:
            return ended_early(int(ended[1]))
        if message.startswith(_EXITS):
            return _RETURNS_OR_RAISES.format("ends the process")
        broken = unreadable(message)
        if broken is not None and broken[0] == hole.id:
            return f"It is not valid Python: {broken[1]}"
    for name in stage.symptoms_of(hole):
        if name in shown:
            return str(stage.words["symptoms"][name])
    for test, message in failing:
        wanted = None if unreadable(message) or unwritten(message) else stage.wanted(test)
        if wanted is not None:
            slip, raised = _SLIP.search(message), _RAISED.match(message)
            here = slip[1] if slip else f"it raises {raised[0].rstrip('.')}" if raised else ""
            return f"Expected: {wanted}" + (f" Here {here}." if here else "")
    return None


def ended_early(status: int) -> str:
    """Return a sentence about code that ended its process before the tests were over.

    >>> ended_early(-9)
    'The process was killed by signal 9, for example because it ran out of memory.'
    """
    if status < 0 or 128 < status < 193:  # 128 more than the signal, if bubblewrap reports it
        return (f"The process was killed by signal {-status if status < 0 else status - 128}, for "
                "example because it ran out of memory.")
    return _RETURNS_OR_RAISES.format(f"ends the process, with status {status},")


def over_time(message: str) -> str | None:
    """Return a sentence about a test that exceeded its time limit, or `None` for other failures.

    >>> over_time("TimeLimit: it did not end within 10 seconds")
    'It did not end within 10 seconds.'
    """
    if not message.startswith("TimeLimit: "):
        return None
    text = message.removeprefix("TimeLimit: ").partition("\n")[0]
    return f"{text[0].upper()}{text[1:]}."


def running_in(sentence: str) -> str | None:
    """Return the exercise named in a sentence of `over_time`, or `None`.

    >>> running_in("It did not end within 10 seconds; stopped at a.py, line 3, in f (03.2).")
    '03.2'
    """
    found = _RUNNING_IN.search(sentence)
    return None if found is None else found[1]


def named_together(holes: Sequence[str]) -> str:
    """Return exercises as an enumeration for a sentence.

    >>> named_together(["04a.2"]), named_together(["04a.2", "04a.3", "04a.5"])
    ('04a.2', '04a.2, 04a.3 and 04a.5')
    """
    *before, last = holes
    return f"{', '.join(before)} and {last}" if before else last


def verdicts(stage: Stage, trial: Trial, holes: list[Hole]) -> list[Verdict]:
    """Return the verdict on each exercise."""
    return [replace(_verdict(stage, trial, hole), printed=_printed(trial, hole)) for hole in holes]


def whole_package_sentence(whole: Trial) -> str:
    """Return a sentence on how the stage's files do below the whole package; see waiting.py."""
    if whole.problem:
        return ("The stage is not solved yet, because your files keep the whole package from being "
                "imported: " + whole.problem.strip().rpartition("\n")[2])
    count, failing = len(whole.outcomes), [each for each in whole.outcomes if not each.passed]
    if failing:
        return (f"The stage is not solved yet: when the whole package runs on your files, "
                f"{len(failing)} of {count} tests fail.")
    return f"The whole package runs on your files too: all {count} tests pass."


def _printed(trial: Trial, hole: Hole) -> tuple[tuple[str, str], ...]:
    """Return what an exercise printed: in its failing tests first, in other exercises' tests last.

    Text from a function outside all exercises counts for the exercise that is tested.
    """
    own = sorted(trial.of(hole), key=lambda each: each.passed)
    others = [each for each in trial.outcomes if hole.id not in each.holes]
    texts = [(each.test, "".join(text for number, text in each.printed
                                 if number == hole.id or (not number and each in own)))
             for each in [*own, *others]]
    return tuple((test, text) for test, text in texts if text)


def _verdict(stage: Stage, trial: Trial, hole: Hole) -> Verdict:
    outcomes = trial.of(hole)
    title = stage.words["hole"][hole.id]["title"]
    if trial.solved(hole):
        return Verdict(hole, title, "solved", hole.points, tests=len(outcomes))
    failing = tuple(each for each in outcomes if not each.passed)
    if hole.id in trial.waits:
        return Verdict(hole, title, "right", hole.points, failing=failing, tests=len(outcomes),
                       waits_for=named_together(trial.waits[hole.id]))
    late = [each for each in trial.outcomes if over_time(each.message)]
    if not outcomes and late:  # an earlier test hung, so no test of this exercise ran
        return Verdict(hole, title, "waiting", 0, waits_for=late[0].holes[0])
    came_to = [unwritten(each.message) for each in failing]
    if failing and None not in came_to and hole.id in came_to:
        return Verdict(hole, title, "untouched", 0, failing=failing, tests=len(outcomes))
    if failing and None not in came_to:
        return Verdict(hole, title, "waiting", 0, failing=failing, tests=len(outcomes),
                       waits_for=came_to[0])
    # Put the exercise's own failures first, before failures that reached an unwritten exercise.
    failing = tuple(sorted(failing, key=lambda each: unwritten(each.message) is not None))
    for each in failing:
        if (sentence := over_time(each.message)) is not None:
            other = running_in(sentence)
            if other and other != hole.id and any(other in out.holes for out in late):
                return Verdict(hole, title, "waiting", 0, failing=failing, tests=len(outcomes),
                               waits_for=other)
            return Verdict(hole, title, "wrong", 0, sentence, _first(each, failing), len(outcomes))
    shown = [name for name, is_shown in trial.symptoms.items() if is_shown]
    sentence = trial.gone.get(hole.id) or mistake_sentence(
        stage, hole, shown, [(each.test, each.message) for each in failing])
    for each in failing:
        if (unreadable(each.message) or ("",))[0] == hole.id:
            failing = _first(each, failing)
            break
    if (symptom := trial.diagnosis(stage, hole)) is not None:
        others = [name for name in stage.symptoms_of(hole) if name in shown and name != symptom]
        failing = _about(stage, symptom, others, failing)
    return Verdict(hole, title, "wrong", 0, sentence, failing, len(outcomes))


def _about(stage: Stage, symptom: str, others: Sequence[str], failing: tuple[Outcome, ...]
           ) -> tuple[Outcome, ...]:
    """Move the test first that a symptom's sentence is about: the one named by `about`, or else the
    one whose sentence is closest.  Among several cases of the named test, the closest one wins.

    `others` are further symptoms that the answer shows.  A test may fail only because of them.
    """
    own = [each for each in failing if unwritten(each.message) is None]
    if len(own) < 2:
        return failing
    named = stage.words.get("about", {})
    not_own = {named.get(each) for each in others} - {None}
    own = [each for each in own if _function(each) == named.get(symptom)] or \
        [each for each in own if _function(each) not in not_own] or own
    about, *rest = (f"{each.replace('_', ' ')} {stage.words['symptoms'][each]}"
                    for each in (symptom, *others))
    texts = [f"{each.test.rpartition('::')[2].replace('_', ' ')} {stage.wanted(each.test) or ''}"
             for each in own]
    return _first(own[closest(about, texts, rest)], failing)


def _function(outcome: Outcome) -> str:
    return short_name(outcome.test).partition("[")[0]


def _first(chosen: Outcome, failing: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    return (chosen, *(each for each in failing if each is not chosen))
