"""Differentiable steps (`differentiable=True`): gradients flow through an optimizer's step.

An update writes to arrays in place.  Here it gets boxes instead of arrays, and its arithmetic puts
a new tensor into a box instead of overwriting the old one. That way one formula serves both cases,
and the values that the graph has saved survive.  Every input of a step has a gradient except the
learning rate; in PyTorch the first momentum of `SGD` has no gradient either.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..backend import BACKENDS
from ..op.declaration import F
from ..tensor.tensor import Tensor


class Box:
    """Placeholder for an array; it holds the tensor that was written last."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any = None) -> None:
        self.tensor = tensor


def writing(function: Callable[..., Any], inputs: int) -> Callable[..., Box]:
    """Return `function` on boxes; the box after its inputs is the output."""

    def write(*args: Any, out: Box | None = None) -> Box:
        values = [arg.tensor if type(arg) is Box else arg for arg in args[:inputs]]
        target = args[inputs] if len(args) > inputs else out or Box()
        target.tensor = function(*values)
        return target

    return write


class Arithmetic:
    """The backend functions that updates call, on boxes.

    >>> from minigrad import tensor
    >>> box = Box(tensor([1.0]))
    >>> Arithmetic.multiply(box, 3.0, box).tensor
    tensor([3.])
    """

    name = "recorded"
    add = staticmethod(writing(F.add, 2))
    subtract = staticmethod(writing(F.sub, 2))
    multiply = staticmethod(writing(F.mul, 2))
    divide = staticmethod(writing(F.div, 2))
    maximum = staticmethod(writing(F.maximum, 2))
    sqrt = staticmethod(writing(F.sqrt, 1))
    abs = staticmethod(writing(F.abs, 1))
    negative = staticmethod(writing(F.neg, 1))
    zeros_like = empty_like = staticmethod(writing(F.zeros_like, 1))


def step(optimizer: Any, group: dict[str, Any]) -> None:
    """Step the parameters of a group and record it.

    >>> from minigrad import optim, tensor
    >>> rate = tensor(2.0, requires_grad=True)
    >>> x = tensor([1.0], requires_grad=True).clone()
    >>> x.grad = rate * tensor([1.0])
    >>> optim.SGD([x], lr=0.5, differentiable=True).step()
    >>> x.sum().backward(); rate.grad
    tensor(-0.5000)
    """
    if isinstance(group["lr"], Tensor) and group["lr"].requires_grad:
        raise NotImplementedError("the gradient of a learning rate is not supported")
    # Registered on first use, so that a list of the backends shows only those for arrays.
    BACKENDS[Box] = Arithmetic()  # type: ignore[assignment]  # it has what updates call, no more
    with enable_grad():
        for parameter in group["params"]:
            if parameter._grad is None:
                continue
            state, moved = optimizer.state[parameter], Box(parameter)
            boxes = {name: boxed(value, parameter) for name, value in state.items()}
            optimizer.update(group, moved, Box(parameter._grad), boxes)
            state.update({name: unboxed(value) for name, value in boxes.items()})
            parameter.copy_(moved.tensor)


def boxed(value: Any, parameter: Tensor) -> Any:
    """Return a state tensor with a box in place of its array."""
    return Tensor._plain(Box(value)) if value.shape == parameter.shape else value


def unboxed(value: Tensor) -> Tensor:
    """Return the tensor in a box."""
    box = value._array
    return box.tensor if type(box) is Box else value
