"""What `torch.compile` saves: training steps of minigrad, compiled and eager, beside PyTorch.

    python benchmarks/compile.py --json benchmarks/results/compile.json

Whole steps, from the call to `.grad`: a small network, a larger one, a GPT, an LSTM, and a chain of
elementwise work on a million numbers; and the bytes that a GPT saves between its passes.  All times
are processor times of one thread, so that other work on the machine counts less.  See README.md
here.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import _command as command
import _harness as harness
from _harness import Unavailable

REFERENCE = "pytorch"
ENGINES = {"compiled": "minigrad, compiled", "eager": "minigrad, eager", "pytorch": "PyTorch"}
MODULES = {"compiled": "minigrad", "eager": "minigrad", "pytorch": "torch"}
WORKLOADS = {
    "small": "network 20-32-1, batch 16",
    "mlp": "network 784-256-128-10, batch 64",
    "gpt": "GPT, 16 sequences of 64",
    "lstm": "LSTM 64-128, 50 steps, batch 16",
    "chain": "GELU, dropout, layer norm on 10^6",
}
#: For the compiled step: at most this ratio to PyTorch's time, and to minigrad's eager time.
TARGETS = {"small": (1.0, 0.6), "mlp": (0.6, None), "gpt": (0.6, None), "lstm": (1.0, None),
           "chain": (None, 0.5)}
#: The GPT's memory budgets. With the tight one, a step saves at most this part of the bytes that
#: eager mode saves, in at most this multiple of the time of a step that saves everything.
BUDGETS = (1.0, 0.5, 0.375, 0.0)
TIGHT, SAVED, SLOWER = 0.375, 0.5, 1.15


# ---- the work ----------------------------------------------------------------------------------


def workloads(torch: Any, compile: Any) -> dict[str, Any]:
    """Return a function for each workload that runs one step and returns the loss."""
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(0)

    def step(model: Any, loss: Any, *given: Any) -> Any:
        parameters = list(model.parameters())
        run = compile(lambda *tensors: loss(model, *tensors))

        def one() -> float:
            for parameter in parameters:
                parameter.grad = None
            result = run(*given)
            result.backward()
            return float(result.item())

        return one

    def classes(model: Any, x: Any, y: Any) -> Any:
        return F.cross_entropy(model(x), y)

    return {
        "small": step(nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 1)),
                      lambda m, x, y: F.mse_loss(m(x), y), torch.randn(16, 20),
                      torch.randn(16, 1)),
        "mlp": step(nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
                                  nn.Linear(128, 10)), classes, torch.randn(64, 784),
                    torch.randint(0, 10, (64,))),
        "gpt": step(gpt(torch), lambda m, x, y: F.cross_entropy(m(x).view(-1, 65), y.view(-1)),
                    torch.randint(0, 65, (16, 64)), torch.randint(0, 65, (16, 64))),
        "lstm": step(recurrent(torch), classes, torch.randn(50, 16, 64),
                     torch.randint(0, 10, (16,))),
        "chain": step(chain(torch), lambda m, x: m(x).sum(), torch.randn(1000, 1000)),
    }


def gpt(torch: Any) -> Any:
    """Return a GPT with 4 layers, 4 heads and a width of 128."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc,name-defined]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(128), nn.LayerNorm(128)
            self.attention, self.projection = nn.Linear(128, 384), nn.Linear(128, 128)
            self.widen, self.narrow = nn.Linear(128, 512), nn.Linear(512, 128)

        def forward(self, x: Any) -> Any:
            batch, time, width = x.shape
            q, k, v = (t.view(batch, time, 4, width // 4).transpose(1, 2)
                       for t in self.attention(self.first(x)).split(width, 2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.projection(y.transpose(1, 2).contiguous().view(batch, time, width))
            return x + self.narrow(F.gelu(self.widen(self.second(x))))

    class GPT(nn.Module):  # type: ignore[misc,name-defined]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(65, 128), nn.Embedding(64, 128)
            self.blocks = nn.Sequential(*(Block() for _ in range(4)))
            self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 65)

        def forward(self, x: Any) -> Any:
            places = self.places(torch.arange(x.shape[1]))
            return self.head(self.norm(self.blocks(self.tokens(x) + places)))

    return GPT()


def recurrent(torch: Any) -> Any:
    """Return an LSTM whose last output is classified."""
    nn = torch.nn

    class Recurrent(nn.Module):  # type: ignore[misc,name-defined]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.cells, self.head = nn.LSTM(64, 128), nn.Linear(128, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.cells(x)[0][-1])

    return Recurrent()


def chain(torch: Any) -> Any:
    """Return elementwise work in front of a layer norm."""
    nn, F = torch.nn, torch.nn.functional

    class Chain(nn.Module):  # type: ignore[misc,name-defined]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1000))

        def forward(self, x: Any) -> Any:
            return F.layer_norm(F.dropout(F.gelu(x * self.scale), 0.1), (1000,))

    return Chain()


def saved_bytes(torch: Any) -> dict[str, int]:
    """Return the bytes that the GPT saves: in eager mode, and by budget in a compiled program."""
    from minigrad.aot.lowering.lower import lower
    from minigrad.aot.partition import partition
    from minigrad.aot.trace.record import record

    torch.manual_seed(0)
    model, x = gpt(torch), torch.randint(0, 65, (16, 64))

    def loss(x: Any) -> Any:
        return torch.nn.functional.cross_entropy(model(x).view(-1, 65), x.view(-1))

    held: dict[int, Any] = {}

    def note(tensor: Any) -> Any:
        array = tensor.detach().numpy()
        while array.base is not None:
            array = array.base
        held[id(array)] = array
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss(x)
    own = {id(p.detach().numpy()) for p in model.parameters()} | {id(x.numpy())}
    recorded = record(loss, (x,))
    lower(recorded)
    return {"eager": sum(array.nbytes for key, array in held.items() if key not in own),
            **{f"budget {b}": partition(recorded, b).saved_bytes for b in BUDGETS}}


def times_by_budget(torch: Any, rounds: int) -> dict[str, float]:
    """Return the time of a step of the GPT by budget, relative to a step that saves everything."""
    from minigrad.aot.partition import at_level

    def step(budget: float) -> Any:
        options = {"activation_memory_budget": budget}
        run = workloads(torch, lambda function: torch.compile(
            function, fullgraph=True, options=options))["gpt"]
        run()  # which records it
        return run

    steps = {f"budget {budget}": step(budget) for budget in BUDGETS}
    with patch("minigrad.aot.compiled.partition", lambda recorded, budget: at_level(recorded, 0)):
        everything = step(1.0)
    ratios: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        (base,) = time_runs(everything, 1)
        for name, run in steps.items():
            ratios[name].append(time_runs(run, 1)[0] / base)
    return {name: statistics.median(each) for name, each in ratios.items()}


# ---- the worker's side -------------------------------------------------------------------------


def work(key: str) -> None:
    """Answer requests about one engine until the parent closes the pipe."""
    loaded: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> Any:
        if request["task"] == "hello":
            try:
                module = importlib.import_module(MODULES[key])
            except ImportError as error:
                raise Unavailable(f"not installed ({error})") from error
            if hasattr(module, "set_num_threads"):
                module.set_num_threads(1)

            def compile(function: Any) -> Any:
                return module.compile(function, fullgraph=True) if key == "compiled" else function

            loaded.update(workloads(module, compile))
            loaded["module"] = module
            return {"version": module.__version__, "numpy": sys.modules["numpy"].__version__}
        if request["task"] == "saved":
            return saved_bytes(loaded["module"])
        if request["task"] == "budgets":
            return times_by_budget(loaded["module"], request["rounds"])
        if request["task"] == "first":
            return time_runs(loaded[request["workload"]], 1)[0]
        return time_runs(loaded[request["task"]], request["repeats"])

    harness.serve(answer)


def time_runs(run: Any, repeats: int) -> list[float]:
    """Milliseconds of processor time of each of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(round(1e3 * (time.process_time() - start), 5))
    return times


# ---- the parent's side -------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    engines: dict[str, Any] = {}
    records: dict[str, Any] = {name: {"rounds": [], "not_available": {}} for name in WORKLOADS}
    report: dict[str, Any] = {
        "benchmark": "compile",
        "date": harness.now(),
        "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "dtype": "float32",
                     "rounds": options.rounds, "reference": REFERENCE},
        "engines": engines,
        "workloads": records,
    }
    with ExitStack() as stack:
        workers = command.start(__file__, options.engines, {}, engines, stack)
        for name, record in records.items():
            record["first_call_ms"] = {
                key: worker.ask({"task": "first", "workload": name})
                for key, worker in workers.items()}
        for number in range(options.rounds):
            harness.progress(f"round {number + 1} of {options.rounds}")
            for name, record in records.items():
                slow = max(record["first_call_ms"].values()) > 200
                request = {"task": name, "repeats": 1 if slow or options.quick else 20}
                record["rounds"].append(
                    command.ask_each(workers, request, record["not_available"]))
        if "compiled" in workers:
            report["saved_bytes"] = workers["compiled"].ask({"task": "saved"})
            report["times_by_budget"] = workers["compiled"].ask(
                {"task": "budgets", "rounds": options.rounds})
    for record in records.values():
        medians = [{key: statistics.median(times) for key, times in each.items()}
                   for each in record["rounds"]]
        record["ms"] = harness.summary(medians, workers, REFERENCE)
        ratios = [each["compiled"] / each["eager"] for each in medians
                  if {"compiled", "eager"} <= each.keys()]
        record["compiled_to_eager"] = statistics.median(ratios) if ratios else None
    report["targets"] = targets_of(report)
    return report


def targets_of(report: dict[str, Any]) -> list[Any]:
    """Return the verdict on each target."""
    verdicts = []
    for name, (to_pytorch, to_eager) in TARGETS.items():
        record = report["workloads"][name]
        if to_pytorch is not None:
            verdicts.append(command.verdict(
                f"{WORKLOADS[name]}: compiled / PyTorch", to_pytorch,
                record["ms"].get("compiled", {}).get("ratio")))
        if to_eager is not None:
            verdicts.append(command.verdict(f"{WORKLOADS[name]}: compiled / eager", to_eager,
                                            record["compiled_to_eager"]))
    saved = report.get("saved_bytes")
    slower = report.get("times_by_budget")
    tight = f"budget {TIGHT}"
    verdicts.append(command.verdict(f"bytes saved by the GPT: {tight} / eager", SAVED,
                                    saved and saved[tight] / saved["eager"]))
    verdicts.append(command.verdict(f"time of the GPT: {tight} / saving everything", SLOWER,
                                    slower and slower[tight]))
    return verdicts


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    engines = report["engines"]
    usable = [key for key, engine in engines.items() if engine["status"] == "measured"]
    rows = [["milliseconds", *(f"{ENGINES[key]} (ratio)" for key in usable), "compiled / eager",
             "first call"]]
    for name, title in WORKLOADS.items():
        record = report["workloads"][name]
        to_eager, first = record["compiled_to_eager"], record["first_call_ms"].get("compiled")
        rows.append([title, *(command.cell(record["ms"][key]) for key in usable),
                     "" if to_eager is None else f"{to_eager:.2f}",
                     "" if first is None else f"{first:.0f}"])
    saved = report.get("saved_bytes") or {}
    slower = report.get("times_by_budget") or {}
    return command.text(report, [
        "\n".join(f"{ENGINES[key]} {each['version']} (NumPy {each['numpy']})" if key in usable
                  else f"{ENGINES[key]}: {each['reason']}" for key, each in engines.items()),
        f"one thread, {report['settings']['rounds']} rounds; ratios to PyTorch, paired by round\n"
        + harness.table(rows),
        "bytes that the GPT saves: " + ", ".join(f"{k} {v / 1e6:.1f} MB" for k, v in saved.items()),
        "time of its step, relative to saving everything: " + ", ".join(
            f"{k} {v:.2f}" for k, v in slower.items()),
        command.verdicts(report["targets"]),
    ])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--rounds", type=int, help="rounds (15, quick 2)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    options.rounds = options.rounds or (2 if options.quick else 15)
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the JSON."""
    command.run(parse(arguments), measure, render, work)


if __name__ == "__main__":
    main()
