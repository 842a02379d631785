"""A small GPT that predicts each token from the tokens before it.

Source: Radford et al., Language Models are Unsupervised Multitask Learners (GPT-2), 2019
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...autograd.grad_mode import no_grad
from ...op.declaration import F as ops
from ...ops.creation.create import arange
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..activation import GELU
from ..containers import ModuleList, Sequential
from ..dropout import Dropout
from ..embedding import Embedding
from ..linear import Linear
from ..module import Module
from ..normalization import LayerNorm

__all__ = ["GPT", "GPTConfig"]


@dataclass(frozen=True)
class GPTConfig:
    """The sizes of a `GPT`; with the defaults it learns to write characters on a CPU in minutes.

    >>> GPTConfig(vocab_size=65).width
    128
    """

    vocab_size: int
    context: int = 64  # maximum number of input tokens
    layers: int = 4
    heads: int = 4
    width: int = 128
    dropout: float = 0.0
    bias: bool = True
    tied: bool = True  # whether the head shares the weights of the token embedding


class CausalAttention(Module):
    """Self-attention in which no position attends to later ones: (N, T, width) -> (N, T, width).

    >>> from minigrad import ones
    >>> CausalAttention(GPTConfig(vocab_size=5, width=8))(ones(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.qkv = Linear(config.width, 3 * config.width, bias=config.bias)
        self.out = Linear(config.width, config.width, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        samples, steps, width = x.shape
        by_head = self.qkv(x).view(samples, steps, 3, self.heads, width // self.heads)
        query, key, value = by_head.permute(2, 0, 3, 1, 4).unbind(0)
        dropout = self.dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(query, key, value, None, dropout, is_causal=True)
        result: Tensor = self.out(seen.transpose(1, 2).reshape(samples, steps, width))
        return result


class Block(Module):
    """Attention, then a feed-forward network; each adds its result to its input.

    >>> from minigrad import ones
    >>> Block(GPTConfig(vocab_size=5, width=8))(ones(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        width, bias = config.width, config.bias
        self.norm1 = LayerNorm(width, bias=bias)
        self.attention = CausalAttention(config)
        self.norm2 = LayerNorm(width, bias=bias)
        self.mlp = Sequential(Linear(width, 4 * width, bias=bias), GELU(approximate="tanh"),
                              Linear(4 * width, width, bias=bias))
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.mlp(self.norm2(x)))


class GPT(Module):
    """Token and position embeddings, blocks, a norm and a head: (N, T) -> (N, T, vocab_size).

    Raises `ValueError` if there are more tokens than the context holds.

    >>> from minigrad import tensor
    >>> net = GPT(GPTConfig(vocab_size=5, width=8))
    >>> net(tensor([[0, 3, 1]])).shape
    torch.Size([1, 3, 5])
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = Embedding(config.vocab_size, config.width)
        self.positions = Embedding(config.context, config.width)
        self.dropout = Dropout(config.dropout)
        self.blocks = ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = LayerNorm(config.width, bias=config.bias)
        self.head = Linear(config.width, config.vocab_size, bias=False)
        self.reset_parameters()
        if config.tied:
            self.head.weight = self.tokens.weight

    def reset_parameters(self) -> None:
        """Draw all matrices from a narrow normal distribution and zero the biases.

        The output projections of the blocks are scaled down by the number of blocks, so that the
        residual sum does not grow with the depth.

        >>> from minigrad import manual_seed
        >>> net = GPT(GPTConfig(vocab_size=100, width=8))
        >>> _ = manual_seed(0); net.reset_parameters(); round(net.tokens.weight.std().item(), 3)
        0.02
        """
        narrow = 0.02 / math.sqrt(2 * self.config.layers)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                adds = name.endswith(("attention.out.weight", "mlp.2.weight"))
                init.normal_(parameter, 0.0, narrow if adds else 0.02)
            elif name.endswith("bias"):
                init.zeros_(parameter)

    def forward(self, tokens: Tensor) -> Tensor:
        steps = tokens.size(1)
        if steps > self.config.context:
            raise ValueError(f"expected at most {self.config.context} tokens, the context, but got "
                             f"{steps}")
        places = arange(steps, device=tokens.device)
        x = self.dropout(self.tokens(tokens) + self.positions(places))
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.head(self.norm(x))
        return scores

    def generate(self, tokens: Tensor, count: int, temperature: float = 1.0) -> Tensor:
        """Extend the tokens (N, T) to (N, T + count); temperature 0 picks the most likely token.

        >>> from minigrad import tensor
        >>> GPT(GPTConfig(vocab_size=5, width=8)).generate(tensor([[1, 2]]), count=3).shape
        torch.Size([1, 5])
        """
        with no_grad():
            for _ in range(count):
                scores = self(tokens[:, -self.config.context:])[:, -1]
                if temperature == 0:
                    drawn = ops.argmax(scores, -1, True)
                else:
                    drawn = ops.multinomial(ops.softmax(scores / temperature, -1), 1)
                tokens = ops.cat([tokens, drawn], 1)
        return tokens
