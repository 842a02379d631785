"""The errors and the warning about inputs that `gradcheck` cannot check."""

from __future__ import annotations

from ...frames import warn_user

#: The error if no input requires grad.
NOTHING_TO_CHECK = ("gradcheck expects at least one input tensor to require gradient, but none of "
                    "them have requires_grad=True.")


def warn_of_precision(index: int) -> None:
    """Warn that the input with this index is not float64."""
    warn_user(
        f"Input #{index} requires gradient and is not a double precision floating point or "
        "complex. This check will likely fail if all the inputs are not of double precision "
        "floating point or complex. ", UserWarning)


def overlap_error(index: int) -> RuntimeError:
    """Return the error for an input whose elements share memory."""
    return RuntimeError(
        f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that "
        "are non-overlapping to be able to compute the numerical gradients correctly. You should "
        "call .contiguous on the input before passing it to gradcheck.")
