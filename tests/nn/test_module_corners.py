"""Corner cases of modules: buffers, hooks of registration, memos, gradients, batch norm."""

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn import Parameter
from minigrad.nn.global_hooks import register_module_module_registration_hook
from minigrad.nn.module import zero_grad
from tests._oracle import assert_close


def vector(*values):
    return torch.tensor(list(values))


class Empty(nn.Module):
    def forward(self, x):
        return x


class Scale(nn.Module):
    """A module with one of each: a parameter, a buffer, a plain attribute."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = Parameter(vector(factor))
        self.register_buffer("seen", vector(0.0))
        self.note = "plain"

    def forward(self, x):
        return x * self.factor


@pytest.mark.parametrize(("value", "kind"), [(3.0, "float"), ([1.0], "list")],
                         ids=["number", "list"])
def test_nothing_else_may_take_the_place_of_a_buffer(value, kind):
    module = Empty()
    module.register_buffer("mean", vector(0.0))
    with pytest.raises(TypeError) as caught:
        module.mean = value
    assert str(caught.value) == (f"cannot assign '{kind}' as buffer 'mean' (torch.nn.Buffer, "
                                 "torch.Tensor or None expected)")


def test_a_buffer_that_is_not_persistent_stays_so():
    module = Empty()
    module.register_buffer("mean", vector(0.0), persistent=False)
    module.mean = vector(5.0)
    assert module._non_persistent_buffers_set == {"mean"}


@pytest.mark.parametrize("persistent", [True, False])
def test_a_buffer_knows_whether_it_is_persistent(persistent):
    module = Empty()
    module.x = nn.Buffer(vector(1.0), persistent=persistent)
    assert module._non_persistent_buffers_set == (set() if persistent else {"x"})
    module.x = nn.Buffer(vector(1.0), persistent=not persistent)
    assert module._non_persistent_buffers_set == ({"x"} if persistent else set())


@pytest.mark.parametrize("before", [None, Empty, lambda: 3.0],
                         ids=["a new name", "a module's name", "the name of a plain attribute"])
def test_hooks_of_modules_are_asked(before):
    module, part, other = Empty(), Empty(), Empty()
    if before is not None:
        module.part = before()
    asked = []
    handle = register_module_module_registration_hook(
        lambda *given: (asked.append(given), other)[1])
    try:
        module.part = part
    finally:
        handle.remove()
    assert module.part is other, "what the hook returns takes the module's place"
    assert asked == [(module, "part", part)], f"got {asked}"


def test_hooks_of_modules_are_asked_for_none():
    module, other = Empty(), Empty()
    module.part = Empty()
    handle = register_module_module_registration_hook(
        lambda m, name, value: other if value is None else None)
    try:
        module.part = None
    finally:
        handle.remove()
    assert module.part is other


@pytest.mark.parametrize(("value", "what"), [
    (lambda: Parameter(vector(1.0)), "parameters"), (Empty, "module")],
    ids=["parameter", "module"])
def test_before_init_nothing_can_be_assigned(value, what):
    class Early(nn.Module):
        def __init__(self):
            self.x = value()

    with pytest.raises(AttributeError, match=f"cannot assign {what} before Module.__init__"):
        Early()


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(1.0)
        self.pair = nn.Module()
        self.pair.left = Scale(2.0)
        self.pair.right = Scale(3.0)
        self.bias = Parameter(vector(4.0))


def test_without_removing_the_memo_counts_but_does_not_grow():
    tree = Tree()
    memo = {tree.first}
    names = [name for name, _ in tree.named_modules(memo, remove_duplicate=False)]
    assert names == ["", "pair", "pair.left", "pair.right"]
    assert memo == {tree.first}


def test_an_empty_memo_of_the_callers_is_filled():
    tree, memo = Tree(), set()
    assert len(list(tree.named_modules(memo))) == len(memo) > 1


def test_gradients_are_dropped():
    tree = Tree()
    for parameter in tree.parameters():
        parameter.grad = vector(1.0)
    tree.zero_grad()
    assert [p.grad for p in tree.parameters()] == [None] * 4


def test_gradients_are_filled_with_zeros():
    tree = Tree()
    tree.bias.grad = grad = vector(5.0)
    tree.zero_grad(set_to_none=False)
    assert tree.bias.grad is grad and grad.tolist() == [0.0]


def test_a_gradient_that_is_not_there_stays_away():
    tree = Tree()
    tree.zero_grad(set_to_none=False)
    assert [p.grad for p in tree.parameters()] == [None] * 4


def test_a_gradient_with_a_history_is_cut_off_from_it():
    module = Scale(3.0)
    module.factor.grad = grad = module.factor * 2
    module.zero_grad(set_to_none=False)
    assert module.factor.grad is grad and grad.tolist() == [0.0]
    assert not grad.requires_grad and grad.grad_fn is None


def test_a_gradient_without_a_history_requires_none_afterwards():
    module = Scale(3.0)
    module.factor.grad = grad = torch.tensor([5.0], requires_grad=True)
    module.zero_grad(set_to_none=False)
    assert grad.tolist() == [0.0] and not grad.requires_grad


@pytest.mark.parametrize("set_to_none", [True, False])
def test_the_function_zero_grad(set_to_none):
    w = torch.tensor([1.0], requires_grad=True)
    zero_grad(w, set_to_none)
    assert w.grad is None
    w.grad = grad = vector(5.0)
    zero_grad(w, set_to_none)
    assert (w.grad is None) if set_to_none else (w.grad is grad and grad.tolist() == [0.0])


def test_requires_grad_is_switched_for_all():
    tree = Tree()
    tree.requires_grad_(False)
    assert not any(p.requires_grad for p in tree.parameters())
    tree.requires_grad_()
    assert all(p.requires_grad for p in tree.parameters())
    assert not any(b.requires_grad for b in tree.buffers())


BATCHES = [np.array([[1.0, 10.0], [3.0, 30.0], [8.0, 20.0]]),
           np.array([[2.0, -1.0], [4.0, 5.0], [0.0, 2.0], [6.0, 6.0]])]


def batch(number):
    return torch.tensor(BATCHES[number])


def layer(**options):
    return nn.BatchNorm1d(2, **options).double()


def normed(x, mean, var, eps=1e-5):
    return (x - mean) / np.sqrt(var + eps)


def test_every_allowed_number_of_dimensions_is_accepted():
    for shape in ((2, 3), (2, 3, 4)):
        assert nn.BatchNorm1d(3)(torch.ones(*shape)).shape == shape


@pytest.mark.parametrize(("kind", "allowed", "shape"), [
    (nn.BatchNorm1d, "2D or 3D", (2,)), (nn.BatchNorm1d, "2D or 3D", (2, 3, 4, 5)),
    (nn.BatchNorm2d, "4D", (2, 3, 4))], ids=["1D for BatchNorm1d", "4D for BatchNorm1d",
                                             "3D for BatchNorm2d"])
def test_a_wrong_number_of_dimensions_is_refused(kind, allowed, shape):
    with pytest.raises(ValueError, match=rf"^expected {allowed} input \(got {len(shape)}D input\)"):
        kind(3)(torch.ones(*shape))


def test_what_is_refused_is_not_counted():
    norm = nn.BatchNorm1d(3)
    with pytest.raises(ValueError, match="expected"):
        norm(torch.ones(2))
    assert norm.num_batches_tracked.item() == 0


def test_tracking_that_was_switched_off_later():
    norm = layer()
    norm(batch(0))
    kept = norm.running_mean.tolist()
    norm.track_running_stats = False
    norm(batch(1))
    assert norm.running_mean.tolist() == kept, "in training nothing is tracked any more"


def test_evaluation_uses_the_moments_also_where_tracking_was_switched_off():
    norm = layer().eval()
    norm.track_running_stats = False
    assert_close(norm(batch(1)).detach().numpy(), normed(BATCHES[1], 0.0, 1.0), 1e-9,
                 what="the result")
