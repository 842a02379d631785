"""Rewrite the text of a failed test for learners: no addresses, no introspection of builtins."""

from __future__ import annotations

import re
from string import ascii_lowercase

__all__ = ["plain_failure"]

#: Errors from code that reads input while tests run, and the messages that replace them.
_ASKS = {
    "pytest: reading from stdin while output is captured!  Consider using `-s`.":
        "input() cannot read anything while tests run",
    "bdb.BdbQuit": "breakpoint() cannot be used while tests run; `minigrad run --pdb`, with the "
                   "exercise's number, stops in a debugger where a test fails",
}

_OBJECT = re.compile(r"<(?:\w+\.)*(\w+)(?: object)? at (0x[0-9a-fA-F]+)>")
#: The prefix of a function that was defined inside a test.
_LOCAL = re.compile(r"\b[\w.]+\.<locals>\.")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: A line in which pytest explains a value, and uninformative values.
_WHERE = re.compile(r"(?:E\s+)?\s*\+\s+(?:where|and)\s")
_OBSCURE = re.compile(r"<(?:built-in method|built-in function|bound method|function|method-wrapper|"
                      r"generator object|module|class|ContextVar|Token)\b"
                      r"|<[\w.]+ object at|\b[A-Z]\w*\(\w+=")  # an object, a dataclass
#: Above this width, as with large tensors, such a line hides more than it shows.
_WIDE = 120
#: A message written in a test, and a line that adds no information.
_SAID = re.compile(r"(?:E\s+)?AssertionError: ")
_BARE = re.compile(r"(?:E\s+)?\s*assert (?:False|not True)$")
#: A message with both values; pytest's comparison of them is redundant.
_COMPARED = re.compile(r"(AssertionError: [^\n]*\bexpected\b[^\n]*)\n(?:E\s+)?\s*assert .*", re.S)
#: pytest's advice to use -v where it shortens a comparison; learners have no such option.
_ADVICE = re.compile(r"\n *Use -v to get more diff|,? use '?-vv?'? to show")


def plain_failure(text: str) -> str:
    """Return the text of a failure with a letter for each object, always the same for one object.

    >>> plain_failure("assert [<a.b.Node object at 0x7f1>] == [<a.b.Node object at 0x7f2>]")
    'assert [<Node a>] == [<Node b>]'
    >>> plain_failure("assert False\\n +  where False = <built-in method get of X at 0x7>()")
    'assert False'
    >>> plain_failure("AssertionError: it ran\\nassert not True\\n +  where True = Task(n=0).run")
    'AssertionError: it ran'
    >>> plain_failure("OSError: pytest: reading from stdin while output is captured!  "
    ...          "Consider using `-s`.")
    'OSError: input() cannot read anything while tests run'
    >>> plain_failure("TypeError: test_a.<locals>.<lambda>() takes no arguments")
    'TypeError: <lambda>() takes no arguments'
    >>> plain_failure("AssertionError: expected 1, got 2\\nassert 2 == 1 ± 1e-9\\n  Obtained: 2")
    'AssertionError: expected 1, got 2'
    """
    text = _COMPARED.sub(r"\1", _ADVICE.sub("", text))
    for asks, said in _ASKS.items():
        text = text.replace(asks, said)
    lines: list[str] = []
    for line in text.split("\n"):
        tells_nothing = _WHERE.match(line) and (_OBSCURE.search(line) or len(line) > _WIDE)
        if not tells_nothing and not (_BARE.match(line) and lines and _SAID.match(lines[-1])):
            lines.append(line)
    letters: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        number = len(letters)
        letter = letters.setdefault(found[2], ascii_lowercase[number % 26]
                                    + (str(number // 26) if number >= 26 else ""))
        return f"<{found[1]} {letter}>"

    named = _OBJECT.sub(name, _LOCAL.sub("", "\n".join(lines)))
    return _ADDRESS.sub("", named)
