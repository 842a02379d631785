"""How powers are computed: dtypes, exponents with a shorter way, integers."""

from ... import dtypes


def number_power(xp, base, exponent):
    """Return an array to the power of a number, in the dtype that the two of them give."""
    if base.dtype.kind != "f":
        if base.dtype.kind == "b":
            base = base.astype(xp.int64)
        if isinstance(exponent, float):
            base = base.astype(dtypes.get_default_dtype().numpy)
        elif exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    if exponent == 1:
        return base.copy()
    if exponent == -0.5:
        return 1 / xp.sqrt(base)
    # `**` turns squares and roots into one instruction; cubes are worth the same.
    return base * base * base if exponent == 3 else base ** (exponent + 0)


def integer_powers(xp, base, exponent):
    """Return integers to integer powers; with a negative exponent all but 1 and -1 give 0."""
    odd = 1 - 2 * (exponent & 1)
    unit = xp.where(base == 1, 1, xp.where(base == -1, odd, 0)).astype(base.dtype)
    return xp.where(exponent < 0, unit, xp.power(base, xp.maximum(exponent, 0)))
