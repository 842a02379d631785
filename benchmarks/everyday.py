"""What programs do beside the layers that everybody measures: families of cases, in turns.

    python benchmarks/everyday.py                                # 6 cases of each family and seed
    python benchmarks/everyday.py --families indexing,losses --seeds 7 --cases 20
    python benchmarks/everyday.py --json benchmarks/results/everyday-DATE.json   # 25 minutes

A seed draws dtypes, sizes, batches, layouts, modules or functions. A family's figures are the
geometric mean of its ratios to PyTorch, and the largest one. Each library runs in a separate
process on one thread, and processor time is compared. See README.md here.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from pathlib import Path
from typing import Any

import _command as command
import _harness as harness
import _pairs as pairs
from families import FAMILIES, cases_of

#: The seed that speed was looked for with, and one that was drawn after the last change.
SEEDS = (5, 3)
COUNT = 6
#: What the page calls each library.
TITLES = {"minigrad": "minigrad", "pytorch": "PyTorch"}


class Engine:
    """The worker's side: one library."""

    def __init__(self, name: str) -> None:
        self.torch = importlib.import_module(name)
        self.torch.set_num_threads(1)
        self.step: Any = None

    def answer(self, request: dict[str, Any]) -> Any:
        if "family" in request:
            cases = cases_of(request["family"], request["seed"], request["count"])
            self.torch.manual_seed(0)
            self.step = None
            self.step = cases[request["index"]].build(self.torch)
            found = size_of(self.step())
            pairs.settle()
            return found
        return pairs.fastest(self.step)


def size_of(result: Any) -> float:
    """Return a number, or the sum of the sizes of a tensor's elements."""
    return float(result.detach().double().abs().sum() if hasattr(result, "detach") else result)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the report."""
    report: dict[str, Any] = {
        "benchmark": "everyday", "date": harness.now(), "machine": harness.machine(),
        "engines": {}, "settings": {"quick": options.quick, "seeds": options.seeds,
                                    "cases": options.cases, "rounds": options.rounds},
        "families": {}}
    ours, theirs = workers = pairs.pair(__file__)
    with ours, theirs:
        for key, worker in zip(TITLES, workers, strict=True):
            report["engines"][key] = {"status": "measured", **worker.ask({"task": "hello"})}
        for family in options.families:
            rows: list[dict[str, Any]] = []
            for seed in options.seeds:
                for index, case in enumerate(cases_of(family, seed, options.cases)):
                    request = {"family": family, "seed": seed, "count": options.cases,
                               "index": index}
                    pairs.check(f"{family}, {case.title}",
                                [[worker.ask(request)] for worker in workers])
                    rows.append({"seed": seed, "case": case.title, **pairs.measure(
                        workers, {"task": "time"}, options.rounds)})
                    harness.progress(f"{family}: {case.title}")
            report["families"][family] = {**figures(rows), "cases": rows}
    report["targets"] = targets_of(report["families"])
    return report


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean and the worst of all cases, and the mean by seed."""
    worst = max(rows, key=lambda row: row["ratio"])
    seeds = dict.fromkeys(row["seed"] for row in rows)
    return {"mean": statistics.geometric_mean(row["ratio"] for row in rows),
            "worst": worst["ratio"], "worst_case": worst["case"],
            "by_seed": {str(seed): statistics.geometric_mean(
                row["ratio"] for row in rows if row["seed"] == seed) for seed in seeds}}


def targets_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the verdicts on each family: on its mean, and on its worst case."""
    return [command.verdict(f"{name}, {what}", limit, each[key])
            for name, each in found.items()
            for what, key, limit in (("mean", "mean", FAMILIES[name].mean),
                                     ("largest ratio", "worst", FAMILIES[name].worst))]


def render(report: dict[str, Any]) -> str:
    """Return the report as text."""
    seeds = report["settings"]["seeds"]
    rows = [["family", "mean", *(f"seed {seed}" for seed in seeds), "largest", "case"]]
    rows += [[name, f"{each['mean']:.2f}", *(f"{each['by_seed'][str(seed)]:.2f}" for seed in seeds),
              f"{each['worst']:.2f}", each["worst_case"]]
             for name, each in report["families"].items()]
    cases = [["case", "ms", "ratio"]]
    cases += [[f"{name} {row['seed']}: {row['case']}", f"{row['minigrad'] * 1e3:.3f}",
               f"{row['ratio']:.2f}"]
              for name, each in report["families"].items() for row in each["cases"]]
    return command.text(report, [harness.table(cases), harness.table(rows),
                                 command.verdicts(report["targets"])])


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--worker", help=argparse.SUPPRESS)
    made.add_argument("--families", default=",".join(FAMILIES), help="separated by commas")
    made.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="%(default)s")
    made.add_argument("--cases", type=int, default=COUNT, help="of a family and seed: %(default)s")
    made.add_argument("--rounds", type=int, default=7, help="for each case: %(default)s")
    made.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    made.add_argument("--json", type=Path, metavar="PATH", help="write every case here")
    options = made.parse_args()
    if options.worker:
        engine = Engine(options.worker)
        harness.serve(lambda request: versions(options.worker) if request.get("task") == "hello"
                      else engine.answer(request))
        return
    options.families = command.chosen(made, options.families, FAMILIES, "family")
    options.seeds = [int(seed) for seed in options.seeds.split(",")]
    if options.quick:
        options.cases, options.rounds = 1, 1
    command.run(options, measure, render)


def versions(name: str) -> dict[str, str]:
    """Return the versions of a library and of NumPy."""
    import numpy

    return {"version": importlib.import_module(name).__version__, "numpy": numpy.__version__}


if __name__ == "__main__":
    main()
