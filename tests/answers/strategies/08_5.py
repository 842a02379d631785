# right: jacobian of jacobian, on tuples throughout
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    as_tuple, xs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        def number(*xs):
            return _single_output(func, xs, strict, "hessian").reshape(())
        found = jacobian(number, xs, create_graph=True)
        require_dependence(found, "jacobian", strict)
        return found

    blocks = jacobian(slopes, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if as_tuple else blocks[0][0]

# right: the slopes are nested as the inputs are, so jacobian nests the blocks
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)

    def number(*xs):
        return F.reshape(_single_output(func, xs, strict, "hessian"), ())

    def slopes(*xs):
        given = xs if isinstance(inputs, tuple) else xs[0]
        found = jacobian(number, given, create_graph=True)
        require_dependence(tensor_tuple(found, "inputs", "hessian")[1], "jacobian", strict)
        return found

    tensor_tuple(inputs, "inputs", "hessian")
    return jacobian(slopes, inputs, create_graph=create_graph, strict=strict,
                    vectorize=vectorize, strategy=outer_jacobian_strategy)

# right: the slopes are gradients with a graph
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    as_tuple, xs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        output = _single_output(func, xs, strict, "hessian")
        found = gradients((output,), xs, None, True)
        found = zeros_for_missing(found, xs, "gradient", False, True)
        require_dependence(found, "jacobian", strict)
        return found

    blocks = jacobian(slopes, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if as_tuple else blocks[0][0]

# wrong -: one input gives one block, also in a tuple
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    _, xs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        def number(*xs):
            return _single_output(func, xs, strict, "hessian").reshape(())
        found = jacobian(number, xs, create_graph=True)
        require_dependence(found, "jacobian", strict)
        return found

    blocks = jacobian(slopes, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if len(xs) > 1 else blocks[0][0]

# wrong -: one hessian of all inputs joined, cut into blocks
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    as_tuple, xs = tensor_tuple(inputs, "inputs", "hessian")
    sizes = [x.numel() for x in xs]

    def parts(joined):
        return [F.reshape(p, x.shape) for p, x in zip(F.split(joined, sizes), xs)]

    def slopes(joined):
        def number(joined):
            return _single_output(func, tuple(parts(joined)), strict, "hessian").reshape(())
        found = jacobian(number, joined, create_graph=True)
        require_dependence((found,), "jacobian", strict)
        return found

    with enable_grad():
        joined = F.cat([F.reshape(x, (-1,)) for x in xs])
    whole = jacobian(slopes, joined, create_graph, strict, vectorize, outer_jacobian_strategy)
    blocks = tuple(tuple(F.reshape(b, (*x.shape, *y.shape))
                         for b, y in zip(F.split(rows, sizes, 1), xs))
                   for rows, x in zip(F.split(whole, sizes, 0), xs))
    return blocks if as_tuple else blocks[0][0]

# wrong 08_5_strict_says_nothing: the inner jacobian is strict, and the slopes are not checked
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    as_tuple, xs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        def number(*xs):
            return _single_output(func, xs, strict, "hessian").reshape(())
        return jacobian(number, xs, create_graph=True, strict=strict)

    blocks = jacobian(slopes, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if as_tuple else blocks[0][0]

# right: only the blocks on and below the diagonal, the others are their transposes
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    as_tuple, xs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        def number(*xs):
            return _single_output(func, xs, strict, "hessian").reshape(())
        found = jacobian(number, xs, create_graph=True)
        require_dependence(found, "jacobian", strict)
        return found

    found = jacobian(slopes, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    blocks = [list(row) for row in found]
    for i, x in enumerate(xs):
        for j in range(i + 1, len(xs)):
            low = F.reshape(found[j][i], (xs[j].numel(), x.numel()))
            blocks[i][j] = F.reshape(F.transpose(low, 0, 1), (*x.shape, *xs[j].shape))
    blocks = tuple(map(tuple, blocks))
    return blocks if as_tuple else blocks[0][0]

# wrong 08_5_the_strategy_is_not_passed_on: the row of each slope from gradients
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "hessian")
        output = _single_output(func, xs, strict, "hessian")
        slopes = zeros_for_missing(gradients((output,), xs, None, True), xs, "gradient", False, True)
        require_dependence(slopes, "jacobian", strict)
        blocks = []
        for slope in slopes:
            rows = rows_of(slope, xs, create_graph)
            stacks = [stacked([row[j] for row in rows], x) for j, x in enumerate(xs)]
            blocks.append(blocks_of(slope, stacks, xs))
    return nested_result(blocks, as_tuple, as_tuple, create_graph)
