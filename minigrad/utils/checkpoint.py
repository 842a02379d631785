"""Checkpointing: save a function's inputs instead of its intermediate tensors, to save memory.

In backward the function runs again, so checkpointing trades time for memory. There are two
variants. With `use_reentrant=False` the graph is recorded as usual, and its saved tensors are
recomputed when they are first read; everything that works without a checkpoint works with it.  With
`use_reentrant=True` the function runs without a graph, and its backward runs it again and calls
`backward` inside of backward. Therefore at least one input must require grad, `grad` and
`backward(inputs=...)` do not work, and only tensors passed directly as arguments get gradients.

Source: https://docs.pytorch.org/docs/stable/checkpoint.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from .._state import having
from ..amp.casts import as_before, told
from ..autograd import Function, backward
from ..autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from ..engine.tasks import is_checkpoint_valid
from ..frames import warn_user
from ..nn import Sequential
from ..ops.random.generator import States, fork_rng
from ..tensor.tensor import Tensor
from .recomputation import DETERMINISM_CHECKS, CheckpointError, Region, unsuppressed

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_early_stop: ContextVar[bool | None] = ContextVar("early_stop", default=None)
_debug: ContextVar[bool | None] = ContextVar("debug", default=None)


def noop_context_fn() -> Contexts:
    """Return two no-op contexts, the default of `checkpoint`'s `context_fn`.

    >>> first, second = noop_context_fn()
    >>> with first:
    ...     print("runs as ever")
    runs as ever
    """
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Return `function(*args, **kwargs)`; backward recomputes the tensors that it needs.

    With `preserve_rng_state` the second run draws the same random numbers; it also uses autocast
    like the first run. The other options only work with `use_reentrant=False`: keyword arguments;
    `context_fn`, which returns one context for the first run and one for the second;
    `determinism_check`, `"default"` to compare shapes, dtypes and devices of the tensors that both
    runs save, or `"none"`; `debug`, to list these tensors in errors; `early_stop`, to end the
    second run once it has computed all it needs. `use_reentrant` defaults to True with a warning.
    Raises `ValueError` for options that a variant does not support and, in backward,
    `CheckpointError` if the runs differ.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint

    >>> from minigrad import tensor
    >>> x = tensor(0.0, requires_grad=True)
    >>> checkpoint(lambda x: x.exp().exp(), x, use_reentrant=False).backward(); x.grad
    tensor(2.7183)
    """
    if use_reentrant is None:
        warn_of_default("torch.utils.checkpoint: the use_reentrant parameter should be passed "
                        "explicitly. Starting in PyTorch 2.9, calling checkpoint without "
                        "use_reentrant will raise an exception. ")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when "
                             "use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    forced = _debug.get()
    debug = debug if forced is None else forced
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but got "
                         f"{determinism_check}")
    first_context, second_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    state, casts = States() if preserve_rng_state else None, told()

    def again(*inputs: Any) -> None:
        with random_state(state), as_before(casts), second_context:
            function(*inputs, **kwargs)

    stop = _early_stop.get()
    region = Region(again, args, early_stop if stop is None else stop,
                    DETERMINISM_CHECKS[determinism_check], debug)
    with region.hooks(), unsuppressed(first_context):
        result = function(*args, **kwargs)
    region.complete = True
    return result


def checkpoint_sequential(functions: Any, segments: int, input: Any,
                          use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """Apply the functions to `input` one after the other, in checkpoints of equal length.

    `functions` is a Sequential or a list of modules or functions. It is cut into `segments`, all
    checkpointed except the last.  `preserve_rng_state` works as in `checkpoint`; other keywords
    raise `ValueError`.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint_sequential

    >>> from minigrad import exp, tensor
    >>> x = tensor(0.0, requires_grad=True)
    >>> checkpoint_sequential([exp, exp], 2, x, use_reentrant=False).backward(); x.grad
    tensor(2.7183)
    """
    if use_reentrant is None:
        warn_of_default("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter "
                        "should be passed explicitly. In version 2.9 we will raise an exception if "
                        "use_reentrant is not passed. ")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    parts = list(functions.children() if isinstance(functions, Sequential) else functions)
    length = len(parts) // segments
    start = 0
    for _ in range(segments - 1 if length else 0):
        input = checkpoint(in_turn(parts[start : start + length]), input,
                           use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += length
    return in_turn(parts[start:])(input)


def in_turn(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Return the composition of the functions."""

    def run(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return run


class CheckpointFunction(Function):
    """The reentrant variant: run the function without a graph, and again with one in backward.

    >>> from minigrad import tensor
    >>> x = tensor(2.0, requires_grad=True)
    >>> y = CheckpointFunction.apply(lambda x: x * x, True, x); y
    tensor(4., grad_fn=<CheckpointFunctionBackward>)
    >>> y.backward(); x.grad
    tensor(4.)
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool,
                *args: Any) -> Any:
        """Run the function and save its arguments."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state, ctx.casts = States() if preserve_rng_state else None, told()
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.inputs = [None if isinstance(x, Tensor) else x for x in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again with a graph, and backpropagate through it."""
        if not is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument.")
        given = list(ctx.inputs)
        for i, tensor in zip(ctx.places, ctx.saved_tensors):
            given[i] = tensor
        inputs = detach_variable(tuple(given))
        with random_state(ctx.state), as_before(ctx.casts), enable_grad():
            outputs = ctx.run_function(*inputs)
        pairs = [(out, g) for out, g in zip(outputs if isinstance(outputs, tuple) else (outputs,),
                                            grads)
                 if isinstance(out, Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not "
                               "necessary")
        backward([out for out, _ in pairs], [g for _, g in pairs])
        return None, None, *[x.grad if isinstance(x, Tensor) else None for x in inputs]


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace the tensors in a tuple by leaves; raise `RuntimeError` unless it is a tuple.

    >>> from minigrad import tensor
    >>> x = tensor(2.0, requires_grad=True) * 3
    >>> detach_variable((x, 7))
    (tensor(6., requires_grad=True), 7)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: "
                           f"{type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x
                 for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no input requires grad, because then no gradient would reach the function.

    >>> import warnings
    >>> from minigrad import tensor
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always"); check_backward_validity([tensor(1.0)])
    >>> print(shown[0].message)
    None of the inputs have requires_grad=True. Gradients will be None
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


@contextmanager
def random_state(state: States | None) -> Iterator[None]:
    """Set the state of the random generator within a block; a no-op for `None`."""
    with fork_rng(enabled=state is not None):
        if state is not None:
            state.restore()
        yield


def warn_of_default(beginning: str) -> None:
    """Warn that `use_reentrant` was left out."""
    warn_user(beginning + "use_reentrant=False is recommended, but if you need to preserve the "
              "current default behavior, you can pass use_reentrant=True. Refer to docs for "
              "more details on the differences between the two variants.")


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Set `early_stop` for all checkpoints that run forward in a block, overriding their own.

    >>> from minigrad import tensor
    >>> def function(x):
    ...     y = x.exp(); print("ran"); return y
    >>> with set_checkpoint_early_stop(True):
    ...     y = checkpoint(function, tensor(0.0, requires_grad=True), use_reentrant=False)
    ran
    >>> y.backward()  # ends when exp has saved its result, before the second "ran"
    """
    with having(_early_stop, enable):
        yield


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Set `debug` for all checkpoints in a block, overriding their own.

    >>> from minigrad import exp, tensor
    >>> x = tensor(0.0, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):
    ...     checkpoint(exp, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(1.)
    """
    with having(_debug, enabled):
        yield
