"""`torch.nn.parallel.scatter_gather`: split and join the inputs of several devices.

minigrad never splits a batch over devices, so only what a single device needs is here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Return whether an object is a named tuple made by `collections` or `typing`.

    >>> is_namedtuple((1, 2))
    False
    """
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def one_device(target_gpus: Any) -> None:
    """Raise `NotImplementedError` for more than one device."""
    if len(target_gpus) != 1:
        raise NotImplementedError("scatter and gather: minigrad runs a batch on one device, but "
                                  f"got {len(target_gpus)} devices")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """Return the inputs of each device: a list with `inputs` itself, moved to the only device.

    >>> from minigrad import ones
    >>> scatter(ones(2), ["cpu"])
    [tensor([1., 1.])]
    """
    one_device(target_gpus)
    return [_moved(inputs, target_gpus[0])]


def _moved(value: Any, device: Any) -> Any:
    if hasattr(value, "to"):
        return value.to(device)
    if isinstance(value, list | tuple):
        parts = [_moved(each, device) for each in value]
        return type(value)(*parts) if is_namedtuple(value) else type(value)(parts)
    if isinstance(value, dict):
        return type(value)((key, _moved(each, device)) for key, each in value.items())
    return value


def scatter_kwargs(inputs: Any, kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
                   ) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Return the positional and the keyword arguments of each device.

    >>> from minigrad import ones
    >>> scatter_kwargs((ones(1),), None, ["cpu"])
    (((tensor([1.]),),), ({},))
    """
    return (tuple(scatter(inputs, target_gpus, dim)),
            tuple(scatter(kwargs or {}, target_gpus, dim)))


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Return the output of the only device, moved to `target_device`.

    >>> from minigrad import ones
    >>> gather([ones(1)], "cpu")
    tensor([1.])
    """
    one_device(outputs)
    return _moved(outputs[0], target_device)
