"""Probes of stage 04d: random declarations, products, lists, views and names in the second copy."""

import contextlib
from dataclasses import replace

import numpy as np
from probing import numbers, replaced, tried

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


@contextlib.contextmanager
def declared(copy, called, /, **body):
    """Declare an op in a copy for a block."""
    body.setdefault("public", False)
    try:
        yield type(called, (copy.module("op.declaration").Op,), body)
    finally:
        copy.REGISTRY.pop(called, None)


def formula(names):
    """Return a formula whose arguments have these names."""
    scope = {}
    exec(f"def grad({', '.join(names)}):\n    return g", scope)
    return scope["grad"]


def leaf(copy, random, size=2, chance=0.6, dtype=np.float64):
    """Return a tensor that requires grad, or not."""
    values = np.array([random.uniform(-2, 2) for _ in range(size)], dtype)
    return copy.tensor(values, requires_grad=random.random() < chance)


def kept(node):
    """Return which names of a node are saved, and in which form."""
    if node is None:
        return None
    return [[name, type(getattr(node, slot, "unset")).__name__]
            for name, slot in node.value_slots.items()] + [
        [name, str(getattr(node, slot, "unset"))] for name, slot in node.arg_slots.items()]


def edges(node):
    """Return the edges of a node by the names of the nodes that they lead to."""
    return None if node is None else [[to and to.name(), number] for to, number in node.edges]


def seen(copy, random, function, count=1, **more):
    """Apply a function to random leaves; return result, edges, saved names and gradients."""
    inputs = [leaf(copy, random, **more) for _ in range(count)]

    def program():
        result = function(*inputs)
        node = result.grad_fn
        found = [numbers(result), result.requires_grad, edges(node), kept(node),
                 None if node is None else [list(node.shape), str(node.dtype)]]
        if node is not None:
            result.sum().backward()
        return [*found, [numbers(each.grad) for each in inputs]]

    return tried(program, text=False)


def second(copy, random, function):
    """Return first and second derivatives of a function of two random leaves."""
    x, y = (leaf(copy, random, chance=1) for _ in range(2))

    def program():
        first = torch.autograd.grad(function(x, y).sum(), (x, y), create_graph=True)
        return [numbers(each) for each in (*first, *torch.autograd.grad(
            (first[0] * first[1]).sum(), (x, y), allow_unused=True))]

    return tried(program, text=False)


def probe_04d_1(random):
    copy = second_copy("04d.1")
    node, found = copy.module("op.node"), []
    for _ in range(12):
        pool = ["self", "other", "scale", "result", "self_sizes", "other_strides"]
        names = [["g", *random.sample(pool, random.randint(0, 4))] for _ in range(2)]
        if random.random() < 0.2:
            names[1].append("wieght")

        def program(names=names):
            with declared(copy, "Random", forward=lambda xp, self, other, scale: self,
                          tensors=("self", "other"), grad_self=formula(names[0]),
                          grad_other=formula(names[1])) as op:
                return [list(map(list, node.save_list(op))), list(op.node_type.saves)]

        found.append([list(node.needed_by(formula([*names[0], "shared=None"]))), tried(program)])
    return found


def probe_04d_2(random):
    copy = second_copy("04d.2")
    node, found = copy.module("op.node"), []
    for name in random.sample(["Exp", "Sin", "Mul", "Sub", "AddScaled", "SinCos"], 4):
        made = node.make_node_type(copy.REGISTRY[name])
        found.append([made.__name__, sorted(made.__slots__), sorted(made.value_slots.items()),
                      sorted(made.arg_slots.items()),
                      sorted(n for n in vars(made) if n.startswith("_saved")),
                      sorted(n for n in vars(made) if n.startswith("_raw")), list(made.saves),
                      [each.__name__ for each in made.__bases__]])
    x, y = (leaf(copy, random, chance=1) for _ in range(2))
    product = copy.F.mul(x, y).grad_fn
    total = copy.F.add_scaled([x, y], random.uniform(1, 3)).grad_fn
    found.append([numbers(product._saved_self), numbers(product._saved_other),
                  total._saved_scale, str(total._saved_tensors_sizes), hasattr(total, "__dict__"),
                  type(product._raw_saved_self).__name__])
    return found


def probe_04d_3(random):
    copy = second_copy("04d.3")
    found = [seen(copy, random, copy.F.mul, 2, chance=0.7), seen(copy, random, copy.F.sin),
             seen(copy, random, copy.F.exp),
             seen(copy, random, lambda *all_: copy.F.add_scaled(list(all_), 3.0), 3)]
    for _ in range(4):
        names = [["g", *random.sample("abc", random.randint(0, 2))] for _ in range(3)]
        with declared(copy, "Three", forward=lambda xp, a, b, c: a + b + c,
                      **{f"grad_{n}": formula(each) for n, each in zip("abc", names)}) as op:
            node = op(*(leaf(copy, random) for _ in range(3))).grad_fn
            found.append([kept(node), None if node is None else sorted(node.names_to_save())])
    single = leaf(copy, random, chance=1, dtype=np.float32)
    node = copy.F.mul(leaf(copy, random, chance=1), single).grad_fn
    found.append([node._saved_other is single, str(node.unpack("other", arrays=True).dtype)])
    return found


def probe_04d_4(random):
    copy = second_copy("04d.4")
    found = []
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            for _ in range(3):
                x, y = leaf(copy, random), leaf(copy, random)
                for result in (copy.F.mul(x, y), copy.F.mul(x, 2.5), copy.F.sub(1.5, y),
                               copy.F.add_scaled([x, y, x], 2.0)):
                    found.append([edges(result.grad_fn), kept(result.grad_fn)])
    both = copy.F.sin_cos(leaf(copy, random, chance=1))
    last = copy.F.mul(both[1], both[0]).grad_fn
    found.append([edges(last), last.edges[0][0].sequence < last.sequence])
    found.append(seen(copy, random, copy.F.mul, 2))
    mixed = copy.F.mul(leaf(copy, random, chance=1), leaf(copy, random, chance=1, dtype=np.float32))
    found.append(str(mixed.grad_fn.unpack("other", arrays=True).dtype))
    return found


def probe_04d_5(random):
    copy = second_copy("04d.5")
    apply, order = copy.module("op.apply"), []

    class Noted:
        def __init__(self, name, instead):
            self.name, self.instead = name, instead

        def op(self, op, values, proceed):
            order.append([self.name, op.name])
            return proceed(self.instead or op, values)

    stack = tuple(Noted(i, random.choice([None, None, copy.REGISTRY["Sub"]]))
                  for i in range(random.randint(0, 4)))
    result = apply.intercepted(copy.REGISTRY["Mul"],
                               [leaf(copy, random), leaf(copy, random)], stack)
    found = [order, numbers(result), edges(result.grad_fn)]
    for name in ("exp", "sin", "sigmoid"):
        found.append(seen(copy, random, getattr(copy.F, name)))
    found.append(seen(copy, random, copy.F.mul, 2))
    bare = copy.F.exp(np.array([random.random()]))
    both = copy.F.sin_cos(leaf(copy, random))
    matrix = copy.tensor([[random.random(), 1.0]], requires_grad=random.random() < 0.5)
    view = copy.F.transposed(matrix)
    found += [type(bare).__name__, [each._index for each in both], type(both).__name__,
              view._base is matrix, list(view.shape), view.requires_grad]
    with declared(copy, "Rounded", forward=lambda xp, self: self.astype("int64"),
                  grad_self=lambda g: g) as op:
        rounded = op(leaf(copy, random, chance=1))
        found.append([numbers(rounded), rounded.requires_grad, rounded.grad_fn is None])
    prepare = apply.prepare
    with replaced(apply, prepare=lambda op, values: replace(prepare(op, values), xp="a device"),
                  run_elsewhere=lambda op, call: [op.name, call.xp]):
        found.append(tried(lambda: apply.run_op(copy.REGISTRY["Exp"], [matrix])))
    return found


def probe_04d_6(random):
    copy = second_copy("04d.6")
    F = copy.F
    found = [seen(copy, random, F.mul, 2, chance=0.7), seen(copy, random, F.sub, 2, chance=0.7),
             seen(copy, random, lambda *all_: F.add_scaled(list(all_), 3.0), 3),
             second(copy, random, lambda x, y: F.mul(F.mul(x, y), F.sin(x))),
             second(copy, random, lambda x, y: F.mul(F.exp(x), F.sigmoid(y))),
             second(copy, random, lambda x, y: F.mul(F.sin_cos(x)[1], y))]
    x, y = leaf(copy, random, chance=1), leaf(copy, random)
    node = F.mul(x, y).grad_fn
    g = np.array([random.uniform(1, 2) for _ in range(2)])
    for needed in (None, set(), {node.edges[0][0]}):
        for given in (g, None):
            on_arrays = node.apply_arrays([given], needed)
            on_tensors = node.apply_needed_tensors(
                [None if given is None else copy.tensor(given)], needed)
            found.append([[type(each).__name__ for each in on_arrays],
                          [None if each is None else each.copy() for each in on_arrays],
                          [type(each).__name__ for each in on_tensors],
                          [numbers(each) for each in on_tensors],
                          [getattr(each, "requires_grad", None) for each in on_tensors]])
    found.append([type(node.unpack("other", arrays)).__name__ for arrays in (True, False)])
    calls = []

    def common(g, self, other, shared=None):
        return g * (self * other if shared is None else shared)

    def shared(self, other):
        calls.append(type(self).__name__)
        return self * other

    with declared(copy, "Common", forward=lambda xp, self, other: self + other, shared=shared,
                  grad_self=common, grad_other=common) as op:
        result = op(leaf(copy, random, chance=1), leaf(copy, random, chance=1))
        found.append([numbers(copy.tensor(each)) for each in
                      result.grad_fn.apply_arrays([g], None)])
        result.grad_fn.apply_tensors([copy.tensor(g)])
        found.append(list(calls))
    return found


def probe_04d_7(random):
    copy = second_copy("04d.7")
    publish, found = copy.module("op.publish"), []
    for names in (vars(copy.F), publish.FUNCTIONS, vars(copy.Tensor)):
        found.append(sorted(each for each in names if not each.startswith("__")
                            or each in ("__mul__", "__rmul__", "__sub__", "__rsub__", "__imul__",
                                        "__isub__")))
    x, y = leaf(copy, random), leaf(copy, random)
    number = random.uniform(1, 3)
    for program in (lambda: x * y, lambda: x - y, lambda: number - x, lambda: number * x,
                    lambda: x - number, lambda: x * "text", lambda: x.sin(), lambda: copy.F.exp(y),
                    lambda: publish.FUNCTIONS["exp"](np.ones(2)),
                    lambda: copy.F.exp(np.ones(2)),
                    lambda: publish.operator(copy.F.sin)(x),
                    lambda: publish.swapped(copy.F.sub)(x, y)):
        result = tried(program, text=False)
        found.append([numbers(result), edges(result.grad_fn)]
                     if isinstance(result, torch.Tensor) else
                     result if isinstance(result, list) else np.array(result))
    for public in (True, False):
        hidden = f"tried_{public}".lower()
        with declared(copy, "Tried", name=hidden, public=public, method=random.random() < 0.5,
                      forward=lambda xp, self: self, grad_self=lambda g: g) as op:
            publish.publish(op)
            found.append([hidden in vars(copy.F), hidden in publish.FUNCTIONS,
                          hidden in vars(copy.Tensor)])
            for names in (vars(copy.F), publish.FUNCTIONS):
                names.pop(hidden, None)
            if hidden in vars(copy.Tensor):
                delattr(copy.Tensor, hidden)
    return found


def probe_04d_8(random):
    copy = second_copy("04d.8")
    copy.REGISTRY.pop("Log1pExp", None)
    op = copy.module("examples.softplus").declare_log1p_exp()
    found = [op.__name__, op.node_type.__name__, copy.REGISTRY.get(op.__name__) is op]
    for shape in ([], [3], [2, 3], [0, 2]):
        count = int(np.prod(shape, dtype=int))
        values = np.array([random.uniform(-6, 6) for _ in range(count)]).reshape(shape)
        x = copy.tensor(values, requires_grad=True)
        y = op(x)
        (first,) = torch.autograd.grad(y.sum() * random.uniform(1, 2), x, create_graph=True)
        (again,) = torch.autograd.grad(first.sum(), x)
        found += [numbers(y), numbers(first), numbers(again)]
    with np.errstate(all="ignore"):
        x = copy.tensor(np.array([900.0, -900.0]), requires_grad=True)
        y = op(x)
        found += [numbers(y), numbers(torch.autograd.grad(y.sum(), x)[0])]
    found.append(str(op(copy.tensor(np.zeros(1, np.float32)))._array.dtype))
    return found
