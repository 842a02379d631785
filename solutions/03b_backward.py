# Stage 03b, In front of the engine: backward and grad: the solution for minigrad/autograd/backward.py.
# Made by `minigrad dev build`. The lesson is lessons/03b_backward.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""`backward` and `grad`: check the arguments and run the engine.

Source: https://docs.pytorch.org/docs/stable/autograd.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _state, on_demand
from ..backend import BACKENDS, backend_of
from ..device import place_on
from ..dtypes import FROM_NUMPY
from ..engine.engine import execute
from ..engine.gradient_views import mark_views
from ..engine.graph_task import GraphTask
from ..engine.input_buffer import on_tensors
from ..frames import type_in_error, warn_user
from ..graph.node import Node
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor, method
from .graph import GradientEdge

GradTensors = Tensor | Sequence[Tensor | None] | None
TensorOrTensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[Any, Tensor]


#: Imported on demand, because it loads all batching rules and a plain pass doesn't need them.
batched_grads = on_demand.later("autograd.batched_grads")


#: Error texts; `.format` fills in the fields.
TOO_FEW = "got {tensors} tensors and {gradients} gradients"
NO_HISTORY = "element {} of tensors does not require grad and does not have a grad_fn"
IN_VMAP = ("backward() called inside a functorch transform. This is not supported, please use "
           "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
           "transforms.")
NOT_A_ROOT = "element {} of tensors has to be a Tensor, not {}"
NOT_A_GRADIENT = "gradients can be either Tensors or None, but got {}"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NOT_REQUIRED = "One of the differentiated Tensors does not require grad"
UNUSED = ("The differentiated Tensor at index {} appears to not have been used in the graph. "
          "Set allow_unused=True if this is the desired behavior.")


def backward(tensors: TensorOrTensors, grad_tensors: GradTensors = None,
             retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: TensorOrTensors | None = None) -> None:
    """Accumulate the gradients of the sum of `tensors` into the `.grad` of the graph's leaves.

    `grad_tensors` are the gradients with respect to `tensors`; you may leave out the gradient of a
    tensor with one element.  If you pass `inputs`, only these get a gradient.  `grad_variables` is
    an old name of `grad_tensors`.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> backward([(x * x).sum(), (3 * x).sum()]); x.grad
    tensor([5., 7.])
    """
    if _state.randomness.get():
        raise RuntimeError(IN_VMAP)
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    if create_graph:
        warn_of_cycle()
    ends = None if inputs is None else end_edges(inputs)
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)


def grad(
    outputs: TensorOrTensors,
    inputs: TensorOrTensors,
    grad_outputs: GradTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of `outputs` with respect to `inputs`; `.grad` is unchanged.

    The result is a tuple, or a dictionary with the same keys if `inputs` is one.

    With `create_graph` you can differentiate the gradients again.  If the outputs do not depend on
    an input, `grad` raises, or returns `None` with `allow_unused`, or zeros with
    `materialize_grads`.

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (slope,) = grad(x * x, x, create_graph=True)
    >>> grad(slope, x)
    (tensor(2.),)
    """
    check_options(only_inputs, allow_unused, materialize_grads)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    names = tuple(inputs) if isinstance(inputs, dict) else None
    roots, inputs = as_tuple(outputs), inputs_of(inputs, "grad")
    grad_outputs = matched(grad_outputs, len(roots))
    retain_graph = create_graph if retain_graph is None else retain_graph
    compute = of_batches if is_grads_batched else gradients
    grads = compute(roots, inputs, grad_outputs, retain_graph, create_graph, allow_unused)
    if not (create_graph or is_grads_batched):
        mark_views(grads)
    if materialize_grads:
        grads = [zeros_for(input, create_graph) if g is None else g
                 for g, input in zip(grads, inputs, strict=True)]
    result: Any = tuple(grads) if names is None else dict(zip(names, grads, strict=True))
    return result


def gradients(roots: Any, inputs: Any, grad_outputs: Any, retain_graph: bool, create_graph: bool,
              allow_unused: bool, task_class: type[GraphTask] | None = None) -> list[Tensor | None]:
    """Return the gradients of `roots` with respect to `inputs`, with `None` for missing ones."""
    root_grads = root_gradients(roots, grad_outputs, create_graph)
    edges = root_edges(roots)
    for input in inputs:
        if isinstance(input, Tensor) and not input.requires_grad:
            raise RuntimeError(NOT_REQUIRED)
    input_edges = [edge_of(input) for input in inputs]
    grads = captured(edges, root_grads, retain_graph, create_graph, input_edges, task_class)
    for i, grad in enumerate(grads):
        if grad is None and not allow_unused:
            raise RuntimeError(UNUSED.format(i))
    tensors: dict[int, Tensor] = {}  # an input that is listed twice gets the same gradient twice
    return [g if g is None or isinstance(g, Tensor) else
            tensors.setdefault(id(g), Tensor._plain(g)) for g in grads]


def captured(edges: list[Any], root_grads: list[Any], retain_graph: bool, create_graph: bool,
             input_edges: list[Any], task_class: type[GraphTask] | None) -> list[Any]:
    """Run a pass that fills no `.grad`, and return the gradients that arrive at `input_edges`.

    These are arrays, or Tensors if the pass runs on tensors, or `None` where no gradient arrived.
    """
    return execute(edges, root_grads, retain_graph, create_graph, input_edges,
                   accumulate=False, task_class=task_class)


def of_batches(roots: Any, inputs: Any, grad_outputs: Any, retain_graph: bool, create_graph: bool,
               allow_unused: bool) -> list[Tensor | None]:
    """Return the stacked results of `gradients` for each gradient in the batch `grad_outputs`."""
    level, size, batches = batched_grads.batched_gradients(roots, grad_outputs,
                                                           on_tensors(create_graph))
    return [None if g is None else batched_grads.unbatched(g, level, size) for g in gradients(
        roots, inputs, batches, retain_graph, create_graph, allow_unused,
        batched_grads.BatchedTask)]


def zeros_for(input: Tensor | GradientEdge, create_graph: bool) -> Tensor:
    """Return zeros as the gradient of an unused input; they require grad if `create_graph`."""
    if isinstance(input, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a "
                           "GradientEdge")
    with place_on(input._array):
        zeros = backend_of(input._array).zeros(input._array.shape, input._array.dtype)
    return Tensor._plain(zeros).requires_grad_(create_graph)


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return a tensor, an edge, or a sequence or dictionary of them as a tuple."""
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    return tuple(tensors.values() if isinstance(tensors, dict) else tensors)


def inputs_of(inputs: Any, function: str) -> tuple[Any, ...]:
    """Return the `inputs` of `backward` or `grad` as a non-empty tuple of tensors or edges."""
    inputs = as_tuple(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    for input in inputs:
        if not isinstance(input, (Tensor, GradientEdge)):
            raise RuntimeError("all inputs have to be Tensors or GradientEdges, but got "
                               f"{type_in_error(input)}")
    return inputs


def edge_of(tensor: Tensor | GradientEdge) -> tuple[Node | None, int]:
    """Return the edge on which the gradient of a tensor arrives."""
    return tensor._edge() if isinstance(tensor, Tensor) else tensor[:2]


def end_edges(inputs: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return the edges at which `backward` ends, and let these tensors retain their gradients."""
    edges = []
    for input in inputs:
        edges.append(edge_of(input))  # first, since it gives a view of a changed base its node
        if isinstance(input, Tensor):
            input.retain_grad()
    return edges


def matched(grads: Any, count: int) -> tuple[Any, ...]:
    """Return a gradient or `None` for each root."""
    if grads is None:
        return (None,) * count
    grads = as_tuple(grads)[:count]  # like PyTorch, ignore surplus gradients
    if len(grads) != count:
        raise RuntimeError(TOO_FEW.format(tensors=count, gradients=len(grads)))
    return grads


def root_gradients(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Any],
                   create_graph: bool) -> list[Any]:
    """Check the gradients that start the pass, and create the ones that were left out.

    They are tensors if the pass runs on tensors, or if a given gradient requires grad, since hooks
    must see its history.
    """
    as_tensors = on_tensors(create_graph)
    tensors = []
    for i, (root, grad) in enumerate(zip(roots, grads, strict=True)):
        tensor = ones_for(root) if grad is None else checked(grad, root, i)
        as_tensors = as_tensors or (tensor is not None and tensor.requires_grad)
        tensors.append(tensor)
    return tensors if as_tensors else [None if t is None else t._array for t in tensors]


def ones_for(root: Tensor | GradientEdge) -> Tensor | None:
    """Return ones as the gradient of a one-element root, or `None` if it does not require grad."""
    if isinstance(root, Tensor) and not root.requires_grad:
        return None  # root_edges reports the error
    like = root._array if isinstance(root, Tensor) else array_like(root)
    if like.size != 1:
        raise RuntimeError(NOT_SCALAR)
    return Tensor._plain(BACKENDS[type(like)].ones_like(like))


def array_like(root: Tensor | GradientEdge) -> Any:
    """Return an array with a root's shape and dtype and arbitrary values."""
    return root._array if isinstance(root, Tensor) else np.empty(*appearance(root))


def checked(grad: Any, root: Tensor | GradientEdge, i: int) -> Tensor:
    """Check the gradient of root number `i` and return it in the root's dtype."""
    if not isinstance(grad, Tensor):
        raise TypeError(NOT_A_GRADIENT.format(type_in_error(grad)))
    shape, dtype = appearance(root)
    if grad._array.shape != shape:
        raise mismatch(i, grad._array.shape, shape)
    return grad if grad._array.dtype == dtype else grad.to(FROM_NUMPY[dtype])


def mismatch(i: int, grad_shape: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    """Return the error for a gradient whose shape differs from root number `i`."""
    return RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {Size(grad_shape)} "
                        f"and output[{i}] has a shape of {Size(shape)}.")


def appearance(root: Tensor | GradientEdge) -> tuple[tuple[int, ...], Any]:
    """Return the shape and array dtype of a tensor, or of the tensor that an edge belongs to."""
    if isinstance(root, Tensor):
        return root._array.shape, root._array.dtype
    if not isinstance(root, GradientEdge):
        raise AssertionError(f"Expected output to be a torch.Tensor, but got {type_in_error(root)}")
    return root.node.metadata_of(root.output_nr)


def root_edges(roots: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return the edges at which the pass starts; raise if a root has no history."""
    edges = []
    for i, root in enumerate(roots):
        if not isinstance(root, (Tensor, GradientEdge)):
            raise TypeError(NOT_A_ROOT.format(i, type_in_error(root)))
        edges.append(edge_of(root))
        if edges[i][0] is None:
            raise RuntimeError(NO_HISTORY.format(i))
    return edges


def renamed(grad_tensors: Any, grad_variables: Any) -> Any:
    """Accept gradients under their deprecated name, with a warning."""
    warn_user("`grad_variables` is deprecated. Use `grad_tensors` instead.",
              FutureWarning)
    if grad_tensors is not None:
        raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both "
                           "passed to `backward()`. Please only use `grad_tensors`.")
    return grad_variables


def check_options(only_inputs: bool, allow_unused: bool | None, materialize_grads: bool) -> None:
    """Raise if options of `grad` contradict each other; warn about an ignored one."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warn_user("only_inputs argument is deprecated and is ignored now (defaults to True). "
                  "To accumulate gradient for other parts of the graph, please use "
                  "torch.autograd.backward.", FutureWarning)


def warn_of_cycle() -> None:
    """Warn that a gradient with a history in `.grad` forms a reference cycle with its leaf."""
    warn_user(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a memory leak. We recommend using "
        "autograd.grad when creating the graph to avoid this. If you have to use this function, "
        "make sure to reset the .grad fields of your parameters to None after use to break the "
        "cycle and avoid the leak.")


@method("backward")
def tensor_backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                    create_graph: bool = False, inputs: TensorOrTensors | None = None) -> None:
    """Accumulate the gradients of this tensor into the `.grad` of the graph's leaves.

    `gradient` is the gradient with respect to the tensor; you may leave it out if the tensor has
    one element. `retain_graph` keeps what the nodes saved, for another backward. `create_graph`
    records the backward pass itself. If you pass `inputs`, only these get a gradient.

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (x * x).backward(); x.grad
    tensor(6.)
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)
