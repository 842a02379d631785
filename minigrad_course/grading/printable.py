"""Text of others as it may be shown: nothing in it moves a cursor or turns the direction."""

from __future__ import annotations

import re

__all__ = ["one_line", "printable"]

#: Controls, marks of direction, halves of a character, and what XML cannot hold.
_HIDDEN = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010fffd]"
                     "|[\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
                     "|[\U000e0000-\U000e007f]")


def printable(text: str) -> str:
    r"""Return a text with `?` for what a terminal would obey or a reader could not see.

    >>> printable("a\x1b[2Jb\u202ec")
    'a?[2Jb?c'
    """
    return _HIDDEN.sub("?", text)


def one_line(text: str) -> str:
    r"""Return a name as it may be shown: printable, without line breaks and tabs.

    >>> one_line("a\nb.py")
    'a?b.py'
    """
    return re.sub(r"[\t\n]", "?", printable(text))
