"""What programs do beside the layers that everybody measures: minigrad and PyTorch in turns.

    python benchmarks/everyday.py --threads 1 --repeats 5 --json benchmarks/results/everyday.json

Single elements, unusual convolutions, an LSTM, one draw at a time, derivatives by `vmap`, random
initial weights, a whole process. See README.md here.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from _steps import Engine, Steps

Step = Callable[[], Any]


def single_elements(torch: Any) -> Step:
    """Count in a table, one element at a time."""
    counts = torch.zeros(8, 8)

    def step() -> Any:
        counts.zero_()
        for k in range(100):
            counts[k % 8, 3 * k % 8] += 1
        return counts[0, 0] + counts[7, 5]

    return step


def depthwise_convolution(torch: Any) -> Step:
    """128 channels of 28 x 28, each with a kernel of its own: forward and backward."""
    x = torch.randn(1, 128, 28, 28, requires_grad=True)
    weight = torch.randn(128, 1, 3, 3, requires_grad=True)
    return differentiated(torch, lambda: torch.nn.functional.conv2d(
        x, weight, padding=1, groups=128).pow(2).sum(), x, weight)


def transposed_convolution(torch: Any) -> Step:
    """8 samples, 64 to 32 channels, 16 x 16 to 31 x 31: forward and backward."""
    x = torch.randn(8, 64, 16, 16, requires_grad=True)
    weight = torch.randn(64, 32, 3, 3, requires_grad=True)
    return differentiated(torch, lambda: torch.nn.functional.conv_transpose2d(
        x, weight, stride=2, padding=1).pow(2).sum(), x, weight)


def lstm(torch: Any) -> Step:
    """50 steps of 16 sequences, 64 inputs, a state of 128: forward and backward."""
    net, x = torch.nn.LSTM(64, 128), torch.randn(50, 16, 64)
    return differentiated(torch, lambda: net(x)[0].pow(2).sum(), *net.parameters())


def differentiated(torch: Any, loss: Step, *inputs: Any) -> Step:
    """Return a step that computes the gradients of a loss, and returns the first one's sum."""
    return lambda: torch.autograd.grad(loss(), inputs)[0].sum()


def multinomial(torch: Any) -> Step:
    """Draw one of 65, 50 times, as a model that writes letters does."""
    weights = torch.rand(65).softmax(0)
    return lambda: sum(torch.multinomial(weights, 1) for _ in range(50))


def gradients_of_samples(torch: Any) -> Step:
    """The gradient of each of 64 samples, by `vmap` of `grad`."""
    net, x, y = small_network(torch, 1), torch.randn(64, 20), torch.randn(64, 1)

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.mse_loss(torch.func.functional_call(net, parameters, (x,)), y)

    each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
    parameters = dict(net.named_parameters())
    return lambda: each(parameters, x, y)["0.weight"].pow(2).sum()


def jacobians_of_samples(torch: Any) -> Step:
    """The jacobian, 10 by 20, of each of 64 samples, by `vmap` of `jacrev`."""
    net, x = small_network(torch, 10), torch.randn(64, 20)
    each = torch.func.vmap(torch.func.jacrev(lambda x: net(x)))
    return lambda: each(x).pow(2).sum()


def small_network(torch: Any, outputs: int) -> Any:
    """20 inputs, 32 hidden units."""
    nn = torch.nn
    return nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, outputs))


def tangent_kernel(torch: Any) -> Step:
    """The neural tangent kernel of 6 and 4 images, by products of jacobians in two `vmap`s."""
    nn, func = torch.nn, torch.func
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(),
                        nn.Flatten(), nn.Linear(8 * 12 * 12, 10))
    parameters = {name: each.detach() for name, each in net.named_parameters()}
    first, second, units = torch.randn(6, 3, 16, 16), torch.randn(4, 3, 16, 16), torch.eye(10)

    def network(parameters: Any, x: Any) -> Any:
        return func.functional_call(net, parameters, (x.unsqueeze(0),)).squeeze(0)

    def entry(x: Any, y: Any) -> Any:
        _, pull = func.vjp(lambda p: network(p, x), parameters)
        return func.vmap(lambda unit: func.jvp(
            lambda p: network(p, y), (parameters,), pull(unit))[1])(units)

    kernel = func.vmap(func.vmap(entry, (None, 0)), (0, None))
    return lambda: kernel(first, second).pow(2).mean()


def random_weights(torch: Any) -> Step:
    """Make the layers of a small VGG: 9 million random numbers."""
    widths = [3, 64, 128, 256, 256, 512, 512, 512]

    def step() -> Any:
        layers = [torch.nn.Conv2d(i, o, 3) for i, o in pairwise(widths)]
        return layers[0].weight.pow(2).sum() + torch.nn.Linear(512, 2048).weight.pow(2).sum()

    return step


def small_hvp(torch: Any) -> Step:
    """The hessian of a function of 100 inputs times a vector."""
    x, v = torch.randn(100), torch.randn(100)
    return lambda: torch.autograd.functional.hvp(
        lambda x: (x.exp() * x.sin()).sum(), x, v)[1].sum()


def first_backward(torch: Any) -> Step:
    """Start Python, import the library and run one backward."""
    program = (f"import {torch.__name__} as torch; x = torch.ones(3, requires_grad=True); "
               "(x + x).sum().backward(); print(float(x.grad.sum()))")
    return lambda: float(process(program))


def process(program: str) -> bytes:
    """Run a program in a process that keeps compiled modules, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.check_output([sys.executable, "-c", program], env=kept)


#: What is measured, and the ratio to PyTorch on one thread that is aimed at.
CASES: dict[str, tuple[Callable[[Any], Step], float]] = {
    "single elements": (single_elements, 1.5),
    "depthwise convolution": (depthwise_convolution, 1.5),
    "transposed convolution": (transposed_convolution, 1.2),
    "LSTM 50x16": (lstm, 1.2),
    "multinomial": (multinomial, 1.0),
    "gradients of samples": (gradients_of_samples, 1.1),
    "jacobians of samples": (jacobians_of_samples, 1.1),
    "tangent kernel": (tangent_kernel, 1.5),
    "random weights": (random_weights, 1.0),
    "small hvp": (small_hvp, 1.1),
    "import and first backward": (first_backward, 0.2),
}


class TorchLike:
    """PyTorch and minigrad."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.torch = importlib.import_module(module)
        self.torch.set_num_threads(threads)
        self.torch.manual_seed(0)
        self.step = CASES[case][0](self.torch)

    def results(self) -> dict[str, float]:
        self.torch.manual_seed(1)
        return {"result": float(self.step())}


BENCHMARK = Steps(
    script=__file__,
    engines={
        "minigrad": Engine("minigrad", "minigrad", "minigrad-course", TorchLike),
        "pytorch": Engine("PyTorch", "torch", "torch", TorchLike, uses_openblas=False),
    },
    cases=list(CASES),
    targets={(case, 1): aim for case, (_, aim) in CASES.items()},
    tolerance=1e-3,
)

if __name__ == "__main__":
    BENCHMARK.main(__doc__)
