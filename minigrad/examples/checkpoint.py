"""Checkpointing with saved-tensor hooks: keep a segment's input and recompute the rest.

This is the idea of `minigrad.utils.checkpoint`, which also has PyTorch's options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from ..autograd.grad_mode import enable_grad
from ..autograd.graph import saved_tensors_hooks
from ..graph.saved_tensor import SavedTensor
from ..ops.random.generator import fork_rng, get_rng_state, set_rng_state
from ..tensor.tensor import Tensor

Step = Callable[[Tensor], Tensor]


class Segment:
    """One run of a function; the backward pass recomputes what its nodes save."""

    def __init__(self, function: Step, input: Tensor) -> None:
        self.function = function
        self.input = SavedTensor(input)  # it notices writes
        self.numbers = count()  # number the saved tensors: 0, 1, 2 ...
        self.again: dict[int, Tensor] = {}  # the recomputed tensors by number

    def run(self, input: Tensor) -> Tensor:
        """Return `function(input)`; a node that saves a tensor stores its number instead."""
        with saved_tensors_hooks(self.pack, self.unpack):
            return self.function(input)

    def pack(self, tensor: Tensor) -> int:
        """Return a number to store instead of a tensor: 0 for the first, 1 for the next."""
        return next(self.numbers)

    def unpack(self, number: int) -> Tensor:
        """Return the tensor with this `number`, and forget it."""
        if number not in self.again:
            self.compute_again()
        return self.again.pop(number)

    def compute_again(self) -> None:
        """Run the function again, and collect what its nodes save in `again`, by number."""
        numbers = count()

        def keep(tensor: Tensor) -> None:
            self.again[next(numbers)] = tensor.detach()

        with enable_grad(), saved_tensors_hooks(keep, nothing):
            self.function(self.input_again())

    def input_again(self) -> Tensor:
        """Return the input as a leaf; raise `RuntimeError` if it was written to in the meantime."""
        saved = self.input.unpack(None)
        leaf: Tensor = saved.detach().requires_grad_(self.input.requires_grad)
        return leaf


def nothing(packed: None) -> Tensor:
    """Raise, because no backward pass walks the graph of the second run."""
    raise RuntimeError("the second run of a segment has no backward pass")


class RandomSegment(Segment):
    """A segment whose function may draw random numbers: both runs draw the same ones."""

    def __init__(self, function: Step, input: Tensor) -> None:
        super().__init__(function, input)
        self.state = get_rng_state()  # of the generator, before the first run

    def compute_again(self) -> None:
        """Recompute with the first run's random numbers, without changing later ones."""
        with fork_rng():
            set_rng_state(self.state)
            super().compute_again()


def checkpoint(function: Step, input: Tensor) -> Tensor:
    """Return `function(input)`, keeping only the input for the backward pass.

    >>> from minigrad import tensor
    >>> x = tensor([0.0, -1.0], requires_grad=True)
    >>> checkpoint(lambda x: x.exp().sin(), x).sum().backward()
    >>> x.grad
    tensor([0.5403, 0.3433])
    """
    return RandomSegment(function, input).run(input)


def in_segments(steps: Sequence[Step], input: Tensor, segments: int) -> Tensor:
    """Run steps in order, in checkpoints of equal length; 0 segments means no checkpoints."""
    def chained(some: Sequence[Step]) -> Step:
        def run(x: Tensor) -> Tensor:
            for step in some:
                x = step(x)
            return x
        return run

    if not segments:
        return chained(steps)(input)
    length = -(-len(steps) // segments)
    for start in range(0, len(steps), length):
        input = checkpoint(chained(steps[start : start + length]), input)
    return input
