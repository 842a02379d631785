"""A character GPT learns to spell the words of this course.

    minigrad python spell.py                            on your own engine
    minigrad python --mine 00-13 spell.py --steps 50
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.nn.models.gpt import GPT, GPTConfig
from minigrad_course.capstone.measured import Operations, write_result

#: The text that it reads: words of this course, in the order of the alphabet.
TEXT = """
accumulate adam anomaly array backend backward batch bias buffer chain check column context
convolution copy cotangent curve derivative detach device dropout edge engine epoch error
exponent factor flag forward function generator gradient graph handle hessian hook index
inference inputs jacobian kernel layer leaf learning linear logarithm loss matrix memory
metadata mode module momentum network node number operation optimizer output parameter path
product profiler queue recursion reduction saved scatter second sequence shape sigmoid slope
softmax stage step stride sum tangent tensor thread topology trace transpose value variance
vector version view weight window zero
"""
WORDS = TEXT.split()

#: A character's number is its place here; the first one ends a word.
LETTERS = "\n" + "".join(sorted(set("".join(WORDS))))
CONTEXT = 16
BATCH = 24
LEARNING_RATE = 1e-2


def network() -> GPT:
    """Return a GPT of two small blocks; `torch.manual_seed` decides its weights."""
    return GPT(GPTConfig(vocab_size=len(LETTERS), context=CONTEXT, layers=2, heads=2, width=32))


def batches(count: int) -> Iterator[tuple[Any, Any]]:
    """Yield windows of words one after another, and the same windows one character on."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        rows = []
        for _ in range(BATCH):
            text = "\n" + "".join(f"{WORDS[i]}\n" for i in rng.integers(0, len(WORDS), 8))
            rows.append([LETTERS.index(letter) for letter in text[: CONTEXT + 1]])
        numbers = np.array(rows, dtype=np.int64)
        yield torch.from_numpy(numbers[:, :-1].copy()), torch.from_numpy(numbers[:, 1:].copy())


def train(net: GPT, steps: int) -> Iterator[float]:
    """Train with Adam and a falling step size; give the loss of each step, for one character."""
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    for step, (seen, wanted) in enumerate(batches(steps)):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - step / steps)
        scores = net(seen)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def written(net: GPT, count: int, seed: int = 0) -> list[str]:
    """Let the network write `count` words, each drawn letter by letter from its shares."""
    rng = np.random.default_rng(seed)
    texts = [[0] for _ in range(count)]
    with torch.no_grad():
        for _ in range(CONTEXT - 1):
            scores = net(torch.tensor(texts))[:, -1]
            for text, shares in zip(texts, torch.softmax(scores, 1).tolist(), strict=True):
                text.append(int(np.searchsorted(np.cumsum(shares), rng.random() * sum(shares))))
    return ["".join(LETTERS[i] for i in text[1:]).partition("\n")[0] for text in texts]


def right(words: list[str]) -> float:
    """Return the share of the words that are words of the course."""
    return sum(word in WORDS for word in words) / len(words)


def main() -> None:
    """Train, and show what it writes on the way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=600, help="steps of training (600)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first weights (0)")
    parser.add_argument("--result", help="a file for what came of it, as JSON")
    options = parser.parse_args()
    if options.steps < 1:
        parser.error("--steps is 1 or more")
    torch.manual_seed(options.seed)
    net, begun = network(), perf_counter()
    weights = sum(each.numel() for each in net.parameters())
    print(f"{len(WORDS)} words, {len(LETTERS)} characters, {weights:,} weights")
    print(f"before:          {' '.join(written(net, 6))}")
    losses: list[float] = []
    operations = Operations()
    for loss in operations.of_first(train(net, options.steps)):
        losses.append(loss)
        if len(losses) % max(1, options.steps // 8) == 0:
            mean = float(np.mean(losses[-max(1, options.steps // 8):]))
            print(f"step {len(losses):4}: {mean:.3f}  {' '.join(written(net, 6))}", flush=True)
    words = written(net, 200, seed=1)
    share = right(words)
    print(f"{share:.1%} of 200 words are spelled rightly, after {perf_counter() - begun:.0f} s")
    if options.result:
        write_result(options.result, operations, loss=round(mean, 3), spelled=round(share, 3))


if __name__ == "__main__":
    main()
