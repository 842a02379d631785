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
from contextlib import ExitStack
from typing import Any

import _command as command
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
    with ExitStack() as stack:
        workers = command.start(__file__, options.engines, {}, report["engines"], stack)
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
    report["targets"] = [
        command.verdict(f"{setting}, {title} / PyTorch", LIMIT,
                        record[figure].get("minigrad", {}).get("ratio"))
        for setting, record in report["profilers"].items() for figure, title in FIGURES.items()]
    return report


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    settings = report["settings"]
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
    return command.text(report, [
        "\n".join(f"{ENGINES[key]}: {engine.get('version') or engine['reason']}"
                  for key, engine in report["engines"].items()),
        f"{settings['rounds']} rounds of {settings['repeats_per_round']}; ratios to PyTorch, "
        f"paired by round; the target is {LIMIT:g}\n" + harness.table(rows),
    ])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--rounds", type=int, help="rounds (7, quick 2)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.blocks = 10 if options.quick else 50
    options.repeats = 3 if options.quick else 10
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table and write the JSON."""
    command.run(parse(arguments), measure, render, work)


if __name__ == "__main__":
    main()
