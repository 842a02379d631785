"""Loss functions: the distance of a prediction from its target, per element or reduced."""


from ...backend import backend_of
from ...device import place_on
from ...dtypes import from_numpy_dtype, type_name
from ...frames import warn_user
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import broadcast, numel
from ...tensor.tensor import Tensor
from ..checks import at_each_run, require_one_dtype
from ..creation.tensor_options import array_of
from ..overloads import refuse_gradient
from ..reduction.reduction import accumulation_dtype, require_float
from .activation_base import softplus_of

REDUCTIONS = ("none", "mean", "sum")


def reduced(xp, losses, reduction):
    """Return all losses, their mean or their sum."""
    if reduction == "none":
        return losses
    if reduction == "mean":
        require_float(losses, "mean(): could not infer output dtype. Input dtype must be either a "
                              "floating point or complex dtype. Got: {}")
    total = xp.sum(losses, dtype=accumulation_dtype(losses, None))
    if reduction == "sum":
        return total
    return total / losses.size if losses.size else total * xp.nan


def share(g, reduction, *shapes):
    """Return the gradient for each loss that `reduced` combined."""
    return g / numel(broadcast(*shapes)) if reduction == "mean" else g


def loss_shape(self, target, *args, **_):
    """() or, if the reduction is `"none"`, the broadcast shape."""
    reduction = next((a for a in args if isinstance(a, str)), "mean")
    together = broadcast(self, target)
    return together if reduction == "none" else ()


def pointwise_samples(make):
    """Yield samples of a loss of two tensors and a reduction."""
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(4), "sum"
    yield make(2, 1, 3), make(2, 1), "none"
    yield make(), make()


def difference(a, b):
    """Return a - b; a bool tensor is converted first, while arrays are already promoted."""
    return F.add(a, b, alpha=-1) if isinstance(a, Tensor) else a - b


class PairLoss(Op, abstract=True):
    """A loss of the difference of two tensors."""

    public, promote, shape, samples = False, "result", loss_shape, pointwise_samples


class MseLoss(PairLoss):
    """(self - target)²

    >>> from minigrad import tensor
    >>> MseLoss(tensor([1.0, 2.0]), tensor([0.0, 0.0]))
    tensor(2.5000)
    """

    def forward(xp, self, target, reduction="mean"):
        require(self, "f", "mse_cpu")
        return reduced(xp, xp.square(self - target), reduction)

    def grad_self(g, self, target, reduction, self_sizes, target_sizes):
        return share(g, reduction, self_sizes, target_sizes) * difference(self, target) * 2

    def grad_target(g, self, target, reduction, self_sizes, target_sizes):
        return share(g, reduction, self_sizes, target_sizes) * difference(target, self) * 2


class L1Loss(PairLoss):
    """|self - target|

    >>> from minigrad import tensor
    >>> L1Loss(tensor([1.0, -2.0]), tensor([0.0, 0.0]))
    tensor(1.5000)
    """

    def forward(xp, self, target, reduction="mean"):
        return reduced(xp, xp.abs(self - target), reduction)

    def grad_self(g, self, target, reduction, self_sizes, target_sizes):
        return share(g, reduction, self_sizes, target_sizes) * F.sign(self - target)

    def grad_target(g, self, target, reduction, self_sizes, target_sizes):
        return share(g, reduction, self_sizes, target_sizes) * F.sign(target - self)


def slope_of(distance, bound):
    """Return a distance clamped to [-bound, bound], with derivative zero at the bounds."""
    return F.hardtanh(distance, -bound, bound)


class KneeLoss(PairLoss, abstract=True):
    """A loss that is quadratic for small differences and linear for large ones."""

    def samples(make):
        yield from pointwise_samples(make)
        yield make(3, 4), make(3, 4), "none", 0.5


def knee(xp, distance, bound):
    """Return d² / 2 where |d| < bound, else bound (|d| - bound / 2).

    Both are the product of c and |d| - c / 2, where c is the smaller one of |d| and the bound.
    """
    distance = xp.abs(distance)
    clamped = xp.minimum(bound, distance)
    distance -= 0.5 * clamped
    distance *= clamped
    return distance


class SmoothL1Loss(KneeLoss):
    """d² / (2 beta) where |d| < beta, else |d| - beta / 2, with d = self - target

    >>> from minigrad import tensor
    >>> SmoothL1Loss(tensor([0.5, 2.0]), tensor([0.0, 0.0]), "none", 1.0)
    tensor([0.1250, 1.5000])
    """

    def forward(xp, self, target, reduction="mean", beta=1.0):
        require(self, "f", "smooth_l1_cpu")
        losses = knee(xp, self - target, beta)
        return reduced(xp, losses if beta == 1 else losses / beta, reduction)

    def grad_self(g, self, target, reduction, beta, self_sizes, target_sizes):
        slope = slope_of(difference(self, target), beta)
        return share(g, reduction, self_sizes, target_sizes) / beta * slope

    def grad_target(g, self, target, reduction, beta, self_sizes, target_sizes):
        slope = slope_of(difference(target, self), beta)
        return share(g, reduction, self_sizes, target_sizes) / beta * slope


class HuberLoss(KneeLoss):
    """d² / 2 where |d| < delta, else delta (|d| - delta / 2), with d = self - target

    >>> from minigrad import tensor
    >>> HuberLoss(tensor([0.5, 2.0]), tensor([0.0, 0.0]), "none", 1.0)
    tensor([0.1250, 1.5000])
    """

    def forward(xp, self, target, reduction="mean", delta=1.0):
        require(self, "f", "huber_cpu")
        return reduced(xp, knee(xp, self - target, delta), reduction)

    def grad_self(g, self, target, reduction, delta, self_sizes, target_sizes):
        slope = slope_of(self - target, delta)
        return share(g, reduction, self_sizes, target_sizes) * slope

    def grad_target(g, self, target, reduction, delta, self_sizes, target_sizes):
        slope = slope_of(target - self, delta)
        return share(g, reduction, self_sizes, target_sizes) * slope


class BinaryCrossEntropy(Op):
    """-(target log(self) + (1 - target) log(1 - self)) weight, with logarithms clamped to >= -100

    >>> from minigrad import tensor
    >>> BinaryCrossEntropy(tensor([0.5]), tensor([1.0]), None)
    tensor(0.6931)
    """

    optional = ("weight",)
    public = False
    shape = loss_shape

    def forward(xp, self, target, weight, reduction="mean"):
        losses = ((target - 1) * xp.maximum(xp.log1p(-self), -100)
                  - target * xp.maximum(xp.log(self), -100))
        return reduced(xp, losses if weight is None else losses * weight, reduction)

    def grad_self(g, self, target, weight, reduction, self_sizes):
        slope = share(g, reduction, self_sizes) * (self - target)
        slope = slope / F.clamp((1 - self) * self, 1e-12)
        return slope if weight is None else slope * weight

    def grad_target(g, self, weight, reduction, self_sizes, target):
        slope = F.log(1 - self) - F.log(self)
        slope = share(g, reduction, self_sizes) * slope
        return slope if weight is None else slope * weight

    def samples(make):
        yield make(3, 4, low=0.2, high=0.8), make(3, 4, low=0.2, high=0.8), None
        yield make(3, low=0.2, high=0.8), make(3, low=0.2, high=0.8), None, "sum"
        yield (make(2, 3, low=0.2, high=0.8), make(2, 3, low=0.2, high=0.8), make(3).detach(),
               "none")

    tensors = ("self", "target", "weight")


class BinaryCrossEntropyWithLogits(Op):
    """(1 - target) self + (1 + (pos_weight - 1) target) log(1 + exp(-self)), times weight

    It equals the binary cross entropy of sigmoid(self), but stays finite for large logits.

    >>> from minigrad import tensor
    >>> BinaryCrossEntropyWithLogits(tensor([0.0]), tensor([1.0]), None, None)
    tensor(0.6931)
    """

    optional = ("weight", "pos_weight")
    public = False
    shape = loss_shape
    tensors = ("self", "target", "weight", "pos_weight")

    def forward(xp, self, target, weight, pos_weight, reduction="mean"):
        softplus = softplus_of(xp, -self)
        if pos_weight is not None:
            softplus *= 1 + (pos_weight - 1) * target
        losses = (1 - target) * self + softplus
        return reduced(xp, losses if weight is None else losses * weight, reduction)

    def grad_self(g, self, target, weight, pos_weight, reduction, self_sizes):
        chance = F.sigmoid(self)
        if pos_weight is None:
            slope = chance - target
        else:
            positive = pos_weight * target
            slope = (positive + 1 - target) * chance - positive
        slope = share(g, reduction, self_sizes) * slope
        return slope if weight is None else slope * weight

    def grad_target(g, self, weight, pos_weight, reduction, self_sizes, target):
        slope = -self
        if pos_weight is not None:
            slope = slope + (pos_weight - 1) * F.softplus(-self)
        slope = share(g, reduction, self_sizes) * slope
        return slope if weight is None else slope * weight

    def samples(make):
        yield make(3, 4), make(3, 4, low=0.0, high=1.0), None, None
        yield make(3), make(3, low=0.0, high=1.0), None, None, "sum"
        yield (make(2, 3), make(2, 3, low=0.0, high=1.0), make(3).detach(),
               make(3, low=0.5, high=2.0).detach(), "none")


# -------------------------------------------------------------------- public functions


def reduction_of(size_average, reduce, reduction, wrong="{} is not a valid value for reduction"):
    """Return the reduction; the two deprecated arguments for it still work, with a warning."""
    if size_average is not None or reduce is not None:
        average = True if size_average is None else size_average
        wanted = True if reduce is None else reduce
        reduction = ("mean" if average else "sum") if wanted else "none"
        warn_user("size_average and reduce args will be deprecated, please use "
                  f"reduction='{reduction}' instead.", UserWarning)
    if reduction not in REDUCTIONS:
        raise ValueError(wrong.format(reduction))
    return reduction


def is_floating(value):
    """Return whether a tensor or an array is floating-point."""
    return array_of(value).dtype.kind == "f"


def in_dtype_of(input, weight):
    """Return weights in the input's dtype, because PyTorch multiplies the losses in place."""
    if weight is None or array_of(weight).dtype == array_of(input).dtype:
        return weight
    return weight.to(input.dtype) if isinstance(weight, Tensor) else weight.astype(input.dtype)


def kind_of(value):
    """Return the name of a tensor's dtype in PyTorch's errors."""
    return type_name(from_numpy_dtype(array_of(value).dtype))


def broadcast_pair(input, target):
    """Broadcast two tensors against each other, with a warning if their shapes differ."""
    if tuple(input.shape) == tuple(target.shape):
        return input, target
    warn_user(f"Using a target size ({target.shape}) that is different to the input size "
              f"({input.shape}). This will likely lead to incorrect results due to "
              "broadcasting. Please ensure they have the same size.", UserWarning)
    return F.broadcast_tensors(input, target)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean",
             weight=None) -> Tensor:
    """Return the squared difference, averaged, summed or per element.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html

    >>> from minigrad import tensor
    >>> mse_loss(tensor([1.0, 2.0]), tensor([0.0, 0.0]))
    tensor(2.5000)
    """
    input, target = broadcast_pair(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    return weighted(MseLoss, input, target, weight, reduction)


def weighted(op, input, target, weight, reduction, *options):
    """Return a loss; with weights, the weighted losses, their sum or their weighted mean."""
    if weight is None:
        return op(input, target, reduction, *options)
    losses = op(input, target, "none", *options) * weight
    if reduction == "mean":
        return losses.sum() / weight.expand_as(losses).sum()
    return losses if reduction == "none" else losses.sum()


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) -> Tensor:
    """Return the absolute difference, averaged, summed or per element.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html

    >>> from minigrad import tensor
    >>> l1_loss(tensor([1.0, -2.0]), tensor([0.0, 0.0]))
    tensor(1.5000)
    """
    input, target = broadcast_pair(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    return weighted(L1Loss, input, target, weight, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean",
                   beta=1.0) -> Tensor:
    """Return a loss that is quadratic below `beta` and linear above it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html

    >>> from minigrad import tensor
    >>> smooth_l1_loss(tensor([0.5, 2.0]), tensor([0.0, 0.0]), reduction="none")
    tensor([0.1250, 1.5000])
    """
    input, target = broadcast_pair(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return L1Loss(input, target, reduction)
    return SmoothL1Loss(input, target, reduction, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None) -> Tensor:
    """Return half the squared difference below `delta`, and a linear function above it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html

    >>> from minigrad import tensor
    >>> huber_loss(tensor([0.5, 2.0]), tensor([0.0, 0.0]), reduction="none")
    tensor([0.1250, 1.5000])
    """
    input, target = broadcast_pair(input, target)
    reduction = reduction_of(None, None, reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return weighted(HuberLoss, input, target, weight, reduction, delta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None,
                         reduction="mean") -> Tensor:
    """Return -(target log(input) + (1 - target) log(1 - input)) for probabilities.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy.html

    >>> from minigrad import tensor
    >>> binary_cross_entropy(tensor([0.5]), tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input "
                         f"size ({input.shape}) is deprecated. Please ensure they have the same "
                         "size.")
    require_one_dtype("Found dtype {} but expected {}", target, input)
    check_chances(input, target)
    refuse_gradient("binary_cross_entropy", weight=weight)
    weight = in_dtype_of(input, weight)
    return BinaryCrossEntropy(input, target, weight, reduction)


@at_each_run
def check_chances(input, target):
    """Raise for values outside [0, 1], except during graph capture, when values can't be read."""
    array, wanted = (x._array if isinstance(x, Tensor) else x for x in (input, target))
    if not array.size or not backend_of(array).may_ask():
        return
    with place_on(array):
        if not (array.min() >= 0 and array.max() <= 1):  # nan raises too
            raise RuntimeError("all elements of input should be between 0 and 1")
        if wanted.min() < 0 or wanted.max() > 1:
            raise RuntimeError("all elements of target should be between 0 and 1")


@function(method_too=False)
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight=None, size_average=None,
                                     reduce=None, reduction="mean", pos_weight=None) -> Tensor:
    """Return the binary cross entropy of sigmoid(input), finite even for large logits.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy_with_logits.html

    >>> from minigrad import binary_cross_entropy_with_logits, tensor
    >>> binary_cross_entropy_with_logits(tensor([0.0]), tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size "
                         f"({input.shape})")
    if not is_floating(input):
        raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{kind_of(input)}'")
    if not is_floating(target):
        raise RuntimeError(f"result type {kind_of(input)} can't be cast to the desired output type "
                           f"{kind_of(target)}")
    refuse_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    weight, pos_weight = in_dtype_of(input, weight), in_dtype_of(input, pos_weight)
    return BinaryCrossEntropyWithLogits(input, target, weight, pos_weight, reduction)


@function(method_too=False)
def kl_div(input: Tensor, target: Tensor, size_average=None, reduce=None, reduction="mean",
           log_target=False) -> Tensor:
    """Return target (log(target) - input), the divergence of log probabilities from a target.

    "batchmean" divides only by the batch size; with `log_target`, the target is given as
    logarithms.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.kl_div.html

    >>> from minigrad import kl_div, tensor
    >>> kl_div(tensor([-1.0]), tensor([1.0]), reduction="sum")
    tensor(1.)
    """
    if reduction == "mean":
        warn_user("reduction: 'mean' divides the total loss by both the batch size and the "
                  "support size.'batchmean' divides only by the batch size, and aligns with "
                  "the KL div math definition.'mean' will be changed to behave the same as "
                  "'batchmean' in the next major release.", UserWarning)
    by_batch = reduction == "batchmean"
    reduction = "sum" if by_batch else reduction_of(size_average, reduce, reduction)
    if not is_floating(input) or not is_floating(target):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        losses = F.exp(target) * (target - input)
    else:
        losses = F.xlogy(target, target) - target * input
    if reduction == "none":
        return losses
    if reduction == "mean":
        return F.mean(losses)
    total = F.sum(losses)
    return total / input.shape[0] if by_batch and len(input.shape) else total
