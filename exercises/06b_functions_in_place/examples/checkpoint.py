# Stage 06b, Functions and operations in place, checkpointing: the exercise for minigrad/examples/checkpoint.py.
# Made by `minigrad dev build`. The lesson is lessons/06b_functions_in_place.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06b
# docs/en/glossary.md explains the names used inside the package.

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
        # 06b.4 Numbers in place of tensors (about 9 lines)
        # A segment keeps a number in place of each tensor that its nodes save. `unpack`
        # returns the tensor for a number once; if that tensor isn't there, the function runs
        # again.
        #   first run of tanh, sin, exp  -> pack returns 0, 1, 2
        #   compute_again()              -> self.again is {0: tensor, 1: tensor, 2: tensor}
        #   unpack(1)                    -> that tensor; self.again has 0 and 2 left
        #   unpack(1) once more          -> all are computed again
        # Mind:
        # - The second run takes place during a backward pass, which doesn't record anything.
        # - Keep tensors without their history.
        # Use: `self.input_again()`, `saved_tensors_hooks(keep, nothing)`; `keep` is yours.
        raise NotImplementedError("06b.4 Numbers in place of tensors is yours to write")

    def unpack(self, number: int) -> Tensor:
        """Return the tensor with this `number`, and forget it."""
        # 06b.4 Numbers in place of tensors: see the task at `Segment.pack`.
        raise NotImplementedError("06b.4 Numbers in place of tensors is yours to write")

    def compute_again(self) -> None:
        """Run the function again, and collect what its nodes save in `again`, by number."""
        # 06b.4 Numbers in place of tensors: see the task at `Segment.pack`.
        raise NotImplementedError("06b.4 Numbers in place of tensors is yours to write")

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
        # 06b.5 The same random numbers (about 3 lines)
        # A dropout inside the segment draws its mask in both runs. Make the second run draw
        # the numbers of the first, and leave later numbers as they would have been. With seed
        # 0:
        #   first run draws 0.4963, 0.7682   -> the second run draws 0.4963, 0.7682
        #   then rand(1)                     -> 0.0885, as without a second run
        # Mind:
        # - The second run may raise.
        # Use: `self.state`, the generator's state before the first run;
        # `set_rng_state(state)`; `fork_rng()`; `super().compute_again()`.
        raise NotImplementedError("06b.5 The same random numbers is yours to write")


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
