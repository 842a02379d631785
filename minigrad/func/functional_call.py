"""Call modules with replaced parameters and buffers.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor


def functional_call(module: Any, parameters_and_buffers: Any, args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """Return `module(*args, **kwargs)`, with some parameters and buffers replaced for this call.

    `parameters_and_buffers` is a dictionary of tensors by dotted name, or a sequence of
    dictionaries to merge.  The module itself does not change.  If several names share one
    parameter, all of them are replaced, unless `tie_weights` is False; different tensors for them
    raise `ValueError`.  With `strict`, raises `RuntimeError` for unknown and for missing names.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html

    >>> from minigrad import ones, tensor, zeros
    >>> from minigrad.nn import Linear
    >>> weights = {"weight": ones(1, 2), "bias": zeros(1)}
    >>> functional_call(Linear(2, 1), weights, (tensor([1.0, 2.0]),))
    tensor([3.])
    """
    tensors = joined(parameters_and_buffers)
    entries = table_entries(module)
    check_names(module, tensors, entries, strict)
    new = {name: tensor for name, tensor in tensors.items() if name in entries}
    if tie_weights:
        new |= tied(new, entries)
    own = {name: entries[name][0][entries[name][1]] for name in new}
    try:
        for name, tensor in new.items():
            table, key = entries[name]
            table[key] = tensor
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for name, tensor in own.items():
            table, key = entries[name]
            table[key] = tensor


def joined(dictionaries: Any) -> dict[str, Any]:
    """Merge dictionaries; raise `ValueError` if a name is in two of them."""
    if isinstance(dictionaries, Mapping):
        return dict(dictionaries)
    if not isinstance(dictionaries, Sequence):
        raise ValueError("Expected parameters_and_buffers to be a dict, or a list/tuple of dicts, "
                         f"but got {type(dictionaries)}")
    if not all(isinstance(one, dict) for one in dictionaries):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(name for one in dictionaries for name in one)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional "
                         "call is ambiguous")
    return dict(ChainMap(*reversed(dictionaries)))


def table_entries(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """Return for each dotted name the table that holds the tensor and its key in it."""
    entries = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            for key in (key for key, tensor in table.items() if tensor is not None):
                entries[f"{prefix}.{key}" if prefix else key] = (table, key)
    return entries


def tied(new: dict[str, Any], entries: dict[str, tuple[dict[str, Any], str]]) -> dict[str, Any]:
    """Return the new tensors for the names that share a tensor with a given one.

    Raises `ValueError` if the given names of one tensor have different new ones.
    """
    names: dict[int, list[str]] = {}
    for name, (table, key) in entries.items():
        names.setdefault(id(table[key]), []).append(name)
    result: dict[str, Any] = {}
    for group in names.values():
        given = {id(new[name]): new[name] for name in group if name in new}
        if len(given) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(group)}, which "
                             "are tied. Consider using tie_weights=False")
        result |= {name: tensor for name in group for tensor in given.values()}
    return result


def check_names(module: Any, tensors: dict[str, Any], entries: dict[str, Any],
                strict: bool) -> None:
    """Raise `RuntimeError` for unknown or missing names, if `strict`."""
    unknown = [name for name in tensors if name not in entries]
    missing = [name for name in entries if name not in tensors]
    if strict and (unknown or missing):
        parts = [f"Unexpected key(s): {', '.join(map(repr, unknown))}." if unknown else "",
                 f"Missing key(s): {', '.join(map(repr, missing))}." if missing else ""]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t"
                           + "\n\t".join(p for p in parts if p))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and the buffers of several modules, stacked name by name.

    Use `vmap` over `functional_call` with them to call all the modules at once.  The stacked
    parameters are new leaves.  Raises `RuntimeError` unless all modules have the same class and the
    same training mode.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.stack_module_state.html

    >>> from minigrad.nn import Linear
    >>> parameters, buffers = stack_module_state([Linear(2, 1), Linear(2, 1), Linear(2, 1)])
    >>> parameters["weight"].shape, buffers
    (torch.Size([3, 1, 2]), {})
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    for what, values in (("to have the same training/eval mode", {m.training for m in models}),
                         ("to be of the same class", {type(m) for m in models})):
        if len(values) > 1:
            raise RuntimeError(f"stack_module_state: Expected all models {what}.")
    return (stacked([dict(m.named_parameters()) for m in models]),
            stacked([dict(m.named_buffers()) for m in models]))


def stacked(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Stack the tensors of several dictionaries, name by name."""
    result: dict[str, Any] = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        if len({t.requires_grad for t in tensors}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        stacked = F.stack(tensors)
        result[name] = stacked.detach().requires_grad_() if tensors[0].requires_grad else stacked
    return result
