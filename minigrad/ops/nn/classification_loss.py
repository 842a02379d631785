"""Classification losses: negative log likelihood and cross entropy."""

import numpy as np

from ...backend import backend_of
from ...backend.kernels_loss import class_dim, class_weights
from ...device import place_on
from ...dtypes import type_name
from ...op.declaration import F, Op
from ...op.publish import in_autocast, with_aliases
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..checks import require_one_dtype
from ..overloads import refuse_gradient
from ..shape.view import array_of
from .loss import reduction_of

#: The dtypes that class indices may have.
CLASS_DTYPES = np.dtype("int64"), np.dtype("uint8")


def nll_shape(self, target, weight, reduction, ignore_index):
    """(N, C, *S) and (N, *S) give (), or (N, *S) if the reduction is `"none"`."""
    return tuple(target) if reduction == "none" else ()


class NllLoss(Op):
    """-self[n, target[n]] weight[target[n]]: for log probabilities, the negative log likelihood.

    The mean divides by the sum of the weights.  The loss is linear in `self`; `NllLossInput` is its
    transpose.

    >>> from minigrad import tensor
    >>> NllLoss(tensor([[-1.0, -2.0]]), tensor([1]), None, "mean", -100)
    tensor(2.)
    """

    optional = ("weight",)
    public = False
    tensors = ("self", "target", "weight")
    shape = nll_shape
    function = "nll_loss"

    def grad_self(g, self, target, weight, reduction, ignore_index, self_sizes):
        result = NllLossInput(g, target, weight, self_sizes, reduction, ignore_index)
        return F.depend_on(result, self)

    def samples(make):
        yield make(4, 3), make.ints(4, high=3), None, "mean", -100
        yield make(4, 3), make.ints(4, high=3), make(3, low=0.5, high=2.0).detach(), "mean", 1
        yield make(2, 3, 4), make.ints(2, 4, high=3), None, "none", -100
        yield make(3), make.ints(high=3), None, "sum", -100


class NllLossInput(Op):
    """Put each gradient, negated and weighted, at its target class: a tensor of `sizes`.

    >>> from minigrad import tensor
    >>> NllLossInput(tensor(1.0), tensor([1, 0]), None, (2, 2), "mean", -100)
    tensor([[ 0.0000, -0.5000],
            [-0.5000,  0.0000]])
    """

    optional = ("weight",)
    public = False
    node = "NllLossBackwardBackward"
    tensors = ("grad", "target", "weight")
    function = "nll_gradient"

    def shape(grad, target, weight, sizes, reduction, ignore_index):
        return tuple(sizes)

    def grad_grad(g, target, weight, reduction, ignore_index):
        return NllLoss(g, target, weight, reduction, ignore_index)

    def samples(make):
        yield make(), make.ints(4, high=3), None, (4, 3), "mean", -100
        yield make(2, 4), make.ints(2, 4, high=3), None, (2, 3, 4), "none", -100
        yield make(), make.ints(4, high=3), make(3, low=0.5).detach(), (4, 3), "sum", 1


# -------------------------------------------------------------------- public functions


@with_aliases
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
             reduction="mean") -> Tensor:
    """Return the negative log likelihood of the target classes: (N, C, *S) and (N, *S).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html

    >>> from minigrad import tensor
    >>> nll_loss(tensor([[-1.0, -2.0]]), tensor([1]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if len(input.shape) == 1:  # PyTorch checks this target later
        refuse_gradient("nll_loss_forward", weight=weight)
    check_target(input, target, weight)
    refuse_gradient("nll_loss_forward", weight=weight)
    if weight is not None:
        require_one_dtype("expected scalar type {} but found {}", input, weight)
    return NllLoss(input, target, weight, reduction, ignore_index)


def check_target(input, target, weight):
    """Raise PyTorch's error if targets do not fit the predictions."""
    shape, target_shape = tuple(input.shape), tuple(target.shape)
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if len(target_shape) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_shape not in ((), (1,)):
            raise ValueError("For 1D input, 1D target must have size 1, but got target size: "
                             f"{target_shape[0]}")
    elif shape[0] != (batch := target_shape[0] if target_shape else 0):
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size "
                         f"({batch}).")
    elif not target_shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    elif len(shape) == 2 and len(target_shape) != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif len(shape) == 4 and len(target_shape) != 3:
        raise RuntimeError("only batches of spatial targets supported (3D tensors) but got targets "
                           f"of dimension: {len(target_shape)}")
    elif shape[2:] != target_shape[1:]:
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got "
                           f"{list(target_shape)}")
    classes = shape[class_dim(shape)]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or "
                           f"no classes but got weight tensor of shape: {list(weight.shape)}")
    if array_of(target).dtype not in CLASS_DTYPES:
        raise RuntimeError("expected target dtype to be Long or Byte, but got "
                           f"{type_name(target.dtype)}")


@in_autocast
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0) -> Tensor:
    """Return the cross entropy of softmax(input) and classes (N, *S) or probabilities (N, C, *S).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html

    >>> from minigrad import tensor
    >>> cross_entropy(tensor([[0.0, 0.0]]), tensor([1]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError("label_smoothing must be between 0.0 and 1.0. Got: "
                           f"{label_smoothing:g}")
    shape = tuple(input.shape)
    if not shape:
        raise RuntimeError("input tensor should be 1D or 2D")
    dim = class_dim(shape)
    logs = F.log_softmax(input, dim)
    if shape == tuple(target.shape):
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return cross_entropy_of_chances(logs, target, weight, reduction, label_smoothing, dim)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0:
        return loss
    smooth = smoothing_loss(logs, target, weight, ignore_index, reduction, dim)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / shape[dim])


def cross_entropy_of_chances(logs, target, weight, reduction, label_smoothing, dim):
    """Return the cross entropy of log probabilities and probabilities, both (N, C, *S)."""
    if array_of(target).dtype.kind != "f":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, "
                           f"got {type_name(target.dtype)}")
    classes = logs.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    losses = logs * target
    if weight is not None:
        losses = losses * along(weight, dim, len(logs.shape))
    if reduction == "none":
        return -F.sum(losses, dim)
    total = -F.sum(losses)
    return total / (numel(tuple(logs.shape)) // classes) if reduction == "mean" else total


def along(vector, dim, ndim):
    """Reshape a vector to broadcast along one dimension."""
    return F.reshape(vector, (1,) * dim + (-1,) + (1,) * (ndim - dim - 1))


def smoothing_loss(logs, target, weight, ignore_index, reduction, dim):
    """Return the loss against the uniform distribution, which label smoothing mixes in."""
    if weight is not None:
        losses = -F.sum(logs * along(weight, dim, len(logs.shape)), dim)
    else:
        losses = -F.sum(logs, dim)
    array = array_of(target)
    xp = backend_of(array)
    with place_on(array):
        array = array.reshape(tuple(losses.shape))
        counts = class_weights(xp, array, array_of(weight), ignore_index, array_of(logs).dtype)[1]
        arrays = [array != ignore_index, xp.as_array(counts.sum())]
    counted, count = map(Tensor._plain, arrays) if isinstance(losses, Tensor) else arrays
    losses = F.where(counted, losses, 0.0)  # a product would turn an infinite gradient into nan
    if reduction == "none":
        return losses
    total = F.sum(losses)
    return total / count if reduction == "mean" else total
