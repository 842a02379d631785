"""Losses of classes: negative log likelihood and cross entropy."""

import numpy as np

from ...backend import backend_of
from ...device import place_on
from ...dtypes import type_name
from ...op.declaration import F, Op
from ...op.publish import in_autocast, respelt
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..overloads import refuse_gradient
from .loss import reduction_of

#: The dtypes in which classes may be numbered.
CLASS_DTYPES = np.dtype("int64"), np.dtype("uint8")


def class_dim(shape):
    """Return the dimension of the classes: the second, or the only one."""
    return 0 if len(shape) == 1 else 1


def all_count(xp, target, classes, ignore_index):
    """Tell whether every target is a class, and none is to be ignored."""
    if not target.size:
        return True
    if not xp.may_ask():
        return False  # it may be so or not
    # Without its sign a negative number is larger than any class: one comparison sees both ends.
    unsigned = target if target.dtype == xp.uint8 else target.view(xp.uint64)
    return bool(unsigned.max() < classes) and not (
        0 <= ignore_index < classes and (target == ignore_index).any())


def at_classes(xp, target):
    """Return the index of the element at each row's class, of (N, C) and (N,)."""
    return xp.arange(target.shape[0]), target


def class_weights(xp, target, weight, ignore_index, dtype):
    """Return the classes with 0 for those to ignore, and what each one counts."""
    ignored = target == ignore_index
    safe = target if xp.may_ask() and not ignored.any() else xp.where(ignored, 0, target)
    counts = xp.ones(target.shape, dtype) if weight is None else weight[safe]
    return safe, xp.where(ignored, 0, counts)


def check_classes(xp, target, classes, ignore_index):
    """Raise PyTorch's error for a class out of range."""
    if not (target.size and xp.may_ask()):
        return
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    if wrong.any():
        raise IndexError(f"Target {target[wrong][0].item()} is out of bounds.")


def nll_shape(self, target, weight, reduction, ignore_index):
    """(N, C, *S) and (N, *S) give (), or (N, *S) when the reduction is "none"."""
    return tuple(target) if reduction == "none" else ()


class NllLoss(Op):
    """-self[n, target[n]] weight[target[n]]: with log probabilities, the negative log likelihood.

    The mean is over the weights.  It is linear in `self`; `NllLossInput` is its transpose.

    >>> from minigrad import tensor
    >>> NllLoss(tensor([[-1.0, -2.0]]), tensor([1]), None, "mean", -100)
    tensor(2.)
    """

    optional = ("weight",)
    public = False
    tensors = ("self", "target", "weight")
    shape = nll_shape

    def forward(xp, self, target, weight, reduction, ignore_index):
        dim = class_dim(self.shape)
        if xp.nll_loss is not None and self.dtype.kind == "f":
            result, wrong = xp.nll_loss(self, target, weight, reduction, ignore_index)
            if wrong is not None and bool(wrong):
                check_classes(xp, target, self.shape[dim], ignore_index)
            return result
        if weight is None and self.ndim == 2 and all_count(xp, target, self.shape[1], ignore_index):
            chosen = self[at_classes(xp, target)]  # the commonest case, with less to do
            if reduction == "none":
                return -chosen
            total = -xp.add.reduce(chosen)
            return total / self.dtype.type(target.size) if reduction == "mean" else total
        check_classes(xp, target, self.shape[dim], ignore_index)
        safe, counts = class_weights(xp, target, weight, ignore_index, self.dtype)
        chosen = xp.take_along_axis(self, xp.expand_dims(safe, dim), dim)
        losses = xp.where(counts == 0, 0, -chosen.reshape(target.shape)) * counts
        if reduction == "none":
            return losses
        total = xp.sum(losses)
        return total / xp.sum(counts) if reduction == "mean" else total

    def grad_self(g, self, target, weight, reduction, ignore_index, self_sizes):
        result = NllLossInput(g, target, weight, self_sizes, reduction, ignore_index)
        return F.depend_on(result, self)

    def samples(make):
        yield make(4, 3), make.ints(4, high=3), None, "mean", -100
        yield make(4, 3), make.ints(4, high=3), make(3, low=0.5, high=2.0).detach(), "mean", 1
        yield make(2, 3, 4), make.ints(2, 4, high=3), None, "none", -100
        yield make(3), make.ints(high=3), None, "sum", -100


class NllLossInput(Op):
    """Put each gradient, negated and weighted, at the class it belongs to: a tensor of `sizes`.

    >>> from minigrad import tensor
    >>> NllLossInput(tensor(1.0), tensor([1, 0]), None, (2, 2), "mean", -100)
    tensor([[ 0.0000, -0.5000],
            [-0.5000,  0.0000]])
    """

    optional = ("weight",)
    public = False
    node = "NllLossBackwardBackward"
    tensors = ("grad", "target", "weight")

    def shape(grad, target, weight, sizes, reduction, ignore_index):
        return tuple(sizes)

    def forward(xp, grad, target, weight, sizes, reduction, ignore_index):
        dim = class_dim(sizes)
        if xp.nll_gradient is not None and grad.dtype.kind == "f":
            return xp.nll_gradient(grad, target, weight, sizes, reduction, ignore_index)
        if weight is None and len(sizes) == 2 and all_count(xp, target, sizes[1], ignore_index):
            result = xp.zeros(sizes, grad.dtype)
            shared = reduction == "mean" and target.size
            result[at_classes(xp, target)] = -grad / grad.dtype.type(target.size) if shared else (
                -grad)
            return result
        safe, counts = class_weights(xp, target, weight, ignore_index, grad.dtype)
        values = counts * (-grad / xp.sum(counts) if reduction == "mean" else -grad)
        result = xp.zeros(sizes, grad.dtype)
        xp.put_along_axis(result, xp.expand_dims(safe, dim),
                          xp.expand_dims(xp.where(counts == 0, 0, values), dim), dim)
        return result

    def grad_grad(g, target, weight, reduction, ignore_index):
        return NllLoss(g, target, weight, reduction, ignore_index)

    def samples(make):
        yield make(), make.ints(4, high=3), None, (4, 3), "mean", -100
        yield make(2, 4), make.ints(2, 4, high=3), None, (2, 3, 4), "none", -100
        yield make(), make.ints(4, high=3), make(3, low=0.5).detach(), (4, 3), "sum", 1


# -------------------------------------------------------------------- public functions


@respelt
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
             reduction="mean"):
    """The negative log likelihood of the target classes: (N, C, *S) and (N, *S).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html

    >>> from minigrad import tensor
    >>> nll_loss(tensor([[-1.0, -2.0]]), tensor([1]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if len(input.shape) == 1:  # of which PyTorch looks at the target later
        refuse_gradient("nll_loss_forward", weight=weight)
    check_target(input, target, weight)
    refuse_gradient("nll_loss_forward", weight=weight)
    if weight is not None and weight.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input.dtype)} but found "
                           f"{type_name(weight.dtype)}")
    return NllLoss(input, target, weight, reduction, ignore_index)


def check_target(input, target, weight):
    """Raise PyTorch's error for classes that do not go with their predictions."""
    shape, given = tuple(input.shape), tuple(target.shape)
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if len(given) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if given not in ((), (1,)):
            raise ValueError("For 1D input, 1D target must have size 1, but got target size: "
                             f"{given[0]}")
    elif shape[0] != (given[0] if given else 0):
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size "
                         f"({given[0] if given else 0}).")
    elif not given:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    elif len(shape) == 2 and len(given) != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif len(shape) == 4 and len(given) != 3:
        raise RuntimeError("only batches of spatial targets supported (3D tensors) but got targets "
                           f"of dimension: {len(given)}")
    elif shape[2:] != given[1:]:
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(given)}")
    classes = shape[class_dim(shape)]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or "
                           f"no classes but got weight tensor of shape: {list(weight.shape)}")
    array = target._array if isinstance(target, Tensor) else target
    if array.dtype not in CLASS_DTYPES:
        raise RuntimeError("expected target dtype to be Long or Byte, but got "
                           f"{type_name(target.dtype)}")


@in_autocast
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    """The negative log likelihood of softmax(input): classes (N, *S) or probabilities (N, C, *S).

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
        return cross_entropy_of_chances(logs, target, weight, reduction, label_smoothing, dim)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0:
        return loss
    smooth = smoothing_loss(logs, target, weight, ignore_index, reduction, dim)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / shape[dim])


def cross_entropy_of_chances(logs, target, weight, reduction, label_smoothing, dim):
    """Return the cross entropy of log probabilities and probabilities, both (N, C, *S)."""
    array = target._array if isinstance(target, Tensor) else target
    if array.dtype.kind != "f":
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
    """Lay a vector along one dimension."""
    return F.reshape(vector, (1,) * dim + (-1,) + (1,) * (ndim - dim - 1))


def smoothing_loss(logs, target, weight, ignore_index, reduction, dim):
    """Return the loss of a prediction against all classes alike: what smoothing mixes in."""
    if weight is not None:
        losses = -F.sum(logs * along(weight, dim, len(logs.shape)), dim)
    else:
        losses = -F.sum(logs, dim)
    array = target._array if isinstance(target, Tensor) else target
    xp = backend_of(array)
    table = weight._array if isinstance(weight, Tensor) else weight
    dtype = (logs._array if isinstance(logs, Tensor) else logs).dtype
    with place_on(array):
        array = array.reshape(tuple(losses.shape))
        counts = class_weights(xp, array, table, ignore_index, dtype)[1]
        arrays = [array != ignore_index, xp.as_array(counts.sum())]
    kept, count = map(Tensor._plain, arrays) if isinstance(losses, Tensor) else arrays
    losses = losses * kept
    if reduction == "none":
        return losses
    total = F.sum(losses)
    return total / count if reduction == "mean" else total
