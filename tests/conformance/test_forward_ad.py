"""Forward mode: duals, their tangents, views and writes."""

from __future__ import annotations

import pytest

# PyTorch's own forward mode gives it
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


@pytest.fixture
def fw(torch):
    return torch.autograd.forward_ad


@pytest.fixture
def level(fw):
    with fw.dual_level():
        yield


def numbers(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.usefixtures("level")
def test_a_tangent_goes_through_an_op(torch, fw):
    x = fw.make_dual(numbers(torch, 2.0, 3.0), numbers(torch, 1.0, 10.0))
    primal, tangent = fw.unpack_dual(x * x)
    assert (primal.tolist(), tangent.tolist()) == ([4.0, 9.0], [4.0, 60.0])


@pytest.mark.usefixtures("level")
def test_what_depends_on_no_dual_has_no_tangent(torch, fw):
    assert fw.unpack_dual(torch.ones(2)).tangent is None


@pytest.mark.usefixtures("level")
def test_the_result_has_names(torch, fw):
    x = fw.make_dual(torch.ones(2), torch.zeros(2))
    unpacked = fw.unpack_dual(x)
    assert (unpacked.primal.tolist(), unpacked.tangent.tolist()) == ([1.0, 1.0], [0.0, 0.0])


@pytest.mark.usefixtures("level")
def test_two_tangents_add_up(torch, fw):
    x = fw.make_dual(numbers(torch, 2.0), numbers(torch, 1.0))
    y = fw.make_dual(numbers(torch, 5.0), numbers(torch, 1.0))
    assert fw.unpack_dual(x * y + x).tangent.tolist() == [8.0]


def test_levels_do_not_nest(torch, fw):
    with fw.dual_level(), pytest.raises(RuntimeError, match="Nested forward mode AD is not suppor"):
        fw.enter_dual_level()


def test_a_dual_needs_a_level(torch, fw):
    with pytest.raises(RuntimeError, match="Trying to create a dual Tensor for forward AD but no "):
        fw.make_dual(torch.ones(1), torch.ones(1))


def test_tangents_end_with_their_level(torch, fw):
    with fw.dual_level():
        x = fw.make_dual(torch.ones(1), torch.ones(1))
    with fw.dual_level():
        assert fw.unpack_dual(x).tangent is None


def test_levels_are_entered_and_left_by_hand(torch, fw):
    fw.enter_dual_level()
    try:
        x = fw.make_dual(torch.ones(1), torch.ones(1))
        assert fw.unpack_dual(x).tangent is not None
    finally:
        fw.exit_dual_level()


@pytest.mark.usefixtures("level")
def test_a_tangent_has_to_fit(torch, fw):
    with pytest.raises(RuntimeError, match="Trying to set a forward gradient that has a different"):
        fw.make_dual(torch.ones(2), torch.ones(3))


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("which", ["primal", "tangent"])
def test_integers_are_neither_primal_nor_tangent(torch, fw, which):
    given = {"primal": torch.ones(2), "tangent": torch.ones(2)}
    given[which] = torch.ones(2, dtype=torch.int64)
    with pytest.raises(ValueError, match=f"Expected {which} to be floating point or complex"):
        fw.make_dual(given["primal"], given["tangent"])


@pytest.mark.usefixtures("level")
def test_a_view_has_the_view_of_the_tangent(torch, fw):
    x = fw.make_dual(numbers(torch, 1.0, 2.0), numbers(torch, 3.0, 4.0))
    assert fw.unpack_dual(x[1:]).tangent.tolist() == [4.0]


@pytest.mark.usefixtures("level")
def test_a_write_changes_the_tangent(torch, fw):
    x = fw.make_dual(numbers(torch, 1.0, 2.0), numbers(torch, 3.0, 4.0)) * 1
    x.mul_(10)
    assert fw.unpack_dual(x).tangent.tolist() == [30.0, 40.0]


@pytest.mark.usefixtures("level")
def test_a_write_through_a_view_changes_the_base_s_tangent(torch, fw):
    x = fw.make_dual(numbers(torch, 1.0, 2.0), numbers(torch, 3.0, 4.0)) * 1
    x[:1].mul_(10)
    assert fw.unpack_dual(x).tangent.tolist() == [30.0, 4.0]


@pytest.mark.usefixtures("level")
def test_a_dual_written_into_a_plain_tensor(torch, fw):
    base = torch.zeros(2, dtype=torch.float64)
    base[:1].copy_(fw.make_dual(numbers(torch, 1.0), numbers(torch, 3.0)))
    assert fw.unpack_dual(base).tangent.tolist() == [3.0, 0.0]


@pytest.mark.usefixtures("level")
def test_detach_drops_the_tangent(torch, fw):
    x = fw.make_dual(torch.ones(1), torch.ones(1))
    assert fw.unpack_dual(x.detach()).tangent is None


@pytest.mark.usefixtures("level")
def test_the_primal_shares_its_memory_with_the_dual(torch, fw):
    primal = torch.ones(2)
    x = fw.make_dual(primal, torch.ones(2))
    assert x.data_ptr() == primal.data_ptr()
    assert fw.unpack_dual(primal).tangent is None


@pytest.mark.usefixtures("level")
def test_forward_over_reverse(torch, fw):
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    dual = fw.make_dual(x, torch.tensor(1.0, dtype=torch.float64))
    (slope,) = torch.autograd.grad(dual**3, dual)
    assert fw.unpack_dual(slope).tangent.tolist() == 12.0


@pytest.mark.usefixtures("level")
def test_reverse_over_forward(torch, fw):
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    dual = fw.make_dual(x, torch.tensor(1.0, dtype=torch.float64))
    (second,) = torch.autograd.grad(fw.unpack_dual(dual**3).tangent, x)
    assert second.tolist() == 12.0


@pytest.mark.usefixtures("level")
def test_a_function_brings_its_own_jvp(torch, fw):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def jvp(ctx, t):
            return 100 * t

    x = fw.make_dual(numbers(torch, 2.0), numbers(torch, 1.0))
    assert fw.unpack_dual(Cube.apply(x)).tangent.tolist() == [100.0]


@pytest.mark.usefixtures("level")
def test_a_function_without_jvp_is_refused(torch, fw):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g

    x = fw.make_dual(numbers(torch, 2.0), numbers(torch, 1.0))
    with pytest.raises((NotImplementedError, RuntimeError), match="jvp"):
        Cube.apply(x)


@pytest.mark.usefixtures("level")
def test_tangents_go_on_under_no_grad(torch, fw):
    x = fw.make_dual(numbers(torch, 2.0), numbers(torch, 1.0))
    with torch.no_grad():
        assert fw.unpack_dual(x * x).tangent.tolist() == [4.0]


@pytest.mark.parametrize("call", [
    lambda t, x: x.exp().sum(), lambda t, x: x.sin() / x, lambda t, x: t.cat([x, x * x]),
    lambda t, x: x.view(2, 1) @ x.view(1, 2), lambda t, x: x.max(), lambda t, x: x.clone().relu_(),
    lambda t, x: x.softmax(0), lambda t, x: t.where(x > 1.5, x * x, x), lambda t, x: x.std(),
])
def test_forward_and_reverse_agree(torch, fw, call):
    x, v = numbers(torch, 1.0, 2.0), numbers(torch, 0.5, -3.0)
    with fw.dual_level():
        forward = fw.unpack_dual(call(torch, fw.make_dual(x, v))).tangent
    _, reverse = torch.autograd.functional.jvp(lambda x: call(torch, x), x, v)
    assert forward.reshape(-1).tolist() == pytest.approx(reverse.reshape(-1).tolist())
