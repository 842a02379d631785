"""How powers are computed: dtypes, shortcuts for some exponents, integers."""

from ... import dtypes


def number_power(xp, base, exponent):
    """Return an array to the power of a number, in the dtype that the two promote to."""
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
    # `**` runs squares and roots as one instruction; cubes deserve a shortcut too.
    return base * base * base if exponent == 3 else base ** (exponent + 0)


def integer_powers(xp, base, exponent):
    """Return integers to integer powers; a negative exponent gives 0, except for 1 and -1."""
    odd = 1 - 2 * (exponent & 1)
    unit = xp.where(base == 1, 1, xp.where(base == -1, odd, 0)).astype(base.dtype)
    return xp.where(exponent < 0, unit, xp.power(base, xp.maximum(exponent, 0)))
