"""Many programs in a row: generated, run by both libraries, compared, shortened, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import minigrad

from .compare import Difference, compare
from .generator import generate
from .interpret import Trace, run
from .known import name_of
from .peer import Peer
from .program import Program
from .rounding import TIMES, loosened, moved
from .shrink import shrink

BATCH = 50

#: A seed, its program, and what minigrad did with it.
Made = tuple[int, list[str], Trace]


@dataclass
class Finding:
    """A program on which the libraries differ."""

    seed: int
    program: list[str]
    kind: str
    text: str
    known: str | None  # the name of the known difference that it shows

    def __str__(self) -> str:
        return "\n".join([f"# seed {self.seed}", *self.program, f"# {self.text}"])


@dataclass
class Part:
    """What one process found."""

    findings: list[Finding] = field(default_factory=list)
    crashes: list[int] = field(default_factory=list)
    programs: int = 0


def campaign(seeds: Sequence[int], shortened: bool = True, minutes: float = 1e9) -> Part:
    """Run the programs of some seeds; minigrad writes a batch while PyTorch runs the last one.

    It stops early, at the end of a batch, when the time is up.
    """
    part, peer, end = Part(), Peer(), monotonic() + 60 * minutes
    try:
        waiting: list[Made] = []
        for begin in range(0, len(seeds) + BATCH, BATCH):
            more = seeds[begin:begin + BATCH] if monotonic() < end else ()
            made = [(seed, *generate(seed)) for seed in more]
            judge(waiting, peer, part, shortened)
            part.programs += len(waiting)
            waiting = made
            if not waiting:
                break
            peer.send([program for _, program, _ in waiting])
    finally:
        peer.close()
    return part


def judge(made: list[Made], peer: Peer, part: Part, shortened: bool) -> None:
    """Compare the traces of a batch with PyTorch's."""
    all_theirs = peer.receive([program for _, program, _ in made])
    for (seed, program, ours), theirs in zip(made, all_theirs):
        if theirs is None:
            part.crashes.append(seed)
        elif (found := difference(program, peer, theirs, ours)) is not None:
            lines: Program = program
            if shortened:
                lines, found = shrink(program, found, lambda p: difference(p, peer))
            part.findings.append(Finding(seed, list(lines), found.kind, str(found),
                                         name_of(lines, found)))


def difference(program: Program, peer: Peer, theirs: Trace | None = None,
               ours: Trace | None = None) -> Difference | None:
    """Return how the libraries differ on a program, or None: also where PyTorch crashes.

    The traces may be at hand.  Where values differ, what rounding alone does to them is left out.
    """
    theirs = theirs or peer.trace(program)
    if theirs is None:
        return None
    ours = ours or run(minigrad, program)
    found = compare(program, theirs, ours)
    if found is None or not of_values(found):
        return found
    programs = [moved(program, i) for i in range(TIMES)]
    moves = [(t, run(minigrad, p)) for p in programs if (t := peer.trace(p)) is not None]
    return compare(program, loosened(theirs, moves, ours), ours)


def of_values(found: Difference) -> bool:
    """Tell whether a difference is one in values and not in what is there at all."""
    return found.kind.rpartition(".")[2] in ("value", "grad") and not (
        found.theirs is None or found.ours is None)
