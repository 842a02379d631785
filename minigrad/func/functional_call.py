"""Calling a module with other parameters than its own.

Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def functional_call(module: Any, parameters_and_buffers: Any, args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """Return `module(*args, **kwargs)` with the tensors given by name in place of its own.

    The tensors come as a dictionary by dotted name, or several that are joined; the module is left
    as it was.  Tensors that share one parameter are all replaced unless `tie_weights` is False.
    `RuntimeError` for unknown names if `strict`, and then for missing ones as well.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html

    >>> from minigrad import ones, tensor, zeros
    >>> from minigrad.nn import Linear
    >>> weights = {"weight": ones(1, 2), "bias": zeros(1)}
    >>> functional_call(Linear(2, 1), weights, (tensor([1.0, 2.0]),))
    tensor([3.])
    """
    given = joined(parameters_and_buffers)
    places = places_of(module)
    check_names(module, given, places, strict)
    new = {name: tensor for name, tensor in given.items() if name in places}
    if tie_weights:
        shared = {id(table[key]): new[name] for name, (table, key) in places.items() if name in new}
        new |= {name: shared[id(table[key])] for name, (table, key) in places.items()
                if name not in new and id(table[key]) in shared}
    kept = {name: places[name][0][places[name][1]] for name in new}
    try:
        for name, tensor in new.items():
            table, key = places[name]
            table[key] = tensor
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for name, tensor in kept.items():
            table, key = places[name]
            table[key] = tensor


def joined(given: Any) -> dict[str, Any]:
    """Return one dictionary of several; `ValueError` for a name that is in two of them."""
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Sequence):
        raise ValueError("Expected parameters_and_buffers to be a dict, or a list/tuple of dicts, "
                         f"but got {type(given)}")
    result: dict[str, Any] = {}
    for one in given:
        twice = result.keys() & one.keys()
        if twice:
            raise ValueError(f"{min(twice)} appears in multiple dictionaries; behavior of "
                             "functional call is ambiguous")
        result |= one
    return result


def places_of(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """Return, for each dotted name, the table that holds the tensor and its key there."""
    places = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            for key in (key for key, tensor in table.items() if tensor is not None):
                places[f"{prefix}.{key}" if prefix else key] = (table, key)
    return places


def check_names(module: Any, given: dict[str, Any], places: dict[str, Any], strict: bool) -> None:
    """Raise for names that the module does not know, if `strict` also for those left out."""
    unknown = [name for name in given if name not in places]
    missing = [name for name in places if name not in given]
    if strict and (unknown or missing):
        parts = [f"Unexpected key(s): {', '.join(map(repr, unknown))}." if unknown else "",
                 f"Missing key(s): {', '.join(map(repr, missing))}." if missing else ""]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t"
                           + "\n\t".join(p for p in parts if p))
