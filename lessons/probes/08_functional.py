"""Probes of stage 08: random functions of one or several tensors, in every mode and nesting."""

import numpy as np
from probing import array, tensor, tried

import minigrad as torch
from minigrad import _state
from minigrad.autograd import functional
from minigrad.autograd.functional import checks as functional_checks
from minigrad.autograd.functional import derivatives
from minigrad.autograd.functional import passes as functional_passes


def in_mode(on, program):
    """Run a program with recording on or off; tell the mode that it leaves as well."""
    before = _state.grad_enabled.get()
    _state.grad_enabled.set(on)
    try:
        return [tried(program), _state.grad_enabled.get()]
    finally:
        _state.grad_enabled.set(before)


def shown(value):
    """Return nested tensors as arrays, each with whether it requires grad."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, torch.Tensor):
        return [str(value._array.dtype), value.requires_grad, value.detach().numpy().copy()]
    return value


def sum_of(value):
    """Return the sum of the squares of nested tensors that can be differentiated."""
    if isinstance(value, (tuple, list)):
        return sum((sum_of(each) for each in value), torch.tensor(0.0, dtype=torch.float64))
    return (value * value).sum() if value is not None and value.requires_grad else \
        torch.tensor(0.0, dtype=torch.float64)


def second(value, inputs):
    """Return how nested tensors depend on what the caller gave."""
    given = [x for x in (inputs if isinstance(inputs, tuple) else (inputs,)) if x.requires_grad]
    total = sum_of(value)
    if not given or not total.requires_grad:
        return None
    return shown(torch.autograd.grad(total, given, allow_unused=True))


def given_inputs(random):
    """Return a tensor or a tuple of them; some require grad."""
    count = random.randint(1, 3)
    made = tuple(tensor(random, [random.randint(2, 3)], grad=random.random() < 0.6)
                 for _ in range(count))
    return made[0] if count == 1 and random.random() < 0.7 else made


def a_function(random, scalar):
    """Return a random function; it may leave inputs out, be linear or return constants."""
    plan = [(random.uniform(-2, 2), random.uniform(-1, 1), random.random()) for _ in range(3)]
    count = 1 if scalar else random.choice([0, 1, 2, 3])  # 0: one tensor, bare
    constant, single = random.random() < 0.2, random.random() < 0.25
    shape = random.choice([(), (1,), (1, 1)])

    def one(inputs, shift):
        total = 0.0
        for i, x in enumerate(inputs):
            a, b, kind = plan[(i + shift) % 3]
            if kind < 0.2:
                continue
            s = x[: 2]
            total = total + (s * s * s * a + s * (s * b).sum() if kind < 0.8 else s * a)
        return total if isinstance(total, torch.Tensor) else torch.tensor(
            [1.0, 2.0], dtype=torch.float64)

    def function(*inputs):
        if scalar:
            return one(inputs, 0).sum().reshape(shape)
        made = [one(inputs, i) for i in range(max(count, 1))]
        if single:
            made = [each.sum() for each in made]
        if constant:
            made[-1] = torch.tensor([3.0, 4.0], dtype=torch.float64)
        return made[0] if count == 0 else tuple(made)

    return function


def alike(random, like, wrong=0.1):
    """Return a vector like the tensors, nested as they are; now and then a wrong one."""
    if random.random() < wrong:
        return random.choice([tensor(random, [5]), (), None, (tensor(random, [2]),) * 4])
    if isinstance(like, tuple):
        return tuple(alike(random, each, 0) for each in like)
    return tensor(random, tuple(like.shape), grad=random.random() < 0.4)


def probe_08_1(random):
    seen = []
    for _ in range(10):
        tensors = []
        for _ in range(random.randint(1, 4)):
            x = tensor(random, [random.randint(1, 3)], grad=random.random() < 0.6)
            tensors.append(x if random.random() < 0.6 or not x.requires_grad
                           else x * random.random())
        tensors = tuple(tensors)
        graph, wants = random.random() < 0.5, random.random() < 0.5
        before = [t.requires_grad for t in tensors]
        fresh = functional_checks.fresh_inputs(tensors, graph, wants)
        seen.append([shown(fresh), [a is b for a, b in zip(fresh, tensors, strict=True)],
                     [t.is_leaf for t in fresh], before == [t.requires_grad for t in tensors],
                     shown(functional_checks.fresh_inputs(tensors, graph))])
        leaves = tuple(t for t in tensors if t.requires_grad)
        if graph and leaves:
            joined = sum_of(fresh)
            seen.append([None if not joined.requires_grad else shown(torch.autograd.grad(
                joined, leaves, allow_unused=True, retain_graph=True))])
        for as_tuple in (True, False):
            seen.append(shown(functional_checks.result(tensors, as_tuple, graph)))
            rows = [tensors, tuple(t * 2 for t in tensors), tensors[::-1]][: random.randint(1, 3)]
            for inside in (True, False):
                seen.append(shown(functional_checks.nested_result(rows, as_tuple, inside, graph)))
    return seen


def probe_08_2(random):
    seen = []
    for _ in range(12):
        inputs = tuple(tensor(random, [2], grad=True) for _ in range(random.randint(1, 3)))
        outputs, vectors = [], []
        for _ in range(random.randint(1, 4)):
            kind, a = random.random(), random.uniform(1, 2)
            x = random.choice(inputs)
            outputs.append(None if kind < 0.15 else tensor(random, [2]) if kind < 0.35
                           else x * x * a if kind < 0.7 else x if kind < 0.8 else x * a)
            vectors.append(tensor(random, [2]))
        graph, keep = random.random() < 0.5, random.choice([None, True])
        for _ in range(2):
            found = tried(lambda inputs=inputs, outputs=outputs, vectors=vectors, graph=graph,
                          keep=keep: functional_passes.gradients(
                              outputs, inputs, tuple(vectors), graph, keep))
            seen.append(shown(found))
        if isinstance(found, tuple):
            seen.append(tried(lambda found=found, inputs=inputs: second(found, inputs)))
        scalars = [None if o is None else o.sum() if random.random() < 0.8 else o.sum().detach()
                   for o in [None if o is None else o.detach() if not o.requires_grad else
                             random.choice(inputs) * random.random() for o in outputs]]
        seen.append(shown(in_mode(random.random() < 0.5, lambda scalars=scalars, inputs=inputs:
                                  functional_passes.gradients(scalars, inputs, None, False))))
        like = tuple(torch.Tensor._plain(array(random, [random.randint(1, 3)]).astype(
            random.choice([np.float64, np.float32]))) for _ in range(4))
        found = tuple(None if random.random() < 0.3 else
                      torch.Tensor._plain(array(random, t.shape)) for t in like)
        for each in found:
            if each is not None and random.random() < 0.5:
                each.requires_grad_()
        for strict in (True, False):
            for graph in (True, False):
                step = random.choice(["gradient", "tangent", "row of hessian",
                                      "column of hessian"])
                seen.append(shown(tried(lambda found=found, like=like, step=step, strict=strict,
                                        graph=graph: functional_checks.zeros_for_missing(
                                            found, like, step, strict, graph))))
        many = torch.Tensor._plain(random.choice([1, np.inf]) * array(random, [2]))
        filled = functional_checks.zeros_for_missing([None, None], (many, many), "tangent", False,
                                                     random.random() < 0.5)
        filled[0].add_(random.random())
        seen.append(shown(filled))
    return seen


def products(random, function, scalar, names, rounds=9):
    """Call one of the functions with all that may be given to it."""
    seen = []
    for _ in range(rounds):
        inputs = given_inputs(random)
        func = a_function(random, scalar and random.random() < 0.85)
        like = inputs if "inputs" in names else func(
            *(inputs if isinstance(inputs, tuple) else (inputs,)))
        v = alike(random, like)
        graph, strict = random.random() < 0.5, random.random() < 0.35
        calls = []

        def counted(*args, func=func, calls=calls):
            calls.append([a.requires_grad for a in args])
            calls.append(_state.grad_enabled.get())
            return func(*args)

        got = in_mode(random.random() < 0.6, lambda inputs=inputs, v=v, graph=graph, strict=strict,
                      counted=counted: function(counted, inputs, v, graph, strict))
        # Whether a wrong vector is found before or after the call is free.
        seen.append([shown(got), calls if isinstance(got[0], tuple) else []])
        if isinstance(got[0], tuple) and graph:
            seen.append(tried(lambda got=got, inputs=inputs: second(got[0], inputs)))
            if isinstance(got[0][1], (tuple, torch.Tensor)):
                for given in (inputs, v):
                    seen.append(tried(lambda got=got, given=given: second(got[0][1], given)))

    def fails(*args):
        raise KeyError("on purpose")

    seen.append([in_mode(on, lambda: function(fails, tensor(random, [2]), tensor(random, [2])))
                 for on in (True, False)])
    for wrong in (lambda x: 1.5, lambda x: [x], lambda x: (x, 2)):
        seen.append(tried(lambda wrong=wrong: shown(
            function(wrong, tensor(random, [2]), tensor(random, [2])))))
    seen.append(tried(lambda: shown(function(lambda x: x.sum(), [tensor(random, [2])]))))
    return seen


def probe_08_3(random):
    return products(random, functional.vjp, False, "outputs")


def probe_08_4(random):
    seen = []
    for _ in range(6):
        inputs = tuple(tensor(random, [random.randint(1, 3)], grad=True)
                       for _ in range(random.randint(1, 3)))
        shape = [random.randint(1, 3) for _ in range(random.randint(0, 2))]
        like = torch.Tensor._plain(array(random, shape).astype(
            random.choice([np.float64, np.float32])))
        seen.append(shown(functional_passes.unit_vectors(like)))
        used = inputs[0]
        output = (used * used * random.random()).sum() * tensor(random, shape)
        graph = random.random() < 0.5
        rows = tried(lambda output=output, inputs=inputs, graph=graph:
                     functional_passes.rows_of(output, inputs, graph))
        seen.append(shown(rows))
        if graph and isinstance(rows, list):
            seen.append(tried(lambda rows=rows, inputs=inputs: second(rows, inputs)))
        seen.append(shown(tried(lambda output=output, inputs=inputs:
                                functional_passes.rows_of(output, inputs, False))))
        constant = tensor(random, shape)
        seen.append(shown(tried(lambda constant=constant, inputs=inputs:
                                functional_passes.rows_of(constant, inputs, False))))
        found = [None if random.random() < 0.3 else tensor(random, shape)
                 for _ in range(random.randint(0, 3))]
        seen.append(shown(tried(lambda found=found, like=output:
                                functional_passes.stacked(found, like))))
        seen.append(shown(tried(lambda like=like: functional_passes.stacked([], like))))
        x = tensor(random, [2], grad=True)
        found = [None, x * random.random()]
        seen.append(second(functional_passes.stacked(found, x), x))
        many = torch.Tensor._plain(np.full(2, random.choice([1.0, np.inf])))
        seen.append(shown([functional_passes.stacked(found, many),
                           functional_passes.unit_vectors(many)]))
        size = output.numel()
        blocks = [None if random.random() < 0.3 else tensor(random, [size, *x.shape])
                  for x in inputs]
        seen.append(shown(tried(lambda output=output, blocks=blocks, inputs=inputs:
                                derivatives.blocks_of(output, blocks, inputs))))
        matrix = tensor(random, [2, 3])
        whole = tensor(random, [2, 6 // 2, 2, 3]).reshape(6, 2, 3)
        seen.append(shown(derivatives.blocks_of(tensor(random, [2, 3]), [whole], (matrix,))))
    return seen


def probe_08_5(random):
    seen = []

    def hessian(func, inputs, v=None, graph=False, strict=False, **more):
        return functional.hessian(func, inputs, graph, strict, **more)

    for _ in range(8):
        inputs, func = given_inputs(random), a_function(random, random.random() < 0.85)
        graph, strict = random.random() < 0.5, random.random() < 0.4
        got = in_mode(random.random() < 0.6, lambda inputs=inputs, func=func, graph=graph,
                      strict=strict: functional.hessian(func, inputs, graph, strict))
        seen.append(shown(got))
        if graph and isinstance(got[0], (tuple, torch.Tensor)):
            seen.append(tried(lambda got=got, inputs=inputs: second(got[0], inputs)))
    cube = tensor(random, [2], grad=True)
    got = functional.hessian(lambda x: (x * x * x * random.uniform(1, 2)).sum(), cube, True)
    seen.append([shown(got), second(got, cube)])
    for strategy in ("forward-mode", "reverse-mode", "other", ""):
        for vectorize in (True, False):
            for strict in (True, False):
                func = a_function(random, True)
                seen.append(shown(tried(lambda func=func, strategy=strategy, strict=strict,
                                        vectorize=vectorize: functional.hessian(
                                            func, tensor(random, [2]), False, strict, vectorize,
                                            strategy))))
    for strict in (True, False):  # linear, constant, several elements, a tuple
        for func in (lambda x: x.sum() * 2, lambda x: torch.tensor(1.5, dtype=torch.float64),
                     lambda x: x * x, lambda x: (x.sum(),), lambda x: 1.0,
                     lambda x: (x * x * x).sum().reshape(1, 1)):
            seen.append(shown(tried(lambda func=func, strict=strict: functional.hessian(
                func, tensor(random, [2]), False, strict))))
    passes = []

    def noted(x):
        passes.append(type(x).__name__)
        y = x * x * x

        def look(grad):
            passes.append(list(grad.shape))

        y.register_hook(look)
        return y.sum()

    functional.hessian(noted, tensor(random, [3]), vectorize=True)
    seen.append(len(passes))
    return seen


def probe_08_6(random):
    seen = products(random, functional.jvp, False, "inputs")
    for _ in range(5):
        inputs = tuple(tensor(random, [2], grad=True) for _ in range(2))
        outputs = tuple(None if random.random() < 0.2 else x * x * random.random()
                        if random.random() < 0.7 else tensor(random, [2])
                        for x in (*inputs, inputs[0]))
        like = tuple(tensor(random, [2]) for _ in outputs)
        found, u = functional_passes.pullback(outputs, inputs, like)
        many = torch.Tensor._plain(random.choice([1, np.inf]) * array(random, [2]))
        seen.append(shown(functional_passes.pullback((inputs[0] * inputs[0],), inputs, (many,))))
        seen.append([shown(found), shown(u), [each.is_leaf for each in u]])
        live = [each for each in found if each is not None]
        if live:
            seen.append(tried(lambda live=live, u=u: shown(torch.autograd.grad(
                [each.sum() for each in live], u, allow_unused=True, create_graph=True))))
    return seen


def strict(random, function):
    """Return what strict mode says of an output, or a slope, that comes from elsewhere."""
    x, other = tensor(random, [2]), tensor(random, [2], grad=True)
    place = random.randrange(2)

    def func(*given):
        made = [given[0] * 2, other * 1]
        return tuple(made) if place else tuple(reversed(made))

    def bent(*given):
        made = [(given[i] * (given[i] if i == place else other)).sum() for i in range(2)]
        return sum(made)

    if function is functional.jvp:
        return tried(lambda: function(func, x, tensor(random, [2]), strict=True))
    return tried(lambda: function(bent, (x, x), (x, x), strict=True))


def probe_08_6_strict(random):
    return [[strict(random, functional.jvp) for _ in range(4)], random.random()]


class Lopsided(torch.autograd.Function):
    """A function whose second derivatives are not symmetric."""

    @staticmethod
    def forward(ctx, x, size):
        ctx.save_for_backward(x)
        ctx.size = size
        return (x * x).sum()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.size * torch.stack([x[1] * x[1], x[0] * 0]), None


def probe_08_7_lopsided(random):
    seen = []
    for _ in range(3):
        size, x, v = random.uniform(1, 2), tensor(random, [2]), tensor(random, [2])
        for function in (functional.vhp, functional.hvp):
            seen.append(shown(tried(lambda size=size, x=x, v=v, function=function: function(
                lambda x: Lopsided.apply(x, size), x, v))))
    return seen


def probe_08_7_strict(random):
    return [[strict(random, each) for _ in range(3)
             for each in (functional.vhp, functional.hvp)], random.random()]


def probe_08_7_vhp(random):
    return products(random, functional.vhp, True, "inputs", 11)


def probe_08_7_hvp(random):
    seen = products(random, functional.hvp, True, "inputs", 11)
    for function in (functional.vhp, functional.hvp):
        for strict in (True, False):
            for func in (lambda x: x.sum() * 2, lambda x: torch.tensor(1.5, dtype=torch.float64),
                         lambda x: x * x, lambda x: (x.sum(),),
                         lambda x: (x * x * x).sum() * (x * x).sum()):
                seen.append(shown(tried(lambda func=func, strict=strict, function=function:
                                        function(func, tensor(random, [2]), tensor(random, [2]),
                                                 strict=strict))))
    return seen


def probe_08_8(random):
    seen = []
    for _ in range(8):
        inputs = tuple(tensor(random, [random.randint(1, 3)], grad=True)
                       for _ in range(random.randint(1, 3)))
        outputs = []
        for _ in range(random.randint(1, 4)):
            shape = [random.randint(1, 2) for _ in range(random.randint(0, 2))]
            x, kind = random.choice(inputs), random.random()
            outputs.append(None if kind < 0.15 else tensor(random, shape) if kind < 0.3 else
                           (x * x * random.random()).sum() * tensor(random, shape))
        graph = random.random() < 0.5
        rows = tried(lambda outputs=outputs, inputs=inputs, graph=graph:
                     functional_passes.all_rows(outputs, inputs, graph))
        seen.append(shown(rows))
        if graph and isinstance(rows, list):
            seen.append(tried(lambda rows=rows, inputs=inputs: second(rows, inputs)))
        seen.append(shown(tried(lambda outputs=outputs, inputs=inputs:
                                functional_passes.all_rows(outputs, inputs, False))))
        x, passes = inputs[0], []
        two = [x * x, (x * random.random()).sum()]
        handle = x.register_hook(lambda grad, passes=passes: passes.append("pass"))
        functional_passes.all_rows(two, inputs, False)
        handle.remove()
        seen.append(len(passes))
    return seen
