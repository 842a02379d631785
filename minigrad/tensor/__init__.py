"""The tensor: an array, its place in the graph and its version counter."""

from .tensor import Parameter, Tensor

__all__ = ["Parameter", "Tensor"]
