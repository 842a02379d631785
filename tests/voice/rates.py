"""Turns of phrase by their patterns, and how often a text has them in 10,000 words."""

from __future__ import annotations

import re
from pathlib import Path

#: The rates that no text may exceed, as `python -m tests.voice --write` left them.
LIMITS = Path(__file__).with_name("limits.json")

PATTERNS = {
    "stand(s), stood": r"\b(stands?|stood|standing)\b",
    "nobody, somebody, whoever, whatever":
        r"\b(nobody|somebody|anybody|everybody|whoever|whatever)\b",
    "that/those of/that/which": r"\b(that|those) (of|that|which)\b",
    "come(s), came": r"\b(comes?|came)\b",
    "tell(s), say(s), know(s), ask(s)":
        r"\b(tells?|told|says?|said|wants?|knows?|asks?|asked)\b",
    "lie(s), lay": r"\b(lies?|lay|lying)\b",
    "of its own, by itself":
        r"\b(of (its|their|your|one's|his|our) own|by (itself|themselves))\b",
    ", which/who/whose/where/for": r", (which|who|whose|where|for) ",
    "opens with Where/What/Whose/Of":
        r"(?:^|[.!?:]\s+)(Where|What|Whose|Whoever|Of|In which|From which)\b",
    # Python's value None is no turn of phrase, unless a sentence begins with the word.
    "nothing, none, no one": r"\b([Nn]othing|none|[Nn]o one)\b|(?:^|[.!?:]\s+)None\b",
}
CASE_MATTERS = (PATTERNS["opens with Where/What/Whose/Of"], PATTERNS["nothing, none, no one"])

#: The row of words that give a reason; more of them is better.
CAUSES = "causes (more is better)"
_CAUSES = (r"\b(because|since|so that|so|therefore|instead|however|although|otherwise|for example|"
           r"rather than)\b")

#: The rates of two books: 20 chapters of the Rust Book, 11 of Dive into Deep Learning.
BOOKS = {
    "Rust Book": dict(zip((*PATTERNS, CAUSES), (
        0.3, 1.3, 0.4, 3.0, 43.8, 0.0, 0.5, 28.1, 1.4, 2.7, 80.7), strict=True)),
    "d2l": dict(zip((*PATTERNS, CAUSES), (
        0.2, 0.3, 0.7, 4.5, 27.4, 1.2, 0.2, 8.2, 11.9, 0.4, 33.7), strict=True)),
}


def rates_of(text: str) -> dict[str, float]:
    """Return how often a text has each turn of phrase, per 10,000 words."""
    words = len(re.findall(r"[A-Za-z']+", text)) or 1

    def rate(pattern: str) -> float:
        case = 0 if pattern in CASE_MATTERS else re.IGNORECASE
        return round(1e4 * len(re.findall(pattern, text, re.MULTILINE | case)) / words, 1)

    return {name: rate(pattern) for name, pattern in PATTERNS.items()} | {CAUSES: rate(_CAUSES)}


def risen(found: dict[str, dict[str, float]], limits: dict[str, dict[str, float]]) -> list[str]:
    """Return a line for each rate above its limit; for causes, more than 2 % below it.

    Every sentence without a cause lowers that rate a little, so it needs some play.
    """
    return [f"{name}: {row}: {rate} per 10,000 words; the limit is {limits[name][row]}"
            for name, rates in found.items() for row, rate in rates.items()
            if (rate < 0.98 * limits[name][row] if row == CAUSES else rate > limits[name][row])]
