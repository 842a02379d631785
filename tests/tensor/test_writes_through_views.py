"""Second gradients of random writes in place through views, kept or dropped, beside PyTorch's.

`WRITES=34000 pytest tests/tensor/test_writes_through_views.py` takes half a minute.
"""

import math
import os
import random
from typing import Any

import pytest

import minigrad

torch = pytest.importorskip("torch", reason="held beside PyTorch")

PROGRAMS = int(os.environ.get("WRITES", "600"))

ALONE = ["tanh", "exp", "sqrt", "sigmoid", "reciprocal", "exp2", "sin", "square", "abs", "relu",
         "neg", "log1p"]
WITH_ANOTHER = ["hypot", "mul", "div", "add", "sub", "pow", "atan2"]
VIEWS = [
    lambda t: t.view(-1), lambda t: t.t() if t.dim() == 2 else t[None], lambda t: t[0],
    lambda t: t[..., 1:], lambda t: t.unsqueeze(0), lambda t: t.transpose(0, -1),
    lambda t: t[::2], lambda t: t.diagonal() if t.dim() > 1 else t, lambda t: t.expand_as(t),
    lambda t: t.narrow(0, 0, 1),
]


def tanh_of(library: Any) -> Any:
    """Return a Function that writes to its input and saves what it wrote."""

    class Tanh(library.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.tanh_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * (1 - y * y)

    return Tanh


def gradients(library: Any, write: Any, seed: int) -> list[Any]:
    """Return first and second gradients of a random program, the same on each library."""
    rng = random.Random(seed)
    a = library.tensor([[1.17, 0.96, 1.73], [0.5, 0.8, 1.2]], dtype=library.float64,
                       requires_grad=True)
    b = library.tensor(0.7, dtype=library.float64, requires_grad=True)
    pool, keeps = [a * 1], rng.random() < 0.5
    for _ in range(rng.randint(2, 6)):
        t, kind = rng.choice(pool), rng.random()
        if kind < 0.35:
            for _ in range(rng.randint(0, 2)):
                t = rng.choice(VIEWS)(t)
            name = rng.choice(ALONE + WITH_ANOTHER)
            getattr(t, name + "_")(*([b] if name in WITH_ANOTHER else []))
            if keeps and rng.random() < 0.5:
                pool.append(t)
        elif kind < 0.5:
            pool.append(rng.choice(VIEWS)(t))
        elif kind < 0.6:
            pool.append(t * 1)
        elif kind < 0.7:
            pool.append(t.sigmoid() * b)
        elif kind < 0.8:
            write.apply(rng.choice(VIEWS)(t))
        elif kind < 0.9 and len(pool) > 1:
            pool.pop(rng.randrange(len(pool)))
        else:
            t.mul_(rng.choice(pool).sum())
    del t
    x = rng.choice(pool)
    grad = library.autograd.grad
    first = grad((x * x).sum(), [a, b], create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in first if g is not None)
    second = grad(total, [a, b], allow_unused=True) if getattr(total, "requires_grad", 0) else ()
    return [None if g is None else g.flatten().tolist() for g in (*first, *second)]


def outcome(library: Any, write: Any, seed: int) -> list[Any] | str:
    try:
        return gradients(library, write, seed)
    except (IndexError, RuntimeError) as error:
        return type(error).__name__


def alike(found: list[float] | None, wanted: list[float] | None) -> bool:
    """Compare gradients; None is as good as zeros, and numbers beyond 1e9 are not looked at."""
    found, wanted = (found or [0.0] * len(wanted or [])), (wanted or [0.0] * len(found or []))
    return all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-6) or (x != x and y != y)
               for x, y in zip(found, wanted, strict=True))


def test_second_gradients_are_pytorchs():
    ours, theirs = tanh_of(minigrad), tanh_of(torch)
    compared = 0
    for seed in range(PROGRAMS):
        found, wanted = outcome(minigrad, ours, seed), outcome(torch, theirs, seed)
        if isinstance(found, str) or isinstance(wanted, str):
            assert found == wanted, f"seed {seed}"
            continue
        if any(abs(v) > 1e9 for g in wanted for v in g or []):
            continue
        assert len(found) == len(wanted) and all(map(alike, found, wanted)), (
            f"seed {seed}: {found}, PyTorch {wanted}")
        compared += 1
    assert compared > PROGRAMS // 3
