def nearly_equal(analytical, numerical, rtol, atol):
    return bool(np.isclose(analytical, numerical, rtol=rtol, atol=atol).all())

def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    live = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    if not live:
        check_is_constant(numerical, 0.0)
        return
    by_forward = forward_jacobians(func, inputs, results, limits) if forward else None
    for number, at in enumerate(live):
        found = ([row[at] for row in by_forward] if forward
                 else analytical_jacobians(inputs, results[at], limits))
        for i, analytical in enumerate(found):
            check_equal(analytical, numerical[i][at], number, i, limits, forward)

# right: isclose, and two loops over all positions
# These are the functions above.

# right: the difference by hand, and the inputs outside
def nearly_equal(analytical, numerical, rtol, atol):
    a, n = np.asarray(analytical), np.asarray(numerical)
    with np.errstate(invalid="ignore"):
        close = (np.abs(a - n) <= atol + rtol * np.abs(n)) & np.isfinite(n)
    return bool(np.all(close | (a == n)))

def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    live = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    if len(live) == 0:
        return check_is_constant(numerical, 0.0)
    if forward:
        table = forward_jacobians(func, inputs, results, limits)
    else:
        columns = [analytical_jacobians(inputs, results[at], limits) for at in live]
        table = None
    for i in range(len(numerical)):
        for number, at in enumerate(live):
            analytical = table[i][at] if forward else columns[number][i]
            check_equal(analytical, numerical[i][at], number, i, limits, forward)

# right: number by number
def nearly_equal(analytical, numerical, rtol, atol):
    def near(a, n):
        if a == n:
            return True
        return abs(n) != float("inf") and abs(a - n) <= atol + rtol * abs(n)
    pairs = zip(np.asarray(analytical).ravel().tolist(), np.asarray(numerical).ravel().tolist())
    return all(near(a, n) for a, n in pairs)

def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    keep = [isinstance(r, Tensor) and r.requires_grad for r in results]
    if not any(keep):
        check_is_constant(numerical, 0.0)
    else:
        def kept(row):
            return [each for each, wanted in zip(row, keep) if wanted]
        expected = [kept(row) for row in numerical]
        if forward:
            got = [kept(row) for row in forward_jacobians(func, inputs, results, limits)]
        else:
            got = list(zip(*(analytical_jacobians(inputs, r, limits) for r in kept(results))))
        for output in range(sum(keep)):
            for given in range(len(expected)):
                check_equal(got[given][output], expected[given][output], output, given, limits,
                            forward)

# wrong -: the length of the difference, against that of the numerical jacobian
def nearly_equal(analytical, numerical, rtol, atol):
    a, n = np.asarray(analytical), np.asarray(numerical)
    with np.errstate(invalid="ignore"):
        return bool(np.array_equal(a, n) or (
            np.linalg.norm(a - n) <= atol + rtol * np.linalg.norm(n) < np.inf))

# wrong -: the largest difference, against the largest slope
def nearly_equal(analytical, numerical, rtol, atol):
    a, n = np.asarray(analytical), np.asarray(numerical)
    if np.array_equal(a, n):
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.abs(a - n).max() <= atol + rtol * np.abs(n).max() < np.inf)

# wrong 09_3_the_larger_tolerance: math.isclose for each number
import math

def nearly_equal(analytical, numerical, rtol, atol):
    pairs = zip(np.asarray(analytical).ravel().tolist(), np.asarray(numerical).ravel().tolist())
    return all(math.isclose(a, n, rel_tol=rtol, abs_tol=atol) for a, n in pairs)

# wrong 09_3_relative_only: a relative difference, with atol as the smallest divisor
def nearly_equal(analytical, numerical, rtol, atol):
    a, n = np.asarray(analytical), np.asarray(numerical)
    with np.errstate(all="ignore"):
        relative = np.abs(a - n) / np.maximum(np.abs(n), atol)
        return bool(((a == n) | (relative <= rtol)).all())

# right: each pair that differs is noted, and the last one is raised
def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    live = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    if not live:
        check_is_constant(numerical, 0.0)
        return
    by_forward, error = forward_jacobians(func, inputs, results, limits) if forward else None, None
    for number, at in enumerate(live):
        found = ([row[at] for row in by_forward] if forward
                 else analytical_jacobians(inputs, results[at], limits))
        for i, analytical in enumerate(found):
            try:
                check_equal(analytical, numerical[i][at], number, i, limits, forward)
            except RuntimeError as each:
                error = each
    if error is not None:
        raise error
