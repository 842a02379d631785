"""Connectionist temporal classification: the loss of a sequence with an unknown alignment.

A path through time emits the target's labels in order, with blanks and repetitions in between.  Its
2 S + 1 states are the labels, with a blank before, between and after them.  The loss is minus the
logarithm of the total probability of all paths, computed by the forward algorithm; the gradient
needs the backward one too.

Source: Graves et al., Connectionist temporal classification (2006)
"""

from ... import dtypes
from ...dtypes import type_name
from ...frames import type_in_error
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...tensor.tensor import Tensor
from ..checks import at_each_run


class CtcLoss(Op):
    """The losses of a batch, (N,), and the log forward probabilities, (N, T, 2 S + 1).

    `targets` are (N, S), padded with arbitrary labels.

    >>> from minigrad import tensor
    >>> one = tensor([1])
    >>> CtcLoss(tensor([[[0.5, 0.5]]]).log(), tensor([[1]]), one, one, 0, False)[0]
    tensor([0.6931])
    """

    node = "CtcLossBackward"
    public = False
    no_batching = "each example has lengths of its own"
    tensors = ("log_probs", "targets", "input_lengths", "target_lengths")
    outputs = ("losses", "log_alpha")
    constants = 1

    def shape(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
        steps, batch, _ = log_probs
        return [(batch,), (batch, steps, 2 * targets[1] + 1)]

    def forward(xp, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
        require(log_probs, "f", "ctc_loss_cpu")
        emitted, may_skip, ends, _ = states(xp, log_probs, targets, target_lengths, blank)
        batch, steps, _ = emitted.shape
        alpha = xp.full(emitted.shape, -xp.inf, log_probs.dtype)
        alpha[:, 0, :2] = emitted[:, 0, :2]
        for t in range(1, steps):
            alpha[:, t] = passed_on(xp, alpha[:, t - 1], may_skip) + emitted[:, t]
        last = input_lengths - 1
        arrived = xp.where(ends, alpha[xp.arange(batch), last.clip(0)], -xp.inf)
        losses = -log_of_sum(xp, arrived)[:, 0]
        empty = xp.where(target_lengths == 0, 0.0, xp.inf)
        return xp.where(last < 0, empty, losses).astype(log_probs.dtype), alpha

    def grad_log_probs(g_losses, log_probs, targets, losses, log_alpha, input_lengths,
                       target_lengths, blank, zero_infinity):
        return CtcLossInput(g_losses, log_probs, targets, losses, log_alpha, input_lengths,
                            target_lengths, blank, zero_infinity)

    def jvp(op, values, outputs, tangents):
        raise NotImplementedError("Trying to use forward AD with _ctc_loss that does not support "
                                  "it because it has not been implemented yet.")

    def samples(make):
        targets = make.ints(2, 2, low=1, high=3)
        lengths = F.as_tensor([4, 3]), F.as_tensor([2, 1])
        yield make(4, 2, 3), targets, *lengths, 0, False


class CtcLossInput(Op):
    """The gradient of `CtcLoss` for the logits: the probability minus the share of the paths.

    >>> from minigrad import ones, tensor
    >>> log_probs, targets, one = tensor([[[0.5, 0.5]]]).log(), tensor([[1]]), tensor([1])
    >>> losses, alpha = CtcLoss(log_probs, targets, one, one, 0, False)
    >>> CtcLossInput(ones(1), log_probs, targets, losses, alpha, one, one, 0, False)
    tensor([[[ 0.5000, -0.5000]]])
    """

    public = False
    no_batching = "each example has lengths of its own"
    tensors = ("grad", "log_probs", "targets", "losses", "log_alpha", "input_lengths",
               "target_lengths")
    nondifferentiable = True
    not_implemented_derivative = "derivative for aten::_ctc_loss_backward is not implemented"

    def shape(grad, log_probs, targets, losses, log_alpha, input_lengths, target_lengths, blank,
              zero_infinity):
        return log_probs

    def forward(xp, grad, log_probs, targets, losses, log_alpha, input_lengths, target_lengths,
                blank, zero_infinity):
        emitted, may_skip, ends, labels = states(xp, log_probs, targets, target_lengths, blank)
        batch, steps, count = emitted.shape
        last = input_lengths[:, None] - 1
        # The backward lattice is the same: a skip from s to s + 2 becomes one from s + 2 to s.
        skips = xp.concatenate([xp.zeros((batch, 2), bool), may_skip[:, :1:-1]], 1)
        beta, paths = xp.full((batch, count), -xp.inf, log_probs.dtype), xp.empty_like(log_alpha)
        for t in reversed(range(steps)):
            before = passed_on(xp, beta[:, ::-1], skips)[:, ::-1] + emitted[:, t]
            begun = xp.where(ends, emitted[:, t], -xp.inf)
            beta = xp.where(last == t, begun, xp.where(last > t, before, -xp.inf))
            paths[:, t] = log_alpha[:, t] + beta
        highest = paths.max(2, keepdims=True)
        highest = xp.where(xp.isfinite(highest), highest, 0)
        one_hot = (labels[:, :, None] == xp.arange(log_probs.shape[2])).astype(log_probs.dtype)
        shares = log(xp, xp.matmul(xp.exp(paths - highest), one_hot)) + highest
        rows = log_probs.swapaxes(0, 1)
        result = xp.exp(rows) - xp.exp(shares + losses[:, None, None] - rows)
        result = result * grad[:, None, None]
        hidden = xp.arange(steps)[None, :] > last
        if zero_infinity:
            hidden = hidden | xp.isinf(losses)[:, None]
        result = xp.where(hidden[:, :, None], 0, result).astype(log_probs.dtype)
        return xp.ascontiguousarray(result.swapaxes(0, 1))

    def samples(make):
        log_probs, targets = F.log_softmax(make(4, 2, 3), 2), make.ints(2, 2, low=1, high=3)
        lengths = F.as_tensor([4, 3]), F.as_tensor([2, 1])
        losses, alpha = CtcLoss(log_probs, targets, *lengths, 0, False)
        yield make(2), log_probs, targets, losses, alpha, *lengths, 0, False


def states(xp, log_probs, targets, target_lengths, blank):
    """Return what each state emits (N, T, 2 S + 1), where skips end, the last states, the labels.

    A path may skip the blank between two labels if they differ.
    """
    batch, width = targets.shape
    lengths = target_lengths[:, None]
    known = xp.where(xp.arange(width) < lengths, targets, blank)
    labels = xp.full((batch, 2 * width + 1), blank, "int64")
    labels[:, 1::2] = known
    may_skip = xp.zeros(labels.shape, bool)
    may_skip[:, 3::2] = known[:, 1:] != known[:, :-1]
    place = xp.arange(2 * width + 1)
    ends = (place == 2 * lengths) | (place == 2 * lengths - 1)
    rows = xp.ascontiguousarray(log_probs.swapaxes(0, 1))
    where = xp.broadcast_to(labels[:, None], (batch, rows.shape[1], labels.shape[1]))
    return xp.take_along_axis(rows, where, 2), may_skip, ends, labels


def log(xp, array):
    """Return the logarithm, with -inf for zeros and no warning."""
    return xp.where(array > 0, xp.log(xp.where(array > 0, array, 1)), -xp.inf)


def log_of_sum(xp, logs):
    """Return the logarithm of the sum of each row, given logarithms."""
    highest = logs.max(1, keepdims=True)
    highest = xp.where(xp.isfinite(highest), highest, 0)
    return log(xp, xp.exp(logs - highest).sum(1, keepdims=True)) + highest


def passed_on(xp, log_probability, may_skip):
    """Return, for each state, the log of the summed probability of its predecessors."""
    nothing = -xp.inf
    result = log_probability.copy()
    if result.shape[1] > 1:
        result[:, 1:] = xp.logaddexp(result[:, 1:], log_probability[:, :-1])
        jumped = xp.where(may_skip[:, 2:], log_probability[:, :-2], nothing)
        result[:, 2:] = xp.logaddexp(result[:, 2:], jumped)
    return result


# -------------------------------------------------------------------- the function


def lengths_of(name, given, device):
    """Return lengths as an int64 vector on a device; raise unless they are integers."""
    if hasattr(given, "dtype"):
        if given.dtype not in (dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8,
                               dtypes.uint8):
            raise RuntimeError(f"{name} must be integral")
        return F.to(F.reshape(given, (-1,)), device, dtypes.int64)
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"ctc_loss(): {name} must be a tensor or a tuple of ints, not "
                        f"{type_in_error(given)}")
    return F.as_tensor(tuple(given), dtype=dtypes.int64, device=device)


@at_each_run
def check_lengths(name, lengths, batch, most=None):
    """Raise PyTorch's error for lengths that are negative, too many or too large."""
    if lengths.numel() != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    for length in lengths.tolist():
        if length < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {length} "
                               f"{where}")
        if most is not None and length > most:
            raise RuntimeError(f"Expected {name} to have value at most {most}, but got value "
                               f"{length} {where}")


#: The end of PyTorch's errors about targets.
TARGETS = "for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)"


@at_each_run
def check_width(width, lengths):
    """Raise if a target is longer than the rows of `targets`, which hold `width` labels."""
    longest = max(lengths.tolist(), default=0)
    if width < longest:
        raise RuntimeError(f"Expected tensor to have size at least {longest} at dimension 1, but "
                           f"got size {width} {TARGETS}")


def in_rows_of(targets, lengths, blank):
    """Return targets as (N, S), padded with blanks; a vector is split by the lengths."""
    if targets.ndim == 2:
        if targets.size(0) != lengths.numel():
            raise RuntimeError(f"Expected tensor to have size {lengths.numel()} at dimension 0, "
                               f"but got size {targets.size(0)} {TARGETS}")
        check_width(targets.size(1), lengths)
        return targets
    lengths = lengths.tolist()
    width = max(lengths, default=0)
    if targets.numel() != sum(lengths):
        raise RuntimeError(f"Expected tensor to have size {sum(lengths)} at dimension 0, but got "
                           f"size {targets.numel()} {TARGETS}")
    rows = F.new_full(targets, (len(lengths), width), blank)
    begin = 0
    for row, length in enumerate(lengths):
        rows[row, :length] = targets[begin:begin + length]
        begin += length
    return rows


@function(method_too=False)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
             zero_infinity=False) -> Tensor:
    """Return minus the log probability of `targets` under `log_probs` (T, N, C), over alignments.

    `targets` are (N, S), or all labels concatenated. "mean" first divides each loss by the length
    of its target.  A target that does not fit its input has an infinite loss, or 0 with
    `zero_infinity`.  Raises `RuntimeError` for lengths that do not fit the tensors.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import ctc_loss
    >>> log_probs = tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> ctc_loss(log_probs, tensor([[1]]), (2,), (1,)).exp()
    tensor(1.3333)
    """
    if reduction not in ("none", "mean", "sum", 0, 1, 2):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if isinstance(reduction, int):
        reduction = ("none", "mean", "sum")[reduction]
    batched = log_probs.ndim == 3
    if log_probs.ndim == 2:
        log_probs = F.unsqueeze(log_probs, 1)
        targets = F.unsqueeze(targets, 0) if targets.ndim == 1 else targets
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.ndim != 3:
        raise RuntimeError(f"Expected 3-dimensional tensor, but got {log_probs.ndim + 1}-"
                           "dimensional tensor for argument #1 'log_probs' (while checking "
                           "arguments for ctc_loss_allocate_outputs)")
    if type_name(log_probs.dtype) == "Half":
        raise NotImplementedError("\"ctc_loss_cpu\" not implemented for 'Half'")
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    inputs = lengths_of("input_lengths", input_lengths, log_probs.device)
    wanted = lengths_of("target_lengths", target_lengths, log_probs.device)
    check_lengths("input_lengths", inputs, batch, steps)
    check_lengths("target_lengths", wanted, batch)
    rows = F.to(in_rows_of(F.to(targets, dtypes.int64), wanted, blank), log_probs.device)
    check_labels(rows, wanted, classes)
    losses, _ = CtcLoss(log_probs, rows, inputs, wanted, blank, bool(zero_infinity))
    if zero_infinity:
        losses = F.where(F.isinf(losses), F.zeros_like(losses), losses)
    if reduction == "mean":
        return F.mean(losses / F.to(F.clamp(wanted, min=1), losses.dtype))
    if reduction == "sum":
        return F.sum(losses)
    return losses if batched else F.squeeze(losses, 0)


@at_each_run
def check_labels(rows, lengths, classes):
    """Raise for a label that is not a class; PyTorch reads out of bounds there."""
    known = F.lt(F.arange(rows.size(1), device=rows.device), F.unsqueeze(lengths, 1))
    wrong = F.logical_and(known, F.logical_or(F.lt(rows, 0), F.ge(rows, classes)))
    if bool(F.any(wrong)):
        raise IndexError(f"Target {int(rows[wrong][0])} is out of bounds: ctc_loss() has log_probs "
                         f"of {classes} classes")
