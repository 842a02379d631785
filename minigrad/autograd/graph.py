"""Graph tools: saved-tensor hooks, gradient edges, hooks on several tensors.

Source: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from .. import _state
from ..engine.tasks import Task, current_task, will_execute
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.hooks import RemovableHandle
from ..graph.node import Node
from ..graph.special_versions import INFERENCE
from ..tensor.tensor import Tensor
from .grad_mode import _Mode

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_multithreading_enabled",
]

# -------------------------------------------------------------------- hooks on saved tensors

_hooks_disabled: ContextVar[str | None] = ContextVar("hooks_disabled", default=None)
_mutation_allowed: ContextVar[bool] = ContextVar("mutation_allowed", default=False)
_multithreading: ContextVar[bool] = ContextVar("multithreading", default=True)


class saved_tensors_hooks:
    """In a block, nodes store `pack_hook(tensor)` instead of each tensor that they save.

    In backward, `unpack_hook(packed)` must return a tensor with the same values.  If blocks nest,
    the innermost is active.  Entering a block raises `RuntimeError` while hooks are disabled, and
    `TypeError` unless both hooks are callable.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.item(), lambda packed: tensor(packed)):
    ...     y = x.exp()
    >>> y.backward(); x.grad
    tensor(20.0855)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any],
                 unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc: object) -> None:
        pop_hooks()


def push_hooks(pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
    """Push a pair of hooks on this thread, active until `pop_hooks`."""
    message = _hooks_disabled.get()
    if message is not None:
        raise RuntimeError(message)
    if not (callable(pack_hook) and callable(unpack_hook)):
        raise TypeError("_push_saved_tensors_default_hooks(): incompatible function arguments. "
                        "The pack hook and the unpack hook have to be callable.")
    _state.saved_tensors_hooks.set((*_state.saved_tensors_hooks.get(), (pack_hook, unpack_hook)))
    _state.observers.enter()


def pop_hooks() -> None:
    """Pop the pair of hooks that was pushed last."""
    _state.observers.leave()
    _state.saved_tensors_hooks.set(_state.saved_tensors_hooks.get()[:-1])


class save_on_cpu(saved_tensors_hooks):
    """In a block, keep saved tensors in CPU memory; backward moves them back.

    `pin_memory` requests a copy in page-locked memory; without a GPU it is an ordinary copy.
    `device_type` names the type of GPU; minigrad supports only one.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.save_on_cpu

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> with save_on_cpu():
    ...     y = x * x
    >>> y.backward(); x.grad
    tensor(6.)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            kept = tensor.cpu()
            return tensor.device, kept.clone() if pin_memory and kept is tensor else kept

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In a block, using `saved_tensors_hooks` raises a `RuntimeError` with this message.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.disable_saved_tensors_hooks

    >>> with disable_saved_tensors_hooks("no hooks here"):
    ...     with save_on_cpu(): pass
    Traceback (most recent call last):
        ...
    RuntimeError: no hooks here
    """
    if _state.saved_tensors_hooks.get():
        raise RuntimeError(error_message)
    with _state.having(_hooks_disabled, error_message):
        yield


def hooks_disabled_message() -> str | None:
    """Return the error message for saved-tensor hooks, or `None` while they are allowed."""
    return _hooks_disabled.get()


class Handle:
    """A node's handle for a tensor that is stored elsewhere."""


class SavedCopies:
    """Copies of saved tensors, each kept as long as a node holds its handle."""

    def __init__(self) -> None:
        self.copies: WeakKeyDictionary[Handle, Tensor] = WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> Handle:
        """Copy a tensor and return its handle."""
        handle = Handle()
        self.copies[handle] = tensor.clone()
        return handle

    def unpack(self, handle: Handle) -> Tensor:
        """Return the copy for a handle."""
        copy = self.copies.get(handle)
        if copy is None:
            raise AssertionError("Trying to backward outside of the "
                                 "'allow_mutation_on_saved_tensors' contextin which the graph was "
                                 "originally recorded.")
        return copy

    def clear(self) -> None:
        """Drop all copies, so the recorded graph can no longer run backward."""
        self.copies.clear()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[SavedCopies]:
    """In a block, allow in-place writes to tensors that were saved for backward.

    Inside the block, backward uses the saved values; after the block, it raises `AssertionError`.
    minigrad copies tensors when they are saved, PyTorch at the first write.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.allow_mutation_on_saved_tensors

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> with allow_mutation_on_saved_tensors():
    ...     y = x * 2; z = y * y; y.zero_().item()
    ...     z.backward(); x.grad
    0.0
    tensor(24.)
    """
    if _mutation_allowed.get():
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    saved = SavedCopies()
    with saved_tensors_hooks(saved.pack, saved.unpack):
        try:
            _mutation_allowed.set(True)
            yield saved
        finally:
            saved.clear()
            _mutation_allowed.set(False)


# -------------------------------------------------------------------- edges and versions


class GradientEdge(NamedTuple):
    """The edge on which the gradient of a tensor arrives: output `output_nr` of `node`.

    `backward` and `grad` accept it instead of the tensor.  PyTorch's `ownership_token` keeps the
    graph alive; in minigrad the node does.

    >>> from minigrad import autograd, tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> y = x * x; edge = get_gradient_edge(y); edge.node.name(), edge.output_nr
    ('MulBackward0', 0)
    >>> autograd.grad(y * 5, edge)  # as from y itself
    (tensor(5.),)
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of a tensor; raise `RuntimeError` unless it requires grad.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.get_gradient_edge

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> get_gradient_edge(x * x).node.name()
    'MulBackward0'
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not "
                           "require gradients")
    node, index = tensor._edge()
    assert node is not None
    return GradientEdge(node, index)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to the memory of one or several tensors and so invalidate saved values.

    Inference tensors have no version and are skipped.

    >>> from minigrad import tensor
    >>> x = tensor(3.0)
    >>> increment_version(x); x._version
    1
    """
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if one._counter is not INFERENCE:
            one._bump()


# -------------------------------------------------------------------- hooks on several tensors


class _MultiHandle(RemovableHandle):
    """A handle that removes several hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        super().__init__()
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[..., None],
    *,
    mode: str = "all",
) -> RemovableHandle:
    """Call `fn` once in each backward pass that computes gradients of the tensors.

    With `mode="all"` it calls `fn(grads)` once the pass has computed all the gradients it needs,
    with `None` for the rest. With `mode="any"` it calls `fn(grad)` with the first gradient.  Raises
    `ValueError` for other modes.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook

    >>> from minigrad import tensor
    >>> a, b = tensor(2.0, requires_grad=True), tensor(5.0, requires_grad=True)
    >>> handle = register_multi_grad_hook([a, b], print)
    >>> (a * b).backward()
    [tensor(5.), tensor(2.)]
    """
    modes = ("all", "any")
    if mode not in modes:
        raise ValueError(f"Expects mode to be one of {modes} but got {mode}")
    if mode == "any":
        first = _call_once(fn)
        return _MultiHandle([t.register_hook(first) for t in tensors if t.requires_grad])
    collect = _Collector(tensors, fn)
    return _MultiHandle([t.register_hook(functools.partial(collect, i))
                         for i, t in enumerate(tensors)])


def _call_once(fn: Callable[..., None]) -> Callable[[Tensor], None]:
    """Return a hook that calls `fn` only the first time it runs in a backward pass."""
    lock = Lock()
    ran: WeakKeyDictionary[Task, bool] = WeakKeyDictionary()

    @functools.wraps(fn)
    def hook(grad: Tensor) -> None:
        task = _running_task()
        with lock:
            if task in ran:
                return
            ran[task] = True
        fn(grad)

    return hook


class _Collector:
    """Collects the gradients of several tensors until the running pass has computed them all.

    It refers weakly to nodes and leaves, because they hold the hook.
    """

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None]) -> None:
        self.fn = fn
        self.getters = [_node_getter(t) for t in tensors]
        self.lock = Lock()
        self.arrived: WeakKeyDictionary[Task, list[Tensor | None]] = WeakKeyDictionary()
        self.missing: WeakKeyDictionary[Task, int] = WeakKeyDictionary()

    def __call__(self, index: int, grad: Tensor) -> None:
        task = _running_task()
        with self.lock:
            if task not in self.missing:
                nodes = [get() for get in self.getters]
                self.missing[task] = sum(n is not None and will_execute(n) for n in nodes)
                self.arrived[task] = [None] * len(nodes)
            self.arrived[task][index] = grad
            self.missing[task] -= 1
            if self.missing[task]:
                return
            grads = self.arrived.pop(task)
            del self.missing[task]
        self.fn(grads)


def _node_getter(tensor: Tensor) -> Callable[[], Node | None]:
    """Return a function that returns the node of a tensor's gradient, without keeping it alive."""
    node = tensor._edge()[0]
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    if not isinstance(node, AccumulateGrad):
        return ref(node)
    leaf = ref(tensor)

    def accumulator() -> Node | None:
        alive = leaf()
        return None if alive is None else alive._edge()[0]

    return accumulator


def _running_task() -> Task:
    task = current_task()
    assert task is not None, "expected this hook to be called inside a backward call"
    return task


# -------------------------------------------------------------------- threads


class set_multithreading_enabled(_Mode):
    """Set whether backward may use several threads, immediately or for a `with` block.

    It has no effect, because backward runs on the thread that calls it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.set_multithreading_enabled.html

    >>> with set_multithreading_enabled(False):
    ...     is_multithreading_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.previous = _multithreading.get()
        self.mode = bool(mode)
        _multithreading.set(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _multithreading.set(self.previous)

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)


def is_multithreading_enabled() -> bool:
    """Return whether backward may use several threads.

    >>> is_multithreading_enabled()
    True
    """
    return _multithreading.get()
