"""Probes of stage 04b: reductions of random shapes along random dimensions, products, indices.

The formulas are asked through the node of a recorded operation, with arrays and with tensors.
"""

import math
import warnings

import numpy as np
from probing import tried

import minigrad as torch
from minigrad.backend import kernels_index
from minigrad.op.declaration import F
from minigrad.ops.linalg import matmul
from minigrad.ops.reduction import array_moments, array_norm, nan_sums, vector_norm
from minigrad.ops.reduction import dims as along
from minigrad.ops.reduction import sum_mean as reduce


def array(random, shape, low=-2.0, high=2.0):
    """Return a random array."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.uniform(low, high) for _ in range(size)]).reshape(shape)


def tensor(values, grad=True):
    """Return a leaf."""
    made = torch.Tensor._plain(np.asarray(values))
    made._requires_grad = grad
    return made


def slopes(random, result):
    """Return what the node of a result makes of a random gradient, from arrays and tensors.

    The last element is whether the gradient and the result have stayed as they are.
    """
    node = result.grad_fn
    g = array(random, tuple(result.shape))
    before = g.copy(), result._array.copy()
    with torch.no_grad():
        from_arrays = [None if each is None else np.array(each)
                       for each in node.apply_arrays((g,), None)]
        stayed = np.array_equal(before[0], g) and np.array_equal(
            before[1], result._array, equal_nan=True)
        return [*from_arrays, *[None if each is None else each.detach().numpy().copy()
                                for each in node.apply_tensors((tensor(before[0], False),))],
                stayed]


def twice(random, program, *arrays):
    """Return the gradients of a random sum of a program's gradients."""
    inputs = [tensor(each) for each in arrays]
    result = program(*inputs)
    g = tensor(array(random, tuple(result.shape)), grad=False)
    grads = torch.autograd.grad(result, inputs, g, create_graph=True)
    directions = [tensor(array(random, tuple(each.shape)), grad=False) for each in grads]
    return [None if each is None else each.numpy().copy() for each in torch.autograd.grad(
        grads, inputs, directions, allow_unused=True)]


def dimensions(random, ndim):
    """Return what may stand for `dim`."""
    some = random.sample(range(ndim), random.randint(1, ndim))
    return random.choice([random.randrange(-ndim, ndim), random.randrange(ndim), tuple(some),
                          tuple(each - ndim for each in some)])


def lost_dimensions():
    """Return stand-ins for two helpers, so that a mistake there costs its own hole alone."""
    def extent(sizes, dim):
        empty = np.empty(sizes, np.bool_)
        left = np.sum(empty, dim if dim is None or isinstance(dim, int) else tuple(dim)).size
        return empty.size // left if left else 0

    def unsqueeze_reduced(value, sizes, dim, keepdim):
        if keepdim or (dim is None and not value.shape):
            return value
        axes = dim if dim is None or isinstance(dim, int) else tuple(dim)
        return value.reshape(np.sum(np.empty(sizes, np.bool_), axes, keepdims=True).shape)

    return extent, unsqueeze_reduced


def standing_in(program):
    """Run a program with substitutes for the helpers in each module that uses them."""
    made = dict(zip(("extent", "unsqueeze_reduced"), lost_dimensions(), strict=True))
    put_back = made["unsqueeze_reduced"]
    formulas = [(reduce.Sum, lambda g, self_sizes, dim, keepdim: F.expand(
                    put_back(g, self_sizes, dim, keepdim), self_sizes)),
                (reduce.SumAll, lambda g, self_sizes: F.expand(g, self_sizes)),
                (reduce.Mean, lambda g, self_sizes, dim, keepdim: F.expand(
                    put_back(g, self_sizes, dim, keepdim), self_sizes)
                    / made["extent"](self_sizes, dim)),
                (reduce.MeanAll, lambda g, self_sizes: F.expand(g, self_sizes)
                 / int(np.prod(self_sizes)))]
    written = [(op, op.grad_self) for op, _ in formulas]
    before = [(module, name, getattr(module, name)) for name in made
              for module in (reduce, vector_norm, array_moments, array_norm, nan_sums)
              if hasattr(module, name)]
    for module, name, _ in before:
        setattr(module, name, made[name])
    for op, formula in formulas:
        op.grad_self = staticmethod(formula)
    try:
        return program()
    finally:
        for op, formula in written:
            op.grad_self = staticmethod(formula)
        for module, name, helper in before:
            setattr(module, name, helper)


def probe_04b_1(random):
    seen = []
    for _ in range(20):
        sizes = tuple(random.randint(1, 4) for _ in range(random.randint(1, 4)))
        dim, keepdim = dimensions(random, len(sizes)), random.random() < 0.4
        listed = [dim] if isinstance(dim, int) else list(dim)
        seen.append([along.extent(sizes, dim), along.extent(sizes, None),
                     along.extent(sizes, listed)])
        x = tensor(array(random, sizes))
        for reduced in (torch.sum, torch.mean):
            result = reduced(x, dim, keepdim)
            seen.append(tried(lambda result=result: slopes(random, result)))
            seen.append(tried(lambda reduced=reduced, x=x: slopes(random, reduced(x))))
            for value in (result._array, tensor(result._array, grad=False)):
                back = along.unsqueeze_reduced(value, sizes, dim, keepdim)
                seen.append([list(back.shape), np.array(
                    back._array if isinstance(back, torch.Tensor) else back)])
        whole = np.array(random.random())
        seen.append(list(np.shape(along.unsqueeze_reduced(whole, sizes, None, False))))
    square = tensor(array(random, [3, 3]))
    for dim in (0, 1, -1):
        seen.append(slopes(random, square.sum(dim)))
        seen.append(slopes(random, square.mean(dim)))
    empty = tensor(np.zeros((0, random.randint(1, 3))))
    for result in (empty.mean(), empty.sum(), empty.mean(0), empty.sum(1), empty.mean(1)):
        def quiet(result=result):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return slopes(random, result)

        seen.append(tried(quiet))
    seen.append([along.extent((0, 3), 0), along.extent((0, 3), 1), along.extent((), None)])
    for mean in (square.mean(), square.mean(0)):  # may its gradient be written to?
        (grad,) = mean.grad_fn.apply_arrays((array(random, tuple(mean.shape)),), None)
        grad = np.asarray(grad)
        seen.append([bool(grad.flags.writeable), 0 in grad.strides])
    return seen


def probe_04b_2(random):
    def program():
        seen = []
        x = array(random, [3, 3])
        for name in ("var", "std"):
            seen.append(tried(lambda name=name: twice(
                random, lambda t: getattr(torch, name)(t, 1), x)))
        for x in (np.array([0.0, 2e-200, 4e-200]), np.array([math.nan, 1.0, 2.0]),
                  np.array([1e-9, 2e-9, 4e-9])):
            with np.errstate(all="ignore"):
                seen.append(slopes(random, torch.std(tensor(x * random.choice([1, 3])))))
        for _ in range(12):
            sizes = tuple(random.randint(2, 4) for _ in range(random.randint(1, 3)))
            dim, keepdim = dimensions(random, len(sizes)), random.random() < 0.4
            correction = random.choice([0, 0, 1, 0.5])
            x = array(random, sizes)
            if random.random() < 0.3:
                x[...] = random.randrange(-9, 9) / 8  # all are equal, and so is their mean
            for reduced in (torch.var, torch.std):
                seen.append(tried(lambda reduced=reduced, x=x, dim=dim, keepdim=keepdim,
                                  correction=correction: slopes(random, reduced(
                                      tensor(x), dim, correction=correction, keepdim=keepdim))))
                seen.append(tried(lambda reduced=reduced, x=x, correction=correction: slopes(
                    random, reduced(tensor(x), correction=correction))))
            g = np.array(random.uniform(1, 2))
            n = x.size
            for correction in (n - 1, n, n + random.randint(1, 2)):
                got = reduce.variance_backward(g, x + array(random, sizes), sizes, None, False,
                                               correction)
                seen.append(np.array(got))
        rows = array(random, [random.randint(2, 3), 3])
        seen.append(np.array(reduce.variance_backward(
            array(random, [rows.shape[0]]), rows, rows.shape, 1, False, 3)))
        return seen

    return standing_in(program)


def probe_04b_3(random):
    def program():
        seen = []
        for p in (0, 1, 2, 3, random.uniform(1.2, 4), 0.5, math.inf, -math.inf, 1.5):
            for _ in range(2):
                sizes = tuple(random.randint(2, 3) for _ in range(random.randint(1, 3)))
                dim, keepdim = dimensions(random, len(sizes)), random.random() < 0.4
                x = array(random, sizes)
                kind = random.random()
                if kind < 0.3:
                    x.reshape(-1)[random.randrange(x.size)] = 0.0
                elif kind < 0.4:
                    x[...] = 0.0
                elif kind < 0.7:
                    x = np.sign(x) * 1.5  # several are the largest
                for along_dim, keep in ((dim, keepdim), (None, False)):
                    seen.append(tried(lambda x=x, p=p, along_dim=along_dim, keep=keep: slopes(
                        random, torch.linalg.vector_norm(tensor(x), p, along_dim, keep))))
        for p in (-1, -2, -0.5):  # a zero makes the norm of the first row zero
            rows = array(random, [2, 3])
            rows[0, random.randrange(3)] = 0.0
            x = tensor(rows)
            torch.linalg.vector_norm(x, p, 1).backward(tensor(array(random, [2])).detach())
            seen.append(x.grad.numpy())
        for p in (2, 3, math.inf, 1.5, 1):
            seen.append(slopes(random, torch.linalg.vector_norm(tensor(np.zeros((2, 2))), p, 0)))
            ties = np.array([[1.5, -1.5, random.random()], [-2.0, 1.0, 2.0]])
            seen.append(slopes(random, torch.linalg.vector_norm(tensor(ties), p, 1)))
        some = array(random, [2, 3])
        some[0, random.randrange(3)] = 0.0
        seen.append(twice(random, lambda x: torch.linalg.vector_norm(x, 2, 1), some))
        for _ in range(6):
            sizes = tuple(random.randint(2, 3) for _ in range(random.randint(1, 3)))
            dim, keepdim = dimensions(random, len(sizes)), random.random() < 0.4
            x = array(random, sizes) + random.choice([0.0, 800.0, -800.0])
            seen.append(tried(lambda x=x, dim=dim, keepdim=keepdim: slopes(
                random, torch.logsumexp(tensor(x), dim, keepdim))))
        return seen

    return standing_in(program)


def probe_04b_4(random):
    seen = []
    for _ in range(40):
        n, k, m = (random.randint(1, 4) for _ in range(3))
        left = random.choice([(k,), (n, k), "batch"])
        right = random.choice([(k,), (k, m), "batch"])
        batch = [random.randint(2, 3) for _ in range(random.randint(1, 3))]

        def thinned(batch=batch):
            start = random.randrange(len(batch)) if random.random() < 0.4 else 0
            return [1 if random.random() < 0.3 else size for size in batch[start:]]

        left = (*thinned(), n, k) if left == "batch" else left
        right = (*thinned(), k, m) if right == "batch" else right
        if random.random() < 0.15:
            left, right = random.choice([((), right), (left, ()), ((), ())])
        a, b = tensor(array(random, left), False), tensor(array(random, right), False)

        def product(a=a, b=b):
            result = torch.matmul(a, b)
            return [type(result).__name__, result._array.copy()]

        seen.append(tried(product))
    for _ in range(4):
        n, k, m, b, c = (random.randint(1, 4) for _ in range(5))
        left, right = random.choice([((b, c, n, k), (k, m)), ((b, n, k), (k,)),
                                     ((b, 1, n, k), (c, k, m)), ((n, k), (b, c, k, m))])
        x, y = array(random, left), array(random, right)
        whole = torch.matmul(*(tensor((each * 9).astype(np.int32), False) for each in (x, y)))
        seen.append([str(whole.dtype), whole.numpy().copy()])
        recorded = matmul.rows_by_matrix if len(right) < 3 else matmul.batched_matmul
        seen.append([count_products(recorded(tensor(x), tensor(y)))])
    for _ in range(6):  # sizes of one, and vectors on either side
        k, *sizes = (random.choice([1, 1, 2, 3]) for _ in range(5))
        x, y = array(random, [*sizes[:2], k]), array(random, [k])
        seen.append(tried(lambda x=x, y=y: matmul.batched_matmul(
            tensor(x, False), tensor(y, False)).numpy().copy()))
        x, y = array(random, [k]), array(random, [*sizes[:2], k, sizes[2]])
        seen.append(tried(lambda x=x, y=y: matmul.batched_matmul(
            tensor(x, False), tensor(y, False)).numpy().copy()))
        seen.append(tried(lambda sizes=sizes: matmul.rows_by_matrix(
            torch.zeros(*sizes[:2], 0), torch.zeros(0, sizes[2])).numpy().copy(), text=False))
    for left, right in (((0, 2, 3), (0, 3, 1)), ((2, 1, 1, 2), (0, 2, 3))):
        seen.append(tried(lambda left=left, right=right: list(torch.matmul(
            torch.zeros(*left), torch.zeros(*right)).shape), text=False))
    return seen


def count_products(result):
    """Return how many matrix products are in a result's graph."""
    found, waiting = set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            if any(name in node.name() for name in ("Bmm", "Mm", "Mv", "Dot")):
                found.add((id(node), "Bmm" in node.name()))
            waiting += [after for after, _ in node.next_functions]
    return sorted(batched for _, batched in found)


def probe_04b_5(random):
    seen = []

    def matrix(*sizes):
        if random.random() < 0.4:
            made = array(random, (*sizes[:-2], sizes[-1], sizes[-2]))
            return tensor(np.swapaxes(made, -1, -2))
        return tensor(array(random, sizes))

    for name, left, right in (("mm", [2, 3], [3, 2]), ("bmm", [2, 1, 3], [2, 3, 2]),
                              ("mv", [2, 3], [3]), ("dot", [3], [3])):
        a, b = array(random, left), array(random, right)
        seen.append(tried(lambda name=name, a=a, b=b: twice(random, getattr(torch, name), a, b)))
    n, k, m = (random.randint(1, 4) for _ in range(3))
    seen.append(tried(lambda: slopes(random, torch.bmm(
        tensor(np.zeros((0, n, k))), tensor(np.zeros((0, k, m)))))))
    for _ in range(6):
        b, n, k, m = (random.randint(1, 4) for _ in range(4))
        square = random.random() < 0.3
        if square:
            b = n = k = m
        vector = tensor(array(random, [k]))
        seen.append(tried(lambda: slopes(random, torch.mm(matrix(n, k), matrix(k, m)))))
        seen.append(tried(lambda: slopes(random, torch.bmm(matrix(b, n, k), matrix(b, k, m)))))
        seen.append(tried(lambda vector=vector: slopes(random, torch.mv(matrix(n, k), vector))))
        seen.append(tried(lambda vector=vector: slopes(
            random, torch.dot(vector, tensor(array(random, [k]))))))
    return seen


def probe_04b_6(random):
    seen = []

    def laid_out(sizes):
        kind = random.randrange(3)
        if kind == 0:
            return array(random, sizes)
        if kind == 1:
            return np.asfortranarray(array(random, sizes))
        return array(random, [2 * n for n in sizes])[tuple(slice(None, None, 2) for _ in sizes)]

    for _ in range(10):
        ndim = random.randint(1, 4)
        sizes = [random.randint(1, 4) for _ in range(ndim)]
        dim = random.randrange(ndim)
        covered = [random.randint(1, n) for n in sizes]
        covered[dim] = random.randint(1, 5)
        index = np.array([random.randrange(sizes[dim]) for _ in range(int(np.prod(covered)))]
                         ).reshape(covered)
        positions = kernels_index._positions(np, tuple(sizes), dim, index)
        seen.append([str(positions.dtype)[:3], positions.tolist()])
        source = array(random, [n + random.randint(0, 2) for n in covered])
        target = laid_out(sizes)
        counted = dim - ndim if random.random() < 0.5 else dim
        seen.append(tried(lambda target=target, counted=counted, index=index, source=source: [
            kernels_index.scatter_add(np, target, counted, index, source) is target]))
        seen.append(target.copy())
        target = laid_out(sizes)
        vector = np.array([random.randrange(sizes[dim]) for _ in range(random.randint(1, 5))])
        shape = [vector.size if i == dim else 1 if random.random() < 0.2 else n
                 for i, n in enumerate(sizes)]
        source = array(random, shape)
        seen.append(tried(lambda target=target, counted=counted, vector=vector, source=source: [
            kernels_index.index_add(np, target, counted, vector, source) is target]))
        seen.append(target.copy())
        target = laid_out(sizes)
        places = np.array([random.randrange(target.size) for _ in range(6)]).reshape(2, 3)
        values = array(random, random.choice([(2, 3), (3,), (2, 1), ()]))
        seen.append(tried(lambda target=target, places=places, values=values: [
            kernels_index._add_at(np, target, places, values) is target]))
        seen.append(target.copy())
        target, values = np.ones(4, np.int64), np.array([2**60 + 1, random.randint(1, 9), -3])
        seen.append(kernels_index._add_at(np, target, np.array([1, 1, 2]), values).tolist())
        values = np.array([-0.5, random.uniform(0.1, 0.9)])
        seen.append(kernels_index._add_at(np, target, np.array([1, 1]), values).tolist())
        target, places = np.zeros(4), np.array(random.sample(range(4), 3))
        values = np.array([random.random(), np.inf, 1e30])
        seen.append(kernels_index._add_at(np, target, places, values).copy())
        axis = random.randrange(ndim)
        seen.append(kernels_index._along(array(random, [3]), axis, ndim))
    for add in (kernels_index.scatter_add, kernels_index.index_add):
        target = np.array(random.random())
        seen.append(add(np, target, random.choice([0, -1]), np.array([0]), array(random, [1])) is
                    target)
        seen.append(target.copy())
    return seen
