"""Random texts to hand in: made by a grammar, mutated from real answers, or hostile.

The same number gives the same text.  The process that reads them is `main`, which does everything
that a job does with a text, except running it: the sandbox's output is made up too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from minigrad_course.content.stages import Stage, find_stage
from minigrad_course.grading import grade
from minigrad_course.grading.child import plain
from minigrad_course.grading.process import Ended
from minigrad_course.grading.sandbox import Limits, Sandbox
from minigrad_course.jobs.ground import ground
from minigrad_course.jobs.job import Files, Job
from minigrad_course.jobs.obeying import run
from minigrad_course.jobs.work import steps
from minigrad_course.similarity.compare import read_answers
from minigrad_course.similarity.readable import readable

__all__ = ["KINDS", "job_of", "main", "name_of", "text_of"]

KINDS = ("grammar", "mutated", "hostile")
STAGES = ("07", "00", "04d", "03")
_NAMES = ("x", "y", "self", "f", "Tensor", "no_grad", "_state", "é", "ℌ", "__class__", "print")
_PIECES = ("def f(", "class A:", "    ", "\t", "\n", "(", ")", "[", "]", "{", "}", ":", "'''",
           "\"", "\\", "#", "lambda:", "if 1:", "else:", "elif x:", "return ", "yield ", "await ",
           "raise ", "@f", "*", "**", "->", ":=", "f'{x!r:{y}}'", "0x", "1e999", "1_0", "...", ";",
           "\r", "\x0c", "\x1b[2J", "\u202e", "\ufeff", "\u2028", "é", "\U0001f40d",
           "match x:\n case _: 0\n", "global f\n", "nonlocal f\n", "del f\n", "import os\n",
           "from . import *\n", "type X = int\n", "b'\\x00'", "'\\N{DIGIT ONE}'", "async ",
           "try:\n", "except* E:\n", "with x as y:\n", "assert x, y\n")
_PARTS = ("ann", "s101", "=1+1", "\u202e", "\x1b[2J", "\U0001f40d", "é", " ", "..", "_", "-", ",",
          "\"", "\n", "<b>", "late_12_34_", "CON", "\ufeff", "%s", "{x}")
#: What to repeat, what to put in the middle, and what to repeat after it.
_LONG = (("(", "1", ")"), ("[", "", "]"), ("{1:", "1", "}"), ("f(", "", ")"), ("-", "1", ""),
         ("not ", "1", ""), ("lambda: ", "1", ""), ("1 + ", "1", ""), ("x.", "x", ""),
         ("x = ", "1", ""), ("1 if x else ", "1", ""), ("x, ", "1", ""), ("x; ", "x", ""),
         ("'a' ", "''", ""), ("@f\n", "def f(): 0", ""), ("if x: pass\nel", "se: pass", ""),
         ("try: 0\nfinally: 0\n", "", ""), ("*", "x", ""), ("f'{", "x", "}'"), ("x[", "0", "]"),
         ("x(", "0", "=1)"), ("await ", "x", ""))


def text_of(number: int) -> tuple[str, dict[str, str]]:
    """Return a stage's number and the texts of its modules."""
    rng = random.Random(number)
    stage = find_stage(rng.choice(STAGES))
    kind = KINDS[number % len(KINDS)]
    texts = {}
    for module in stage.modules:
        base = (stage.exercise if rng.random() < 0.3 else stage.solution)(module).read_text(
            encoding="utf-8")
        texts[module] = {"grammar": _grammatical, "mutated": _mutated, "hostile": _hostile}[kind](
            rng, base)
        if rng.random() < 0.05:
            texts.pop(module)
    return stage.number, texts


def _grammatical(rng: random.Random, base: str) -> str:
    """Return an answer with valid statements added, at its end or in its functions."""
    lines = base.splitlines()
    for _ in range(rng.randrange(1, 6)):
        places = [0] + [i for i, line in enumerate(lines) if line.rstrip().endswith(":")]
        place = rng.choice([*places, len(lines)])
        indent = "" if place in (0, len(lines)) else "    " + lines[place][
            : len(lines[place]) - len(lines[place].lstrip())]
        made = "\n".join(_statement(rng, rng.randrange(5)))
        at = place + (indent != "")
        lines[at:at] = [indent + line for line in made.splitlines()]
    return "\n".join(lines) + "\n"


def _statement(rng: random.Random, depth: int) -> list[str]:
    kind = rng.randrange(11 if depth else 5)
    name, value = rng.choice(_NAMES), _expression(rng, depth)
    if kind < 5:
        return [[f"{name} = {value}", value, f"{name}: {value} = {value}", "pass",
                 f"{name} += {value}"][kind]]
    heads = [f"if {value}:", f"for {name} in {value}:", f"def {name}({name}=None, *a, **k):",
             f"class {name}:", f"while {value}:", f"with {value} as {name}:"]
    return [heads[kind - 5], *("    " + line for _ in range(rng.randrange(1, 4))
                               for line in _statement(rng, depth - 1))]


def _expression(rng: random.Random, depth: int) -> str:
    if not depth:
        return rng.choice([*_NAMES, "1", "'s'", "None", "[]", "1.5j", "...", "b'x'"])
    one, two = (_expression(rng, depth - 1) for _ in range(2))
    name = rng.choice(_NAMES)
    return rng.choice([f"({one} + {two})", f"{one}.{name}", f"{name}({one})", f"(not {one})",
                       f"[{one}, *{two}]", f"{{{one}: {two}}}", f"(lambda x: {one})",
                       f"({one} if {two} else {one})", f"[i for i in {one}]", f"(y := {one})",
                       f"getattr({one}, 'x')", f"f'{{({one})}}'".replace("'s'", "1")])


def _mutated(rng: random.Random, base: str) -> str:
    """Return an answer with pieces cut out, doubled, moved or put in."""
    text = base
    for _ in range(rng.choice([1, 1, 2, 3, 10, 50])):
        one, two = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        two = min(two, one + rng.choice([1, 5, 80, 2000]))
        at = rng.randrange(len(text) + 1)
        text = [text[:one] + text[two:], text[:at] + text[one:two] + text[at:],
                text[:at] + rng.choice(_PIECES) + text[at:],
                text[:one] + text[one:two].swapcase() + text[two:]][rng.randrange(4)]
    return text


def _hostile(rng: random.Random, base: str) -> str:
    """Return an answer with a long or deep part."""
    times = int(10 ** rng.uniform(1, 4.7))
    opening, middle, closing = rng.choice(_LONG)
    if rng.random() < 0.2:
        depth = min(times, 150)
        head = rng.choice(["if x:", "def f():", "class A:", "with x:", "while x:", "try:"])
        long = "".join(f"{' ' * i}{head}\n" for i in range(depth)) + " " * depth + "pass\n"
    elif opening.startswith("if x: pass"):
        long = "if x: pass\n" + "elif x: pass\n" * times
    else:
        long = opening * times + middle + closing * times + "\n"
    long = long[: 256 * 1024 - len(base.encode())]
    asked = [i for i, line in enumerate(base.splitlines()) if line.startswith("    return ")]
    if asked and rng.random() < 0.4 and "\n" not in long.rstrip("\n"):
        lines = base.splitlines(keepends=True)
        lines[rng.choice(asked)] = f"    return {long}"
        return "".join(lines)
    return base + long


def name_of(number: int) -> str:
    """Return a file's name of at most 255 bytes, without a slash."""
    rng = random.Random(f"name {number}")
    parts = [rng.choice(_PARTS) for _ in range(rng.choice([1, 2, 4, 60]))]
    return "".join(parts).encode()[:251].decode(errors="ignore") + ".py"


class MadeUp(Sandbox):
    """A sandbox whose runs say anything."""

    def run(self, bundle: Path, words: Any, job: bytes, limits: Limits) -> Ended:
        """Return made-up output for tests or probes."""
        rng = random.Random(f"{words} {len(job)}")
        if words[0] == "tests":
            lines: list[dict[str, Any]] = [{"ready": True}]
            for hole in STAGE_OF[0].holes:
                test = {"test": f"t::{hole.id}", "holes": [hole.id]}
                lines += [{"begins": test["test"], "holes": [hole.id]},
                          {**test, "outcome": rng.choice(["passed", "passed", "failed"]),
                           "message": rng.choice(["", "E: \ud800\x1b" + "x" * 3000])}]
            cut = rng.choice([None, None, 3])
            return Ended(b"\n".join(json.dumps(each).encode() for each in lines[:cut]) + b"\n", b"",
                         rng.choice([0, 0, 1, -9]), rng.choice(["", "", "it did not end"]))
        asked = json.loads(job)
        while isinstance(asked, dict):  # with the sealed answers beside it
            asked = asked.get("job", [])
        answers = [{"ready": True}, *({"probe": probe, "seed": seed, "value": plain(0.5)}
                                      for probe, seed in asked[: rng.choice([None, None, 3])])]
        return Ended(b"\n".join(json.dumps(each).encode() for each in answers) + b"\n", b"", 0)


class _Every(dict[Any, Any]):
    def __missing__(self, job: Any) -> Any:
        return {"value": plain(0.5)}


STAGE_OF: list[Stage] = []


def job_of(number: int) -> Job:
    """Return the job of a random submission."""
    stage_number, texts = text_of(number)
    stage = find_stage(stage_number)
    return Job(name_of(number), (Files(stage.key, texts, {}, "", ground(stage)),), number)


def main() -> None:
    """Do the static part of the jobs with these numbers."""
    for name, made_up in {"make_bundle": Path("/nowhere"), "reference": _Every()}.items():
        setattr(grade, name, lambda *_, given=made_up: given)
    run(_steps)


def _steps(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for index, number in enumerate(given["numbers"][given["start"]:], given["start"]):
        yield {"begins": [index, "fuzz"]}
        job = job_of(number)
        STAGE_OF[:] = [find_stage(job.files[0].stage)]
        results = [each for each in steps(job, MadeUp("limits")) if "begins" not in each]
        yield {"begins": [index, "compare"], "results": results}
        found = read_answers(STAGE_OF[0], readable(STAGE_OF[0], job.files[0].texts))
        yield {"compared": len(found.all.tokens)}
