"""Find the failing test that matches a sentence about a mistake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

__all__ = ["closest"]

#: Choose another text than the first only if its score is higher by this factor.
MARGIN = 1.3

_COMMON = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "in",
    "is", "it", "its", "no", "not", "of", "on", "one", "or", "that", "the", "their", "them",
    "there", "they", "this", "to", "was", "what", "where", "which", "with"))


def closest(sentence: str, texts: Sequence[str], others: Sequence[str] = ()) -> int:
    """Return the index of the text most similar to a sentence; 0 if in doubt.

    Words that occur in few of the texts count most.  If there are sentences about `others`, other
    mistakes in the same answer, it's the text that fits this sentence better than those.

    >>> closest("The second hook gets the first one's gradient.",
    ...         ["The handle removes a hook.", "A hook sees the gradient of the hook before it."])
    1
    >>> closest("You push a task and count it afterwards.",
    ...         ["A gradient of 0.0 is pushed too.", "A pushed task is counted at once."],
    ...         ["You don't push a gradient of 0.0."])
    1
    """
    words = [_words(text) for text in texts]
    known = Counter(word for each in words for word in each)

    def scores(sentence: str) -> list[float]:
        wanted = _words(sentence)
        return [sum(log(1 + len(texts) / known[word]) for word in wanted & each)
                / (3 + len(each)) / sqrt(1 + len(wanted)) for each in words]

    own = scores(sentence)
    least = MARGIN * own[0]
    if others:
        highest = [max(each) for each in zip(*map(scores, others), strict=True)]
        own = [mine - theirs for mine, theirs in zip(own, highest, strict=True)]
        least = own[0]
    best = max(range(len(texts)), key=lambda index: (round(own[index], 9), -index))
    return best if own[best] > least else 0


def _words(text: str) -> frozenset[str]:
    """Return the words of a text without their endings; names are split at underscores."""
    found = re.findall(r"[A-Za-z]+|\d+", text)
    return frozenset(_stem(word.lower()) for word in found) - _COMMON


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
