"""Embeddings: lookup tables of trained vectors.

Source: https://docs.pytorch.org/docs/stable/nn.html#sparse-layers
"""

from __future__ import annotations

from typing import Any

from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    """A table of vectors that indices of any shape look up: (*) -> (*, embedding_dim).

    The row `padding_idx` gets no gradient. A lookup first rescales, in place, the rows that are
    longer than `max_norm`. `sparse` must be False, since minigrad has no sparse tensors.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html

    >>> from minigrad import nn, tensor
    >>> nn.Embedding(10, 3)(tensor([[1, 2], [4, 5]])).shape
    torch.Size([2, 2, 3])
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, sparse: bool = False,
                 _weight: Tensor | None = None, _freeze: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        refuse_sparse("Embedding", sparse)
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            table = checked_table(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(table, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True,
                        padding_idx: int | None = None, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        sparse: bool = False) -> Embedding:
        """Make a layer from a given table; it stays frozen unless `freeze` is False.

        >>> from minigrad import nn, tensor
        >>> nn.Embedding.from_pretrained(tensor([[1.0, 2.0], [3.0, 4.0]]))(tensor([1]))
        tensor([[3., 4.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                   _weight=embeddings, _freeze=freeze)

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution and zero the padding row.

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.Embedding(3, 2, padding_idx=0)
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.weight.data
        tensor([[ 0.0000,  0.0000],
                [-2.1788,  0.5684],
                [-1.0845, -1.3986]])
        """
        draw_table(self.weight, self.padding_idx)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text


class EmbeddingBag(Module):
    """A table of vectors that returns the sum, mean or maximum of each bag: -> (bags, dim).

    Indices equal to `padding_idx` do not count. A lookup first rescales, in place, the rows that
    are longer than `max_norm`. `sparse` must be False, since minigrad has no sparse tensors.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html

    >>> from minigrad import nn, tensor
    >>> nn.EmbeddingBag(10, 3)(tensor([[1, 2], [4, 5]])).shape
    torch.Size([2, 3])
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
                 norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
                 sparse: bool = False, _weight: Tensor | None = None,
                 include_last_offset: bool = False, padding_idx: int | None = None,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        refuse_sparse("EmbeddingBag", sparse)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(empty(num_embeddings, embedding_dim, device=device,
                                          dtype=dtype))
            self.reset_parameters()
        else:
            self.weight = Parameter(checked_table(_weight, num_embeddings, embedding_dim))
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        mode: str = "mean", sparse: bool = False,
                        include_last_offset: bool = False,
                        padding_idx: int | None = None) -> EmbeddingBag:
        """Make a layer from a given table; it stays frozen unless `freeze` is False.

        >>> from minigrad import nn, tensor
        >>> bags = nn.EmbeddingBag.from_pretrained(tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> bags(tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
                   embeddings, include_last_offset, padding_idx)
        made.weight.requires_grad = not freeze
        return made

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution and zero the padding row.

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.EmbeddingBag(3, 2, padding_idx=0)
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.weight.data
        tensor([[ 0.0000,  0.0000],
                [-2.1788,  0.5684],
                [-1.0845, -1.3986]])
        """
        draw_table(self.weight, self.padding_idx)

    def forward(self, input: Tensor, offsets: Tensor | None = None,
                per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type,
                               self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
                               self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        options = {"max_norm": (self.max_norm, None), "norm_type": (self.norm_type, 2),
                   "scale_grad_by_freq": (self.scale_grad_by_freq, False),
                   "mode": (self.mode, None), "padding_idx": (self.padding_idx, None)}
        return f"{self.num_embeddings}, {self.embedding_dim}" + "".join(
            f", {name}={value!r}" for name, (value, usual) in options.items() if value != usual)


def draw_table(weight: Tensor, padding_idx: int | None) -> None:
    """Fill a table with standard normal numbers, in place, and zero the padding row."""
    init.normal_(weight)
    if padding_idx is not None:
        init.zeros_(weight.detach()[padding_idx])


def refuse_sparse(name: str, sparse: bool) -> None:
    """Raise `NotImplementedError` if sparse gradients are requested."""
    if sparse:
        raise NotImplementedError(f"{name}: sparse is True, but minigrad has no sparse tensors; "
                                  "leave it False")


def checked_table(weight: Tensor, rows: int, columns: int) -> Tensor:
    """Return the given table; raise `AssertionError` unless it is (rows, columns)."""
    if tuple(weight.shape) != (rows, columns):
        raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
    return weight
