"""Stage 09, written from the tasks by somebody who thinks in flat arrays."""


def numerical_jacobians(func, inputs, results, eps):
    answer = []
    for tensor in differentiable(inputs):
        made = [np.zeros((tensor.numel(), r.numel()), r._array.dtype) for r in results]
        for row, place in enumerate(np.ndindex(*tensor.shape)):
            old = float(tensor._array[place])
            try:
                tensor._array[place] = old + eps
                above = [host(r) for r in as_tuple(func(*inputs))]
                tensor._array[place] = old - eps
                below = [host(r) for r in as_tuple(func(*inputs))]
            finally:
                tensor._array[place] = old
            for number, jacobian in enumerate(made):
                check_alike(below[number], above[number], place, eps)
                if np.issubdtype(jacobian.dtype, np.floating):
                    jacobian[row] = (above[number] - below[number]).ravel() / (2 * eps)
        answer.append(made)
    return answer


def jacobian_columns(inputs, output):
    columns = []
    for number in range(output.numel()):
        vector = np.zeros(output.numel(), output._array.dtype)
        vector[number] = 1
        vector = Tensor._plain(vector.reshape(tuple(output.shape)))
        found = grad(output, differentiable(inputs), vector, retain_graph=True, allow_unused=True)
        columns.append([g if g is None else Tensor._plain(host(g)) for g in found])
    return columns


def assembled(inputs, columns):
    answer = []
    for number, tensor in enumerate(differentiable(inputs)):
        flat = []
        for column in columns:
            g = column[number]
            fits = g is not None and g.shape == tensor.shape
            flat.append(host(g).ravel() if fits else np.zeros(tensor.numel()))
        made = np.array(flat).reshape(len(columns), tensor.numel()).T
        answer.append(made.astype(tensor._array.dtype))
    return answer


def nearly_equal(analytical, numerical, rtol, atol):
    near = np.abs(analytical - numerical) <= atol + rtol * np.abs(numerical)
    return near.all()


def check_slow(func, inputs, limits, results, forward):
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    if len(differentiable(results)) == 0:
        return check_is_constant(numerical, 0.0)
    if forward:
        tangents = forward_jacobians(func, inputs, results, limits)
    number = 0
    for place, result in enumerate(results):
        if not isinstance(result, Tensor) or not result.requires_grad:
            continue
        if forward:
            engine = [of_input[place] for of_input in tangents]
        else:
            engine = analytical_jacobians(inputs, result, limits)
        for which in range(len(numerical)):
            check_equal(engine[which], numerical[which][place], number, which, limits, forward)
        number += 1


def check_inputs(inputs):
    found = 0
    for index, tensor in enumerate(inputs):
        if isinstance(tensor, Tensor) and tensor.requires_grad:
            found += 1
            if tensor._array.dtype != np.float64:
                warn_of_precision(index)
            for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
                if size > 1 and stride == 0:
                    raise overlap_error(index)
    if not found:
        raise ValueError(NOTHING_TO_CHECK)


def check_multiplies_by_gradient(inputs, outputs, masked):
    goals = differentiable(inputs)
    found = grad(outputs, goals, zeros_for(outputs), retain_graph=True, allow_unused=True)
    for goal, gradient in zip(goals, found, strict=True):
        if gradient is not None:
            if not is_zero(gradient, masked):
                raise GradcheckError("backward not multiplied by grad_output")
            check_fits(gradient, goal)


def check_undefined(func, inputs, count):
    everything = list(range(count))
    for missing in [everything] if count == 1 else [everything, *([i] for i in everything)]:
        outputs = list(differentiable(as_tuple(func(*inputs))))
        for i in missing:
            outputs[i] = without_gradient(outputs[i])
        try:
            found = grad(outputs, differentiable(inputs), zeros_for(outputs), allow_unused=True)
        except RuntimeError:
            raise undefined_error(NOT_HANDLED) from None
        for gradient in found:
            if gradient is not None and not is_zero(gradient):
                raise undefined_error(NOT_ZERO)


def first_gradients(func, count, live, *given):
    for number, tensor in enumerate(given):
        if live[number]:
            tensor.requires_grad_()
    goals = [given[number] for number in range(count) if live[number]]
    outputs = differentiable(as_tuple(func(*given[:count])))
    found = grad(outputs, goals, list(given[count:]), create_graph=True, allow_unused=True)
    return tuple([g for g in found if g is not None])
