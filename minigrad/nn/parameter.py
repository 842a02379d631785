"""Parameters and buffers: the tensors that a module owns."""

from ..tensor import Parameter

__all__ = ["Parameter"]
