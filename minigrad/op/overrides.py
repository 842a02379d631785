"""`__torch_function__`: how the arguments of a function take over its calls.

NOTE [Overrides]
    A class that defines `__torch_function__` sees each call of a public function with one of its
    instances: `T.__torch_function__(func, types, args, kwargs)` runs instead of `func`.  Every
    subclass of `Tensor` inherits such a method: it runs `func` and gives the results the
    subclass, so that tensors keep their class.

    Plain tensors don't pay for this.  `_state.overriding.count` is zero until a program defines
    such a class, generated functions check for exact types anyway, and what a subclass's own
    methods and properties do is decided by the descriptors that `prepare` adds to that subclass.

Source: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-python-api
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

from .. import _state
from ..backend import BACKENDS
from ..frames import is_internal, warn_user
from ..tensor.protocols import keep_out
from ..tensor.tensor import Tensor

#: Classes whose instances never take over, so we needn't look for the method.
PLAIN = {bool, int, float, complex, str, bytes, type(None), slice, type(Ellipsis), type, Tensor}

#: Operators whose methods call another public method, because a class sees that call.
FORWARDED = frozenset(
    f"__{prefix}{name}__" for name in ("add", "mul", "and", "or", "xor", "matmul")
    for prefix in ("", "r", "i")) | frozenset(
    f"__{prefix}{name}__" for prefix in ("", "i")
    for name in ("sub", "truediv", "mod", "pow", "floordiv")) | frozenset(
    f"__{name}__" for name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "iter"))

#: Attributes that stay as they are in every subclass.
KEPT = frozenset((
    "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class_getitem__",
    "__torch_function__", "__hash__", "__doc__", "__module__", "__dict__", "__weakref__",
    "__slots__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__annotations__",
    "__array_priority__", "__class__", "__dir__", "__sizeof__", "as_subclass", "__firstlineno__",
    "__static_attributes__", "__cuda_array_interface__"))

#: Functions that only modes can take over, because they accept any object.
UNASKED = frozenset(("as_tensor", "is_storage", "is_tensor", "tensor", "typename"))

#: The wrappers of functions that can be taken over, by their qualified names.
WRAPPERS = ("overridable.<locals>.call", "with_aliases.<locals>.call")

#: Private attributes that PyTorch shows to `__torch_function__`.
SHOWN = frozenset(("_base", "_version", "_backward_hooks", "_is_view"))


def prepare(cls: Any) -> None:
    """Make what a new subclass inherits from `Tensor` go through its `__torch_function__`."""
    _state.overriding.count += 1
    inherited = set(Tensor.__mro__) - {object}
    for name in {name for each in inherited for name in vars(each)} - FORWARDED - KEPT:
        if name.startswith("_") and not name.endswith("__") and name not in SHOWN:
            continue
        owner = next(each for each in cls.__mro__ if name in vars(each))
        if owner in inherited:
            type.__setattr__(cls, name, Overridable(name))


class Overridable:
    """An attribute of a subclass of `Tensor` that goes through `__torch_function__`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def original(self) -> Any:
        """Return the attribute of `Tensor`: a function, a property or a constant."""
        getattr(Tensor, self.name, None)  # loads its file, if a file publishes it later
        return next(vars(each)[self.name] for each in Tensor.__mro__ if self.name in vars(each))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return getattr(Tensor, self.name)
        found = self.original()
        if not hasattr(found, "__get__"):
            return found
        if hasattr(found, "__set__"):
            return intercept(found.__get__, (instance,), {})
        if isinstance(found, staticmethod | classmethod):
            return found.__get__(instance, owner)
        if self.name.endswith("__") or not hasattr(Tensor, found.__name__):
            found.__name__ = self.name  # since operators of one kind share a name
        return MethodType(Method(found), instance)

    def __set__(self, instance: Any, value: Any) -> None:
        found = self.original()
        if hasattr(found, "__set__"):
            intercept(found.__set__, (instance, value), {})
        else:
            instance.__dict__[self.name] = value

    def __delete__(self, instance: Any) -> None:
        found = self.original()
        if hasattr(found, "__delete__"):
            intercept(found.__delete__, (instance,), {})
        else:
            del instance.__dict__[self.name]


class Method:
    """A method that goes through `__torch_function__`; it looks like the original."""

    def __init__(self, function: Any) -> None:
        self.__wrapped__ = function

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return intercept(self.__wrapped__, args, kwargs)


def intercept(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function, or let an argument or a mode take the call over."""
    found = takers(args, kwargs)
    return function(*args, **kwargs) if found is None else dispatch(function, found, args, kwargs)


def takers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """Return the arguments that take a call over, subclasses first; `None` for a plain call.

    The list is empty if only a mode takes the call over.  Calls with arrays are plain, since
    formulas of gradients make them.
    """
    state = _state.torch_function.get()
    if (not state.subclasses and not state.modes) or skipped():
        return None
    found: list[Any] = []
    for value in relevant(args, kwargs):
        if type(value) in BACKENDS:
            return None
        if state.subclasses:
            add_taker(found, value)
    return found if found or state.modes else None


def skipped() -> bool:
    """Return whether this call goes ahead without overrides, as the next one does not."""
    state = _state.torch_function.get()
    if state.skips:
        _state.torch_function.set(state._replace(skips=False))
    return state.skips


def relevant(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Yield the arguments and the elements of lists that may take a call over."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        kind = type(value)
        if kind is list or kind is tuple:
            yield from [each for each in value if type(each) not in PLAIN]
        elif kind not in PLAIN:
            yield value


def add_taker(found: list[Any], value: Any) -> None:
    """Add an argument to the takers, unless its class is plain or already there."""
    kind: Any = type(value)
    method = getattr(kind, "__torch_function__", None)
    if method is None or method is keep_out or kind in map(type, found):
        return
    place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), len(found))
    found.insert(place, value)


def dispatch(function: Any, found: list[Any], args: tuple[Any, ...],
             kwargs: dict[str, Any]) -> Any:
    """Return the first taker's result; if it declines, the next one's.

    Raise `TypeError` if all decline.
    """
    before = _state.torch_function.get()
    if function.__name__ in UNASKED:
        found = []
        if not before.modes:
            with Having(before._replace(subclasses=False)):
                return function(*args, **kwargs)
    types = tuple(map(type, found))
    if before.modes:
        mode = before.modes[-1]
        with Having(before._replace(modes=before.modes[:-1])):
            result = mode.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for taker in found:
        result = call_override(taker, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    lines = [f"  - mode object {before.modes[-1]!r}"] if before.modes else []
    lines += [f"  - tensor subclass {each!r}" for each in types]
    raise TypeError(f"Multiple dispatch failed for '{shown_name(function)}'; all "
                    "__torch_function__ handlers returned NotImplemented:\n\n"
                    + "\n".join(lines) + "\n")


def shown_name(function: Any) -> str:
    """Return the name of a function for errors.

    >>> shown_name(Tensor.add)
    'torch.Tensor.add'
    """
    name = function.__name__
    if isinstance(owner := getattr(function, "__self__", None), property):
        return f"torch.Tensor.{getattr(owner.fget, '__name__', '')}.{name}"
    if vars(Tensor).get(name) is function:
        return f"torch.Tensor.{name}"
    if ".nn" in function.__module__:
        return f"torch.nn.functional.{name}"
    return "torch." + re.sub("^(linalg|special)_", r"\1.", name)


def taken_late(error: Exception, function: Any, args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> Any:
    """Let arguments that aren't tensors take over a first call, after it failed.

    Raise the error if there are no such arguments or if they declined.  If another public function
    made this call, raise the error too, because that function's own call can be taken over.
    """
    if _state.overriding.count or (found := takers(args, kwargs)) is None or made_by_another():
        raise error
    _state.overriding.count += 1
    return dispatch(function, found, args, kwargs)


def made_by_another() -> bool:
    """Return whether another function that can be taken over made the call that failed."""
    wrapper = sys._getframe(2)
    frame = wrapper.f_back
    while frame is not None and (is_internal(frame) or "<" in frame.f_code.co_filename):
        if frame.f_code.co_qualname in WRAPPERS:
            return True
        frame = frame.f_back
    return False


def call_override(taker: Any, function: Any, types: tuple[Any, ...], args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> Any:
    """Call an argument's `__torch_function__`; leave empty keyword arguments out."""
    method = taker.__torch_function__
    if getattr(method, "__self__", None) is taker:
        warn_user("Defining your `__torch_function__` as a plain method is deprecated and will be "
                  "an error in future, please define it as a classmethod.", UserWarning)
    return method(function, types, args, kwargs) if kwargs else method(function, types, args)


def default(cls: Any, function: Any, types: tuple[Any, ...], args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> Any:
    """Run a function as if there were no subclasses, and give its results the class `cls`.

    Return `NotImplemented` if an argument belongs to a class that `cls` does not inherit from.
    """
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    before = _state.torch_function.get()
    with Having(before._replace(subclasses=False)):
        result = function(*args, **kwargs)
        return result if cls is Tensor or is_unwrapped(function) else with_class(result, cls)


def is_unwrapped(function: Any) -> bool:
    """Return whether a function is the getter of `grad` or `_base`, because their results keep
    their class.
    """
    owner = getattr(function, "__self__", None)
    getters: tuple[Any, ...] = (Tensor.grad, Tensor._base)
    return isinstance(owner, property) and owner in getters


def with_class(result: Any, cls: Any) -> Any:
    """Give the tensors of a result the class `cls`, also those in tuples and lists."""
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        parts = [with_class(each, cls) for each in result]
        kind: Any = type(result)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    return result


class Having:
    """A block in which `__torch_function__` is in another state."""

    __slots__ = ("before", "state")

    def __init__(self, state: Any) -> None:
        self.state = state

    def __enter__(self) -> None:
        self.before = _state.torch_function.get()
        _state.torch_function.set(self.state)

    def __exit__(self, *error: object) -> None:
        _state.torch_function.set(self.before)
