"""Runs many programs and reports where the libraries differ."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .campaign import Finding, campaign
from .known import LEFT_OPEN


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--minutes", type=float, default=1e9, help="at most")
    parser.add_argument("--result", type=Path, help="a JSON file to write")
    parser.add_argument("--no-shrink", action="store_true", help="report programs as they are")
    options = parser.parse_args()
    started = time.perf_counter()
    seeds = [range(options.seed + i, options.seed + options.programs, options.jobs)
             for i in range(options.jobs)]
    with get_context("spawn").Pool(options.jobs) as pool:
        parts = pool.starmap(campaign, [(s, not options.no_shrink, options.minutes)
                                        for s in seeds])
    options.programs = sum(part.programs for part in parts)
    findings: list[Finding] = [f for part in parts for f in part.findings]
    crashes = [seed for part in parts for seed in part.crashes]
    seconds = time.perf_counter() - started
    kinds = Counter(f.known or f.kind for f in findings)
    for finding in sorted(findings, key=lambda f: (f.kind, f.text)):
        if not finding.known:
            print(finding, end="\n\n")
    compared = options.programs - len(crashes)
    new = sum(not f.known for f in findings)
    left_open = sum(f.known in LEFT_OPEN for f in findings)
    print(f"{options.programs} programs, seed {options.seed}: {compared} compared, PyTorch crashed "
          f"on {len(crashes)}, {len(findings)} differ ({left_open} in what PyTorch leaves open, "
          f"{new} not known), {options.programs / seconds:.0f} programs/s")
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    if options.result:
        options.result.write_text(json.dumps(summary(
            options, findings, crashes, kinds, seconds), indent=1) + "\n", encoding="utf-8")
    sys.exit(new > 0)


def summary(options: Any, findings: list[Finding], crashes: list[int], kinds: Counter[str],
            seconds: float) -> dict[str, Any]:
    """Return what a run came to, for its JSON file."""
    compared = options.programs - len(crashes)
    left_open = sum(f.known in LEFT_OPEN for f in findings)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "first_seed": options.seed,
        "programs": options.programs,
        "compared": compared,
        "pytorch_crashed": len(crashes),
        "crashed_seeds": sorted(crashes),
        "different": len(findings),
        "agreement": 1 - len(findings) / max(compared, 1),
        "different_in_what_pytorch_leaves_open": left_open,
        "agreement_in_what_it_defines": 1 - (len(findings) - left_open) / max(
            compared - left_open, 1),
        "in_no_line_of_the_list": sum(not f.known for f in findings),
        "by_kind": dict(kinds.most_common()),
        "seconds": round(seconds, 1),
        "programs_per_second": round(options.programs / seconds, 1),
        "differences": [{"seed": f.seed, "kind": f.kind, "known": f.known,
                         "program": f.program, "text": f.text[:600]} for f in findings],
    }


if __name__ == "__main__":
    main()
