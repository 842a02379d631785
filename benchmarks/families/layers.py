"""Layers of networks, forward and backward, as functions and as modules."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from .case import Case, Step, gradients

__all__ = ["convolution", "depthwise_convolution", "losses", "normalization_and_pooling",
           "recurrent", "small_networks", "small_products", "transposed_convolution"]


def _of_layer(title: str, make: Any, shape: tuple[int, ...], dtype: str = "float32") -> Case:
    """Return a case that differentiates a layer of a batch by its parameters and the batch."""
    def build(torch: Any) -> Step:
        layer = make(torch).to(getattr(torch, dtype))
        x = torch.randn(shape, dtype=getattr(torch, dtype), requires_grad=True)

        def forward() -> Any:
            y = layer(x)
            return y[0] if isinstance(y, tuple) else y

        return gradients(torch, forward, [x, *layer.parameters()])

    return Case(f"{title}, {dtype}, batch {'x'.join(map(str, shape))}", build)


def convolution(draw: random.Random) -> Case:
    """A convolution in one to three dimensions, with few channels or many."""
    n = draw.choice([1, 2, 2, 2, 3])
    inputs, outputs = draw.choice([1, 3, 8, 16, 64]), draw.choice([4, 8, 16, 32, 64])
    kernel, stride = draw.choice([1, 3, 3, 5]), draw.choice([1, 1, 2])
    bias, groups = draw.random() < 0.5, draw.choice([1, 1, 1, 4])
    groups = groups if inputs % groups == 0 else 1
    size = draw.choice({1: [50, 400], 2: [8, 14, 28, 56], 3: [6, 10]}[n])
    options = {"stride": stride, "bias": bias, "groups": groups,
               "padding": draw.choice([0, kernel // 2])}
    return _of_layer(
        f"Conv{n}d({inputs}, {outputs}, {kernel}, stride {stride}, groups {groups}, bias {bias})",
        lambda torch: getattr(torch.nn, f"Conv{n}d")(inputs, outputs, kernel, **options),
        (draw.choice([1, 4, 16]), inputs, *[size] * n), draw.choice(["float32"] * 3 + ["float64"]))


def depthwise_convolution(draw: random.Random) -> Case:
    """A kernel, or two, for each channel."""
    channels, size = draw.choice([(16, 32), (32, 56), (64, 28), (128, 28), (256, 14), (512, 7)])
    several, kernel, stride = draw.choice([1, 1, 2]), draw.choice([3, 3, 5]), draw.choice([1, 2])
    bias = draw.random() < 0.5
    return _of_layer(
        f"depthwise Conv2d({channels}, {several * channels}, {kernel}, stride {stride}, "
        f"bias {bias})",
        lambda torch: torch.nn.Conv2d(channels, several * channels, kernel, stride, kernel // 2,
                                      groups=channels, bias=bias),
        (draw.choice([1, 2, 4, 8]), channels, size, size))


def transposed_convolution(draw: random.Random) -> Case:
    """A transposed convolution, as decoders have them."""
    inputs, outputs = draw.choice([(64, 32), (32, 16), (128, 64), (16, 3), (100, 64)])
    kernel, stride, padding = draw.choice([(4, 2, 1), (3, 2, 1), (2, 2, 0), (3, 1, 1), (5, 3, 0)])
    size, bias = draw.choice([4, 8, 14, 16]), draw.random() < 0.5
    return _of_layer(
        f"ConvTranspose2d({inputs}, {outputs}, {kernel}, stride {stride}, bias {bias})",
        lambda torch: torch.nn.ConvTranspose2d(inputs, outputs, kernel, stride, padding,
                                               bias=bias),
        (draw.choice([1, 8, 16]), inputs, size, size))


def normalization_and_pooling(draw: random.Random) -> Case:
    """Normalizations and poolings, in training."""
    channels, size = draw.choice([(16, 28), (32, 14), (64, 56), (128, 14), (8, 8)])
    batch = draw.choice([2, 8, 32])
    windows = draw.choice([(2, 2, 0), (3, 2, 1), (3, 1, 1)])
    name = draw.choice(["BatchNorm2d", "BatchNorm1d", "LayerNorm", "GroupNorm", "InstanceNorm2d",
                        "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d"])
    arguments = {"LayerNorm": (size,), "GroupNorm": (4, channels), "MaxPool2d": windows,
                 "AvgPool2d": windows, "AdaptiveAvgPool2d": (4,)}.get(name, (channels,))
    shape = (batch, channels, size) if name == "BatchNorm1d" else (batch, channels, size, size)
    return _of_layer(f"{name}{arguments}" if len(arguments) > 1 else f"{name}({arguments[0]})",
                     lambda torch: getattr(torch.nn, name)(*arguments), shape)


def recurrent(draw: random.Random) -> Case:
    """LSTM, GRU and plain recurrent layers."""
    name, layers = draw.choice(["LSTM", "GRU", "RNN"]), draw.choice([1, 1, 2])
    inputs, hidden = draw.choice([(8, 16), (32, 64), (64, 128), (100, 256)])
    steps, batch = draw.choice([5, 20, 50]), draw.choice([1, 16, 32])
    both = draw.random() < 0.25
    return _of_layer(
        f"{name}({inputs}, {hidden}, layers {layers}, bidirectional {both})",
        lambda torch: getattr(torch.nn, name)(inputs, hidden, layers, bidirectional=both),
        (steps, batch, inputs))


def small_networks(draw: random.Random) -> Case:
    """A whole step of a small network: loss, `backward`, `zero_grad`, and a step of SGD."""
    sizes = [draw.choice([2, 4, 20]), *[draw.choice([8, 16, 32, 64])] * draw.randint(1, 3), 1]
    name, batch = draw.choice(["Tanh", "ReLU", "Sigmoid", "GELU", "SiLU"]), draw.choice([4, 16, 64])

    def build(torch: Any) -> Step:
        layers = []
        for before, after in pairwise(sizes):
            layers += [torch.nn.Linear(before, after), getattr(torch.nn, name)()]
        net = torch.nn.Sequential(*layers[:-1])
        optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
        x, y = torch.randn(batch, sizes[0]), torch.randn(batch, 1)
        criterion = torch.nn.MSELoss()

        def step() -> Any:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    return Case(f"{'-'.join(map(str, sizes))}, {name}, batch {batch}", build)


def small_products(draw: random.Random) -> Case:
    """Small matrix products in a loop: an ODE solver's steps, or cells of a recurrent network."""
    size, batch, steps = draw.choice([2, 8, 32, 64]), draw.choice([1, 8, 32]), draw.choice([10, 40])
    work = draw.choice(["Euler", "Runge-Kutta", "RNNCell", "LSTMCell"])

    def build(torch: Any) -> Step:
        start = torch.randn(batch, size)
        if work.endswith("Cell"):
            cell = getattr(torch.nn, work)(size, size)

            def cells() -> Any:
                state = None
                for _ in range(steps):
                    state = cell(start, state)
                return state[0] if work == "LSTMCell" else state

            return gradients(torch, cells, list(cell.parameters()))
        weight = (torch.randn(size, size) / size**0.5).requires_grad_()

        def slope(y: Any) -> Any:
            return torch.tanh(y @ weight)

        def solve() -> Any:
            y, h = start, 1 / steps
            for _ in range(steps):
                if work == "Euler":
                    y = y + h * slope(y)
                else:
                    a = slope(y)
                    b = slope(y + h / 2 * a)
                    c = slope(y + h / 2 * b)
                    d = slope(y + h * c)
                    y = y + h / 6 * (a + 2 * b + 2 * c + d)
            return y

        return gradients(torch, solve, [weight])

    return Case(f"{work}, {steps} steps of {batch}x{size}", build)


def losses(draw: random.Random) -> Case:
    """Losses, forward and backward."""
    shape = draw.choice([(16, 10), (64, 100), (256, 1000), (32, 5, 20, 20), (100_000, 2)])
    reduction = draw.choice(["mean", "sum"])
    dtype = draw.choice(["float32", "float32", "float64"])
    name = draw.choice(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy",
                        "cross_entropy of probabilities", "binary_cross_entropy",
                        "binary_cross_entropy_with_logits", "kl_div", "nll_loss",
                        "soft_margin_loss", "gaussian_nll_loss"])

    def build(torch: Any) -> Step:
        functional = torch.nn.functional
        x = torch.randn(shape, dtype=getattr(torch, dtype), requires_grad=True)
        y = torch.rand(shape, dtype=getattr(torch, dtype))
        labels = torch.randint(shape[1], (shape[0], *shape[2:]))
        spread = y + 0.5
        loss = getattr(functional, name.partition(" ")[0])
        forward = {
            "cross_entropy": lambda: loss(x, labels, reduction=reduction),
            "cross_entropy of probabilities":
                lambda: loss(x, y.softmax(1), reduction=reduction),
            "binary_cross_entropy": lambda: loss(x.sigmoid(), y, reduction=reduction),
            "kl_div": lambda: loss(x.log_softmax(1), y, reduction=reduction),
            "nll_loss": lambda: loss(x.log_softmax(1), labels, reduction=reduction),
            "soft_margin_loss": lambda: loss(x, y.round() * 2 - 1, reduction=reduction),
            "gaussian_nll_loss": lambda: loss(x, y, spread, reduction=reduction),
        }.get(name, lambda: loss(x, y, reduction=reduction))
        return gradients(torch, forward, [x])

    return Case(f"{name}, {reduction}, {dtype} {'x'.join(map(str, shape))}", build)
