"""The rarer attributes of a declaration, beyond the ten of `Op`: one class for each topic.

`Op` inherits from all of these classes, so a declaration sets any of these attributes in its body,
like the ten.  The values here are what an op does if its declaration says nothing.  Most
declarations set one or two.

If an attribute names arguments, it names those of `forward`, without `xp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .declaration import Op


class Operands:
    """The values that an argument takes besides a tensor."""

    #: The tensor arguments for which a number will do; True for all of them.
    numbers: bool | tuple[str, ...] = False
    #: The tensor arguments that may be None, besides those whose default is None.
    optional: tuple[str, ...] = ()
    list_of_tensors: str | None = None  # the argument that is a sequence of tensors
    varargs: str | None = None  # the argument whose items may also be given one by one


class Promotion:
    """How inputs of different dtypes are brought together, besides `Op.promote`."""

    promoted: tuple[str, ...] = ()  # the inputs that `promote` is about; all tensors by default
    reject_bool = False  # whether an input to be promoted may not be boolean
    #: Inputs that are read in float32 if they are one number beside float16, as in PyTorch.
    float32_scalars: tuple[str, ...] = ()
    in_float32 = False  # whether float16 is computed in float32, so that no step overflows


class Outputs:
    """The results of an op whose `forward` does not return one array."""

    outputs: tuple[str, ...] = ()  # the names of the outputs, if there are several
    constants = 0  # how many of them, the last ones, have no gradient
    many = False  # whether `forward` returns a list of any length


class Differentiation:
    """Facts that a backward pass or forward mode has to know, besides the formulas."""

    nondifferentiable = False  # whether no formula is given because PyTorch has none either
    #: Whether backward raises because PyTorch lacks the derivative too; or the text it raises with
    not_implemented_derivative: bool | str = False
    materialize = True  # whether missing gradients of outputs become zeros
    #: The part that the formulas have in common: a function that runs once in a pass on arrays
    shared: Callable[..., Any] | None = None
    #: A rule for forward mode, where neither the kind nor the formulas give it; see NOTE [How a
    #: tangent passes an op] in autograd/forward_ad/pushforward.py
    jvp: Callable[..., Any] | None = None


class Batching:
    """The op in `vmap`."""

    no_batching = ""  # why there is no batching rule, so that `vmap` runs it example by example


class InPlaceWrites:
    """The variant that writes its result to the first input, if `Op.inplace` asks for one.

    An in-place write goes wrong if operands overlap in memory, so the last three attributes say
    which overlaps the op allows.
    """

    #: Computes as `forward` does and writes the result to `self`, which has the result's dtype
    #: already; raises before it writes.  Without one, the result of `forward` is copied to `self`.
    forward_inplace: Callable[..., Any] | None = None
    #: A shape rule for the in-place variant alone: raises although `forward`'s result would fit
    inplace_shape: Callable[..., Any] | None = None
    #: The op whose in-place variant this one is, if PyTorch gives that a node of its own
    inplace_of: type[Op] | None = None
    inplace_op: type[Op] | None = None  # the inverse of `inplace_of`, set when that is declared
    no_history = False  # whether a write leaves the history of the tensor as it is
    #: Whether several elements of the tensor that is written may share one address.
    allow_self_overlap = False
    #: Whether the op copies its second input to the first, so that both may be the same tensor
    copies = False
    #: Whether no input may share memory with the first, not even all of it; "after shapes" if
    #: the shape rule is checked before that
    no_overlap: bool | str = False


class Publishing:
    """Under which names users call the op, besides `Op.name`."""

    public = True  # whether `F` and the package have it as a function
    method = True  # whether tensors have it as a method
    out = ""  # how the package's function takes `out=`; see NOTE [out=] in op/out.py
    dunder: tuple[str, ...] = ()  # its operators, the second one with the operands swapped
    commutative = False  # whether the swapped operator may run the op without swapping
    #: The function that chooses between this op and others, and the number of this op's node, as
    #: PyTorch counts them.  The op has that function's name, and is not published itself.
    overload: tuple[str, int | str] | None = None


class BackendCall:
    """A `forward` that only calls one function of the backend, besides `Op.function`."""

    #: Makes that `forward`; `Unary` and `Binary` set it
    backend_call: Callable[..., Any] | None = None
    #: The `dtype.kind`s that PyTorch's kernel has code for, and the kernel's name in its error
    kernel: tuple[str, str] | None = None
