# Stage 03b, In front of the engine: backward and grad: the solution for minigrad/autograd/backward.py.
# Made by `minigrad dev build`. The lesson is lessons/03b_backward.md.

"""`backward` and `grad`: what the user asks of the engine, checked and prepared.

Source: https://docs.pytorch.org/docs/stable/autograd.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import backend_of
from ..device import place_on
from ..dtypes import FROM_NUMPY
from ..engine.engine import execute
from ..engine.frames import user_frame
from ..engine.gradient_views import mark_views
from ..engine.graph_task import GraphTask, on_tensors
from ..graph.node import Node
from ..shapes import numel
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor, method
from .batched_grads import BatchedTask, batched_gradients, swept, unbatched
from .graph import GradientEdge

TensorOrTensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[Any, Tensor]


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
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    goals = () if inputs is None else goals_of(inputs, "backward")
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_of_cycle()
    if inputs is None:
        execute(edges, grads, keep, create_graph)
        return
    ends = []
    for goal in goals:
        ends.append(edge_of(goal))  # first, as it gives a view of a changed base its node
        if isinstance(goal, Tensor):
            goal.retain_grad()
    execute(edges, grads, keep, create_graph, ends, accumulate=True)


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
) -> Any:
    """Return the gradients of the sum of `outputs` with respect to `inputs`; touches no `.grad`.

    They come as a tuple, and where `inputs` is a dictionary as one with the same keys.

    With `create_graph` the gradients can be differentiated again.  An input that the outputs do
    not depend on raises, unless `allow_unused` (None then) or `materialize_grads` (zeros then).

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (slope,) = grad(x * x, x, create_graph=True)
    >>> grad(slope, x)
    (tensor(2.),)
    """
    check_options(only_inputs, allow_unused, materialize_grads)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    names = tuple(inputs) if isinstance(inputs, dict) else None
    roots, goals = as_tuple(outputs), goals_of(inputs, "grad")
    given = matched(grad_outputs, len(roots))
    keep = create_graph if retain_graph is None else retain_graph
    find = of_batches if is_grads_batched else gradients
    found = find(roots, goals, given, keep, create_graph, allow_unused)
    if not (create_graph or is_grads_batched):
        mark_views(found)
    if materialize_grads:
        found = [zeros_for(goal, create_graph) if g is None else g
                 for g, goal in zip(found, goals, strict=True)]
    return tuple(found) if names is None else dict(zip(names, found, strict=True))


def gradients(roots: Any, goals: Any, given: Any, keep: bool, create_graph: bool,
              allow_unused: bool, kind: type[GraphTask] = GraphTask) -> list[Tensor | None]:
    """Return the gradients of `roots` by `goals`, with None for those that are missing."""
    grads = root_gradients(roots, given, create_graph)
    edges = root_edges(roots)
    for goal in goals:
        if isinstance(goal, Tensor) and not goal.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    places = [edge_of(g) for g in goals]
    found = None
    if create_graph or not (grads and isinstance(grads[0], Tensor)):
        found = swept(edges, grads, places, keep, create_graph, kind.batched)
    if found is None:
        found = execute(edges, grads, keep, create_graph, places, accumulate=False, kind=kind)
    for i, result in enumerate(found):
        if result is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior.")
    made: dict[int, Tensor] = {}  # an input that is named twice gets one gradient twice
    return [g if g is None or isinstance(g, Tensor) else made.setdefault(id(g), Tensor._plain(g))
            for g in found]


def of_batches(roots: Any, goals: Any, given: Any, keep: bool, create_graph: bool,
               allow_unused: bool) -> list[Tensor | None]:
    """Return what `gradients` does for each of a batch of gradients `given`, stacked."""
    level, size, batches = batched_gradients(roots, given, on_tensors(create_graph))
    return [None if g is None else unbatched(g, level, size) for g in gradients(
        roots, goals, batches, keep, create_graph, allow_unused, BatchedTask)]


def zeros_for(goal: Tensor | GradientEdge, create_graph: bool) -> Tensor:
    """Make the gradient of an input that has none."""
    if isinstance(goal, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a "
                           "GradientEdge")
    with place_on(goal._array):
        zeros = backend_of(goal._array).zeros(goal._array.shape, goal._array.dtype)
    return Tensor._plain(zeros).requires_grad_(create_graph)


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor, or edge, or a sequence or dictionary of them as a tuple."""
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    return tuple(tensors.values() if isinstance(tensors, dict) else tensors)


def goals_of(inputs: Any, function: str) -> tuple[Any, ...]:
    """Return the `inputs` of `backward` or `grad` as a tuple of at least one tensor or edge."""
    goals = as_tuple(inputs)
    if not goals:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    for goal in goals:
        if not isinstance(goal, (Tensor, GradientEdge)):
            raise RuntimeError("all inputs have to be Tensors or GradientEdges, but got "
                               f"{type(goal).__name__}")
    return goals


def edge_of(tensor: Tensor | GradientEdge) -> tuple[Node | None, int]:
    """Return where in the graph the gradient of a tensor arrives."""
    return tensor._edge() if isinstance(tensor, Tensor) else tensor[:2]


def matched(grads: Any, count: int) -> tuple[Any, ...]:
    """Return one gradient or None for each root."""
    if grads is None:
        return (None,) * count
    grads = as_tuple(grads)[:count]  # as in PyTorch, what is left over is not looked at
    if len(grads) != count:
        raise RuntimeError(f"got {count} tensors and {len(grads)} gradients")
    return grads


def root_gradients(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Any],
                   create_graph: bool) -> list[Any]:
    """Check the gradients that start the pass, and make those left out."""
    as_tensors = on_tensors(create_graph)
    made: list[Any] = []
    for i, (root, given) in enumerate(zip(roots, grads, strict=True)):
        if given is None and isinstance(root, Tensor) and not root.requires_grad:
            made.append(None)  # root_edges says what is wrong
            continue
        shape, dtype = appearance(root)
        if given is None:
            if numel(shape) != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            ones = ones_for(root)
            made.append(Tensor._plain(ones) if as_tensors else ones)
        elif not isinstance(given, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got "
                            f"{type(given).__name__}")
        elif given._array.shape != shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {Size(given._array.shape)} "
                f"and output[{i}] has a shape of {Size(shape)}.")
        else:
            if given._array.dtype != dtype:
                given = given.to(FROM_NUMPY[dtype])
            if given.requires_grad and not as_tensors:  # hooks are to see it as it is
                return root_gradients(roots, grads, True)
            made.append(given if as_tensors else given._array)
    return made


def ones_for(root: Tensor | GradientEdge) -> Any:
    """Make the array of ones with which a pass begins where no gradient was given."""
    like = root._array if isinstance(root, Tensor) else np.empty(*appearance(root))
    with place_on(like):
        return backend_of(like).ones_like(like)


def appearance(root: Tensor | GradientEdge) -> tuple[tuple[int, ...], Any]:
    """Return shape and array dtype of a tensor, or of the one that an edge stands for."""
    if isinstance(root, Tensor):
        return root._array.shape, root._array.dtype
    if not isinstance(root, GradientEdge):
        raise AssertionError(f"Expected output to be a torch.Tensor, but got {type(root).__name__}")
    return root.node.metadata_of(root.output_nr)


def root_edges(roots: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return where the pass starts; a root without history is an error."""
    edges = []
    for i, root in enumerate(roots):
        if isinstance(root, Tensor):
            if not root._requires_grad and root.grad_fn is None:
                raise RuntimeError(
                    f"element {i} of tensors does not require grad and does not have a grad_fn")
        elif not isinstance(root, GradientEdge):
            raise TypeError(f"element {i} of tensors has to be a Tensor, not {type(root).__name__}")
        edges.append(edge_of(root))
    return edges


def renamed(grad_tensors: Any, grad_variables: Any) -> Any:
    """Take gradients under the name that they had once, with a warning."""
    warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.",
                  FutureWarning, stacklevel=3)
    if grad_tensors is not None:
        raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both "
                           "passed to `backward()`. Please only use `grad_tensors`.")
    return grad_variables


def check_options(only_inputs: bool, allow_unused: bool | None, materialize_grads: bool) -> None:
    """Raise for options of `grad` that contradict each other, warn of one that is ignored."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). "
                      "To accumulate gradient for other parts of the graph, please use "
                      "torch.autograd.backward.", FutureWarning, stacklevel=3)


def warn_of_cycle() -> None:
    """Warn that a gradient with a history, kept in `.grad`, and its leaf hold each other."""
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a memory leak. We recommend using "
        "autograd.grad when creating the graph to avoid this. If you have to use this function, "
        "make sure to reset the .grad fields of your parameters to None after use to break the "
        "cycle and avoid the leak.", stacklevel=user_frame()[1])


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
