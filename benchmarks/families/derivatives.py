"""Derivatives of samples by `vmap`, jacobians, tangent kernels and products with the Hessian."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from .case import Case, Step

__all__ = ["convolutions_by_vmap", "gradients_of_samples", "hessian_product",
           "jacobians_of_samples", "products_with_derivatives", "tangent_kernel", "tangent_kernels"]


def dense(torch: Any, *sizes: int) -> Any:
    """A network of linear layers, with tanh between them."""
    layers = []
    for before, after in pairwise(sizes):
        layers += [torch.nn.Linear(before, after), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def convolutional(torch: Any, channels: int, size: int, outputs: int) -> Any:
    """A network of two convolutions with 3 by 3 kernels and a linear layer, for square images."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(3, channels, 3), nn.ReLU(), nn.Conv2d(channels, channels, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(channels * (size - 4)**2, outputs))


def _of_samples(torch: Any, net: Any, x: Any, y: Any) -> Step:
    """Return a step that computes the gradient of each sample's squared error."""
    def loss(parameters: Any, x: Any, y: Any) -> Any:
        found = torch.func.functional_call(net, parameters, (x.unsqueeze(0),))
        return torch.nn.functional.mse_loss(found.squeeze(0), y)

    each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
    parameters = {name: value.detach() for name, value in net.named_parameters()}
    return lambda: each(parameters, x, y)["0.weight"]


def gradients_of_samples(draw: random.Random) -> Case:
    """The gradient of each sample, by `vmap` of `grad`, for linear layers."""
    sizes = [draw.choice([5, 20, 100]), *[draw.choice([16, 32, 64])] * draw.randint(1, 2),
             draw.choice([1, 10])]
    samples = draw.choice([8, 64, 256])
    return Case(f"{'-'.join(map(str, sizes))}, {samples} samples", lambda torch: _of_samples(
        torch, dense(torch, *sizes), torch.randn(samples, sizes[0]),
        torch.randn(samples, sizes[-1])))


def convolutions_by_vmap(draw: random.Random) -> Case:
    """The gradient of each image, by `vmap` of `grad`, or an ensemble of networks by `vmap`."""
    channels, size, samples = draw.choice([4, 8, 16]), draw.choice([8, 16, 28]), draw.choice([4, 8])
    ensemble = draw.random() < 0.3

    def build(torch: Any) -> Step:
        x, y = torch.randn(samples, 3, size, size), torch.randn(samples, 10)
        if not ensemble:
            return _of_samples(torch, convolutional(torch, channels, size, 10), x, y)
        nets = [convolutional(torch, channels, size, 10) for _ in range(4)]
        parameters, buffers = torch.func.stack_module_state(nets)
        each = torch.func.vmap(
            lambda p, b, x: torch.func.functional_call(nets[0], (p, b), (x,)), (0, 0, None))
        return lambda: each(parameters, buffers, x)

    what = "ensemble of 4" if ensemble else "gradients of samples"
    return Case(f"{what}, {channels} channels, {samples}x3x{size}x{size}", build)


def jacobians_of_samples(draw: random.Random) -> Case:
    """The jacobian of each sample, by `vmap` of `jacrev` or `jacfwd`."""
    sizes = [draw.choice([3, 10, 20]), draw.choice([16, 32, 64]), draw.choice([3, 10])]
    samples, mode = draw.choice([8, 64]), draw.choice(["jacrev", "jacfwd"])

    def build(torch: Any) -> Step:
        net, x = dense(torch, *sizes), torch.randn(samples, sizes[0])
        each = torch.func.vmap(getattr(torch.func, mode)(lambda x: net(x)))
        return lambda: each(x)

    return Case(f"{mode}, {'-'.join(map(str, sizes))}, {samples} samples", build)


def tangent_kernel(torch: Any, net: Any, first: Any, second: Any, outputs: int) -> Step:
    """Return a step that computes the neural tangent kernel of two batches of samples."""
    func = torch.func
    parameters = {name: each.detach() for name, each in net.named_parameters()}
    units = torch.eye(outputs)

    def network(parameters: Any, x: Any) -> Any:
        return func.functional_call(net, parameters, (x.unsqueeze(0),)).squeeze(0)

    def entry(x: Any, y: Any) -> Any:
        _, pull = func.vjp(lambda p: network(p, x), parameters)
        return func.vmap(lambda unit: func.jvp(
            lambda p: network(p, y), (parameters,), pull(unit))[1])(units)

    kernel = func.vmap(func.vmap(entry, (None, 0)), (0, None))
    return lambda: kernel(first, second)


def tangent_kernels(draw: random.Random) -> Case:
    """A neural tangent kernel, by products of jacobians in two `vmap`s."""
    channels, size, outputs = draw.choice([4, 8]), draw.choice([8, 12, 16]), draw.choice([2, 10])
    first, second = draw.choice([2, 6]), draw.choice([2, 4])
    images, hidden = draw.random() < 0.6, draw.choice([16, 64])

    def build(torch: Any) -> Step:
        shape = (3, size, size) if images else (size,)
        net = (convolutional(torch, channels, size, outputs) if images
               else dense(torch, size, hidden, outputs))
        return tangent_kernel(torch, net, torch.randn(first, *shape), torch.randn(second, *shape),
                              outputs)

    what = f"{channels} channels, 3x{size}x{size}" if images else f"dense {size}-{hidden}"
    return Case(f"{what}, {first} and {second} samples, {outputs} outputs", build)


def hessian_product(torch: Any, count: int, name: str = "hvp",
                    function: str = "exp and sin") -> Step:
    """Return a step that multiplies a derivative of a function of so many inputs by a vector."""
    x, v, matrix = torch.randn(count), torch.randn(count), torch.randn(count, count)
    functions = {
        "exp and sin": lambda x: (x.exp() * x.sin()).sum(),
        "quadratic form": lambda x: x @ (matrix @ x),
        "Rosenbrock": lambda x: (100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2).sum(),
        "logistic": lambda x: torch.nn.functional.softplus(matrix @ x).sum(),
    }
    product = getattr(torch.autograd.functional, name)
    return lambda: product(functions[function], x, v)[1]


def products_with_derivatives(draw: random.Random) -> Case:
    """A product of a vector and the Hessian of a function with few inputs."""
    count, name = draw.choice([10, 100, 300]), draw.choice(["hvp", "hvp", "vhp"])
    function = draw.choice(["exp and sin", "quadratic form", "Rosenbrock", "logistic"])
    return Case(f"{name} of {function}, {count} inputs",
                lambda torch: hessian_product(torch, count, name, function))
