"""Fingerprints of a list of tokens, by winnowing.

NOTE [Winnowing]
    Every run of `RUN` tokens has a hash.  The smallest of each `WINDOW` consecutive hashes is kept,
    the rightmost one in a tie.  So two lists that share a passage of at least RUN + WINDOW - 1
    tokens have a common fingerprint, passages shorter than RUN have no effect, and the position in
    the list does not matter.

    Source: Schleimer, Wilkerson, Aiken: Winnowing: Local Algorithms for Document Fingerprinting,
    SIGMOD 2003, https://doi.org/10.1145/872757.872770
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

__all__ = ["RUN", "WINDOW", "covered", "fingerprints", "runs"]

RUN = 12
WINDOW = 4


def runs(texts: Sequence[str]) -> list[int]:
    """Return the hash of each run of RUN tokens."""
    marks = [text.encode("utf-8", "replace") for text in texts]
    return [int.from_bytes(blake2b(b"\0".join(marks[i : i + RUN]), digest_size=8).digest())
            for i in range(len(marks) - RUN + 1)]


def fingerprints(texts: Sequence[str]) -> dict[int, list[int]]:
    """Return the fingerprints of some tokens, each with the positions at which it occurs.

    >>> a, b = [str(i) for i in range(40)], [str(i) for i in range(10, 60)]
    >>> len(set(fingerprints(a)) & set(fingerprints(b))) > 0
    True
    >>> fingerprints(a[:11])
    {}
    """
    hashes = runs(texts)
    found: dict[int, list[int]] = {}
    last = -1
    for start in range(max(len(hashes) - WINDOW, 0) + 1 if hashes else 0):
        window = range(start, min(start + WINDOW, len(hashes)))
        least = min(window, key=lambda i: (hashes[i], -i))
        if least != last:
            found.setdefault(hashes[least], []).append(least)
            last = least
    return found


def covered(found: dict[int, list[int]], shared: set[int]) -> set[int]:
    """Return the positions of the tokens in the runs of shared fingerprints."""
    return {position + i for mark in shared for position in found.get(mark, ())
            for i in range(RUN)}
