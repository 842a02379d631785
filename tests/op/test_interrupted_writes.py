"""Writes in place, and all else that changes tensors, interrupted at every place.

A scene is a few tensors and some steps that change them.  In a run without a fault each tensor's
values and gradients are noted before and after each step.  Then the scene is set up anew for each
place at which a fault can come (see `_faults`), and run up to the fault.  Afterwards each tensor
must either have values and a gradient that belong together, as before or after some step, or
refuse to be differentiated, clearly: never values of one step with the gradient of another.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import Function, forward_ad
from minigrad.autograd.forward_ad import tangents
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.engine.engine import _running
from tests.support.engines import leaf
from tests.support.faults import KINDS, fault, numbers
from tests.support.slow import slow_but

AT_MOST = 40  # places a scene
REFUSALS = ("was interrupted by", "modified by an inplace operation", "a second time",
            "does not require grad", "is a view and its base or another view of its base")


class Doubled(Function):
    """Writes to its input."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.clone(), w)
        return x.mul_(w)

    @staticmethod
    def backward(ctx, g):
        before, w = ctx.saved_tensors
        return g * w, g * before


def leaves():
    return [leaf(torch, [[1.0, 2.0], [3.0, 4.0]]), leaf(torch, [[2.0, 0.5], [0.25, 1.5]])]


def writes():
    x, w = leaves()
    y = x * w
    return [x, w], [y], [y.t_, lambda: y.mul_(2), lambda: y.add_(w), lambda: y.mul_(w),
                         y.sigmoid_, lambda: y.copy_(w), lambda: y.sub_(1.5).div_(x)]


def writes_through_views():
    x, w = leaves()
    base = x * 1
    part = base[1:]
    turned = base.t()

    def assign():
        base[0] = w[1]

    def choose():
        base[base > 3.5] = 0.5

    return [x, w], [base, part, turned], [lambda: part.mul_(w[1:]), assign, lambda: turned.exp_(),
                                          choose, lambda: part.view(2)[0].fill_(3),
                                          lambda: part.t_()]


def writes_of_functions():
    x, w = leaves()
    y, base = x * 1, x * 2
    part = base[0]
    return [x, w], [y, base, part], [lambda: Doubled.apply(y, w),
                                     lambda: Doubled.apply(part, w[1])]


def plain_memory_gets_a_history():
    x, w = leaves()
    buffer = torch.zeros(2, 2, dtype=torch.float64)

    def assign():
        buffer[0] = x[1]

    return [x, w], [buffer], [lambda: buffer.copy_(w), assign, lambda: buffer.addcmul_(x, w)]


def saved_values_are_written():
    x, w = leaves()
    inner = x * 2
    outer = inner.exp()
    square = inner * w

    def unseen():
        with torch.no_grad():
            inner.mul_(3)

    return [x, w], [inner, outer, square], [lambda: outer.add_(1), unseen,
                                            lambda: inner.add_(1)]


def hooked():
    x, w = leaves()
    y = x * w
    y.register_hook(lambda g: g * 1)

    def keep():
        with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            y.exp_()

    return [x, w], [y], [y.retain_grad, lambda: y.mul_(w), keep]


def stepped(kind, **options):
    def make():
        x, w = leaves()
        product, square = x * w, w * w
        w.grad, x.grad = torch.ones_like(w), torch.ones_like(x)
        optimizer = kind([x, w], lr=0.5, **options)
        return [x, w], [product, square], [optimizer.step, optimizer.step]

    make.__name__ = kind.__name__
    return make


def out_and_set():
    x, w = leaves()
    kept, other = torch.ones(2, 2, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64) * 5
    product, again = kept * w, other * w
    return [x, w], [product, again], [lambda: torch.mul(other, 3, out=kept),
                                      lambda: other.set_(kept)]


def gradients_are_saved():
    """`.grad` is a factor of a graph, and a second pass adds to it."""
    x, w = leaves()
    (x * 2).sum().backward()
    product = x.grad * w
    return [w], [product], [lambda: (x * 3).sum().backward()]


SCENES = [writes, writes_through_views, writes_of_functions, plain_memory_gets_a_history,
          saved_values_are_written, hooked, stepped(torch.optim.SGD, momentum=0.5),
          stepped(torch.optim.Adam), out_and_set, gradients_are_saved]


def state_of(tensor, ends):
    """Return a tensor's values and its gradients for the leaves, or None where it refuses."""
    if not tensor.requires_grad:
        return tensor.tolist(), [None] * len(ends)
    weights = torch.tensor(np.arange(1.0, 1 + tensor.numel()).reshape(tuple(tensor.shape)),
                           dtype=tensor.dtype)
    try:
        slopes = torch.autograd.grad(tensor, ends, weights, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        assert any(text in str(error) for text in REFUSALS), error
        return None
    return tensor.tolist(), [None if g is None else g.tolist() for g in slopes]


def clean(make):
    """Return for each tensor of a scene its values and gradients before and after each step."""
    ends, tensors, steps = make()
    seen = [[state_of(t, ends) for t in tensors]]
    for step in steps:
        step()
        seen.append([state_of(t, ends) for t in tensors])
    return list(zip(*seen, strict=True))


def program_of(steps):
    """Return the function that takes all steps."""
    return lambda: [step() for step in steps]


def usable():
    """Fail if a fault left anything switched on or off, or a lock taken."""
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert (_state.observers.count, _state.saved_tensors_hooks.get()) == (0, ())
    assert (_state.transform.get(), _running.tasks) == (None, [])
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    y.mul_(2)
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [12.0, 12.0]


@pytest.mark.parametrize("kind", slow_but(1, KINDS))
@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_values_and_gradients_belong_together(make, kind):
    expected = clean(make)
    assert all(any(states) for states in expected)
    refused = 0
    for number in numbers(program_of(make()[2]), kind, AT_MOST):
        ends, tensors, steps = make()
        fault(program_of(steps), number, kind)
        for position, (tensor, states) in enumerate(zip(tensors, expected, strict=True)):
            state = state_of(tensor, ends)
            refused += state is None
            assert state is None or state in states, (
                f"tensor {position} after place {number}: {state}")
        usable()
    assert refused or make is gradients_are_saved, "no fault came in the middle of a write"


# --- What a refusal says, and what can be done about it ------------------------------------------


@pytest.fixture
def broken():
    """Two leaves, and a product whose write in place was interrupted by a hook."""
    x, w = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    y, packed = x * 2, []

    def pack(tensor):
        packed.append(tensor)
        if len(packed) == 3:  # base and exponent come before the write, the result after it
            raise KeyError("packing")
        return tensor

    with pytest.raises(KeyError), saved_tensors_hooks(pack, lambda tensor: tensor):
        y.pow_(w)
    return x, w, y


def test_the_refusal_names_operation_and_reason(broken):
    x, w, y = broken
    with pytest.raises(RuntimeError, match=r"by pow\w*_\(\) was interrupted by KeyError: the"):
        y.sum().backward()
    assert (x.grad, w.grad) == (None, None)


@pytest.mark.parametrize("which", [0, 1])
def test_no_input_of_the_write_counts_as_unused(broken, which):
    """With `allow_unused` an input that the graph had forgotten would get None."""
    y = broken[2]
    with pytest.raises(RuntimeError, match="interrupted"):
        torch.autograd.grad(y.sum(), broken[which], allow_unused=True)


def test_gradients_that_do_not_need_the_interrupted_tensor_are_right(broken):
    x, w, y = broken
    (by_w,) = torch.autograd.grad((w * w).sum() + y.detach().sum(), w)
    assert by_w.tolist() == [6.0, 8.0]
    y.detach_()
    (y * x).sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_a_view_and_its_base_refuse_both():
    base = leaf(torch, [1.0, 2.0, 3.0]) * 1
    part, other = base[1:], base[:1]

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), saved_tensors_hooks(stop, stop):
        part.exp_()
    for tensor in (base, part, other):
        with pytest.raises(RuntimeError, match="interrupted by KeyboardInterrupt"):
            tensor.sum().backward()


def test_a_forward_that_fails_after_its_write():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x, early):
            if early:
                raise ValueError("before")
            ctx.mark_dirty(x.mul_(2))
            raise ValueError("after")

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    with pytest.raises(ValueError, match="before"):
        Fails.apply(y, True)
    assert torch.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="after"):
        Fails.apply(y, False)
    assert torch.is_grad_enabled()
    with pytest.raises(RuntimeError, match=r"by Fails.forward was interrupted by ValueError"):
        y.sum().backward()


def test_tangents_refuse_too(monkeypatch):
    def stop(*_):
        raise MemoryError

    x = leaf(torch, [1.0, 2.0]).detach()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        with monkeypatch.context() as patched:
            patched.setattr(tangents, "pushed_forward", stop)
            with pytest.raises(MemoryError):
                dual.exp_()
        with pytest.raises(RuntimeError, match=r"exp_\(\) was interrupted by MemoryError"):
            forward_ad.unpack_dual(dual)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        assert forward_ad.unpack_dual(dual * 2).tangent.tolist() == [2.0, 2.0]


# --- A process that may have no more memory ------------------------------------------------------

SHORT_OF_MEMORY = """
import resource
import minigrad as torch

def size():
    for line in open("/proc/self/status"):
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024

LENGTH = 250_000  # two megabytes a tensor
leaves = [torch.ones(LENGTH, dtype=torch.float64, requires_grad=True) for _ in range(2)]
x, w = leaves

def step():
    y = x * w
    y.mul_(w)
    y[1:].sigmoid_()
    z = (y * x + w.tanh()).sum()
    z.backward()

step()
whole = [x.grad.clone() for x in leaves]
unlimited = resource.getrlimit(resource.RLIMIT_AS)
failed = passed = 0
for spare in range(0, 48, 3):
    for leaf in leaves:
        leaf.grad = None
    resource.setrlimit(resource.RLIMIT_AS, (size() + (spare << 20), unlimited[1]))
    try:
        step()
        passed += 1
    except MemoryError:
        failed += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
    assert torch.is_grad_enabled()
    for leaf, right in zip(leaves, whole):
        assert leaf.grad is None or bool((leaf.grad == right).all()), spare
for leaf in leaves:
    leaf.grad = None
step()
assert all(bool((leaf.grad == right).all()) for leaf, right in zip(leaves, whole))
print(failed, passed)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit and /proc are Linux's")
def test_steps_with_less_and_less_memory():
    environment = {**os.environ, "MINIGRAD_KEEP_MEMORY": "0"}
    done = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True,
                          timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    failed, passed = map(int, done.stdout.split())
    assert failed >= 3 and passed >= 3
