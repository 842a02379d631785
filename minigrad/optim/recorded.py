"""Steps that are recorded, `differentiable=True`: gradients flow through what an optimizer does.

An update writes to arrays, over and over.  Here it gets boxes in their place and arithmetic that
puts a new tensor into a box instead of writing over the old one, so that one formula serves both
and all that the graph has saved stays.  All of a step has a gradient but the learning rate; PyTorch
lets none through the first momentum of `SGD`.

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
    """What stands for an array: the tensor that was written to it last."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any = None) -> None:
        self.tensor = tensor


def writing(function: Callable[..., Any], inputs: int) -> Callable[..., Box]:
    """Return a function of tensors that takes boxes, and after its inputs one to write to."""

    def write(*given: Any, out: Box | None = None) -> Box:
        values = [g.tensor if type(g) is Box else g for g in given[:inputs]]
        target = given[inputs] if len(given) > inputs else out or Box()
        target.tensor = function(*values)
        return target

    return write


class Arithmetic:
    """What updates call of a backend, on boxes.

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
    """Move the parameters of a group, recorded.

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
    # Not before it is used: who prints the backends should see those of arrays.
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
    """Return what was remembered of a parameter, with a box in place of its array."""
    return Tensor._plain(Box(value)) if value.shape == parameter.shape else value


def unboxed(value: Tensor) -> Tensor:
    """Return the tensor that was put into a box."""
    found = value._array
    return found.tensor if type(found) is Box else value
