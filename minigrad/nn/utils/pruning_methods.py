"""The classes that choose which entries the functions of `prune` set to zero.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.prune.BasePruningMethod.html
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

from ...op.declaration import F
from ...ops.creation.tensor_options import contiguous_format
from ...ops.random.sampling import rand
from ...tensor.tensor import Tensor
from ..module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured",
]


class BasePruningMethod(ABC):
    """Base of pruning methods: a forward pre-hook that masks the parameter.

    A subclass defines `compute_mask`. Its `PRUNING_TYPE` tells what it chooses from: "unstructured"
    from single entries, "structured" from channels along its `dim`, "global" from all entries,
    including the ones that are pruned already.

    >>> from minigrad import nn, ones, tensor
    >>> class EverySecond(BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> EverySecond().compute_mask(tensor([5.0, 6.0, 7.0]), default_mask=ones(3))
    tensor([0., 1., 0.])
    >>> layer = nn.Linear(4, 1, bias=False); _ = nn.init.ones_(layer.weight)
    >>> method = EverySecond.apply(layer, "weight"); layer.weight_mask
    tensor([[0., 1., 0., 1.]])
    >>> method.apply_mask(layer)
    tensor([[0., 1., 0., 1.]], grad_fn=<MulBackward0>)
    >>> method.remove(layer); list(layer.state_dict()), layer.weight
    (['weight'], Parameter containing:
    tensor([[0., 1., 0., 1.]], requires_grad=True))
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for a tensor: `default_mask` with additional zeros."""

    def apply_mask(self, module: Module) -> Any:
        """Return the masked parameter."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> Any:
        """Prune the parameter, in addition to earlier pruning; return the hook.

        `importance_scores`, which default to the parameter itself, decide which entries to prune
        and must have its shape. Further arguments go to the class.

        >>> from minigrad import nn
        >>> L1Unstructured.apply(nn.Linear(2, 2), "weight", amount=1).PRUNING_TYPE
        'unstructured'
        """
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        scores = _scores(importance_scores, original, f"parameter {name} of {module}")
        hooks = module._forward_pre_hooks
        earlier = hook_of(module, name)
        if earlier is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default = F.ones_like(original)
        else:
            method = _joined(hooks[earlier], method)
            default = getattr(module, name + "_mask").detach()
            default = default.clone(memory_format=contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default))
            setattr(module, name, method.apply_mask(module))
        except Exception:  # leave the module unchanged
            if earlier is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            else:
                method._pruning_methods = method._pruning_methods[:-1]
            raise
        hooks.pop(earlier, None)
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None,
              importance_scores: Tensor | None = None) -> Any:
        """Return a tensor with the chosen entries set to zero, without using a module.

        >>> from minigrad import tensor
        >>> L1Unstructured(amount=2).prune(tensor([3.0, -1.0, 2.0, -4.0]))
        tensor([ 3., -0.,  0., -4.])
        """
        scores = _scores(importance_scores, t, "tensor t")
        default = F.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Module) -> None:
        """Make the masked value the parameter, so its zeros stay."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def hook_of(module: Module, name: str) -> Any:
    """Return the key of the pre-hook that prunes the named parameter, or `None`.

    >>> from minigrad import nn
    >>> layer = nn.Linear(2, 1)
    >>> method = Identity.apply(layer, "weight")
    >>> layer._forward_pre_hooks[hook_of(layer, "weight")] is method
    True
    """
    keys = [key for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(keys) > 1:
        raise AssertionError("Avoid adding multiple pruning hooks to the same tensor "
                             f"{name} of module {module}. Use a PruningContainer.")
    return keys[0] if keys else None


def _joined(earlier: Any, method: Any) -> Any:
    """Return a container with the existing hook and a new one after it."""
    container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
    container.add_pruning_method(method)
    return container


def _scores(scores: Tensor | None, tensor: Tensor, what: str) -> Tensor:
    """Return the scores to choose entries by; raise if they have the wrong shape."""
    if scores is None:
        return tensor
    if scores.shape != tensor.shape:
        raise AssertionError(f"importance_scores should have the same shape as {what}, got "
                             f"{scores.shape} vs {tensor.shape}")
    return scores


class PruningContainer(BasePruningMethod):
    """Several pruning methods on one parameter; each chooses from the entries that are left.

    >>> from minigrad import nn
    >>> layer = nn.Linear(4, 1)
    >>> _ = L1Unstructured.apply(layer, "weight", amount=1)
    >>> both = L1Unstructured.apply(layer, "weight", amount=1)
    >>> len(both), layer.weight_mask.sum()
    (2, tensor(2.))
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method; raise `TypeError` unless it is one, `ValueError` for another parameter.

        >>> from minigrad import nn
        >>> method = L1Unstructured.apply(nn.Linear(4, 1), "weight", amount=1)
        >>> both = PruningContainer(method); both.add_pruning_method(method); len(both)
        2
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found "
                             f"'{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with the zeros of the latest method added."""
        method = self._pruning_methods[-1]
        seen = _left_to(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        mask[seen] = method.compute_mask(t[seen], default_mask=default_mask[seen]).to(mask.dtype)
        return mask


def _left_to(method: Any, t: Tensor, mask: Tensor) -> Any:
    """Return an index of the entries that the next method chooses from."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    whole = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "global":
        return tuple(whole)
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the '
                             "attribute `dim` defined.")
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    return _channels(t, dim, F.sum(mask, [d for d in range(t.dim()) if d != dim]) != 0)


def _channels(t: Tensor, dim: int, which: Any) -> tuple[Any, ...]:
    """Return an index of some channels along a dimension."""
    index: list[Any] = [slice(None)] * t.dim()
    index[dim] = which
    return tuple(index)


def _kept(t: Tensor, dim: int, which: Any, default_mask: Tensor) -> Any:
    """Return a mask that keeps some channels, except where `default_mask` is zero."""
    mask = F.zeros_like(t)
    mask[_channels(t, dim, which)] = 1
    return mask * default_mask.to(mask.dtype)


class Identity(BasePruningMethod):
    """Prune no entries, but give the parameter a mask.

    >>> from minigrad import nn
    >>> layer = nn.Linear(2, 1)
    >>> _ = Identity.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[1., 1.]])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask`."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]  # as PyTorch's
        """Give the named parameter a mask of ones; return the hook."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """Base of methods that prune a number of entries or channels, or a fraction of them."""

    def __init__(self, amount: Any) -> None:
        check_amount(amount)
        self.amount = amount

    def _number(self, size: int) -> int:
        """Return how many of `size` to prune; raise `ValueError` if it is more than `size`."""
        number: int = self.amount
        if not isinstance(self.amount, Integral):
            number = round(self.amount * size)
        if number > size:
            raise ValueError(f"amount={number} should be smaller than the number of parameters to "
                             f"prune={size}")
        return number

    def _channels_of(self, t: Tensor, dim: int) -> int:
        """Return the number of channels along a dimension, or raise if it does not exist."""
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. "
                             f"Found tensor of shape {t.shape} with {t.dim()} dims")
        if dim >= t.dim():
            raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
        return t.shape[dim]


def check_amount(amount: Any) -> None:
    """Raise unless `amount` is a non-negative integer or a fraction from 0 to 1.

    >>> check_amount(1.5)
    Traceback (most recent call last):
    ValueError: amount=1.5 should either be a float in the range [0, 1] or a non-negative integer
    """
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, Integral)
    if float(amount) < 0 or (not whole and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a "
                         "non-negative integer")


class RandomUnstructured(_Amount):
    """Prune random entries: `amount` is their number or fraction.

    >>> from minigrad import nn
    >>> layer = nn.Linear(3, 2)
    >>> _ = RandomUnstructured.apply(layer, "weight", amount=0.5)
    >>> layer.weight_mask.sum()
    tensor(3.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros at random positions."""
        number = self._number(t.numel())
        mask = default_mask.clone(memory_format=contiguous_format)
        if number:
            mask.view(-1)[F.topk(F.rand_like(t).view(-1), number).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:  # type: ignore[override]  # as PyTorch's
        """Prune the named parameter; return the hook."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prune the entries with the smallest magnitude: `amount` is their number or fraction.

    >>> from minigrad import tensor
    >>> L1Unstructured(amount=0.5).prune(tensor([3.0, 1.0, 2.0, 4.0]))
    tensor([3., 0., 0., 4.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros where `t` is closest to zero."""
        number = self._number(t.numel())
        mask = default_mask.clone(memory_format=contiguous_format)
        if number:
            mask.view(-1)[F.topk(F.abs(t).view(-1), number, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any,  # type: ignore[override]  # as PyTorch's
              importance_scores: Tensor | None = None) -> Any:
        """Prune the named parameter; return the hook."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(_Amount):
    """Prune random channels along `dim`: `amount` is their number or fraction.

    >>> from minigrad import ones
    >>> RandomStructured(amount=1, dim=0).prune(ones(3, 2)).sum()
    tensor(4.)
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros in random channels."""
        channels = self._channels_of(t, self.dim)
        number = self._number(channels)
        if not number:
            return default_mask
        chance = rand(channels)
        return _kept(t, self.dim, chance > F.kthvalue(chance, number).values, default_mask)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any,  # type: ignore[override]  # as PyTorch's
              dim: int = -1) -> Any:
        """Prune the named parameter; return the hook."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Amount):
    """Prune the channels along `dim` with the smallest n-norm: `amount` is a number or fraction.

    >>> from minigrad import tensor
    >>> LnStructured(amount=1, n=2, dim=0).prune(tensor([[3.0, 4.0], [1.0, 1.0]]))
    tensor([[3., 4.],
            [0., 0.]])
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros in the channels with the smallest norm.

        >>> from minigrad import ones, tensor
        >>> weight = tensor([[3.0, 4.0], [1.0, 1.0]])
        >>> LnStructured(amount=1, n=2, dim=0).compute_mask(weight, default_mask=ones(2, 2))
        tensor([[1., 1.],
                [0., 0.]])
        """
        channels = self._channels_of(t, self.dim)
        number = self._number(channels)
        others = list(range(t.dim()))
        del others[self.dim]
        kept = F.topk(F.norm(t, self.n, others), channels - number).indices
        return _kept(t, self.dim, kept, default_mask) if number else default_mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, n: Any,  # type: ignore[override]  # as PyTorch's
              dim: int, importance_scores: Tensor | None = None) -> Any:
        """Prune the named parameter; return the hook."""
        return super().apply(module, name, amount=amount, n=n, dim=dim,
                             importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prune where a given mask is zero.

    >>> from minigrad import tensor
    >>> CustomFromMask(tensor([1, 0])).prune(tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with the zeros of the given mask added."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask "
                                 f"shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]  # as PyTorch's
        """Prune the named parameter; return the hook."""
        return super().apply(module, name, mask=mask)
