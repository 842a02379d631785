"""The rarer attributes of a declaration, besides the ten of `Op`, with one class for each topic.

`Op` inherits from all of these classes, so a declaration can set any of these attributes in its
body.  The values here are the defaults.  Most declarations set one or two.

Attributes that name arguments refer to the arguments of `forward`, without `xp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .declaration import Op


class Operands:
    """The values that arguments accept besides a tensor."""

    #: The tensor arguments that also accept a number; True for all of them.
    numbers: bool | tuple[str, ...] = False
    #: The tensor arguments that may be `None`, besides those whose default is `None`.
    optional: tuple[str, ...] = ()
    list_of_tensors: str | None = None  # the argument that is a sequence of tensors
    varargs: str | None = None  # the argument whose items may also be passed one by one


class Promotion:
    """How inputs are converted to a common dtype, besides `Op.promote`."""

    promoted: tuple[str, ...] = ()  # the inputs to promote; all tensors by default
    reject_bool = False  # whether promoted inputs must not be boolean
    #: Inputs that, as in PyTorch, stay in float32 if they are a number and the others are float16.
    float32_scalars: tuple[str, ...] = ()
    numbers_fit = False  # whether a number has to fit the common dtype, since it may be a result
    in_float32 = False  # whether float16 is computed in float32, so that no step overflows


class Outputs:
    """The results of an op whose `forward` does not return one array."""

    outputs: tuple[str, ...] = ()  # the names of the outputs, if there are several
    constants = 0  # the number of outputs without gradient, which are the last ones
    many = False  # whether `forward` returns a list of any length


class Differentiation:
    """Further facts that a backward pass or forward mode needs, besides the formulas."""

    nondifferentiable = False  # whether the op has no formula because PyTorch lacks it too
    #: Whether backward raises because PyTorch lacks the derivative too; or the error message
    not_implemented_derivative: bool | str = False
    #: Whether a floating result never requires grad, as in PyTorch.  Any other floating result of
    #: an op without formulas is recorded, so that backward refuses instead of losing a gradient.
    detached = False
    materialize = True  # whether missing gradients of outputs become zeros
    #: The work that all formulas share: a function that runs once per node in a pass on arrays
    shared: Callable[..., Any] | None = None
    #: The rule for forward mode, if it follows neither from the kind nor from the formulas; it
    #: returns `None` for calls that do follow them.  See
    #: NOTE [How a tangent passes an op] in autograd/forward_ad/pushforward.py
    jvp: Callable[..., Any] | None = None


class Batching:
    """How `vmap` treats the op."""

    no_batching = ""  # why the op has no batching rule, so that `vmap` loops over the examples


class InPlaceWrites:
    """The in-place variant, if `Op.inplace` is set.

    An in-place write can go wrong if operands overlap in memory, so the last three attributes say
    which overlaps the op allows.
    """

    #: Computes the same as `forward` and writes the result to `self`, which already has the
    #: result's dtype; any error is raised before the first write.  Without this function, the
    #: result of `forward` is copied to `self`.
    forward_inplace: Callable[..., Any] | None = None
    #: A shape rule for the in-place variant alone, which may reject what `forward` accepts
    inplace_shape: Callable[..., Any] | None = None
    #: The op whose in-place variant this is, if PyTorch has a separate node class for it
    inplace_of: type[Op] | None = None
    inplace_op: type[Op] | None = None  # the inverse of `inplace_of`, set by its declaration
    no_history = False  # whether a write leaves the tensor's history unchanged
    #: Whether several elements of the tensor that is written to may share a memory location.
    allow_self_overlap = False
    #: Whether the op copies its second input to the first, so that both may be the same tensor
    copies = False
    #: Whether no input may share any memory with the first; "after shapes" if the shape rule is
    #: checked before that
    no_overlap: bool | str = False


class Publishing:
    """The names under which users call the op, besides `Op.name`."""

    public = True  # whether the op is a function of `F` and of the package
    method = True  # whether the op is a method of tensors
    out = ""  # how the package's function handles `out=`; see NOTE [out=] in op/out.py
    dunder: tuple[str, ...] = ()  # its operators; the second one swaps the operands
    commutative = False  # whether the swapped operator may run the op without swapping
    #: The function that chooses between this op and others, and the number of this op's node in
    #: PyTorch.  The op takes that function's name, and only the function is published.
    overload: tuple[str, int | str] | None = None


class BackendCall:
    """Details of a `forward` that only calls a function of the backend, besides `Op.function`."""

    #: Makes that `forward`; `Unary` and `Binary` set it
    backend_call: Callable[..., Any] | None = None
    #: The `dtype.kind`s that PyTorch's kernel supports, and the kernel's name in the error
    kernel: tuple[str, str] | None = None
