# right: both shapes padded with ones, read from the back
def infer_size(a, b):
    ndim = max(len(a), len(b))
    wide, tall = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    sizes = []
    for dim in reversed(range(ndim)):
        m, n = wide[dim], tall[dim]
        if m != n and 1 not in (m, n):
            raise size_mismatch(m, n, dim)
        sizes.insert(0, n if m == 1 else m)
    return tuple(sizes)

# right: zip_longest over the reversed shapes
def infer_size(a, b):
    from itertools import zip_longest
    ndim, sizes = max(len(a), len(b)), []
    for back, (m, n) in enumerate(zip_longest(reversed(a), reversed(b), fillvalue=1)):
        if m == n or n == 1:
            sizes.append(m)
        elif m == 1:
            sizes.append(n)
        else:
            raise size_mismatch(m, n, ndim - back - 1)
    return tuple(sizes[::-1])

# right: the misfits are collected, and the last of them is raised
def infer_size(a, b):
    ndim = max(len(a), len(b))
    pairs = [*zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b)]
    wrong = [dim for dim, (m, n) in enumerate(pairs) if m != n and m != 1 and n != 1]
    if wrong:
        raise size_mismatch(*pairs[wrong[-1]], wrong[-1])
    return tuple(m if n == 1 else n for m, n in pairs)

# right: recursion from the last dimension
def infer_size(a, b):
    if not a or not b:
        return tuple(a or b)
    (*front, m), (*other, n) = a, b
    if m != n and m != 1 and n != 1:
        raise size_mismatch(m, n, max(len(front), len(other)))
    return (*infer_size(tuple(front), tuple(other)), m if n == 1 else n)

# right: the longer shape is copied, and the shorter one written over its end
def infer_size(a, b):
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    sizes, offset = list(long), len(long) - len(short)
    for i in range(len(short) - 1, -1, -1):
        here, there = sizes[i + offset], short[i]
        if here == 1:
            sizes[i + offset] = there
        elif there not in (1, here):
            first, second = (here, there) if long is a else (there, here)
            raise size_mismatch(first, second, i + offset)
    return tuple(sizes)

# wrong -: NumPy is asked, and its error is translated
def infer_size(a, b):
    from numpy import broadcast_shapes
    try:
        return broadcast_shapes(a, b)
    except ValueError:
        back = next(i for i in range(1, 1 + min(len(a), len(b))) if a[-i] != b[-i])
        raise size_mismatch(a[-back], b[-back], max(len(a), len(b)) - back) from None

# wrong 04a_1_takes_larger: the product of the sizes, where one of them is one, or else the maximum
def infer_size(a, b):
    ndim, sizes = max(len(a), len(b)), []
    for i in range(1, ndim + 1):
        m = a[-i] if i <= len(a) else 1
        n = b[-i] if i <= len(b) else 1
        if m > 1 and n > 1 and m != n:
            raise size_mismatch(m, n, ndim - i)
        sizes.append(max(m, n))
    return tuple(sizes[::-1])

# wrong -: a size of zero matches everything
def infer_size(a, b):
    ndim, sizes = max(len(a), len(b)), []
    for i in range(1, ndim + 1):
        m = a[-i] if i <= len(a) else 1
        n = b[-i] if i <= len(b) else 1
        if m > 1 and n > 1 and m != n:
            raise size_mismatch(m, n, ndim - i)
        sizes.append(0 if 0 in (m, n) else max(m, n))
    return tuple(sizes[::-1])

# wrong -: a size that divides the other is repeated
def infer_size(a, b):
    ndim, sizes = max(len(a), len(b)), []
    for i in range(1, ndim + 1):
        m = a[-i] if i <= len(a) else 1
        n = b[-i] if i <= len(b) else 1
        if m == n or n == 1 or n and m % n == 0 and m:
            sizes.append(m)
        elif m == 1 or m and n % m == 0 and n:
            sizes.append(n)
        else:
            raise size_mismatch(m, n, ndim - i)
    return tuple(sizes[::-1])

# wrong -: the longer shape is named first in the error
def infer_size(a, b):
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    sizes, offset = list(long), len(long) - len(short)
    for i in range(len(short) - 1, -1, -1):
        here, there = sizes[i + offset], short[i]
        if here == 1:
            sizes[i + offset] = there
        elif there not in (1, here):
            raise size_mismatch(here, there, i + offset)
    return tuple(sizes)

# wrong 04a_1_wrong_dimension_named: dimensions count from the front of the shorter shape
def infer_size(a, b):
    sizes = []
    for back, (m, n) in enumerate(zip(a[::-1], b[::-1]), 1):
        if m != n and m != 1 and n != 1:
            raise size_mismatch(m, n, min(len(a), len(b)) - back)
        sizes.append(m if n == 1 else n)
    common = len(sizes)
    return (*(a[:-common] if common else a)[:len(a) - common], *(b[:-common] if common else b)[:len(b) - common], *sizes[::-1])
