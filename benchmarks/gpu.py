"""The GPU beside PyTorch on the same GPU: ResNets, an MLP, a small GPT, and one op alone.

    python benchmarks/gpu.py --json benchmarks/results/gpu.json

Each library runs in a process of its own, in turns; times are taken with CUDA events around many
steps and are medians over rounds.  It needs CuPy, PyTorch with CUDA, and a GPU.
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
    net = model(torch, "resnet18").cuda()
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


def model(torch: Any, name: str) -> Any:
    """Return a network of minigrad's models, built with either library's modules."""
    if torch.__name__ == "minigrad":
        return getattr(importlib.import_module("minigrad.nn.models"), name)()
    try:
        return getattr(importlib.import_module("torchvision.models"), name)()
    except ImportError:
        raise Unavailable("PyTorch's ResNets are torchvision's, which is not installed") from None


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
    parameters = list(model(torch, "resnet18").cuda().parameters())
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
    net = model(torch, "resnet50").cuda().eval()
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


def measured(case: str, rounds: int) -> dict[str, Any]:
    """Return the medians of a case for each engine, and their ratio; or why there is none."""
    found: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    try:
        for _ in range(rounds):
            for engine in ENGINES:
                with Worker(__file__, engine, timeout=600) as worker:
                    found[engine].append(worker.ask({"task": "measure", "case": case}))
    except Unavailable as error:
        return {"unavailable": str(error)}
    ours, theirs = (statistics.median(found[engine]) for engine in ENGINES)
    target = TARGETS.get(case)
    return {"minigrad": ours, "torch": theirs, "ratio": ours / theirs, "target": target,
            "met": None if target is None else ours <= target * theirs, "rounds": found}


def main() -> int:
    """Measure and print; exit 1 where there is nothing to measure with."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    versions = {}
    for engine in ENGINES:
        try:
            with Worker(__file__, engine) as worker:
                versions[engine] = worker.ask({"task": "hello"})
        except Unavailable as error:
            print(f"{engine}: {error}")
            return 1
    results = {}
    for case in options.case or CASES:
        results[case] = row = measured(case, options.rounds)
        if "unavailable" in row:
            print(f"{case:40} {row['unavailable']}")
            continue
        verdict = "" if row["met"] is None else ("  met" if row["met"] else "  NOT met")
        ours, theirs, ratio = row["minigrad"], row["torch"], row["ratio"]
        print(f"{case:40} {ours:10.3f} {theirs:10.3f} {ratio:6.2f}{verdict}")
    if options.json:
        record = {"date": datetime.date.today().isoformat(), "python": platform.python_version(),
                  "versions": versions, "results": results}
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
