"""Transformer layers: attention between positions, then a feed-forward network at each position.

Source: Vaswani et al., Attention Is All You Need, https://arxiv.org/abs/1706.03762
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..op.declaration import F as ops
from ..ops.creation.create import full
from ..tensor.tensor import Tensor
from . import functional as F
from . import init
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]

Activation = Callable[[Tensor], Tensor]


def activation_named(activation: str | Activation) -> Activation:
    """Return the activation named "relu" or "gelu"; return functions unchanged."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class TransformerEncoderLayer(Module):
    """Self-attention and a two-layer network; each is added to its input and normalised.

    Inputs are (S, N, d_model), or (N, S, d_model) with `batch_first`. `norm_first` normalises the
    inputs instead of the outputs, which makes training easier.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html

    >>> from minigrad import nn, ones
    >>> nn.TransformerEncoderLayer(d_model=4, nhead=2)(ones(5, 1, 4)).shape
    torch.Size([5, 1, 4])
    """

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first,
                                            **options)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_named(activation)
        self.activation_relu_or_gelu = kind_of(self.activation)

    def forward(self, src: Tensor, src_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        """Run the layer; it takes the masks of `MultiheadAttention`."""

        def attend(x: Tensor) -> Tensor:
            return self.dropout1(self.self_attn(
                x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask,
                need_weights=False, is_causal=is_causal)[0])

        def think(x: Tensor) -> Tensor:
            inner = self.dropout(self.activation(self.linear1(x)))
            return self.dropout2(self.linear2(inner))

        x = src
        for norm, part in ((self.norm1, attend), (self.norm2, think)):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


def kind_of(activation: Activation) -> int:
    """Return 1 for relu, 2 for gelu and 0 for anything else."""
    if activation is F.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is F.gelu or isinstance(activation, GELU) else 0


class TransformerEncoder(Module):
    """A stack of copies of an encoder layer, with an optional norm at the end.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html

    >>> from minigrad import nn, ones
    >>> layer = nn.TransformerEncoderLayer(d_model=4, nhead=2)
    >>> nn.TransformerEncoder(layer, num_layers=2)(ones(5, 1, 4)).shape
    torch.Size([5, 1, 4])
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = False  # minigrad has no nested tensors
        self.mask_check = mask_check

    def forward(self, src: Tensor, mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        """Run all layers with the same masks."""
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask,
                        is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoderLayer(Module):
    """An encoder layer that also attends to `memory`, the encoder's output for another sequence.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html

    >>> from minigrad import nn, ones
    >>> nn.TransformerDecoderLayer(d_model=4, nhead=2)(ones(3, 1, 4), ones(5, 1, 4)).shape
    torch.Size([3, 1, 4])
    """

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first,
                                            **options)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first,
                                                 **options)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_named(activation)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
                memory_is_causal: bool = False) -> Tensor:
        """Run the layer; it takes the masks of `MultiheadAttention`."""

        def attend(x: Tensor) -> Tensor:
            return self.dropout1(self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                need_weights=False, is_causal=tgt_is_causal)[0])

        def look(x: Tensor) -> Tensor:
            return self.dropout2(self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask,
                need_weights=False, is_causal=memory_is_causal)[0])

        def think(x: Tensor) -> Tensor:
            inner = self.dropout(self.activation(self.linear1(x)))
            return self.dropout3(self.linear2(inner))

        x = tgt
        for norm, part in ((self.norm1, attend), (self.norm2, look), (self.norm3, think)):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class TransformerDecoder(Module):
    """A stack of copies of a decoder layer, with an optional norm at the end.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoder.html

    >>> from minigrad import nn, ones
    >>> layer = nn.TransformerDecoderLayer(d_model=4, nhead=2)
    >>> nn.TransformerDecoder(layer, num_layers=2)(ones(3, 1, 4), ones(5, 1, 4)).shape
    torch.Size([3, 1, 4])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        """Run all layers with the same masks and memory."""
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                        memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder that reads one sequence and a decoder that generates another from it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html

    >>> from minigrad import nn, ones
    >>> net = nn.Transformer(4, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8)
    >>> net(ones(5, 1, 4), ones(3, 1, 4)).shape
    torch.Size([3, 1, 4])
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
                 num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Activation = F.relu, custom_encoder: Any = None,
                 custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                 norm_first, bias, device, dtype)
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*sizes)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*sizes)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Initialise all matrices with Xavier's method."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, src_is_causal: bool | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:
        """Encode `src`, then decode `tgt`: (S, N, E), (T, N, E) -> (T, N, E)."""
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                              is_causal=src_is_causal)
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal)
        return result

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return the mask that lets position i attend to positions 0 to i.

        >>> from minigrad import nn
        >>> nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        mask: Tensor = ops.triu(full((sz, sz), -math.inf, device=device, dtype=dtype), 1)
        return mask
