"""Training steps side by side: every library in turns, on one thread and on two.

A benchmark says which engines, cases and targets it has and how each engine prepares a case; the
rest (rounds, comparison of results, ratios, verdicts, tables, options) is here.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _command as command
import _harness as harness
from _harness import Unavailable

REFERENCE = "pytorch"
#: Variables with which an environment tells OpenBLAS which processor to take this one for.
PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
#: A round of an engine counts where it took at most this many times its own fastest round: with two
#: threads, whatever else runs can stop an engine that waits for both.
CALM = 1.5


@dataclass
class Engine:
    """A library: its title, module and package, and `prepare(module, case, threads)`.

    What is prepared has `step()` and may have `results()`, numbers by name that all engines must
    agree on.
    """

    title: str
    module: str
    package: str
    prepare: Callable[[str, str, int], Any]
    uses_openblas: bool = True


@dataclass
class Steps:
    """A benchmark of steps."""

    script: str
    engines: Mapping[str, Engine]
    cases: Sequence[str]
    targets: Mapping[tuple[str, int], float]
    by_hand: str | None = None
    #: By how much a result may differ, relative to itself or to this, whichever is larger.
    tolerance: float = 1e-2
    unit: float = 1.0
    repeats: int = 10
    #: Libraries that cannot run any of this, and why.
    not_available: Mapping[str, str] = field(default_factory=dict)

    # ---- the worker's side ----------------------------------------------------------------------

    def work(self, key: str) -> None:
        """Answer the parent: say which versions these are, or time steps."""
        engine = self.engines[key.partition("+")[0]]
        prepared: dict[str, Any] = {}

        def answer(request: dict[str, Any]) -> Any:
            threads, case = request["threads"], request.get("case")
            try:
                importlib.import_module(engine.module)
            except ImportError as error:
                raise Unavailable(f"not installed: {error}") from None
            if request["task"] == "hello":
                return {"version": version(engine.package), "numpy": version("numpy"),
                        "blas": blas()}
            if case not in prepared:
                prepared.clear()
                prepared[case] = engine.prepare(engine.module, case, threads)
            if request["task"] == "results":
                return prepared[case].results() if hasattr(prepared[case], "results") else {}
            return time_steps(prepared[case], request["repeats"])

        harness.serve(answer)

    # ---- the parent's side ----------------------------------------------------------------------

    def measure(self, options: argparse.Namespace) -> dict[str, Any]:
        """Run everything and return the report."""
        pins = {name: os.environ[name] for name in PINS if os.environ.get(name)}
        keys = options.engines + [f"{key}+unpinned" for key in options.engines
                                  if pins and self.engines[key].uses_openblas]
        report: dict[str, Any] = {
            "benchmark": Path(self.script).stem,
            "date": harness.now(), "machine": harness.machine(), "pins": pins, "engines": {},
            "settings": {"rounds": options.rounds, "repeats_per_round": options.repeats,
                         "quick": options.quick, "calm": CALM, "threads": options.threads},
            "workloads": {},
        }
        for threads in options.threads:
            for case in options.cases:
                with ExitStack() as stack:
                    workers = command.start(
                        self.script, keys, {"threads": threads}, report["engines"], stack, threads,
                        without=lambda key: PINS if "+" in key else ())
                    report["workloads"][f"{case}, {threads} threads"] = self.measure_case(
                        workers, case, threads, options)
        report["targets"] = self.judge(report["workloads"])
        return report

    def measure_case(self, workers: dict[str, harness.Worker], case: str, threads: int,
                     options: argparse.Namespace) -> dict[str, Any]:
        """Compare what the engines compute, then time them in turns."""
        ask = {"case": case, "threads": threads}
        absent = dict(self.not_available)
        expected: dict[str, float] = {}
        for key, worker in workers.items():
            try:
                found = worker.ask({"task": "results", **ask})
                expected = expected or found
                self.compare(found, expected)
            except Unavailable as reason:
                absent[key] = str(reason)
        timed = {key: worker for key, worker in workers.items() if key not in absent}
        rounds: list[dict[str, list[float]]] = []
        for number in range(options.rounds):
            harness.progress(f"{case}, {threads} threads: round {number + 1} of {options.rounds}")
            rounds.append({key: worker.ask({"task": "time", "repeats": options.repeats, **ask})
                           for key, worker in timed.items()})
        medians = [{key: statistics.median(times) for key, times in each.items()}
                   for each in rounds]
        calm, disturbed = calm_rounds(medians)
        return {"case": case, "threads": threads, "not_available": absent, "rounds": rounds,
                "disturbed": disturbed, "ms": harness.summary(calm, timed, REFERENCE)}

    def compare(self, found: Mapping[str, float], expected: Mapping[str, float]) -> None:
        """Refuse an engine whose results are not those of the first."""
        for name, value in found.items():
            allowed = self.tolerance * max(self.unit, abs(expected[name]))
            if not abs(value - expected[name]) <= allowed:
                raise Unavailable(f"computes another {name}: {value:.6g}, not {expected[name]:.6g}")

    def judge(self, workloads: dict[str, Any]) -> list[dict[str, Any]]:
        """The targets that minigrad is held to, each with what was measured (None: it was not)."""
        verdicts = []
        for record in workloads.values():
            limit = self.targets.get((record["case"], record["threads"]))
            for key in ("minigrad", "minigrad+unpinned"):
                if limit is None or key not in record["ms"]:
                    continue
                measured = record["ms"][key]["ratio"]
                hand = record["ms"].get(key.replace("minigrad", self.by_hand or ""), {})
                threads = "one thread" if record["threads"] == 1 else f"{record['threads']} threads"
                verdicts.append(command.verdict(
                    f"{record['case']}, {threads}, {self.title(key)} / PyTorch", limit, measured,
                    by_hand=hand.get("ratio")))
        return verdicts

    def title(self, key: str) -> str:
        """What tables call an engine."""
        name, _, unpinned = key.partition("+")
        known = self.engines.get(name)
        return (known.title if known else name) + (", OpenBLAS unpinned" if unpinned else "")

    def render(self, report: dict[str, Any]) -> str:
        """The report as plain text."""
        settings = report["settings"]
        parts = ["\n".join(
            f"{self.title(key)} {each['version']} (NumPy {each['numpy']}, BLAS for {each['blas']})"
            if each["status"] == "measured" else f"{self.title(key)}: {each['reason']}"
            for key, each in report["engines"].items())]
        if report["pins"]:
            pins = ", ".join(f"{name}={value}" for name, value in report["pins"].items())
            parts.append(f"The environment sets {pins}; 'unpinned' is without, as OpenBLAS "
                         "chooses.")
        for name, record in report["workloads"].items():
            absent = "".join(f"\n{self.title(key)}: {why}"
                             for key, why in record["not_available"].items())
            parts.append(f"{settings['rounds']} rounds of {settings['repeats_per_round']} steps\n"
                         + harness.table([[name, "milliseconds", "ratio to PyTorch", "range",
                                           "calm rounds"], *self.rows(record)]) + absent)
        hand = {} if self.by_hand is None else {"by_hand": self.engines[self.by_hand].title}
        parts.append(command.verdicts(report["targets"], hand, ".2f"))
        return command.text(report, parts)

    def rows(self, record: Mapping[str, Any]) -> list[list[str]]:
        """A row for each engine that was timed."""
        rows = []
        for key, each in record["ms"].items():
            low, high = each["ratio_range"] or (None, None)
            calm = len(record["rounds"]) - len(record["disturbed"][key])
            rows.append([self.title(key), f"{each['median']:.3g}",
                         "n/a" if each["ratio"] is None else f"{each['ratio']:.2f}",
                         "n/a" if low is None else f"{low:.2f} to {high:.2f}", str(calm)])
        return rows

    def parse(self, description: str | None, arguments: list[str] | None) -> argparse.Namespace:
        """Command-line options with the defaults of a full or a quick run filled in."""
        parser = command.parser(description, self.engines)
        parser.add_argument("--threads", default="1,2", help="comma-separated: %(default)s")
        parser.add_argument("--cases", default=",".join(self.cases),
                            help="comma-separated: %(default)s")
        parser.add_argument("--rounds", type=int, help="rounds (11, quick 1)")
        parser.add_argument("--repeats", type=int,
                            help=f"steps in each round ({self.repeats}, quick 1)")
        options = parser.parse_args(arguments)
        options.engines = command.chosen(parser, options.engines, self.engines)
        options.cases = command.chosen(parser, options.cases, self.cases, "case")
        options.threads = [int(count) for count in options.threads.split(",")]
        options.rounds = options.rounds or (1 if options.quick else 11)
        options.repeats = options.repeats or (1 if options.quick else self.repeats)
        return options

    def main(self, description: str | None, arguments: list[str] | None = None) -> None:
        """Read options, measure, print the tables and write the JSON."""
        command.run(self.parse(description, arguments), self.measure, self.render, self.work)


def calm_rounds(
    medians: Sequence[Mapping[str, float]],
) -> tuple[list[dict[str, float]], dict[str, list[int]]]:
    """Each round's calm times, and by engine the numbers of the rounds in which it was disturbed.

    >>> calm_rounds([{"a": 1.0, "b": 2.0}, {"a": 1.6, "b": 2.9}])
    ([{'a': 1.0, 'b': 2.0}, {'b': 2.9}], {'a': [1], 'b': []})
    """
    best = {key: min(each[key] for each in medians) for key in (medians[0] if medians else ())}
    calm = [{key: time for key, time in each.items() if time <= CALM * best[key]}
            for each in medians]
    return calm, {key: [number for number, each in enumerate(calm) if key not in each]
                  for key in best}


def version(package: str) -> str:
    """The version of an installed package; minigrad may run from its folder, not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(importlib.import_module("minigrad"), "__version__", "unknown"))


def blas() -> str:
    """The processor for which OpenBLAS chose its kernels, where that can be told."""
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return "unknown"
    found = [each.get("architecture") for each in threadpoolctl.threadpool_info()]
    return next(filter(None, found), "unknown")


def time_steps(prepared: Any, repeats: int) -> list[float]:
    """Milliseconds of each of so many steps, after one that does not count."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        prepared.step()
        times.append(round((time.perf_counter() - start) * 1e3, 5))
    return times[1:]
