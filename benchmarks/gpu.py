"""The GPU beside PyTorch on the same GPU: ResNets, an MLP, a small GPT, and one op alone.

    python benchmarks/gpu.py --json benchmarks/results/gpu.json

Each library runs in a process of its own, in turns; times are taken with CUDA events around many
steps and are medians over rounds.  It needs CuPy, PyTorch with CUDA, and a GPU.

Whatever goes wrong in a case is written down in its place, and the file is written anew after each,
so that a run that is broken off leaves what it found.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import platform
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import _harness as harness
from _harness import Unavailable, Worker

ENGINES = ("minigrad", "torch")

#: By how many times PyTorch's own figure minigrad's may exceed it.
TARGETS = {
    "resnet18 step, float32": 1.5, "resnet18 step, autocast": 1.5, "mlp step, captured": 1.0,
    "one addition": 3.0, "resnet50 inference, no_grad: peak": 1.25,
    "resnet50 inference, with graph: peak": 1.25,
}


def resnet_step(torch: Any, autocast: bool) -> Callable[[], Any]:
    """Return a training step of ResNet-18 at 64 images of 3x224x224."""
    net = models(torch).resnet18().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x = torch.randn(64, 3, 224, 224).cuda()
    y = (torch.arange(64) % 10).cuda()

    def step() -> Any:
        optimizer.zero_grad()
        if autocast:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.cross_entropy(net(x), y)
        else:
            loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def models(torch: Any) -> Any:
    """Return the package's residual networks, made with either library from one source."""
    return harness.from_package(torch.__name__, "minigrad/nn/models/resnet.py")


def mlp_step(torch: Any) -> tuple[Callable[[], Any], Any]:
    """Return a training step of a small MLP at batch 64."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
                        nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(64, 784).cuda(), (torch.arange(64) % 10).cuda()

    def step() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, net


def captured(torch: Any, step: Callable[[], Any]) -> Callable[[], Any]:
    """Return the step as a captured graph."""
    if torch.__name__ == "minigrad":
        return torch.cuda.graph(step)  # type: ignore[no-any-return]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay  # type: ignore[no-any-return]


def gpt_step(torch: Any, capturable: bool = False) -> Callable[[], Any]:
    """Return a training step of a small GPT: 4 blocks of width 256, 16 sequences of 128."""
    nn = torch.nn
    block = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, activation="gelu",
                                       batch_first=True, norm_first=True)
    body = nn.TransformerEncoder(block, 4, enable_nested_tensor=False).cuda()
    table, head = nn.Embedding(256, 256).cuda(), nn.Linear(256, 256).cuda()
    parameters = [*body.parameters(), *table.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, capturable=capturable)
    tokens = (torch.arange(16 * 129) % 251).view(16, 129).cuda()

    def step() -> Any:
        optimizer.zero_grad()
        logits = head(body(table(tokens[:, :-1])))
        loss = nn.functional.cross_entropy(logits.reshape(-1, 256), tokens[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        return loss

    return step


def optimizer_step(torch: Any) -> Callable[[], Any]:
    """Return a step of AdamW alone, on the parameters of a ResNet-18."""
    parameters = list(models(torch).resnet18().cuda().parameters())
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return torch.optim.AdamW(parameters).step  # type: ignore[no-any-return]


def milliseconds(torch: Any, step: Callable[[], Any], repeats: int) -> float:
    """Return what one of many steps takes, by events of the GPU."""
    for _ in range(3):
        step()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(repeats):
        step()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / repeats


def inference_peak(torch: Any, with_graph: bool) -> float:
    """Return the peak of memory, in MiB, of ResNet-50 on 128 images."""
    net = models(torch).resnet50().cuda().eval()
    x = torch.randn(128, 3, 224, 224).cuda()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    if with_graph:
        out = net(x)
    else:
        with torch.no_grad():
            out = net(x)
    torch.cuda.synchronize()
    del out
    return float(torch.cuda.max_memory_allocated()) / 2**20


CASES: dict[str, Callable[[Any], float]] = {
    "resnet18 step, float32": lambda t: milliseconds(t, resnet_step(t, False), 10),
    "resnet18 step, autocast": lambda t: milliseconds(t, resnet_step(t, True), 10),
    "mlp step": lambda t: milliseconds(t, mlp_step(t)[0], 200),
    "mlp step, captured": lambda t: milliseconds(t, captured(t, mlp_step(t)[0]), 200),
    "gpt step": lambda t: milliseconds(t, gpt_step(t), 20),
    "gpt step, captured": lambda t: milliseconds(t, captured(t, gpt_step(t, True)), 20),
    "adamw step, 62 arrays": lambda t: milliseconds(t, optimizer_step(t), 200),
    "one addition": lambda t: milliseconds(t, addition(t), 2000),
    "resnet50 inference, no_grad: peak": lambda t: inference_peak(t, False),
    "resnet50 inference, with graph: peak": lambda t: inference_peak(t, True),
}


def addition(torch: Any) -> Callable[[], Any]:
    """Return an addition of two numbers that records a node."""
    a = torch.ones(1).cuda().requires_grad_()
    b = torch.ones(1).cuda()
    return lambda: a + b


def work(engine: str) -> None:
    """Answer the parent."""

    def answer(request: dict[str, Any]) -> Any:
        try:
            torch = importlib.import_module(engine)
        except ImportError as error:
            raise Unavailable(f"not installed: {error}") from None
        if not torch.cuda.is_available():
            raise Unavailable("finds no GPU")
        if request["task"] == "hello":
            found = {"version": torch.__version__, "device": torch.cuda.get_device_name(0),
                     "cudnn": str(torch.backends.cudnn.version())}
            if engine == "minigrad":
                found["cupy"] = importlib.import_module("cupy").__version__
            return found
        torch.manual_seed(0)
        return CASES[request["case"]](torch)

    harness.serve(answer)


def measured(case: str, rounds: int, timeout: float) -> dict[str, Any]:
    """Return the medians of a case for each engine, and their ratio, as far as there are any."""
    found: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    wrong: dict[str, str] = {}
    with ExitStack() as stack:
        workers = {engine: stack.enter_context(Worker(__file__, engine, timeout=timeout))
                   for engine in ENGINES}
        for _ in range(rounds):
            for engine in ENGINES:
                if engine in wrong:
                    continue
                try:
                    found[engine].append(
                        workers[engine].ask({"task": "measure", "case": case}))
                except Exception as error:  # the next case is to be measured all the same
                    wrong[engine] = f"{type(error).__name__}: {error}"
    row: dict[str, Any] = {e: statistics.median(found[e]) for e in ENGINES if found[e]}
    row |= {"rounds": found, "target": TARGETS.get(case)} | ({"wrong": wrong} if wrong else {})
    if all(found.values()):
        row["ratio"] = row["minigrad"] / row["torch"]
        row["met"] = None if row["target"] is None else row["ratio"] <= row["target"]
    return row


def told(case: str, row: dict[str, Any]) -> str:
    """Return a line about a case."""
    ours, theirs = (f"{row[e]:10.3f}" if e in row else f"{'-':>10}" for e in ENGINES)
    ratio = f"{row['ratio']:6.2f}" if "ratio" in row else f"{'-':>6}"
    verdict = {True: "  met", False: "  NOT met"}.get(row.get("met"), "")
    reasons = "".join(f"\n    {engine}: {text}" for engine, text in row.get("wrong", {}).items())
    return f"{case:40} {ours} {theirs} {ratio}{verdict}{reasons}"


def main() -> int:
    """Measure and print; exit 1 where there is nothing to measure with."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=240, help="seconds for one measurement")
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    record: dict[str, Any] = {"date": datetime.date.today().isoformat(),
                              "python": platform.python_version(), "versions": {}, "results": {}}

    def write() -> None:
        if options.json:
            options.json.write_text(json.dumps(record, indent=1) + "\n")

    for engine in ENGINES:
        try:
            with Worker(__file__, engine) as worker:
                record["versions"][engine] = worker.ask({"task": "hello"})
        except Unavailable as error:
            record["versions"][engine] = {"unavailable": str(error)}
            print(f"{engine}: {error}")
    write()
    if any("unavailable" in found for found in record["versions"].values()):
        return 1
    for case in options.case or CASES:
        record["results"][case] = row = measured(case, options.rounds, options.timeout)
        print(told(case, row), flush=True)
        write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
