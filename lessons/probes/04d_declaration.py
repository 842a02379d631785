"""Probes of stage 04d: random declarations, products, lists and formulas in the second copy."""

import numpy as np
from probing import declared, kept_by, leaf_of, numbers, outcome, tried

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


def formula(names):
    """Return a formula whose arguments have these names."""
    scope = {}
    exec(f"def grad({', '.join(names)}):\n    return g", scope)
    return scope["grad"]


def second(copy, random, function):
    """Return first and second derivatives of a function of two random leaves."""
    x, y = (leaf_of(copy, random, chance=1) for _ in range(2))

    def program():
        first = torch.autograd.grad(function(x, y).sum(), (x, y), create_graph=True)
        return [numbers(each) for each in (*first, *torch.autograd.grad(
            (first[0] * first[1]).sum(), (x, y), allow_unused=True))]

    return tried(program, text=False)


def probe_04d_1(random):
    copy = second_copy("04d.1")
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
        found.append(tried(lambda x=x: numbers(torch.autograd.grad(op(x).sum(), x)[0])))
    with np.errstate(all="ignore"):
        x = copy.tensor(np.array([900.0, -900.0]), requires_grad=True)
        y = op(x)
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        found += [numbers(y), numbers(first), tried(lambda: numbers(
            torch.autograd.grad(first.sum(), x)[0]), text=False)]
    with np.errstate(over="raise", invalid="raise"):
        found.append(tried(lambda: numbers(op(x)), text=False))
    found.append(str(op(copy.tensor(np.zeros(1, np.float32)))._array.dtype))
    return found


def probe_04d_2(random):
    copy = second_copy("04d.2")
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
    for body in ({"forward": lambda xp, self: self,
                  "grad_self": formula(["g", "self", "other=None"])},
                 {"forward": lambda xp, items: items[0], "list_of_tensors": "items",
                  "grad_items": formula(["g", "items"])}):

        def declaration(body=body):
            with declared(copy, "Random", **body) as op:
                return list(map(list, node.save_list(op)))

        found.append(tried(declaration))
    return found


def probe_04d_3(random):
    copy = second_copy("04d.3")
    node, found = copy.module("op.node"), []
    for name in random.sample(["Exp", "Sin", "Mul", "Sub", "AddScaled", "SinCos"], 4):
        made = node.make_node_type(copy.REGISTRY[name])
        found.append([made.__name__, sorted(made.__slots__), sorted(made.value_slots.items()),
                      sorted(made.arg_slots.items()),
                      sorted(n for n in vars(made) if n.startswith("_saved")),
                      sorted(n for n in vars(made) if n.startswith("_raw")), list(made.saves),
                      [each.__name__ for each in made.__bases__]])
    base = type("Flat", (copy.module("graph.node").NaryNode,), {"__slots__": ()})
    found.append([each.__name__ for each in node.make_node_type(
        copy.REGISTRY["Exp"], base).__bases__])
    x, y = (leaf_of(copy, random, chance=1) for _ in range(2))
    product = copy.F.mul(x, y).grad_fn
    total = copy.F.add_scaled([x, y], random.uniform(1, 3)).grad_fn
    found.append([numbers(product._saved_self), numbers(product._saved_other),
                  total._saved_scale, str(total._saved_tensors_sizes), hasattr(total, "__dict__"),
                  type(product._raw_saved_self).__name__])
    return found


def probe_04d_4(random):
    copy = second_copy("04d.4")
    found = [outcome(copy, random, copy.F.mul, 2, chance=0.7), outcome(copy, random, copy.F.sin),
             outcome(copy, random, copy.F.exp),
             outcome(copy, random, lambda *all_: copy.F.add_scaled(list(all_), 3.0), 3)]
    for _ in range(4):
        names = [["g", *random.sample("abc", random.randint(0, 2))] for _ in range(3)]
        with declared(copy, "Three", forward=lambda xp, a, b, c: a + b + c,
                      **{f"grad_{n}": formula(each) for n, each in zip("abc", names)}) as op:
            node = op(*(leaf_of(copy, random) for _ in range(3))).grad_fn
            found.append([kept_by(node), None if node is None else sorted(node.names_to_save())])
            later = op(*(leaf_of(copy, random) for _ in range(3))).grad_fn
            found.append([kept_by(later), None if later is None else sorted(later.names_to_save())])
    single = leaf_of(copy, random, chance=1, dtype=np.float32)
    node = copy.F.mul(leaf_of(copy, random, chance=1), single).grad_fn
    found.append([node._saved_other is single, str(node.unpack("other", arrays=True).dtype)])
    return found


def probe_04d_5(random):
    copy = second_copy("04d.5")
    F = copy.F
    found = [outcome(copy, random, F.mul, 2, chance=0.7),
             outcome(copy, random, F.sub, 2, chance=0.7),
             outcome(copy, random, lambda *all_: F.add_scaled(list(all_), 3.0), 3),
             second(copy, random, lambda x, y: F.mul(F.mul(x, y), F.sin(x))),
             second(copy, random, lambda x, y: F.mul(F.exp(x), F.sigmoid(y))),
             second(copy, random, lambda x, y: F.mul(F.sin_cos(x)[1], y))]
    x, y = leaf_of(copy, random, chance=1), leaf_of(copy, random)
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
        result = op(leaf_of(copy, random, chance=1), leaf_of(copy, random, chance=1))
        found.append([numbers(copy.tensor(each)) for each in
                      result.grad_fn.apply_arrays([g], None)])
        result.grad_fn.apply_tensors([copy.tensor(g)])
        found.append(list(calls))
    return found
