"""Where a gradient lies: the layout of `.grad`, and whose memory it is."""

from __future__ import annotations

import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = [
    on_each_engine,
    # PyTorch says once in a process that `.grad` and its history hold each other.
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True"),
]


def own(torch, values):
    """Make a tensor that is no view of anything: an engine could mistake it for its own."""
    return torch.tensor(values) + 0


def disjoint(*tensors) -> bool:
    """Tell whether a write to one of the tensors shows in none of the others."""
    for i, written in enumerate(tensors):
        before = [t.detach().clone() for t in tensors]
        written.detach()[...] += 1000.0
        unchanged = [bool((t == b).all()) for t, b in zip(tensors, before)]
        written.detach()[...] -= 1000.0
        if not all(ok for j, ok in enumerate(unchanged) if j != i):
            return False
    return True


# --- The four rules of the manual's "Default gradient layouts" -----------------------------------


def strided(torch, size, stride):
    x = torch.empty_strided(size, stride)
    x.detach().fill_(2.0)
    return x.requires_grad_()


@pytest.mark.parametrize(("size", "stride"), [
    ((2, 3), (1, 2)), ((2, 3, 4), (4, 8, 1)), ((2, 3), (3, 1)), ((), ()),
])
def test_a_new_grad_takes_the_strides_of_a_dense_leaf(torch, size, stride):
    x = strided(torch, size, stride)
    (x * x).backward(torch.ones(size))
    assert x.grad.stride() == stride
    assert (x.grad == 4).all()


@pytest.mark.parametrize(("size", "stride", "expected"), [
    ((2, 3), (6, 2), (3, 1)),  # gaps
    ((2, 3), (1, 4), (3, 1)),  # gaps, column-major
    ((2, 3), (0, 1), (3, 1)),  # expanded
])
def test_a_new_grad_is_row_major_where_the_leaf_is_not_dense(torch, size, stride, expected):
    memory = torch.full((20,), 2.0)
    x = memory.as_strided(size, stride).detach().requires_grad_()
    (x * x).backward(torch.ones(size))
    assert x.grad.stride() == expected
    assert (x.grad == 4).all()


@pytest.mark.parametrize("incoming", [(1, 2), (3, 1), (0, 0)])
def test_the_incoming_strides_do_not_matter(torch, incoming):
    x = strided(torch, (2, 3), (3, 1))
    gradient = torch.full((6,), 5.0).as_strided((2, 3), incoming)
    (x + 1).backward(gradient)
    assert x.grad.stride() == (3, 1)
    x.grad.fill_(1.0)
    assert (gradient == 5).all()


# PyTorch's, of strides that it takes over
@pytest.mark.filterwarnings("ignore:grad and param do not obey")
def test_accumulation_is_in_place_and_keeps_strides(torch):
    x = strided(torch, (2, 3), (3, 1))
    x.grad = kept = torch.zeros(3, 2).t()
    (x * x).backward(torch.ones(2, 3))
    (x * x).backward(torch.ones(2, 3))
    assert x.grad is kept
    assert kept.stride() == (1, 2)
    assert (kept == 8).all()


def test_accumulation_with_create_graph_replaces(torch):
    x = strided(torch, (2, 3), (3, 1))
    x.grad = before = torch.ones(2, 3)
    (x * x).backward(torch.ones(2, 3), create_graph=True)
    assert x.grad is not before
    assert (before == 1).all()
    assert (x.grad == 5).all()
    assert x.grad.requires_grad
    x.grad = None


def test_accumulation_counts_as_a_write(torch):
    x = leaf(torch, 2.0)
    (x * 1).backward()
    version = x.grad._version
    (x * 1).backward()
    assert x.grad._version == version + 1


# --- Who owns it ---------------------------------------------------------------------------------


def test_sum_leaves_three_gradients_disjoint(torch):
    a, b, g = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0]), own(torch, [5.0, 6.0])
    (a + b).backward(g)
    assert a.grad.tolist() == b.grad.tolist() == [5.0, 6.0]
    assert disjoint(a.grad, b.grad, g, a, b)


def test_a_second_backward_does_not_write_into_the_first_gradient(torch):
    a, g = leaf(torch, [1.0, 2.0]), own(torch, [5.0, 6.0])
    a.backward(g)
    (a + 0).backward(g)
    assert g.tolist() == [5.0, 6.0]
    assert a.grad.tolist() == [10.0, 12.0]


@pytest.mark.parametrize("program", [
    lambda x: x + x,
    lambda x: x * 1 + x,
    lambda x: x.view(2).view(2) + x,
    lambda x: (x + 0) + (x + 0),
    lambda x: x - -x,
])
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_callers_gradient_is_never_written(torch, program, create_graph):
    x, g = leaf(torch, [1.0, 2.0]), own(torch, [5.0, 6.0])
    program(x).backward(g, create_graph=create_graph)
    assert g.tolist() == [5.0, 6.0]
    assert x.grad.tolist() == [10.0, 12.0]
    assert disjoint(x.grad, g, x)
    x.grad = None


@pytest.mark.parametrize("program", [lambda x: x + 0, lambda x: (x + 0) + 0, lambda x: x - 0])
def test_a_gradient_passed_through_stays_the_callers(torch, program):
    x, g = leaf(torch, [1.0, 2.0]), own(torch, [5.0, 6.0])
    program(x).backward(g)
    assert x.grad.tolist() == [5.0, 6.0]
    assert disjoint(x.grad, g)


def test_gradients_from_grad_do_not_alias_each_other_after_writes(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x.exp()
    (by_x,) = torch.autograd.grad(y, x, torch.ones(2))
    assert disjoint(by_x, x, y)


@pytest.mark.parametrize("where", ["leaf", "middle", "node", "prehook"])
def test_a_hook_that_keeps_its_gradient_sees_it_unchanged(torch, where):
    kept = []
    x, g = leaf(torch, [1.0, 2.0]), own(torch, [5.0, 6.0])
    middle = x + 0
    total = (middle + middle) + x
    {"leaf": lambda: x.register_hook(lambda g: kept.append(g)),
     "middle": lambda: middle.register_hook(lambda g: kept.append(g)),
     "node": lambda: middle.grad_fn.register_hook(lambda i, o: kept.append(i[0])),
     "prehook": lambda: middle.grad_fn.register_prehook(lambda o: kept.append(o[0]))}[where]()
    total.backward(g, retain_graph=True)
    first = [k.tolist() for k in kept]
    total.backward(g, retain_graph=True)
    x.grad.detach().zero_()
    assert [k.tolist() for k in kept[: len(first)]] == first
    assert first == [[15.0, 18.0]] if where == "leaf" else first == [[10.0, 12.0]]


def test_a_hook_may_return_one_tensor_for_ever(torch):
    constant = own(torch, [7.0, 8.0])
    a, b = leaf(torch, [1.0, 2.0]), leaf(torch, [1.0, 2.0])
    for x in (a, b):
        x.register_hook(lambda g: constant)
    (a * b).sum().backward()
    (a * b).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [14.0, 16.0]
    assert constant.tolist() == [7.0, 8.0]


def test_a_function_may_return_one_tensor_twice_or_keep_it(torch):
    kept = own(torch, [7.0, 8.0])

    class Constant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return kept, kept

    a, b = leaf(torch, [1.0, 2.0]), leaf(torch, [1.0, 2.0])
    for _ in range(2):
        Constant.apply(a, b).sum().backward()
        Constant.apply(a + 0, a).sum().backward()
    assert a.grad.tolist() == [42.0, 48.0]
    assert b.grad.tolist() == [14.0, 16.0]
    assert kept.tolist() == [7.0, 8.0]
    assert disjoint(a.grad, b.grad, kept)


def test_a_function_may_keep_the_one_gradient_it_returns(torch):
    kept = []

    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            kept.append(g * 2)
            return kept[-1]

    x = leaf(torch, [1.0, 2.0])
    Keeping.apply(x).sum().backward()
    assert disjoint(x.grad, kept[0])
    Keeping.apply(x).sum().backward()
    (Keeping.apply(x + 0) + x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    assert [k.tolist() for k in kept] == [[2.0, 2.0]] * 3


def test_an_expanded_gradient_never_becomes_grad(torch):
    x = leaf(torch, [[1.0, 2.0], [3.0, 4.0]])
    x.sum().backward()
    assert x.grad.stride() == (2, 1)
    x.grad[0, 0] = 9.0
    assert x.grad.tolist() == [[9.0, 1.0], [1.0, 1.0]]
    y = leaf(torch, [1.0, 2.0, 3.0])
    y.backward(torch.tensor(2.0).expand(3))
    y.grad[0] = 9.0
    assert y.grad.tolist() == [9.0, 2.0, 2.0]


def test_a_retained_gradient_is_its_own(torch):
    x, g = leaf(torch, [1.0, 2.0]), own(torch, [5.0, 6.0])
    middle = x + 0
    middle.retain_grad()
    out = middle + 0
    out.retain_grad()
    out.backward(g)
    assert disjoint(middle.grad, out.grad, x.grad, g)
    assert middle.grad.tolist() == [5.0, 6.0]


def test_writing_to_grad_does_not_reach_the_graph(torch):
    x, w = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    y = x * w
    y.backward(torch.ones(2), retain_graph=True)
    x.grad.detach().fill_(100.0)
    x.grad = None
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [3.0, 4.0]


def test_gradient_that_is_a_leaf_value(torch):
    """The gradient of x·w by x is w's memory times one: it must not become `x.grad` itself."""
    x, w = leaf(torch, 1.0), leaf(torch, 3.0)
    (x * w).backward()
    x.grad.detach().fill_(9.0)
    assert w.item() == 3.0


# --- Shapes of graphs ----------------------------------------------------------------------------


def test_diamonds_upon_diamonds(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x
    for _ in range(20):
        y = y + y
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [2.0**20, 2.0**20]


def test_diamond_with_different_depths(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    long = y
    for _ in range(5):
        long = long * 1
    (long * y + y).backward()  # 9x² + 3x
    assert x.grad.item() == 36.0 + 3.0


def test_detach_cuts_and_shares(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    cut = y.detach()
    assert not cut.requires_grad and cut.data_ptr() == y.data_ptr()
    (y * cut).sum().backward()
    assert x.grad.tolist() == [9.0, 18.0]


def test_no_gradient_at_all(torch):
    x = leaf(torch, 2.0)
    y = x * 2
    y.register_hook(lambda g: g * 0)
    y.backward()
    assert x.grad.item() == 0.0


# --- Assigning and clearing ----------------------------------------------------------------------


def test_grad_may_be_assigned_and_deleted(torch):
    x = leaf(torch, [1.0, 2.0])
    x.grad = torch.tensor([10.0, 20.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [12.0, 24.0]
    x.grad = None
    assert x.grad is None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize(("value", "error", "text"), [
    (lambda t: 1.0, TypeError, "assigned grad expected to be a Tensor or None but got grad of"),
    (lambda t: t.ones(3), RuntimeError, r"attempting to assign a gradient of size '\[3\]' to a "
     r"tensor of size '\[2\]'"),
    (lambda t: t.ones(2, dtype=t.float64), RuntimeError, "attempting to assign a gradient with"),
])
def test_what_grad_may_not_be(torch, value, error, text):
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(error, match=text):
        x.grad = value(torch)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x


def test_reading_grad_of_an_intermediate_warns(torch):
    y = leaf(torch, 1.0) * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf "
                      "Tensor is being accessed"):
        assert y.grad is None


# --- Views that are the last reference to their memory --------------------------------------------


@pytest.mark.parametrize("keep", ["nothing", "a tensor hook", "a node hook", "retain_grad"])
def test_a_transposed_gradient_may_be_taken_over_only_by_one(torch, keep):
    """`x @ w.t()` gives `w` a view of a fresh array; whoever else holds that array must be safe."""
    if torch.__name__ == "torch":
        pytest.skip("PyTorch lets the hook's gradient share memory with w.grad")
    x, w = leaf(torch, [[1.0, 2.0], [3.0, 4.0]]), leaf(torch, [[1.0, -1.0], [0.5, 2.0]])
    turned, kept = w.t(), []
    if keep == "a tensor hook":
        turned.register_hook(kept.append)
    elif keep == "a node hook":
        turned.grad_fn.register_hook(lambda inputs, outputs: kept.extend([*inputs, *outputs]))
    elif keep == "retain_grad":
        turned.retain_grad()
    (x @ turned).sum().backward()
    if keep == "retain_grad":
        kept.append(turned.grad)
    assert w.grad.tolist() == [[4.0, 6.0], [4.0, 6.0]]
    assert w.grad.stride() == w.stride()
    assert disjoint(x.grad, w.grad)
    for other in kept:
        assert disjoint(other, w.grad)


def test_one_fresh_gradient_seen_through_two_views_stays_two(torch):
    """Both leaves get a view of one array, so only one of them may take it over."""
    if torch.__name__ == "torch":
        pytest.skip("PyTorch lets the two gradients share memory")

    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            fresh = own(torch, [[1.0, 2.0], [3.0, 4.0]])
            return fresh.t(), fresh.t()

    a, b = leaf(torch, [[0.0, 0.0], [0.0, 0.0]]), leaf(torch, [[0.0, 0.0], [0.0, 0.0]])
    Halves.apply(a.t(), b.t()).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert disjoint(a.grad, b.grad)
