"""`torch.autograd.forward_ad`: forward mode with dual tensors, each with a tangent."""

from .dual_tensors import (
    UnpackedDualTensor,
    _current,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]

for _each in (UnpackedDualTensor, dual_level, enter_dual_level, exit_dual_level, make_dual,
              unpack_dual):
    _each.__module__ = __name__  # as in PyTorch, because pickles and reprs use it


def __getattr__(name: str) -> int:
    """Return the current level's number, -1 without a level, since PyTorch's tests read it."""
    if name == "_current_level":
        return -1 if _current.get() is None else 0
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
