"""What the probes of several stages begin with; a graded process finds it beside them."""

import contextlib

import numpy as np

import minigrad as torch


class Wrong(Exception):
    """Raised on purpose."""


def tried(program, text=True):
    """Return what a program returns, or what it raises: with its text where tasks give it."""
    try:
        return program()
    except Exception as error:
        return ["raised", type(error).__name__, *([str(error)] if text else [])]


def array(random, shape, dtype=np.float64):
    """Return a random array, which owns its memory."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.uniform(-2, 2) for _ in range(size)], dtype).reshape(shape).copy()


def tensor(random, shape=(2,), grad=False, dtype=np.float64):
    """Return a random leaf."""
    made = torch.Tensor._plain(array(random, shape, dtype))
    made._requires_grad = grad
    return made


def numbers(tensor):
    """Return a copy of a tensor's numbers; None of None."""
    return None if tensor is None else tensor.detach().numpy().copy()


@contextlib.contextmanager
def replaced(place, **others):
    """Let functions of a module be others for a block."""
    before = {name: getattr(place, name) for name in others}
    for name, other in others.items():
        setattr(place, name, other)
    try:
        yield
    finally:
        for name, other in before.items():
            setattr(place, name, other)
