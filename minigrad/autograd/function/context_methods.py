"""The methods of a context that `forward` may call."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .legacy import LegacyContext


class FunctionCtx(LegacyContext):
    """The methods of a context that `forward` may call."""

    to_save: tuple[Tensor | None, ...]
    saved_for_forward: tuple[Tensor | None, ...] | None
    dirty_tensors: tuple[Tensor, ...]
    non_differentiable: tuple[Tensor, ...]
    materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`.

        Values that are not tensors can be set on `ctx` as attributes.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for `jvp`, which finds them in `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare the inputs that `forward` wrote to; `forward` must return them as well."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that have no gradient; `backward` gets zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """If False, `backward` gets `None` instead of zeros for outputs without a gradient."""
        self.materialize_grads = value
