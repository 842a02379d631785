"""Non-reentrant checkpointing: nodes save empty slots, and a second forward run fills them.

NOTE [Regions and slots]
    While a checkpointed function (a region) runs forward, its nodes store an empty `Slot` for each
    tensor that they save.  When a backward pass opens the first slot, the region runs again, and
    the tensors that this second run saves fill the slots in the same order.  Opening a slot empties
    it, so each tensor lives only from the second run until its use.

    The region refers weakly to its slots, and a slot to each backward pass. So freeing a node drops
    its slot, and the end of a pass drops tensors that were not read.

NOTE [Regions in regions]
    A region's inputs are saved like a node's tensors.  Inside another region they become slots of
    the outer one, so running the inner region again first runs the outer one.  Only the hooks of
    the innermost region are active, so each saved tensor belongs to just one region.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..autograd.grad_mode import enable_grad
from ..autograd.graph import saved_tensors_hooks
from ..engine.tasks import current_task
from ..frames import user_frame
from ..graph.saved_tensor import SavedTensor
from ..tensor.tensor import Tensor

TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint-debug mode globally.
"""


class CheckpointError(RuntimeError):
    """Raised if the two runs of a checkpointed function save different tensors.

    >>> from minigrad import tensor
    >>> from minigrad.utils.checkpoint import checkpoint
    >>> runs = []
    >>> def function(x):
    ...     runs.append(x)
    ...     return x.exp().exp() if len(runs) == 1 else x.exp()
    >>> y = checkpoint(function, tensor(1.0, requires_grad=True), use_reentrant=False)
    >>> try:
    ...     y.backward()
    ... except CheckpointError as error:
    ...     print(error)
    torch.utils.checkpoint: A different number of tensors was saved during the original forward ...
    """


class EnoughRecomputed(BaseException):
    """Ends a second run that has filled all slots; `except Exception` does not catch it."""


class Slot:
    """Placeholder for a tensor that a node saves; see NOTE [Regions and slots]."""

    __slots__ = ("__weakref__",)


Recomputed = WeakKeyDictionary[Slot, Tensor | None]  # `None` means the slot was opened


class Outside:
    """Placeholder for a backward pass, for reading a saved tensor outside of one."""


def metadata(tensor: Tensor) -> dict[str, Any]:
    """Return the metadata on which both runs must agree."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


DETERMINISM_CHECKS: dict[str, Callable[[Tensor], Any]] = {
    "default": metadata,
    "none": lambda tensor: None,
}


class Region:
    """One call of a checkpointed function."""

    def __init__(self, function: Callable[..., Any], inputs: tuple[Any, ...], early_stop: bool,
                 describe: Callable[[Tensor], Any], debug: bool) -> None:
        self.function = function
        self.inputs = [SavedTensor(x) if isinstance(x, Tensor) else x for x in inputs]
        self.early_stop = early_stop
        self.describe = describe
        self.slots: list[ref[Slot]] = []
        self.recomputed: WeakKeyDictionary[Any, Recomputed] = WeakKeyDictionary()  # by pass
        self.described: list[Any] = []
        self.log: list[str] | None = [] if debug else None
        self.complete = False  # whether the first run is over
        self.backward_inside = False  # whether a second run saved more before that

    def hooks(self) -> saved_tensors_hooks:
        """Return the hooks for the first run."""
        return saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor: Tensor) -> Slot:
        """Return a slot instead of the tensor."""
        slot = Slot()
        self.slots.append(ref(slot))
        self.described.append(self.describe(tensor))
        if self.log is not None:
            self.log.append(saved_where(tensor))
        return slot

    def unpack(self, slot: Slot) -> Tensor:
        """Return the tensor of a slot; the first call in a pass runs the region again."""
        task = current_task() or Outside()
        tensors = self.recomputed.get(task)
        if tensors is None:
            tensors = Recomputed()
            self.compare(tensors, self.run_again(tensors))
            self.recomputed[task] = tensors
        if slot not in tensors:
            raise CheckpointError("torch.utils.checkpoint: the tensor to unpack was not computed "
                                  "again.")
        tensor, tensors[slot] = tensors[slot], None
        if tensor is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once.")
        return tensor

    def run_again(self, tensors: Recomputed) -> list[Any]:
        """Run the function again and fill the slots; return a description of each saved tensor."""
        inputs = [x.unpack(None) if isinstance(x, SavedTensor) else x for x in self.inputs]
        log: list[str | None] = []

        def refill(tensor: Tensor) -> Tensor:
            number = len(log)
            log.append(None if self.log is None else saved_where(tensor))
            if number >= len(self.slots):
                self.more_than_before(log)
                return tensor
            slot = self.slots[number]()
            tensor = tensor.detach()  # the history would form a cycle
            if slot is not None:
                tensors[slot] = tensor
            if self.early_stop and len(log) == len(self.slots):
                raise EnoughRecomputed
            return tensor  # for a backward pass inside the function

        try:
            with saved_tensors_hooks(refill, lambda tensor: tensor), enable_grad():
                self.function(*inputs)
        except EnoughRecomputed:
            pass
        return log

    def more_than_before(self, log: list[Any]) -> None:
        """Raise for a surplus tensor, unless the first run has not finished yet."""
        if self.complete:
            raise self.error("torch.utils.checkpoint: trying to save more tensors during "
                             "recomputation than during the original forward pass.\n", log)
        self.backward_inside = True

    def compare(self, tensors: Recomputed, log: list[Any]) -> None:
        """Raise unless both runs saved the same number of tensors with equal metadata."""
        if self.backward_inside:
            return
        if len(log) != len(self.slots):
            raise self.error(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.slots)}\n"
                f"Number of tensors saved during recomputation: {len(log)}.\n", log)
        wrong = ""
        for number, (slot, before) in enumerate(zip(self.slots, self.described)):
            alive = slot()
            tensor = None if alive is None else tensors.get(alive)
            if tensor is not None and self.describe(tensor) != before:
                wrong += (f"tensor at position {number}:\nsaved metadata: {before}\n"
                          f"recomputed metadata: {self.describe(tensor)}\n")
        if wrong:
            raise self.error("torch.utils.checkpoint: Recomputed values for the following tensors "
                             f"have different metadata than during the forward pass.\n{wrong}.\n",
                             log)

    def error(self, message: str, log: list[Any]) -> CheckpointError:
        """Return the error; with `debug` it lists the tensors that each run saved."""
        if self.log is None:
            return CheckpointError(message + TIP)
        before, after = ("\n".join(f"  {i}: {line}" for i, line in enumerate(lines))
                         for lines in (self.log, log))
        return CheckpointError(f"{message}\nTensors saved during the original forward:\n{before}\n"
                               f"\nTensors saved during recomputation:\n{after}\n")


def saved_where(tensor: Tensor) -> str:
    """Describe a tensor that is being saved, and the innermost line outside of the package."""
    frame, _ = user_frame()
    file, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, number, frame.f_globals).strip()
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{dtype}{list(tensor.shape)} at {file}:{number} in {frame.f_code.co_name}: {text}"


@contextmanager
def unsuppressed(context: Any) -> Iterator[None]:
    """Enter the caller's context, and raise if it swallows exceptions of the function."""
    finished = False
    with context:
        yield
        finished = True
    if not finished:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. This is not supported because "
            "checkpoint cannot return a value for a failed forward.")
