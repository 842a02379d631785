"""`torch.overrides`: functions and modes for `__torch_function__`.

Classes that define `__torch_function__` see calls of the functions that
`get_overridable_functions` lists, and a `TorchFunctionMode` sees all calls of them in a block.

Source: https://docs.pytorch.org/docs/stable/torch.overrides.html
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from . import _state, linalg, special
from .frames import warn_user
from .nn import functional
from .op.overrides import SHOWN, UNASKED, Having, add_taker, dispatch, skipped
from .op.publish import FUNCTIONS
from .ops import load_all
from .tensor.tensor import Tensor

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

_PACKAGE = __name__.partition(".")[0]

#: Functions of the package that make tensors from other values, so only modes see them.
IGNORED = UNASKED | frozenset((
    "arange", "empty", "empty_strided", "eye", "from_dlpack", "from_file", "from_numpy",
    "frombuffer", "full", "initial_seed", "linspace", "logspace", "manual_seed", "normal", "ones",
    "rand", "randint", "randn", "randperm", "range", "seed", "zeros"))


def _overloaded(arguments: Iterable[Any]) -> list[Any]:
    """Return the arguments whose classes define `__torch_function__`, subclasses first.

    A plain `Tensor` beside them is among them, too.
    """
    found: list[Any] = []
    if _state.torch_function.get().subclasses:
        for value in arguments:
            add_taker(found, value)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether an argument or a mode takes calls over; plain tensors don't.

    >>> from minigrad import ones
    >>> has_torch_function((ones(1), 3))
    False
    """
    return not skipped() and (bool(_state.torch_function.get().modes) or any(
        type(each) is not Tensor for each in _overloaded(relevant_args)))


def has_torch_function_unary(tensor: Any, /) -> bool:
    """Return `has_torch_function((tensor,))`.

    >>> from minigrad import nn, ones
    >>> has_torch_function_unary(nn.Parameter(ones(1)))
    False
    """
    return has_torch_function((tensor,))


def has_torch_function_variadic(*args: Any) -> bool:
    """Return `has_torch_function(args)`.

    >>> from minigrad import ones
    >>> has_torch_function_variadic(ones(1), 2)
    False
    """
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any],
                          *args: Any, **kwargs: Any) -> Any:
    """Let an argument take over a call of `public_api`; raise `TypeError` if all decline.

    >>> from minigrad import Tensor, ones
    >>> class Mine(Tensor): pass
    >>> def double(x):
    ...     if has_torch_function_unary(x):
    ...         return handle_torch_function(double, (x,), x)
    ...     return x * 2
    >>> double(ones(2).as_subclass(Mine))
    Mine([2., 2.])
    """
    return dispatch(public_api, _overloaded(relevant_args), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Return whether an object is a tensor, or its class defines `__torch_function__`.

    >>> from minigrad import ones
    >>> is_tensor_like(ones(1)), is_tensor_like(1)
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def _members() -> Iterator[tuple[Any, str, str, Any]]:
    """Yield the public functions: module, its name, name and function; load all files of ops."""
    load_all()
    for name, found in sorted(FUNCTIONS.items()):
        if not name.startswith(("_", "linalg_", "special_")):
            yield sys.modules[_PACKAGE], "torch", name, found
    for module in (functional, linalg, special):
        prefix = "torch" + module.__name__.removeprefix(_PACKAGE)
        for name in module.__all__:
            found = getattr(module, name)
            if callable(found) and not isinstance(found, type):
                yield module, prefix, name, found


@cache
def _functions() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    """Return the overridable functions by namespace, and the name of every function."""
    overridable: dict[Any, list[Any]] = {Tensor: []}
    names: dict[Any, str] = {}
    for module, prefix, name, found in _members():
        names.setdefault(found, f"{prefix}.{name}")
        if not name.endswith("_") and name not in IGNORED:
            overridable.setdefault(module, []).append(found)
    for name in dir(Tensor):
        found = getattr(Tensor, name)
        if name.startswith("_") and not name.endswith("__") and name not in SHOWN:
            continue
        if isinstance(found, property):
            names[found.__get__] = f"torch.Tensor.{name}.__get__"
            names[found.__set__] = f"torch.Tensor.{name}.__set__"
            overridable[found] = [found.__get__]
        elif isinstance(found, types.FunctionType):
            if names.get(found) != f"torch.Tensor.{found.__name__}":
                names[found] = f"torch.Tensor.{name}"
            overridable[Tensor].append(found)
    return overridable, names


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that `__torch_function__` sees, by the namespace that has them.

    >>> import minigrad
    >>> minigrad.add in get_overridable_functions()[minigrad]
    True
    """
    return _functions()[0]


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the public functions that no `__torch_function__` sees.

    >>> import minigrad
    >>> minigrad.is_tensor in get_ignored_functions()
    True
    """
    return {found for _, _, name, found in _members() if name in IGNORED}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return, for each overridable function, a function that returns -1.

    >>> import minigrad
    >>> get_testing_overrides()[minigrad.add](1, 2)
    -1
    """
    return {each: lambda *args, **kwargs: -1
            for listed in get_overridable_functions().values() for each in listed}


def resolve_name(f: Any) -> str | None:
    """Return the name of a function that `__torch_function__` received, or `None`.

    >>> import minigrad
    >>> resolve_name(minigrad.add), resolve_name(minigrad.Tensor.add)
    ('torch.add', 'torch.Tensor.add')
    """
    return _functions()[1].get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether a function is a method of `Tensor` or the getter of a property.

    >>> import minigrad
    >>> is_tensor_method_or_property(minigrad.Tensor.add)
    True
    >>> is_tensor_method_or_property(minigrad.add)
    False
    """
    return func in get_overridable_functions()[Tensor] or func.__name__ == "__get__"


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Any:
    """Make arguments take over calls of a function; `dispatcher` returns these arguments.

    >>> from minigrad import Tensor, ones
    >>> class Mine(Tensor): pass
    >>> @wrap_torch_function(lambda x: (x,))
    ... def double(x): return x * 2
    >>> double(ones(1).as_subclass(Mine))
    Mine([2.])
    """

    def wrap(func: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        wrapped.__name__, wrapped.__module__ = func.__name__, func.__module__
        wrapped.__doc__ = func.__doc__
        return wrapped

    return wrap


class TorchFunctionMode:
    """A block in which a `__torch_function__` sees all calls, also those with plain tensors.

    A mode doesn't see methods of plain tensors that aren't operations, such as `tolist`.

    >>> import minigrad
    >>> class Count(TorchFunctionMode):
    ...     calls = 0
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         self.calls += 1
    ...         return func(*args, **(kwargs or {}))
    >>> with Count() as mode:
    ...     result = minigrad.ones(2) + 1
    >>> mode.calls
    2
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _state.observers.enter(intercepts=True)
        _state.overriding.count += 1
        before = _state.torch_function.get()
        _state.torch_function.set(before._replace(modes=(*before.modes, self)))
        return self

    def __exit__(self, *error: object) -> None:
        before = _state.torch_function.get()
        _state.torch_function.set(before._replace(modes=before.modes[:-1]))
        _state.overriding.count -= 1
        _state.observers.leave(intercepts=True)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Return a mode.  Deprecated: write `with Mode():`."""
        warn_user("`Mode.push()` is no longer necessary and can be replaced with just "
                  "`with Mode()`", UserWarning)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only passes calls on.

    >>> from minigrad import ones
    >>> with BaseTorchFunctionMode():
    ...     (ones(1) + 1).item()
    2.0
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> TorchFunctionMode | None:
    """Return the innermost active mode, or `None`."""
    modes = _state.torch_function.get().modes
    mode: TorchFunctionMode | None = modes[-1] if modes else None
    return mode


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """Return the active modes, the innermost last."""
    return list(_state.torch_function.get().modes)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Let classes and modes take calls over in a block, as if no override were running.

    >>> with enable_reentrant_dispatch():
    ...     _state.torch_function.get().subclasses
    True
    """
    with Having(_state.TorchFunctionState()):
        yield


def redispatch_function(func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
    """Run `func` as if its arguments were plain, but not the functions that it calls.

    >>> from minigrad import Tensor, ones
    >>> class Mine(Tensor): pass
    >>> type(redispatch_function(Tensor.mul, (Mine,), (ones(1).as_subclass(Mine), 2))).__name__
    'Tensor'
    """
    before = _state.torch_function.get()
    own = "published" in getattr(func, "__dict__", {}) or func.__name__ == "__get__"
    with Having(_state.TorchFunctionState(False) if own else before._replace(skips=True)):
        return func(*args, **(kwargs or {}))

