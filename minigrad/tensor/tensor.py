"""The class `Tensor`: an array, its history, and the version counter of its memory.

Higher layers add the other methods with `method`: the ops add their own, and `autograd/` adds
`backward`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _state
from ..backend import BACKENDS
from ..device import place_on
from ..dtypes import c_name, dtype, from_numpy_dtype, get_default_dtype, type_name
from ..frames import type_in_error, warn_user
from ..graph.node import Node
from ..graph.special_versions import (
    INFERENCE,
    InferenceVersion,
    detached,
    is_inference,
    with_data_of,
)
from ..graph.version import Version, version_of
from .attributes import ArrayInfo, Size
from .history import TensorHistory
from .hooks import GradientHooks
from .protocols import PythonProtocols, keep_out

if TYPE_CHECKING:
    from .._tensor_methods import TensorMethods
else:
    TensorMethods = object

Array = Any
F = TypeVar("F", bound=Callable[..., Any])
_new = object.__new__

CHANGED_NON_LEAF = "you can only change requires_grad flags of leaf variables."
DETACH_INSTEAD = (" If you want to use a computed variable in a subgraph that doesn't require "
                  "differentiation use var_no_grad = var.detach().")


NOT_SET = object()


@dataclass(slots=True, eq=False)
class TensorExtras:
    """Hooks and other state that few tensors have; most tensors store `None` instead.

    >>> x = from_array(numpy.zeros(1)); x._extras is None
    True
    >>> x.name = "bias"; x._extras.name
    'bias'
    """

    accumulator: Any = None  # weak reference to the leaf's AccumulateGrad
    hooks: OrderedDict[int, Any] | None = None
    post_accumulate: OrderedDict[int, Any] | None = None
    retains_grad: bool = False
    name: str | None = None
    grad_dtype: Any = NOT_SET  # of `.grad`; None for any


class Tensor(ArrayInfo, TensorHistory, GradientHooks, PythonProtocols, TensorMethods):
    """An n-dimensional array that remembers how it was made.

    Source: https://docs.pytorch.org/docs/stable/tensors.html

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "_array", "_counter", "_extras", "_grad", "_index",
                 "_node", "_requires_grad", "_view")

    _array: Array  # the values
    _node: Node | None  # its grad_fn; None for a leaf
    _index: int  # its position among the outputs of that node
    _requires_grad: bool
    _counter: Any  # a Version, INFERENCE, or None until the first write or view
    _view: Any  # a views.ViewInfo if it is a differentiable view
    _grad: Tensor | None
    _extras: TensorExtras | None

    def __new__(cls, *args: Any, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        if kwargs and cls is Tensor:
            args = _legacy_arguments(args, kwargs)
        array = _legacy_array(*args)
        self: Tensor = cls._plain_as(cls, array)
        if requires_grad:
            self.requires_grad_()
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__torch_function__ is not keep_out:
            _state.overrides.prepare(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a function, and give the tensors of its result this class.

        >>> from minigrad import Tensor, ones
        >>> class Mine(Tensor): pass
        >>> type(ones(2).as_subclass(Mine) + 1).__name__
        'Mine'
        """
        return _state.overrides.default(cls, func, types, args, kwargs or {})

    @staticmethod
    def _plain(array: Array) -> Tensor:
        """Make a tensor without history from an array."""
        self = _new(Tensor)
        self._array = array
        self._index, self._requires_grad = 0, False
        self._node = self._counter = self._view = self._grad = self._extras = None
        return self

    @staticmethod
    def _plain_as(cls: Any, array: Array) -> Any:
        """Make a tensor of the class `cls`; in inference mode, an inference tensor."""
        self = Tensor._plain(array)
        if cls is not Tensor:
            self = _retype(self, cls)
        if _state.observers.count:
            self._tell_observers()
        return self

    def _tell_observers(self) -> None:
        """Mark a new tensor in inference mode, and note it in a recording."""
        if _state.inference_enabled.get():
            self._counter = INFERENCE
        if (recording := _state.program.get()) is not None:
            recording.fresh[id(self)] = self

    def _tell_of_alias(self, alias: Tensor) -> None:
        """Note in a recording that a tensor in the same memory is as new as this one."""
        recording = _state.program.get()
        if recording is not None and id(self) in recording.fresh:
            recording.fresh[id(alias)] = alias

    # ---------------------------------------------------------------- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether autograd tracks this tensor; it can be set on leaves only.

        >>> from minigrad import tensor
        >>> x = tensor(2.0); x.requires_grad = True; (x * 3).requires_grad
        True
        """
        view = self._view
        return self._requires_grad or bool(view and view.base._requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._node is not None:
            raise RuntimeError(CHANGED_NON_LEAF if value else CHANGED_NON_LEAF + DETACH_INSTEAD)
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return the tensor itself; `False` freezes a parameter.

        >>> from minigrad import tensor
        >>> tensor(1.0).requires_grad_()
        tensor(1., requires_grad=True)
        """
        if not isinstance(requires_grad, bool):
            raise TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                            f"not {type_in_error(requires_grad)}")
        if requires_grad and self._array.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if is_inference(self._counter) and requires_grad and not _state.inference_enabled.get():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside "
                               "InferenceMode is not allowed.")
        if not requires_grad and self._node is not None:
            raise RuntimeError(CHANGED_NON_LEAF + DETACH_INSTEAD)
        self._requires_grad = bool(requires_grad)
        return self

    def _ensure_extras(self) -> TensorExtras:
        """Return the tensor's extras, which are created on demand."""
        if self._extras is None:
            fresh = TensorExtras()  # created before the check, see `_shared_counter`
            if self._extras is None:
                self._extras = fresh
        return self._extras

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward accumulated; `None` before the first backward."""
        if self._grad is None and self._node is not None and not self.retains_grad:
            _warn_non_leaf_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError("assigned grad expected to be a Tensor or None but got grad of "
                                f"type {qualified(type(value))}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if (expected := self.grad_dtype) not in (None, value.dtype):
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{c_name(value.dtype)}' to a "
                    f"tensor with grad_dtype '{type_name(expected)}'. The gradient must match "
                    "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
                    "tensor's grad_dtype attribute with a specific dtype, or None to allow any "
                    "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its "
                    "gradient may break downstream systems that assume they match.")
            there, here = value.device, self.device
            if there != here:
                apart = there.type != here.type
                what = "with device type" if apart else "located on device with index"
                found, wanted = ((d.type if apart else d.index) for d in (there, here))
                raise RuntimeError(
                    f"attempting to assign a gradient {what} '{found}' to a tensor {what} "
                    f"'{wanted}'. Please ensure that the gradient and the tensor are on the same "
                    "device")
            if value._array.shape != self._array.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value._array.shape)}' to a "
                    f"tensor of size '{list(self._array.shape)}'. Please ensure that the gradient "
                    "and the tensor are the same size")
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> Any:
        """The dtype of `.grad`, by default the tensor's own; `None` allows any.

        Setting it raises `RuntimeError` for a non-leaf, or if there is a gradient of another dtype.

        >>> from minigrad import float64, ones
        >>> x = ones(1, requires_grad=True); x.grad_dtype = float64
        >>> x.sum().backward(); x.grad
        tensor([1.], dtype=torch.float64)
        """
        set_dtype = NOT_SET if self._extras is None else self._extras.grad_dtype
        return self.dtype if set_dtype is NOT_SET else set_dtype

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if value is not None and not isinstance(value, dtype):
            raise RuntimeError("grad_dtype must be a torch.dtype or None, but got "
                               f"{type_in_error(value)}")
        if self.grad_fn is not None:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if self._grad is not None and value not in (None, self._grad.dtype):
            raise RuntimeError(
                f"Cannot set grad_dtype to '{type_name(value)}' because there is already a "
                f"gradient with dtype '{c_name(self._grad.dtype)}'. Please clear the gradient "
                "(.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches "
                "the existing gradient's dtype.")
        self._ensure_extras().grad_dtype = value
        if value is not None and self._requires_grad:
            accumulator = self._accumulator()
            accumulator.dtype = value.numpy
            self._adopt(accumulator)  # so that it stays alive, with this dtype

    @property
    def name(self) -> str | None:
        """The name of the tensor, or `None`.

        >>> from minigrad import tensor
        >>> print(tensor(2.0).name)
        None
        """
        return None if self._extras is None else self._extras.name

    @name.setter
    def name(self, value: str | None) -> None:
        self._ensure_extras().name = value

    # ---------------------------------------------------------------- memory and versions

    @property
    def data(self) -> Tensor:
        """A tensor that shares this memory, without history and with a new version counter.

        >>> from minigrad import tensor
        >>> x = tensor([1.0, 2.0], requires_grad=True)
        >>> x.data[0] = 5; x, x.data.requires_grad
        (tensor([5., 2.], requires_grad=True), False)
        """
        result = self._plain(without_history(self._array))
        counter = self._counter
        if counter is not None and isinstance(counter, InferenceVersion):
            result._counter = detached(counter)
        if _state.observers.count:
            self._tell_of_alias(result)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_in_error(value)}")
        if self._requires_grad and value._array.dtype.kind != "f":
            raise RuntimeError("data set to a tensor that requires gradients must be floating "
                               "point or complex dtype")
        before, self._array = self._array, value._array
        if self._extras is not None and (before.dtype != value._array.dtype
                                         or type(before) is not type(value._array)):
            self._extras.accumulator = None  # the next one expects gradients like the new data
        self._counter = with_data_of(self._counter, value._counter)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @property
    def _version(self) -> int:
        if not is_inference(self._counter):
            return int(version_of(self))
        if self._counter is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter.count

    def _shared_counter(self) -> Any:
        """Return the version counter, created on demand, so that another tensor can share it."""
        counter = self._counter
        if counter is None:
            fresh = Version()  # created before the check, because threads may share the tensor
            counter = self._counter
            if counter is None:
                counter = self._counter = fresh
        return counter

    def _written_inside(self, times: int) -> None:
        """Count the writes that PyTorch makes while it computes a result, for equal `_version`."""
        if times and not is_inference(self._counter):
            self._shared_counter().value += times

    def _bump(self) -> None:
        """Count a write to the memory."""
        counter = self._counter
        if counter is None:
            counter = self._shared_counter()
        counter.bump()

    def is_inference(self) -> bool:
        """Return whether the tensor was made in inference mode.

        >>> from minigrad import inference_mode, ones
        >>> with inference_mode():
        ...     x = ones(1)
        >>> x.is_inference(), ones(1).is_inference()
        (True, False)
        """
        return is_inference(self._counter)

    @property
    def _base(self) -> Tensor | None:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None


def _retype(tensor: Tensor, cls: Any) -> Any:
    """Return a tensor of the class `cls` that shares everything with `tensor`."""
    self = _new(cls)
    for name in Tensor.__slots__[2:]:
        setattr(self, name, getattr(tensor, name))
    return self


def _legacy_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments for `Tensor(data=...)` or `Tensor(size=...)`.

    Raise PyTorch's error for other keywords; for `dtype`, programs should call `tensor`.
    """
    wrong = [name for name in kwargs if name not in ("data", "device", "size")]
    if wrong:
        given = [type_in_error(value) for value in args]
        given += [f"{name}={_shown_type(value)}" for name, value in kwargs.items()]
        raise TypeError(
            "new() received an invalid combination of arguments - got "
            f"({', '.join(given)}), but expected one of:\n * (*, torch.device device = None)\n"
            f"      didn't match because some of the keywords were incorrect: {', '.join(wrong)}\n"
            " * (torch.Storage storage)\n * (Tensor other)\n"
            " * (tuple of ints size, *, torch.device device = None)\n"
            " * (object data, *, torch.device device = None)\n")
    if "data" in kwargs:
        return (*args, kwargs["data"])
    return (*args, *kwargs.get("size", ()))


def _shown_type(value: Any) -> str:
    """Return the name of a value's type as PyTorch's errors show it."""
    name = type_in_error(value)
    return f"torch.{name}" if name in ("dtype", "device", "layout") else name


def qualified(value_type: type) -> str:
    """Return a type's name for an error, with its module unless that is `builtins`.

    >>> qualified(int), qualified(OrderedDict)
    ('int', 'collections.OrderedDict')
    """
    module = "" if value_type.__module__ == "builtins" else value_type.__module__ + "."
    return module + value_type.__name__


def _legacy_array(*args: Any) -> Array:
    """Return an array for the arguments of `Tensor(...)`: sizes, values, or a tensor to alias."""
    numpy_dtype = get_default_dtype().numpy
    if len(args) == 1:
        (data,) = args
        if isinstance(data, Tensor):
            return data._array
        if isinstance(data, Size):
            return np.zeros(data, numpy_dtype)
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if isinstance(data, (bool, np.ndarray)) or not hasattr(data, "__index__"):
            if isinstance(data, (dict, set)) or not hasattr(data, "__len__"):
                raise TypeError(f"new(): data must be a sequence (got {qualified(type(data))})")
            return np.array(data, dtype=numpy_dtype)
    if not all(hasattr(n, "__index__") for n in args):
        raise TypeError(f"new(): expected sizes or one sequence of values, got {args!r}")
    shape = [n.__index__() for n in args] if args else [0]
    if min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")
    return np.zeros(shape, numpy_dtype)


def method(name: str) -> Callable[[F], F]:
    """Add a method to `Tensor` from a higher layer; raise `TypeError` if the name is taken.

    >>> @method("_doubled_length")
    ... def doubled(self): return 2 * len(self)
    >>> del Tensor._doubled_length
    """

    def give(function: F) -> F:
        if name in Tensor.__dict__:
            raise TypeError(f"Tensor has a method {name!r} already")
        setattr(Tensor, name, function)
        return function

    return give


def _warn_non_leaf_grad() -> None:
    warn_user(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
        UserWarning,
    )


def without_history(array: Array) -> Array:
    """Return an array unchanged, but detach a batch, whose values may have a history.

    >>> array = numpy.ones(2); without_history(array) is array
    True
    """
    backend = BACKENDS[type(array)]
    return array if backend.run_op is None else backend.detached(array)


def from_array(array: Array, requires_grad: bool = False) -> Tensor:
    """Return a tensor that shares memory with the array; raise `TypeError` for other dtypes.

    >>> array = numpy.zeros(2); x = from_array(array)
    >>> array[0] = 5; x
    tensor([5., 0.], dtype=torch.float64)
    """
    from_numpy_dtype(array.dtype)
    result: Tensor = Tensor._plain_as(Tensor, array)
    return result.requires_grad_() if requires_grad else result


class _ParameterMeta(type):
    """Counts instances of other subclasses as parameters if `Parameter` made them."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (
            cls is Parameter and isinstance(instance, Tensor)
            and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module registers as trainable; it requires grad by default.

    >>> from minigrad import zeros
    >>> Parameter(zeros(2)).requires_grad
    True

    The parameter for an instance of another subclass is of that subclass.
    """

    __slots__ = ()
    __torch_function__ = staticmethod(keep_out)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is not None and type(data).__torch_function__ is not keep_out and (
                type(data) is not Tensor):
            return cls._of_subclass(data, requires_grad)
        array = np.zeros(0, get_default_dtype().numpy) if data is None else data._array
        self: Parameter = cls._plain_as(cls, array)
        if data is not None and data._counter is not None:
            self._counter = data._counter
        if requires_grad:
            self.requires_grad_()
        return self

    @staticmethod
    def _of_subclass(data: Tensor, requires_grad: bool) -> Any:
        """Return a parameter of the class of `data`."""
        made = data.detach().requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires "
                "that detach() returns an instance of the same type, but return type "
                f"{type(made).__name__} was found instead. To use the type as a Parameter, please "
                "correct the detach() semantics defined by its __torch_dispatch__() "
                "implementation.")
        made.__dict__["_is_param"] = True
        return made

    def _warn_if_has_hooks(self) -> None:
        """Don't warn that a pickle loses hooks; PyTorch does only for other tensors."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """Copy the values but, like PyTorch, not the gradient."""
        if id(self) not in memo:
            with place_on(self._array):
                data = self._plain(self._array.copy("K"))
            memo[id(self)] = type(self)(data, self._requires_grad)
        copied: Parameter = memo[id(self)]
        return copied


for _base in Tensor.__mro__[1:-1]:  # errors and bound methods show them as PyTorch's
    for _name, _value in vars(_base).items():
        if isinstance(_value, FunctionType):
            _value.__qualname__ = f"Tensor.{_name}"
