# Stage 03b, In front of the engine: backward and grad: the exercise for minigrad/autograd/backward.py.
# Made by `minigrad dev build`. The lesson is lessons/03b_backward.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03b
# docs/en/glossary.md explains the names used inside the package.

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
    # 03b.5 backward (about 20 lines)
    # Run the engine from `tensors` to fill the `.grad` of all leaves, or only of
    # `inputs`. Here a is 2., b is 5. and c is a * b.
    #   backward(c * 3)                 -> a.grad is 15., b.grad is 6.
    #   backward(c * 3, inputs=[a, c])  -> a.grad is 15., c.grad is 3., b.grad stays None
    # Mind:
    # - A `retain_graph` of `None` means the same as `create_graph`. An explicit True or
    #   False wins.
    # - With `create_graph`, call `warn_of_cycle()`, but only after all arguments have
    #   been checked.
    # - A result like c has a `.grad` afterwards only if `end_edges` called
    #   `c.retain_grad()`.
    # Use: `renamed`, `inputs_of`; `execute(edges, grads, retain_graph, create_graph,
    # ends)`, and an `ends` of `None` means all leaves.
    raise NotImplementedError("03b.5 backward is yours to write")


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
    # 03b.6 grad (about 15 lines)
    # Return the gradients of the sum of `outputs` with respect to `inputs`, as a tuple.
    # Here a is 2. and b is 5.
    #   grad(a * b, a)                               -> (tensor(5.),)
    #   grad(a * b, {"b": b, "a": a})                -> {"b": tensor(2.), "a": tensor(5.)}
    #   grad(a * 3, (a, b), materialize_grads=True)  -> (tensor(3.), tensor(0.))
    # Mind:
    # - Call `check_options` first, with the options as they were passed.
    # - An `allow_unused` of `None` means the same as `materialize_grads`, and
    #   `retain_graph` works as in 03b.5.
    # - With `is_grads_batched`, call `of_batches` instead of `gradients`, with the same
    #   arguments.
    # Use: `zeros_for`, given below.
    raise NotImplementedError("03b.6 grad is yours to write")


def gradients(roots: Any, inputs: Any, grad_outputs: Any, retain_graph: bool, create_graph: bool,
              allow_unused: bool, task_class: type[GraphTask] | None = None) -> list[Tensor | None]:
    """Return the gradients of `roots` with respect to `inputs`, with `None` for missing ones."""
    # 03b.4 Gradients for inputs (about 13 lines)
    # Return a list with the gradients of the sum of `roots` with respect to each input,
    # as Tensors. If the roots don't depend on an input, its gradient is `None`. Here a is
    # 2. and b is 5.
    #   gradients([a * b], (b, a), [None], False, False, False)   -> [2., 5.], as Tensors
    #   gradients([a * 3], (b, a), [None], False, False, True)    -> [None, 3.]
    #   the same without allow_unused        -> RuntimeError with UNUSED, for index 0
    #   gradients([a * b], (torch.ones(1),), ...)        -> RuntimeError with NOT_REQUIRED
    # Mind:
    # - An input may be a GradientEdge, or a result in the middle of the graph.
    # - After NOT_REQUIRED, the graph must still be usable.
    # Use: `captured`, given below, runs the pass, of class `task_class`;
    # `Tensor._plain(array)`.
    raise NotImplementedError("03b.4 Gradients for inputs is yours to write")


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
    # 03b.1 One tensor or many (about 9 lines)
    # Callers pass one tensor, several, or a dictionary of them. `as_tuple` always returns
    # a tuple. `matched` does the same for the gradients of `count` tensors, and checks
    # their number.
    #   as_tuple(x)                 -> (x,), also if x is a GradientEdge
    #   as_tuple([y, x, y])         -> (y, x, y), like any other iterable
    #   as_tuple({"x": x, "y": y})  -> (x, y)
    #   matched(None, 3)            -> (None, None, None)
    #   matched([g, None, h], 2)    -> (g, None): like PyTorch, it ignores the rest
    #   matched([g], 2)             -> RuntimeError "got 2 tensors and 1 gradients"
    # Use: `TOO_FEW`, the text of the error.
    raise NotImplementedError("03b.1 One tensor or many is yours to write")


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
    # 03b.2 Roots and their gradients (about 15 lines)
    # A pass starts at roots, which are Tensors or GradientEdges. `edge_of` returns the
    # pair (node, number) at which a gradient arrives, and `root_edges` returns a list of
    # these pairs. `checked` returns the gradient that was passed for root number `i`.
    #   y = x * 2, z = x.unbind()[1]               root_edges([y, x, z])
    #                                    -> [(y.grad_fn, 0), x._edge(), (z.grad_fn, 1)]
    #   root_edges([y, torch.ones(1)])   -> RuntimeError with NO_HISTORY, for element 1
    #   root_edges([y, 2.0])             -> TypeError with NOT_A_ROOT
    #   checked(2.0, y, 0)               -> TypeError with NOT_A_GRADIENT
    # Mind:
    # - A leaf that requires grad is a root like any other.
    # - If a gradient doesn't have exactly the shape of its root, raise `mismatch(i, its
    #   shape, root's shape)`.
    # - If only the dtype differs, convert the gradient without losing its history.
    # Use: `appearance(root)`; `tensor._edge()`; `FROM_NUMPY[dtype]`.
    raise NotImplementedError("03b.2 Roots and their gradients is yours to write")


def end_edges(inputs: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return the edges at which `backward` ends, and let these tensors retain their gradients."""
    # 03b.5 backward: see the task at `backward`.
    raise NotImplementedError("03b.5 backward is yours to write")


def matched(grads: Any, count: int) -> tuple[Any, ...]:
    """Return a gradient or `None` for each root."""
    # 03b.1 One tensor or many: see the task at `as_tuple`.
    raise NotImplementedError("03b.1 One tensor or many is yours to write")


def root_gradients(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Any],
                   create_graph: bool) -> list[Any]:
    """Check the gradients that start the pass, and create the ones that were left out.

    They are tensors if the pass runs on tensors, or if a given gradient requires grad, since hooks
    must see its history.
    """
    # 03b.3 The initial gradients (about 13 lines)
    # Return a list with the gradient that starts the pass at each root. For each root,
    # `grads` holds a Tensor, which is `checked`, or `None`. For `None`, `ones_for(root)`
    # returns the gradient. Here y is x * 2 and x is [1., 2.].
    #   root_gradients([y.sum(), y], [None, tensor([3.0, 4.0])], False)
    #                              -> [array(1.), array([3., 4.])]
    #   the same with True         -> [tensor(1.), tensor([3., 4.])]
    #   ones_for(y)                -> RuntimeError with NOT_SCALAR
    #   ones_for(torch.ones(3))    -> None, because it doesn't require grad; root_edges reports it
    # Mind:
    # - Only a root with one element may leave its gradient out, however many dimensions
    #   it has.
    # - A `None` from `ones_for` stays `None`.
    # - Return Tensors if `on_tensors(create_graph)`, or if a gradient that was passed
    #   requires grad. Otherwise, return arrays.
    # Use: `array_like(root)`; `BACKENDS[type(array)].ones_like(array)`;
    # `Tensor._plain(array)`.
    raise NotImplementedError("03b.3 The initial gradients is yours to write")


def ones_for(root: Tensor | GradientEdge) -> Tensor | None:
    """Return ones as the gradient of a one-element root, or `None` if it does not require grad."""
    # 03b.3 The initial gradients: see the task at `root_gradients`.
    raise NotImplementedError("03b.3 The initial gradients is yours to write")


def array_like(root: Tensor | GradientEdge) -> Any:
    """Return an array with a root's shape and dtype and arbitrary values."""
    return root._array if isinstance(root, Tensor) else np.empty(*appearance(root))


def checked(grad: Any, root: Tensor | GradientEdge, i: int) -> Tensor:
    """Check the gradient of root number `i` and return it in the root's dtype."""
    # 03b.2 Roots and their gradients: see the task at `edge_of`.
    raise NotImplementedError("03b.2 Roots and their gradients is yours to write")


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
    # 03b.2 Roots and their gradients: see the task at `edge_of`.
    raise NotImplementedError("03b.2 Roots and their gradients is yours to write")


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
