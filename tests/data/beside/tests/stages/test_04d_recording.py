"""Stage 04d: what is saved, what is recorded, and how results are wrapped."""

import numpy as np
import pytest

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


@pytest.fixture
def copy(request):
    """The second copy of `op/` for the exercise that a test is for."""
    return second_copy(request.node.get_closest_marker("hole").args[0])


@pytest.mark.hole("04d.1")
def test_only_what_a_live_edge_needs_is_saved(copy):
    x, y = copy.tensor([2.0], requires_grad=True), copy.tensor([3.0])
    node = (x * y).grad_fn
    assert node._saved_other is y
    assert node._saved_self is None


@pytest.mark.hole("04d.1")
def test_both_factors_are_saved(copy):
    x, y = (copy.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    node = (x * y).grad_fn
    assert node.names_to_save() == {"self", "other"}
    assert (node._saved_self is x, node._saved_other is y) == (True, True)


@pytest.mark.hole("04d.1")
def test_an_output_is_no_input(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.exp(x).grad_fn.names_to_save() == set()
    assert copy.F.sin(x).grad_fn.names_to_save() == {"self"}


@pytest.mark.hole("04d.1")
def test_what_the_only_formula_asks_for_is_always_saved(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.sin(x).grad_fn.always_saved == {"self"}
    assert (x * copy.tensor([3.0])).grad_fn.always_saved == set()


@pytest.mark.hole("04d.2")
def test_nothing_is_recorded_without_need(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.exp(copy.tensor([2.0])).grad_fn is None
    with torch.no_grad():
        assert copy.F.exp(x).grad_fn is None


@pytest.mark.hole("04d.2")
def test_there_is_an_edge_for_each_input(copy):
    x, y = copy.tensor([2.0], requires_grad=True), copy.tensor([3.0])
    (first, number), second = (x * y).grad_fn.next_functions
    assert (first.name(), number) == ("AccumulateGrad", 0)
    assert second == (None, 0)


@pytest.mark.hole("04d.2")
def test_a_list_has_an_edge_for_each_tensor(copy):
    x, y = (copy.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    total = copy.F.add_scaled([x, copy.tensor([1.0]), y], 3.0)
    assert [node is not None for node, _ in total.grad_fn.next_functions] == [True, False, True]
    total.backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 3.0)


@pytest.mark.hole("04d.2")
def test_gradients_of_a_product(copy):
    x, y = (copy.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    (x * y).backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)


@pytest.mark.hole("04d.3")
def test_the_result_is_joined_to_its_node(copy):
    x = copy.tensor([[2.0]], requires_grad=True)
    result = copy.F.sin(x)
    assert type(result) is copy.Tensor
    assert result.requires_grad and result.grad_fn.op is copy.REGISTRY["Sin"]
    assert result.grad_fn.shape == (1, 1)


@pytest.mark.hole("04d.3")
def test_an_output_is_saved(copy):
    x = copy.tensor([2.0], requires_grad=True)
    result = copy.F.exp(x)
    assert result.grad_fn._saved_result.item() == result.item()
    result.backward()
    assert x.grad.item() == result.item()


@pytest.mark.hole("04d.3")
def test_a_view_has_a_base(copy):
    x = copy.tensor([[1.0, 2.0]], requires_grad=True)
    result = copy.F.transposed(x)
    assert result._base is x
    assert np.shares_memory(result._array, x._array)


@pytest.mark.hole("04d.3")
def test_several_outputs_have_their_numbers(copy):
    x = copy.tensor([0.5], requires_grad=True)
    both = copy.F.sin_cos(x)
    assert [each._index for each in both] == [0, 1]
    both.sin.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(x.detach().numpy()), rtol=1e-6)


@pytest.mark.hole("04d")
def test_a_mean_has_a_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.mean().backward()
    assert x.grad.tolist() == [0.5, 0.5]


@pytest.mark.hole("04d")
def test_the_package_is_the_learner_s():
    assert torch.ones(2, requires_grad=True).exp().grad_fn.name() == "ExpBackward"
