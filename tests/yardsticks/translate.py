"""Arguments of PyTorch's as minigrad's: the same values in the same memory order."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import minigrad


class Untranslatable(Exception):
    """A value that minigrad has nothing like, such as a complex tensor."""


class Translator:
    """Translates values; a tensor that comes twice stays one tensor."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.pairs: list[tuple[Any, Any]] = []  # PyTorch's tensors and ours
        self.memories: dict[Any, Any] = {}  # ours, by the address of PyTorch's

    def ours(self, value: Any) -> Any:
        """Return a value with all that is PyTorch's in it replaced."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.Size):
            return minigrad.Size(value)
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            name = str(value).removeprefix("torch.")
            if not hasattr(minigrad, name) or name == "bfloat16":
                raise Untranslatable(name)
            return getattr(minigrad, name)
        if isinstance(value, torch.device):
            return minigrad.device(str(value))
        if isinstance(value, (complex, np.complexfloating, torch.Generator)):
            raise Untranslatable(type(value).__name__)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.ours, value))
        if isinstance(value, (list, tuple, set)):
            return type(value)(self.ours(item) for item in value)
        if isinstance(value, dict):
            return {key: self.ours(item) for key, item in value.items()}
        if isinstance(value, types.FunctionType):
            return rebound(value)
        if isinstance(value, torch.nn.Module):
            return getattr(minigrad.nn, type(value).__name__)()
        if isinstance(value, slice):
            return slice(*map(self.ours, (value.start, value.stop, value.step)))
        if isinstance(value, type) and value.__module__.startswith("torch.nn"):
            return getattr(minigrad.nn, value.__name__)
        return value

    def tensor(self, value: Any) -> Any:
        """Return a tensor."""
        for theirs, ours in self.pairs:
            if theirs is value:
                return ours
        if value.is_sparse or value.layout is not self.torch.strided or value.is_complex():
            raise Untranslatable("complex or sparse")
        try:
            made = self.view(value.detach()).requires_grad_(value.requires_grad)
        except (TypeError, ValueError, RuntimeError) as error:  # a dtype that NumPy lacks
            raise Untranslatable(str(error)) from None
        if isinstance(value, self.torch.nn.Parameter):
            made = minigrad.nn.Parameter(made.detach(), value.requires_grad)
        self.pairs.append((value, made))
        return made

    def view(self, value: Any) -> Any:
        """Return a tensor on the memory that stands for that of a tensor of PyTorch's."""
        if not value.numel():
            return minigrad.from_numpy(value.numpy().copy())
        storage = value.untyped_storage()
        key = storage.data_ptr(), value.dtype
        if key not in self.memories:
            count = storage.nbytes() // value.element_size()
            flat = self.torch.empty(0, dtype=value.dtype).set_(storage, 0, (count,), (1,))
            self.memories[key] = minigrad.from_numpy(flat.numpy().copy())
        return self.memories[key].as_strided(tuple(value.shape), value.stride(),
                                             value.storage_offset()).detach()


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Stand for the databases' `freeze_rng_state`, which uses internals of PyTorch."""
    state = minigrad.get_rng_state()
    try:
        yield
    finally:
        minigrad.set_rng_state(state)


def rebound(function: types.FunctionType) -> Any:
    """Return a function of the databases with minigrad in the place of `torch`.

    So are the functions of PyTorch's test library that it calls.
    """
    if function.__name__ == "freeze_rng_state":
        return random_state_kept
    if not function.__module__.startswith("torch.testing"):
        return resolved(function)
    replaced = {**function.__globals__, "torch": minigrad}
    for name in function.__code__.co_names:
        helper = function.__globals__.get(name)
        if isinstance(helper, types.FunctionType) and helper is not function and (
                helper.__module__.startswith("torch.testing")):
            replaced[name] = rebound(helper)
    cells = function.__closure__ and tuple(
        types.CellType(rebound(cell.cell_contents)
                       if isinstance(cell.cell_contents, types.FunctionType)
                       else resolved(cell.cell_contents))
        for cell in function.__closure__)
    made = types.FunctionType(function.__code__, replaced, function.__name__,
                              function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def resolved(value: Any) -> Any:
    """Return what minigrad has in the place of a function or module of PyTorch's."""
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str):
        for home in (minigrad, minigrad.nn.functional, minigrad.linalg, minigrad.special,
                     minigrad.Tensor):
            if hasattr(home, name):
                return getattr(home, name)
    return value


def op_of(info: Any) -> Any:
    """Return minigrad's function for an op of the database; None if it has none."""
    import torch

    homes: list[tuple[Any, Any]] = [(minigrad, torch), (minigrad.Tensor, torch.Tensor)]
    for ours, theirs in homes:
        for part in info.name.split("."):
            ours, theirs = getattr(ours, part, None), getattr(theirs, part, None)
        if theirs is not None and theirs is info.op:
            return ours
        if theirs is not None and ours is None:
            return None
        if ours is not None and not isinstance(info.op, types.FunctionType):
            return ours if callable(ours) else None
    if isinstance(info.op, types.FunctionType):
        return rebound(info.op)
    return resolved(info.op) if resolved(info.op) is not info.op else None
