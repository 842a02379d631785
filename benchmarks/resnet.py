"""What a step of ResNet-18 costs: minigrad, PyTorch, MyGrad and NumPy by hand, side by side.

    python benchmarks/resnet.py --json benchmarks/results/resnet.json

Cross entropy forward and all gradients backward, on one thread and on two. See README.md here.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import _harness as harness
import _resnets
from _harness import Unavailable

REFERENCE = "pytorch"
#: What is measured: title, adapter, module, and the package whose version is shown.
ENGINES = {
    "minigrad": ("minigrad", _resnets.TorchLike, "minigrad", "minigrad-course"),
    "pytorch": ("PyTorch", _resnets.TorchLike, "torch", "torch"),
    "by_hand": ("NumPy by hand", _resnets.ByHand, "numpy", "numpy"),
    "products": ("matrix products alone", _resnets.Products, "numpy", "numpy"),
    "mygrad": ("MyGrad", _resnets.MyGrad, "mygrad", "mygrad"),
}
#: Variables with which an environment tells OpenBLAS which processor to take this one for.
PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
#: Engines that are measured once more without them, where they are set.
UNPINNED = ("minigrad", "by_hand", "products")
TARGETS = {("1x3x224x224", 1): 1.2, ("1x3x224x224", 2): 1.5,
           ("8x3x64x64", 1): 1.25, ("8x3x64x64", 2): 1.7}
#: A round counts where no engine took longer than this many times its own fastest round: with two
#: threads, whatever else runs can stop an engine that waits for both.
CALM = 1.5
HIPS = "has no convolution with strides, padding and channels"


def title(key: str) -> str:
    """What tables call an engine."""
    name, _, unpinned = key.partition("+")
    return ENGINES[name][0] + (", OpenBLAS unpinned" if unpinned else "")


# ---- the worker's side --------------------------------------------------------------------------


def work(key: str) -> None:
    """Answer the parent: say which versions these are, or time steps."""
    name = key.partition("+")[0]
    _, adapter, module, package = ENGINES[name]
    prepared: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> Any:
        threads, shape = request["threads"], request.get("shape")
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise Unavailable(f"not installed: {error}") from None
        if request["task"] == "hello":
            return {"version": version(package), "numpy": version("numpy"), "blas": blas()}
        if shape not in prepared:
            prepared.clear()
            prepared[shape] = adapter(module, shape, threads)
            prepared[shape].step()
        if request["task"] == "results":
            found = prepared[shape].results()
            return found and [found[0].tolist(), found[1]]
        return time_steps(prepared[shape], request["repeats"])

    harness.serve(answer)


def version(package: str) -> str:
    """The version of an installed package."""
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


def time_steps(engine: Any, repeats: int) -> list[float]:
    """Milliseconds of each of so many steps, after one that does not count."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        engine.step()
        times.append((time.perf_counter() - start) * 1e3)
    return times[1:]


# ---- the parent's side --------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the report."""
    pins = {name: os.environ[name] for name in PINS if os.environ.get(name)}
    keys = options.engines + [f"{key}+unpinned" for key in UNPINNED
                              if pins and key in options.engines]
    report: dict[str, Any] = {
        "date": harness.now(), "machine": harness.machine(), "pins": pins, "engines": {},
        "settings": {"rounds": options.rounds, "repeats_per_round": options.repeats,
                     "quick": options.quick, "calm": CALM, "threads": options.threads},
        "workloads": {},
    }
    for threads in options.threads:
        with ExitStack() as stack:
            workers = start(keys, threads, report["engines"], stack)
            for shape in options.shapes:
                record = measure_shape(workers, shape, threads, options)
                report["workloads"][f"{shape}, {threads} threads"] = record
    report["machine"]["load_average_at_end"] = harness.machine()["load_average"]
    report["targets"] = judge(report["workloads"])
    harness.progress("")
    return report


def start(keys: list[str], threads: int, engines: dict[str, Any], stack: ExitStack
          ) -> dict[str, harness.Worker]:
    """Start a worker for each engine that is installed."""
    workers = {}
    for key in keys:
        without = PINS if "+" in key else ()
        worker = stack.enter_context(
            harness.Worker(__file__, key, threads=threads, without=without))
        try:
            told = worker.ask({"task": "hello", "threads": threads})
            engines[key] = {"status": "measured", **told}
            workers[key] = worker
        except Unavailable as reason:
            absent = str(reason).startswith("not installed")
            engines[key] = {"status": "not installed" if absent else "failed",
                            "reason": str(reason)}
    return workers


def measure_shape(workers: dict[str, harness.Worker], shape: str, threads: int,
                  options: argparse.Namespace) -> dict[str, Any]:
    """Compare what the engines compute, then time them in turns."""
    ask = {"shape": shape, "threads": threads}
    record: dict[str, Any] = {"shape": shape, "threads": threads, "not_available": {},
                              "rounds": [], "discarded": []}
    if not options.quick:
        record["not_available"]["hips"] = HIPS
    expected = None
    for key, worker in workers.items():
        try:
            found = worker.ask({"task": "results", **ask})
            if found:
                expected = expected or found
                compare(found, expected)
        except Unavailable as reason:
            record["not_available"][key] = str(reason)
    rounds: list[dict[str, list[float]]] = []
    for number in range(options.rounds):
        harness.progress(f"{shape}, {threads} threads: round {number + 1} of {options.rounds}")
        rounds.append({key: worker.ask({"task": "time", "repeats": options.repeats, **ask})
                       for key, worker in workers.items() if key not in record["not_available"]})
    medians = [{key: statistics.median(times) for key, times in each.items()} for each in rounds]
    best = {key: min(each[key] for each in medians) for key in (medians[0] if medians else ())}
    calm = [all(each[key] <= CALM * best[key] for key in each) for each in medians]
    record["rounds"] = rounds
    record["discarded"] = [number for number, kept in enumerate(calm) if not kept]
    kept = [each for each, is_calm in zip(medians, calm, strict=True) if is_calm]
    record["ms"] = harness.summary(kept, workers, REFERENCE)
    return record


def compare(found: Any, expected: Any) -> None:
    """Refuse an engine whose logits or gradients are not those of the first."""
    for row, wanted in zip(found[0], expected[0], strict=True):
        if any(abs(a - b) > 1e-3 for a, b in zip(row, wanted, strict=True)):
            raise Unavailable("computes other logits")
    for name, norm in expected[1].items():
        if abs(found[1][name] - norm) > 1e-2 * norm:
            raise Unavailable(f"computes another gradient of {name}")


def judge(workloads: dict[str, Any]) -> list[dict[str, Any]]:
    """The targets that minigrad is held to, each with what was measured (None: it was not)."""
    verdicts = []
    for record in workloads.values():
        limit = TARGETS.get((record["shape"], record["threads"]))
        if limit is None:
            continue
        for key in ("minigrad", "minigrad+unpinned"):
            if key not in record["ms"]:
                continue
            measured = record["ms"][key]["ratio"]
            verdicts.append({
                "name": f"{record['shape']}, {record['threads']} thread(s), {title(key)} / PyTorch",
                "relation": "<=", "limit": limit, "measured": measured,
                "by_hand": record["ms"].get(key.replace("minigrad", "by_hand"), {}).get("ratio"),
                "met": None if measured is None else measured <= limit})
    return verdicts


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    machine, settings = report["machine"], report["settings"]
    parts = [f"{report['date']}  {machine['cpu']}, {machine['cores']} cores, {machine['python']}, "
             f"load {machine['load_average'][0]} to {machine['load_average_at_end'][0]}"]
    parts.append("\n".join(
        f"{title(key)} {each['version']} (NumPy {each['numpy']}, BLAS for {each['blas']})"
        if each["status"] == "measured" else f"{title(key)}: {each['reason']}"
        for key, each in report["engines"].items()))
    if report["pins"]:
        pins = ", ".join(f"{name}={value}" for name, value in report["pins"].items())
        parts.append(f"The environment sets {pins}; 'unpinned' is without, as OpenBLAS chooses.")
    for name, record in report["workloads"].items():
        rows = [[name, "milliseconds", "ratio to PyTorch", "range"]]
        for key, each in record["ms"].items():
            if each["median"] is None:
                continue
            low, high = each["ratio_range"] or (None, None)
            rows.append([title(key), f"{each['median']:.1f}",
                         "n/a" if each["ratio"] is None else f"{each['ratio']:.2f}",
                         "n/a" if low is None else f"{low:.2f} to {high:.2f}"])
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
        parts.append("A quick run shows that everything works; its figures are not for quoting.")
    return "\n\n".join(parts)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write every round here")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma-separated: %(default)s")
    parser.add_argument("--threads", default="1,2", help="comma-separated: %(default)s")
    parser.add_argument("--shapes", default=",".join(_resnets.SHAPES), help="%(default)s")
    parser.add_argument("--rounds", type=int, help="rounds (11, quick 1)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.engines = list(dict.fromkeys(options.engines.split(",")))
    options.shapes = list(dict.fromkeys(options.shapes.split(",")))
    for given, known in ((options.engines, ENGINES), (options.shapes, _resnets.SHAPES)):
        for each in given:
            if each not in known:
                parser.error(f"unknown {each!r}; choose from {', '.join(known)}")
    options.threads = [int(count) for count in options.threads.split(",")]
    options.rounds = options.rounds or (1 if options.quick else 11)
    options.repeats = 1 if options.quick else 5
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the JSON."""
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
