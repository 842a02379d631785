"""What the profiler costs per event: minigrad and PyTorch side by side.

    python benchmarks/profiler.py --json benchmarks/results/profiler.json

The small operations of op_overhead.py, forward and backward, with the profiler and without it. The
difference, divided by the number of events that were recorded, is what one event costs. See
README.md here.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import time
from pathlib import Path
from typing import Any

import _harness as harness
from _harness import Unavailable
from _small_ops import ENGINES as LIBRARIES

ENGINES = {key: LIBRARIES[key] for key in ("minigrad", "pytorch")}
REFERENCE = "pytorch"
SETTINGS: dict[str, dict[str, bool]] = {
    "default": {},
    "record_shapes": {"record_shapes": True},
    "with_stack": {"with_stack": True},
    "profile_memory": {"profile_memory": True},
}
#: What is timed besides the program, and what that means.
FIGURES = {
    "recording": "within the block alone",
    "block": "with the block's beginning and end",
    "averages": "and with key_averages()",
}
LIMIT = 2.0


# ---- the worker's side -------------------------------------------------------------------------


def work(key: str) -> None:
    """Answer requests about one engine until the parent closes the pipe."""
    _, module_name, adapter = ENGINES[key]
    loaded: list[Any] = []

    def answer(request: dict[str, Any]) -> Any:
        if not loaded:
            try:
                loaded.append(adapter(importlib.import_module(module_name)))
            except ImportError as error:
                raise Unavailable(f"not installed ({error})") from error
        (engine,) = loaded
        if request["task"] == "hello":
            return {"version": engine.module.__version__}
        options = SETTINGS[request["task"]]
        return cost_per_event(engine, options, request["blocks"], request["repeats"])

    harness.serve(answer)


def cost_per_event(engine: Any, options: dict[str, bool], blocks: int,
                   repeats: int) -> dict[str, float]:
    """µs that an event adds, for each figure; of `repeats` interleaved runs the fastest counts.

    What a profiler adds is the difference of two times that other work on the machine only ever
    makes longer, so the fastest of either is the nearest to the truth.
    """
    profile = engine.module.autograd.profiler.profile

    def off() -> tuple[float, ...]:
        engine.clear()
        start = time.perf_counter()
        engine.forward_backward(blocks)
        return (time.perf_counter() - start,)

    def on() -> tuple[float, ...]:
        engine.clear()
        entered = time.perf_counter()
        with profile(**options) as record:
            start = time.perf_counter()
            engine.forward_backward(blocks)
            end = time.perf_counter()
        left = time.perf_counter()
        record.key_averages()
        finished = time.perf_counter()
        events.append(len(record.function_events))
        return end - start, left - entered, finished - entered

    events: list[int] = []
    off(), on()
    gc.collect()
    runs = [(off(), on()) for _ in range(repeats)]
    (without,) = map(min, zip(*[bare for bare, _ in runs], strict=True))
    times = map(min, zip(*[measured for _, measured in runs], strict=True))
    count = events[-1]
    costs = {figure: 1e6 * (each - without) / count
             for figure, each in zip(FIGURES, times, strict=True)}
    return {**costs, "events": count, "off": 1e6 * without / count}


# ---- the parent's side -------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    report: dict[str, Any] = {
        "benchmark": "profiler",
        "date": harness.now(),
        "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "blocks": options.blocks,
                     "rounds": options.rounds, "repeats_per_round": options.repeats,
                     "reference": REFERENCE},
        "engines": {},
        "profilers": {},
    }
    workers = {key: harness.Worker(__file__, key) for key in options.engines}
    try:
        for key in list(workers):
            try:
                hello = workers[key].ask({"task": "hello"})
                report["engines"][key] = {"status": "measured", **hello}
            except Unavailable as reason:
                report["engines"][key] = {"status": "not installed", "reason": str(reason)}
                workers.pop(key).close()
        for setting in SETTINGS:
            request = {"task": setting, "blocks": options.blocks, "repeats": options.repeats}
            rounds = []
            for number in range(options.rounds):
                harness.progress(f"{setting}: round {number + 1} of {options.rounds}")
                rounds.append({key: worker.ask(request) for key, worker in workers.items()})
            report["profilers"][setting] = {
                "rounds": rounds,
                **{figure: harness.summary([{key: costs[figure] for key, costs in each.items()}
                                            for each in rounds], workers, REFERENCE)
                   for figure in FIGURES},
            }
    finally:
        for worker in workers.values():
            worker.close()
    report["machine"]["load_average_at_end"] = harness.machine()["load_average"]
    report["targets"] = judge(report)
    harness.progress("")
    return report


def judge(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What minigrad is held to: at most twice PyTorch's cost, whatever is recorded."""
    targets = []
    for setting, record in report["profilers"].items():
        for figure in FIGURES:
            ratio = record[figure].get("minigrad", {}).get("ratio")
            targets.append({"name": f"{setting}, {FIGURES[figure]} / PyTorch", "relation": "<=",
                            "limit": LIMIT, "measured": ratio,
                            "met": None if ratio is None else ratio <= LIMIT})
    return targets


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    machine, settings = report["machine"], report["settings"]
    rows = [["µs per event", *(ENGINES[key][0] for key in report["engines"]), "ratio", "target"]]
    for setting, record in report["profilers"].items():
        for figure, title in FIGURES.items():
            cells = []
            for key in report["engines"]:
                median = record[figure].get(key, {}).get("median")
                cells.append("n/a" if median is None else f"{median:.2f}")
            ratio = record[figure].get("minigrad", {}).get("ratio")
            verdict = "" if ratio is None else "met" if ratio <= LIMIT else "MISSED"
            rows.append([f"{setting}, {title}", *cells,
                         "n/a" if ratio is None else f"{ratio:.2f}", verdict])
    parts = [
        f"{report['date']}  {machine['cpu']}, {machine['cores']} cores, {machine['python']}, "
        f"load {machine['load_average'][0]} to {machine['load_average_at_end'][0]}",
        "\n".join(f"{ENGINES[key][0]}: {engine.get('version') or engine['reason']}"
                  for key, engine in report["engines"].items()),
        f"{settings['rounds']} rounds of {settings['repeats_per_round']}; ratios to PyTorch, "
        f"paired by round; the target is {LIMIT:g}\n" + harness.table(rows),
    ]
    if settings["quick"]:
        parts.append("A quick run shows that everything works; its figures are not for quoting.")
    return "\n\n".join(parts)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write every round here")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma-separated: %(default)s")
    parser.add_argument("--rounds", type=int, help="rounds (7, quick 2)")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.engines = list(dict.fromkeys(options.engines.split(",")))
    unknown = [key for key in options.engines if key not in ENGINES]
    if unknown:
        parser.error(f"unknown engine {unknown[0]!r}; choose from {', '.join(ENGINES)}")
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.blocks = 10 if options.quick else 50
    options.repeats = 3 if options.quick else 10
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table and write the JSON."""
    options = parse(arguments)
    if options.worker:
        work(options.worker)
        return
    report = measure(options)
    print(render(report))
    if options.json:
        harness.write_json(options.json, report)


if __name__ == "__main__":
    main()
