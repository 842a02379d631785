"""Stage 13b: optimizers: what a step is, gradient descent, momentum, Adam, and their state."""

import contextlib
import copy

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import optim
from minigrad.backend import backend_of
from minigrad.optim.optimizer import downhill

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
def test_update_is_given_all_it_needs():
    a, b = parameter(5.0, grad=[1.0]), parameter(7.0, 8.0, grad=[2.0, 3.0])
    optimizer = Recorder([a, b], lr=0.5)
    optimizer.step()
    assert [seen[:3] for seen in optimizer.seen] == [
        (0.5, [5.0], [1.0]), (0.5, [7.0, 8.0], [2.0, 3.0])]


@pytest.mark.hole("13b.1")
def test_a_step_moves_every_parameter():
    a, b = parameter(5.0, grad=[1.0]), parameter(7.0, 8.0, grad=[2.0, 3.0])
    Recorder([a, b], lr=0.5).step()
    assert a.tolist() == [4.5] and b.tolist() == [6.5, 7.5]


@pytest.mark.hole("13b.1")
def test_without_a_closure_nothing_is_returned():
    assert Recorder([parameter(5.0, grad=[1.0])]).step() is None


@pytest.mark.hole("13b.1")
def test_all_groups_move():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    Recorder([{"params": [a]}, {"params": [b]}]).step()
    assert (a.tolist(), b.tolist()) == ([4.0], [4.0])


@pytest.mark.hole("13b.1")
def test_each_group_has_its_own_options():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    optimizer = Recorder([{"params": [a]}, {"params": [b], "lr": 3.0}], lr=0.5)
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([4.5], [2.0])


@pytest.mark.hole("13b.1")
def test_an_option_that_was_changed_counts_from_the_next_step():
    a = parameter(5.0, grad=[1.0])
    optimizer = Recorder([a], lr=0.5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 2.0
    optimizer.step()
    assert a.tolist() == [2.5], "an option that was changed counts from the next step"


@pytest.mark.hole("13b.1")
def test_where_there_is_no_gradient_nothing_moves():
    a = parameter(5.0)
    optimizer = Recorder([a])
    optimizer.step()
    assert a.tolist() == [5.0] and optimizer.seen == []


@pytest.mark.hole("13b.1")
def test_a_gradient_of_zeros_is_a_gradient():
    a = parameter(5.0, grad=[0.0])
    optimizer = Recorder([a])
    optimizer.step()
    assert optimizer.seen == [(1.0, [5.0], [0.0], {})] and a._version == 1


@pytest.mark.hole("13b.1")
def test_the_parameters_behind_one_without_a_gradient_move():
    a, b, c, d = (parameter(5.0, grad=None if i % 2 == 0 else [1.0]) for i in range(4))
    Recorder([{"params": [a, b]}, {"params": [c, d]}]).step()
    assert (b.tolist(), d.tolist()) == ([4.0], [4.0])


@pytest.mark.hole("13b.1")
def test_where_there_is_no_gradient_there_is_no_state():
    a, b = parameter(5.0), parameter(5.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    assert list(optimizer.state) == [b], "a parameter that did not move has no state"


@pytest.mark.hole("13b.1")
def test_each_parameter_has_a_state_of_its_own():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    assert [seen[3] for seen in optimizer.seen] == [{}, {}]


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
def test_the_write_is_counted_once():
    w = parameter(3.0, grad=[1.0])
    Recorder([w]).step()
    assert w._version == 1, f"one write, but the version is {w._version}"


@pytest.mark.hole("13b.1")
def test_only_what_moves_counts_as_written_to():
    a, b = parameter(1.0), parameter(1.0, grad=[1.0])
    Recorder([a, b]).step()
    assert (a._version, b._version) == (0, 1), f"got versions {a._version} and {b._version}"


@pytest.mark.hole("13b.1")
def test_the_write_is_noticed():
    w = parameter(3.0)
    y = (w * w).sum()
    w.grad = torch.tensor([1.0], dtype=torch.float64)
    Recorder([w]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.hole("13b.1")
def test_nothing_is_recorded():
    w = parameter(3.0, grad=[1.0])
    Recorder([w]).step()
    assert w.is_leaf and w.requires_grad and w.grad_fn is None


@pytest.mark.hole("13b.1")
@pytest.mark.parametrize("make", [
    pytest.param(lambda: [parameter(1.0, grad=[1.0]), parameter(1.0, grad=[1.0])],
                 id="two parameters"),
    pytest.param(lambda: [{"params": [parameter(1.0, grad=[1.0])]} for _ in range(3)],
                 id="three groups"),
    pytest.param(lambda: [parameter(1.0)], id="a parameter without a gradient")])
def test_a_closure_is_called_once(make):
    calls = []
    Recorder(make()).step(lambda: calls.append(1))
    assert len(calls) == 1, f"it was called {len(calls)} times"


@pytest.mark.hole("13b.1")
def test_what_the_closure_returns_comes_back():
    assert Recorder([parameter(3.0, grad=[1.0])]).step(lambda: 9.0) == 9.0


@pytest.mark.hole("13b.1")
def test_the_closure_comes_before_the_parameters_move():
    w, seen = parameter(3.0, grad=[1.0]), []
    Recorder([w]).step(lambda: seen.append(w.tolist()))
    assert seen == [[3.0]]


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
    grad_mode.set(False)
    Recorder([parameter(3.0, grad=[1.0])]).step(lambda: seen.append(grad_mode.get()))
    assert seen == [True]


@pytest.mark.hole("13b.1")
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
def test_after_the_closure_the_mode_is_what_it_was(fails):
    grad_mode.set(False)
    with contextlib.suppress(ZeroDivisionError):
        Recorder([parameter(3.0, grad=[1.0])]).step(lambda: 1 / 0 if fails else None)
    assert not grad_mode.get(), "after the closure the mode is what it was"


@pytest.mark.hole("13b.1")
def test_update_is_given_arrays():
    a = parameter(5.0, grad=[1.0])
    given = []

    class Noting(Recorder):
        def update(self, group, array, grad, state):
            given.extend([type(array), type(grad), array is a._array])

    Noting([a]).step()
    assert given == [np.ndarray, np.ndarray, True], f"got {given}"


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


P, G = np.array([2.0, -3.0, 0.5]), np.array([1.0, -4.0, 2.0])
DOWNHILL = {
    "neither option": ({}, G),
    "maximize": ({"maximize": True}, -G),
    "weight_decay": ({"weight_decay": 0.25}, G + 0.25 * P),
    "maximize and weight_decay": ({"maximize": True, "weight_decay": 0.25}, -G + 0.25 * P),
    "a decoupled weight_decay": (
        {"weight_decay": 0.25, "decoupled_weight_decay": True}, G),
    "maximize and a decoupled weight_decay": (
        {"maximize": True, "weight_decay": 0.25, "decoupled_weight_decay": True}, -G),
    "a weight_decay that is said not to be decoupled": (
        {"weight_decay": 0.25, "decoupled_weight_decay": False}, G + 0.25 * P),
}


def asked_downhill(case):
    """Return what `downhill` is given and what it returns."""
    array, grad = P.copy(), G.copy()
    group = {"maximize": False, "weight_decay": 0.0, **DOWNHILL[case][0]}
    return array, grad, downhill(backend_of(array), group, array, grad, np.empty_like(array))


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("case", DOWNHILL)
def test_downhill(case):
    _, _, got = asked_downhill(case)
    assert_close(got, DOWNHILL[case][1], what=f"downhill with {case}")


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("case", DOWNHILL)
def test_downhill_does_not_write_to_the_gradient(case):
    _, grad, _ = asked_downhill(case)
    assert_close(grad, G, what="the gradient")


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("case", DOWNHILL)
def test_downhill_does_not_write_to_the_parameter(case):
    array, _, _ = asked_downhill(case)
    assert_close(array, P, what="the parameter")


@pytest.mark.hole("13b.2")
def test_the_parameter_stays_the_same_tensor_and_memory():
    w = parameter(2.0, 3.0, grad=[1.0, 1.0])
    view, pointer = w.detach(), w.data_ptr()
    optim.SGD([w], lr=1.0).step()
    assert view.tolist() == [1.0, 2.0] and w.data_ptr() == pointer


@pytest.mark.hole("13b.2")
def test_with_momentum_the_other_method_does_everything(monkeypatch):
    given = []
    monkeypatch.setattr(optim.SGD, "_update_with_momentum",
                        lambda self, *arguments: given.append(arguments))
    w = parameter(2.0, -3.0, grad=[1.0, 4.0])
    optim.SGD([w], lr=0.1, momentum=0.5).step()
    assert len(given) == 1, f"_update_with_momentum was called {len(given)} times"
    _, array, grad, state = given[0]
    assert array is w._array and grad is w.grad._array and state == {}
    assert_close(w.detach().numpy(), [2.0, -3.0], what="the parameter")


@pytest.mark.hole("13b.2")
def test_without_momentum_the_other_method_is_not_called(monkeypatch):
    monkeypatch.delattr(optim.SGD, "_update_with_momentum")
    w = parameter(2.0, -3.0, grad=[1.0, 4.0])
    optim.SGD([w], lr=0.5).step()
    assert_close(w.detach().numpy(), [1.5, -5.0], what="the parameter")


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
def test_plain_descent_remembers_nothing():
    w = parameter(2.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=1.0)
    optimizer.step()
    assert dict(optimizer.state) == {}


@pytest.mark.hole("13b.2")
@pytest.mark.parametrize("shape", [(), (3, 4), (2, 3, 4), (400, 300)], ids=str)
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


@pytest.mark.hole("13b.2")
def test_the_learning_rate_may_be_a_tensor():
    a = parameter(2.0, -3.0, grad=[1.0, -4.0])
    optimizer = optim.SGD([a], lr=torch.tensor(0.5))
    optimizer.step()
    assert type(a._array) is np.ndarray and a.tolist() == [1.5, -1.0]


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


def after(kind, options, grads=GRADS, start=(2.0, -3.0)):
    """Return the parameter and its state after steps with these gradients."""
    w = parameter(*start)
    optimizer = kind([w], **options)
    for grad in grads:
        w.grad = torch.tensor(list(grad), dtype=torch.float64)
        optimizer.step()
    return w.detach().numpy(), optimizer.state[w]


def momentum_of(name):
    """Return the rule with the options of a case."""
    return momentum_rule(**{{"weight_decay": "decay"}.get(k, k): v
                            for k, v in OPTIONS[name].items()})


def step_of(kind, options, number):
    """Take steps up to this one; return place, g, and what is remembered, before and after it.

    What is remembered are copies of the arrays; g is what `downhill` has to return.
    """
    w = parameter(2.0, -3.0)
    optimizer = kind([w], **options)

    def seen():
        return w.detach().numpy().copy(), {
            key: value.numpy().copy() for key, value in optimizer.state.get(w, {}).items()}

    for grad in GRADS[:number]:
        w.grad = torch.tensor(list(grad), dtype=torch.float64)
        place, before = seen()
        optimizer.step()
    g = -np.array(grad) if options.get("maximize") else np.array(grad)
    if not options.get("decoupled_weight_decay"):
        g = g + options.get("weight_decay", 0.0) * place
    return place, g, before, *seen()


def velocity_in(name, number):
    options = OPTIONS[name]
    _, g, before, _, state = step_of(optim.SGD, options, number)
    assert "momentum_buffer" in state, f"the state has {sorted(state)}"
    wanted = g if number == 1 else (options["momentum"] * before["momentum_buffer"]
                                    + (1 - options.get("dampening", 0.0)) * g)
    assert_close(state["momentum_buffer"], wanted, what="the velocity")


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_the_first_velocity(name):
    velocity_in(name, 1)


@pytest.mark.hole("13b.3")
def test_the_first_velocity_is_a_copy():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    w.grad.zero_()
    assert optimizer.state[w]["momentum_buffer"].tolist() == [3.0], (
        "the gradient is overwritten by the next backward pass; the velocity must not be")


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_the_gradient_is_not_written_to(name):
    w = parameter(2.0, -3.0)
    optimizer = optim.SGD([w], **OPTIONS[name])
    for grad in GRADS[:2]:
        w.grad = torch.tensor(list(grad), dtype=torch.float64)
        optimizer.step()
        assert_close(w.grad.numpy(), grad, what="the gradient")


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_the_second_velocity(name):
    velocity_in(name, 2)


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_the_fourth_velocity(name):
    velocity_in(name, 4)


@pytest.mark.hole("13b.3")
def test_a_first_velocity_of_zeros_is_a_velocity():
    w = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.5, dampening=0.25)
    for grad in 0.0, 4.0:
        w.grad = torch.tensor([grad], dtype=torch.float64)
        optimizer.step()
    assert_close(w.detach().numpy(), [-1.5], what="the parameter")  # v is 0, then 0.75 * 4


STEPS = pytest.mark.parametrize("steps", [1, 2], ids=["first step", "second step"])


@pytest.mark.hole("13b.3")
@STEPS
@pytest.mark.parametrize("name", [name for name in OPTIONS if "nesterov" not in name])
def test_the_parameter_moves_by_the_velocity(name, steps):
    place, _, _, moved, state = step_of(optim.SGD, OPTIONS[name], steps)
    assert_close(moved - place, -0.1 * state["momentum_buffer"], what="the move")


@pytest.mark.hole("13b.3")
@STEPS
@pytest.mark.parametrize("name", [name for name in OPTIONS if "nesterov" in name])
def test_the_move_with_nesterov(name, steps):
    options = OPTIONS[name]
    place, g, _, moved, state = step_of(optim.SGD, options, steps)
    assert_close(moved - place, -0.1 * (g + options["momentum"] * state["momentum_buffer"]),
                 what="the move")


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("name", OPTIONS)
def test_momentum(name):
    assert_close(walked(lambda p: optim.SGD(p, **OPTIONS[name]), GRADS),
                 expected(momentum_of(name)), what="the way down")


@pytest.mark.hole("13b.3")
def test_a_new_learning_rate_does_not_change_the_velocity():
    w = parameter(0.0, 0.0, grad=[1.0, -2.0])
    optimizer = optim.SGD([w], lr=1.0, momentum=0.5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    assert_close(w.detach().numpy(), [-1.0 - 0.1 * 1.5, 2.0 + 0.1 * 3.0], what="the parameter")


@pytest.mark.hole("13b.3")
def test_each_parameter_has_its_own_velocity():
    a, b = parameter(0.0, grad=[1.0]), parameter(0.0, grad=[10.0])
    optimizer = optim.SGD([a, b], lr=1.0, momentum=0.5)
    optimizer.step()
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([-2.5], [-25.0])


@pytest.mark.hole("13b.3")
@pytest.mark.parametrize("shape", [(), (3, 4), (400, 300)], ids=str)
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


@pytest.mark.hole("13b.3")
def test_a_parameter_without_dimensions_has_a_velocity_too():
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.5, momentum=0.5, maximize=True)
    for grad in (1.0, 3.0):
        w.grad = torch.tensor(grad, dtype=torch.float64)
        optimizer.step()
    assert w.item() == 4.25, f"velocities of -1 and -3.5 lead from 2 to 4.25, not to {w.item()}"


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


DECOUPLED = {"lr": 0.1, "betas": (0.5, 0.75), "weight_decay": 0.5,
             "decoupled_weight_decay": True}
AVERAGED = {
    "weight_decay 0": {"lr": 0.1, "betas": (0.6, 0.9)},
    "weight_decay 0.5": {"lr": 0.1, "betas": (0.6, 0.9), "weight_decay": 0.5},
    "maximize": {"lr": 0.1, "betas": (0.6, 0.9), "maximize": True},
    "a decoupled weight_decay": DECOUPLED,
}


def adam_of(options):
    """Return the rule with these options."""
    return adam_rule(**{{"weight_decay": "decay", "decoupled_weight_decay": "decoupled"}.get(k, k):
                        v for k, v in options.items()})


def average_in(name, number, key, beta, power):
    options = AVERAGED[name]
    _, g, before, _, state = step_of(optim.Adam, options, number)
    beta = options["betas"][beta]
    assert_close(state[key], beta * before.get(key, 0.0) + (1 - beta) * g**power, what=key)


def adam_goes(options, steps=4, kind=None):
    rule = adam_of(options if kind is None else {**options, "decoupled_weight_decay": True})
    assert_close(after(kind or optim.Adam, options, GRADS[:steps])[0],
                 expected(rule, GRADS[:steps])[-1], 1e-7, what="the parameter")


@pytest.mark.hole("13b.4")
def test_every_step_is_counted_once():
    counts = [after(optim.Adam, {"lr": 0.1}, GRADS[:n])[1]["step"].item() for n in (1, 2, 4)]
    assert counts == [1, 2, 4], f"got {counts}"


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", AVERAGED)
def test_the_first_average_of_the_gradients(name):
    average_in(name, 1, "exp_avg", 0, 1)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", AVERAGED)
def test_the_first_average_of_the_squares(name):
    average_in(name, 1, "exp_avg_sq", 1, 2)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", AVERAGED)
def test_the_next_average_of_the_gradients(name):
    average_in(name, 2, "exp_avg", 0, 1)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", AVERAGED)
def test_the_next_average_of_the_squares(name):
    average_in(name, 2, "exp_avg_sq", 1, 2)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", AVERAGED)
def test_adam_does_not_write_to_the_gradient(name):
    w = parameter(2.0, -3.0, grad=[1.0, -4.0])
    optim.Adam([w], **AVERAGED[name]).step()
    assert_close(w.grad.numpy(), [1.0, -4.0], what="the gradient")


@pytest.mark.hole("13b.4")
def test_adam_moves_the_array_that_is_there():
    w = parameter(2.0, -3.0, grad=[1.0, -4.0])
    view, pointer = w.detach(), w.data_ptr()
    optim.Adam([w], lr=0.5).step()
    assert 2.0 not in view.tolist() and -3.0 not in view.tolist(), f"it is still {view.tolist()}"
    assert w.data_ptr() == pointer


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("steps", [1, 4], ids=["first step", "fourth step"])
def test_the_root(steps):
    adam_goes({"lr": 0.1, "betas": (0.0, 0.0), "eps": 0.0}, steps)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("steps", [1, 2, 4], ids=["first step", "second step", "fourth step"])
def test_the_correction_of_the_gradients_average(steps):
    adam_goes({"lr": 0.1, "betas": (0.6, 0.0), "eps": 0.0}, steps)


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("steps", [1, 2, 4], ids=["first step", "second step", "fourth step"])
def test_the_correction_of_the_squares_average(steps):
    adam_goes({"lr": 0.1, "betas": (0.0, 0.6), "eps": 0.0}, steps)


@pytest.mark.hole("13b.4")
def test_eps_is_added_to_the_root():
    adam_goes({"lr": 0.1, "betas": (0.0, 0.0), "eps": 0.5})


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("steps", [1, 4], ids=["first step", "fourth step"])
def test_eps_is_not_corrected(steps):
    adam_goes({"lr": 0.1, "betas": (0.0, 0.75), "eps": 0.5}, steps)


@pytest.mark.hole("13b.4")
def test_adamw_shrinks_the_parameter():
    place, _ = after(optim.AdamW, {"lr": 0.1, "weight_decay": 0.5}, [(0.0, 0.0)])
    assert_close(place, [2.0 * 0.95, -3.0 * 0.95], what="the parameter")


@pytest.mark.hole("13b.4")
def test_adam_does_not_shrink_the_parameter():
    adam_goes({"lr": 0.1, "betas": (0.5, 0.75), "eps": 0.1, "weight_decay": 0.5}, 1)


@pytest.mark.hole("13b.4")
def test_amsgrad_remembers_the_largest():
    _, state = after(optim.Adam, {"lr": 0.1, "betas": (0.5, 0.5), "amsgrad": True},
                     [(4.0, 1.0), (0.0, 2.0)])
    assert_close(state["max_exp_avg_sq"].numpy(), [8.0, 2.25], what="max_exp_avg_sq")


@pytest.mark.hole("13b.4")
def test_with_amsgrad_the_average_goes_on():
    _, state = after(optim.Adam, {"lr": 0.1, "betas": (0.5, 0.5), "amsgrad": True},
                     [(4.0, 1.0), (0.0, 2.0)])
    assert_close(state["exp_avg_sq"].numpy(), [4.0, 2.25], what="exp_avg_sq")


@pytest.mark.hole("13b.4")
def test_with_amsgrad_the_largest_is_divided_by():
    adam_goes({"lr": 0.1, "betas": (0.0, 0.5), "eps": 0.0, "amsgrad": True})


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("name", ADAM)
def test_adam(name):
    assert_close(walked(lambda p: optim.Adam(p, **ADAM[name]), GRADS),
                 expected(adam_of(ADAM[name])), 1e-7, what="the way down")


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
def test_each_parameter_has_its_own_averages():
    a, b = parameter(0.0, grad=[1.0]), parameter(0.0)
    optimizer = optim.Adam([a, b], lr=0.1)
    optimizer.step()
    b.grad = torch.tensor([100.0], dtype=torch.float64)
    optimizer.step()
    assert_close(b.detach().numpy(), [-0.1], 1e-6, what="b after its first step")


@pytest.mark.hole("13b.4")
@pytest.mark.parametrize("shape", [(), (3, 4), (400, 300)], ids=str)
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
def test_the_parts_of_a_state():
    optimizer, _ = two_groups()
    assert sorted(optimizer.state_dict()) == ["param_groups", "state"]


@pytest.mark.hole("13b.5")
def test_parameters_are_numbered_through_all_groups():
    optimizer, _ = two_groups()
    assert [group["params"] for group in optimizer.state_dict()["param_groups"]] == [[0, 1], [2]]


@pytest.mark.hole("13b.5")
def test_a_parameter_that_never_moved_has_a_number():
    a, b = parameter(1.0), parameter(2.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    assert optimizer.state_dict()["param_groups"][0]["params"] == [0, 1]


@pytest.mark.hole("13b.5")
def test_the_state_stands_under_the_numbers():
    optimizer, _ = two_groups()
    assert optimizer.state_dict()["state"] == {0: {"count": 1}, 1: {"count": 1}, 2: {"count": 1}}


@pytest.mark.hole("13b.5")
def test_a_parameter_that_never_moved_has_no_state():
    a, b = parameter(1.0), parameter(2.0, grad=[1.0])
    optimizer = Recorder([a, b])
    optimizer.step()
    assert optimizer.state_dict()["state"] == {1: {"count": 1}}


@pytest.mark.hole("13b.5")
def test_the_groups_have_their_options():
    optimizer, _ = two_groups()
    assert optimizer.state_dict()["param_groups"] == [
        {"lr": 1.0, "params": [0, 1]}, {"lr": 3.0, "params": [2]}]


@pytest.mark.hole("13b.5")
def test_all_options_are_kept():
    w = parameter(1.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    optimizer.param_groups[0]["initial_lr"] = 0.3  # as a scheduler does
    (mine,), (theirs,) = optimizer.param_groups, optimizer.state_dict()["param_groups"]
    assert {**mine, "params": [0]} == theirs, f"expected all options, got {theirs}"


@pytest.mark.hole("13b.5")
def test_the_optimizer_s_own_groups_are_not_changed():
    optimizer, (_, b, _) = two_groups()
    packed = optimizer.state_dict()
    assert optimizer.param_groups[0]["params"][1] is b
    packed["param_groups"][0]["lr"] = 99.0
    assert optimizer.param_groups[0]["lr"] == 1.0


@pytest.mark.hole("13b.5")
def test_the_optimizer_s_own_state_is_not_changed():
    optimizer, (a, b, c) = two_groups()
    packed = optimizer.state_dict()
    assert set(optimizer.state) == {a, b, c}
    packed["state"]["more"] = {}
    assert set(optimizer.state) == {a, b, c}


@pytest.mark.hole("13b.5")
def test_no_tensor_of_the_model_is_in_it():
    optimizer, parameters = two_groups()
    text = repr(optimizer.state_dict())
    assert "requires_grad" not in text, f"parameters are in the state: {text}"
    assert all(p.tolist() for p in parameters)


@pytest.mark.hole("13b.5")
def test_the_remembered_tensors_are_shared():
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    packed = optimizer.state_dict()
    assert packed["state"][0]["momentum_buffer"] is optimizer.state[w]["momentum_buffer"]


@pytest.mark.hole("13b.5")
def test_the_values_are_the_optimizer_s():
    w = parameter(1.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    assert optimizer.state_dict()["state"][0] is optimizer.state[w], "the values are not copies"


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
