"""Probes of stage 13b: optimizers with random options, over several steps.

The rules are called with arrays and a state, as `step` does; `step` itself is tried with an
optimizer of the probe's own, which writes down what it is given.
"""

import numpy as np
from probing import array, tried

import minigrad as torch
from minigrad import _state
from minigrad.backend import backend_of
from minigrad.optim import adam, optimizer, sgd


def parameter(random, grad=0.7):
    """Return a leaf; often it has a gradient."""
    made = torch.Tensor._plain(array(random, [random.randint(1, 3), 2])).requires_grad_()
    if random.random() < grad:
        values = array(random, tuple(made.shape))
        made._grad = torch.Tensor._plain(values * 0 if random.random() < 0.15 else values)
    return made


class Noting(optimizer.Optimizer):
    """Writes down what its rule is given."""

    def __init__(self, groups, seen):
        self.seen = seen
        super().__init__(groups, {"rate": 0.5, "keeps": True})

    def update(self, group, array, grad, state):
        self.seen.append(["update", group["rate"], array.copy(), grad.copy(),
                          sorted(state.items())])
        array -= group["rate"] * grad
        if group["keeps"]:
            state["count"] = state.get("count", 0) + 1


def probe_13b_1(random):
    seen = []
    mode = _state.grad_enabled.get()
    try:
        for _ in range(5):
            parameters = [parameter(random) for _ in range(random.randint(2, 5))]
            cut = random.randint(1, len(parameters) - 1)
            made = Noting([{"params": parameters[:cut], "rate": random.random()},
                           {"params": parameters[cut:], "keeps": random.random() < 0.5}], seen)
            for _ in range(3):
                given, loss = random.random(), []
                arrays = [p._array for p in parameters]

                def closure(given=given, parameters=parameters, loss=loss):
                    seen.append(["closure", _state.grad_enabled.get()])
                    with torch.no_grad():
                        for p in parameters:
                            if p._grad is not None:
                                p._grad.mul_(1 + given)
                            elif given < 0.3:  # the first gradient of this parameter
                                p._grad = torch.ones_like(p)
                    return loss

                _state.grad_enabled.set(random.random() < 0.5)
                result = tried(lambda made=made, closure=closure: made.step(closure)
                               if random.random() < 0.5 else made.step())
                seen.append([result, result is loss])
                seen.append([np.shares_memory(p._array, before)
                             for p, before in zip(parameters, arrays, strict=True)])
                seen.append(_state.grad_enabled.get())
                _state.grad_enabled.set(mode)
                seen.append([[p.detach().numpy().copy(), p._version, p.requires_grad]
                             for p in parameters])
                seen.append([sorted(made.state[p].items()) if p in made.state else None
                             for p in parameters])
                seen.append(len(made.state))

            def fails():
                raise KeyError("on purpose")

            seen.append(tried(lambda made=made: made.step(fails)))
            seen.append(_state.grad_enabled.get())
    finally:
        _state.grad_enabled.set(mode)
    return seen


def options(random, *names):
    """Return random options."""
    every = {
        "lr": random.uniform(0.1, 1), "weight_decay": random.choice([0, random.uniform(0.1, 0.9)]),
        "maximize": random.random() < 0.4, "momentum": random.uniform(0.3, 0.9),
        "dampening": random.choice([0, random.uniform(0.1, 0.8)]),
        "nesterov": random.random() < 0.4, "amsgrad": random.random() < 0.4,
        "betas": (random.uniform(0.2, 0.8), random.uniform(0.5, 0.99)),
        "eps": random.choice([1e-8, 0.01, 0.3]),
        "decoupled_weight_decay": random.random() < 0.4,
    }
    return {name: every[name] for name in names}


def laid_out(random, shape):
    """Return a parameter's array, in one of several layouts."""
    made = array(random, shape)
    return np.asfortranarray(made) if random.random() < 0.3 else made


def run(random, group, update, shape, state=None):
    """Take some steps; return where the parameter went, and what is remembered."""
    seen, state = [], {} if state is None else state
    values = laid_out(random, shape)
    for _ in range(random.randint(2, 4)):
        grad = array(random, shape) * (random.random() > 0.3)
        kept = grad.copy()
        seen.append(tried(lambda grad=grad: update(group, values, grad, state)))
        seen.append([values.copy(), np.array_equal(grad, kept)])
        seen.append([[name, np.array(state[name]._array if isinstance(state[name], torch.Tensor)
                                     else state[name], np.float64),
                      isinstance(state[name], torch.Tensor)
                      and bool(np.shares_memory(state[name]._array, grad))]
                     for name in sorted(state)])
    return seen


class Handing(sgd.SGD):
    """Writes down what the method for momentum is given."""

    def _update_with_momentum(self, group, array, grad, state):
        self.given = [group["momentum"], array.copy(), grad.copy(), sorted(state)]


def probe_13b_2(random):
    seen = []
    rule = Handing([torch.ones(1, requires_grad=True)], lr=0.1)
    for _ in range(4):
        rule.given = None
        group = {**rule.param_groups[0], **options(random, "lr", "momentum", "weight_decay")}
        p, g = array(random, [2]), array(random, [2])
        seen.append([tried(lambda g=g, p=p, group=group: rule.update(group, p, g, {})),
                     rule.given, p.copy(), g.copy()])
    for _ in range(10):
        shape = [random.randint(1, 4), random.randint(1, 3)]
        group = options(random, "weight_decay", "maximize")
        if random.random() < 0.4:
            group |= options(random, "decoupled_weight_decay")
        p, g = array(random, shape), array(random, shape)
        kept = p.copy(), g.copy()
        got = optimizer.downhill(backend_of(p), group, p, g, np.empty_like(p))
        seen.append([np.array(got), np.array_equal(p, kept[0]), np.array_equal(g, kept[1])])
        rule = sgd.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        group = {**rule.param_groups[0], **options(random, "lr", "weight_decay", "maximize"),
                 "momentum": 0}
        if random.random() < 0.3:
            group["lr"] = torch.tensor(group["lr"], dtype=torch.float64)
        seen.append(run(random, group, rule.update, shape))
    return seen


def probe_13b_3(random):
    seen = []
    rule = sgd.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    for _ in range(12):
        group = {**rule.param_groups[0], **options(random, "lr", "weight_decay", "maximize",
                                                   "momentum", "dampening", "nesterov")}
        seen.append(run(random, group, rule._update_with_momentum,
                        [random.randint(1, 4), random.randint(1, 3)]))
    return seen


def probe_13b_4(random):
    seen = []
    rule = adam.Adam([torch.ones(1, requires_grad=True)], lr=0.1)
    for _ in range(12):
        group = {**rule.param_groups[0], **options(
            random, "lr", "weight_decay", "maximize", "betas", "eps", "amsgrad",
            "decoupled_weight_decay")}
        seen.append(run(random, group, rule.update, [random.randint(1, 4), random.randint(1, 3)]))
        shape = [random.randint(1, 5)]
        g, mean, square = (array(random, shape) for _ in range(3))
        kept = g.copy()
        adam.average(backend_of(g), g, mean, square, random.uniform(0.2, 0.8),
                     random.uniform(0.2, 0.9), np.empty_like(g))
        seen.append([mean, square, np.array_equal(g, kept)])
    return seen


def probe_13b_5(random):
    seen = []
    for _ in range(6):
        parameters = [parameter(random) for _ in range(random.randint(2, 5))]
        same = parameters[0].detach().clone().requires_grad_()
        parameters.append(same)  # equal values are no reason for equal numbers
        cut = random.randint(1, len(parameters) - 1)
        made = Noting([{"params": parameters[:cut], "rate": random.random()},
                       {"params": parameters[cut:], "other": random.randrange(99)}], [])
        for p in random.sample(parameters, random.randint(1, len(parameters))):
            made.state[p] = {"value": [random.random()]}
        calls, change = [], random.choice([None, "in place", "new"])

        def before(each, calls=calls, made=made):
            calls.append(["before", each is made])
            made.param_groups[0]["rate"] += 1.0

        def after(each, packed, calls=calls, made=made, change=change):
            calls.append(["after", each is made, sorted(packed)])
            if change == "in place":
                packed["more"] = len(calls)
            return {"new": [sorted(packed), len(packed["state"])], **packed} if change == "new" \
                else None

        for number in range(random.randint(0, 2)):
            made._optimizer_state_dict_pre_hooks[number] = before
            made._optimizer_state_dict_post_hooks[number] = after
        groups = [dict(group) for group in made.param_groups]
        packed = tried(made.state_dict)
        if isinstance(packed, list):
            seen.append(packed)
            continue
        held = dict(made.state.items())
        seen.append([sorted(packed), [
            [key if isinstance(key, (int, str)) else type(key).__name__, sorted(value.items()),
             any(value is each for each in held.values()),
             any(value["value"] is each["value"] for each in held.values())]
            for key, value in sorted(packed["state"].items(), key=lambda each: str(each[0]))]])
        seen.append([[[key, value if not isinstance(value, list) else
                       [each if isinstance(each, int) else type(each).__name__ for each in value]]
                      for key, value in sorted(group.items())
                      if key == "params" or not isinstance(value, list)]
                     for group in packed["param_groups"]])
        seen.append([packed.get("more"), packed.get("new"), calls,
                     [a is b for a, b in zip(packed["param_groups"], made.param_groups,
                                             strict=True)],
                     [[sorted(a) == sorted(b), len(a["params"]) == len(b["params"]),
                       all(isinstance(p, torch.Tensor) for p in b["params"])]
                      for a, b in zip(groups, made.param_groups, strict=True)]])
    return seen
