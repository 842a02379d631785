"""Make untrusted text safe to show: it cannot move the cursor or reverse the text direction."""

from __future__ import annotations

import re

__all__ = ["one_line", "printable"]

#: Control characters, direction marks, surrogates, and what XML cannot contain.
_HIDDEN = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010fffd]"
                     "|[\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
                     "|[\U000e0000-\U000e007f]")


def printable(text: str) -> str:
    r"""Replace each character that a terminal would obey or a reader could not see with `?`.

    >>> printable("a\x1b[2Jb\u202ec")
    'a?[2Jb?c'
    """
    return _HIDDEN.sub("?", text)


def one_line(text: str) -> str:
    r"""Return a name in printable form, without line breaks and tabs.

    >>> one_line("a\nb.py")
    'a?b.py'
    """
    return re.sub(r"[\t\n]", "?", printable(text))
