"""Helpers for sums, differences and products: the argument `alpha`, bool errors, samples."""

from ...op.declaration import Binary

BOOL_NEGATION = ("Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
                 "to invert a mask, use the `~` or `logical_not()` operator instead.")
BOOL_SUBTRACTION = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead.")


def scaled(xp, other, alpha):
    """Return `other * alpha`; raise `RuntimeError` if the product would need another dtype."""
    if type(alpha) is int and alpha == 1:
        return other
    check_factor("alpha", alpha, other)
    if other.dtype.kind == "b":
        return other if alpha else xp.zeros_like(other)
    return other if alpha == 1 else xp.multiply(other, alpha)


def check_factor(name, factor, array):
    """Raise `RuntimeError` for a bool or float `alpha` that would change the dtype of a sum."""
    kind = array.dtype.kind
    if isinstance(factor, bool) and kind != "b":
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(factor, float) and kind != "f":
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating "
                           "point number.")


def pairs(make):
    """Yield samples of two tensors, and of a tensor and a number."""
    yield from Binary.samples(make)
    yield make(2, 3), 1.5


def pairs_with_alpha(make):
    """Yield the samples of `pairs`, and one with the argument `alpha`."""
    yield from pairs(make)
    yield make(3, 4), make(4), {"alpha": 2.5}
