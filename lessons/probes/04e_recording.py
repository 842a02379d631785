"""Probes of stage 04e: random products, lists, views, interceptors and names in the second copy."""

import gc
import weakref
from dataclasses import replace

import numpy as np
from probing import declared, edges_of, kept_by, leaf_of, numbers, outcome, replaced, tried

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


def probe_04e_1(random):
    copy = second_copy("04e.1")
    apply, order = copy.module("op.apply"), []

    class Noted:
        def __init__(self, name, instead):
            self.name, self.instead, self.twice = name, instead, random.random() < 0.4 or not name

        def op(self, op, values, proceed):
            order.append([self.name, op.name])
            if self.twice:
                proceed(op, values)
            return proceed(self.instead or op, values)

    stack = tuple(Noted(i, random.choice([None, None, copy.REGISTRY["Sub"]]))
                  for i in range(random.randint(2, 4)))
    result = apply.intercepted(copy.REGISTRY["Mul"],
                               [leaf_of(copy, random), leaf_of(copy, random)], stack)
    found = [order, numbers(result), edges_of(result.grad_fn)]
    for name in ("exp", "sin", "sigmoid"):
        found.append(outcome(copy, random, getattr(copy.F, name)))
    bare = copy.F.exp(np.array([random.random()]))
    found.append(type(bare).__name__)
    prepare, x = apply.prepare, leaf_of(copy, random)
    with replaced(apply, prepare=lambda op, values: replace(prepare(op, values), xp="a device"),
                  run_elsewhere=lambda op, call: [op.name, call.xp]):
        found.append(tried(lambda: apply.run_op(copy.REGISTRY["Exp"], [x])))
    return found


def probe_04e_2(random):
    copy = second_copy("04e.2")
    found = []
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            for _ in range(3):
                x, y = leaf_of(copy, random), leaf_of(copy, random)
                for result in (copy.F.mul(x, y), copy.F.mul(x, 2.5), copy.F.sub(1.5, y),
                               copy.F.add_scaled([x, y, x], 2.0)):
                    found.append([edges_of(result.grad_fn), kept_by(result.grad_fn)])
    base = leaf_of(copy, random, 3, chance=0)
    view = base[: random.randint(1, 2)]
    base.requires_grad_()  # the view requires grad as well, and leads to no node
    result = copy.F.mul(view, 2.5)
    found.append([result.requires_grad, edges_of(result.grad_fn), kept_by(result.grad_fn)])
    x = leaf_of(copy, random, chance=1)
    with torch.inference_mode(), torch.enable_grad():
        found.append(edges_of(copy.F.mul(x, 2.5).grad_fn))
    with declared(copy, "Odd", forward=lambda xp, self: xp.exp(self), tensors=("self",),
                  not_implemented_derivative=True) as op:
        result = op(x)
        found.append([result.requires_grad, result.grad_fn is None])
    both = copy.F.sin_cos(leaf_of(copy, random, chance=1))
    last = copy.F.mul(both[1], both[0]).grad_fn
    found.append([edges_of(last), last.edges[0][0].sequence < last.sequence])
    found.append(outcome(copy, random, copy.F.mul, 2))
    mixed = copy.F.mul(leaf_of(copy, random, chance=1),
                       leaf_of(copy, random, chance=1, dtype=np.float32))
    found.append(str(mixed.grad_fn.unpack("other", arrays=True).dtype))
    return found


def probe_04e_3(random):
    copy = second_copy("04e.3")
    found = [outcome(copy, random, getattr(copy.F, name)) for name in ("exp", "sin", "sigmoid")]
    found.append(outcome(copy, random, copy.F.mul, 2))
    column, row = [[random.random()], [1.0]], [random.random(), 2.0, 3.0]
    wide = copy.F.mul(*(copy.tensor(np.array(each, np.float16), requires_grad=True)
                        for each in (column, row)))
    found.append([wide.requires_grad, list(getattr(wide.grad_fn, "shape", "-")),
                  str(getattr(wide.grad_fn, "dtype", "-"))])
    both = copy.F.sin_cos(leaf_of(copy, random))
    matrix = copy.tensor([[random.random(), 1.0]], requires_grad=random.random() < 0.5)
    view = copy.F.transposed(matrix)
    found += [[each._index for each in both], type(both).__name__,
              view._base is matrix, list(view.shape), view.requires_grad]
    with torch.inference_mode():
        found.append(copy.F.exp(leaf_of(copy, random)).is_inference())
    with declared(copy, "Rounded", forward=lambda xp, self: self.astype("int64"),
                  grad_self=lambda g: g) as op:
        rounded = op(leaf_of(copy, random, chance=1))
        found.append([numbers(rounded), rounded.requires_grad, rounded.grad_fn is None])
    result, was_on = copy.F.exp(leaf_of(copy, random, chance=1)), gc.isenabled()
    node = weakref.ref(result.grad_fn)
    gc.disable()
    del result
    found.append(node() is None)
    if was_on:
        gc.enable()
    return found


def probe_04e_4(random):
    copy = second_copy("04e.4")
    publish, found = copy.module("op.publish"), []
    for names in (vars(copy.F), publish.FUNCTIONS, vars(copy.Tensor)):
        found.append(sorted(each for each in names if not each.startswith("__")
                            or each in ("__mul__", "__rmul__", "__sub__", "__rsub__", "__imul__",
                                        "__isub__")))
    x, y = leaf_of(copy, random), leaf_of(copy, random)
    number = random.uniform(1, 3)
    for program in (lambda: x * y, lambda: x - y, lambda: number - x, lambda: number * x,
                    lambda: x - number, lambda: x * "text", lambda: x.sin(), lambda: copy.F.exp(y),
                    lambda: publish.FUNCTIONS["exp"](np.ones(2)),
                    lambda: copy.F.exp(np.ones(2)),
                    lambda: publish.operator(copy.F.sin)(x),
                    lambda: publish.swapped(copy.F.sub)(x, y)):
        result = tried(program, text=False)
        found.append([numbers(result), edges_of(result.grad_fn)]
                     if isinstance(result, torch.Tensor) else
                     result if isinstance(result, list) else np.array(result))
    for name in ("__mul__", "__rmul__", "__sub__", "__rsub__"):
        dunder = vars(copy.Tensor).get(name)
        found.append(tried(lambda dunder=dunder: repr(dunder(x, "text")), text=False))

    def eq(self, other):
        return "equal"

    found.append(tried(lambda: repr(publish.operator(eq)(x, np.ones(2))), text=False))
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
