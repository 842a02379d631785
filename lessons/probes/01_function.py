"""Probes of stage 01: random Functions, contexts filled by hand, writes through views."""

import numpy as np
from probing import Wrong, array, tensor, tried

import minigrad as torch
from minigrad import _state
from minigrad.autograd.function import Function
from minigrad.autograd.functions import outputs as function_outputs
from minigrad.backend import backend_of


def numbers(value):
    """Return a tensor's numbers, and anything else as its type's name."""
    return value.detach().numpy().copy() if isinstance(value, torch.Tensor) else (
        value if value is None or isinstance(value, (int, float, str)) else type(value).__name__)


def probe_01_1(random):
    seen = []
    grad, inference = _state.grad_enabled.get(), _state.inference_enabled.get()

    def look():
        return [_state.grad_enabled.get(), _state.inference_enabled.get()]

    def made(kind, scale, fails):
        def compute(args):
            seen.append(["forward", look(), len(args)])
            total = sum((a for a in args if isinstance(a, torch.Tensor)), scale)
            seen.append(getattr(total, "requires_grad", None))
            if fails:
                raise Wrong
            return {"bare": total * scale, "one": (total * scale,),
                    "two": (total * scale, total + scale), "none": (total * scale, None, 3.5),
                    "list": [total * scale]}[kind]

        class Plain(Function):
            @staticmethod
            def forward(ctx, *args, **kwargs):
                seen.append([list(ctx.needs_input_grad), list(ctx._are_tensors),
                             type(ctx.needs_input_grad).__name__, sorted(kwargs.items())])
                ctx.mark = scale
                contexts.append(ctx)
                return compute(args)

            @staticmethod
            def backward(ctx, *grads):
                return None

        class Apart(Plain):
            @staticmethod
            def forward(*args, **kwargs):
                seen.append(sorted(kwargs.items()))
                return compute(args)

            @staticmethod
            def setup_context(ctx, inputs, output):
                contexts.append(ctx)
                seen.append(["setup", look(), len(inputs), type(output).__name__,
                             list(ctx.needs_input_grad), list(ctx._are_tensors)])

        return random.choice([Plain, Apart])

    try:
        for _ in range(30):
            _state.grad_enabled.set(True)
            base = tensor(random, [2, 3], grad=True)
            first, second, third = base.unbind(1)
            pool = [first, second, third, tensor(random), tensor(random, grad=True),
                    1.5, 2, "text", None]
            args = [pool[random.randrange(5)], *[random.choice(pool)
                                                 for _ in range(random.randint(0, 3))]]
            if random.random() < 0.2:
                args = [random.choice([tensor(random), 2.0]), 3]
                if not isinstance(args[0], torch.Tensor):
                    args.append(tensor(random))
            random.shuffle(args)
            kwargs = {"flag": random.random()} if random.random() < 0.4 else {}
            contexts = []
            function = made(random.choice(["bare", "bare", "one", "two", "none", "list"]),
                            random.uniform(1, 2), random.random() < 0.2)
            on, without = random.random() < 0.75, random.random() < 0.1
            _state.grad_enabled.set(on)
            _state.inference_enabled.set(without)
            got = tried(lambda function=function, args=args, kwargs=kwargs:
                        function._record(tuple(args), kwargs))
            seen.append(look())
            _state.inference_enabled.set(False)
            if not isinstance(got, tuple):
                seen.append(got)
                continue
            node, results = got
            seen.append([len(contexts), all(each is node for each in contexts)])
            seen.append(node.sequence >= 0)
            each = results if isinstance(results, tuple) else (results,)
            seen.append([type(results).__name__, len(each), [numbers(r) for r in each]])
            for r in each:
                if isinstance(r, torch.Tensor):
                    seen.append([r.requires_grad, r.grad_fn is node, r._index])
            places = [None, *[t.grad_fn for t in (first, second, third)]]
            if any(isinstance(r, torch.Tensor) and r.requires_grad for r in each):
                seen.append([[next((k for k, p in enumerate(places) if p is n), "leaf"), i]
                             for n, i in node.next_functions])
    finally:
        _state.grad_enabled.set(grad)
        _state.inference_enabled.set(inference)
    return seen


def bare_node(name, backward):
    """Return the node of a Function that was never applied."""
    function = type(name, (Function,), {"backward": staticmethod(backward)})
    return function._backward_cls()


def probe_01_2(random):
    seen = []
    for _ in range(40):
        kinds = [random.random() < 0.7 for _ in range(random.randint(1, 4))]
        results = [tensor(random) if is_tensor and random.random() < 0.8 else None
                   for is_tensor in kinds]
        change = random.random()
        if change < 0.15:
            results += [None] * random.randint(1, 3)
        elif change < 0.25:
            results = results[: random.randrange(len(results))]
        elif change < 0.35:
            results += [tensor(random), None][: random.randint(1, 2)]
        elif change < 0.5:
            results[random.randrange(len(results))] = random.choice(
                [1.5, "text", [1], tensor(random)])
        form = random.random()
        given = tuple(results) if form < 0.8 or len(results) != 1 else results[0]
        got = []

        def backward(ctx, *grads, got=got, given=given):
            got.append([len(grads), [numbers(each) for each in grads]])
            return given

        node = bare_node(f"Named{random.randrange(100)}", backward)
        node._are_tensors = tuple(kinds)
        node.materialize_grads = random.random() < 0.5
        zeros = random.random()
        node._zeros = lambda i, zeros=zeros: torch.Tensor._plain(np.full(2, zeros + i))
        if isinstance(given, tuple):
            seen.append(tried(lambda node=node, given=given: [
                numbers(each) for each in node._checked(given)]))
        grads = [None if random.random() < 0.4 else tensor(random)
                 for _ in range(random.randint(1, 3))]
        seen.append(tried(lambda node=node, grads=grads: [
            numbers(each) for each in node.apply_tensors(grads)]))
        seen.append(got)
    return seen


def probe_01_3(random):
    seen = []
    for _ in range(10):
        outputs = [None if random.random() < 0.3 else
                   array(random, [random.randint(1, 3) for _ in range(random.randint(0, 3))],
                         random.choice([np.float64, np.float32, np.float16]))
                   for _ in range(random.randint(2, 4))]
        if outputs[0] is None:
            outputs[0] = array(random, [random.randint(4, 6)], np.float32)
        node = bare_node("Named", lambda ctx, *grads: None)
        described = [((), None) if a is None else (a.shape, a.dtype) for a in outputs]
        (node.shape, node.dtype), node.others = described[0], described[1:]
        node._blanks = [((), None) if a is None else (a.shape, backend_of(a)) for a in outputs]
        for i in range(len(outputs)):
            made = tried(lambda node=node, i=i: node._zeros(i))
            seen.append(made if isinstance(made, list) else None if made is None else
                        [type(made).__name__, str(made._array.dtype), made._array.copy()])
        wish = random.random() < 0.5
        node.set_materialize_grads(wish)
        seen.append(bool(node.materialize_grads))
        if random.random() < 0.5:
            node.set_materialize_grads(not wish)
            seen.append(bool(node.materialize_grads))

        class Splits(Function):
            @staticmethod
            def forward(ctx, x, wish=wish):
                ctx.set_materialize_grads(wish)
                return x * 1, x.sum(), x * 2

            @staticmethod
            def backward(ctx, *grads):
                seen.append([numbers(each) for each in grads])
                return grads[1] * torch.ones(3, dtype=torch.float64)

        x = tensor(random, [3], grad=True)
        Splits.apply(x)[1].backward()
        seen.append(numbers(x.grad))
    return seen


def probe_01_4(random):
    seen = []
    for _ in range(8):
        x = tensor(random, [random.randint(1, 3), 2], grad=random.random() < 0.6)
        made = random.choice([x, x * random.uniform(1, 2), x[0], x.detach()])
        before = [made.requires_grad, made.grad_fn is None, made._version]
        for function in random.sample([function_outputs.alias, function_outputs.constant], 2):
            got = function(made)
            seen.append([got is made, got.requires_grad, got.is_leaf or function.__name__,
                         np.shares_memory(got._array, made._array), numbers(got),
                         got._view is not None,
                         got._view is not None and got._view.base is (
                             made if made._view is None else made._view.base),
                         before == [made.requires_grad, made.grad_fn is None, made._version]])
            with torch.no_grad():
                got += random.random()
            seen.append([made._version, numbers(made)])
            before[2] = made._version
            seen.append(tried(lambda got=got: list(
                got.mul_(tensor(random, [1], grad=True)).shape)))
            before[2] = made._version
        outputs = [tensor(random) for _ in range(random.randint(1, 4))]
        node = bare_node("Named", lambda ctx, *grads: None)
        node.mark_non_differentiable(*outputs)
        kept = node.non_differentiable
        seen.append([type(kept).__name__, len(kept), all(a is b for a, b in zip(kept, outputs))])
        marks = [random.random() < 0.5 for _ in range(3)]
        scale = random.uniform(1, 2)

        class Passes(Function):
            @staticmethod
            def forward(ctx, x, marks=marks, scale=scale):
                made = [x * (scale + i) for i in range(3)]
                ctx.mark_non_differentiable(*[m for m, mark in zip(made, marks) if mark])
                return (*made, x)

            @staticmethod
            def backward(ctx, *grads):
                return sum((g for g, mark in zip(grads, marks) if not mark), grads[3])

        y = tensor(random, [3], grad=True)
        results = Passes.apply(y)
        seen.append([[r.requires_grad, r is y, numbers(r)] for r in results])
        sum(r.sum() for r in results).backward()
        seen.append(numbers(y.grad))
        with torch.no_grad():
            seen.append([[r.requires_grad, r is y] for r in Passes.apply(y)])
    return seen


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g, None


def probe_01_5(random):
    seen = []
    for _ in range(14):
        leaves = [tensor(random, [2], grad=random.random() < 0.6) for _ in range(3)]
        leaves[0].requires_grad_()
        inputs = [leaf * 2 if random.random() < 0.6 else leaf for leaf in leaves]
        outside = tensor(random, [2], grad=True) * 3 if random.random() < 0.4 else None
        plan = [random.choice(["in0", "in1", "in2", "out0", "out1", "none", "temporary"])
                for _ in range(random.randint(0, 5))]
        again = random.random() < 0.4
        wrong = random.choice([*[None] * 8, 1.5, "text", [1]])
        place = random.randint(0, len(plan))
        contexts, scale = [], random.uniform(1, 2)

        class Keeps(Function):
            @staticmethod
            def forward(ctx, *xs):
                outs = (xs[0] * scale if outside is None else outside, xs[1] + xs[2])
                things = {"in0": xs[0], "in1": xs[1], "in2": xs[2], "out0": outs[0],
                          "out1": outs[1], "none": None, "temporary": xs[0] * 3}
                kept = [things[name] for name in plan]
                if again:
                    ctx.save_for_backward(xs[2], None)
                if wrong is not None:
                    kept.insert(place, wrong)
                ctx.save_for_backward(*kept)
                seen.append([type(ctx.to_save).__name__, len(ctx.to_save)])
                contexts.append(ctx)
                return outs

            @staticmethod
            def backward(ctx, *grads):
                saved = ctx.saved_tensors
                seen.append([type(saved).__name__, [
                    None if s is None else [numbers(s), s.requires_grad,
                                            [s is x for x in inputs], s.grad_fn is ctx]
                    for s in saved]])
                return grads[0] * scale, grads[1], grads[1]

        results = tried(lambda: Keeps.apply(*inputs))
        if not isinstance(results, tuple):
            seen.append(results)
            continue
        seen.append([None if s is None else [s.tensor is x for x in (None, *inputs)]
                     for s in contexts[0]._saved])
        loss = (results[0] * results[1]).sum()
        written = random.random()
        if written < 0.3:
            with torch.no_grad():
                random.choice(inputs).add_(random.random())
        seen.append(tried(lambda loss=loss: loss.backward(retain_graph=True)))
        seen.append([numbers(leaf.grad) for leaf in leaves])
        seen.append(tried(lambda: [numbers(s) for s in contexts[0].saved_tensors]))
        contexts[0].saved_for_forward = (inputs[1],)
        seen.append(tried(lambda: [s is inputs[1] for s in contexts[0].saved_tensors]))
        contexts.clear()
        seen.append(tried(lambda loss=loss: loss.backward()))
        seen.append(tried(lambda loss=loss: loss.backward()) is None)
    node = bare_node("Named", lambda ctx, *grads: None)
    one, other = tensor(random), tensor(random)
    for items in ((one, None, other), (None,), (one, 2.5), ("text", one), ()):
        node.to_save = items
        seen.append(tried(lambda items=items: [
            None if s is None else [s.tensor is one, s.tensor is other]
            for s in function_outputs.keep(node, {id(one): other} if len(items) < 3 else {})]))
    outputs = [Scaled.apply(tensor(random, grad=True), random.uniform(1, 2)) for _ in range(4)]
    for output in outputs:
        output.grad_fn.to_save = random.sample(outputs, 3)
        seen.append(tried(lambda output=output: [
            [s.tensor is each for each in outputs]
            for s in function_outputs.keep(output.grad_fn, {})]))
    return seen


def probe_01_6(random):
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
        first_place, extra = random.random() < 0.5, random.random() < 0.4
        marks = [target] if not extra else [target, plain]

        class Writes(Function):
            @staticmethod
            def forward(ctx, *xs):
                xs = [each for each in xs if isinstance(each, torch.Tensor)]
                here = xs[0] if first_place else xs[1]
                value = xs[1] if first_place else xs[0]
                here.mul_(scale).add_(value)
                ctx.mark_dirty(here, *([xs[2]] if extra else []))
                seen.append([type(ctx.dirty_tensors).__name__, len(ctx.dirty_tensors)])
                out = [here]
                if second:
                    out.insert(0, value * scale)
                if extra:
                    xs[2].add_(1)
                    out.append(xs[2])
                return tuple(out) if len(out) > 1 else out[0]

            @staticmethod
            def backward(ctx, *grads):
                grad = grads[1] if second else grads[0]
                more = grads[0] * scale if second else 0.0
                pair = (grad * scale, grad + more)
                return (*(pair if first_place else pair[::-1]), *([grads[-1]] if extra else []))

        args = [target, other] if first_place else [other, target]
        if extra:
            args.append(tensor(random, [2]))
        versions = [t._version for t in (target, base, x, *args)]
        before = [base.grad_fn, target.grad_fn]
        recorded = random.random() < 0.8
        previous = _state.grad_enabled.get()
        _state.grad_enabled.set(recorded)
        try:
            got = tried(lambda: Writes.apply(*args))
        finally:
            _state.grad_enabled.set(previous)
        seen.append([kind, [t._version - v for t, v in
                            zip((target, base, x, *args), versions, strict=True)]])
        seen.append([marks[0] is target, base.grad_fn is before[0]])
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
    for differentiable in (True, False):  # what was no input
        node = bare_node("Named", lambda ctx, *grads: None)
        node.shape, node.dtype, index = (), None, random.randrange(4)
        output = tensor(random, [random.randint(1, 3)])
        got = function_outputs.join_written(node, output, index, differentiable, None, 1)
        seen.append([got is output, output._version, output._node is node, output._index,
                     output.requires_grad, list(node.shape), str(node.dtype)])
    return seen
