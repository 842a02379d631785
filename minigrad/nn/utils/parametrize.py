"""Parametrizations: a module's tensor is recomputed from other tensors whenever it is read.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

from ...autograd.grad_mode import no_grad
from ...tensor.tensor import Parameter, Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

M = TypeVar("M", bound=Module)

# NOTE [What a cached value belongs to]
# The key identifies the module whose attribute is read, and the table keeps that module alive
# beside the value.  PyTorch's key identifies the module on which the parametrization was
# registered, so within `cached` a deep copy reads the first module's weight there.
_cache_enabled = 0
_cache: dict[tuple[int, str], tuple[Module, Any]] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within the block, compute each parametrized tensor only once, when it is first read.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    >>> layer.weight is layer.weight
    False
    """
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, innermost first, and the tensors they start from.

    These are `original`, or `original0`, `original1`, ... if the first parametrization's
    `right_inverse` returns several. `register_parametrization` creates this list.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 1), "weight", nn.Softplus())
    >>> layer.parametrizations.weight
    ParametrizationList(
      (0): Softplus(beta=1.0, threshold=20.0)
    )
    >>> [name for name, _ in layer.parametrizations.weight.named_parameters()]
    ['original']
    """

    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._start_of(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                             f"(list, tuple...). Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            self._keep(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_result(self(), shape, dtype)

    def _start_of(self, value: Any) -> Any:
        """Run `value` backwards through the parametrizations; skip the ones without an inverse."""
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        return value

    def _keep(self, original: Tensor, new: Tensor) -> None:
        """Register the original; it stays the same object, since an optimizer may hold it."""
        for what in ("dtype", "device"):
            before, after = getattr(original, what), getattr(new, what)
            if before != after:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the "
                                 f"{what}.\noriginal.{what}: {before}\n"
                                 f"right_inverse(original).{what}: {after}")
        with no_grad():
            original.set_(new)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Any]) -> None:
        """Register several originals, as parameters if the tensor was one."""
        for i, one in enumerate(new):
            if not isinstance(one, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                                 f"(list, tuple...). Got element {i} of the sequence with type "
                                 f"{type(one).__name__}.")
            if isinstance(original, Parameter):
                one = Parameter(one, original.requires_grad)
            one.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", one)

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the result is `value`.

        Raises `RuntimeError` if a parametrization has no `right_inverse`, and `ValueError` if one
        returns a different dtype or number of tensors than at first.

        >>> from minigrad import nn, tensor
        >>> class Double(nn.Module):
        ...     def forward(self, x): return 2 * x
        ...     def right_inverse(self, y): return y / 2
        >>> layer = register_parametrization(nn.Linear(2, 1), "weight", Double())
        >>> layer.weight = tensor([[2.0, 4.0]])  # calls it
        >>> layer.parametrizations.weight.original
        Parameter containing:
        tensor([[1., 2.]], requires_grad=True)
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not "
                                       "implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set_one(value)
            else:
                self._set_several(value)

    def _set_one(self, value: Any) -> None:
        """Assign a new value to `original`."""
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                             f"while `original` has dtype {self.original.dtype}")
        self.original.set_(value)

    def _set_several(self, values: Any) -> None:
        """Assign new values to `original0`, `original1`, ..."""
        if not isinstance(values, Sequence):
            raise ValueError("'right_inverse' must return a sequence of tensors. "
                             f"Got {type(values).__name__}.")
        if len(values) != self.ntensors:
            raise ValueError("'right_inverse' must return a sequence of tensors of length "
                             f"{self.ntensors}. Got a sequence of length {len(values)}.")
        for i, value in enumerate(values):
            original = getattr(self, f"original{i}")
            if not isinstance(value, Tensor):
                raise ValueError("'right_inverse' must return a sequence of tensors or "
                                 f"reference-type opaques. Got element {i} of type "
                                 f"{type(value).__name__}.")
            if original.dtype != value.dtype:
                raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {value.dtype} "
                                 f"while `original{i}` has dtype {original.dtype}")
            original.set_(value)

    def forward(self) -> Any:
        """Compute the tensor from the originals."""
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        place = 1
        while hasattr(self, str(place)):  # ignore other attributes
            x = self[place](x)
            place += 1
        return x


def _register(module: Module, name: str, tensor: Tensor) -> None:
    """Register a parameter as a parameter and any other tensor as a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_result(result: Any, shape: Any, dtype: Any) -> None:
    """Raise unless the first parametrization keeps shape and dtype."""
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
        if before != after:
            raise ValueError(f"Registering a parametrization may not change the {what} of the "
                             "tensor, unless `unsafe` flag is enabled.\n"
                             f"unparametrized {what}: {before}\nparametrized {what}: {after}")


def _check_another(parametrization: Any, now: Tensor, name: str) -> None:
    """Raise unless a further parametrization and its inverse keep shape and dtype."""
    result = parametrization(now)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what in ("dtype", "shape"):
        before, after = getattr(now, what), getattr(result, what)
        if before != after:
            raise ValueError(f"Registering a parametrization may not change the {what} of the "
                             "tensor, unless the `unsafe` flag is enabled.\n"
                             f"module.{name}.{what}: {before}\n"
                             f"parametrization(module.{name}).{what}: {after}")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        inverse = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError("parametrization.right_inverse must return a tensor. "
                         f"Got: {type(inverse).__name__}")
    for what in ("dtype", "shape"):
        before, after = getattr(now, what), getattr(inverse, what)
        if before != after:
            raise ValueError("The tensor returned by parametrization.right_inverse must have the "
                             f"same {what} as module.{name}, unless the `unsafe` flag is "
                             f"enabled.\nmodule.{name}.{what}: {before}\n"
                             f"returned {what}: {after}")


# ---------------------------------------------------------------- the class of the module


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    """Deep-copy a parametrized module, like `copy` would if it had no `__getstate__`."""
    if id(self) in memo:
        return memo[id(self)]
    replica = memo[id(self)] = self.__new__(self.__class__)
    replica.__dict__ = deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(self.__class__):  # type: ignore[attr-defined]  # not in its stub
        if hasattr(self, slot):
            setattr(replica, slot, deepcopy(getattr(self, slot), memo))
    return replica


def _refuse_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _give_own_class(module: Module) -> None:
    """Give the module a class that no other module has, so that it can have properties."""
    module_class = type(module)
    body: dict[str, Any] = {"__getstate__": _refuse_state}
    if not hasattr(module_class, "__deepcopy__"):
        body["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{module_class.__name__}", (module_class,), body)


def _give_property(module: Module, name: str) -> None:
    """Turn `name` into a property: reading computes the tensor, writing sets the originals."""
    if hasattr(module, name):
        raise AssertionError(f"Module already has an attribute named '{name}'")

    def read(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _cache_enabled:
            return parametrization()
        if (id(self), name) not in _cache:
            _cache[id(self), name] = self, parametrization()
        return _cache[id(self), name][1]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


# ---------------------------------------------------------------- public functions


def register_parametrization(module: M, tensor_name: str, parametrization: Module, *,
                             unsafe: bool = False) -> M:
    """Compute a parameter or buffer as `parametrization(original)` whenever it is read.

    Returns the module. Training updates the original, `module.parametrizations.<name>.original`.
    A parametrization's `right_inverse`, if it has one, computes the initial original and lets you
    assign to the tensor; it may return several originals. Further parametrizations apply to the
    result. Raises `ValueError` if the tensor does not exist, or if its shape or dtype would change
    and `unsafe` is False.

    >>> from minigrad import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x): return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> (layer.weight == layer.weight.T).all()
    tensor(True)
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(parametrization, getattr(module, tensor_name), tensor_name)
        further = module.parametrizations[tensor_name]
        further.append(parametrization)
        further.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        # This may raise, so it runs before the tensor is deleted.
        first = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = first
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a "
                         f"parametrized element with name '{tensor_name}'")
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether the named tensor is parametrized; without a name, whether any is.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> is_parametrized(layer), is_parametrized(layer, "bias")
    (True, False)
    """
    tables = getattr(module, "parametrizations", None)
    if not isinstance(tables, ModuleDict):
        return False
    return len(tables) > 0 if tensor_name is None else tensor_name in tables


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Turn a parametrized tensor back into a parameter or buffer with its current value.

    With `leave_parametrized=False` it gets the value of its original instead. Raises `ValueError`
    if the tensor is not parametrized, or if it has several originals and `leave_parametrized` is
    False.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that "
                         "is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return a module's class, ignoring parametrizations.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> type(layer).__name__, type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: M,
                                         tensor_name: str | None = None) -> M:
    """Copy the parametrizations and originals of one tensor, or of all, to another module.

    Creates tensors that `to_module` lacks; a no-op if `from_module` is not parametrized.
    Returns `to_module`.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> other = transfer_parametrizations_and_params(layer, nn.Linear(2, 2))
    >>> (other.weight == layer.weight).all()
    tensor(True)
    """
    if not is_parametrized(from_module):
        return to_module
    tables: Any = from_module.parametrizations
    for name in tables if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in tables[name]:
            register_parametrization(to_module, name, parametrization)
        for original, value in originals(tables[name]):
            setattr(to_module.parametrizations[name], original, value)
    return to_module


def originals(parametrizations: ParametrizationList) -> list[tuple[str, Any]]:
    """Return the names and tensors of the originals.

    >>> from minigrad import nn
    >>> layer = register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
    >>> [name for name, _ in originals(layer.parametrizations.weight)]
    ['original']
    """
    names = (["original"] if parametrizations.is_tensor
             else [f"original{i}" for i in range(parametrizations.ntensors)])
    return [(name, getattr(parametrizations, name)) for name in names]
