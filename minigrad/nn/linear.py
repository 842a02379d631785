"""Linear layers.

Source: https://docs.pytorch.org/docs/stable/nn.html#linear-layers
"""

from __future__ import annotations

import math
from typing import Any

from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Return the input unchanged; the constructor ignores its arguments.

    >>> from minigrad import nn, ones
    >>> nn.Identity(54, unused=True)(ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """input @ weight.T + bias: (*, in_features) -> (*, out_features).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html

    >>> from minigrad import nn, ones
    >>> nn.Linear(3, 2)(ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1 / sqrt(in_features).

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.Linear(4, 2)
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.weight.data
        tensor([[-0.0037,  0.2682, -0.4115, -0.3680],
                [-0.1926,  0.1341, -0.0099,  0.3964]])
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class Bilinear(Module):
    """x1 @ weight[o] @ x2 + bias[o] for each output: (*, in1), (*, in2) -> (*, out).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Bilinear.html

    >>> from minigrad import nn, ones
    >>> nn.Bilinear(2, 3, 4)(ones(5, 2), ones(5, 3)).shape
    torch.Size([5, 4])
    """

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        sizes = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(sizes, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1 / sqrt(in1_features).

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.Bilinear(4, 2, 1)
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.weight.data
        tensor([[[-0.0037,  0.2682],
                 [-0.4115, -0.3680],
                 [-0.1926,  0.1341],
                 [-0.0099,  0.3964]]])
        """
        if self.in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features="
                             f"{self.in1_features})")
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")
