"""Train an LSTM to count: how many brackets are open after each character of `(()(()`.

A network without memory cannot do this.  Here the cell must follow the depth up and down, in
sequences longer than those it was trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn

DEEPEST = 7
BATCH, LENGTH = 32, 32
LEARNING_RATE = 1e-2


def sequences(count: int, length: int) -> tuple[Tensor, Tensor]:
    """Draw rows of brackets, 0 for `(` and 1 for `)`, and the number open after each bracket.

    Both have shape (count, length) and dtype int64.  No row closes a bracket that is not open, or
    nests deeper than `DEEPEST`.
    """
    closes = (torch.rand(count, length) < 0.5).tolist()
    rows, depths = [], []
    for wishes in closes:
        depth, row, after = 0, [], []
        for wish in wishes:
            close = (wish and depth > 0) or depth == DEEPEST
            depth += -1 if close else 1
            row.append(int(close))
            after.append(depth)
        rows.append(row)
        depths.append(after)
    return torch.tensor(rows), torch.tensor(depths)


class Counter(nn.Module):
    """An LSTM that reads brackets (N, T) and scores each possible depth: (N, T, DEEPEST + 1)."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(2, 8)
        self.lstm = nn.LSTM(8, width, batch_first=True)
        self.head = nn.Linear(width, DEEPEST + 1)

    def forward(self, brackets: Tensor) -> Tensor:
        output, _ = self.lstm(self.embedding(brackets))
        scores: Tensor = self.head(output)
        return scores


def train_step(net: nn.Module, optimizer: Any, brackets: Tensor, depths: Tensor) -> float:
    """Take one training step on the cross entropy; return the loss before it."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(brackets).flatten(0, 1), depths.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return float(loss.item())


def train(net: nn.Module, steps: int) -> Iterator[float]:
    """Train with Adam on new sequences in every step; yield the loss before each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    net.train()
    for _ in range(steps):
        yield train_step(net, optimizer, *sequences(BATCH, LENGTH))


def accuracy(net: nn.Module, count: int = 100, length: int = 2 * LENGTH) -> float:
    """Return the share of correct depths in new sequences, by default twice as long."""
    brackets, depths = sequences(count, length)
    with torch.no_grad():
        return float((net(brackets).argmax(-1) == depths).float().mean().item())
