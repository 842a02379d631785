"""What one small operation costs: minigrad, PyTorch, HIPS autograd and MyGrad side by side.

    python benchmarks/op_overhead.py --json benchmarks/results/op_overhead.json

Arrays of 8 float32 values, so that next to all the time is the library's own. See README.md here.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.metadata
import os
import statistics
import sys
import time
from contextlib import ExitStack
from typing import Any

import _command as command
import _harness as harness
from _harness import Unavailable
from _small_ops import ENGINES, OPS_PER_BLOCK, SIZE, B, C, D, W, X, chain

REFERENCE = "pytorch"
STEP = [1e-5 * (i + 1) for i in range(SIZE)]
WORKLOADS = {
    "forward_plain": "forward, no input requires grad",
    "forward_no_grad": "forward under no_grad",
    "forward_graph": "forward with graph",
    "forward_backward": "forward + backward",
}
PHASES = ("build", "backward", "release")
GC_MODES = ("default", "disabled")


# ---- the worker's side -------------------------------------------------------------------------


def work(key: str) -> None:
    """Answer requests about one engine until the parent closes the pipe."""
    _, module_name, adapter = ENGINES[key]
    loaded: list[Any] = []

    def engine() -> Any:
        if not loaded:
            try:
                module = importlib.import_module(module_name)
            except ImportError as error:
                raise Unavailable(f"not installed ({error})") from error
            loaded.append(adapter(module))
        return loaded[0]

    def answer(request: dict[str, Any]) -> Any:
        task = request["task"]
        if task == "hello":
            return introduce(engine(), module_name, request["blocks"])
        if task == "chain":
            return time_chain(engine(), request["length"], request["gc"])
        return time_small_ops(engine(), task, request["blocks"], request["repeats"])

    harness.serve(answer)


def introduce(engine: Any, module_name: str, blocks: int) -> dict[str, Any]:
    """Versions, after proof that the engine computes what the others compute."""
    import numpy  # here because the parent process needs nothing but the standard library

    output = numpy.asarray(engine.forward_plain(blocks))
    check(numpy, output, [numpy.asarray(g) for g in engine.gradients(blocks)], blocks)
    module = sys.modules[module_name]
    return {
        "version": getattr(module, "__version__", None) or importlib.metadata.version(module_name),
        "numpy": numpy.__version__,
        "dtype": str(output.dtype),
    }


def check(numpy: Any, output: Any, gradients: list[Any], blocks: int) -> None:
    """Raise unless output and gradients match NumPy in float64 and its central differences."""
    inputs = [numpy.array(values) for values in (X, W, B)]
    constants = [numpy.array(values) for values in (C, D)]
    if not numpy.allclose(output, chain(numpy, *inputs, *constants, blocks), rtol=1e-3, atol=1e-5):
        raise Unavailable(f"wrong result: {output.tolist()}")
    for place, gradient in enumerate(gradients):
        shifted = []
        for sign in (1.0, -1.0):
            moved = list(inputs)
            moved[place] = moved[place] + sign * numpy.array(STEP)
            shifted.append(chain(numpy, *moved, *constants, blocks).sum())
        wanted = (shifted[0] - shifted[1]) / 2.0
        got = float((gradient * numpy.array(STEP)).sum())
        if not abs(got - wanted) <= 1e-3 * abs(wanted):
            raise Unavailable(f"wrong gradient of input {place}: {got:.6g}, expected {wanted:.6g}")


def time_small_ops(engine: Any, workload: str, blocks: int, repeats: int) -> list[float]:
    """µs per op of `repeats` runs after one untimed run; a graph it returns dies untimed."""
    run = getattr(engine, workload)
    run(blocks)
    times = []
    for _ in range(repeats):
        engine.clear()
        start = time.perf_counter()
        result = run(blocks)
        elapsed = time.perf_counter() - start
        del result
        times.append(round(1e6 * elapsed / (blocks * OPS_PER_BLOCK), 4))
    return times


def time_chain(engine: Any, length: int, gc_mode: str) -> dict[str, float | None]:
    """µs per op to build, run backward and release, and resident bytes that each node added."""
    engine.backward(engine.build(100))
    engine.clear()
    gc.collect()
    if gc_mode == "disabled":
        gc.disable()
    before = harness.resident_bytes()
    times = [time.perf_counter()]
    graph = engine.build(length)
    times.append(time.perf_counter())
    after = harness.resident_bytes()
    start = time.perf_counter()  # reading the memory belongs to no phase
    engine.backward(graph)
    times.append(times[-1] + time.perf_counter() - start)
    start = time.perf_counter()
    del graph
    times.append(times[-1] + time.perf_counter() - start)
    result: dict[str, float | None] = {
        phase: round(1e6 * (end - begin) / length, 4)
        for phase, begin, end in zip(PHASES, times, times[1:], strict=False)
    }
    grown = None if before is None or after is None else after - before
    result["bytes_per_node"] = None if grown is None else round(grown / length, 1)
    return result


# ---- the parent's side -------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    report: dict[str, Any] = {
        "benchmark": "op_overhead",
        "date": harness.now(),
        "machine": harness.machine(),
        "settings": {
            "quick": options.quick,
            "threads": 1,
            "elements": SIZE,
            "dtype": "float32",
            "ops": options.blocks * OPS_PER_BLOCK,
            "rounds": options.rounds,
            "repeats_per_round": options.repeats,
            "chain_length": options.chain_length,
            "chain_rounds": options.chain_rounds,
            "reference": REFERENCE,
            "MINIGRAD_GENERIC": os.environ.get("MINIGRAD_GENERIC", ""),
        },
        "engines": {},
    }
    report["small_ops"] = measure_small_ops(options, report["engines"])
    usable = [key for key, engine in report["engines"].items() if engine["status"] == "measured"]
    report["chain"] = {mode: measure_chain(options, usable, mode) for mode in GC_MODES}
    report["targets"] = judge(report)
    return report


def measure_small_ops(options: argparse.Namespace, engines: dict[str, Any]) -> dict[str, Any]:
    """Interleaved rounds of every workload; what each engine is goes into `engines`."""
    result: dict[str, Any] = {
        workload: {"rounds": [], "not_available": {}} for workload in WORKLOADS
    }
    with ExitStack() as stack:
        workers = command.start(__file__, options.engines, {"blocks": options.blocks}, engines,
                                stack)
        for number in range(options.rounds):
            harness.progress(f"small ops: round {number + 1} of {options.rounds}")
            for workload, record in result.items():
                request = {"task": workload, "blocks": options.blocks, "repeats": options.repeats}
                record["rounds"].append(command.ask_each(workers, request, record["not_available"]))
    for record in result.values():
        medians = [
            {key: statistics.median(times) for key, times in values.items()}
            for values in record["rounds"]
        ]
        record["us_per_op"] = harness.summary(medians, workers, REFERENCE)
    return result


def measure_chain(options: argparse.Namespace, usable: list[str], gc_mode: str) -> dict[str, Any]:
    """Interleaved rounds, each in a fresh process so that resident memory starts clean."""
    request = {"task": "chain", "length": options.chain_length, "gc": gc_mode}
    rounds: list[dict[str, Any]] = []
    not_available: dict[str, str] = {}
    for number in range(options.chain_rounds):
        answers: dict[str, Any] = {}
        for key in usable:
            if key in not_available:
                continue
            harness.progress(
                f"chain, garbage collector {gc_mode}: "
                f"round {number + 1} of {options.chain_rounds}, {ENGINES[key][0]}"
            )
            with harness.Worker(__file__, key) as worker:
                answers |= command.ask_each({key: worker}, request, not_available)
        rounds.append(answers)
    record: dict[str, Any] = {"rounds": rounds, "not_available": not_available}
    for quantity in (*PHASES, "build_backward", "bytes_per_node"):
        record[quantity] = harness.summary(
            [chain_quantity(values, quantity) for values in rounds], usable, REFERENCE
        )
    return record


def chain_quantity(values: dict[str, Any], quantity: str) -> dict[str, float]:
    """One figure of a round for each engine that has it."""
    if quantity == "build_backward":
        return {key: each["build"] + each["backward"] for key, each in values.items()}
    return {key: each[quantity] for key, each in values.items() if each[quantity] is not None}


def judge(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The targets that minigrad is held to, each with what was measured (None: it was not)."""
    forward_backward = report["small_ops"]["forward_backward"]["rounds"]
    chains = report["chain"]["default"]
    per_op = {key: record["us_per_op"] for key, record in report["small_ops"].items()}

    def figure(records: dict[str, Any], name: str) -> float | None:
        return records.get("minigrad", {}).get(name)

    wanted = (
        ("forward, no input requires grad / PyTorch", 0.8, per_op["forward_plain"], "ratio"),
        ("forward under no_grad / PyTorch", 0.8, per_op["forward_no_grad"], "ratio"),
        ("forward with graph / PyTorch", 1.0, per_op["forward_graph"], "ratio"),
        ("forward + backward / PyTorch", 0.75, per_op["forward_backward"], "ratio"),
        ("chain, build + backward / PyTorch", 1.0, chains["build_backward"], "ratio"),
        ("chain, resident bytes per node", 400, chains["bytes_per_node"], "median"),
    )
    return [
        *(command.verdict(name, limit, figure(of, what)) for name, limit, of, what in wanted),
        command.verdict("forward + backward, times faster than HIPS", 2.5,
                        times_faster_than_hips(forward_backward), ">="),
    ]


def times_faster_than_hips(rounds: list[dict[str, list[float]]]) -> float | None:
    """Median over the rounds of HIPS autograd's time divided by minigrad's."""
    medians = [{key: statistics.median(times) for key, times in each.items()} for each in rounds]
    ratios = harness.paired_ratios(medians, "hips", "minigrad")
    return statistics.median(ratios) if ratios else None


# ---- printing ----------------------------------------------------------------------------------


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    settings, engines = report["settings"], report["engines"]
    usable = [key for key, engine in engines.items() if engine["status"] == "measured"]
    parts = ["\n".join(describe(key, engine) for key, engine in engines.items())]
    heading = [f"{ENGINES[key][0]} (ratio)" for key in usable]
    notes: dict[str, None] = {}

    rows = [["µs per op", *heading]]
    for workload, title in WORKLOADS.items():
        record = report["small_ops"][workload]
        rows.append([title, *(command.cell(record["us_per_op"][key]) for key in usable)])
        for key, reason in record["not_available"].items():
            notes[f"{ENGINES[key][0]}, {title}: n/a, {reason}"] = None
    parts.append(
        f"{settings['ops']:,} small ops on {SIZE} float32 values, {settings['rounds']} rounds of "
        f"{settings['repeats_per_round']}; ratios to PyTorch, paired by round\n"
        + harness.table(rows)
    )

    titles = {phase: f"{phase}, µs per op" for phase in PHASES}
    titles |= {"build_backward": "build + backward, µs per op", "bytes_per_node": "bytes per node"}
    for mode, record in report["chain"].items():
        if not record["rounds"]:
            continue
        rows = [[f"garbage collector {mode}", *heading]]
        for quantity, title in titles.items():
            digits = ".0f" if quantity == "bytes_per_node" else ".3f"
            rows.append([title, *(command.cell(record[quantity][key], digits) for key in usable)])
        parts.append(
            f"chain of {settings['chain_length']:,} adds, {settings['chain_rounds']} rounds\n"
            + harness.table(rows)
        )
        for key, reason in record["not_available"].items():
            notes[f"{ENGINES[key][0]}, chain: n/a, {reason}"] = None
    if notes:
        parts.append("\n".join(notes))
    parts.append(command.verdicts(report["targets"]))
    return command.text(report, parts)


def describe(key: str, engine: dict[str, Any]) -> str:
    """One line on what was measured, or why not."""
    if engine["status"] != "measured":
        return f"{ENGINES[key][0]}: {engine['reason']}"
    wider = "" if engine["dtype"] == "float32" else f", computes in {engine['dtype']}"
    return f"{ENGINES[key][0]} {engine['version']} (NumPy {engine['numpy']}{wider})"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--rounds", type=int, help="rounds of small ops (15, quick 2)")
    parser.add_argument("--chain-rounds", type=int, help="rounds of the chain (3, quick 1)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    if options.rounds is None:
        options.rounds = 2 if options.quick else 15
    if options.chain_rounds is None:
        options.chain_rounds = 1 if options.quick else 3
    options.blocks = 10 if options.quick else 100
    options.repeats = 2 if options.quick else 5
    options.chain_length = 10_000 if options.quick else 1_000_000
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the JSON."""
    command.run(parse(arguments), measure, render, work)


if __name__ == "__main__":
    main()
