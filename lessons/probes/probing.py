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


# ------------------------------------------------------------ a second copy of op/ (04d, 04e)


@contextlib.contextmanager
def declared(copy, called, /, **body):
    """Declare an op in a copy for a block."""
    body.setdefault("public", False)
    try:
        yield type(called, (copy.module("op.declaration").Op,), body)
    finally:
        copy.REGISTRY.pop(called, None)


def leaf_of(copy, random, size=2, chance=0.6, dtype=np.float64):
    """Return a tensor that requires grad, or not."""
    values = np.array([random.uniform(-2, 2) for _ in range(size)], dtype)
    return copy.tensor(values, requires_grad=random.random() < chance)


def kept_by(node):
    """Return which names of a node are saved, and in which form."""
    if node is None:
        return None
    return [[name, type(getattr(node, slot, "unset")).__name__]
            for name, slot in node.value_slots.items()] + [
        [name, str(getattr(node, slot, "unset"))] for name, slot in node.arg_slots.items()]


def edges_of(node):
    """Return the edges of a node by the names of the nodes that they lead to."""
    return None if node is None else [[to and to.name(), number] for to, number in node.edges]


def outcome(copy, random, function, count=1, **more):
    """Apply a function to random leaves; return result, edges, saved names and gradients."""
    inputs = [leaf_of(copy, random, **more) for _ in range(count)]

    def program():
        result = function(*inputs)
        node = result.grad_fn
        found = [numbers(result), result.requires_grad, edges_of(node), kept_by(node),
                 None if node is None else [list(node.shape), str(node.dtype)]]
        if node is not None:
            result.sum().backward()
        return [*found, [numbers(each.grad) for each in inputs]]

    return tried(program, text=False)
