"""What a training step of a small network costs: minigrad, PyTorch, HIPS autograd, MyGrad, NumPy.

    python benchmarks/mlp.py --json benchmarks/results/mlp.json

784-256-128-10 with ReLU, cross entropy and plain gradient descent, batches of 64 and of 1024, on
one thread and on two. See README.md here.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any

from _steps import Engine, Steps

SIZES = (784, 256, 128, 10)
CASES = {"batch 64": 64, "batch 1024": 1024}
RATE = 0.1


def data(case: str) -> tuple[list[Any], list[Any], Any, Any]:
    """Weights (outputs, inputs), biases, a batch and its classes: the same in every library."""
    import numpy  # here because the parent process needs nothing but the standard library

    rng = numpy.random.default_rng(0)
    weights = [(rng.standard_normal((o, i)) * (2 / i) ** 0.5).astype("float32")
               for i, o in pairwise(SIZES)]
    biases = [numpy.zeros(o, "float32") for o in SIZES[1:]]
    batch = CASES[case]
    x = rng.random((batch, SIZES[0])).astype("float32")
    return weights, biases, x, rng.integers(0, SIZES[-1], batch)


class TorchLike:
    """PyTorch and minigrad: modules and an optimiser."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        torch = importlib.import_module(module)
        torch.set_num_threads(threads)
        weights, biases, x, y = data(case)
        nn = torch.nn
        layers = [nn.Linear(i, o) for i, o in pairwise(SIZES)]
        with torch.no_grad():
            for layer, w, b in zip(layers, weights, biases, strict=True):
                layer.weight.copy_(torch.tensor(w))
                layer.bias.copy_(torch.tensor(b))
        self.net = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=RATE)
        self.x, self.y = torch.tensor(x), torch.tensor(y)
        self.last: Any = None

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.last = self.loss(self.net(self.x), self.y)
        self.last.backward()
        self.optimizer.step()

    def results(self) -> dict[str, float]:
        losses = {}
        for number in range(3):
            self.step()
            losses[f"loss of step {number}"] = float(self.last.item())
        return losses


class Traced:
    """HIPS autograd, which differentiates a function of arrays."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        np = importlib.import_module("autograd.numpy")
        autograd = importlib.import_module(module)
        self.weights, self.biases, x, y = data(case)
        rows = range(len(y))

        def loss(parameters: Any) -> Any:
            weights, biases = parameters
            h = x
            for place, (w, b) in enumerate(zip(weights, biases, strict=True)):
                h = np.dot(h, w.T) + b
                if place < 2:
                    h = np.maximum(h, 0)
            h = h - np.max(h, axis=1, keepdims=True)
            logs = h - np.log(np.sum(np.exp(h), axis=1, keepdims=True))
            return -np.mean(logs[rows, y])

        self.value_and_grad = autograd.value_and_grad(loss)
        self.last = 0.0

    def step(self) -> None:
        self.last, (weights, biases) = self.value_and_grad((self.weights, self.biases))
        for value, slope in zip(self.weights + self.biases, weights + biases, strict=True):
            value -= RATE * slope

    results = TorchLike.results


class MyGrad:
    """MyGrad, whose tensors wrap arrays."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.mygrad = mygrad = importlib.import_module(module)
        self.losses = importlib.import_module("mygrad.nnet.losses")
        self.activations = importlib.import_module("mygrad.nnet.activations")
        weights, biases, self.x, self.y = data(case)
        self.weights = [mygrad.tensor(w) for w in weights]
        self.biases = [mygrad.tensor(b) for b in biases]
        self.last: Any = None

    def step(self) -> None:
        h = self.x
        for place, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            h = self.mygrad.matmul(h, w.T) + b
            if place < 2:
                h = self.activations.relu(h)
        self.last = self.losses.softmax_crossentropy(h, self.y)
        self.last.backward()
        for value in self.weights + self.biases:
            slope = value.grad
            value.null_grad()
            value.data -= RATE * slope

    results = TorchLike.results


class ByHand:
    """The same step in NumPy, written out: no tape, no graph."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.np = importlib.import_module(module)
        self.weights, self.biases, self.x, self.y = data(case)
        self.rows = self.np.arange(len(self.y))
        self.last = self.np.float32(0)

    def step(self) -> None:
        np, inputs, h = self.np, [], self.x
        for place, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            inputs.append(h)
            h = h @ w.T
            h += b
            if place < 2:
                np.maximum(h, 0, out=h)
        h -= h.max(1, keepdims=True)
        chances = np.exp(h)
        total = chances.sum(1, keepdims=True)
        self.last = np.mean(np.log(total[:, 0]) - h[self.rows, self.y])
        g = chances / total
        g[self.rows, self.y] -= 1
        g /= np.float32(len(self.y))
        for place in (2, 1, 0):
            h, w, b = inputs[place], self.weights[place], self.biases[place]
            slope, shift = g.T @ h, g.sum(0)
            if place:
                g = g @ w
                g *= h > 0
            slope *= np.float32(RATE)
            w -= slope
            b -= np.float32(RATE) * shift

    results = TorchLike.results


BENCHMARK = Steps(
    script=__file__,
    engines={
        "minigrad": Engine("minigrad", "minigrad", "minigrad-course", TorchLike),
        "pytorch": Engine("PyTorch", "torch", "torch", TorchLike, uses_openblas=False),
        "by_hand": Engine("NumPy by hand", "numpy", "numpy", ByHand),
        "hips": Engine("HIPS autograd", "autograd", "autograd", Traced),
        "mygrad": Engine("MyGrad", "mygrad", "mygrad", MyGrad),
    },
    cases=list(CASES),
    targets={("batch 64", 1): 1.0, ("batch 1024", 1): 1.0,
             ("batch 64", 2): 1.0, ("batch 1024", 2): 1.05},
    by_hand="by_hand",
)

if __name__ == "__main__":
    BENCHMARK.main(__doc__)
