"""What a program asks of NumPy and of warnings doesn't reach operations: PyTorch is always silent.

See NOTE [No warnings for infinities and NaN] in minigrad/backend/float_errors.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import optim, tensor
from minigrad.autograd import Function, forward_ad, grad
from minigrad.backend import float_errors, threads
from minigrad.tensor.tensor import Tensor
from tests.support.gathered import check_all
from tests.support.samples import OPS, Sample, cotangents_of, outputs_of, samples
from tests.support.slow import slow_but_one_in

#: Values at which an elementwise function overflows, divides by zero or has no result.
HOSTILE = (0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, -0.0, -1.0, 1000.0, 1.0)
BATCHES = [OPS[i::12] for i in range(12)]


@contextmanager
def strict() -> Iterator[None]:
    """Turn every message of NumPy into an error, in both ways that a program has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with np.errstate(all="raise"):
            yield


@contextmanager
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def hostile(sample: Sample) -> Sample:
    """Return the call with hostile values in all floating tensors, in float32."""
    def change(a: Any) -> Any:
        if a.dtype.kind != "f":
            return a.copy()
        return np.resize(np.roll(HOSTILE, -(a.size % 7)), a.shape).astype(np.float32)

    return sample.with_arrays(change)


def found_by(sample: Sample) -> list[str]:
    """Return what a program sees of a call: results, gradients and tangents, or errors."""
    def results() -> list[Any]:
        return outputs_of(sample.run())

    def gradients() -> list[Any]:
        return sample.gradients()

    def seconds() -> list[Any]:
        firsts = [g for g in sample.gradients(create_graph=True) if g is not None
                  and g.requires_grad]
        return list(grad(firsts, sample.leaves(), cotangents_of(firsts),
                         allow_unused=True)) if firsts else []

    def tangents() -> list[Any]:
        with forward_ad.dual_level():
            duals: dict[int, Tensor] = {}
            known = {id(t) for t in sample.leaves()}
            moved = sample.replaced(lambda t: duals.setdefault(id(t), forward_ad.make_dual(
                t.detach(), t.detach() + 1)) if id(t) in known else t)
            return [forward_ad.unpack_dual(o).tangent for o in outputs_of(moved.run())]

    return [seen(see) for see in (results, gradients, seconds, tangents)]


def seen(see: Any) -> str:
    try:
        return " ".join(f"{t!r} {t._array.tobytes().hex()}" if isinstance(t, Tensor) else repr(t)
                        for t in see())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(sample: Sample) -> None:
    with silent():
        wanted = found_by(sample)
    with strict():
        found = found_by(sample)
    assert found == wanted, sample.label
    assert not [each for each in found if each.startswith(("FloatingPointError", "RuntimeWarning"))]


@pytest.mark.filterwarnings("ignore")  # of arguments that samples have
@pytest.mark.parametrize("ops", slow_but_one_in(12, BATCHES), ids=[
    f"{batch[0].__name__} to {batch[-1].__name__}" for batch in BATCHES])
def test_no_setting_of_numpy_reaches_an_op(ops):
    check_all(lambda op: check_all(check, [
        case for sample in samples(op) for case in (sample, hostile(sample))]), ops)


# ------------------------------------------------------------------------ outside of single ops

def small() -> Tensor:
    return tensor([0.0, -1.0, 1e30, float("nan")], requires_grad=True)


def by_a_network() -> Any:
    """Overflow in a forward pass, a backward pass and the steps of every optimizer."""
    made = []
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "Rprop"):
        layer = minigrad.nn.Linear(2, 1)
        layer.weight.data[...] = 3e38
        optimizer = getattr(optim, name)(layer.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            (layer(tensor([[1e30, -1.0]])) ** 2).sum().backward()
            optimizer.step()
        made.append(layer.weight.tolist())
    return made


def by_accumulation() -> Any:
    """Overflow where gradients meet: in a buffer, in `.grad`, and in a cast to float32."""
    x = small()
    for _ in range(2):
        (x * 3e38 + x * 3e38).sum().backward()
    y = tensor([1.0], requires_grad=True)
    (y.double() * 1e300).backward()
    return x.grad, y.grad


def by_rows() -> Any:
    """Overflow in a jacobian, of which every row repeats one planned pass, and in a hessian."""
    return (minigrad.autograd.functional.jacobian(lambda x: x.log() / x, small()),
            minigrad.func.jacrev(minigrad.func.jacfwd(lambda x: (x.exp() * x).sum()))(small()))


def by_a_batch() -> Any:
    return minigrad.vmap(lambda x: (x / 0 + x.exp()).cumsum(0))(small().reshape(2, 2))


def by_a_program() -> Any:
    """Overflow in a compiled function."""
    x = small()
    y = minigrad.compile(lambda x: (x.log() * 1e38 + x.exp()).tanh())(x)
    return y, *grad(y.sum(), x)


def in_place() -> Any:
    x = small().detach()
    x *= 1e30
    x.div_(0).add_(x)
    x[1:] -= x[1:]
    return x, minigrad.mul(x, 1e38, out=minigrad.empty(4)), tensor([1e300]).to(minigrad.int32)


def on_paper() -> Any:
    return repr(small()), repr(small() * 1e-40), f"{tensor(np.inf)} {tensor(1e-45).item()}"


PLACES = (by_a_network, by_accumulation, by_rows, by_a_batch, by_a_program, in_place, on_paper)


def text_of(place: Any) -> str:
    minigrad.manual_seed(0)
    return repr(place())


@pytest.mark.parametrize("place", PLACES)
def test_no_setting_of_numpy_reaches_the_work_of_a_program(place):
    with silent():
        wanted = text_of(place)
    found = []
    with strict():
        found.append(text_of(place))

    def elsewhere() -> None:  # a new thread starts with NumPy's settings
        with strict():
            found.append(text_of(place))

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [wanted, wanted]


def test_threads_of_the_pool_ignore_errors_too():
    before = threads.get_num_threads()
    minigrad.set_num_threads(3)
    try:
        with strict():
            found = threads.for_each(float_errors.ignoring_float_errors(
                lambda i: np.array([1.0]) / np.array([i * 0.0])), range(16))
            (big := minigrad.full((64, 3, 64, 64), 3e38)).sum()
            minigrad.nn.functional.avg_pool2d(big, 3)
    finally:
        minigrad.set_num_threads(before)
    assert len(found) == 16


# ------------------------------------------------------------------------ the program's own NumPy

class Own(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        SEEN.append(np.geterr()["divide"])
        return x * 1

    @staticmethod
    def backward(ctx, g):
        SEEN.append(np.geterr()["divide"])
        return g


SEEN: list[str] = []


def note(*given: Any) -> None:
    SEEN.append(np.geterr()["divide"])


def unpack(packed: Any) -> Any:
    note()
    return packed


@pytest.mark.parametrize("setting", ["raise", "ignore", "print", None])
def test_user_code_in_a_pass_gets_its_own_settings(setting):
    SEEN.clear()
    with np.errstate(divide=setting):
        wanted = np.geterr()["divide"]
        x = tensor([1.0], requires_grad=True)
        x.register_hook(note)
        x.register_post_accumulate_grad_hook(note)
        y = Own.apply(x)
        y.register_hook(note)
        y.grad_fn.register_hook(note)
        y.grad_fn.register_prehook(note)
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
            z = y * y
        z.backward()
        assert np.geterr()["divide"] == wanted
    assert len(SEEN) >= 8
    assert {*SEEN} == {wanted}


def test_a_pass_that_fails_gives_the_settings_back():
    def fail(g):
        raise LookupError("no")

    x = tensor([1.0], requires_grad=True)
    x.register_hook(fail)
    with np.errstate(all="raise"):
        with pytest.raises(LookupError):
            (x / 0).sum().backward()
        with pytest.raises(RuntimeError):
            x @ tensor([1.0, 2.0])
        assert {*np.geterr().values()} == {"raise"}
        with pytest.raises(FloatingPointError):
            np.array(1.0) / 0.0


def test_importing_the_package_leaves_warnings_alone():
    assert not [each for each in warnings.filters if "minigrad" in str(each[3])]


def test_another_numpy_is_set_by_its_public_function():
    begin, end, make = float_errors.access_to_settings(None)
    with np.errstate(all="raise"):
        before = begin(make(**dict.fromkeys(float_errors.DEFAULTS, "ignore")))
        assert {*np.geterr().values()} == {"ignore"}
        assert {*float_errors.settings_in(before).values()} == {"raise"}
        end(before)
        assert {*np.geterr().values()} == {"raise"}
