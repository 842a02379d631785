"""How a view was made, which decides whether it can be written to later, and PyTorch's errors.

PyTorch calls this the view's creation meta.
"""

from __future__ import annotations

from re import sub
from typing import Any

from .. import _state

DEFAULT, MULTI_OUTPUT, NO_GRAD, IN_CUSTOM_FUNCTION, INFERENCE_MODE = range(5)

LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF_WRITTEN = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation.")

_REASON = {
    MULTI_OUTPUT: " This view is the output of a function that returns multiple views. Such "
    "functions do not allow the output views to be modified inplace. You should replace the "
    "inplace operation by an out-of-place one.",
    IN_CUSTOM_FUNCTION: " This view was created inside a custom Function (or because an input was "
    "returned as-is) and the autograd logic to handle view+inplace would override the custom "
    "backward associated with the custom Function, leading to incorrect gradients. This behavior "
    "is forbidden. You can fix this by cloning the output of the custom Function.",
}


def creation_now(multiple: bool) -> int:
    """Return the creation meta of a view made now; `multiple` means that it is one of several."""
    if _state.inference_enabled.get():
        return INFERENCE_MODE
    if not _state.grad_enabled.get():
        return NO_GRAD
    return MULTI_OUTPUT if multiple else DEFAULT


def refuse_view(view: Any, creation: int, indirect: bool) -> None:
    """Raise if a view with this creation meta must not be written to while grad mode is on.

    `indirect` means that its base, or another view of its base, was written to.
    """
    what = (" is a view and its base or another view of its base has been modified inplace."
            if indirect else " is a view and is being modified inplace.")
    if creation in (NO_GRAD, INFERENCE_MODE):
        mode, made_in, written_in = (
            ("no_grad", "no_grad", "with grad mode enabled") if creation == NO_GRAD
            else ("inference_mode", "inference", "in normal mode"))
        action = ("its base or another view of its base has been modified inplace"
                  if indirect else "is being modified inplace")
        raise RuntimeError(
            f"A view was created in {made_in} mode and {action} {written_in}. Given "
            "that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
            f"your code by moving both the view and the inplace either both inside the {mode} "
            "block (if you don't want the inplace to be tracked) or both outside (if you want "
            "the inplace to be tracked)."
        )
    if creation != DEFAULT:
        node = view._node
        if node is None:
            origin, what = "A view was created in no_grad mode", what.removeprefix(" is a view")
            what = what.removesuffix(".") + " with grad mode enabled."
        else:
            origin = f"Output {view._index} of " + sub(r"Backward[0-9]*$", "", node.name())
        raise RuntimeError(origin + what + _REASON[creation])
