def check_multiplies_by_gradient(inputs, outputs, masked):
    goals, live = differentiable(inputs), differentiable(outputs)
    for g, x in zip(grad(live, goals, zeros_for(live), True, allow_unused=True), goals):
        if g is None:
            continue
        check_fits(g, x)
        if not is_zero(g, masked):
            raise GradcheckError("backward not multiplied by grad_output")

def check_undefined(func, inputs, count):
    goals = differentiable(inputs)

    def case(missing):
        live = differentiable(as_tuple(func(*inputs)))
        given = [without_gradient(o) if i in missing else o for i, o in enumerate(live)]
        try:
            found = grad(given, goals, zeros_for(live), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if not all(g is None or is_zero(g) for g in found):
            raise undefined_error(NOT_ZERO)

    case(range(count))
    for i in range(count if count > 1 else 0):
        case([i])

# right: one helper runs each case
# These are the functions above.

# right: each output alone first, and all together at the end
def check_multiplies_by_gradient(inputs, outputs, masked):
    goals, live = differentiable(inputs), differentiable(outputs)
    found = grad(live, goals, zeros_for(live), retain_graph=True, allow_unused=True)
    pairs = [(g, x) for g, x in zip(found, goals) if g is not None]
    if any(not is_zero(g, masked) for g, _ in pairs):
        raise GradcheckError("backward not multiplied by grad_output")
    for g, x in pairs:
        check_fits(g, x)

def check_undefined(func, inputs, count):
    cases = [{i} for i in range(count)]
    if count != 1:
        cases.append(set(range(count)))
    for missing in cases:
        outputs = list(differentiable(as_tuple(func(*inputs))))
        zeros = zeros_for(outputs)
        for i in missing:
            outputs[i] = without_gradient(outputs[i])
        try:
            found = grad(outputs, differentiable(inputs), zeros, allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        for g in found:
            if g is not None and not is_zero(g):
                raise undefined_error(NOT_ZERO)

# right: the cases as rows of a table
def check_multiplies_by_gradient(inputs, outputs, masked):
    goals = differentiable(inputs)
    outputs = differentiable(outputs)
    found = grad(outputs, goals, zeros_for(outputs), True, allow_unused=True)
    for i in range(len(goals)):
        if found[i] is not None:
            if not is_zero(found[i], masked):
                raise GradcheckError("backward not multiplied by grad_output")
            check_fits(found[i], goals[i])

def check_undefined(func, inputs, count):
    table = np.concatenate([np.ones((1, count), bool), np.eye(count if count > 1 else 0, count,
                                                             dtype=bool)])
    for row in table:
        live = differentiable(as_tuple(func(*inputs)))
        roots = [without_gradient(o) if gone else o for o, gone in zip(live, row)]
        try:
            found = grad(roots, differentiable(inputs), zeros_for(roots), None, allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if [g for g in found if g is not None and not is_zero(g)]:
            raise undefined_error(NOT_ZERO)

# wrong 09_5_only_all_together: a missing output is the only one that backward starts from
def check_undefined(func, inputs, count):
    goals = differentiable(inputs)

    def case(missing):
        live = differentiable(as_tuple(func(*inputs)))
        given = [without_gradient(live[i]) for i in missing]
        try:
            found = grad(given, goals, zeros_for(given), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if not all(g is None or is_zero(g) for g in found):
            raise undefined_error(NOT_ZERO)

    case(range(count))
    for i in range(count if count > 1 else 0):
        case([i])

# right: a gradient is missing where backward does not start from the output
def check_undefined(func, inputs, count):
    goals = differentiable(inputs)

    def case(missing):
        live = differentiable(as_tuple(func(*inputs)))
        given = [without_gradient(o) if len(missing) == len(live) else o
                 for i, o in enumerate(live) if len(missing) == len(live) or i not in missing]
        try:
            found = grad(given, goals, zeros_for(given), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if not all(g is None or is_zero(g) for g in found):
            raise undefined_error(NOT_ZERO)

    case(list(range(count)))
    for i in range(count if count > 1 else 0):
        case([i])

# wrong -: the zeros go back from one output after the other
def check_multiplies_by_gradient(inputs, outputs, masked):
    goals = differentiable(inputs)
    for output in differentiable(outputs):
        found = grad(output, goals, zeros_for([output])[0], True, allow_unused=True)
        for g, x in zip(found, goals):
            if g is None:
                continue
            check_fits(g, x)
            if not is_zero(g, masked):
                raise GradcheckError("backward not multiplied by grad_output")

# wrong -: the gradients of all inputs are added up
def check_multiplies_by_gradient(inputs, outputs, masked):
    goals, live = differentiable(inputs), differentiable(outputs)
    total = 0.0
    for g, x in zip(grad(live, goals, zeros_for(live), True, allow_unused=True), goals):
        if g is not None:
            check_fits(g, x)
            total += float(host(g).sum())
    if abs(total) > (1e-8 if masked else 0):
        raise GradcheckError("backward not multiplied by grad_output")

def check_undefined(func, inputs, count):
    goals = differentiable(inputs)

    def case(missing):
        live = differentiable(as_tuple(func(*inputs)))
        given = [without_gradient(o) if i in missing else o for i, o in enumerate(live)]
        try:
            found = grad(given, goals, zeros_for(live), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if sum(float(host(g).sum()) for g in found if g is not None):
            raise undefined_error(NOT_ZERO)

    case(range(count))
    for i in range(count if count > 1 else 0):
        case([i])
