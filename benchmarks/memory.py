"""What an inference needs at most, with the graph and under no_grad: minigrad beside PyTorch.

    python benchmarks/memory.py --json benchmarks/results/memory.json

Residual networks in eval mode on photographs. Every figure comes from a process of its own. See
README.md here. With `--nodes 10000000` it measures instead what the nodes of long chains take.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import _command as command
import _harness as harness
from _nodes import CHAINS

sys.path.insert(0, str(harness.ROOT))

ENGINES = {"minigrad": "minigrad", "torch": "PyTorch"}
REFERENCE = "torch"
#: Network, images at once, and their height and width.
WORKLOADS = {"resnet18-1": ("resnet18", 1, 224), "resnet18-8": ("resnet18", 8, 224),
             "resnet50-4": ("resnet50", 4, 224)}
QUICK = {"resnet18-1": ("resnet18", 1, 64)}
#: How each figure is made of what a process tells; see `minigrad_course.bench.peak_memory.Peak`.
FIGURES = {
    "arrays": ("arrays of the run", lambda peak: peak.arrays),
    "growth": ("growth of the process", lambda peak: peak.process - peak.before),
    "process": ("whole process", lambda peak: peak.process),
}
SHARE_LIMIT, PEAK_LIMIT = 0.41, 1.25
#: Bytes that a node may take with all it keeps, of each of the chains in `_nodes`.
NODE_LIMITS = {"add": 250, "mul": 600, "tanh": 600}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    import numpy  # none of these before the threads are limited

    from minigrad_course.bench.peak_memory import peak
    from minigrad_course.demos import photographs

    report: dict[str, Any] = {
        "benchmark": "memory",
        "date": harness.now(),
        "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "rounds": options.rounds},
        "engines": {key: engine(key) for key in options.engines},
        "workloads": {},
    }
    usable = [key for key, each in report["engines"].items() if each["status"] == "measured"]
    workloads = QUICK if options.quick else WORKLOADS
    for name, (network, batch, size) in workloads.items():
        images, about = photographs.load(batch, size)
        rounds: list[dict[str, dict[str, dict[str, int]]]] = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "images.npy"
            numpy.save(path, images.numpy())
            for number in range(options.rounds):
                harness.progress(f"{name}: round {number + 1} of {options.rounds}")
                rounds.append({
                    key: {mode: figures(peak(key, network, path, mode == "graph"))
                          for mode in ("graph", "no_grad")}
                    for key in usable
                })
        report["workloads"][name] = {"network": network, "batch": batch, "size": size,
                                     "images": about, "rounds": rounds,
                                     "bytes": medians(rounds, usable)}
    report["targets"] = judge(report)
    return report


def measure_nodes(options: argparse.Namespace) -> dict[str, Any]:
    """Run each chain in a process of its own; minigrad alone."""
    report: dict[str, Any] = {
        "benchmark": "nodes", "date": harness.now(), "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "nodes": options.nodes},
        "engines": {"minigrad": engine("minigrad")}, "chains": {}, "targets": [],
    }
    for kind in CHAINS:
        harness.progress(f"{kind}: {options.nodes} nodes")
        command_line = [sys.executable, str(Path(__file__).with_name("_nodes.py")), kind,
                        str(options.nodes)]
        done = subprocess.run(command_line, capture_output=True, text=True, check=True)
        found = report["chains"][kind] = json.loads(done.stdout)
        limit = NODE_LIMITS[kind]
        report["targets"].append(
            command.verdict(f"{kind}, bytes per node", limit, found["bytes_per_node"]))
    return report


def render_nodes(report: dict[str, Any]) -> str:
    """The report on chains as plain text."""
    rows = [["chain", "a node keeps", "bytes per node", "most in backward", "left after release",
             "build, s", "backward, s", "release, s", "gradient"]]
    for kind, found in report["chains"].items():
        step, keeps = CHAINS[kind]
        rows.append([step, keeps, *(f"{found[name]:.1f}" for name in (
            "bytes_per_node", "most_in_backward_per_node", "left_per_node")),
            *(f"{seconds:.1f}" for seconds in found["seconds"].values()),
            "right" if found["gradient_right"] else "WRONG"])
    title = f"{report['settings']['nodes']} nodes, garbage collector off"
    return command.text(report, [title + "\n" + harness.table(rows),
                                 command.verdicts(report["targets"], digits=".0f")])


def engine(key: str) -> dict[str, str]:
    """What is known of an engine without importing it here."""
    if key == "minigrad":
        from minigrad import __version__

        return {"status": "measured", "version": __version__}
    if find_spec(key) is None:
        return {"status": "not installed", "reason": "not installed"}
    return {"status": "measured", "version": importlib.metadata.version(key)}


def figures(peak: Any) -> dict[str, int]:
    """The figures of one inference, in bytes."""
    return {name: figure(peak) for name, (_, figure) in FIGURES.items()}


def medians(rounds: list[dict[str, Any]], engines: list[str]) -> dict[str, Any]:
    """Engine -> figure -> mode -> the median over the rounds."""
    return {
        key: {name: {mode: statistics.median(each[key][mode][name] for each in rounds)
                     for mode in ("graph", "no_grad")} for name in FIGURES}
        for key in engines
    }


def judge(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What minigrad is held to: what no_grad saves, and each peak beside PyTorch's."""
    targets = []

    def add(name: str, limit: float, measured: float | None) -> None:
        targets.append(command.verdict(name, limit, measured))

    for name, record in report["workloads"].items():
        ours, theirs = record["bytes"].get("minigrad"), record["bytes"].get(REFERENCE)
        share = None if ours is None else ours["arrays"]["no_grad"] / ours["arrays"]["graph"]
        add(f"{name}, arrays, no_grad / graph", SHARE_LIMIT, share)
        for figure in ("arrays", "process"):
            for mode in ("graph", "no_grad"):
                add(f"{name}, {FIGURES[figure][0]}, {mode} / PyTorch", PEAK_LIMIT,
                    None if ours is None or theirs is None
                    else ours[figure][mode] / theirs[figure][mode])
    return targets


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    settings = report["settings"]
    parts = ["\n".join(f"{ENGINES[key]}: {each.get('version') or each['reason']}"
                       for key, each in report["engines"].items())]
    for name, record in report["workloads"].items():
        rows = [[f"{name}, MB", "graph", "no_grad", "no_grad / graph"]]
        for key, measured in record["bytes"].items():
            for figure, (title, _) in FIGURES.items():
                graph, bare = measured[figure]["graph"], measured[figure]["no_grad"]
                share = f"{bare / graph:.2f}" if graph > 0 else "n/a"
                rows.append([f"{ENGINES[key]}, {title}", f"{graph / 1e6:.1f}",
                             f"{bare / 1e6:.1f}", share])
        parts.append(f"{record['images']}, {settings['rounds']} rounds\n" + harness.table(rows))
    parts.append(command.verdicts(report["targets"], digits=".2f"))
    return command.text(report, parts)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--rounds", type=int, help="rounds (3, quick 1)")
    parser.add_argument("--nodes", type=int, metavar="COUNT",
                        help="measure chains of so many nodes instead (stated for 10000000)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    options.rounds = options.rounds or (1 if options.quick else 3)
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the JSON."""
    options = parse(arguments)
    os.environ.update(harness.ONE_THREAD)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(harness.ROOT), os.environ.get("PYTHONPATH", "")]))
    if options.nodes:
        command.run(options, measure_nodes, render_nodes)
    else:
        command.run(options, measure, render)


if __name__ == "__main__":
    main()
