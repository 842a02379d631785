"""Switches of products and of attention on a GPU: they keep what is set, and change no result.

`matmul.allow_tf32` and its like can be set and read; products of float32 are computed in full.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cuda
"""

from __future__ import annotations

from typing import Any

from .. import cuda

__all__ = ["cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
           "enable_mem_efficient_sdp", "flash_sdp_enabled", "is_built",
           "is_flash_attention_available", "math_sdp_enabled", "matmul",
           "mem_efficient_sdp_enabled"]


class Switches:
    """The switches that programs set of products of matrices; `AttributeError` for another name."""

    __slots__ = ("allow_bf16_reduced_precision_reduction", "allow_fp16_accumulation",
                 "allow_fp16_reduced_precision_reduction", "allow_tf32", "fp32_precision")

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction: Any = True
        self.allow_bf16_reduced_precision_reduction: Any = True
        self.fp32_precision = "none"


matmul = Switches()
_attention = {"cudnn": True, "flash": True, "math": True, "mem_efficient": True}


def is_built() -> bool:
    """Tell whether CUDA's GPUs can be used: with CuPy, and a GPU.

    >>> import minigrad as torch
    >>> torch.backends.cuda.is_built() == torch.cuda.is_available()
    True
    """
    return cuda.is_available()


def is_flash_attention_available() -> bool:
    """Return False: attention is computed from products and a softmax."""
    return False


def enable_flash_sdp(enabled: bool) -> None:
    """Allow attention of this kind, which changes nothing here."""
    _attention["flash"] = bool(enabled)


def flash_sdp_enabled() -> bool:
    """Tell what `enable_flash_sdp` was told."""
    return _attention["flash"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow attention of this kind, which changes nothing here."""
    _attention["mem_efficient"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Tell what `enable_mem_efficient_sdp` was told."""
    return _attention["mem_efficient"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow attention of this kind, which changes nothing here."""
    _attention["math"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Tell what `enable_math_sdp` was told."""
    return _attention["math"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow attention of this kind, which changes nothing here."""
    _attention["cudnn"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Tell what `enable_cudnn_sdp` was told."""
    return _attention["cudnn"]
