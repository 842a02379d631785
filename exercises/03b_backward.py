# Stage 03b, In front of the engine: backward and grad: the exercise for minigrad/autograd/backward.py.
# Made by `minigrad dev build`. The lesson is lessons/03b_backward.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03b
# Names of the package's inside are explained in docs/en/glossary.md.

"""`backward` and `grad`: what the user asks of the engine, checked and prepared.

Source: https://docs.pytorch.org/docs/stable/autograd.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import BACKENDS, backend_of
from ..device import place_on
from ..dtypes import FROM_NUMPY
from ..engine.engine import execute
from ..engine.frames import user_frame
from ..engine.gradient_views import mark_views
from ..engine.graph_task import GraphTask, on_tensors
from ..graph.node import Node
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor, method
from .batched_grads import BatchedTask, batched_gradients, swept, unbatched
from .graph import GradientEdge

GradTensors = Tensor | Sequence[Tensor | None] | None
TensorOrTensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[Any, Tensor]


NO_HISTORY = "element {} of tensors does not require grad and does not have a grad_fn"


def backward(tensors: TensorOrTensors, grad_tensors: GradTensors = None,
             retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: TensorOrTensors | None = None) -> None:
    """Accumulate the gradients of the sum of `tensors` into the `.grad` of the graph's leaves.

    `grad_tensors` are the gradients with respect to `tensors`; a tensor of one element may leave
    its own out.  With `inputs` only these get a gradient.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> backward([(x * x).sum(), (3 * x).sum()]); x.grad
    tensor([5., 7.])
    """
    # 03b.5 backward and grad (about 32 lines)
    # `backward`: where `grad_variables` is not None, `grad_tensors =
    # renamed(grad_tensors, grad_variables)`. Take roots (`as_tuple`), inputs
    # (`inputs_of(inputs, "backward")` where `inputs` is not None), the first gradients
    # (`root_gradients` of roots, `matched` gradients and create_graph) and edges
    # (`root_edges`). The graph is kept if `retain_graph` says so, and where that is None
    # if `create_graph`. With `create_graph` call `warn_of_cycle()`. Then `execute(edges,
    # grads, retain_graph, create_graph, ends)`, where `ends` is None without inputs and
    # else `end_edges(inputs)`: that gives the list of their `edge_of`, and calls
    # `retain_grad()` of each that is a Tensor, so that results keep their gradient too.
    # `grad`: first `check_options(only_inputs, allow_unused, materialize_grads)`. An
    # `allow_unused` of None means that of `materialize_grads`. Take roots (`as_tuple`),
    # inputs (`inputs_of(inputs, "grad")`), matched gradients, and whether to keep the
    # graph, as above. The results come from `gradients(roots, inputs, grad_outputs,
    # retain_graph, create_graph, allow_unused)`, or, with `is_grads_batched`, from
    # `of_batches` with the same arguments. With `materialize_grads` put `zeros_for(input,
    # create_graph)` in the place of each None. Return a tuple, also of one; where
    # `inputs` is a dictionary, a dictionary with its keys in their order.
    raise NotImplementedError("03b.5 backward and grad is yours to write")


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
    # 03b.5 backward and grad: see the task at `backward`.
    raise NotImplementedError("03b.5 backward and grad is yours to write")


def gradients(roots: Any, inputs: Any, grad_outputs: Any, retain_graph: bool, create_graph: bool,
              allow_unused: bool, kind: type[GraphTask] = GraphTask) -> list[Tensor | None]:
    """Return the gradients of `roots` with respect to `inputs`, None for those that are missing."""
    # 03b.4 Gradients for inputs (about 26 lines)
    # `gradients`: return a list with the gradient of the sum of `roots` for each of
    # `inputs`, as a Tensor, None for one that the roots do not depend on. Take the first
    # gradients from `root_gradients(roots, grad_outputs, create_graph)`, the start from
    # `root_edges(roots)`. An input that is a Tensor and does not require grad raises
    # RuntimeError "One of the differentiated Tensors does not require grad". Then let the
    # engine run: `execute(edges, root_grads, retain_graph, create_graph, input_edges,
    # accumulate=False, kind=kind)`, where `input_edges` are the `edge_of` of the inputs;
    # it returns arrays, Tensors or None (arrays become Tensors by `Tensor._plain`). (The
    # package asks a fast path, `swept`, first; leave that out.) For a result that is None
    # raise, unless `allow_unused`, RuntimeError "The differentiated Tensor at index {i}
    # appears to not have been used in the graph. Set allow_unused=True if this is the
    # desired behavior." `zeros_for(input, create_graph)`: a Tensor of zeros in shape and
    # dtype of the input (its array is `input._array`) that requires grad if
    # `create_graph`; for a GradientEdge raise RuntimeError "materialize_grads cannot be
    # used when the given input is a GradientEdge".
    raise NotImplementedError("03b.4 Gradients for inputs is yours to write")


def of_batches(roots: Any, inputs: Any, grad_outputs: Any, retain_graph: bool, create_graph: bool,
               allow_unused: bool) -> list[Tensor | None]:
    """Return the stacked results of `gradients` for each gradient of a batch `grad_outputs`."""
    level, size, batches = batched_gradients(roots, grad_outputs, on_tensors(create_graph))
    return [None if g is None else unbatched(g, level, size) for g in gradients(
        roots, inputs, batches, retain_graph, create_graph, allow_unused, BatchedTask)]


def zeros_for(input: Tensor | GradientEdge, create_graph: bool) -> Tensor:
    """Make the gradient of an input that has none."""
    # 03b.4 Gradients for inputs: see the task at `gradients`.
    raise NotImplementedError("03b.4 Gradients for inputs is yours to write")


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor, or edge, or a sequence or dictionary of them as a tuple."""
    # 03b.1 One or many (about 17 lines)
    # `as_tuple(tensors)`: a Tensor or a GradientEdge becomes a tuple of that one (a
    # GradientEdge is a tuple itself, and is not to be taken apart); of a dictionary take
    # the values; anything else that can be iterated becomes a tuple, in its order.
    # `matched(grads, count)`: None becomes a tuple of `count` times None; otherwise the
    # first `count` of `as_tuple(grads)` (what is left over is not looked at, as in
    # PyTorch); where there are fewer, raise RuntimeError with the text "got {count}
    # tensors and {length} gradients". `inputs_of(inputs, function)`: `as_tuple(inputs)`;
    # where it is empty raise RuntimeError "`inputs` argument to `{function}()` cannot be
    # empty." (with these backquotes), and where an element is neither Tensor nor
    # GradientEdge raise RuntimeError "all inputs have to be Tensors or GradientEdges, but
    # got {name of its type}".
    raise NotImplementedError("03b.1 One or many is yours to write")


def inputs_of(inputs: Any, function: str) -> tuple[Any, ...]:
    """Return the `inputs` of `backward` or `grad` as a tuple of at least one tensor or edge."""
    # 03b.1 One or many: see the task at `as_tuple`.
    raise NotImplementedError("03b.1 One or many is yours to write")


def edge_of(tensor: Tensor | GradientEdge) -> tuple[Node | None, int]:
    """Return where in the graph the gradient of a tensor arrives."""
    # 03b.2 Where the pass starts (about 14 lines)
    # `edge_of(tensor)`: the pair (node, number) at which the gradient of a Tensor
    # arrives, `tensor._edge()`; of a GradientEdge its first two elements.
    # `root_edges(roots)`: the list of these for all roots. A Tensor that does not require
    # grad, whose edge leads to None, raises RuntimeError with the text NO_HISTORY, into
    # which `.format(i)` puts its position from 0; what is neither Tensor nor GradientEdge
    # raises TypeError "element {i} of tensors has to be a Tensor, not {name of its
    # type}". A leaf that requires grad is a root like any other. `appearance(root)`: the
    # pair (shape, dtype) of a Tensor's array `root._array`; for a GradientEdge what its
    # node knows of that output, `root.node.metadata_of(root.output_nr)`.
    raise NotImplementedError("03b.2 Where the pass starts is yours to write")


def end_edges(inputs: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return the edges at which `backward` ends; its inputs retain their gradients."""
    # 03b.5 backward and grad: see the task at `backward`.
    raise NotImplementedError("03b.5 backward and grad is yours to write")


def matched(grads: Any, count: int) -> tuple[Any, ...]:
    """Return one gradient or None for each root."""
    # 03b.1 One or many: see the task at `as_tuple`.
    raise NotImplementedError("03b.1 One or many is yours to write")


def root_gradients(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Any],
                   create_graph: bool) -> list[Any]:
    """Check the gradients that start the pass, and make those left out.

    They are tensors in a pass on tensors, and where hooks are to see a gradient with its history.
    """
    # 03b.3 The first gradients (about 21 lines)
    # `root_gradients`: return a list with the gradient that starts the pass for each of
    # `roots`; `grads` has as many elements, each a Tensor or None. Where it is None,
    # `ones_for(root)` makes a Tensor of ones for a root of one element (of its array,
    # `BACKENDS[type(array)].ones_like(array)`; for a GradientEdge of `np.empty` of its
    # shape and dtype); any other raises RuntimeError "grad can be implicitly created only
    # for scalar outputs". `checked(grad, root, i)` checks a gradient that is given: it
    # has to be a Tensor, else raise TypeError "gradients can be either Tensors or None,
    # but got {name of its type}"; and of exactly the root's shape, else raise
    # RuntimeError "Mismatch in shape: grad_output[{i}] has a shape of {Size(its shape)}
    # and output[{i}] has a shape of {Size(the root's shape)}."; where its dtype is not
    # the root's it is converted, `grad.to(FROM_NUMPY[dtype])`. Shape and dtype of a root
    # are `appearance(root)`. In a pass on tensors (`on_tensors(create_graph)`), and where
    # any gradient that is given requires grad, for hooks are to see it as it is, the list
    # holds these Tensors; otherwise it holds their arrays. A root that is a Tensor and
    # does not require grad, with no gradient given, gets None in the list and no error
    # here: `root_edges` complains of it, with the better text.
    raise NotImplementedError("03b.3 The first gradients is yours to write")


def ones_for(root: Tensor | GradientEdge) -> Tensor | None:
    """Make the gradient of a root of one element; None for a root that requires none."""
    # 03b.3 The first gradients: see the task at `root_gradients`.
    raise NotImplementedError("03b.3 The first gradients is yours to write")


def checked(grad: Any, root: Tensor | GradientEdge, i: int) -> Tensor:
    """Return the gradient given for root number `i`, in the dtype of the root."""
    # 03b.3 The first gradients: see the task at `root_gradients`.
    raise NotImplementedError("03b.3 The first gradients is yours to write")


def appearance(root: Tensor | GradientEdge) -> tuple[tuple[int, ...], Any]:
    """Return shape and array dtype of a tensor, or of the one that an edge stands for."""
    # 03b.2 Where the pass starts: see the task at `edge_of`.
    raise NotImplementedError("03b.2 Where the pass starts is yours to write")


def root_edges(roots: Sequence[Tensor | GradientEdge]) -> list[tuple[Node | None, int]]:
    """Return the edges at which the pass starts; a root without history is an error."""
    # 03b.2 Where the pass starts: see the task at `edge_of`.
    raise NotImplementedError("03b.2 Where the pass starts is yours to write")


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
def tensor_backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                    create_graph: bool = False, inputs: TensorOrTensors | None = None) -> None:
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
