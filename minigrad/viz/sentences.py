"""Sentences about each step of a backward pass: one or two per step, without code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .values import Value

Gradients = Sequence[Value | None]
View = Any  # a NodeView


def counted(nodes: int) -> str:
    """Describe how the pass begins."""
    return (f"Before anything runs, the engine follows every edge from GraphRoot, {nodes} nodes in "
            "all, and counts the edges that lead into each node: it waits for that many gradients. "
            "GraphRoot waits for none, so it goes into the ready queue.")


def popped(view: View, rest: Sequence[View], given: Gradients) -> str:
    """Explain why a node is next, and what its buffer holds."""
    if view.role == "root":
        return ("GraphRoot is popped. It belongs to no operation; it only passes the initial "
                "gradient to the results.")
    return f"{view} is popped: {in_front(view, rest)}. Its buffer holds {listed(given)}."


def in_front(view: View, rest: Sequence[View]) -> str:
    """Explain why a node precedes the rest of the queue."""
    if not rest:
        return "it is alone in the queue"
    if view.role == "leaf":
        return "no other node depends on it, so leaves run as soon as they are ready"
    return "of the nodes that are ready, the forward pass created it last"


def hooked(view: View, count: int, before: Gradients, after: Gradients,
           kept: Sequence[str]) -> str:
    """Describe the effect of hooks on the operation's results."""
    said = []
    if count:
        changed = "leave the gradient unchanged" if before == after else (
            f"turn {listed(before)} into {listed(after)}")
        if count == 1:
            changed = changed.replace("leave", "leaves").replace("turn", "turns")
        said.append(f"{plural(count, 'hook')} on the tensor of {view} {changed}.")
    if kept:
        said.append(f"The gradient is stored in .grad of {' and '.join(kept)}, because of "
                    "retain_grad().")
    return " ".join(said)


def applied(view: View, results: Gradients, hooks: int, freed: bool) -> str:
    """Describe the gradients that a node returned."""
    if view.role == "root":
        return f"GraphRoot passes on {listed(results)}."
    unneeded = [i for i, edge in enumerate(view.edges) if edge.target is None]
    given = [f"{value or 'no gradient'} for input {i}" for i, value in enumerate(results)
             if i not in unneeded]
    said = [f"From its buffer, {view.name} computes {' and '.join(given)}."] if given else [
        f"{view.name} has no gradient to pass on."]
    if unneeded:
        which = " and ".join(map(str, unneeded))
        said.append(f"Input {which} needs no gradient, so none is computed.")
    if hooks:
        said.append(f"{plural(hooks, 'hook')} of the node ran with it.")
    if view.saved and freed:
        said.append(f"It frees what it had saved for this ({', '.join(view.saved)}).")
    return " ".join(said)


def arrived(source: View, place: int, target: View, index: int, raw: Value | None,
            value: Value | None, before: Value | None, after: Value | None, left: int) -> str:
    """Describe a gradient that moves along an edge, the buffer after it, and missing gradients."""
    way = f"from {source.name}" + (f", input {place}," if len(source.edges) > 1 else "")
    at = f"{target}" + (f", output {index}" if len(target.shapes) > 1 else "")
    if value is None:
        said = [f"No gradient goes {way} to {at}, but it still counts as arrived."]
    else:
        said = [f"{value!s} goes {way} to {at}."]
        if raw is not None and raw.shape != value.shape:
            said.append(f"It was first summed from shape {raw.shape} to {value.shape}, "
                        "because the forward pass had broadcast that input.")
        if before is not None:
            said.append(f"It is added to the buffer: {before.text} becomes "
                        f"{after.text if after else 'None'}.")
    if left:
        said.append(f"{target.name} now waits for {plural(left, 'more gradient')}.")
    else:
        said.append(f"{target.name} has all its gradients and joins the ready queue.")
    return " ".join(said)


def wrote(view: View, arrived: Value | None, before: Value | None, after: Value | None) -> str:
    """Describe the change of a leaf's `.grad`."""
    leaf = view.called or "the leaf"
    if arrived is None:
        return f"No gradient arrived, so .grad of {leaf} stays {before.text if before else 'None'}."
    if before is None:
        return f".grad of {leaf} was None and becomes {after}."
    return f"{arrived.text} is added to .grad of {leaf}: {before.text} becomes {after}."


def ended(done: int, retained: bool) -> str:
    """Describe how the pass ends."""
    rest = ("The graph keeps its saved values, because of retain_graph." if retained else
            "The nodes have freed their saved values, so a second pass would raise.")
    return f"The queue is empty: each of the {done} nodes has run once. {rest}"


def failed(view: View | None, error: BaseException) -> str:
    """Describe where and how the pass failed."""
    where = f" in {view}" if view is not None else ""
    return (f"The pass stops{where} with {type(error).__name__}: {error} The gradients "
            "in the buffers are dropped; leaves that have run keep their .grad.")


def listed(values: Gradients) -> str:
    """Return gradients as part of a sentence."""
    if not any(values):
        return "no gradient"
    if len(values) == 1:
        return str(values[0])
    return " and ".join(f"{value or 'nothing'} for output {i}" for i, value in enumerate(values))


def plural(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "hook"), plural(2, "hook")
    ('1 hook', '2 hooks')
    """
    return f"{count} {noun}" + ("" if count == 1 else "s")
