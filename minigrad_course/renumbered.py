"""Progress of an earlier edition under the numbers that its exercises have now.

See NOTE [Answers follow their symbols] in answered.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .moved_files import earlier_symbols
from .stages import Hole, Stage

__all__ = ["numbering", "renumbered", "said_of_numbers"]

#: The symbols of each exercise by its number.
Numbers = Mapping[str, Sequence[str]]


def numbering(stages: Iterable[Stage]) -> dict[str, list[str]]:
    """Return the symbols of each exercise of these stages by its number."""
    return {hole.id: list(hole.symbols) for stage in stages for hole in stage.holes}


def renumbered(progress: Mapping[str, dict[str, Any]], old: Numbers, stages: Iterable[Stage]
               ) -> dict[str, dict[str, Any]]:
    """Return the facts about each exercise under its number of today.

    An exercise is solved if all that it asks for was asked for by exercises that are solved.
    """
    numbers = _numbers_by_symbol(old)
    known_stages = {number.partition(".")[0] for number in old}
    found = {}
    for stage in stages:
        for hole in stage.holes:
            if stage.number in known_stages or _earlier(hole, numbers) != [None]:
                facts = _facts(progress, _earlier(hole, numbers))
            else:  # nothing tells what its numbers stood for
                facts = progress.get(hole.id, {})
            if facts:
                found[hole.id] = facts
    return dict(sorted(found.items()))


def said_of_numbers(old: Numbers, stages: Iterable[Stage]) -> dict[str, list[str]]:
    """Return what to say of numbers that changed: "renumbered" and "given now"."""
    numbers, later = _numbers_by_symbol(old), dict[str, list[str]]()
    for stage in stages:
        for hole in stage.holes:
            for number in _earlier(hole, numbers):
                if number is not None:
                    later.setdefault(number, []).append(hole.id)
    told: dict[str, list[str]] = {"renumbered": [], "given now": []}
    for number in sorted(old):
        now = later.get(number)
        if now is None:
            told["given now"].append(number)
        elif now != [number]:
            told["renumbered"].append(f"{number} is {_listed(now)} now")
    return {kind: lines for kind, lines in told.items() if lines}


def _numbers_by_symbol(old: Numbers) -> dict[str, str]:
    return {symbol: number for number, symbols in old.items() for symbol in symbols}


def _earlier(hole: Hole, numbers: Mapping[str, str]) -> list[str | None]:
    """Return the numbers that an exercise's symbols had, each once; None stands for new ones."""
    return list(dict.fromkeys(
        next((numbers[each] for each in earlier_symbols(symbol) if each in numbers), None)
        for symbol in hole.symbols))


def _facts(progress: Mapping[str, dict[str, Any]], earlier: list[str | None]) -> dict[str, Any]:
    facts = [progress.get(number, {}) for number in earlier if number is not None]
    if len(facts) == len(earlier) == 1:
        return dict(facts[0])
    if facts and len(facts) == len(earlier) and all(each.get("solved") for each in facts):
        return {"solved": max(each["solved"] for each in facts)}
    return {}


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
