"""Stage 09, written from lesson and tasks alone."""


def numerical_jacobians(func, inputs, results, eps):

    def moved(array, place, value):
        array[place] = value
        return [host(r) for r in as_tuple(func(*inputs))]
    jacobians = []
    for tensor in differentiable(inputs):
        array = tensor._array
        by_result = [np.zeros((array.size, r._array.size), host(r).dtype) for r in results]
        for i, place in enumerate(np.ndindex(array.shape)):
            old = array[place].copy()
            below = moved(array, place, old - eps)
            above = moved(array, place, old + eps)
            array[place] = old
            for jacobian, lo, hi in zip(by_result, below, above):
                check_alike(lo, hi, place, eps)
                if np.issubdtype(jacobian.dtype, np.floating):
                    jacobian[i] = ((hi - lo) / (2 * eps)).reshape(-1)
        jacobians.append(by_result)
    return jacobians


def jacobian_columns(inputs, output):
    goals = differentiable(inputs)
    columns = []
    for i in range(output.numel()):
        one = np.zeros(output._array.shape, host(output).dtype)
        one.reshape(-1)[i] = 1
        found = grad(output, goals, Tensor._plain(one), retain_graph=True, allow_unused=True)
        columns.append([None if g is None else Tensor._plain(host(g)) for g in found])
    return columns


def assembled(inputs, columns):
    jacobians = []
    for k, x in enumerate(differentiable(inputs)):
        jacobian = np.zeros((x.numel(), len(columns)), host(x).dtype)
        for j, column in enumerate(columns):
            g = column[k]
            if g is not None and g.shape == x.shape:
                jacobian[:, j] = host(g).reshape(-1)
        jacobians.append(jacobian)
    return jacobians


def nearly_equal(analytical, numerical, rtol, atol):
    analytical, numerical = (np.asarray(analytical), np.asarray(numerical))
    return bool(np.allclose(analytical, numerical, rtol, atol))


def first_gradients(func, count, live, *given):
    for t, alive in zip(given, live):
        if alive:
            t.requires_grad_()
    inputs, vectors = (given[:count], given[count:])
    outputs = differentiable(as_tuple(func(*inputs)))
    goals = [t for t, alive in zip(inputs, live) if alive]
    found = grad(outputs, goals, vectors, create_graph=True, allow_unused=True)
    return tuple((g for g in found if g is not None))


def check_inputs(inputs):
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype != np.float64:
            warn_of_precision(i)
        if any((step == 0 and size > 1 for step, size in zip(x.stride(), x.shape))):
            raise overlap_error(i)
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)


def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    live = [k for k, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    if not live:
        check_is_constant(numerical, 0.0)
        return
    by_forward = forward_jacobians(func, inputs, results, limits) if forward else None
    for number, k in enumerate(live):
        if forward:
            computed = [row[k] for row in by_forward]
        else:
            computed = analytical_jacobians(inputs, results[k], limits)
        for given, found in enumerate(computed):
            check_equal(found, numerical[given][k], number, given, limits, forward)


def check_multiplies_by_gradient(inputs, outputs, masked):
    goals = differentiable(inputs)
    found = grad(outputs, goals, zeros_for(outputs), retain_graph=True, allow_unused=True)
    for g, goal in zip(found, goals):
        if g is None:
            continue
        if not is_zero(g, masked):
            raise GradcheckError('backward not multiplied by grad_output')
        check_fits(g, goal)


def check_undefined(func, inputs, count):
    goals = differentiable(inputs)
    cases = [set(range(count))]
    if count > 1:
        cases += [{i} for i in range(count)]
    for missing in cases:
        outputs = differentiable(as_tuple(func(*inputs)))
        outputs = [without_gradient(o) if i in missing else o for i, o in enumerate(outputs)]
        try:
            found = grad(outputs, goals, zeros_for(outputs), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if not all((g is None or is_zero(g) for g in found)):
            raise undefined_error(NOT_ZERO)
