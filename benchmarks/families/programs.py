"""What surrounds a network: optimizers, data, random numbers, initial weights, whole processes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import pairwise
from typing import Any

from .case import Case, Step

__all__ = ["data_loading", "initial_weights", "optimizers", "process", "processes",
           "random_numbers"]


def optimizers(draw: random.Random) -> Case:
    """A step of an optimizer with many small parameters, or with some large ones."""
    name = draw.choice(["SGD", "SGD with momentum", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
    count, size = draw.choice([(10, 16), (100, 64), (200, 1000), (300, 10), (4, 250_000)])

    def build(torch: Any) -> Step:
        parameters = [torch.nn.Parameter(torch.randn(size)) for _ in range(count)]
        for each in parameters:
            each.grad = torch.randn(size)
        options = {"momentum": 0.9} if "momentum" in name else {}
        optimizer = getattr(torch.optim, name.partition(" ")[0])(parameters, lr=1e-3, **options)

        def step() -> Any:
            optimizer.step()
            return parameters[0]

        return step

    return Case(f"{name}, {count} parameters of {size}", build)


def data_loading(draw: random.Random) -> Case:
    """Read all batches of a data set."""
    samples, batch = draw.choice([(200, 10), (1000, 32), (2000, 100)])
    shape = draw.choice([(4,), (100,), (1, 28, 28), (3, 32, 32)])
    kind, shuffle = draw.choice(["tensors", "own class", "subset"]), draw.random() < 0.5

    def build(torch: Any) -> Step:
        data = torch.utils.data
        x, y = torch.randn(samples, *shape), torch.arange(samples)

        class Own(data.Dataset):  # type: ignore[misc, name-defined]
            def __len__(self) -> int:
                return samples

            def __getitem__(self, index: int) -> Any:
                return x[index], int(index)

        found = Own() if kind == "own class" else data.TensorDataset(x, y)
        if kind == "subset":
            found = data.Subset(found, range(0, samples, 2))
        loader = data.DataLoader(found, batch_size=batch, shuffle=shuffle)
        return lambda: sum(len(x) * (i + 1) for i, (x, _) in enumerate(loader))

    return Case(f"{kind}, {samples} of {'x'.join(map(str, shape))} by {batch}, shuffle {shuffle}",
                build)


#: Random numbers of each distribution: from the library, and the shape.
_NUMBERS = {
    "randn": lambda t, shape: t.randn(shape), "rand": lambda t, shape: t.rand(shape),
    "randint": lambda t, shape: t.randint(10, shape),
    "randperm": lambda t, shape: t.randperm(shape[0] * shape[-1]),
    "bernoulli": lambda t, shape: t.full(shape, 0.3).bernoulli(),
    "normal_": lambda t, shape: t.empty(shape).normal_(1, 2),
    "uniform_": lambda t, shape: t.empty(shape).uniform_(-1, 1),
    "exponential_": lambda t, shape: t.empty(shape).exponential_(),
    "geometric_": lambda t, shape: t.empty(shape).geometric_(0.3),
    "log_normal_": lambda t, shape: t.empty(shape).log_normal_(),
    "cauchy_": lambda t, shape: t.empty(shape).cauchy_(),
    "poisson": lambda t, shape: t.poisson(t.full(shape, 4.0)),
    "gamma": lambda t, shape: t.distributions.Gamma(2.0, 1.0).sample(shape),
    "beta": lambda t, shape: t.distributions.Beta(2.0, 3.0).sample(shape),
    "categorical": lambda t, shape: t.distributions.Categorical(t.ones(7)).sample(shape),
    "multinomial, one at a time": lambda t, shape: sum(
        t.multinomial(t.ones(65), 1) for _ in range(50)),
    "dropout": lambda t, shape: t.nn.functional.dropout(t.ones(shape), 0.1),
}

#: What takes a varying number of draws, so a million numbers would take too long to measure.
_ONE_BY_ONE = ("randperm", "poisson", "gamma", "beta")


def random_numbers(draw: random.Random) -> Case:
    """Random numbers of a distribution, few or many."""
    name = draw.choice(list(_NUMBERS))
    shapes = [(10,), (50, 20), (200, 500), (1000, 1000)]
    shape = draw.choice(shapes[:3] if name in _ONE_BY_ONE else shapes)

    def build(torch: Any) -> Step:
        def step() -> Any:
            torch.manual_seed(5)
            return _NUMBERS[name](torch, shape)

        return step

    size = "" if "one at a time" in name else f" {'x'.join(map(str, shape))}"
    return Case(f"{name}{size}", build)


def initial_weights(draw: random.Random) -> Case:
    """Make the layers of a network with their random weights."""
    kind = draw.choice(["Linear", "Conv2d", "LSTM", "Embedding", "kaiming_normal_",
                        "xavier_uniform_", "orthogonal_", "trunc_normal_"])
    widths = draw.choice([[10, 32, 10], [64, 128, 256, 256], [784, 500, 200, 10],
                          [512, 1024, 512]])

    def build(torch: Any) -> Step:
        nn = torch.nn

        def weight(before: int, after: int) -> Any:
            if kind.endswith("_"):
                return getattr(nn.init, kind)(torch.empty(after, before))
            if kind == "Conv2d":
                return nn.Conv2d(before, after, 3).weight
            if kind == "LSTM":
                return nn.LSTM(before, after).weight_hh_l0
            return getattr(nn, kind)(before, after).weight

        def step() -> Any:
            torch.manual_seed(5)
            return [weight(*pair) for pair in pairwise(widths)][-1]

        return step

    return Case(f"{kind}, {'-'.join(map(str, widths))}", build)


#: What a whole process does after it has imported the library as `torch`.
_PROGRAMS = {
    "import": "print(1.0)",
    "first backward": "x = torch.ones(3, requires_grad=True); (x + x).sum().backward(); "
                      "print(float(x.grad.sum()))",
    "first layer": "net = torch.nn.Linear(3, 2); net(torch.ones(1, 3)).sum().backward(); "
                   "print(float(net.bias.grad.sum()))",
    "first step": "net = torch.nn.Linear(3, 2); o = torch.optim.Adam(net.parameters()); "
                  "net(torch.ones(1, 3)).sum().backward(); o.step(); "
                  "print(float(net.bias.grad.sum()))",
    "first convolution": "c = torch.nn.Conv2d(1, 2, 3); c(torch.ones(1, 1, 5, 5)).sum().backward();"
                         " print(float(c.bias.grad.sum()))",
    "first jacobian": "print(float(torch.func.jacrev(torch.sin)(torch.zeros(2)).sum()))",
}


def process(program: str) -> bytes:
    """Run a program in a process that keeps compiled modules, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.check_output([sys.executable, "-c", program], env=kept)


def processes(draw: random.Random) -> Case:
    """Start Python, import the library and do one thing."""
    name = draw.choice(list(_PROGRAMS))
    return Case(name, lambda torch: lambda: float(
        process(f"import {torch.__name__} as torch; {_PROGRAMS[name]}")))
