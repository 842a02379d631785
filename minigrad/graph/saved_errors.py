"""Errors of saved tensors, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable
from re import sub
from typing import Any

from .. import _state
from ..dtypes import FROM_NUMPY

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)

DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)

HOOKS_SET_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)

HOOKS_AFTER_FREEING = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)

HOOKS_NOT_CALLABLE = (
    "register_hooks(): incompatible function arguments. The following argument types are supported:"
    "\n    (pack_hook: Callable, unpack_hook: Callable)")

#: Nodes of the engine; PyTorch's errors give their full C++ names.
OF_THE_ENGINE = ("CopySlices", "AccumulateGrad", "Error", "UndefinedGrad")

PACK_HOOK_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
    "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. "
    "Please open an issue if you need to perform in-place operations on the input to a pack hook."
)

NOT_UNPACKED = (
    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}")


def modified_error(array: Any, index: int, node: Any, version: int, expected: int) -> RuntimeError:
    """Return the error for a saved tensor that was written to or detached after it was saved."""
    if int(version) == int(expected):
        return RuntimeError(DETACHED_MESSAGE)
    name = FROM_NUMPY[array.dtype].name
    legacy = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long",
              "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
    origin = ""
    if node is not None:
        name_in_c = f"torch::autograd::{node.name()}" if node.name() in OF_THE_ENGINE else (
            sub(r"Backward[0-9]*$", "", node.name()))
        origin = f", which is output {index} of {name_in_c},"
    hint = (
        "Hint: the backtrace further above shows the operation that failed to compute its "
        "gradient. The variable in question was changed in there or anywhere later. Good luck!"
        if _state.anomaly.enabled
        else "Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{legacy[name]}Tensor {list(array.shape)}]{origin} is at version "
        f"{version}; expected version {expected} instead. {hint}"
    )


def unpacked_like(saved: tuple[int, ...], unpack_hook: Callable[[Any], Any], packed: Any) -> Any:
    """Return the tensor of an unpack hook; raise if its shape doesn't fit the shape `saved`.

    >>> from minigrad import ones
    >>> unpacked_like((2,), ones, 3)
    Traceback (most recent call last):
        ...
    RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton ...
    """
    tensor = unpack_hook(packed)
    unpacked = tuple(getattr(getattr(tensor, "_array", None), "shape", saved))
    for i in range(1, min(len(saved), len(unpacked)) + 1):
        a, b = saved[-i], unpacked[-i]
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {max(len(saved), len(unpacked)) - i}")
    return tensor
