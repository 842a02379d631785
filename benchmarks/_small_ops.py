"""The same small operations in each library, through its public interface.

`chain` and `adds` are written once; an adapter says how its library holds inputs, records a graph
and runs it backward.
"""

from __future__ import annotations

import importlib
from typing import Any

from _harness import Unavailable

SIZE = 8
OPS_PER_BLOCK = 10

# Near the chain's fixed point, so that 1,000 ops keep values and gradients in float32's range.
X = [0.02 * i - 0.07 for i in range(SIZE)]
W = [-0.40 + 0.02 * i for i in range(SIZE)]
B = [0.03 - 0.01 * i for i in range(SIZE)]
C = [1.0 + 0.01 * i for i in range(SIZE)]
D = [2.0 + 0.02 * i for i in range(SIZE)]


def chain(library: Any, x: Any, w: Any, b: Any, c: Any, d: Any, blocks: int) -> Any:
    """Ten small operations, `blocks` times over: the same lines for every library."""
    tanh, exp = library.tanh, library.exp
    for _ in range(blocks):
        h = x * w
        h = h + b
        h = tanh(h)
        h = h * 0.5
        h = exp(h)
        h = h - c
        h = -h
        h = h / d
        h = x + h
        x = h * 0.9
    return x


def adds(x: Any, y: Any, length: int) -> Any:
    """The chain of additions that a graph of `length` nodes is built from."""
    for _ in range(length):
        x = x + y
    return x


class TorchLike:
    """PyTorch, and minigrad by the very same code."""

    def __init__(self, module: Any) -> None:
        self.module = module
        if hasattr(module, "set_num_threads"):
            module.set_num_threads(1)
        self.constants = [module.tensor(values) for values in (C, D)]
        self.plain = [module.tensor(values) for values in (X, W, B)]
        self.leaves = [module.tensor(values).requires_grad_() for values in (X, W, B)]

    def forward_plain(self, blocks: int) -> Any:
        return chain(self.module, *self.plain, *self.constants, blocks)

    def forward_no_grad(self, blocks: int) -> Any:
        with self.module.no_grad():
            return chain(self.module, *self.leaves, *self.constants, blocks)

    def forward_graph(self, blocks: int) -> Any:
        return chain(self.module, *self.leaves, *self.constants, blocks)

    def forward_backward(self, blocks: int) -> None:
        chain(self.module, *self.leaves, *self.constants, blocks).sum().backward()

    def clear(self) -> None:
        for leaf in self.leaves:
            leaf.grad = None

    def gradients(self, blocks: int) -> list[Any]:
        self.clear()
        self.forward_backward(blocks)
        return [leaf.grad for leaf in self.leaves]

    def build(self, length: int) -> Any:
        return adds(self.leaves[0], self.constants[0], length).sum()

    def backward(self, graph: Any) -> None:
        graph.backward()


class Hips:
    """HIPS autograd differentiates functions: its graph lives in the vjp that make_vjp returns."""

    def __init__(self, autograd: Any) -> None:
        self.numpy = importlib.import_module("autograd.numpy")
        self.constants = [self.array(values) for values in (C, D)]
        self.leaves = [self.array(values) for values in (X, W, B)]
        self.make_vjp = autograd.make_vjp
        self.grad = autograd.grad(self._loss, argnum=(0, 1, 2))
        self.vjp = autograd.make_vjp(self._output, argnum=(0, 1, 2))

    def array(self, values: list[float]) -> Any:
        return self.numpy.array(values, dtype="float32")

    def _output(self, x: Any, w: Any, b: Any, blocks: int) -> Any:
        return chain(self.numpy, x, w, b, *self.constants, blocks)

    def _loss(self, x: Any, w: Any, b: Any, blocks: int) -> Any:
        return self.numpy.sum(self._output(x, w, b, blocks))

    def forward_plain(self, blocks: int) -> Any:
        return self._output(*self.leaves, blocks)

    def forward_no_grad(self, blocks: int) -> Any:
        raise Unavailable("has no such mode: nothing is recorded outside grad()")

    def forward_graph(self, blocks: int) -> Any:
        return self.vjp(*self.leaves, blocks)

    def forward_backward(self, blocks: int) -> None:
        self.grad(*self.leaves, blocks)

    def clear(self) -> None:
        pass

    def gradients(self, blocks: int) -> list[Any]:
        return list(self.grad(*self.leaves, blocks))

    def build(self, length: int) -> Any:
        y = self.constants[0]
        return self.make_vjp(lambda x: self.numpy.sum(adds(x, y, length)))(self.leaves[0])

    def backward(self, graph: Any) -> None:
        vjp, value = graph
        vjp(self.numpy.ones_like(value))


class MyGrad:
    """MyGrad with the settings it comes with, memory guarding included."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.constants = [self.tensor(values, constant=True) for values in (C, D)]
        self.plain = [self.tensor(values, constant=True) for values in (X, W, B)]
        self.leaves = [self.tensor(values, constant=False) for values in (X, W, B)]

    def tensor(self, values: list[float], constant: bool) -> Any:
        return self.module.tensor(values, dtype="float32", constant=constant)

    def forward_plain(self, blocks: int) -> Any:
        return chain(self.module, *self.plain, *self.constants, blocks)

    def forward_no_grad(self, blocks: int) -> Any:
        with self.module.no_autodiff:
            return chain(self.module, *self.leaves, *self.constants, blocks)

    def forward_graph(self, blocks: int) -> Any:
        return chain(self.module, *self.leaves, *self.constants, blocks)

    def forward_backward(self, blocks: int) -> None:
        chain(self.module, *self.leaves, *self.constants, blocks).sum().backward()

    def clear(self) -> None:
        for leaf in self.leaves:
            leaf.null_grad()

    def gradients(self, blocks: int) -> list[Any]:
        self.clear()
        self.forward_backward(blocks)
        return [leaf.grad for leaf in self.leaves]

    def build(self, length: int) -> Any:
        return adds(self.leaves[0], self.constants[0], length).sum()

    def backward(self, graph: Any) -> None:
        graph.backward()


# key: (name in tables, module to import, adapter)
ENGINES: dict[str, tuple[str, str, Any]] = {
    "minigrad": ("minigrad", "minigrad", TorchLike),
    "pytorch": ("PyTorch", "torch", TorchLike),
    "hips": ("HIPS autograd", "autograd", Hips),
    "mygrad": ("MyGrad", "mygrad", MyGrad),
}
