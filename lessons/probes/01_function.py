"""Probes of stage 01: random numbers for own Functions, random Functions for the machinery."""

import contextlib
import weakref

import numpy as np
from probing import Wrong, tensor, tried

import minigrad as torch
from minigrad import _state
from minigrad.autograd.function import Function
from minigrad.autograd.function import saved as function_saved
from minigrad.examples import functions


def numbers(value):
    """Return a tensor's numbers, and anything else as its type's name."""
    return value.detach().numpy().copy() if isinstance(value, torch.Tensor) else (
        value if value is None or isinstance(value, (int, float, str)) else type(value).__name__)


class Notes:
    """A context for own Functions."""

    materialize_grads = True

    def __init__(self, count):
        self.needs_input_grad = (True,) * count
        self.saved = ()

    @property
    def saved_tensors(self):
        return self.saved

    def save_for_backward(self, *tensors):
        if not all(t is None or isinstance(t, torch.Tensor) for t in tensors):
            raise TypeError("save_for_backward can only save variables")
        self.saved = tensors

    save_for_forward = mark_non_differentiable = mark_dirty = lambda self, *tensors: None

    def set_materialize_grads(self, value):
        self.materialize_grads = value


def called(random, name, *args):
    """Return values, gradients and what was saved of one call of an own Function."""
    function, ctx = getattr(functions, name), Notes(len(args))
    outputs = function.forward(ctx, *args)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    grads = [tensor(random, tuple(each.shape)) for each in outputs]
    results = function.backward(ctx, *grads)
    results = results if isinstance(results, tuple) else (results,)
    if all(each is None for each in results[len(args):]):
        results = results[: len(args)]
    kept = [isinstance(each, torch.Tensor) for each in vars(ctx).values()]
    return [[numbers(each) for each in outputs], [numbers(each) for each in results],
            len(ctx.saved_tensors), any(kept),
            [any(t is each for each in outputs) for t in ctx.saved_tensors]]


def history(random, name, *args):
    """Return how the sum of the gradients depends on the gradients that came."""
    function, ctx = getattr(functions, name), Notes(len(args))
    outputs = function.forward(ctx, *args)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    grads = [tensor(random, tuple(each.shape), grad=True) for each in outputs]
    results = function.backward(ctx, *grads)
    results = results if isinstance(results, tuple) else (results,)
    total = sum((r.sum() for r in results if r is not None), 0.0)
    return [numbers(each) for each in torch.autograd.grad(total, grads)]


def second_slopes(random, name, shape, *formulas):
    """Return how the gradients depend on the inputs, by way of the tensors that were saved.

    A saved output is replaced by the result of its formula, which has a history.
    """
    function, ctx = getattr(functions, name), Notes(2)
    inputs = [tensor(random, shape, grad=True) for _ in formulas or [None]]
    with torch.no_grad():
        outputs = function.forward(ctx, *inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    recorded = {id(out): formula(*inputs) for out, formula in zip(outputs, formulas)}
    ctx.saved = tuple(recorded.get(id(each), each) for each in ctx.saved)
    results = function.backward(ctx, *[tensor(random, shape) for _ in outputs])
    results = results if isinstance(results, tuple) else (results,)
    total = sum((r.sum() for r in results if r is not None), 0.0)
    return [numbers(each) for each in torch.autograd.grad(total, inputs, allow_unused=True)]


def shapes(random):
    for _ in range(6):
        yield [random.randint(1, 4) for _ in range(random.randint(0, 3))]


def probe_01_1(random):
    seen = [each for name in ("Exp", "Sigmoid") for shape in shapes(random)
            for each in (called(random, name, tensor(random, shape)),
                         history(random, name, tensor(random, shape)))]
    large = torch.tensor([-random.uniform(750, 900), random.uniform(750, 900)],
                         dtype=torch.float64)
    return [*seen, numbers(functions.Sigmoid.forward(Notes(1), large))]


def probe_01_2(random):
    seen = []
    for shape in shapes(random):
        seen.append(called(random, "GradCoeff", tensor(random, shape), random.uniform(-2, 2)))
        seen.append(called(random, "Round", tensor(random, shape) * random.uniform(1, 9)))
        seen.append(history(random, "Round", tensor(random, shape)))
    halves = torch.tensor([random.randint(-9, 9) + 0.5 for _ in range(6)], dtype=torch.float64)
    before = numbers(halves)
    seen += [called(random, "Round", halves), np.array_equal(numbers(halves), before)]
    first, second = Notes(2), Notes(2)
    for ctx in (first, second):
        functions.GradCoeff.forward(ctx, tensor(random), random.uniform(1, 2))
    for ctx in (first, second):
        arriving = tensor(random)
        before = numbers(arriving)
        seen.append(numbers(functions.GradCoeff.backward(ctx, arriving)[0]))
        seen.append(np.array_equal(numbers(arriving), before))
    return seen


def probe_01_3(random):
    return [each for shape in shapes(random)
            for each in (called(random, "Silu", tensor(random, shape)),
                         history(random, "Silu", tensor(random, shape)),
                         second_slopes(random, "Silu", shape))]


def probe_01_4(random):
    seen = []
    for shape in shapes(random):
        x, y = tensor(random, shape), tensor(random, shape)
        values, grads, _, kept, _ = called(random, "Polar", x, y)
        seen += [values, grads, kept, history(random, "Polar", x, y),
                 second_slopes(random, "Polar", shape, torch.hypot, lambda x, y: torch.atan2(y, x))]
    return seen


def probe_01_5(random):
    seen, given = [], []
    grad, inference = _state.grad_enabled.get(), _state.inference_enabled.get()

    def look():
        return [_state.grad_enabled.get(), _state.inference_enabled.get()]

    def made(kind, scale, fails):
        def compute(args):
            seen.append(["forward", look(), len(args)])
            seen.append([mine is theirs for mine, theirs in zip(args, given)])
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
                             type(ctx.needs_input_grad).__name__, sorted(kwargs.items()),
                             len(ctx.next_functions), ctx.sequence >= 0])
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
            given[:] = args
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
        def interrupted(ctx, x):
            raise KeyboardInterrupt

        for on in random.sample([True, False], 2):
            _state.grad_enabled.set(on)
            with contextlib.suppress(KeyboardInterrupt):
                type("Interrupted", (Function,), {"forward": staticmethod(interrupted)})._record(
                    (tensor(random, grad=True),), {})
            seen.append(look())
        _state.grad_enabled.set(True)
        Doubled = type("Doubled", (Function,), {
            "forward": staticmethod(lambda ctx, x, *rest, **named: x * 2)})
        nodes = []
        for args, kwargs in (((tensor(random),), {"w": tensor(random, grad=True)}),
                             ((tensor(random), [tensor(random, grad=True)]), {})):
            node, result = Doubled._record(args, kwargs)
            seen.append([result.requires_grad, node.sequence >= 0, len(node.next_functions),
                         isinstance(node, Doubled._backward_cls)])
            nodes.append(node)
        seen.append(nodes[0] is nodes[1])

        def write(ctx, times, x):
            ctx.mark_dirty(x)
            return x.mul_(times)

        base = tensor(random, [3], grad=True) * random.uniform(1, 2)
        before, Written = base.grad_fn, type("Written", (Function,), {
            "forward": staticmethod(write)})
        seen.append(tried(lambda: numbers(Written._record((random.choice([2, 3.5]), base[1:]),
                                                          {})[1])))
        seen.append([numbers(base), tried(lambda: base.grad_fn.next_functions[0][0] is before)])
        used = tensor(random, grad=True) * 2
        kept, alive = Doubled._record((used,), {}), weakref.ref(used)
        del used
        seen.append([alive() is None, len(kept)])
    finally:
        _state.grad_enabled.set(grad)
        _state.inference_enabled.set(inference)
    return seen


def bare_node(name, backward):
    """Return the node of a Function that was never applied."""
    function = type(name, (Function,), {"backward": staticmethod(backward)})
    return function._backward_cls()


def probe_01_6(random):
    seen = []
    for _ in range(40):
        results = tuple(tensor(random) for _ in range(random.randint(1, 3)))
        given = random.choice([results, results[0], list(results), None])
        got = []

        def backward(ctx, *grads, got=got, given=given):
            got.append([len(grads), [numbers(each) for each in grads]])
            return given

        node = bare_node("Named", backward)
        node.materialize_grads = random.random() < 0.5
        zeros = random.random()
        node._zeros = lambda i, zeros=zeros: torch.Tensor._plain(np.full(2, zeros + i))
        node._checked = lambda results: [type(results).__name__, [
            numbers(each) for each in results]]
        grads = [None if random.random() < 0.4 else tensor(random)
                 for _ in range(random.randint(1, 3))]
        kind = random.choice([list, tuple])
        handed = kind(grads)
        seen.append(tried(lambda node=node, handed=handed: node.apply_tensors(handed)))
        seen += [got, all(a is b for a, b in zip(handed, grads, strict=True))]
    return seen


def probe_01_7(random):
    seen = []
    for _ in range(60):
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
        node = bare_node(f"Named{random.randrange(100)}", lambda ctx, *grads: None)
        node._are_tensors = tuple(kinds)

        def program(node=node, results=results):
            kept = node._checked(tuple(results))
            return [type(kept).__name__, *map(numbers, kept)]

        seen.append(tried(program))
    return seen


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g, None


def probe_01_8(random):
    seen = []
    for _ in range(14):
        leaves = [tensor(random, [2], grad=random.random() < 0.6) for _ in range(3)]
        leaves[0].requires_grad_()
        inputs = [leaf * 2 if random.random() < 0.6 else leaf for leaf in leaves]
        outside = tensor(random, [2], grad=True) * 3 if random.random() < 0.4 else None
        plan = [random.choice(["in0", "in1", "in2", "out0", "out1", "none", "temporary"])
                for _ in range(random.randint(0, 5))]
        again = random.random() < 0.4
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
        if any(name in ("in0", "in1", "in2") for name in plan):
            ended = results[0].grad_fn or results[1].grad_fn
            ended.saved_for_forward = None
            seen.append(ended and type(tried(lambda ended=ended: ended.saved_tensors,
                                             text=False)).__name__)
    node = bare_node("Named", lambda ctx, *grads: None)
    one, other = tensor(random), tensor(random)
    for items in ((one, None, other), (None,), (one, one), ()):
        node.to_save = items
        seen.append(tried(lambda items=items: [
            None if s is None else [s.tensor is one, s.tensor is other]
            for s in function_saved.keep(node, {id(one): other} if len(items) < 3 else {})]))
    outputs = [Scaled.apply(tensor(random, grad=True), random.uniform(1, 2)) for _ in range(4)]
    for output in outputs:
        output.grad_fn.to_save = random.sample(outputs, 3)
        seen.append(tried(lambda output=output: [
            [s.tensor is each for each in outputs]
            for s in function_saved.keep(output.grad_fn, {})]))
    return seen
