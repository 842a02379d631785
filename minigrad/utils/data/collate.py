"""Collating: joining samples into a batch.

Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import float64
from ...op.declaration import F
from ...ops.creation.create import as_tensor, tensor
from ...tensor.tensor import Tensor

__all__ = ["default_collate", "default_convert"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples: stack tensors and numbers, and join tuples and dictionaries entry by entry.

    >>> default_collate([(1, 2.0), (3, 4.0)])
    [tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return F.stack(list(batch), 0)
    if isinstance(first, np.ndarray) and first.dtype.kind in "SaUO":
        raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts "
                        f"or lists; found {first.dtype}")
    if isinstance(first, np.ndarray):
        return F.stack([as_tensor(a) for a in batch], 0)
    if isinstance(first, np.generic):
        return as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        joined = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return joined if type(first) is dict else type(first)(joined)  # type: ignore[call-arg]  # any Mapping
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*columns)
        return columns
    raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
                    f"lists; found {type(first)}")


def default_convert(data: Any) -> Any:
    """Convert NumPy arrays and numbers in a sample to tensors; leave the rest unchanged.

    >>> import numpy as np
    >>> default_convert({"x": np.arange(2), "name": "a"})
    {'x': tensor([0, 1]), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.generic)):
        return as_tensor(data) if data.dtype.kind not in "SUO" else data
    if isinstance(data, Mapping):
        converted = {key: default_convert(value) for key, value in data.items()}
        return converted if type(data) is dict else type(data)(converted)  # type: ignore[call-arg]  # any Mapping
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, tuple):
        items = [default_convert(value) for value in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, Tensor):
        return [default_convert(value) for value in data]
    return data
