"""A Function inside `vmap`: the rule of its own, the one that is made, and what is refused."""

from __future__ import annotations

import gc
import weakref
from textwrap import indent
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support.engines import function_of, on_each_engine

pytestmark = [on_each_engine, pytest.mark.filterwarnings(
    "ignore:`torch.jit.script:DeprecationWarning")]  # PyTorch's forward mode


def tensors(torch: ModuleType) -> tuple[Any, Any]:
    """Return x (4, 3) and w (3,)."""
    rng = np.random.default_rng(5)
    return torch.tensor(rng.normal(size=(4, 3))), torch.tensor(rng.normal(size=3))


def shrunk(gradient: Any, like: Any) -> Any:
    """Return a gradient summed over the dimensions by which it is more than a tensor."""
    while gradient.dim() > like.dim():
        gradient = gradient.sum(0)
    for d, n in enumerate(like.shape):
        gradient = gradient.sum(d, keepdim=True) if n == 1 else gradient
    return gradient


def scaled(torch: ModuleType, **more: Any) -> Any:
    """Make x**2 * w * k, by a Function that saves inputs and an output and notes a shape."""
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, w, k = inputs
        ctx.k, ctx.form = k, x.shape
        ctx.save_for_backward(x, w, output[1])
        ctx.save_for_forward(x, w, output[1])  # PyTorch wants as many

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        x, w, square = ctx.saved_tensors
        assert x.shape == ctx.form == g.shape
        return 2 * x * (g * w * ctx.k + h), shrunk(g * square, w) * ctx.k, None

    def jvp(ctx: Any, x_t: Any, w_t: Any, _: Any) -> Any:
        x, w, _ = ctx.saved_tensors
        w_part = 0 if w_t is None else x * x * w_t * ctx.k
        x_part = 0 if x_t is None else 2 * x * x_t * w * ctx.k
        return x_part + w_part, None if x_t is None else 2 * x * x_t

    def forward(x: Any, w: Any, k: Any) -> Any:
        return x * x * w * k, x * x

    made = function_of(torch, forward, backward, setup_context=staticmethod(setup_context),
                       jvp=staticmethod(jvp), **{"generate_vmap_rule": True, **more})
    return lambda x, w: made.apply(x, w, 3)[0]


def plain(x: Any, w: Any) -> Any:
    return x * x * w * 3


PROGRAMS: dict[str, Any] = {
    "values": lambda f, F, x, w: F.vmap(f, (0, None))(x, w),
    "values along another dimension": lambda f, F, x, w: F.vmap(f, (1, 0), 1)(x, w),
    "values of a batch in a batch": lambda f, F, x, w: F.vmap(F.vmap(f), (0, None))(x, w),
    "each example's gradient": lambda f, F, x, w: F.vmap(
        F.grad(lambda x, w: f(x, w).sum()), (0, None))(x, w),
    "each example's gradient by what they share": lambda f, F, x, w: F.vmap(
        F.grad(lambda w, x: f(x, w).sum()), (None, 0))(w, x),
    "the gradient of a batch": lambda f, F, x, w: F.grad(
        lambda x, w: F.vmap(f, (0, None))(x, w).sin().sum(), (0, 1))(x, w),
    "the second derivative": lambda f, F, x, w: F.vmap(
        F.hessian(lambda x: f(x, w).sum()))(x),
    "jacrev": lambda f, F, x, w: F.jacrev(f, (0, 1))(x, w),
    "jacfwd": lambda f, F, x, w: F.jacfwd(f, (0, 1))(x, w),
    "the tangent of a batch": lambda f, F, x, w: F.jvp(
        F.vmap(f, (0, None)), (x, w), (w * x, x[0])),
    "each example's tangent": lambda f, F, x, w: F.vmap(
        lambda x: F.jvp(lambda x: f(x, w), (x,), (x * 2,)))(x),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_function_in_batches_is_what_it_is_for_each_example(torch, program):
    x, w = tensors(torch)
    got, want = program(scaled(torch), torch.func, x, w), program(plain, torch.func, x, w)
    for a, b in zip(got if isinstance(got, tuple) else (got,),
                    want if isinstance(want, tuple) else (want,), strict=True):
        torch.testing.assert_close(a, b)


def test_a_batch_is_recorded_outside(torch):
    x, w = (t.requires_grad_() for t in tensors(torch))
    y = torch.vmap(scaled(torch), (0, None))(x, w)
    got = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
    want = torch.autograd.grad(plain(x, w).sum(), (x, w), create_graph=True)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)
    second = [torch.autograd.grad(g.sum(), x)[0] for g in (got[1], want[1])]
    torch.testing.assert_close(*second)


def test_rows_of_gradients_go_through_a_batch_at_once(torch):
    x, w = tensors(torch)
    x.requires_grad_()
    y = torch.vmap(scaled(torch), (0, None))(x, w)
    rows = torch.eye(12, dtype=torch.float64).reshape(12, 4, 3)
    got, = torch.autograd.grad(y, x, rows, is_grads_batched=True)
    torch.testing.assert_close(got.reshape(12, 12), torch.diag((6 * x * w).detach().reshape(-1)))


def only_here(torch: ModuleType, what: str) -> None:
    if torch.__name__ == "torch":
        pytest.skip(f"PyTorch's generated rule {what}")


def test_a_function_that_writes_to_its_input_does_so_in_a_batch(torch):
    only_here(torch, "refuses to write in place")

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(inputs[0])

    made = function_of(torch, lambda x: x.mul_(2), lambda ctx, g: g * 2,
                       setup_context=staticmethod(setup_context), generate_vmap_rule=True)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    z = torch.vmap(made.apply)(y)
    z.sum().backward()
    assert y.tolist() == z.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_an_output_that_is_marked_has_no_gradient(torch):
    only_here(torch, "forgets what is marked")

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    made = function_of(
        torch, lambda x: (x * 2, x * 3), lambda ctx, g, h: None if g is None else g * 2,
        setup_context=staticmethod(setup_context), generate_vmap_rule=True)
    x = torch.ones(3, requires_grad=True)
    y, z = torch.vmap(made.apply)(x)
    assert (y.requires_grad, z.requires_grad) == (True, False)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def own_rule(torch: ModuleType, told: list[Any], rule: Any = None) -> Any:
    """Make the Function x * w whose class says what `vmap` makes of it."""
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return shrunk(g * w, x), shrunk(g * x, w)

    def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
        told.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(w.shape)))
        if rule is not None:
            return rule(x, w)
        x = x.movedim(in_dims[0], -1)
        return made.apply(x, w.reshape(-1, 1)), x.dim() - 1

    made = function_of(torch, lambda x, w: x * w, backward,
                       setup_context=staticmethod(setup_context), vmap=staticmethod(vmap))
    return made.apply


def test_the_rule_of_the_class_gets_whole_batches(torch):
    told: list[Any] = []
    x, w = tensors(torch)
    f = own_rule(torch, told)
    got = torch.vmap(f, (0, None), randomness="same")(x, w)
    torch.testing.assert_close(got, x * w)
    assert told == [(4, "same", (0, None), (4, 3), (3,))]
    got = torch.vmap(torch.func.grad(lambda x: f(x, w).sin().sum()))(x)
    torch.testing.assert_close(got, (x * w).cos() * w)


def test_the_rule_of_the_class_gets_whole_batches_in_lists_too(torch):
    told = []

    def vmap(info, in_dims, x, others):
        told.append((in_dims, x.shape, [o.shape for o in others["o"]]))
        return x + others["o"][0] + others["o"][1], 0

    made = function_of(torch, lambda x, others: x + sum(others["o"]), lambda ctx, g: (g, None),
                       setup_context=staticmethod(lambda ctx, inputs, output: None),
                       vmap=staticmethod(vmap))
    x, y = torch.ones(4), torch.tensor(2.0)
    got = torch.vmap(lambda x: made.apply(x, {"o": [x, y]}))(x)
    assert got.tolist() == [4.0] * 4
    assert told == [((0, {"o": [0, None]}), (4,), [(4,), ()])]


@pytest.mark.parametrize(("options", "text"), [
    ({"setup_context": None}, "In order to use an autograd.Function with functorch transforms "
     "(vmap, grad, jvp, jacrev, ...), it must override the setup_context staticmethod."),
    ({}, "You tried to vmap over Made, but it does not have vmap support. Please override and "
     "implement the vmap staticmethod or set generate_vmap_rule=True."),
    ({"generate_vmap_rule": True, "vmap": staticmethod(lambda info, in_dims, x: (x, 0))},
     "You tried to vmap over Made, but it has both generate_vmap_rule=True and an overridden vmap "
     "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
     "staticmethod to avoid ambiguity."),
    ({"vmap": staticmethod(lambda info, in_dims, x: x)}, "Expected the vmap staticmethod to have "
     "two returns, an output and out_dims with pytree structure compatible with the output. "),
    ({"vmap": staticmethod(lambda info, in_dims, x: (x, 0, 0))}, "Got 3 returns instead"),
    ({"vmap": staticmethod(lambda info, in_dims, x: (x, (0,)))},
     "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
     "Expected out_dims=(0,) to be compatible with the structure of `output`."),
    ({"vmap": staticmethod(lambda info, in_dims, x: ((x, x), (0,)))}, "incompatible"),
])
def test_what_has_no_rule_is_refused(torch, options, text):
    more = {"setup_context": staticmethod(lambda ctx, inputs, output: None), **options}
    if more["setup_context"] is None:
        del more["setup_context"]
    made = function_of(torch, lambda *args: args[-1] * 2, lambda ctx, g: g * 2, **more)
    with pytest.raises(RuntimeError) as refused:
        torch.vmap(made.apply)(torch.ones(3))
    assert text in str(refused.value)


def test_without_a_batch_among_its_arguments_no_rule_is_asked(torch):
    made = function_of(torch, lambda x: x * 2, lambda ctx, g: g * 2,
                       setup_context=staticmethod(lambda ctx, inputs, output: None),
                       vmap=staticmethod(lambda info, in_dims, x: None))
    y = torch.ones(2)
    assert torch.vmap(lambda x: x + made.apply(y).sum())(torch.ones(3)).tolist() == [5.0] * 3


def test_the_class_says_that_there_is_no_rule(torch):
    assert torch.autograd.Function.generate_vmap_rule is False
    with pytest.raises(NotImplementedError, match="you must either override the vmap staticmethod"):
        torch.autograd.Function.vmap(None, ())


def test_a_batch_is_freed_by_reference_counting(torch):
    only_here(torch, "makes a class for each call")
    x, w = (t.requires_grad_() for t in tensors(torch))
    f = scaled(torch)
    torch.vmap(f, (0, None))(x, w)  # the class of batches is made once
    gc.collect()
    gc.disable()
    try:
        y = torch.vmap(f, (0, None))(x, w)
        node = weakref.ref(y.grad_fn)
        torch.autograd.grad(y.sum(), x)
        del y
        assert node() is None and not gc.collect()
    finally:
        gc.enable()


# --- what else a function sees inside `vmap` -----------------------------------------------------


@pytest.mark.parametrize("dims", [1, 2])
def test_a_batch_can_be_printed(torch, dims):
    seen = []

    def function(x):
        seen.append(repr(x))
        return x

    inner = torch.vmap(function) if dims == 2 else function
    torch.vmap(inner)(torch.ones(2, 2))
    text = "tensor([[1., 1.],\n        [1., 1.]])"
    for level in range(1, dims + 1):
        text = f"BatchedTensor(lvl={level}, bdim=0, value=\n{indent(text, '    ')}\n)"
    assert seen == [text]
