"""Probes of stage 06b: operations and Functions in place at random places, and checkpoints."""

import contextlib
import gc
import weakref

import numpy as np
from probing import Wrong, numbers, tensor, tried

import minigrad as torch
from minigrad import _state
from minigrad.autograd import Function, grad
from minigrad.autograd.function import once_differentiable, outputs
from minigrad.examples.checkpoint import RandomSegment, Segment, in_segments
from minigrad.op import inplace
from minigrad.ops.math.arithmetic import Div, Mul
from minigrad.ops.math.exp_log import Exp
from minigrad.ops.math.maximum import Maximum
from minigrad.ops.math.powers import PowTensor

IN_PLACE = {
    "mul_": lambda t, other: t.mul_(other), "add_": lambda t, other: t.add_(other),
    "div_": lambda t, other: t.div_(other + 3), "exp_": lambda t, other: t.exp_(),
    "tanh_": lambda t, other: t.tanh_(), "sin_": lambda t, other: t.sin_(),
    "sigmoid_": lambda t, other: t.sigmoid_(), "sub_": lambda t, other: t.sub_(other),
    "relu_": lambda t, other: t.relu_(),
}


@contextlib.contextmanager
def collector_off():
    """Let nothing but counting of references free memory."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def bare_node():
    """Return a fresh node of a Function."""
    return type("Named", (Function,), {"forward": staticmethod(lambda ctx, x: x)})._backward_cls()


def probe_06b_1(random):
    seen = []
    for _ in range(10):
        op = random.choice([Mul, Div, Maximum, Exp])
        y, z, clone = tensor(random), tensor(random), tensor(random)
        before = clone if random.random() < 0.3 else None
        old, *others = inplace.values_to_save(op, [y] if op is Exp else [y, z], before)
        seen.append([old is y, old is clone, [each is z for each in others], numbers(old),
                     np.shares_memory(old._array, y._array)])
        there = torch.Tensor._plain(np.zeros(random.choice([(), (1,), (2, 3)])))
        seen.append(tried(lambda y=y, z=z, there=there:
                          inplace.values_to_save(Div, [y, z], there)[0] is there))
        old, _ = inplace.values_to_save(PowTensor, [y, z], None)
        seen.append([old is y, numbers(old)])
    with collector_off():
        y = tensor(random)
        y.pow_(tensor(random, grad=True))
        gone = weakref.ref(y)
        del y
        seen.append(gone() is None)
    for _ in range(12):
        x, other = tensor(random, [3, 2], grad=True), tensor(random, [2], grad=True)
        base = x * random.uniform(0.5, 1) if random.random() < 0.8 else tensor(random, [3, 2])
        views = {"base": base, "row": base[1], "last": base[-1], "turned": base.t()}
        earlier = base * base if random.random() < 0.3 else None
        for _ in range(random.randint(1, 4)):
            key, name = random.choice(sorted(views)), random.choice(sorted(IN_PLACE))
            target = views[key]
            with torch.set_grad_enabled(random.random() < 0.85):
                term = other if target.shape[-1] == 2 else other.sum()
                got = tried(lambda: IN_PLACE[name](target, term) is target)
            seen.append([key, name, got, target._version, target.requires_grad,
                         None if base._node is None else base._node.name(), numbers(base)])
        loss = (base * tensor(random, [2])).sum() + views["row"].sum()
        if earlier is not None:
            loss = loss + earlier.sum()
        if loss.requires_grad:
            seen.append(tried(lambda: loss.backward()))
        seen.append([numbers(t.grad) for t in (x, other)])
    return seen


def probe_06b_2(random):
    seen = []
    for _ in range(10):
        x = tensor(random, [random.randint(1, 3), 2], grad=random.random() < 0.6)
        made = random.choice([x, x * random.uniform(1, 2), x[0], x.detach()])
        got = outputs.alias(made)
        seen.append([got is made, got.requires_grad, got._node is None, got._index,
                     np.shares_memory(got._array, made._array), numbers(got),
                     got._view is not None and [got._view.creation, got._view.base is (
                         made if made._view is None else made._view.base)]])
        made._bump()
        seen.append([got._version, made._version])
        node, index, is_input = bare_node(), random.randrange(3), random.random() < 0.4
        other = random.choice([made, tensor(random), tensor(random, grad=True),
                               tensor(random, [2, 2])[0], tensor(random, grad=True) * 2])
        if random.random() < 0.3:
            other._node = node
        before = other._node
        placed = outputs.join_to_node(node, other, index, is_input)
        seen.append([placed is other, other._node is before, other._node is node, other._index,
                     placed._node is node, placed._index, placed._requires_grad,
                     np.shares_memory(placed._array, other._array)])
    for _ in range(5):
        scale = random.uniform(1, 2)
        order = random.sample(range(3), 3)

        class Passes(Function):
            @staticmethod
            def forward(ctx, a, b, order=order, scale=scale):
                return tuple((a, b, a * scale)[i] for i in order)

            @staticmethod
            def backward(ctx, *grads, order=order, scale=scale):
                by = dict(zip(order, grads, strict=True))
                return by[0] + by[2] * scale, by[1]

        a, b = tensor(random, [3], grad=True), tensor(random, [3], grad=True)
        results = Passes.apply(a, b)
        seen.append([[r is a, r is b, r._is_view(), r._index, numbers(r)] for r in results])
        sum((r * tensor(random, [3])).sum() for r in results).backward()
        seen.append([numbers(a.grad), numbers(b.grad)])
    return seen


def probe_06b_3(random):
    seen = []
    for _ in range(14):
        x = tensor(random, [3, 2], grad=True)
        base = x * random.uniform(1, 2)
        plain = tensor(random, [3, 2])
        kind = random.choice(["result", "result", "view", "view", "leaf", "plain", "other view"])
        target = {"result": base, "view": base[random.randrange(3)], "leaf": x, "plain": plain,
                  "other view": base.unbind(1)[1]}[kind]
        other = tensor(random, tuple(target.shape), grad=random.random() < 0.7)
        scale, second = random.uniform(1, 2), random.random() < 0.4
        first_place = random.random() < 0.5

        class Writes(Function):
            @staticmethod
            def forward(ctx, *xs, scale=scale, second=second, first_place=first_place):
                here, value = xs if first_place else xs[::-1]
                here.mul_(scale).add_(value)
                ctx.mark_dirty(here)
                return (value * scale, here) if second else here

            @staticmethod
            def backward(ctx, *grads, scale=scale, second=second, first_place=first_place):
                grad = grads[1] if second else grads[0]
                pair = (grad * scale, grad + (grads[0] * scale if second else 0.0))
                return pair if first_place else pair[::-1]

        args = [target, other] if first_place else [other, target]
        versions = [t._version for t in (target, base, x, *args)]
        before = [base._node, target._node]
        target._grad = tensor(random, tuple(target.shape)) if kind in ("result", "leaf") else None
        with torch.set_grad_enabled(random.random() < 0.8):
            got = tried(lambda: Writes.apply(*args))
        seen.append([kind, base._node is before[0], target._grad is None, [
            t._version - v for t, v in zip((target, base, x, *args), versions, strict=True)]])
        if isinstance(got, list):
            seen.append(got)
            continue
        each = got if isinstance(got, tuple) else (got,)
        seen.append([[r is target, numbers(r), r.requires_grad, r._index] for r in each])
        seen.append(tried(lambda: [target.grad_fn is None or target.grad_fn.name(),
                                   target.grad_fn is before[1]]))
        weights, more = tensor(random, [3, 2]), random.uniform(1, 2)

        def back(base=base, weights=weights, each=each, more=more):
            loss = (base * weights).sum() + sum((r * more).sum() for r in each)
            if loss.requires_grad:
                loss.backward()

        seen.append(tried(back))
        seen.append([numbers(x.grad), numbers(other.grad) if other.is_leaf else None])
    return seen


STEPS = {"tanh": lambda x: x.tanh(), "sin": lambda x: x.sin(), "square": lambda x: x * x,
         "exp": lambda x: (x * 0.1).exp(), "plus": lambda x: x + 1,
         "sigmoid": lambda x: x.sigmoid()}


def chain(names, calls):
    """Return a function of these steps, which notes its calls."""
    def run(x):
        calls.append(_state.grad_enabled.get())
        for name in names:
            x = STEPS[name](x)
        return x
    return run


def probe_06b_4(random):
    seen = []
    for _ in range(8):
        names = [random.choice(sorted(STEPS)) for _ in range(random.randint(2, 6))]
        calls, x = [], tensor(random, [3], grad=True)
        middle = x * random.uniform(0.5, 1)
        segment = Segment(chain(names, calls), middle)
        y = segment.run(middle)
        seen.append([names, numbers(y), len(calls), len(segment.again)])
        for _ in range(random.randint(1, 3)):
            y.sum().backward(retain_graph=True)
            seen.append([numbers(x.grad), list(calls), len(segment.again)])
        with torch.set_grad_enabled(random.random() < 0.5):
            segment.compute_again()
            seen.append(_state.grad_enabled.get())
        there = sorted(segment.again)
        seen.append([there, [[numbers(segment.again[n]), segment.again[n].grad_fn is None]
                             for n in there]])
        for _ in range(2 if there else 0):  # the second time, while others are left
            seen.append([tried(lambda: numbers(segment.unpack(there[0])), text=False),
                         sorted(segment.again), len(calls)])
        segment.compute_again()
        for number in random.sample(there, len(there)):
            seen.append([number, numbers(segment.unpack(number)), sorted(segment.again),
                         len(calls)])
        if there:
            seen.append([numbers(segment.unpack(there[-1])), sorted(segment.again)])
        if there:
            segment.compute_again()
            for _ in range(2):  # the second time while others are left
                seen.append(tried(lambda: numbers(segment.unpack(there[0]))))
            seen.append(sorted(segment.again))
        seen.append([Segment(chain(names, []), x).pack(x) for _ in range(2)])
        if random.random() < 0.5:
            middle._bump()
            segment.again.clear()
            seen.append(tried(lambda: y.sum().backward(), text=False))
    return seen


def probe_06b_5(random):
    seen = []
    for _ in range(6):
        torch.manual_seed(random.randrange(1000))
        drawn, fails = [], random.random() < 0.3

        def function(x, drawn=drawn, fails=fails):
            drawn.append(torch.rand(3).tolist())
            if fails and len(drawn) == 2:
                raise Wrong
            return (x * torch.tensor(drawn[-1], dtype=x.dtype)).tanh().exp()

        x = tensor(random, [3], grad=True)
        y = RandomSegment(function, x).run(x)
        torch.rand(random.randrange(4))
        for _ in range(2):
            seen.append(tried(lambda: y.sum().backward(retain_graph=True), text=False))
        seen.append([numbers(x.grad), drawn, torch.rand(2).tolist()])
    x = tensor(random, [4], grad=True)
    torch.manual_seed(random.randrange(1000))
    steps = [lambda x: x.tanh(), lambda x: x * torch.rand(x.shape).to(x.dtype)] * 4
    in_segments(steps, x, random.randint(1, 5)).sum().backward()
    seen.append(numbers(x.grad))
    return seen


def probe_06b_6(random):
    seen = []
    for _ in range(10):
        count, recorded = random.randint(1, 3), random.random() < 0.8
        factors = [random.uniform(0.5, 2) for _ in range(count)]
        absent = random.random() < 0.3
        kept, modes = tensor(random, [2]), []

        def forward(ctx, x, constant, factors=factors):
            made = [x * factor for factor in factors]
            return tuple(made) if len(made) > 1 else made[0]

        def backward(ctx, *grads, factors=factors, absent=absent, kept=kept, modes=modes):
            modes.append(_state.grad_enabled.get())
            if random.random() < 0.2:
                return kept, None
            total = sum(g * factor for g, factor in zip(grads, factors, strict=True))
            return (total, None) if not absent else (None, None)

        wrapped = once_differentiable(backward)
        function = type("Once", (Function,), {"forward": staticmethod(forward),
                                              "backward": staticmethod(wrapped)})
        x, constant = tensor(random, [2], grad=True), tensor(random, [2])
        outputs = function.apply(x, constant)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        total = sum((y * (x * x if random.random() < 0.4 else 1)).sum() for y in outputs)
        (slope,) = grad(total, x, create_graph=recorded, allow_unused=True)
        seen.append([wrapped.__name__, modes, kept.requires_grad, slope is None])
        if slope is not None:
            seen.append([numbers(slope), slope.requires_grad])
            seen.append(tried(lambda slope=slope: slope.sum().backward()))
            seen.append(tried(lambda slope=slope: (slope * 2 + x).sum().backward()))
        single = once_differentiable(lambda ctx, g, factors=factors: g * factors[0])
        seen.append(tried(lambda single=single, x=x: numbers(single(None, x))))
    return seen
