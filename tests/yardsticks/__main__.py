"""Prints how much of PyTorch's databases minigrad has, and how far it agrees.

    python -m tests.yardsticks                 the sample that the tests take
    python -m tests.yardsticks --all           every sample of the databases
    python -m tests.yardsticks --notes relu    what disagrees, and how, of some entries
    python -m tests.yardsticks --write         write what disagrees to known.json
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from .databases import LEFT_OUT, load
from .modules import try_module
from .ops import CHECKS, Report, full_name, try_op
from .optimizers import try_optimizer
from .tables import KNOWN, LIMIT, failing


def main() -> None:
    """Run what is asked for, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.yardsticks")
    parser.add_argument("names", nargs="*", help="entries; all by default")
    parser.add_argument("--all", action="store_true", help="every sample")
    parser.add_argument("--notes", action="store_true", help="show what disagrees")
    parser.add_argument("--write", action="store_true", help="write known.json")
    options = parser.parse_args()
    limit = None if options.all else LIMIT
    ops, modules, optimizers = load()

    def wanted(name: str) -> bool:
        return not options.names or name in options.names or name.split()[0] in options.names

    reports = {
        "ops": [try_op(op, limit) for op in ops if wanted(full_name(op))],
        "modules": [try_module(module, limit) for module in modules if wanted(module.name)],
        "optimizers": [try_optimizer(o) for o in optimizers if wanted(o.optim_cls.__name__)],
    }
    for kind, found in reports.items():
        print(f"{kind}: {sum(r.present for r in found)} of {len(found)} present, "
              f"{sum(not r.failing for r in found)} agree wholly")
        for check in CHECKS:
            tried = sum(r.tried[check] for r in found)
            if tried:
                agreed = sum(r.agreed[check] for r in found)
                print(f"  {check:16} {agreed} of {tried}, {100 * agreed / tried:.1f} %")
        if kind == "ops":
            print(f"  accepted in silence: {sum(r.accepted for r in found)}")
            print(f"  left out: {', '.join(LEFT_OUT.values())}")
    if options.notes:
        show([r for found in reports.values() for r in found])
    if options.write:
        text = json.dumps({kind: failing(found) for kind, found in reports.items()}, indent=1)
        KNOWN.write_text(text + "\n", "utf-8")


def show(reports: list[Report]) -> Any:
    """Print what disagrees."""
    for report in reports:
        if report.failing:
            print(f"{report.name}: {report.failing}")
            for note in report.notes:
                print(f"    {note}")


if __name__ == "__main__":
    main()
