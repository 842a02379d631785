"""`Function`: context, gradients, and what it refuses."""

from __future__ import annotations

import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


def function(torch, forward, backward, setup_context=None, static=True, name="Custom"):
    """Make a Function of the given functions and return its class."""
    wrap = staticmethod if static else (lambda method: method)
    body = {"forward": wrap(forward), "backward": wrap(backward)}
    if setup_context is not None:
        body["setup_context"] = wrap(setup_context)
    return type(name, (torch.autograd.Function,), body)


def square(torch, static=True):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x

    return function(torch, forward, backward, static=static, name="Square")


# --- The common case -----------------------------------------------------------------------------


@pytest.mark.parametrize("static", [True, False])
def test_forward_and_backward(torch, static):
    x = leaf(torch, [1.0, 2.0])
    y = square(torch, static).apply(x)
    assert y.tolist() == [1.0, 4.0]
    assert y.requires_grad and not y.is_leaf
    y.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]


def test_names_and_edges(torch):
    x = leaf(torch, 3.0)
    y = square(torch).apply(x)
    node = y.grad_fn
    assert node.name() == "SquareBackward" == type(node).__name__
    assert repr(y) == "tensor(9., grad_fn=<SquareBackward>)"
    assert node.next_functions[0][0].variable is x
    assert node.saved_tensors == (x,) and node.saved_tensors[0] is x
    assert isinstance(node.metadata, dict)


def test_forward_records_nothing(torch):
    modes = []

    def forward(ctx, x):
        modes.append(torch.is_grad_enabled())
        inside = x * x
        modes.append(inside.requires_grad)
        return inside

    x = leaf(torch, 3.0)
    y = function(torch, forward, lambda ctx, g: g * 100).apply(x)
    assert modes == [False, False]
    y.backward()
    assert x.grad.item() == 100.0


def test_without_a_gradient_to_compute_no_node_is_left(torch):
    Square = square(torch)
    x = leaf(torch, 3.0)
    with torch.no_grad():
        assert Square.apply(x).grad_fn is None
    y = Square.apply(torch.tensor(3.0))
    assert y.grad_fn is None and not y.requires_grad


def test_attributes_of_the_context(torch):
    def forward(ctx, x, factor, table=None):
        ctx.factor, ctx.table = factor, table
        return x * factor

    def backward(ctx, g):
        return g * ctx.factor, None, None

    x = leaf(torch, 3.0)
    y = function(torch, forward, backward).apply(x, 4, {"any": "thing"})
    assert (y.grad_fn.factor, y.grad_fn.table) == (4, {"any": "thing"})
    y.backward()
    assert x.grad.item() == 4.0


def test_the_context_is_the_node(torch):
    seen = []

    def forward(ctx, x):
        seen.append(ctx)
        return x.clone()

    def backward(ctx, g):
        seen.append(ctx)
        return g

    y = function(torch, forward, backward).apply(leaf(torch, 1.0))
    y.backward()
    assert seen[0] is seen[1] is y.grad_fn


def test_several_inputs_and_outputs(torch):
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a + b

    def backward(ctx, by_product, by_sum):
        a, b = ctx.saved_tensors
        return by_product * b + by_sum, by_product * a + by_sum

    Both = function(torch, forward, backward)
    a, b = leaf(torch, 2.0), leaf(torch, 5.0)
    product, total = Both.apply(a, b)
    assert (product.output_nr, total.output_nr) == (0, 1)
    assert product.grad_fn is total.grad_fn
    (product * 10 + total * 100).backward()
    assert (a.grad.item(), b.grad.item()) == (150.0, 120.0)
    product, total = Both.apply(a, b)
    (by_a,) = torch.autograd.grad(total, a)  # the product's gradient is a zero
    assert by_a.item() == 1.0


def test_a_tuple_of_one_stays_a_tuple(torch):
    result = function(torch, lambda ctx, x: (x * 2,), lambda ctx, g: g * 2).apply(leaf(torch, 1.0))
    assert isinstance(result, tuple) and len(result) == 1


def test_needs_input_grad(torch):
    seen = []

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return args[0] + args[2]

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, g, None

    x, fixed = leaf(torch, 1.0), torch.tensor(1.0)
    function(torch, forward, backward).apply(x, 3, fixed, None).backward()
    assert seen == [(True, False, False, False)] * 2
    assert fixed.grad is None


# --- Gradients that are missing or wrong ---------------------------------------------------------


def test_none_is_no_gradient(torch):
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    Half = function(torch, lambda ctx, a, b: a * b, lambda ctx, g: (g * 7, None))
    Half.apply(a, b * 1).backward()
    assert a.grad.item() == 7.0 and b.grad is None
    function(torch, lambda ctx, a: a * 1, lambda ctx, g: None).apply(a * 1).backward()
    assert a.grad.item() == 7.0


def test_trailing_nones_may_be_too_many(torch):
    x = leaf(torch, 2.0)
    function(torch, lambda ctx, x: x * 1, lambda ctx, g: (g, None, None)).apply(x).backward()
    assert x.grad.item() == 1.0


WRONG_RESULTS = {
    "too few": (lambda ctx, g: (g,), RuntimeError,
                r"function CustomBackward returned an incorrect number of gradients \(expected 2, "
                r"got 1\)"),
    "too many": (lambda ctx, g: (g, None, g), RuntimeError,
                 r"function CustomBackward returned an incorrect number of gradients \(expected 2, "
                 r"got 3\)"),
    "for a number": (lambda ctx, g: (g, g), RuntimeError,
                     "function CustomBackward returned a gradient different than None at position "
                     "2, but the corresponding forward input was not a Variable"),
    "no tensor": (lambda ctx, g: (1.0, None), RuntimeError,
                  r"expected Variable or None \(got float\)"),
    "wrong shape": (lambda ctx, g: (g[:1].expand(3), None), RuntimeError,
                    r"Function CustomBackward returned an invalid gradient at index 0 - got \[3\] "
                    r"but expected shape compatible with \[2\]"),
}


@pytest.mark.parametrize("case", WRONG_RESULTS)
@pytest.mark.parametrize("create_graph", [False, True])
# once in a process: `.grad` keeps its history
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_wrong_results(torch, case, create_graph):
    backward, error, text = WRONG_RESULTS[case]
    x = leaf(torch, [1.0, 2.0])
    y = function(torch, lambda ctx, x, n: x * n, backward).apply(x, 2.0)
    with pytest.raises(error, match=text):
        y.sum().backward(create_graph=create_graph)
    assert torch.is_grad_enabled()
    assert x.grad is None


def test_a_larger_gradient_is_summed_and_a_wider_one_cast(torch):
    x = leaf(torch, [1.0, 2.0])
    Sloppy = function(torch, lambda ctx, x: x * 1,
                      lambda ctx, g: torch.ones(3, 2, dtype=torch.float64) * g)
    Sloppy.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.grad.dtype == torch.float32


def test_materialized_gradients(torch):
    seen = []

    def forward(ctx, x, materialize):
        ctx.set_materialize_grads(materialize)
        return x * 1, x.double() * 2, torch.ones(3, dtype=torch.int64)

    def backward(ctx, *grads):
        seen.append(grads)
        return grads[0], None

    Three = function(torch, forward, backward)
    x = leaf(torch, [1.0, 2.0])
    Three.apply(x, True)[0].sum().backward()
    first, second, third = seen.pop()
    assert first.tolist() == [1.0, 1.0]
    assert second.tolist() == [0.0, 0.0] and second.dtype == torch.float64
    assert third.tolist() == [0, 0, 0]
    Three.apply(x, False)[0].sum().backward()
    assert seen.pop()[1:] == (None, None)


def test_all_gradients_undefined(torch):
    """A Function behind one that returned None still runs, on zeros."""
    seen = []

    def backward(ctx, g):
        seen.append(g.tolist())
        return g

    x = leaf(torch, [1.0, 2.0])
    inner = function(torch, lambda ctx, x: x * 1, backward).apply(x)
    function(torch, lambda ctx, x: x * 1, lambda ctx, g: None).apply(inner).sum().backward()
    assert seen == [[0.0, 0.0]]
    assert x.grad.tolist() == [0.0, 0.0]


def test_all_gradients_undefined_and_not_materialized(torch):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1

    x = leaf(torch, [1.0, 2.0])
    inner = function(torch, forward, lambda ctx, g: seen.append(g)).apply(x) * 3
    function(torch, lambda ctx, x: x * 1, lambda ctx, g: None).apply(inner).sum().backward()
    assert seen == [None]
    assert x.grad is None


def test_backward_not_written(torch):
    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    class Nothing(torch.autograd.Function):
        pass

    x = leaf(torch, 1.0)
    with pytest.raises(NotImplementedError, match=r"You must implement either the backward or vjp "
                       r"method for your custom autograd.Function to use it with backward"):
        Forward.apply(x).backward()
    with pytest.raises(NotImplementedError, match=r"You must implement the forward function for "
                       r"custom autograd.Function."):
        Nothing.apply(x)


def test_legacy_use_is_refused(torch):
    Square = square(torch)
    with (
        pytest.raises(RuntimeError, match=r"Legacy autograd function with non-static forward "
                      r"method is deprecated. Please use new-style autograd function"),
        pytest.warns(DeprecationWarning, match="should not be instantiated"),
    ):
        Square()(leaf(torch, 1.0))


def test_an_exception_in_forward_restores_the_mode(torch):
    def forward(ctx, x):
        raise KeyError("forward")

    with pytest.raises(KeyError, match="forward"):
        function(torch, forward, None).apply(leaf(torch, 1.0))
    assert torch.is_grad_enabled()


# --- Saving --------------------------------------------------------------------------------------


def test_saving_inputs_outputs_intermediates_and_none(torch):
    def forward(ctx, x, y):
        middle, result = x + y, x * y
        ctx.save_for_backward(x, result, middle, None)
        return result

    def backward(ctx, g):
        x, result, middle, nothing = ctx.saved_tensors
        assert nothing is None
        assert result.grad_fn is ctx and x.grad_fn is None and not middle.requires_grad
        return g * middle, g * x

    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    function(torch, forward, backward).apply(x, y).backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 2.0)


def test_saving_twice_keeps_the_last(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x + 10)
        return x * 1

    node = function(torch, forward, None).apply(leaf(torch, 1.0)).grad_fn
    assert [t.item() for t in node.saved_tensors] == [11.0]


def test_only_tensors_can_be_saved(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 1

    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 1 "
                       "is of type int"):
        function(torch, forward, None).apply(leaf(torch, 1.0))


def test_modified_and_freed(torch):
    x = leaf(torch, [1.0, 2.0])
    middle = x * 1
    y = square(torch).apply(middle)
    middle.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor "
                       r"\[2\]\], which is output 0 of Add, is at version 1; expected "
                       "version 0 instead"):
        y.sum().backward()
    y = square(torch).apply(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        square_node = y.grad_fn.next_functions[0][0]
        square_node.saved_tensors


def test_modified_output(torch):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    y = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(torch, 1.0))
    z = y * 1
    y.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.backward()


# --- Differentiating twice -----------------------------------------------------------------------


def test_double_backward(torch):
    x = leaf(torch, 3.0)
    Square = square(torch)
    (slope,) = torch.autograd.grad(Square.apply(x) * x, x, create_graph=True)  # 3x²
    (curvature,) = torch.autograd.grad(slope, x, create_graph=True)
    assert (slope.item(), curvature.item()) == (27.0, 18.0)
    assert torch.autograd.grad(curvature, x)[0].item() == 6.0


def test_double_backward_through_a_saved_output(torch):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    Exp = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(torch, 0.0)
    value = Exp.apply(x * 2)
    found = []
    for _ in range(4):
        (value,) = torch.autograd.grad(value, x, create_graph=True)
        found.append(value.item())
    assert found == [2.0, 4.0, 8.0, 16.0]


def test_once_differentiable(torch):
    from importlib import import_module

    once = import_module(f"{torch.__name__}.autograd.function").once_differentiable

    @once
    def backward(ctx, g):
        assert not torch.is_grad_enabled()
        (x,) = ctx.saved_tensors
        return g * 2 * x

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    Once = function(torch, forward, backward)
    x = leaf(torch, 3.0)
    Once.apply(x).backward()
    assert x.grad.item() == 6.0
    weight = leaf(torch, 2.0)
    (slope,) = torch.autograd.grad(Once.apply(x) * weight, x, create_graph=True)
    assert slope.item() == 12.0 and slope.requires_grad
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was "
                       "marked with @once_differentiable"):
        slope.backward()
    assert torch.is_grad_enabled()


def test_the_mode_in_backward_follows_create_graph(torch):
    modes = []

    def backward(ctx, g):
        modes.append((torch.is_grad_enabled(), g.requires_grad))
        return g

    x, g = leaf(torch, 3.0), leaf(torch, 1.0)
    Identity = function(torch, lambda ctx, x: x.clone(), backward)
    torch.autograd.grad(Identity.apply(x), x, g)
    torch.autograd.grad(Identity.apply(x), x, g, create_graph=True)
    assert modes == [(False, False), (True, True)] or modes == [(False, True), (True, True)]


# --- setup_context -------------------------------------------------------------------------------


def test_setup_context(torch):
    seen = []

    def setup(ctx, inputs, output):
        x, power = inputs
        ctx.save_for_backward(x)
        ctx.power = power
        seen.append((output.item(), torch.is_grad_enabled()))

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.power * x ** (ctx.power - 1), None

    Power = function(torch, lambda x, power: x**power, backward, setup)
    x = leaf(torch, 3.0)
    Power.apply(x, 3).backward()
    assert seen == [(27.0, False)]
    assert x.grad.item() == 27.0


def test_setup_context_gets_all_outputs(torch):
    outputs = []
    Two = function(torch, lambda x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3,
                   lambda ctx, inputs, output: outputs.append(output))
    x = leaf(torch, 1.0)
    a, b = Two.apply(x)
    assert isinstance(outputs[0], tuple) and len(outputs[0]) == 2
    (a + 10 * b).backward()
    assert x.grad.item() == 32.0


# --- Names on the context ------------------------------------------------------------------------

NAMES = ["shape", "dtype", "device", "num_inputs", "others", "edges", "edge_list", "extras",
         "sequence", "function", "op", "vjp_fns", "tensor_vjp_fns", "saves", "arity", "needed"]


@pytest.mark.parametrize("setup", [False, True])
def test_what_is_left_on_the_context_may_have_any_name(torch, setup):
    seen = []

    def leave(ctx, inputs, output):
        for name in NAMES:
            setattr(ctx, name, (name, inputs[0].shape))

    def forward(ctx, x):
        leave(ctx, (x,), None)
        return x.sum(), x.mean()

    def backward(ctx, g, h):
        seen.append([getattr(ctx, name) == (name, (3, 2)) for name in NAMES])
        ctx.others, ctx.mine = ctx.others, 1
        return (g + h / 6).expand(ctx.shape[1])

    made = function(torch, (lambda x: (x.sum(), x.mean())) if setup else forward, backward,
                    leave if setup else None)
    x = leaf(torch, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    a, b = made.apply(x * 1)
    ((a * 2).exp() * 0 + a * b).backward(retain_graph=True)
    assert x.grad.tolist() == [[7.0, 7.0]] * 3
    for graph in (True, False):
        (slope,) = torch.autograd.grad(a, x, create_graph=graph, retain_graph=True)
        assert slope.tolist() == [[1.0, 1.0]] * 3
    assert len(seen) == 3 and all(map(all, seen))


def test_the_shape_of_the_input_is_kept_where_the_output_has_another(torch):
    def forward(ctx, x):
        ctx.shape, ctx.dtype = x.shape, x.dtype
        return x.sum(0)

    made = function(torch, forward, lambda ctx, g: g.to(ctx.dtype).expand(ctx.shape) / ctx.shape[0])
    x = leaf(torch, [[1.0, 2.0]] * 4)
    made.apply(x).sum().backward()
    assert x.grad.tolist() == [[0.25, 0.25]] * 4


@pytest.mark.filterwarnings("ignore:.*jit.script.*:DeprecationWarning")  # PyTorch's own
def test_a_jvp_finds_what_forward_left(torch):
    def forward(ctx, x):
        ctx.shape, ctx.factor = x.shape, 3
        return x.sum()

    made = function(torch, forward, None)
    made.jvp = staticmethod(lambda ctx, t: (t * ctx.factor * ctx.shape[0]).sum())
    fwd = torch.autograd.forward_ad
    with fwd.dual_level():
        out = made.apply(fwd.make_dual(torch.ones(2), torch.tensor([1.0, 2.0])))
        assert fwd.unpack_dual(out).tangent.item() == 18.0


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_of_another_dtype_is_cast(torch, dtype, create_graph):
    class Ones(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3).to(getattr(torch, dtype))

    x = torch.zeros(3, requires_grad=True)
    (grad,) = torch.autograd.grad(Ones.apply(x).sum(), x, create_graph=create_graph)
    assert grad.dtype == torch.float32 and grad.tolist() == [1, 1, 1]


def weighted(torch):
    """Return x * y as a Function with gradients 2 and 3, so that one can tell which went where."""

    class Weighted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y=None, z=5):
            return x * (1 if y is None else y)

        @staticmethod
        def backward(ctx, g):
            return tuple(g * n for n in (2, 3, 4)[: len(ctx.needs_input_grad)])

    return Weighted


@pytest.mark.parametrize("all_by_name", [False, True])
def test_an_argument_by_name_has_its_gradient(torch, all_by_name):
    x, y = leaf(torch, [1.0]), leaf(torch, [1.0])
    made = weighted(torch)
    out = made.apply(y=y, x=x) if all_by_name else made.apply(x, y=y)
    assert out.grad_fn.needs_input_grad == (True, True)
    out.sum().backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 3.0)


@pytest.mark.parametrize(("args", "kwargs", "message"), [
    ((1,), {"z": 2}, r"forward\(\) missing required argument: 'y' \(position 1\)"),
    ((), {"y": 2}, r"forward\(\) missing required argument: 'x' \(position 0\)"),
    ((1,), {"x": 2}, r"forward\(\) got multiple values for argument 'x'"),
    ((1,), {"q": 2}, r"forward\(\) got an unexpected keyword argument 'q'"),
])
def test_names_that_do_not_fit_are_refused(torch, args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        weighted(torch).apply(*args, **kwargs)


def test_setup_context_is_shown_defaults(torch):
    seen = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x, by=3):
            return x * by

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(inputs[1:])
            ctx.by = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.by, None

    x = leaf(torch, [1.0])
    (Scaled.apply(x) + Scaled.apply(x, by=4) + Scaled.apply(by=5, x=x)).sum().backward()
    assert x.grad.item() == 12.0
    assert seen == [(3,), (4,), (5,)]
    for args, kwargs, message in (((), {}, "missing a required argument: 'x'"),
                                  ((x, 1, 2), {}, "too many positional arguments"),
                                  ((x,), {"other": 1}, "unexpected keyword argument 'other'")):
        with pytest.raises(TypeError, match=message):
            Scaled.apply(*args, **kwargs)
