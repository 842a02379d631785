"""`torch.utils._pytree`: nested tuples, lists and dicts as a list of leaves and a structure.

Source: https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/_pytree.py
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from ..func.tree import node_text

__all__ = ["TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten",
           "tree_iter", "tree_leaves", "tree_map", "tree_map_", "tree_map_only", "tree_structure",
           "tree_unflatten"]

Node = tuple[Callable[[Any], tuple[list[Any], Any]], Callable[[Iterable[Any], Any], Any]]


def _of_dict(tree: Any) -> tuple[list[Any], Any]:
    return list(tree.values()), list(tree)


#: How to take each kind of node apart, and how to make it again.
NODES: dict[Any, Node] = {
    list: (lambda tree: (list(tree), None), lambda parts, _: list(parts)),
    tuple: (lambda tree: (list(tree), None), lambda parts, _: tuple(parts)),
    dict: (_of_dict, lambda parts, keys: dict(zip(keys, parts, strict=True))),
    OrderedDict: (_of_dict, lambda parts, keys: OrderedDict(zip(keys, parts, strict=True))),
    defaultdict: (lambda tree: (list(tree.values()), (tree.default_factory, list(tree))),
                  lambda parts, kept: defaultdict(kept[0], zip(kept[1], parts, strict=True))),
    deque: (lambda tree: (list(tree), tree.maxlen), lambda parts, size: deque(parts, size)),
}


def register_pytree_node(cls: Any, flatten_fn: Any, unflatten_fn: Any, **options: Any) -> None:
    """Make instances of a class nodes; the functions return their parts and make them again.

    >>> class Pair:
    ...     def __init__(self, a, b): self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda parts, _: Pair(*parts))
    >>> tree_leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """
    NODES[cls] = flatten_fn, unflatten_fn


def _node(tree: Any) -> tuple[Any, Node] | None:
    """Return the kind of a node and its functions, or `None` for a leaf."""
    kind: Any = type(tree)
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, (lambda tree: (list(tree), None), lambda parts, _: kind(*parts))
    return (kind, NODES[kind]) if kind in NODES else None


class TreeSpec:
    """The structure of a nesting: the kind of its node, what it keeps, and its parts' structures.

    >>> tree_structure([1, 2]) == tree_structure([3, 4]), tree_structure([1, (2, 3)]).num_leaves
    (True, 3)
    """

    def __init__(self, kind: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = kind, context, children
        self.num_leaves: int = 1 if kind is None else sum(each.num_leaves for each in children)

    def is_leaf(self) -> bool:
        """Return whether this is a leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the nesting with these leaves; raise `ValueError` for another number of them."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (
            self.type, self.context, self.children_specs) == (
            other.type, other.context, other.children_specs)

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        return node_text(self.type, self.context, map(repr, self.children_specs))


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None
                 ) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nesting, and its structure.

    >>> leaves, structure = tree_flatten({"a": 1, "b": [2, 3]})
    >>> leaves, tree_unflatten([10, 20, 30], structure)
    ([1, 2, 3], {'a': 10, 'b': [20, 30]})
    """
    found = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if found is None:
        return [tree], TreeSpec(None, None, [])
    kind, (flatten, _) = found
    parts, context = flatten(tree)
    flat = [tree_flatten(part, is_leaf) for part in parts]
    return ([leaf for leaves, _ in flat for leaf in leaves],
            TreeSpec(kind, context, [structure for _, structure in flat]))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return a nesting with these leaves; raise `ValueError` for another number of them.

    >>> tree_unflatten([3, 4], tree_structure((1, 2)))
    (3, 4)
    """
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the "
                         "spec refers to a pytree that holds "
                         f"{treespec.num_leaves} items ({treespec}).")
    return _made(iter(leaves), treespec)


def _made(leaves: Any, structure: TreeSpec) -> Any:
    kind: Any = structure.type
    if kind is None:
        return next(leaves)
    parts = [_made(leaves, each) for each in structure.children_specs]
    return kind(*parts) if hasattr(kind, "_fields") else NODES[kind][1](parts, structure.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a nesting.

    >>> tree_leaves([1, {"a": None}])
    [1, None]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """Iterate over the leaves of a nesting.

    >>> list(tree_iter((1, [2])))
    [1, 2]
    """
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure of a nesting.

    >>> tree_structure([1, (2,)])
    TreeSpec(list, None, [*, TreeSpec(tuple, None, [*])])
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any,
             is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Return a nesting of what a function returns for the leaves of several alike nestings.

    >>> tree_map(lambda a, b: a + b, {"x": 1}, {"x": 2})
    {'x': 3}
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [_leaves_like(structure, rest) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], structure)


def _leaves_like(structure: TreeSpec, tree: Any) -> list[Any]:
    """Return what a nesting has at the leaves of a structure; raise `ValueError` if it differs."""
    if structure.type is None:
        return [tree]
    found = _node(tree)
    if found is None or found[0] is not structure.type:
        raise ValueError(f"Node type mismatch; expected {structure.type!r}, but got "
                         f"{type(tree)!r}.")
    parts, _ = found[1][0](tree)
    if len(parts) != len(structure.children_specs):
        raise ValueError(f"Node arity mismatch; expected {len(structure.children_specs)}, but got "
                         f"{len(parts)}.")
    return [leaf for below, part in zip(structure.children_specs, parts, strict=True)
            for leaf in _leaves_like(below, part)]


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any,
              is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call a function for each leaf, and return the nesting itself.

    >>> tree_map_(print, [1, 2])
    1
    2
    [1, 2]
    """
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind: Any, func: Callable[[Any], Any] | None = None, tree: Any = None,
                  is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Return a nesting in which a function was applied to the leaves of a type, or of several.

    >>> tree_map_only(int, str, [1, 2.0])
    ['1', 2.0]
    """
    assert func is not None
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree,
                    is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any,
             is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Return whether a function is true for all leaves.

    >>> tree_all(lambda leaf: leaf > 0, [1, (2, 3)])
    True
    """
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any,
             is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Return whether a function is true for a leaf.

    >>> tree_any(lambda leaf: leaf > 2, [1, (2, 3)])
    True
    """
    return any(map(pred, tree_iter(tree, is_leaf)))
