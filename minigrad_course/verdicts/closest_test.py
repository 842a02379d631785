"""Find the failing test that matches a sentence about a mistake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

__all__ = ["closest"]

#: Choose another text than the first only if its score is higher by this factor.
MARGIN = 1.3

_COMMON = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "in",
    "is", "it", "its", "no", "not", "of", "on", "one", "or", "that", "the", "their", "them",
    "there", "they", "this", "to", "was", "what", "where", "which", "with"))


def closest(sentence: str, texts: Sequence[str]) -> int:
    """Return the index of the text most similar to a sentence; 0 if in doubt.

    Words that occur in few of the texts count most.

    >>> closest("The second hook gets the first one's gradient.",
    ...         ["The handle removes a hook.", "A hook sees the gradient of the hook before it."])
    1
    """
    wanted, words = _words(sentence), [_words(text) for text in texts]
    known = Counter(word for each in words for word in each)
    scores = [sum(log(1 + len(texts) / known[word]) for word in wanted & each) / (3 + len(each))
              for each in words]
    best = max(range(len(texts)), key=lambda index: (round(scores[index], 9), -index))
    return best if scores[best] > MARGIN * scores[0] else 0


def _words(text: str) -> frozenset[str]:
    """Return the words of a text without their endings; names are split at underscores."""
    found = re.findall(r"[A-Za-z]+|\d+", text)
    return frozenset(_stem(word.lower()) for word in found) - _COMMON


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
