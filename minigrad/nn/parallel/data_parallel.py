"""`DataParallel` just calls its module, because minigrad uses one device.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import cuda
from ...func.tree import mapped
from ...tensor.tensor import Tensor
from ..module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Call the wrapped `module`; with a GPU, first move the module and its inputs there.

    Raises `NotImplementedError` for several `device_ids`, since minigrad does not split batches.

    >>> from minigrad import nn, ones
    >>> parallel = nn.DataParallel(nn.Linear(2, 1))
    >>> parallel(ones(3, 2)).shape, list(parallel.state_dict())
    (torch.Size([3, 1]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None,
                 output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        if not cuda.is_available():
            return
        self.dim = dim
        self.device_ids = [_index(one) for one in device_ids or (cuda.current_device(),)]
        if len(self.device_ids) > 1:
            raise NotImplementedError("DataParallel: minigrad shares no batch out to several GPUs; "
                                      "give one device id")
        self.output_device = self.device_ids[0] if output_device is None else _index(output_device)
        module.to(self._device_name())

    def _device_name(self) -> str:
        return f"cuda:{self.device_ids[0]}"

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the module's result for the inputs."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)

        def there(value: Any) -> Any:
            return value.to(self._device_name()) if isinstance(value, Tensor) else value

        return self.module(*mapped(there, inputs), **mapped(there, kwargs))


def _index(device: Any) -> int:
    return device if isinstance(device, int) else int(getattr(device, "index", 0) or 0)


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[Any] | None = None,
                  output_device: Any = None, dim: int = 0,
                  module_kwargs: dict[str, Any] | None = None) -> Any:
    """Call `module` on a GPU, like `DataParallel`; raise `RuntimeError` without one.

    Source: `torch.nn.parallel.data_parallel`.
    """
    if not cuda.is_available():
        raise RuntimeError("device type could not be determined")
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*given, **(module_kwargs or {}))
