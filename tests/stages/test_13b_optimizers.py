"""Stage 13b: optimizers: what a step is, gradient descent, momentum, Adam, and their state."""

import copy

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import optim

grad_mode = torch._state.grad_enabled


@pytest.fixture(autouse=True)
def modes_left_alone():
    yield
    grad_mode.set(True)


def parameter(*values, grad=None):
    made = torch.tensor(list(values), dtype=torch.float64, requires_grad=True)
    if grad is not None:
        made.grad = torch.tensor(grad, dtype=torch.float64)
    return made


class Recorder(optim.Optimizer):
    """Notes what `update` is given; moves by lr, and counts in the state."""

    def __init__(self, params, lr=1.0, remembers=True):
        super().__init__(params, {"lr": lr})
        self.remembers, self.seen = remembers, []

    def update(self, group, array, grad, state):
        self.seen.append((group["lr"], array.tolist(), grad.tolist(), dict(state)))
        array -= group["lr"]
        if self.remembers:
            state["count"] = state.get("count", 0) + 1


# --- 13b.1: a step -------------------------------------------------------------------------------


@pytest.mark.hole("13b.1")
def test_a_step_moves_every_parameter():
    a, b = parameter(5.0, grad=[1.0]), parameter(7.0, 8.0, grad=[2.0, 3.0])
    optimizer = Recorder([a, b], lr=0.5)
    assert optimizer.step() is None
    assert a.tolist() == [4.5] and b.tolist() == [6.5, 7.5]
    assert [seen[:3] for seen in optimizer.seen] == [
        (0.5, [5.0], [1.0]), (0.5, [7.0, 8.0], [2.0, 3.0])]


@pytest.mark.hole("13b.1")
def test_each_group_has_its_own_options():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    optimizer = Recorder([{"params": [a]}, {"params": [b], "lr": 3.0}], lr=0.5)
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([4.5], [2.0])
    optimizer.param_groups[0]["lr"] = 2.0
    optimizer.step()
    assert a.tolist() == [2.5], "an option that was changed counts from the next step"


@pytest.mark.hole("13b.1")
def test_where_there_is_no_gradient_nothing_moves():
    a, b = parameter(5.0), parameter(5.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([5.0], [4.0])
    assert list(optimizer.state) == [b], "a parameter that did not move has no state"


@pytest.mark.hole("13b.1")
def test_the_state_of_each_parameter_is_kept():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0)
    optimizer = Recorder([a, b])
    optimizer.step()
    b.grad = torch.tensor([1.0], dtype=torch.float64)
    optimizer.step()
    assert [seen[3] for seen in optimizer.seen] == [{}, {"count": 1}, {}]
    assert optimizer.state[a] == {"count": 2} and optimizer.state[b] == {"count": 1}


@pytest.mark.hole("13b.1")
def test_an_empty_state_is_not_kept():
    optimizer = Recorder([parameter(5.0, grad=[1.0])], remembers=False)
    optimizer.step()
    assert dict(optimizer.state) == {}


@pytest.mark.hole("13b.1")
def test_the_write_is_noticed():
    w = parameter(3.0)
    y = (w * w).sum()
    w.grad = torch.tensor([1.0], dtype=torch.float64)
    optimizer = Recorder([w])
    optimizer.step()
    assert w._version == 1, f"one write, but the version is {w._version}"
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.hole("13b.1")
def test_nothing_is_recorded():
    w = parameter(3.0, grad=[1.0])
    Recorder([w]).step()
    assert w.is_leaf and w.requires_grad and w.grad_fn is None


@pytest.mark.hole("13b.1")
def test_a_closure_computes_the_loss_first():
    w = parameter(3.0)
    optimizer = Recorder([w])

    def closure():
        loss = (w * w).sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss.item() == 9.0, "the closure's result comes back"
    assert optimizer.seen[0][2] == [6.0], "the step uses the gradient that the closure made"
    assert w.tolist() == [2.0]


@pytest.mark.hole("13b.1")
def test_a_closure_is_recorded_even_if_the_mode_is_off():
    seen = []
    optimizer = Recorder([parameter(3.0, grad=[1.0])])
    grad_mode.set(False)
    optimizer.step(lambda: seen.append(grad_mode.get()))
    assert seen == [True]
    assert not grad_mode.get(), "after the closure the mode is what it was"


@pytest.mark.hole("13b.1")
def test_only_what_moves_counts_as_written_to():
    a, b = parameter(1.0), parameter(1.0, grad=[1.0])
    Recorder([a, b]).step()
    assert (a._version, b._version) == (0, 1), f"got versions {a._version} and {b._version}"


@pytest.mark.hole("13b.1")
def test_a_closure_is_called_once():
    calls = []
    Recorder([parameter(1.0, grad=[1.0]), parameter(1.0, grad=[1.0])]).step(
        lambda: calls.append(1))
    assert len(calls) == 1
    groups = [{"params": [parameter(1.0, grad=[1.0])]} for _ in range(3)]
    Recorder(groups).step(lambda: calls.append(2))
    assert calls == [1, 2], "once for all groups"


@pytest.mark.hole("13b.1")
def test_zero_grad_drops_the_gradients_of_all_groups():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    Recorder([{"params": [a]}, {"params": [b]}]).zero_grad()
    assert a.grad is None and b.grad is None


@pytest.mark.hole("13b.1")
def test_zero_grad_may_fill_with_zeros():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0)
    grad = a.grad
    Recorder([a, b]).zero_grad(set_to_none=False)
    assert a.grad is grad and grad.tolist() == [0.0]
    assert b.grad is None


# --- 13b.2: downhill -----------------------------------------------------------------------------


def walked(make, grads, start=(2.0, -3.0)):
    """Return where each step leads, with the given gradients one after another."""
    w = parameter(*start)
    optimizer = make([w])
    places = []
    for grad in grads:
        w.grad = torch.tensor(list(grad), dtype=torch.float64)
        before = w.grad.tolist()
        optimizer.step()
        assert w.grad.tolist() == before, "the gradient must not be written to"
        places.append(w.tolist())
    return np.array(places)


GRADS = [(1.0, -4.0), (0.5, 2.0), (-2.0, 1.0), (3.0, 0.25)]


def expected(rule, grads=GRADS, start=(2.0, -3.0)):
    """Return the same for `rule(p, g, memory)`, which returns the new place."""
    place, memory, places = np.array(start), {}, []
    for grad in grads:
        place = rule(place, np.array(grad), memory)
        places.append(place)
    return np.array(places)


@pytest.mark.hole("13b.2")
def test_plain_descent():
    assert_close(walked(lambda p: optim.SGD(p, lr=0.1), GRADS),
                 expected(lambda p, g, _: p - 0.1 * g), what="the way down")


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("lr", [0.0, 0.5, 2.0])
def test_the_learning_rate(lr):
    assert_close(walked(lambda p: optim.SGD(p, lr=lr), GRADS),
                 expected(lambda p, g, _: p - lr * g), what="the way down")


@pytest.mark.hole("13b.2")
def test_weight_decay_is_added_to_the_gradient():
    assert_close(walked(lambda p: optim.SGD(p, lr=0.1, weight_decay=0.5), GRADS),
                 expected(lambda p, g, _: p - 0.1 * (g + 0.5 * p)), what="the way down")


@pytest.mark.hole("13b.2")
def test_maximize_goes_up():
    assert_close(walked(lambda p: optim.SGD(p, lr=0.1, maximize=True), GRADS),
                 expected(lambda p, g, _: p + 0.1 * g), what="the way up")


@pytest.mark.hole("13b.2")
def test_maximize_still_decays():
    assert_close(
        walked(lambda p: optim.SGD(p, lr=0.1, maximize=True, weight_decay=0.5), GRADS),
        expected(lambda p, g, _: p - 0.1 * (-g + 0.5 * p)), what="the way up")


@pytest.mark.hole("13b.2")
def test_the_parameter_stays_the_same_tensor_and_memory():
    w = parameter(2.0, 3.0, grad=[1.0, 1.0])
    view, pointer = w.detach(), w.data_ptr()
    optim.SGD([w], lr=1.0).step()
    assert view.tolist() == [1.0, 2.0] and w.data_ptr() == pointer


@pytest.mark.hole("13b.2")
def test_plain_descent_remembers_nothing():
    w = parameter(2.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=1.0)
    optimizer.step()
    assert dict(optimizer.state) == {}


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("shape", [(), (3, 4), (2, 3, 4), (400, 300)])
def test_all_shapes(shape):
    values, grad = np.random.default_rng(0).standard_normal((2, *shape))
    w = torch.tensor(values, requires_grad=True)
    w.grad = torch.tensor(grad)
    optim.SGD([w], lr=0.5, weight_decay=0.1).step()
    assert_close(w.detach().numpy(), values - 0.5 * (grad + 0.1 * values), what="the parameter")


@pytest.mark.hole("13b.2")
def test_float32_stays_float32():
    w = torch.tensor([1.0], requires_grad=True)
    w.grad = torch.tensor([0.5])
    optim.SGD([w], lr=0.1).step()
    assert w.dtype == torch.float32
    assert_close(w.detach().numpy(), [0.95], 1e-6, what="the parameter")


# --- 13b.3: momentum -----------------------------------------------------------------------------


def momentum_rule(lr, momentum, dampening=0.0, nesterov=False, decay=0.0, maximize=False):
    def rule(p, g, memory):
        g = (-g if maximize else g) + decay * p
        v = momentum * memory["v"] + (1 - dampening) * g if "v" in memory else g.copy()
        memory["v"] = v
        return p - lr * (g + momentum * v if nesterov else v)

    return rule


OPTIONS = {
    "plain": {"lr": 0.1, "momentum": 0.9},
    "small": {"lr": 0.1, "momentum": 0.25},
    "damped": {"lr": 0.1, "momentum": 0.9, "dampening": 0.25},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "decay": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.5},
    "nesterov and decay": {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.5},
    "maximize": {"lr": 0.1, "momentum": 0.9, "maximize": True},
}


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_momentum(name):
    options = OPTIONS[name]
    rule = momentum_rule(**{{"weight_decay": "decay"}.get(k, k): v for k, v in options.items()})
    assert_close(walked(lambda p: optim.SGD(p, **options), GRADS), expected(rule),
                 what="the way down")


@pytest.mark.hole("13b.3")
def test_the_velocity_is_remembered():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    assert optimizer.state[w]["momentum_buffer"].tolist() == [3.0]
    optimizer.step()
    assert optimizer.state[w]["momentum_buffer"].tolist() == [4.5]


@pytest.mark.hole("13b.3")
def test_the_first_velocity_is_a_copy():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    w.grad.zero_()
    assert optimizer.state[w]["momentum_buffer"].tolist() == [3.0], (
        "the gradient is overwritten by the next backward pass; the velocity must not be")


@pytest.mark.hole("13b.3")
def test_a_new_learning_rate_does_not_change_the_velocity():
    w = parameter(0.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=1.0, momentum=0.5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    assert_close(w.detach().numpy(), [-1.0 - 0.1 * 1.5], what="the parameter")


@pytest.mark.hole("13b.3")
def test_each_parameter_has_its_own_velocity():
    a, b = parameter(0.0, grad=[1.0]), parameter(0.0, grad=[10.0])
    optimizer = optim.SGD([a, b], lr=1.0, momentum=0.5)
    optimizer.step()
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([-2.5], [-25.0])


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("shape", [(), (3, 4), (400, 300)])
def test_momentum_for_all_shapes(shape):
    values, first, second = np.random.default_rng(0).standard_normal((3, *shape))
    w = torch.tensor(values, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.5, momentum=0.9, nesterov=True, weight_decay=0.1)
    rule, memory, place = momentum_rule(0.5, 0.9, nesterov=True, decay=0.1), {}, values
    for grad in (first, second):
        w.grad = torch.tensor(grad)
        optimizer.step()
        place = rule(place, grad, memory)
    assert_close(w.detach().numpy(), place, what="the parameter")


# --- 13b.4: Adam ---------------------------------------------------------------------------------


def adam_rule(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.0, amsgrad=False, decoupled=False,
              maximize=False):
    def rule(p, g, memory):
        if maximize:
            g = -g
        if decoupled:
            p = p * (1 - lr * decay)
        else:
            g = g + decay * p
        beta1, beta2 = betas
        count = memory["count"] = memory.get("count", 0) + 1
        m = memory["m"] = beta1 * memory.get("m", 0.0) + (1 - beta1) * g
        v = memory["v"] = beta2 * memory.get("v", 0.0) + (1 - beta2) * g * g
        if amsgrad:
            v = memory["largest"] = np.maximum(memory.get("largest", 0.0), v)
        m, v = m / (1 - beta1**count), v / (1 - beta2**count)
        return p - lr * m / (np.sqrt(v) + eps)

    return rule


ADAM = {
    "plain": {"lr": 0.1},
    "betas": {"lr": 0.1, "betas": (0.5, 0.75)},
    "eps": {"lr": 0.1, "betas": (0.5, 0.75), "eps": 0.5},
    "decay": {"lr": 0.1, "weight_decay": 0.5},
    "amsgrad": {"lr": 0.1, "betas": (0.5, 0.5), "amsgrad": True},
    "maximize": {"lr": 0.1, "maximize": True},
}


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", ADAM)
def test_adam(name):
    options = ADAM[name]
    rule = adam_rule(**{{"weight_decay": "decay"}.get(k, k): v for k, v in options.items()})
    assert_close(walked(lambda p: optim.Adam(p, **options), GRADS), expected(rule), 1e-7,
                 what="the way down")


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("decay", [0.01, 0.5])
def test_adamw_takes_the_decay_from_the_parameter(decay):
    rule = adam_rule(0.1, decay=decay, decoupled=True)
    assert_close(walked(lambda p: optim.AdamW(p, lr=0.1, weight_decay=decay), GRADS),
                 expected(rule), 1e-7, what="the way down")


@pytest.mark.hole("13b.4")
def test_the_first_step_has_the_length_of_the_learning_rate():
    places = walked(lambda p: optim.Adam(p, lr=0.25), [(1e-3, -1e3)], (0.0, 0.0))
    assert_close(places, [[-0.25, 0.25]], 1e-4, what="the first step")


@pytest.mark.hole("13b.4")
def test_many_steps():
    grads = [(np.sin(i), np.cos(3 * i) - 0.5) for i in range(50)]
    assert_close(walked(lambda p: optim.Adam(p, lr=0.01, betas=(0.8, 0.9)), grads),
                 expected(adam_rule(0.01, (0.8, 0.9)), grads), 1e-7, what="the way down")


@pytest.mark.hole("13b.4")
def test_adam_remembers_count_and_averages():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.Adam([w], lr=0.1, betas=(0.5, 0.75))
    optimizer.step()
    optimizer.step()
    state = optimizer.state[w]
    assert sorted(state) == ["exp_avg", "exp_avg_sq", "step"]
    assert state["step"].item() == 2
    assert_close(state["exp_avg"].numpy(), [3.0 * 0.75], what="exp_avg")
    assert_close(state["exp_avg_sq"].numpy(), [9.0 * (1 - 0.75**2)], what="exp_avg_sq")


@pytest.mark.hole("13b.4")
def test_amsgrad_remembers_the_largest():
    w = parameter(2.0, grad=[4.0])
    optimizer = optim.Adam([w], lr=0.1, betas=(0.5, 0.5), amsgrad=True)
    optimizer.step()
    w.grad.fill_(0.0)
    optimizer.step()
    state = optimizer.state[w]
    assert_close(state["max_exp_avg_sq"].numpy(), [8.0], what="max_exp_avg_sq")
    assert_close(state["exp_avg_sq"].numpy(), [4.0], what="exp_avg_sq")


@pytest.mark.hole("13b.4")
def test_each_parameter_has_its_own_averages():
    a, b = parameter(0.0, grad=[1.0]), parameter(0.0)
    optimizer = optim.Adam([a, b], lr=0.1)
    optimizer.step()
    b.grad = torch.tensor([100.0], dtype=torch.float64)
    optimizer.step()
    assert_close(b.detach().numpy(), [-0.1], 1e-6, what="b after its first step")


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("shape", [(), (3, 4), (400, 300)])
def test_adam_for_all_shapes(shape):
    values, first, second = np.random.default_rng(0).standard_normal((3, *shape))
    w = torch.tensor(values, requires_grad=True)
    optimizer = optim.Adam([w], lr=0.5, weight_decay=0.1)
    rule, memory, place = adam_rule(0.5, decay=0.1), {}, values
    for grad in (first, second):
        w.grad = torch.tensor(grad)
        optimizer.step()
        place = rule(place, grad, memory)
    assert_close(w.detach().numpy(), place, 1e-6, 1e-7, what="the parameter")


@pytest.mark.hole("13b.4")
def test_adam_reaches_the_bottom_of_a_narrow_valley():
    w = parameter(3.0, 3.0)
    optimizer = optim.Adam([w], lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        (w[0] ** 2 + 1000 * w[1] ** 2).backward()
        optimizer.step()
    assert abs(w.detach().numpy()).max() < 0.05


# --- 13b.5: the state ----------------------------------------------------------------------------


def two_groups():
    a, b, c = (parameter(float(i), grad=[1.0]) for i in range(3))
    optimizer = Recorder([{"params": [a, b]}, {"params": [c], "lr": 3.0}])
    optimizer.step()
    return optimizer, (a, b, c)


@pytest.mark.hole("13b.5")
def test_parameters_are_numbered_through_all_groups():
    optimizer, _ = two_groups()
    packed = optimizer.state_dict()
    assert sorted(packed) == ["param_groups", "state"]
    assert [group["params"] for group in packed["param_groups"]] == [[0, 1], [2]]
    assert packed["state"] == {0: {"count": 1}, 1: {"count": 1}, 2: {"count": 1}}


@pytest.mark.hole("13b.5")
def test_the_groups_have_their_options():
    optimizer, _ = two_groups()
    assert optimizer.state_dict()["param_groups"] == [
        {"lr": 1.0, "params": [0, 1]}, {"lr": 3.0, "params": [2]}]


@pytest.mark.hole("13b.5")
def test_the_optimizer_itself_is_not_changed():
    optimizer, (a, b, c) = two_groups()
    packed = optimizer.state_dict()
    assert optimizer.param_groups[0]["params"][1] is b
    assert set(optimizer.state) == {a, b, c}
    packed["param_groups"][0]["lr"] = 99.0
    assert optimizer.param_groups[0]["lr"] == 1.0


@pytest.mark.hole("13b.5")
def test_no_tensor_of_the_model_is_in_it():
    optimizer, parameters = two_groups()
    text = repr(optimizer.state_dict())
    assert "requires_grad" not in text, f"parameters are in the state: {text}"
    assert all(p.tolist() for p in parameters)


@pytest.mark.hole("13b.5")
def test_a_parameter_that_never_moved_has_no_state_but_a_number():
    a, b = parameter(1.0), parameter(2.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    packed = optimizer.state_dict()
    assert packed["param_groups"][0]["params"] == [0, 1]
    assert packed["state"] == {1: {"count": 1}}


@pytest.mark.hole("13b.5")
def test_what_is_no_parameter_keeps_its_key():
    optimizer, _ = two_groups()
    optimizer.state["rounds"] = {"n": 3}
    assert optimizer.state_dict()["state"]["rounds"] == {"n": 3}


@pytest.mark.hole("13b.5")
def test_the_remembered_tensors_are_shared():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    packed = optimizer.state_dict()
    assert packed["state"][0]["momentum_buffer"] is optimizer.state[w]["momentum_buffer"]


@pytest.mark.hole("13b.5")
def test_a_state_goes_on_in_another_optimizer():
    def run(stop):
        w = parameter(3.0, -2.0)
        optimizer = optim.Adam([w], lr=0.1)
        for step in range(10):
            if step == stop:
                kept = copy.deepcopy(optimizer.state_dict())
                optimizer = optim.Adam([w], lr=99.0)
                optimizer.load_state_dict(kept)
            w.grad = w.detach() * 2
            optimizer.step()
        return w.tolist()

    assert run(5) == run(None), "a run that was stopped and continued takes the same way"


@pytest.mark.hole("13b.5")
def test_all_options_and_the_values_themselves_are_kept():
    w = parameter(1.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    packed = optimizer.state_dict()
    (mine,), (theirs,) = optimizer.param_groups, packed["param_groups"]
    assert {**mine, "params": [0]} == theirs, f"expected all options, got {theirs}"
    assert packed["state"][0] is optimizer.state[w], "the values are the optimizer's, not copies"


@pytest.mark.hole("13b.5")
def test_hooks_around_it():
    optimizer, _ = two_groups()
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append(("before", o is optimizer)))
    optimizer.register_state_dict_post_hook(lambda o, s: seen.append(("after", sorted(s))))
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1})
    packed = optimizer.state_dict()
    assert seen == [("before", True), ("after", ["param_groups", "state"])]
    assert packed["more"] == 1 and "state" in packed
