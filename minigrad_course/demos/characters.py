"""Train a small GPT on the characters of Python's own reference, which ships with every Python.

Source: https://docs.python.org/3/library/pydoc.html (the topics of `help()`)
"""

from __future__ import annotations

from collections.abc import Iterator
from pydoc_data.topics import topics
from typing import Any, NamedTuple

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.nn.models.gpt import GPT, GPTConfig

BATCH = 16
LEARNING_RATE = 1e-3


class Text(NamedTuple):
    """A text as numbers (length,), int64, and the alphabet that they index."""

    numbers: Tensor
    alphabet: str

    def decode(self, numbers: Tensor) -> str:
        """Return numbers as text."""
        return "".join(self.alphabet[n] for n in numbers.tolist())


def load(length: int | None = None) -> Text:
    """Return the topics of `help()` as one text, or its first `length` characters."""
    text = "\n".join(topics[name] for name in sorted(topics))[:length]
    alphabet = "".join(sorted(set(text)))
    codes = {character: code for code, character in enumerate(alphabet)}
    return Text(torch.tensor([codes[character] for character in text]), alphabet)


def network(text: Text, **sizes: Any) -> GPT:
    """Return a GPT for the alphabet of a text; `sizes` are arguments of `GPTConfig`."""
    return GPT(GPTConfig(vocab_size=len(text.alphabet), **sizes))


def batch(text: Text, context: int, count: int = BATCH) -> tuple[Tensor, Tensor]:
    """Draw pieces of the text (count, context), and the same pieces shifted by one character."""
    starts = torch.randint(0, len(text.numbers) - context, (count, 1))
    positions = starts + torch.arange(context)
    return text.numbers[positions], text.numbers[positions + 1]


def train_step(net: nn.Module, optimizer: Any, seen: Tensor, wanted: Tensor) -> float:
    """Take one training step on the cross entropy; return the loss before it."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(seen).flatten(0, 1), wanted.flatten())
    loss.backward()
    optimizer.step()
    return float(loss.item())


def train(net: GPT, text: Text, steps: int) -> Iterator[float]:
    """Train with AdamW on random pieces of the text; yield the loss before each step."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=LEARNING_RATE)
    net.train()
    for _ in range(steps):
        yield train_step(net, optimizer, *batch(text, net.config.context))
