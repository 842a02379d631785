"""Sequences of different lengths in one tensor, either padded or packed without gaps.

Packed data holds the first steps of all sequences, then the second steps of the sequences that have
one, and so on, with the longest sequence first. That way a recurrent layer computes each step with
one matrix product.

Source: https://docs.pytorch.org/docs/stable/nn.html#utility-functions-in-other-modules
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ... import dtypes
from ...op.declaration import F
from ...ops.creation.create import full, tensor
from ...tensor.tensor import Tensor

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
           "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence"]


class PackedSequence(NamedTuple):
    """Packed sequences, as returned by `pack_padded_sequence` and `pack_sequence`.

    `data` holds the rows and `batch_sizes` the number of sequences at each time step. The two
    permutations map the original order to the order by length, and back.

    >>> from minigrad import tensor
    >>> pack_sequence([tensor([1, 2, 3]), tensor([4, 5])]).data
    tensor([1, 4, 2, 5, 3])
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences with moved or cast data; the permutations move along."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = [i if i is None else i.to(data.device)
                  for i in (self.sorted_indices, self.unsorted_indices)]
        return PackedSequence(data, self.batch_sizes, *orders)

    def cpu(self) -> PackedSequence:
        """Return the sequences on the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> PackedSequence:
        """Return the sequences on a GPU."""
        return self.to(device)

    def double(self) -> PackedSequence:
        """Return the sequences in float64."""
        return self.to(dtypes.float64)

    def float(self) -> PackedSequence:
        """Return the sequences in float32."""
        return self.to(dtypes.float32)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of a permutation.

    >>> from minigrad import tensor
    >>> invert_permutation(tensor([1, 2, 0]))
    tensor([2, 0, 1])
    """
    return None if permutation is None else F.argsort(permutation)


def pack_padded_sequence(input: Tensor, lengths: Tensor | Sequence[int],
                         batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack padded sequences (T, B, *), or (B, T, *) with `batch_first`, of the given lengths.

    Raises `RuntimeError` if a length is not positive, or if the lengths are unsorted despite
    `enforce_sorted`.

    Source:
    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html

    >>> from minigrad import tensor
    >>> pack_padded_sequence(tensor([[1, 4], [2, 5], [3, 0]]), [3, 2]).data
    tensor([1, 4, 2, 5, 3])
    """
    counts = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    if batch_first:
        input = F.transpose(input, 0, 1)
    steps, batch = input.shape[:2]
    if len(counts) != batch:
        raise RuntimeError("Expected `len(lengths)` to be equal to batch_size, but got "
                           f"{len(counts)} (batch_size={batch})")
    if min(counts) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element "
                           "in 'lengths' that is <= 0")
    if max(counts) > steps:
        raise RuntimeError(f"Expected all lengths to be at most {steps}, the number of time steps, "
                           f"but got {max(counts)}")
    order = sorted(range(batch), key=lambda i: -counts[i])
    if enforce_sorted:
        if counts != sorted(counts, reverse=True):
            raise RuntimeError("`lengths` array must be sorted in decreasing order when "
                               "`enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                               "pack_padded_sequence and/or pack_sequence to sidestep this "
                               "requirement if you do not need ONNX exportability.")
        order = list(range(batch))
    sizes = [sum(n > t for n in counts) for t in range(max(counts))]
    places = [t * batch + i for t, size in enumerate(sizes) for i in order[:size]]
    rows = F.reshape(input, (steps * batch, *input.shape[2:]))
    indices = None if enforce_sorted else tensor(order, device=input.device)
    data = F.index_select(rows, 0, tensor(places, device=input.device))
    return PackedSequence(data, tensor(sizes), indices, invert_permutation(indices))


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False,
                        padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the sequences padded, (T, B, *) or (B, T, *), and their lengths.

    `total_length` sets T; raises `ValueError` if it is less than the longest sequence.

    Source:
    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html

    >>> from minigrad import tensor
    >>> pad_packed_sequence(pack_sequence([tensor([1, 2]), tensor([3])]), batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    data, sizes = sequence.data, sequence.batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest "
                             f"sequence in input, but got total_length={total_length} and max "
                             f"sequence length being {steps}")
        steps = total_length
    back = sequence.unsorted_indices
    order = range(batch) if back is None else back.tolist()
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    missing = data.shape[0]  # index of the padding row
    places = [starts[t] + i if t < len(sizes) and i < sizes[t] else missing
              for t in range(steps) for i in order]
    padding = F.new_full(data, (1, *data.shape[1:]), padding_value)
    rows = F.index_select(F.cat([data, padding], 0), 0, tensor(places, device=data.device))
    padded = F.reshape(rows, (steps, batch, *data.shape[1:]))
    lengths = tensor([sum(size > i for size in sizes) for i in order])
    return (F.transpose(padded, 0, 1) if batch_first else padded), lengths


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False,
                 padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Pad sequences (L, *) of different lengths into one tensor (T, B, *) or (B, T, *).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html

    >>> from minigrad import tensor
    >>> pad_sequence([tensor([1, 2]), tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of "
                           f"type: {type(sequences)}")
    given = list(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError("Expected padding_side to be one of left or right, but got "
                           f"{padding_side}.")
    longest, padded = max(s.shape[0] for s in given), []
    for sequence in given:
        gap = (longest - sequence.shape[0], *sequence.shape[1:])
        padding = full(gap, padding_value, dtype=sequence.dtype, device=sequence.device)
        ends = [sequence, padding] if padding_side == "right" else [padding, sequence]
        padded.append(F.cat(ends, 0))
    result: Tensor = F.stack(padded, 0 if batch_first else 1)
    return result


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor,
                   batch_first: bool = False) -> list[Tensor]:
    """Split a padded tensor into its sequences.

    >>> from minigrad import tensor
    >>> unpad_sequence(tensor([[1, 3], [2, 0]]), tensor([2, 1]))
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else F.transpose(padded_sequences, 0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (L, *), sorted with the longest first unless `enforce_sorted` is False.

    >>> from minigrad import tensor
    >>> pack_sequence([tensor([1, 2, 3]), tensor([4, 5])]).batch_sizes
    tensor([2, 2, 1])
    """
    lengths = [s.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Split packed sequences into a list.

    >>> from minigrad import tensor
    >>> unpack_sequence(pack_sequence([tensor([1, 2]), tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
