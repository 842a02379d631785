"""Modules: what they consist of, their state, hooks, printing, layers and initial values."""

from __future__ import annotations

import copy
import gc
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn


class Net(nn.Module):
    """Two layers, a parameter, a buffer of either kind, a part that is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(4), nn.Dropout(0.5))
        self.scale = nn.Parameter(minigrad.ones(4))
        self.register_buffer("kept", minigrad.zeros(2))
        self.register_buffer("passing", minigrad.zeros(2), persistent=False)
        self.missing = None

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)) * self.scale


# -------------------------------------------------------------------- what it consists of


def test_members_are_found_in_order() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "rest.1.weight", "rest.1.bias"]
    assert [n for n, _ in net.named_buffers()] == [
        "kept", "passing", "rest.1.running_mean", "rest.1.running_var",
        "rest.1.num_batches_tracked"]
    assert [n for n, _ in net.named_modules()] == [
        "", "first", "rest", "rest.0", "rest.1", "rest.2"]
    assert [n for n, _ in net.named_children()] == ["first", "rest"]
    assert len(list(net.parameters(recurse=False))) == 1
    assert net.get_submodule("rest.1") is net.rest[1]
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_buffer("rest.1.running_mean") is net.rest[1].running_mean


def test_shared_members_come_once() -> None:
    layer = nn.Linear(2, 2)
    net = nn.Sequential(layer, layer)
    assert len(list(net.parameters())) == 2
    assert [n for n, _ in net.named_parameters(remove_duplicate=False)] == [
        "0.weight", "0.bias", "1.weight", "1.bias"]
    assert len(list(net.modules())) == 2


def test_attributes_move_between_the_tables() -> None:
    net = Net()
    net.first = nn.Identity()
    assert isinstance(net.first, nn.Identity)
    with pytest.raises(TypeError, match=r"cannot assign 'int' as child module 'first'"):
        net.first = 3
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' as parameter 'scale' "
                                        r"\(torch.nn.Parameter or None expected\)"):
        net.scale = minigrad.ones(4)
    with pytest.raises(TypeError, match="as buffer 'kept'"):
        net.kept = 3
    net.kept = minigrad.ones(3)
    assert net.kept.shape == (3,)
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    net.new = 3
    net.new = nn.Parameter(minigrad.ones(1))
    assert "new" in dict(net.named_parameters())
    del net.new
    assert not hasattr(net, "new")
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nowhere'"):
        _ = net.nowhere
    assert "first" in dir(net)


def test_a_module_has_to_be_initialised_first() -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__"):
        Early()


def test_apply_train_and_requires_grad_reach_all_parts() -> None:
    net, seen = Net(), []
    net.apply(seen.append)
    assert seen[-1] is net
    assert len(seen) == 6
    assert not any(m.training for m in net.eval().modules())
    assert all(m.training for m in net.train().modules())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_casting_keeps_the_parameters_themselves() -> None:
    net = Net()
    before = list(net.parameters())
    net(minigrad.ones(2, 3)).sum().backward()
    assert net.double() is net
    assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
    assert {p.dtype for p in net.parameters()} == {minigrad.float64}
    assert net.first.weight.grad.dtype is minigrad.float64
    assert net.rest[1].num_batches_tracked.dtype is minigrad.int64
    assert net.to(minigrad.float16).kept.dtype is minigrad.float16
    assert net.float().kept.dtype is minigrad.float32
    with pytest.raises(TypeError, match="only accepts floating point"):
        net.to(minigrad.int64)


def test_zero_grad() -> None:
    net = Net()
    net(minigrad.ones(2, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert not net.first.weight.grad.any()
    net.zero_grad()
    assert net.first.weight.grad is None


def test_copies_and_pickles_stand_on_their_own() -> None:
    net = Net().eval()
    x = minigrad.ones(2, 3)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert twin(x).tolist() == net(x).tolist()
        assert isinstance(twin.scale, nn.Parameter)
        assert twin.scale is not net.scale
        assert not twin.training
        twin.scale.data.fill_(3)
        assert net.scale.tolist() == [1.0] * 4


# -------------------------------------------------------------------- state


def test_a_state_goes_round() -> None:
    net, other = Net(), Net()
    net(minigrad.rand(5, 3))
    state = net.state_dict()
    assert list(state) == ["scale", "kept", "first.weight", "first.bias", "rest.1.weight",
                           "rest.1.bias", "rest.1.running_mean", "rest.1.running_var",
                           "rest.1.num_batches_tracked"]
    assert state["first.weight"].data_ptr() == net.first.weight.data_ptr()
    assert not state["first.weight"].requires_grad
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.state_dict().keys() == state.keys()
    assert all((other.state_dict()[k] == state[k]).all() for k in state)
    assert next(iter(net.state_dict(prefix="a."))) == "a.scale"
    assert net.state_dict(keep_vars=True)["scale"] is net.scale


def test_a_state_that_does_not_fit() -> None:
    state = dict(Net().state_dict())
    del state["scale"]
    state["more.weight"] = minigrad.ones(1)
    state["first.bias"] = minigrad.ones(5)
    with pytest.raises(RuntimeError) as error:
        Net().load_state_dict(state)
    assert str(error.value) == (
        'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "scale". \n\t'
        'Unexpected key(s) in state_dict: "more.weight". \n\tsize mismatch for first.bias: copying '
        "a param with shape torch.Size([5]) from checkpoint, the shape in current model is "
        "torch.Size([4]).")
    del state["first.bias"]
    keys = Net().load_state_dict(state, strict=False)
    assert keys.missing_keys == ["scale", "first.bias"]
    assert keys.unexpected_keys == ["more.weight"]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        Net().load_state_dict([1])


def test_extra_state_and_assigning() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(minigrad.zeros(2))
            self.count = 0

        def get_extra_state(self) -> int:
            return self.count

        def set_extra_state(self, state: int) -> None:
            self.count = state

    one, two = nn.Sequential(Counting()), nn.Sequential(Counting())
    one[0].count = 7
    state = one.state_dict()
    assert state["0._extra_state"] == 7
    two.load_state_dict(state, assign=True)
    assert two[0].count == 7
    assert two[0].weight.data_ptr() == one[0].weight.data_ptr()
    assert isinstance(two[0].weight, nn.Parameter)


# -------------------------------------------------------------------- hooks


def test_forward_hooks_see_and_replace() -> None:
    class Same(nn.Module):
        def forward(self, x: Any, flag: int = 0) -> Any:
            return x

    layer, calls = Same(), []
    handles = [
        layer.register_forward_pre_hook(lambda m, args: calls.append("pre") or (args[0] + 1,)),
        layer.register_forward_pre_hook(lambda m, args: calls.append("first") or None,
                                        prepend=True),
        layer.register_forward_hook(lambda m, args, out: calls.append("post") or out * 10),
        layer.register_forward_hook(lambda m, args, kwargs, out: calls.append(kwargs) or None,
                                    with_kwargs=True),
    ]
    assert layer(minigrad.ones(1), flag=1).tolist() == [20.0]
    assert calls == ["first", "pre", "post", {"flag": 1}]
    for handle in handles:
        handle.remove()
    assert layer(minigrad.ones(1)).tolist() == [1.0]


def test_a_hook_that_always_runs_does_so_after_an_error() -> None:
    calls: list[Any] = []
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, args, out: calls.append(out), always_call=True)
    with pytest.raises(RuntimeError):
        layer(minigrad.ones(3))
    assert calls == [None]


def hooked_gradients(package: Any) -> list[Any]:
    """Return what full backward hooks see, and the gradients they leave, as lists."""
    seen: list[Any] = []
    net = package.nn.Sequential(package.nn.Tanh(), package.nn.Sigmoid())

    def before(module: Any, grad_output: Any) -> Any:
        seen.append(("pre", [g.tolist() for g in grad_output]))
        return (grad_output[0] * 2,)

    def after(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append(([g.tolist() for g in grad_input], [g.tolist() for g in grad_output]))
        return (grad_input[0] * 3,)

    net[1].register_full_backward_pre_hook(before)
    net[1].register_full_backward_hook(after)
    net[0].register_full_backward_hook(lambda m, gi, go: seen.append([g.tolist() for g in go]))
    x = package.tensor([0.5, -1.0], dtype=package.float64, requires_grad=True)
    net(x).sum().backward()
    return [*seen, x.grad.tolist()]


def test_full_backward_hooks() -> None:
    ours = hooked_gradients(minigrad)
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    assert len(ours) == 4
    for mine, other in zip(ours, hooked_gradients(torch), strict=True):
        if isinstance(mine, tuple) and mine[0] == "pre":
            mine, other = mine[1], other[1]
        np.testing.assert_allclose(np.array(mine), np.array(other), rtol=1e-12)


def test_backward_hooks_where_no_input_needs_a_gradient() -> None:
    layer, seen = nn.Linear(2, 1), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    with pytest.warns(UserWarning, match="since no inputs require gradients"):
        layer(minigrad.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]
    assert layer.weight.grad.tolist() == [[1.0, 1.0]]
    with minigrad.no_grad():
        layer(minigrad.ones(1, 2))
    assert len(seen) == 1


def test_hooked_modules_leave_no_cycles() -> None:
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    x = minigrad.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    gc.collect()
    gc.disable()
    try:
        layer(x).sum().backward()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_several_outputs_and_arguments_pass_the_backward_hook() -> None:
    class Swap(nn.Module):
        def forward(self, a: Any, b: Any, factor: float) -> Any:
            return b * factor, a

    seen: list[Any] = []
    swap = Swap()
    swap.register_full_backward_hook(
        lambda m, gi, go: seen.append(([None if g is None else g.item() for g in gi],
                                       [g.item() for g in go])))
    a, b = minigrad.tensor(1.0, requires_grad=True), minigrad.tensor(2.0, requires_grad=True)
    one, two = swap(a, b, 5.0)
    (one + 3 * two).backward()
    assert seen == [([3.0, 5.0, None], [1.0, 3.0])]
    assert (a.grad.item(), b.grad.item()) == (3.0, 5.0)


# -------------------------------------------------------------------- containers


def test_sequential_and_lists() -> None:
    row = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))
    assert row.a is row[0]
    assert len(row[:1]) == 1
    row = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    assert isinstance(row.append(nn.Tanh())[-1], nn.Tanh)
    assert isinstance(row.insert(0, nn.Identity())[0], nn.Identity)
    del row[0]
    assert [n for n, _ in row.named_children()] == ["0", "1", "2"]
    assert len(row + row) == 6
    modules = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
    modules += [nn.ReLU()]
    assert [type(m).__name__ for m in modules] == ["Linear", "Linear", "ReLU"]
    assert len(list(modules.parameters())) == 4
    with pytest.raises(IndexError, match="index 5 is out of range"):
        _ = modules[5]
    named = nn.ModuleDict({"x": nn.ReLU()})
    named["y"] = nn.Tanh()
    assert "y" in named
    assert list(named) == ["x", "y"]
    values = nn.ParameterList([minigrad.ones(2), nn.Parameter(minigrad.ones(3))])
    assert [n for n, _ in values.named_parameters()] == ["0", "1"]
    assert values[-1].shape == (3,)


# -------------------------------------------------------------------- initial values

INITIAL: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda i, t: i.uniform_(t, -1, 2),
    "normal_": lambda i, t: i.normal_(t, 1.0, 0.5),
    "trunc_normal_": lambda i, t: i.trunc_normal_(t, std=0.5, a=-0.6, b=0.7),
    "trunc_normal_ far": lambda i, t: i.trunc_normal_(t, mean=0.0, std=1.0, a=1.0, b=2.5),
    "constant_": lambda i, t: i.constant_(t, 0.3),
    "eye_": lambda i, t: i.eye_(t),
    "xavier_uniform_": lambda i, t: i.xavier_uniform_(t, gain=2.0),
    "xavier_normal_": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform_": lambda i, t: i.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda i, t: i.kaiming_normal_(t, a=0.1),
    "orthogonal_": lambda i, t: i.orthogonal_(t, gain=1.5),
}


@pytest.mark.parametrize("name", INITIAL)
@pytest.mark.parametrize("shape", [(6, 4), (4, 9)])
def test_initial_values_are_those_of_pytorch(name: str, shape: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(11)
        tensor = package.empty(shape, requires_grad=True)
        assert INITIAL[name](package.nn.init, tensor) is tensor
        results.append(tensor.detach().numpy())
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


def test_gains_and_dirac() -> None:
    init = nn.init
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("relu") == 2**0.5
    with pytest.raises(ValueError, match="Unsupported nonlinearity nothing"):
        init.calculate_gain("nothing")
    weight = init.dirac_(minigrad.empty(4, 2, 3), groups=2)
    x = minigrad.rand(1, 4, 5)
    out = nn.functional.conv1d(x, weight, padding=1, groups=2)
    assert out.tolist() == x.tolist()


def test_clipping_gradients() -> None:
    a, b = (minigrad.ones(2, requires_grad=True) for _ in range(2))
    (3 * a + 4 * b).sum().backward()
    norm = nn.utils.clip_grad_norm_([a, b], 5.0)
    assert norm.item() == pytest.approx(50**0.5)
    assert a.grad.tolist() == pytest.approx([3 / 2**0.5] * 2)
    nn.utils.clip_grad_value_(iter([a, b]), 2.5)
    assert b.grad.tolist() == [2.5, 2.5]
    vector = nn.utils.parameters_to_vector([a, b])
    nn.utils.vector_to_parameters(vector.detach() * 2, [a, b])
    assert b.tolist() == [2.0, 2.0]
    a.grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped"):
        nn.utils.clip_grad_norm_(a, 1.0, error_if_nonfinite=True)


def test_sparse_gradients_are_refused() -> None:
    for call in (lambda: nn.Embedding(3, 2, sparse=True),
                 lambda: nn.Embedding.from_pretrained(minigrad.ones(3, 2), sparse=True),
                 lambda: nn.functional.embedding(minigrad.tensor([1]), minigrad.ones(3, 2),
                                                 sparse=True)):
        with pytest.raises(NotImplementedError, match="sparse.* is True, but minigrad has no spar"):
            call()


def test_instance_norm_warns_of_another_number_of_channels() -> None:
    with pytest.warns(UserWarning, match="input's size at dim=1 does not match num_features. You"):
        assert nn.InstanceNorm2d(3)(minigrad.ones(2, 4, 2, 2)).shape == (2, 4, 2, 2)


def test_dropout_scales_what_it_keeps() -> None:
    minigrad.manual_seed(0)
    x = minigrad.ones(10_000, requires_grad=True)
    out = nn.Dropout(0.25)(x)
    assert sorted({round(v, 4) for v in out.tolist()}) == [0.0, 1.3333]
    assert abs(out.mean().item() - 1) < 0.05
    out.sum().backward()
    assert x.grad.tolist() == out.tolist()


def test_the_small_residual_network_learns() -> None:
    minigrad.manual_seed(0)
    net = nn.models.SmallResNet(num_classes=2, width=4)
    x = minigrad.rand(16, 1, 8, 8)
    y = (x.mean((1, 2, 3)) > 0.5).long()
    optimizer = minigrad.optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_printing_a_parameter() -> None:
    parameter = nn.Parameter(minigrad.ones(2))
    assert repr(parameter) == ("Parameter containing:\ntensor([1., 1.], requires_grad=True)")


def test_private_bases_and_modules_are_those_of_pytorch():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for name in nn.__all__:
        mine, theirs = getattr(nn, name), getattr(torch.nn, name, None)
        if not isinstance(theirs, type) or name in ("Module", "Parameter", "Buffer",
                                                    "UninitializedParameter",
                                                    "UninitializedBuffer"):
            continue
        assert mine.__module__.partition(".")[2] == theirs.__module__.partition(".")[2], name
        for file, bases in nn.modules.BASES.items():
            for base in bases:
                ours, other = (getattr(getattr(one.modules, file), base) for one in (nn, torch.nn))
                assert issubclass(mine, ours) == issubclass(theirs, other), (name, base)
