"""A map of kernels: single operations, forward and backward, minigrad and PyTorch in turns.

    python benchmarks/kernels.py                       # all, 10^6 float32 numbers, two minutes
    python benchmarks/kernels.py --seed 7 --cases 100  # cases of other sizes, dtypes, layouts
    python benchmarks/kernels.py --only relu,topk --json benchmarks/results/kernels-DATE.json

Each library runs in a separate process on one thread.  A ratio of processor times is the median
over rounds of the quotient within a round; results are compared before anything is timed.  See
README.md here.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _command as command
import _pairs as pairs
from _harness import machine, now, serve, write_json
from _pairs import check, fastest, pair, settle

Kernel = Callable[..., Any]


def functional(name: str, *args: Any, **kwargs: Any) -> Kernel:
    return lambda t, x: getattr(t.nn.functional, name)(x, *args, **kwargs)


def method(name: str, *args: Any, **kwargs: Any) -> Kernel:
    return lambda t, x: getattr(x, name)(*args, **kwargs)


def image(t: Any, x: Any, channels: int, side: int) -> Any:
    """Return the numbers as images with so many channels, of side by side."""
    return x.reshape(-1)[:x.numel() // (channels * side**2) * channels * side**2].reshape(
        -1, channels, side, side)


#: Functions of one matrix.
ONE: dict[str, Kernel] = {
    **{name: functional(name) for name in (
        "relu", "elu", "gelu", "silu", "softplus", "logsigmoid", "hardswish", "mish", "selu")},
    "leaky_relu": functional("leaky_relu", 0.1),
    **{name: method(name) for name in (
        "abs", "cos", "exp", "erf", "lgamma", "neg", "sigmoid", "sin", "tanh", "sum", "mean", "var",
        "max", "norm")},
    "log": lambda t, x: (x.abs() + 0.5).log(), "sqrt": lambda t, x: (x.abs() + 0.5).sqrt(),
    "square": lambda t, x: x**2, "power 1.5": lambda t, x: (x.abs() + 0.5)**1.5,
    "clamp": method("clamp", -0.5, 0.5), "add a number": lambda t, x: x + 1.5,
    "sum(0)": method("sum", 0), "sum(1)": method("sum", 1), "mean(1)": method("mean", 1),
    "var(1)": method("var", 1), "amax(1)": method("amax", 1), "argmax(1)": method("argmax", 1),
    "norm(1)": lambda t, x: x.norm(dim=1), "prod(1)": lambda t, x: (1 + x / 1e3).prod(1),
    "cumsum": method("cumsum", 1), "logsumexp": method("logsumexp", 1),
    "softmax": method("softmax", 1), "log_softmax": method("log_softmax", 1),
    "sort": lambda t, x: x.sort(1)[0], "topk": lambda t, x: x.topk(min(5, x.shape[1]), 1)[0],
    "median": lambda t, x: x.median(1)[0],
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, x.shape[1:]),
    "group_norm": lambda t, x: t.nn.functional.group_norm(image(t, x, 8, 4), 4),
    "batch_norm": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    "transpose": lambda t, x: x.t().contiguous(), "flip": method("flip", 1),
    "roll": method("roll", 3, 1), "pad": functional("pad", (1, 1, 2, 2)),
    "tril": method("tril"), "diff": method("diff"),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(image(t, x, 4, 8), 2),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(image(t, x, 4, 8), 2),
    "interpolate": lambda t, x: t.nn.functional.interpolate(image(t, x, 4, 8), scale_factor=2),
    "every second row": lambda t, x: x[::2] * 2, "dropout": functional("dropout", 0.1),
}
#: Functions of two matrices of the same shape.
TWO: dict[str, Kernel] = {
    "add": lambda t, x, y: x + y, "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / (y.abs() + 1), "maximum": lambda t, x, y: t.maximum(x, y),
    "where": lambda t, x, y: t.where(y > 0, x, y), "atan2": lambda t, x, y: t.atan2(x, y),
    "add a row": lambda t, x, y: x + y[0], "multiply by a column": lambda t, x, y: x * y[:, :1],
    "cat": lambda t, x, y: t.cat([x, y], 1), "stack": lambda t, x, y: t.stack([x, y]),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y),
    "smooth_l1_loss": lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y),
    "binary_cross_entropy_with_logits": lambda t, x, y:
        t.nn.functional.binary_cross_entropy_with_logits(x, y.detach().sigmoid()),
    "cross_entropy": lambda t, x, y: t.nn.functional.cross_entropy(x, y.detach().argmax(1)),
    "masked_fill": lambda t, x, y: x.masked_fill(y > 0, 0.5), "mask": lambda t, x, y: x[y > 0],
    "gather": lambda t, x, y: x.gather(1, y.detach().argsort(1)),
    "take rows": lambda t, x, y: x[y.detach()[:, 0].argsort()],
    "matmul": lambda t, x, y: x @ y.t(), "lerp": lambda t, x, y: t.lerp(x, y, 0.3),
    "addcmul": lambda t, x, y: t.addcmul(x, x, y, value=0.5),
    "conv2d": lambda t, x, y: t.nn.functional.conv2d(
        image(t, x, 8, 8), y.reshape(-1)[:8 * 8 * 9].reshape(8, 8, 3, 3), padding=1),
    "conv1d": lambda t, x, y: t.nn.functional.conv1d(
        image(t, x, 8, 8).flatten(2), y.reshape(-1)[:8 * 8 * 3].reshape(8, 8, 3)),
}
KERNELS = ONE | TWO
LAYOUTS = ("contiguous", "transposed", "every second column")
DTYPES = ("float32", "float64")
SHAPES = ((32, 32), (100, 1000), (1000, 100), (1000, 1000), (20000, 50), (64, 4096), (3000, 1500))
#: The map itself.
PLAIN = {"shape": (1000, 1000), "dtype": "float32", "layout": "contiguous"}
DRAWN = ("dropout",)  # results are not compared


def random_cases(seed: int, count: int) -> list[dict[str, Any]]:
    """Return cases with kernel, shape, dtype and layout drawn from a seed."""
    draw = random.Random(seed)
    names = list(KERNELS)
    return [{"kernel": draw.choice(names), "shape": draw.choice(SHAPES),
             "dtype": draw.choice(DTYPES), "layout": draw.choice(LAYOUTS)} for _ in range(count)]


class Engine:
    """The worker's side: one library."""

    def __init__(self, name: str) -> None:
        self.torch = importlib.import_module(name)
        self.torch.set_num_threads(1)
        self.case: Any = None

    def inputs(self, shape: Sequence[int], dtype: str, layout: str, count: int) -> list[Any]:
        """Return leaves in a layout, the same numbers in every library."""
        t, (rows, columns) = self.torch, shape
        t.manual_seed(0)
        found = []
        for _ in range(count):
            size = {"contiguous": (rows, columns), "transposed": (columns, rows),
                    "every second column": (rows, 2 * columns)}[layout]
            x = t.randn(*size, dtype=getattr(t, dtype))
            found.append({"contiguous": x, "transposed": x.t(),
                          "every second column": x[:, ::2]}[layout].requires_grad_())
        return found

    def answer(self, request: dict[str, Any]) -> Any:
        if request["task"] == "prepare":
            name = request["kernel"]
            self.leaves = self.inputs(request["shape"], request["dtype"], request["layout"],
                                      1 + (name in TWO))
            self.function = KERNELS[name]
            value = self.function(self.torch, *self.leaves)
            total = [float(value.sum())]
            self.weights = self.torch.ones_like(value)
            if value.requires_grad:
                total += [float(g.sum()) for g in self.gradients() if g is not None]
            self.has_gradient = value.requires_grad
            settle()
            return total
        return fastest(self.forward if request["task"] == "forward" else self.both)

    def gradients(self) -> Any:
        value = self.function(self.torch, *self.leaves)
        return self.torch.autograd.grad(value, self.leaves, self.weights, allow_unused=True)

    def forward(self) -> None:
        with self.torch.no_grad():
            self.function(self.torch, *self.leaves)

    def both(self) -> None:
        if self.has_gradient:
            self.gradients()
        else:
            self.forward()


def measure(cases: list[dict[str, Any]], rounds: int) -> list[dict[str, Any]]:
    """Return the cases with times and ratios."""
    ours, theirs = workers = pair(__file__)
    with ours, theirs:
        found = []
        for case in cases:
            results = [each.ask({"task": "prepare", **case}) for each in workers]
            if case["kernel"] not in DRAWN:
                check(str(case), results, math.prod(case["shape"]))
            found.append(case | {task: pairs.measure(workers, {"task": task}, rounds)
                                 for task in ("forward", "both")})
    return found


def mean_ratio(rows: list[dict[str, Any]], task: str) -> float:
    return statistics.geometric_mean(row[task]["ratio"] for row in rows)


def targets_of(rows: list[dict[str, Any]]) -> list[Any]:
    """Return the verdict on each target."""
    worst = max(row[task]["ratio"] for row in rows for task in ("forward", "both"))
    return [command.verdict("map of operations, geometric mean forward", 0.9,
                            mean_ratio(rows, "forward")),
            command.verdict("map of operations, geometric mean forward and backward", 0.9,
                            mean_ratio(rows, "both")),
            command.verdict("map of operations, largest ratio", 2, worst)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--only", help="kernels, separated by commas")
    parser.add_argument("--seed", type=int, help="draw other cases from this seed")
    parser.add_argument("--cases", type=int, default=60, help="how many to draw (60)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds for each case (7)")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    options = parser.parse_args()
    if options.worker:
        serve(Engine(options.worker).answer)
        return
    if options.seed is not None:
        cases = random_cases(options.seed, options.cases)
    else:
        cases = [{"kernel": name, **PLAIN} for name in KERNELS]
    if options.only:
        wanted = options.only.split(",")
        if unknown := sorted(set(wanted) - set(KERNELS)):
            parser.error(f"--only: there is no kernel {', '.join(unknown)}")
        cases = [case for case in cases if case["kernel"] in wanted]
    rows = measure(cases, options.rounds)
    rows.sort(key=lambda row: -max(row["forward"]["ratio"], row["both"]["ratio"]))
    for row in rows:
        where = "" if options.seed is None else (
            f"{row['dtype']} {'x'.join(map(str, row['shape']))} {row['layout']}")
        print(f"{row['kernel']:34} {row['forward']['ratio']:7.2f} {row['both']['ratio']:7.2f}"
              f"  {row['both']['minigrad'] * 1e3:9.3f} ms  {where}")
    print(f"{len(rows)} cases, geometric mean: forward {mean_ratio(rows, 'forward'):.2f}, "
          f"forward and backward {mean_ratio(rows, 'both'):.2f}")
    if options.json:
        write_json(options.json, {"date": now(), "machine": machine(), "seed": options.seed,
                                  "rounds": options.rounds, "cases": rows,
                                  "targets": targets_of(rows)})


if __name__ == "__main__":
    main()
