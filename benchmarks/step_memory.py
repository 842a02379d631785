"""The most memory that a training step and an inference need: minigrad beside PyTorch.

    python benchmarks/step_memory.py --json benchmarks/results/step_memory.json

Growth of the process over what it holds with library, weights and input loaded and one step taken.
Every figure comes from a process of its own. See README.md here.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from runpy import run_path
from typing import Any

import _command as command
import _harness as harness
import _resnets

ENGINES = {"minigrad": "minigrad", "torch": "PyTorch"}
PACKAGES = {"minigrad": "minigrad-course", "torch": "torch"}
REFERENCE, LIMIT = "torch", 1.0
MODES = {"training": "a training step", "inference": "an inference"}


def resnet18(torch: Any) -> tuple[Any, Callable[[Any], Any], Any]:
    """8 images of 3 x 64 x 64."""
    y = torch.arange(8)
    return (_resnets.network(torch.nn), lambda out: torch.nn.functional.cross_entropy(out, y),
            torch.randn(8, 3, 64, 64))


def lstm(torch: Any) -> tuple[Any, Callable[[Any], Any], Any]:
    """200 steps of 64 sequences, 64 inputs, a state of 128."""
    return torch.nn.LSTM(64, 128), lambda out: out[0].pow(2).mean(), torch.randn(200, 64, 64)


def transformer_layer(torch: Any) -> tuple[Any, Callable[[Any], Any], Any]:
    """16 pieces of 128 vectors of 128, 4 heads, 512 hidden units."""
    net = torch.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    return net, lambda out: out.pow(2).mean(), torch.randn(16, 128, 128)


#: Each returns a network, the loss of its output, and its input.
CASES: dict[str, Callable[[Any], tuple[Any, Callable[[Any], Any], Any]]] = {
    "ResNet-18": resnet18, "LSTM": lstm, "Transformer layer": transformer_layer}


def work(request: str) -> None:
    """Take two steps and print by how many bytes the process grew at most in the second."""
    library, case, mode = json.loads(request)
    torch = importlib.import_module(library)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    memory = run_path(str(harness.ROOT / "minigrad" / "utils" / "memory.py"))
    net, loss, x = CASES[case](torch)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)

    def train() -> None:
        loss(net(x)).backward()
        optimizer.step()
        optimizer.zero_grad()

    def infer() -> None:
        with torch.no_grad():
            net(x)

    net.train(mode == "training")
    step = train if mode == "training" else infer
    step()
    memory["reset_process_peak"]()
    before = memory["process_peak"]()
    step()
    print(json.dumps(memory["process_peak"]() - before))


def peak(library: str, case: str, mode: str) -> int:
    """Ask a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--worker",
                           json.dumps([library, case, mode])], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{case} with {library} could not be measured: {done.stderr[-500:]}")
    return int(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    report: dict[str, Any] = {
        "benchmark": "step_memory", "date": harness.now(), "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "rounds": options.rounds},
        "engines": {key: engine(key) for key in options.engines}, "workloads": {}, "targets": [],
    }
    usable = [key for key, each in report["engines"].items() if each["status"] == "measured"]
    for case in options.cases:
        for mode, title in MODES.items():
            rounds = []
            for number in range(options.rounds):
                harness.progress(f"{case}, {title}: round {number + 1} of {options.rounds}")
                rounds.append({key: peak(key, case, mode) for key in usable})
            most = {key: statistics.median(each[key] for each in rounds) for key in usable}
            ratio = most["minigrad"] / most[REFERENCE] if set(ENGINES) <= set(most) else None
            report["workloads"][f"{case}, {title}"] = {
                "case": case, "mode": mode, "rounds": rounds, "bytes": most, "ratio": ratio}
            report["targets"].append(command.verdict(f"{case}, {title} / PyTorch", LIMIT, ratio))
    return report


def engine(key: str) -> dict[str, str]:
    """What is known of an engine without importing it here."""
    if find_spec(key) is None:
        return {"status": "not installed", "reason": "not installed"}
    try:
        return {"status": "measured", "version": importlib.metadata.version(PACKAGES[key])}
    except importlib.metadata.PackageNotFoundError:  # minigrad from its folder
        return {"status": "measured", "version": str(importlib.import_module(key).__version__)}


def rows(report: dict[str, Any]) -> list[list[str]]:
    """A table: MB of each engine, and the ratio."""
    found = [["MB", *(ENGINES[key] for key in report["engines"]), "ratio to PyTorch"]]
    for name, record in report["workloads"].items():
        found.append([name, *(f"{record['bytes'][key] / 1e6:.1f}" if key in record["bytes"]
                              else "n/a" for key in report["engines"]),
                      "n/a" if record["ratio"] is None else f"{record['ratio']:.2f}"])
    return found


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    engines = "\n".join(f"{ENGINES[key]}: {each.get('version') or each['reason']}"
                        for key, each in report["engines"].items())
    return command.text(report, [engines, harness.table(rows(report)),
                                 command.verdicts(report["targets"], digits=".2f")])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated: %(default)s")
    parser.add_argument("--rounds", type=int, help="rounds (5, quick 1)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    options.cases = command.chosen(parser, options.cases, CASES, "case")
    options.rounds = options.rounds or (1 if options.quick else 5)
    return options


if __name__ == "__main__":
    os.environ.update(harness.ONE_THREAD)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(harness.ROOT), os.environ.get("PYTHONPATH", "")]))
    command.run(parse(None), measure, render, work)
