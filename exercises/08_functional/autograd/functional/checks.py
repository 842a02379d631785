# Stage 08, Jacobian, hessian and their products: the exercise for minigrad/autograd/functional/checks.py.
# Made by `minigrad dev build`. The lesson is lessons/08_functional.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08
# docs/en/glossary.md explains the names used inside the package.

"""Arguments and results of `functional`: tuples, checks, zeros for missing derivatives.

Every function takes a tensor or a tuple and returns the same.  If an output does not depend on an
input, the derivative is zeros, or in strict mode an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...op.declaration import F
from ...tensor.tensor import Tensor

Tensors = tuple[Tensor, ...]

_NOT_STRICT = "This is not allowed in strict mode."

#: Strict-mode errors for a missing derivative, by the step that lacks it.
_MISSING = {
    "gradient": "The output of the user-provided function is independent of input {}. "
    + _NOT_STRICT,
    "tangent": "The gradient with respect to the input is independent of entry {} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. "
    + _NOT_STRICT,
    "row of hessian": "The jacobian of the user-provided function is independent of input {}. "
    + _NOT_STRICT,
    "column of hessian": "The hessian of the user-provided function is independent of entry {} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}

#: Strict-mode errors for a result that cannot be differentiated (again).
_CONSTANT = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the "
    "user-provided function. " + _NOT_STRICT,
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
}


def tensor_tuple(value: Any, argument: str, function: str) -> tuple[bool, Tensors]:
    """Return whether the value is a tuple, and the tuple; raise `TypeError` for non-tensors."""
    was_tuple = isinstance(value, tuple)
    tensors = value if was_tuple else (value,)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            which = f"value at index {i}" if was_tuple else f"given {argument}"
            raise TypeError(f"The {argument} given to {function} must be either a Tensor or a "
                            f"tuple of Tensors but the {which} has type {type(tensor)}.")
    return was_tuple, tensors


def fresh_inputs(tensors: Tensors, create_graph: bool, requires_grad: bool = True) -> Tensors:
    """Return copies of the inputs; only with `create_graph` are they in the caller's graph."""
    # 08.1 Inputs and results (about 9 lines)
    # `fresh_inputs` returns a tuple of new tensors for `func`, with the same values as
    # the caller's tensors. `result` and `nested_result` return derivatives to the caller,
    # as a tuple or only the first.
    #   fresh_inputs((x,), False)  -> equal to x, no grad_fn, requires_grad as in the argument
    #   fresh_inputs((w,), True)   -> a view of w, if w requires grad; otherwise as above
    #   result((a, b), False, False) -> a, detached;  result((a, b), True, True) -> (a, b)
    #   nested_result([(a, b), (c, d)], True, False, False)  -> (a, c)
    #   nested_result([(a, b), (c, d)], False, True, False)  -> (a, b)
    #   nested_result([(a, b), (c, d)], True, True, False)   -> ((a, b), (c, d))
    # Mind:
    # - Never return the caller's tensor itself, and never change it.
    # - Results are detached unless `create_graph`, but what you receive keeps its
    #   history.
    raise NotImplementedError("08.1 Inputs and results is yours to write")


def vector_like(v: Any, others: Tensors, others_were_tuple: bool, create_graph: bool,
                function: str) -> Tensors:
    """Return the vector as a tuple; raise `RuntimeError` unless it has the shapes of `others`."""
    _, tensors = tensor_tuple(v, "v", function)
    vector = fresh_inputs(tensors, create_graph, requires_grad=False)
    if len(vector) != len(others):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(others)} but got {len(vector)}."
            if others_were_tuple else "The given v should contain a single Tensor.")
    for i, (one, other) in enumerate(zip(vector, others, strict=True)):
        if one.shape != other.shape:
            where = f"Entry {i} in " if others_were_tuple else ""
            raise RuntimeError(f"{where}v has invalid size: should be {other.size()} but got "
                               f"{one.size()}.")
    return vector


def single_element(tensors: Tensors) -> bool:
    """Return whether this is one tensor with one element, so that the vector may be left out."""
    return len(tensors) == 1 and tensors[0].numel() == 1


def scalar_output(outputs: Tensors, were_tuple: bool, function: str) -> Tensor:
    """Return the only output; raise `RuntimeError` unless it is one tensor with one element."""
    if were_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if not single_element(outputs):
        raise RuntimeError(f"The Tensor returned by the function given to {function} should "
                           "contain a single element")
    return outputs[0]


def require_dependence(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    """In strict mode, raise if a tensor is missing or cannot be differentiated."""
    if not strict:
        return
    for i, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(_MISSING["gradient"].format(i))
        if not tensor.requires_grad:
            raise RuntimeError(_CONSTANT[what].format(i))


def zeros_for_missing(grads: Sequence[Tensor | None], like: Tensors, step: str, strict: bool,
                      create_graph: bool) -> Tensors:
    """Return the derivatives; a missing one becomes zeros, or an error in strict mode."""
    # 08.2 Missing derivatives (about 9 lines)
    # `gradients` returns a tuple with the gradient that `grad` computes for each input,
    # and None for an input that no output depends on. `zeros_for_missing` replaces each
    # None with zeros like `like[i]`.
    #   gradients((2 * x, ones(2), None), (x, y), (g, g, g), False)  -> (2 * g, None)
    #   gradients((ones(2),), (x, y), None, False)                   -> (None, None)
    #   zeros_for_missing((None, h), (x, y), "gradient", False, False)
    #                                                                -> (zeros like x, h)
    # Mind:
    # - Leave out outputs that are None or don't require grad, together with their
    #   vectors.
    # - An unused input isn't an error.
    # - Pass `create_graph` and `retain_graph` on to `grad` unchanged.
    # Use: `grad`; `require_found` for the errors of strict mode.
    raise NotImplementedError("08.2 Missing derivatives is yours to write")


def require_found(grads: Sequence[Tensor | None], step: str, strict: bool,
                  create_graph: bool) -> None:
    """In strict mode, raise if a derivative is missing or, with `create_graph`, constant."""
    if not strict:
        return
    for i, one in enumerate(grads):
        if one is None:
            raise RuntimeError(_MISSING[step].format(i))
        if create_graph and not one.requires_grad:
            raise RuntimeError(independent(i, "hessian" if "hessian" in step else "jacobian"))


def independent(i: int, what: str) -> str:
    """Return the error for a constant derivative when the caller wants its graph."""
    return (f"The {what} of the user-provided function is independent of input {i}. This is not "
            "allowed in strict mode when create_graph=True.")


def result(tensors: Tensors, as_tuple: bool, create_graph: bool) -> Any:
    """Return one tensor or a tuple, like the caller's arguments; detached unless `create_graph`."""
    # 08.1 Inputs and results: see the task at `fresh_inputs`.
    raise NotImplementedError("08.1 Inputs and results is yours to write")


def nested_result(rows: Sequence[Tensors], outputs_as_tuple: bool, inputs_as_tuple: bool,
                  create_graph: bool) -> Any:
    """Return one derivative per output and input, nested like the outputs and inputs."""
    # 08.1 Inputs and results: see the task at `fresh_inputs`.
    raise NotImplementedError("08.1 Inputs and results is yours to write")
