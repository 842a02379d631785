# Stage 13a, Modules: the exercise for minigrad/nn/module.py.
# Made by `minigrad dev build`. The lesson is lessons/13a_modules.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13a
# docs/en/glossary.md explains the names used inside the package.

"""Module: a layer or network, with its parameters, buffers and submodules.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

from .. import _state
from ..autograd.grad_mode import no_grad
from ..dtypes import as_dtype, dtype, float16, float32, float64
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .member_tables import type_name
from .module_call import HOOK_TABLES, ModuleCall
from .module_state import ModuleState

__all__ = ["Module", "indented", "type_name", "zero_grad"]


class Module(ModuleState, ModuleCall):
    """Base of all layers and networks; subclasses compute their result in `forward`.

    Set parameters and submodules as attributes, and register buffers with `register_buffer`: then
    `parameters()` finds them, `to()` moves them and `state_dict()` saves them.

    >>> from minigrad import nn
    >>> class Twice(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = nn.Linear(3, 3)
    ...     def forward(self, x):
    ...         return self.layer(self.layer(x))
    >>> [name for name, _ in Twice().named_parameters()]
    ['layer.weight', 'layer.bias']
    """

    dump_patches = False
    call_super_init = False

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        put = super().__setattr__
        if not self.call_super_init:
            refuse_arguments(type(self).__name__, args, kwargs)
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_modules", {})
        put("_non_persistent_buffers_set", set())
        put("_is_full_backward_hook", None)
        for table in HOOK_TABLES:
            put(table, OrderedDict())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; subclasses override this method."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required '
                                  '"forward" function')

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self.__dict__.setdefault("_is_full_backward_hook", None)
        for table in HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())

    # ---------------------------------------------------------------- changing the whole module

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` on every submodule, and finally on the module itself.

        >>> from minigrad import nn
        >>> seen = []
        >>> _ = nn.Sequential(nn.ReLU(), nn.Tanh()).apply(lambda m: seen.append(type(m).__name__))
        >>> seen
        ['ReLU', 'Tanh', 'Sequential']
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Switch the module and all its submodules to training mode, or to evaluation mode.

        Raises `ValueError` if `mode` is not a bool.

        >>> from minigrad import nn
        >>> nn.Dropout().eval().train().training
        True
        """
        # 13a.3 Training and evaluation mode (about 7 lines)
        # Put a module and everything below it into training mode or into evaluation mode.
        #   net.train(False) -> net, with training False in net and in all modules below it
        #   net.eval()       -> the same
        #   net.train(1)     -> ValueError "training mode is expected to be boolean"
        # Mind:
        # - A part may override `train`, for example to stay frozen, so it has to be asked.
        # - If `train` rejects a mode, the module stays unchanged.
        # - The mode has no effect on gradients.
        raise NotImplementedError("13a.3 Training and evaluation mode is yours to write")

    def eval(self) -> Self:
        """Switch the module and all its submodules to evaluation mode, like `train(False)`.

        >>> from minigrad import nn
        >>> nn.Dropout().eval().training
        False
        """
        # 13a.3 Training and evaluation mode: see the task at `Module.train`.
        raise NotImplementedError("13a.3 Training and evaluation mode is yours to write")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters.

        >>> from minigrad import nn
        >>> [p.requires_grad for p in nn.Linear(3, 2).requires_grad_(False).parameters()]
        [False, False]
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros.

        >>> from minigrad import nn, ones
        >>> layer = nn.Linear(2, 1)
        >>> layer(ones(2)).backward()
        >>> layer.zero_grad()
        >>> layer.bias.grad
        """
        for parameter in self.parameters():
            zero_grad(parameter, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of parameters, gradients and buffers with the result of `fn`.

        Parameters and gradients remain the same tensor objects, whereas buffers are new tensors.
        """
        # 13a.4 Moving a module (about 13 lines)
        # Apply `fn` to all parameters, gradients and buffers, and store the results. `to` and
        # `double` are built on this method.
        #   m.w = Parameter([3.0]), m.w.grad [7.0], a buffer [5.0]
        #   m._apply(lambda t: t + 1) -> m; m.w [4.0], m.w.grad [8.0], the buffer [6.0]
        #   recurse=False             -> this module alone; else the parts first
        # Mind:
        # - Parameters and gradients remain the same tensors; buffers are replaced in their
        #   table.
        # - Calls of `fn` on parameters and gradients aren't recorded.
        # - Skip names that are `None`. A gradient may be missing.
        # Use: `parameter._grad`, `self.children()`.
        raise NotImplementedError("13a.4 Moving a module is yours to write")

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, cast to a floating-point dtype, or take both from a tensor.

        >>> from minigrad import float64, nn
        >>> nn.Linear(3, 2).to(float64).weight.dtype
        torch.float64
        """
        if args and isinstance(args[0], Tensor):
            args = (args[0].device, args[0].dtype, *args[1:])
        args = tuple(map(as_dtype, args))
        if "dtype" in kwargs:
            kwargs["dtype"] = as_dtype(kwargs["dtype"])
        wanted = next((a for a in (*args, kwargs.get("dtype")) if isinstance(a, dtype)), None)
        if wanted is not None and not wanted.is_floating_point:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got "
                            f"desired dtype={wanted}")
        elsewhere = [a for a in args if not isinstance(a, dtype)]
        others = {k: v for k, v in kwargs.items() if k != "dtype"}

        def move(tensor: Tensor) -> Tensor:
            if "memory_format" in others and tensor.dim() not in (4, 5):
                return tensor.to(*args, **{k: v for k, v in kwargs.items() if k != "memory_format"})
            if tensor.is_floating_point():
                return tensor.to(*args, **kwargs)
            return tensor.to(*elsewhere, **others) if elsewhere or others else tensor

        return self._apply(move)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying values, so the new ones are arbitrary.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).to_empty(device="cpu").weight.shape
        torch.Size([2, 3])
        """
        return self._apply(lambda t: F.empty_like(t, device=device), recurse)

    def type(self, dst_type: Any) -> Self:
        """Cast all parameters and buffers to a dtype.

        >>> from minigrad import float64, nn
        >>> nn.Linear(3, 2).type(float64).weight.dtype
        torch.float64
        """
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Cast all floating-point parameters and buffers to float32.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).double().float().weight.dtype
        torch.float32
        """
        return self.to(float32)

    def double(self) -> Self:
        """Cast all floating-point parameters and buffers to float64.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).double().weight.dtype
        torch.float64
        """
        return self.to(float64)

    def half(self) -> Self:
        """Cast all floating-point parameters and buffers to float16.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).half().weight.dtype
        torch.float16
        """
        return self.to(float16)

    def bfloat16(self) -> Self:
        """Raise `NotImplementedError`, because NumPy has no bfloat16.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).bfloat16()
        Traceback (most recent call last):
            ...
        NotImplementedError: bfloat16 is not supported: use half(), float() or double()
        """
        raise NotImplementedError("bfloat16 is not supported: use half(), float() or double()")

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).cpu().weight.device
        device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move all parameters and buffers to a GPU.

        >>> from minigrad import cuda, nn
        >>> nn.Linear(3, 2).cuda().weight.is_cuda if cuda.is_available() else True
        True
        """
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self) -> Self:
        """Raise `NotImplementedError`: only the threads of one process share its tensors.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).share_memory()
        Traceback (most recent call last):
            ...
        NotImplementedError: share_memory is not supported: tensors live in the memory of one ...
        """
        raise NotImplementedError("share_memory is not supported: tensors live in the memory of "
                                  "one process; its threads share them as they are")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the module's `forward` in place, with the arguments of `torch.compile`.

        >>> from minigrad import nn, ones
        >>> layer = nn.Tanh(); layer.compile(); layer(ones(1))
        tensor([0.7616])
        """
        _state.compile_module(self, *args, **kwargs)

    # ---------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """Return the text to print between the module's parentheses.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).extra_repr()
        'in_features=3, out_features=2, bias=True'
        """
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        text = self.extra_repr()
        extra = text.split("\n") if text else []
        children = [f"({name}): {indented(repr(part))}" for name, part in self._modules.items()]
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        lines = "".join(f"\n  {line}" for line in extra + children)
        return f"{self._get_name()}({lines}\n)" if lines else f"{self._get_name()}()"


def refuse_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise `TypeError` if `Module.__init__` gets arguments, because it doesn't take any."""
    if kwargs:
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument "
                        f"'{next(iter(kwargs))}'")
    if args:
        raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were "
                        "given")


def zero_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Drop a tensor's gradient, or detach it and fill it with zeros."""
    grad = tensor._grad
    if grad is None:
        return
    if set_to_none:
        tensor._grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def indented(text: str) -> str:
    """Indent all lines except the first by two spaces."""
    return text.replace("\n", "\n  ")
