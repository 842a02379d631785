"""Probes of stage 03b: random roots, gradients and inputs; what the engine is handed is noted.

Tuples, edges and first gradients are asked for directly; `gradients` and the two functions in
front are run on random graphs.
"""

import contextlib
import importlib
import warnings

import numpy as np
from probing import array, tensor, tried

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.graph import GradientEdge
from minigrad.engine.graph_task import GraphTask

front = importlib.import_module("minigrad.autograd.backward")  # a function has the same name


def edge(t):
    """Return the place in the graph of a tensor that has one."""
    return GradientEdge(t.grad_fn, t.output_nr)


def shown(value):
    """Return nested tensors and arrays, each told by its kind."""
    if isinstance(value, dict):
        return ["dict", *[[key, shown(each)] for key, each in value.items()]]
    if isinstance(value, GradientEdge):
        return "edge"
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, torch.Tensor):
        return ["tensor", str(value._array.dtype), value.requires_grad, value._array.copy()]
    if isinstance(value, (np.ndarray, np.generic)):
        return ["array", str(value.dtype), np.array(value)]
    return value if value is None or isinstance(value, (str, int, float)) else type(value).__name__


def probe_03b_1(random):
    seen = []
    for _ in range(25):
        x = tensor(random, [random.randint(1, 3)], grad=True)
        y = x * 2
        pool = [x, y, edge(y), tensor(random)]
        many = [random.choice(pool) for _ in range(random.randint(0, 3))]
        names = dict(zip("abc", many, strict=False))
        given = random.choice([random.choice(pool), many, tuple(many), names, iter(many)])
        got = tried(lambda given=given: front.as_tuple(given))
        seen.append([type(got).__name__, [[each is p for p in pool] for each in got]])
        grads = random.choice([None, None, x, edge(y), many, tuple(many), names])
        count = len(many) if random.random() < 0.7 else random.randint(0, 4)
        seen.append(shown(tried(lambda grads=grads, count=count: front.matched(grads, count))))
    return seen


def probe_03b_2(random):
    seen = []
    for _ in range(10):
        x, constant = tensor(random, [3, 2], grad=True), tensor(random)
        parts = (x * random.uniform(1, 2)).unbind(0)
        both = parts[0] + parts[1]
        nodes = [None, x._accumulator(), parts[0].grad_fn, both.grad_fn]
        pool = [x, *parts, both, edge(parts[2]), edge(both), edge(parts[1])]

        def place(pair, nodes=nodes):
            node, index = pair
            return [next((i for i, n in enumerate(nodes) if n is node), -1), index]

        for each in random.sample(pool, 5):
            seen.append(tried(lambda each=each: place(front.edge_of(each))))
        roots = [random.choice(pool) for _ in range(random.randint(0, 4))]
        if random.random() < 0.6:
            roots.insert(random.randint(0, len(roots)),
                         random.choice([constant, 1.5, None, "text", [x], constant * 2]))
        seen.append(tried(lambda roots=roots: list(map(place, front.root_edges(roots)))))
        single = torch.Tensor._plain(array(random, [2, 3], np.float32)).requires_grad_()
        pair = torch.Tensor._plain(array(random, [4, random.randint(1, 3)]))
        pair._requires_grad = True

        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a * 2, b * 2

            @staticmethod
            def backward(ctx, *grads):
                return grads

        outs = Two.apply(single, pair)
        for out in outs:
            given = tensor(random, random.choice([[2, 3], list(pair.shape), [1], [3]]),
                           grad=random.random() < 0.5,
                           dtype=random.choice([np.float32, np.float64]))
            given = random.choice([given, given, given, 2.5, array(random, [2, 3])])
            for root in (out, edge(out)):
                i = random.randrange(5)
                seen.append(shown(tried(lambda given=given, root=root, i=i:
                                        front.checked(given, root, i))))
            seen.append(place(front.edge_of(edge(out)))[1])
    return seen


def probe_03b_3(random):
    seen = []
    for _ in range(40):
        roots, grads = [], []
        for _ in range(random.randint(1, 3)):
            shape = random.choice([[], [1], [1, 1], [2], [2, 1], [2, 3]])
            dtype = random.choice([np.float64, np.float64, np.float32])
            leaf = tensor(random, shape, grad=random.random() < 0.9, dtype=dtype)
            if random.random() < 0.1:
                leaf._array[...] = random.choice([np.inf, np.nan])
            root = leaf * 2 if leaf.requires_grad and random.random() < 0.6 else leaf
            if root.grad_fn is not None and random.random() < 0.3:
                root = edge(root)
            kind = random.random()
            given = (None if kind < (0.6 if len(shape) < 2 else 0.45) else
                     tensor(random, shape, grad=random.random() < 0.3,
                            dtype=dtype if kind < 0.75 else np.float32) if kind < 0.9 else
                     tensor(random, random.choice([[], [1], [3], [2], [1, 3]])) if kind < 0.96
                     else random.choice([1.0, "text", 2, array(random, shape)]))
            if isinstance(given, torch.Tensor) and given._array.dtype != dtype:
                given = torch.Tensor._plain(np.round(given._array * 8) / 8)
            roots.append(root)
            grads.append(given)
        graph = random.random() < 0.5
        around = forward_ad.dual_level() if random.random() < 0.2 else contextlib.nullcontext()
        before = [None if isinstance(each, GradientEdge) else each._array.copy() for each in roots]
        with around:
            got = tried(lambda roots=roots, grads=grads, graph=graph:
                        front.root_gradients(roots, grads, graph))
        seen.append([shown(got), [a is b for a, b in zip(got, grads, strict=False)]
                     if graph and got and got[0] != "raised" else None,
                     [value is None or np.array_equal(value, root._array, equal_nan=True)
                      for value, root in zip(before, roots, strict=True)]])
    return seen


def graph_of(random):
    """Return leaves, what lies between, and a scalar, of a random graph."""
    x = tensor(random, [2], grad=True)
    y = tensor(random, [2], grad=True)
    unused = tensor(random, [random.randint(1, 3), 2], grad=True)
    z = x * y * random.uniform(1, 2)
    w = z * x + y
    return {"x": x, "y": y, "unused": unused, "z": z, "w": w,
            "loss": (w * w).sum() * random.random(), "other": (z * x).sum(),
            "constant": tensor(random)}


def leaves(t):
    """Return what stands in `.grad`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [shown(t[name].grad) for name in ("x", "y", "unused", "z", "w")]


def probe_03b_4(random):
    seen = []
    for _ in range(16):
        t = graph_of(random)
        roots = tuple(t[name] for name in random.choice([["loss"], ["other"], ["loss", "other"],
                                                         ["w"], ["loss"]]))
        goals = [t[random.choice(["x", "y", "z", "w", "x", "unused"])]
                 for _ in range(random.randint(1, 4))]
        if random.random() < 0.2:
            goals.append(t["constant"])
        goals = tuple(edge(g) if g.grad_fn is not None and random.random() < 0.3 else g
                      for g in goals)
        given = tuple(None if root.dim() == 0 and random.random() < 0.7 else
                      tensor(random, tuple(root.shape)) for root in roots)
        keep, graph, unused = (random.random() < 0.5 for _ in range(3))
        for _ in range(2):
            found = tried(lambda: front.gradients(roots, goals, given, keep, graph, unused))
            seen.append([shown(found), leaves(t)])
        if graph and found and found[0] != "raised":
            live = [f for f in found if f is not None and f.requires_grad]
            if live:
                seen.append(shown(tried(lambda live=live, t=t: torch.autograd.grad(
                    sum(f.sum() for f in live), (t["x"], t["y"]), allow_unused=True))))

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            seen.append(["made", *wishes[:2]])
            super().__init__(*wishes, **more)

    fast, front.swept = getattr(front, "swept", None), lambda *_: None
    try:
        for _ in range(3):
            x, keep = tensor(random, [2]).requires_grad_(), random.random() < 0.5
            seen.append(shown(tried(lambda x=x, keep=keep: front.gradients(
                [(x * x).sum()], (x,), [None], keep, False, False, Made))))
    finally:
        front.swept = fast
    return seen


def noted(program):
    """Return what a program returns, and the kinds of the warnings that it gives."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        return [tried(program), sorted({each.category.__name__ for each in told})]


def probe_03b_5(random):
    seen = []
    for _ in range(14):
        t = graph_of(random)
        roots = random.choice([t["loss"], [t["loss"], t["other"]], {"a": t["other"]}])
        keep, graph = random.choice([None, None, True, False]), random.random() < 0.3
        inputs = random.choice([None, None, t["x"], [t["z"], t["y"]], (t["w"],), [],
                                [edge(t["z"]), t["x"]], {"n": t["y"]}])
        for _ in range(2):
            told = noted(lambda: front.backward(roots, None, keep, graph, inputs=inputs))
            # a pass that fails in the middle may do so before or after the warning
            failed = inputs != [] and told[0] is not None
            seen.append(told[0] if failed else told)
            seen.append(leaves(t))
        t, w = graph_of(random), tensor(random, [2])
        seen.append(noted(lambda t=t, w=w: front.backward([t["loss"], t["w"]], [None, w])))
        seen.append(leaves(t))
        t, hooked = graph_of(random), []  # two roots in one pass; inputs of all kinds, twice
        t["z"].register_hook(lambda g, hooked=hooked: hooked.append(shown(g)))
        for _ in range(2):
            seen.append(noted(lambda t=t: front.backward(
                [t["loss"], t["other"]], retain_graph=True, inputs=[t["x"], t["z"]])))
            seen.append(leaves(t))
        seen.append(hooked)
        parts = t["x"].unbind()
        seen.append(noted(lambda parts=parts: front.backward(
            parts[0] * 2 + parts[1] * 3, inputs=[parts[1]])))
        seen.append([shown(each._grad) for each in parts])
        zero = torch.tensor(0.0, requires_grad=True)
        other = torch.tensor(random.uniform(1, 2), requires_grad=True)
        seen.append(noted(lambda zero=zero, other=other: front.backward(zero * other, inputs=zero)))
        seen.append([shown(zero.grad), shown(other.grad)])
        wrong = random.choice([t["w"], t["constant"], [t["loss"], t["w"]]])  # refused unwarned
        seen.append(noted(lambda wrong=wrong: front.backward(wrong, create_graph=True)))
    return seen


def probe_03b_6(random):
    seen = []
    for _ in range(14):
        t = graph_of(random)
        names = random.sample(["x", "y", "z", "w", "unused"], random.randint(1, 3))
        inputs = random.choice([t[names[0]], [t[name] for name in names],
                                {name: t[name] for name in names}, []])
        options = {"retain_graph": random.choice([None, None, True, False]),
                   "create_graph": random.random() < 0.4,
                   "allow_unused": random.choice([None, None, True, False]),
                   "materialize_grads": random.random() < 0.4}
        if random.random() < 0.2:
            roots, given = t["w"], tensor(random, [3, 2])
            options["is_grads_batched"] = True
        elif random.random() < 0.3:
            roots, given = t["w"], random.choice([None, tensor(random, [2]), [tensor(random)] * 2])
        else:
            roots, given = random.choice([t["loss"], (t["loss"], t["other"])]), None
        for _ in range(2):
            got = tried(lambda: front.grad(roots, inputs, given, **options))
            seen.append([shown(got), leaves(t)])
        t = graph_of(random)
        zeros = front.grad(t["loss"], [t["unused"], t["x"]], materialize_grads=True)
        seen.append(shown(zeros))
        t = graph_of(random)
        seen.append(shown(front.grad(t["other"], t["y"])))
    return seen
