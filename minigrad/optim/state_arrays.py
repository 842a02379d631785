"""The arrays that an optimizer keeps for a parameter, as tensors in its state."""

from __future__ import annotations

from typing import Any

from ..backend import Backend
from ..ops.creation.create import tensor
from ..tensor.tensor import Tensor

Array = Any
Group = dict[str, Any]
State = dict[str, Any]


def buffer(state: State, name: str) -> Array:
    """Return the array of a state tensor."""
    return state[name]._array


def remember(state: State, name: str, array: Array) -> Array:
    """Store an array in the state as a tensor, and return it."""
    state[name] = Tensor._plain(array)
    return array


def start(xp: Backend, state: State, array: Array, *names: str) -> None:
    """Create the step count and the named averages, all zero."""
    state["step"] = tensor(0.0)
    for name in names:
        remember(state, name, xp.zeros_like(array))


def counted(state: State) -> float:
    """Increment the step count and return it."""
    step = state["step"]._array
    step += 1
    return float(step)
