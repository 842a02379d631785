"""`backward` and `grad`: what the user asks of the engine, checked and prepared.

Source: https://docs.pytorch.org/docs/stable/autograd.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..backend import backend_of
from ..graph import Node
from ..op import F
from ..shapes import numel
from ..array_info import Size
from ..tensor import Tensor, method
from .engine import execute

TensorOrTensors = Tensor | Sequence[Tensor]

INPUT_TYPE = "all inputs have to be Tensors or GradientEdges, but got "


def backward(
    tensors: TensorOrTensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: TensorOrTensors | None = None,
) -> None:
    """Accumulate the gradients of the sum of `tensors` into the `.grad` of the graph's leaves.

    `grad_tensors` are the gradients with respect to `tensors`; a tensor of one element may leave
    its own out.  With `inputs` only these get a gradient.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> backward([(x * x).sum(), (3 * x).sum()]); x.grad
    tensor([5., 7.])
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.",
                      FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both "
                               "passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    roots = as_tuple(tensors)
    if inputs is not None:
        goals = as_tuple(inputs)
        if not goals:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        execute(edges, grads, keep, create_graph)
        return
    for goal in goals:
        if not isinstance(goal, Tensor):
            raise RuntimeError(INPUT_TYPE + type(goal).__name__)
        goal.retain_grad()
    execute(edges, grads, keep, create_graph, [goal._edge() for goal in goals], accumulate=True)


def grad(
    outputs: TensorOrTensors,
    inputs: TensorOrTensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of the sum of `outputs` with respect to `inputs`; touches no `.grad`.

    With `create_graph` the gradients can be differentiated again.  An input that the outputs do
    not depend on raises, unless `allow_unused` (None then) or `materialize_grads` (zeros then).

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (slope,) = grad(x * x, x, create_graph=True)
    >>> grad(slope, x)
    (tensor(2.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To "
                      "accumulate gradient for other parts of the graph, please use "
                      "torch.autograd.backward.", FutureWarning, stacklevel=2)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    roots, goals = as_tuple(outputs), as_tuple(inputs)
    if not goals:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for goal in goals:
        if not isinstance(goal, Tensor):
            raise RuntimeError(INPUT_TYPE + type(goal).__name__)
    given = matched(grad_outputs, len(roots))
    if is_grads_batched:
        return batched_grad(roots, goals, given, create_graph, allow_unused, materialize_grads)
    grads = root_gradients(roots, given, create_graph)
    edges = root_edges(roots)
    for goal in goals:
        if not goal.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = execute(edges, grads, keep, create_graph, [g._edge() for g in goals], accumulate=False)
    results = []
    for i, (goal, result) in enumerate(zip(goals, found, strict=True)):
        if result is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior.")
        if result is None and materialize_grads:
            zeros = backend_of(goal._array).zeros(goal._array.shape, goal._array.dtype)
            result = Tensor._plain(zeros).requires_grad_(create_graph)
        if result is not None and not isinstance(result, Tensor):
            result = Tensor._plain(result)
        results.append(result)
    return tuple(results)


def batched_grad(roots: Any, goals: Any, given: Any, create_graph: bool, allow_unused: bool,
                 materialize_grads: bool) -> tuple[Tensor | None, ...]:
    """Run `grad` once for each slice of the batched `grad_outputs` and stack the results."""
    size = next(g.shape[0] for g in given if g is not None)
    rows = [
        grad(roots, goals, [None if g is None else g[i] for g in given], True, create_graph,
             allow_unused=allow_unused, materialize_grads=materialize_grads)
        for i in range(size)
    ]
    return tuple(
        None if any(c is None for c in column) else F.stack(column)
        for column in zip(*rows, strict=True)
    )


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor or a sequence of them as a tuple."""
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def matched(grads: Any, count: int) -> tuple[Any, ...]:
    """Return one gradient or None for each root."""
    if grads is None:
        return (None,) * count
    grads = as_tuple(grads)
    if len(grads) != count:
        raise RuntimeError(f"got {count} tensors and {len(grads)} gradients")
    return grads


def root_gradients(roots: Sequence[Tensor], grads: Sequence[Any],
                   create_graph: bool) -> list[Any]:
    """Check the gradients that start the pass, and make those left out."""
    made: list[Any] = []
    for i, (root, given) in enumerate(zip(roots, grads, strict=True)):
        if given is None:
            if not root.requires_grad:
                made.append(None)  # root_edges says what is wrong
                continue
            if numel(root._array.shape) != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            ones = backend_of(root._array).ones_like(root._array)
            made.append(Tensor._plain(ones) if create_graph else ones)
        elif not isinstance(given, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got "
                            f"{type(given).__name__}")
        elif given._array.shape != root._array.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {Size(given._array.shape)} and "
                f"output[{i}] has a shape of {Size(root._array.shape)}.")
        else:
            if given._array.dtype != root._array.dtype:
                given = given.to(root.dtype)
            made.append(given if create_graph else given._array)
    return made


def root_edges(roots: Sequence[Tensor]) -> list[tuple[Node | None, int]]:
    """Return where the pass starts; a root without history is an error."""
    edges = []
    for i, root in enumerate(roots):
        if not isinstance(root, Tensor):
            raise TypeError(f"element {i} of tensors has to be a Tensor, not {type(root).__name__}")
        if not root.requires_grad:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(root._edge())
    return edges


@method("backward")
def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: TensorOrTensors | None = None,
) -> None:
    """Accumulate the gradients of this tensor into the `.grad` of the graph's leaves.

    `gradient` is the gradient with respect to the tensor and may be left out for one element.
    `retain_graph` keeps what the nodes saved, for another backward; `create_graph` records the
    backward pass itself; with `inputs` only these get a gradient.

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (x * x).backward(); x.grad
    tensor(6.)
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)
