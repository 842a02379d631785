"""Nested tuples, lists and dicts of tensors, which the transforms take and return."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Tree = Any


def leaves_of(tree: Tree) -> list[Any]:
    """Return the leaves of a nesting, from left to right.

    >>> leaves_of({"a": (1, [2, 3])})
    [1, 2, 3]
    """
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves_of(part)]
    if isinstance(tree, dict):
        return [leaf for part in tree.values() for leaf in leaves_of(part)]
    return [tree]


def mapped(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Apply a function to every leaf of a nesting.

    >>> mapped(str, (1, {"b": 2}))
    ('1', {'b': '2'})
    """
    if isinstance(tree, (tuple, list)):
        parts = [mapped(function, part) for part in tree]
        node_type: Any = type(tree)
        return node_type(*parts) if hasattr(tree, "_fields") else node_type(parts)
    if isinstance(tree, dict):
        return type(tree)((key, mapped(function, part)) for key, part in tree.items())
    return function(tree)


class Leaf:
    """Represents a leaf in the text of a structure."""

    def __repr__(self) -> str:
        return "*"


def form(tree: Tree) -> str:
    """Return the structure of a nesting as text, which depends on the order of a dict's keys.

    >>> form((1, {"b": 2}))
    "(*, {'b': *})"
    """
    return repr(mapped(lambda _: Leaf(), tree))


def spec_text(tree: Tree) -> str:
    """Return the structure of a nesting as PyTorch's errors print it.

    >>> print(spec_text((1, {"b": 2})))
    TreeSpec(tuple, None, [*,
      TreeSpec(dict, ['b'], [*])])
    """
    if isinstance(tree, dict):
        return node_text(type(tree), list(tree), map(spec_text, tree.values()))
    if isinstance(tree, (tuple, list)):
        return node_text(type(tree), None, map(spec_text, tree))
    return repr(Leaf())


def node_text(kind: type, context: Any, parts: Iterable[str]) -> str:
    """Return the text of a `TreeSpec`, given the texts of its parts."""
    inside = ",\n".join(parts).replace("\n", "\n  ")
    return f"TreeSpec({kind.__name__}, {context}, [{inside}])"


def rebuilt(tree: Tree, leaves: list[Any]) -> Tree:
    """Return a nesting of the same structure with other leaves, in order."""
    rest = iter(leaves)
    return mapped(lambda _: next(rest), tree)


def spread(shorter: Tree, tree: Tree) -> list[Any] | None:
    """Broadcast a nesting that may be shallower to the leaves of `tree`; `None` if they differ.

    >>> spread((0, 1), ((10, 20), 30))
    [0, 0, 1]
    """
    if isinstance(shorter, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(shorter) != len(tree):
            return None
        parts = [spread(s, t) for s, t in zip(shorter, tree, strict=True)]
    elif isinstance(shorter, dict):
        if not isinstance(tree, dict) or shorter.keys() != tree.keys():
            return None
        parts = [spread(shorter[key], part) for key, part in tree.items()]
    else:
        return [shorter] * len(leaves_of(tree))
    if any(part is None for part in parts):
        return None
    return [value for part in parts if part is not None for value in part]
