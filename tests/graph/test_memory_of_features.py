"""Each feature frees by reference counting alone what it made, and nothing grows with the steps.

`make soak` takes 100,000 steps of each, here it is some hundred.
"""

from __future__ import annotations

import os
import threading
import weakref

import pytest

import minigrad as torch
from minigrad import func
from minigrad.autograd import detect_anomaly, forward_ad, functional, grad, profiler
from minigrad.autograd.graph import register_multi_grad_hook, save_on_cpu, saved_tensors_hooks
from minigrad.utils.checkpoint import checkpoint, checkpoint_sequential
from tests.graph.test_memory import Exp, Scaled, leaf, leaves_nothing, no_collector  # noqa: F401  # a fixture
from tests.support.slow import slow_but

STEPS = int(os.environ.get("MINIGRAD_STEPS", "40"))
# The programs are what is warned of: slow modes and gradients with a history.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Anomaly Detection", "ignore:Error detected in", "ignore:Using backward")


def cube(x):
    return (x * x * x).sum()


def anomaly(w, x):
    with detect_anomaly(check_nan=True):
        Exp.apply(w * x).sum().backward()


def anomaly_that_finds(w, x):
    try:
        with detect_anomaly():
            ((w - w).log() * 0).sum().backward()
    except RuntimeError:
        pass


def profiled(w, x):
    with profiler.profile(record_shapes=True) as profile:
        Scaled.apply(w * x, 2.0).sum().backward()
    assert profile.key_averages()


def hooks_on_saved(w, x):
    with saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        y = Exp.apply(w * x).exp()
    y.sum().backward()


def on_cpu(w, x):
    with save_on_cpu():
        y = (w * x).exp()
    y.sum().backward()


def recomputed(w, x):
    checkpoint(lambda a: Exp.apply(a * x).exp(), w, use_reentrant=False).sum().backward()


def recomputed_in_recomputed(w, x):
    def inner(a):
        return (a * x).exp()

    checkpoint(lambda a: checkpoint(inner, a * 2, use_reentrant=False), w,
               use_reentrant=False).sum().backward()


def reentrant(w, x):
    checkpoint(lambda a: (a * x).exp(), w * 1, use_reentrant=True).sum().backward()


def sequential(w, x):
    checkpoint_sequential([torch.exp, torch.exp], 2, w * 0.1, use_reentrant=False).sum().backward()


def unused_checkpoint(w, x):
    checkpoint(lambda a: (a * x).exp(), w, use_reentrant=False)


def forward_mode(w, x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x * 2)
        y = (dual * dual).exp()
        y.mul_(dual)
        forward_ad.unpack_dual(y)


def forward_over_reverse(w, x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(w.detach().requires_grad_(), x)
        (slope,) = grad(cube(dual), dual, create_graph=True)
        forward_ad.unpack_dual(slope)


def batched(w, x):
    func.vmap(lambda a: (a * w).exp().sum())(torch.ones(3, 2)).sum().backward()


def batched_grads(w, x):
    grad((w * x).exp(), w, torch.eye(2), is_grads_batched=True)


def functionals(w, x):
    functional.jacobian(lambda a: a.exp() * a, x)
    functional.jacobian(lambda a: a.exp() * a, x, vectorize=True, strategy="forward-mode")
    functional.hessian(cube, x, create_graph=True)
    functional.vjp(torch.exp, x, x)
    functional.jvp(torch.exp, x, x)
    functional.vhp(cube, x, x)
    functional.hvp(cube, x, x)


def functions_of_functions(w, x):
    func.grad(cube)(x)
    func.jacrev(torch.exp)(x)
    func.jacfwd(torch.exp)(x)
    func.hessian(cube)(x)
    func.vjp(torch.exp, x)[1](x)
    func.jvp(torch.exp, (x,), (x,))
    func.vmap(func.grad(cube))(torch.ones(3, 2))


def multi_hooks(w, x):
    a, b = w * x, w + x
    handle = register_multi_grad_hook((a, b), lambda grads: None)
    (a * b).sum().backward()
    handle.remove()


def twice(w, x):
    (slope,) = grad(Exp.apply(w * x).sum(), w, create_graph=True)
    grad(slope.sum(), w)


def with_graph(w, x):
    (w * w * x).sum().backward(create_graph=True)
    w.grad = None


def broken_off(w, x):
    y = (w * x).exp()

    def stop(_):
        raise KeyError

    try:
        with saved_tensors_hooks(stop, stop):
            y.exp_()
    except KeyError:
        pass
    try:
        y.sum().backward()
    except RuntimeError:
        pass


def optimized(w, x):
    parameter = torch.nn.Parameter(x.clone())
    optimizer = torch.optim.Adam([parameter])
    cube(parameter * w).backward()
    optimizer.step()
    optimizer.zero_grad()


def trained(w, x):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.BatchNorm1d(3))
    handle = model.register_forward_hook(lambda *_: None)
    model(torch.ones(4, 2) * w).sum().backward()
    handle.remove()


def cast(w, x):
    scaler = torch.amp.GradScaler("cpu", enabled=True)
    with torch.autocast("cpu", dtype=torch.float16):
        y = (w * x).sum()
    scaler.scale(y).backward()


def on_a_thread(w, x):
    thread = threading.Thread(target=lambda: (w * x).sum().backward())
    thread.start()
    thread.join()


FEATURES = [anomaly, anomaly_that_finds, profiled, hooks_on_saved, on_cpu, recomputed,
            recomputed_in_recomputed, reentrant, sequential, unused_checkpoint, forward_mode,
            forward_over_reverse, batched, batched_grads, functionals, functions_of_functions,
            multi_hooks, twice, with_graph, broken_off, optimized, trained, cast, on_a_thread]


@pytest.mark.parametrize("step", FEATURES, ids=lambda step: step.__name__)
def test_steps_leave_nothing(no_collector, step):  # noqa: F811  # a fixture, imported
    leaves_nothing(step, STEPS)


@pytest.mark.parametrize("step", slow_but(4, FEATURES), ids=lambda step: step.__name__)
def test_a_step_holds_no_input(no_collector, step):  # noqa: F811  # a fixture, imported
    w, x = leaf(0.25, 0.5), torch.tensor([3.0, 4.0])
    step(w, x)
    dead = weakref.ref(w), weakref.ref(x)
    del w, x
    assert [each() for each in dead] == [None, None]
