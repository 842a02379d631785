"""Symptoms of stage 13b: what mistakes in optimizers do, seen from outside."""

import numpy as np

import minigrad as torch
from minigrad import optim
from minigrad.backend import backend_of
from minigrad.optim.optimizer import downhill

grad_mode = torch._state.grad_enabled


def parameter(*values, grad=None):
    made = torch.tensor(list(values), dtype=torch.float64, requires_grad=True)
    if grad is not None:
        made.grad = torch.tensor(grad, dtype=torch.float64)
    return made


class Recorder(optim.Optimizer):
    def __init__(self, params, lr=1.0, remembers=True):
        super().__init__(params, {"lr": lr})
        self.remembers, self.seen = remembers, []

    def update(self, group, array, grad, state):
        self.seen.append((group["lr"], array.tolist(), dict(state)))
        array -= group["lr"]
        if self.remembers:
            state["count"] = state.get("count", 0) + 1


def error_of(action):
    """Return what an action raises, as "Kind: text", or the empty text."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        grad_mode.set(True)
    return ""


# --- 13b.1 ---------------------------------------------------------------------------------------


def symptom_13b_1_closure_never_called() -> bool:
    calls = []
    Recorder([parameter(1.0)]).step(lambda: calls.append(1))
    return not calls


def symptom_13b_1_closure_not_recorded() -> bool:
    seen = []
    grad_mode.set(False)
    try:
        Recorder([parameter(1.0)]).step(lambda: seen.append(grad_mode.get()))
    finally:
        grad_mode.set(True)
    return seen == [False]


def symptom_13b_1_closure_called_often() -> bool:
    calls = []
    _two_groups()[2].step(lambda: calls.append(1))
    return len(calls) > 1


def symptom_13b_1_closure_too_late() -> bool:
    w, seen = parameter(3.0, grad=[1.0]), []
    Recorder([w]).step(lambda: seen.append(w.tolist()))
    return seen == [[2.0]]


def symptom_13b_1_no_loss() -> bool:
    called = []
    result = Recorder([parameter(3.0)]).step(lambda: (called.append(1), 7)[1])
    return called == [1] and result is None


def _two_groups():
    a, b = parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])
    return a, b, Recorder([{"params": [a]}, {"params": [b], "lr": 3.0}])


def symptom_13b_1_first_group_only() -> bool:
    a, b, optimizer = _two_groups()
    optimizer.step()
    return (a.tolist(), b.tolist()) == ([4.0], [5.0])


def symptom_13b_1_defaults_for_all() -> bool:
    a, b, optimizer = _two_groups()
    optimizer.step()
    return (a.tolist(), b.tolist()) == ([4.0], [4.0])


def symptom_13b_1_moves_without_gradient() -> bool:
    w = parameter(5.0)
    Recorder([w]).step()
    return w.tolist() != [5.0]


def symptom_13b_1_fails_without_gradient() -> bool:
    return "NoneType" in error_of(Recorder([parameter(5.0)]).step)


def symptom_13b_1_stops_at_a_missing_gradient() -> bool:
    a, b, c = parameter(5.0, grad=[1.0]), parameter(5.0), parameter(5.0, grad=[1.0])
    Recorder([a, b, c]).step()
    return (a.tolist(), c.tolist()) == ([4.0], [5.0])


def symptom_13b_1_one_state() -> bool:
    optimizer = Recorder([parameter(5.0, grad=[1.0]), parameter(5.0, grad=[1.0])])
    optimizer.step()
    return optimizer.seen[1][2] == {"count": 1}


def symptom_13b_1_forgets() -> bool:
    optimizer = Recorder([parameter(5.0, grad=[1.0])])
    optimizer.step()
    optimizer.step()
    return len(optimizer.seen) == 2 and optimizer.seen[1][2] == {}


def symptom_13b_1_keeps_empty_states() -> bool:
    optimizer = Recorder([parameter(5.0, grad=[1.0]), parameter(5.0)], remembers=False)
    optimizer.step()
    return len(optimizer.state) > 0 and not any(optimizer.state.values())


def symptom_13b_1_counted_without_moving() -> bool:
    a, b = parameter(1.0), parameter(1.0, grad=[1.0])
    Recorder([a, b]).step()
    return a._version > 0 and a.tolist() == [1.0]


def symptom_13b_1_write_not_counted() -> bool:
    w = parameter(5.0, grad=[1.0])
    Recorder([w]).step()
    return w.tolist() == [4.0] and w._version == 0


# --- what follows compares ways down -------------------------------------------------------------

GRADS = [np.array(g) for g in ((1.0, -4.0), (0.5, 2.0), (-2.0, 1.0), (3.0, 0.25))]


def way(kind, grads=GRADS, **options):
    """Return where an optimizer's steps lead, and whether it wrote to a gradient."""
    w = parameter(2.0, -3.0)
    optimizer, places, wrote = kind([w], **options), [], False
    for grad in grads:
        w.grad = torch.tensor(grad)
        optimizer.step()
        wrote |= w.grad.tolist() != grad.tolist()
        places.append(w.tolist())
    return np.array(places), wrote


def ruled(rule, grads=GRADS):
    """Return where `rule(p, g, memory)` leads."""
    place, memory, places = np.array([2.0, -3.0]), {}, []
    with np.errstate(all="ignore"):
        for grad in grads:
            place = rule(place, grad, memory)
            places.append(place)
    return np.array(places)


def goes(rule, kind, grads=GRADS, **options):
    """Tell whether an optimizer goes the way of a rule."""
    return bool(np.allclose(way(kind, grads, **options)[0], ruled(rule, grads), 1e-6, 1e-9))


# --- 13b.2 ---------------------------------------------------------------------------------------


def symptom_13b_2_does_not_move() -> bool:
    return goes(lambda p, g, _: p, optim.SGD, lr=0.1)


def symptom_13b_2_writes_to_gradient() -> bool:
    return any(way(optim.SGD, lr=0.1, **options)[1] for options in (
        {}, {"weight_decay": 0.5}, {"maximize": True}))


def against(**options):
    """Return what `downhill` says for a gradient of (1, -4)."""
    array, grad = np.array([2.0, -3.0]), np.array([1.0, -4.0])
    group = {"maximize": False, "weight_decay": 0.0, **options}
    return downhill(backend_of(array), group, array, grad, np.empty(2)).tolist()


def symptom_13b_2_maximize_the_wrong_way_round() -> bool:
    return against() == [-1.0, 4.0] and against(maximize=True) == [1.0, -4.0]


def symptom_13b_2_uphill() -> bool:
    return against() == [1.0, -4.0] and goes(lambda p, g, _: p + 0.1 * g, optim.SGD, lr=0.1)


def symptom_13b_2_ignores_lr() -> bool:
    return goes(lambda p, g, _: p - g, optim.SGD, lr=0.1)


def symptom_13b_2_ignores_decay() -> bool:
    return goes(lambda p, g, _: p - 0.1 * g, optim.SGD, lr=0.1, weight_decay=0.5)


def symptom_13b_2_decay_without_lr() -> bool:
    return goes(lambda p, g, _: p - 0.1 * g - 0.5 * p, optim.SGD, lr=0.1, weight_decay=0.5)


def symptom_13b_2_decay_grows() -> bool:
    return goes(lambda p, g, _: p - 0.1 * (g - 0.5 * p), optim.SGD, lr=0.1, weight_decay=0.5)


def symptom_13b_2_maximize_turns_decay() -> bool:
    return goes(lambda p, g, _: p + 0.1 * (g + 0.5 * p), optim.SGD, lr=0.1, weight_decay=0.5,
                maximize=True)


def symptom_13b_2_decay_too_strong() -> bool:
    return any(goes(lambda p, g, _, w=w: p - 0.1 * (g + w * p), optim.SGD, lr=0.1,
                    weight_decay=0.5) for w in (1.0, 0.25, 0.05, 5.0))


def symptom_13b_2_another_length() -> bool:
    return any(goes(lambda p, g, _, w=w: p - 0.1 * w * g, optim.SGD, lr=0.1)
               for w in (0.5, 2.0, 0.1, 100.0))


def symptom_13b_2_decays_twice() -> bool:
    if against(weight_decay=0.5) != [2.0, -5.5]:  # `downhill` itself has another decay
        return False
    return any(goes(rule, optim.SGD, lr=0.1, weight_decay=0.5) for rule in (
        lambda p, g, _: (p - 0.1 * (g + 0.5 * p)) * 0.95,
        lambda p, g, _: p * 0.95 - 0.1 * (g + 0.5 * p * 0.95),
        lambda p, g, _: p - 0.1 * (g + p)))


def symptom_13b_2_ignores_options() -> bool:
    return symptom_13b_2_ignores_maximize() and symptom_13b_2_ignores_decay()


def symptom_13b_2_maximize_drops_decay() -> bool:
    return goes(lambda p, g, _: p + 0.1 * g, optim.SGD, lr=0.1, weight_decay=0.5, maximize=True)


def symptom_13b_2_decay_turns_gradient() -> bool:
    return goes(lambda p, g, _: p - 0.1 * (0.5 * p - g), optim.SGD, lr=0.1, weight_decay=0.5)


def symptom_13b_2_ignores_maximize() -> bool:
    return goes(lambda p, g, _: p - 0.1 * g, optim.SGD, lr=0.1, maximize=True)


def symptom_13b_2_ignores_maximize_with_decay() -> bool:
    return goes(lambda p, g, _: p - 0.1 * (g + 0.5 * p), optim.SGD, lr=0.1, weight_decay=0.5,
                maximize=True)


# --- 13b.3 ---------------------------------------------------------------------------------------


def velocity(new=lambda v, g: 0.5 * v + g, first=lambda g: g.copy(),
             move=lambda v, g, old: v):
    """Return a rule with lr 0.1 and momentum 0.5, of which some part may be different."""
    def rule(p, g, memory):
        old = memory.get("v")
        v = memory["v"] = first(g) if old is None else new(old, g)
        return p - 0.1 * move(v, g, old)

    return rule


def momentum(rule, **options):
    return goes(rule, optim.SGD, lr=0.1, momentum=0.5, **options)


def symptom_13b_3_velocity_stays() -> bool:
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    kept = optimizer.state.get(w, {}).get("momentum_buffer")
    return kept is not None and kept.tolist() == [0.0]


def symptom_13b_3_does_not_move() -> bool:
    return momentum(lambda p, g, _: p)


def symptom_13b_3_velocity_is_the_gradient() -> bool:
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    w.grad.zero_()
    return optimizer.state[w]["momentum_buffer"].tolist() == [0.0]


def symptom_13b_3_forgets_velocity() -> bool:
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.step()
    return not optimizer.state.get(w)


def symptom_13b_3_uphill() -> bool:
    right = velocity()
    return momentum(lambda p, g, memory: 2 * p - right(p, g, memory))


def symptom_13b_3_keeps_the_first() -> bool:
    def rule(p, g, memory):
        v = 0.5 * memory["v"] + g if "v" in memory else g
        memory.setdefault("v", g)
        return p - 0.1 * v

    return momentum(rule)


def symptom_13b_3_no_momentum() -> bool:
    return momentum(lambda p, g, _: p - 0.1 * g)


def symptom_13b_3_never_shrinks() -> bool:
    return momentum(velocity(lambda v, g: v + g))


def symptom_13b_3_average() -> bool:
    rule = velocity(lambda v, g: 0.75 * v + 0.25 * g)
    also = velocity(lambda v, g: 0.75 * v + 0.25 * g, lambda g: 0.25 * g)
    return any(goes(each, optim.SGD, lr=0.1, momentum=0.75) for each in (rule, also))


def symptom_13b_3_lr_in_velocity() -> bool:
    w = parameter(0.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=1.0, momentum=0.5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    if np.allclose(w.tolist(), [-1.0 - 0.5 - 0.1]):
        return True
    w = parameter(0.0, grad=[1.0])
    optimizer = optim.SGD([w], lr=0.25, momentum=0.5)
    optimizer.step()
    kept = optimizer.state.get(w, {}).get("momentum_buffer")
    return kept is not None and kept.tolist() == [0.25]


def symptom_13b_3_first_step_damped() -> bool:
    damped = velocity(lambda v, g: 0.5 * v + 0.75 * g, lambda g: 0.75 * g)
    return momentum(damped, dampening=0.25)


def symptom_13b_3_dampening_turned() -> bool:
    return momentum(velocity(lambda v, g: 0.5 * v + 0.25 * g), dampening=0.25)


def symptom_13b_3_ignores_dampening() -> bool:
    return momentum(velocity(), dampening=0.25)


def symptom_13b_3_ignores_nesterov() -> bool:
    return momentum(velocity(), nesterov=True)


def symptom_13b_3_nesterov_without_gradient() -> bool:
    return momentum(velocity(move=lambda v, g, old: 0.5 * v), nesterov=True)


def symptom_13b_3_nesterov_whole_velocity() -> bool:
    return momentum(velocity(move=lambda v, g, old: g + v), nesterov=True)


def symptom_13b_3_nesterov_old_velocity() -> bool:
    return any(momentum(velocity(move=lambda v, g, old, first=first: g + 0.5 * (
        first * g if old is None else old)), nesterov=True) for first in (0, 1))


def symptom_13b_3_ignores_options() -> bool:
    return momentum(velocity(), weight_decay=0.5) and momentum(velocity(), maximize=True)


# --- 13b.4 ---------------------------------------------------------------------------------------

B1, B2, EPS = 0.5, 0.75, 0.25


def adam(mean=lambda m, g: B1 * m + (1 - B1) * g, square=lambda v, g: B2 * v + (1 - B2) * g * g,
         right_mean=lambda m, n: m / (1 - B1**n), right_square=lambda v, n: v / (1 - B2**n),
         size=lambda v, n: np.sqrt(v) + EPS, count=lambda n: n, before=lambda p: p,
         decay=0.0):
    """Return the rule with lr 0.1 and B1, B2, EPS, of which some part may be different."""
    def rule(p, g, memory):
        p = before(p)
        g = g + decay * p
        memory["n"] = memory.get("n", 0) + 1
        m = memory["m"] = mean(memory.get("m", 0.0), g)
        v = memory["v"] = square(memory.get("v", 0.0), g)
        n = count(memory["n"])
        return p - 0.1 * right_mean(m, n) / size(right_square(v, n), n)

    return rule


def walks(rule, kind=None, **options):
    return goes(rule, kind or optim.Adam,
                **{"lr": 0.1, "betas": (B1, B2), "eps": EPS, "weight_decay": 0.0, **options})


def unchanged(value, n):
    return value


def symptom_13b_4_does_not_move() -> bool:
    return walks(lambda p, g, _: p)


def symptom_13b_4_averages_stay() -> bool:
    w = parameter(2.0, grad=[3.0])
    optimizer = optim.Adam([w], lr=0.1)
    optimizer.step()
    state = optimizer.state[w]
    return state["exp_avg"].tolist() == [0.0] == state["exp_avg_sq"].tolist()


def symptom_13b_4_uphill() -> bool:
    right = adam()
    return walks(lambda p, g, memory: 2 * p - right(p, g, memory))


def symptom_13b_4_one_beta_for_both() -> bool:
    return walks(adam(mean=lambda m, g: B2 * m + (1 - B2) * g,
                      right_mean=lambda m, n: m / (1 - B2**n))) or walks(
        adam(square=lambda v, g: B1 * v + (1 - B1) * g * g,
             right_square=lambda v, n: v / (1 - B1**n)))


def symptom_13b_4_averages_are_sums() -> bool:
    return walks(adam(mean=lambda m, g: B1 * m + g, square=lambda v, g: B2 * v + g * g))


def symptom_13b_4_square_is_a_sum() -> bool:
    return walks(adam(square=lambda v, g: B2 * v + g * g))


def symptom_13b_4_counts_one_too_many() -> bool:
    return walks(adam(count=lambda n: n + 1))


def symptom_13b_4_decay_too_late() -> bool:
    step = adam()
    return walks(lambda p, g, memory: step(p, g, memory) * 0.95, optim.AdamW, weight_decay=0.5)


def symptom_13b_4_no_correction() -> bool:
    return walks(adam(right_mean=unchanged, right_square=unchanged))


def symptom_13b_4_square_not_corrected() -> bool:
    return walks(adam(right_square=unchanged))


def symptom_13b_4_mean_not_corrected() -> bool:
    return walks(adam(right_mean=unchanged))


def symptom_13b_4_correction_of_the_first() -> bool:
    return walks(adam(count=lambda n: 1))


def symptom_13b_4_counts_from_zero() -> bool:
    late = way(optim.Adam, lr=0.1, betas=(B1, B2), eps=EPS)[0]
    after_first = ruled(adam(count=lambda n: n - 1 if n > 1 else 1e-3))
    shifted = np.diff(late, axis=0)[1:], np.diff(after_first, axis=0)[1:]
    told = error_of(lambda: way(optim.Adam, lr=0.1))
    if "ZeroDivision" in told or bool(np.allclose(*shifted)):
        return True
    # Divided by zero in the first step, though both averages are right.
    w = parameter(2.0, -3.0, grad=[1.0, -4.0])
    optimizer = optim.Adam([w], lr=0.1, betas=(B1, B2), eps=EPS)
    optimizer.step()
    averages = [optimizer.state[w][name].numpy() for name in ("exp_avg", "exp_avg_sq")]
    return not np.isfinite(late).all() and bool(
        np.allclose(averages, [[0.5, -2.0], [0.25, 4.0]]))


def symptom_13b_4_eps_squared() -> bool:
    return walks(adam(size=lambda v, n: np.sqrt(v) + EPS**2))


def symptom_13b_4_eps_inside() -> bool:
    return any(walks(adam(size=size)) for size in (
        lambda v, n: np.sqrt(v + EPS), lambda v, n: np.sqrt(v + EPS**2),
        lambda v, n: np.sqrt(v + EPS / (1 - B2**n))))


def symptom_13b_4_eps_is_a_floor() -> bool:
    # With gradients of zero, the first step divides by a root of zero.
    grads = [np.zeros(2), *GRADS]
    return any(walks(adam(size=size), grads=grads, eps=2.0) for size in (
        lambda v, n: np.maximum(np.sqrt(v), 2.0), lambda v, n: np.sqrt(np.maximum(v, 2.0)),
        lambda v, n: np.where(v == 0, 2.0, np.sqrt(v))))


def symptom_13b_4_eps_after_the_division() -> bool:
    right = adam(size=lambda v, n: np.sqrt(v))
    return any(walks(lambda p, g, memory, added=added: right(p, g, memory) - added)
               for added in (EPS, -EPS, 0.1 * EPS))


def symptom_13b_4_eps_not_corrected() -> bool:
    return walks(adam(size=lambda v, n: np.sqrt(v) + EPS / np.sqrt(1 - B2**n)))


def symptom_13b_4_ignores_eps() -> bool:
    return any(walks(adam(size=lambda v, n, used=used: np.sqrt(v) + used), eps=2.0)
               for used in (0.0, 1e-8))


def symptom_13b_4_no_root() -> bool:
    return any(walks(each) for each in (
        adam(size=lambda v, n: v + EPS),
        adam(size=lambda v, n: v * (1 - B2**n) / np.sqrt(1 - B2**n) + EPS)))


def symptom_13b_4_betas_exchanged() -> bool:
    return walks(adam(mean=lambda m, g: B2 * m + (1 - B2) * g,
                      square=lambda v, g: B1 * v + (1 - B1) * g * g,
                      right_mean=lambda m, n: m / (1 - B2**n),
                      right_square=lambda v, n: v / (1 - B1**n)))


def symptom_13b_4_not_squared() -> bool:
    return any(walks(adam(square=lambda v, g, f=f: B2 * v + (1 - B2) * f(g)))
               for f in (abs, lambda g: g))


def symptom_13b_4_weights_exchanged() -> bool:
    changed_mean = {"mean": lambda m, g: (1 - B1) * m + B1 * g}
    changed_square = {"square": lambda v, g: (1 - B2) * v + B2 * g * g}
    if walks(adam(**changed_square)) or walks(adam(**changed_mean, **changed_square)):
        return True
    # With a first beta of one half the exchange would not show.
    def mean(m, g):
        return 0.1 * m + 0.9 * g

    def right(m, n):
        return m / (1 - 0.9**n)

    return walks(adam(mean=mean, right_mean=right), betas=(0.9, B2)) and not walks(
        adam(mean=lambda m, g: 0.9 * m + 0.1 * g, right_mean=right), betas=(0.9, B2))


def symptom_13b_4_mean_is_a_sum() -> bool:
    return walks(adam(mean=lambda m, g: B1 * m + g))


def _largest(p, g, memory):
    memory["n"] = memory.get("n", 0) + 1
    m = memory["m"] = B1 * memory.get("m", 0.0) + (1 - B1) * g
    v = memory["v"] = np.maximum(memory.get("v", 0.0),
                                 B2 * memory.get("v", 0.0) + (1 - B2) * g * g)
    n = memory["n"]
    return p - 0.1 * m / (1 - B1**n) / (np.sqrt(v / (1 - B2**n)) + EPS)


#: The average of the squares falls, and rises again before it reaches what it was.
FALLING = [np.array(g) for g in ((4.0, -4.0), (0.0, 0.5), (0.0, 0.0), (3.5, 3.0))]


def symptom_13b_4_ignores_amsgrad() -> bool:
    return walks(adam(), grads=FALLING, amsgrad=True)


def symptom_13b_4_largest_is_the_average() -> bool:
    return walks(_largest, grads=FALLING, amsgrad=True)


def symptom_13b_4_decay_not_decoupled() -> bool:
    return walks(adam(decay=0.5), optim.AdamW, weight_decay=0.5)


def symptom_13b_4_decay_without_lr() -> bool:
    return walks(adam(before=lambda p: p * 0.5), optim.AdamW, weight_decay=0.5)


def symptom_13b_4_decays_twice() -> bool:
    return walks(adam(before=lambda p: p * 0.95, decay=0.5), weight_decay=0.5)


def symptom_13b_4_no_decoupled_decay() -> bool:
    return walks(adam(), optim.AdamW, weight_decay=0.5)


# --- 13b.5 ---------------------------------------------------------------------------------------


def _packed(first_moves=True):
    a, b = parameter(0.0, grad=[1.0] if first_moves else None), parameter(1.25, grad=[1.0])
    c = parameter(2.5, grad=[1.0])
    optimizer = Recorder([{"params": [a, b]}, {"params": [c], "lr": 3.0}])
    optimizer.step()
    return optimizer, (a, b, c), optimizer.state_dict()


def numbers_of(packed):
    return [group["params"] for group in packed["param_groups"]]


def symptom_13b_5_changes_its_groups() -> bool:
    optimizer, (a, *_), packed = _packed()
    if optimizer.param_groups[0].get("params", [None])[0] is not a:
        return True
    return any(mine is theirs for mine in optimizer.param_groups
               for theirs in packed["param_groups"])


def symptom_13b_5_groups_hold_tensors() -> bool:
    return isinstance(numbers_of(_packed()[2])[0][0], torch.Tensor)


def symptom_13b_5_keyed_by_tensors() -> bool:
    return any(isinstance(key, torch.Tensor) for key in _packed()[2]["state"])


def symptom_13b_5_keyed_by_id() -> bool:
    _, parameters, packed = _packed()
    return set(packed["state"]) == {id(p) for p in parameters}


def symptom_13b_5_numbers_begin_anew() -> bool:
    return numbers_of(_packed()[2]) == [[0, 1], [0]]


def symptom_13b_5_numbers_from_one() -> bool:
    return numbers_of(_packed()[2]) == [[1, 2], [3]]


def symptom_13b_5_numbers_by_state() -> bool:
    _, _, packed = _packed(first_moves=False)
    return numbers_of(packed) != [[0, 1], [2]] and numbers_of(_packed()[2]) == [[0, 1], [2]]


def symptom_13b_5_without_options() -> bool:
    optimizer = optim.SGD([parameter(1.0)], lr=0.1, momentum=0.5)
    (packed,) = optimizer.state_dict()["param_groups"]
    return set(optimizer.param_groups[0]) - {"params"} > set(packed) - {"params"}


def symptom_13b_5_copies() -> bool:
    optimizer, (a, *_), _ = _packed()
    return optimizer.state_dict()["state"][0] is not optimizer.state[a]
