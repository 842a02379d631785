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

import _harness as harness
from _harness import Unavailable

REFERENCE = "pytorch"
#: Variables with which an environment tells OpenBLAS which processor to take this one for.
PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
#: A round counts where no engine took longer than this many times its own fastest round: with two
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
    tolerance: float = 1e-2
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
                    workers = self.start(keys, threads, report["engines"], stack)
                    report["workloads"][f"{case}, {threads} threads"] = self.measure_case(
                        workers, case, threads, options)
        report["machine"]["load_average_at_end"] = harness.machine()["load_average"]
        report["targets"] = self.judge(report["workloads"])
        harness.progress("")
        return report

    def start(self, keys: list[str], threads: int, engines: dict[str, Any],
              stack: ExitStack) -> dict[str, harness.Worker]:
        """Start a worker for each engine that is installed."""
        workers = {}
        for key in keys:
            worker = stack.enter_context(harness.Worker(
                self.script, key, threads=threads, without=PINS if "+" in key else ()))
            try:
                told = worker.ask({"task": "hello", "threads": threads})
                engines[key] = {"status": "measured", **told}
                workers[key] = worker
            except Unavailable as reason:
                absent = str(reason).startswith("not installed")
                engines[key] = {"status": "not installed" if absent else "failed",
                                "reason": str(reason)}
        return workers

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
        best = {key: min(each[key] for each in medians) for key in timed}
        calm = [all(each[key] <= CALM * best[key] for key in each) for each in medians]
        kept = [each for each, is_calm in zip(medians, calm, strict=True) if is_calm]
        return {"case": case, "threads": threads, "not_available": absent, "rounds": rounds,
                "discarded": [number for number, ok in enumerate(calm) if not ok],
                "ms": harness.summary(kept, timed, REFERENCE)}

    def compare(self, found: Mapping[str, float], expected: Mapping[str, float]) -> None:
        """Refuse an engine whose results are not those of the first."""
        for name, value in found.items():
            if abs(value - expected[name]) > self.tolerance * max(1.0, abs(expected[name])):
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
                verdicts.append({
                    "name": f"{record['case']}, {threads}, {self.title(key)} / PyTorch",
                    "relation": "<=", "limit": limit, "measured": measured,
                    "by_hand": hand.get("ratio"),
                    "met": None if measured is None else measured <= limit})
        return verdicts

    def title(self, key: str) -> str:
        """What tables call an engine."""
        name, _, unpinned = key.partition("+")
        return self.engines[name].title + (", OpenBLAS unpinned" if unpinned else "")

    def render(self, report: dict[str, Any]) -> str:
        """The report as plain text."""
        machine, settings = report["machine"], report["settings"]
        parts = [f"{report['date']}  {machine['cpu']}, {machine['cores']} cores, "
                 f"{machine['python']}, load {machine['load_average'][0]} to "
                 f"{machine['load_average_at_end'][0]}"]
        parts.append("\n".join(
            f"{self.title(key)} {each['version']} (NumPy {each['numpy']}, BLAS for {each['blas']})"
            if each["status"] == "measured" else f"{self.title(key)}: {each['reason']}"
            for key, each in report["engines"].items()))
        if report["pins"]:
            pins = ", ".join(f"{name}={value}" for name, value in report["pins"].items())
            parts.append(f"The environment sets {pins}; 'unpinned' is without, as OpenBLAS "
                         "chooses.")
        for name, record in report["workloads"].items():
            rows = [[name, "milliseconds", "ratio to PyTorch", "range"]]
            for key, each in record["ms"].items():
                if each["median"] is None:
                    continue
                low, high = each["ratio_range"] or (None, None)
                rows.append([self.title(key), f"{each['median']:.3g}",
                             "n/a" if each["ratio"] is None else f"{each['ratio']:.2f}",
                             "n/a" if low is None else f"{low:.2f} to {high:.2f}"])
            rows += [[self.title(key) if key.partition("+")[0] in self.engines else key, why, "",
                      ""] for key, why in record["not_available"].items()]
            kept = settings["rounds"] - len(record["discarded"])
            parts.append(f"{kept} calm rounds of {settings['rounds']}, each of "
                         f"{settings['repeats_per_round']} steps\n" + harness.table(rows))
        words = {True: "met", False: "MISSED", None: "not measured"}
        rows = [["targets", "target", "measured", "NumPy by hand", ""]]
        rows += [[each["name"], f"<= {each['limit']:g}",
                  *("n/a" if value is None else f"{value:.2f}"
                    for value in (each["measured"], each["by_hand"])), words[each["met"]]]
                 for each in report["targets"]]
        parts.append(harness.table(rows))
        if settings["quick"]:
            parts.append("A quick run shows that everything works; its figures are not for "
                         "quoting.")
        return "\n\n".join(parts)

    def main(self, description: str, arguments: list[str] | None = None) -> None:
        """Read options, measure, print the tables and write the JSON."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--json", type=Path, metavar="PATH", help="write every round here")
        parser.add_argument("--quick", action="store_true",
                            help="a small run, to see that it works")
        parser.add_argument("--engines", default=",".join(self.engines),
                            help="comma-separated: %(default)s")
        parser.add_argument("--threads", default="1,2", help="comma-separated: %(default)s")
        parser.add_argument("--cases", default=",".join(self.cases),
                            help="comma-separated: %(default)s")
        parser.add_argument("--rounds", type=int, help="rounds (11, quick 1)")
        parser.add_argument("--repeats", type=int, help="steps in each round (10, quick 1)")
        parser.add_argument("--worker", help=argparse.SUPPRESS)
        options = parser.parse_args(arguments)
        if options.worker:
            self.work(options.worker)
            return
        options.engines = list(dict.fromkeys(options.engines.split(",")))
        options.cases = list(dict.fromkeys(options.cases.split(",")))
        for given, known in ((options.engines, self.engines), (options.cases, self.cases)):
            for each in given:
                if each not in known:
                    parser.error(f"unknown {each!r}; choose from {', '.join(known)}")
        options.threads = [int(count) for count in options.threads.split(",")]
        options.rounds = options.rounds or (1 if options.quick else 11)
        options.repeats = options.repeats or (1 if options.quick else 10)
        report = self.measure(options)
        print(self.render(report))
        if options.json:
            harness.write_json(options.json, report)


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
