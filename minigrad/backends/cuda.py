"""Options for products and attention on a GPU; they keep their values but change no result.

You can set and read `matmul.allow_tf32` and similar options; float32 products always have full
precision.

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
    """Options that programs set for matrix products; other names raise `AttributeError`."""

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
    """Return whether CUDA GPUs are usable; this takes CuPy and a GPU.

    >>> import minigrad as torch
    >>> torch.backends.cuda.is_built() == torch.cuda.is_available()
    True
    """
    return cuda.is_available()


def is_flash_attention_available() -> bool:
    """Return False, because attention is computed from products and a softmax."""
    return False


def enable_flash_sdp(enabled: bool) -> None:
    """Allow this implementation of attention; it has no effect."""
    _attention["flash"] = bool(enabled)


def flash_sdp_enabled() -> bool:
    """Return the value passed to `enable_flash_sdp`."""
    return _attention["flash"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow this implementation of attention; it has no effect."""
    _attention["mem_efficient"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Return the value passed to `enable_mem_efficient_sdp`."""
    return _attention["mem_efficient"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow this implementation of attention; it has no effect."""
    _attention["math"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Return the value passed to `enable_math_sdp`."""
    return _attention["math"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow this implementation of attention; it has no effect."""
    _attention["cudnn"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Return the value passed to `enable_cudnn_sdp`."""
    return _attention["cudnn"]
