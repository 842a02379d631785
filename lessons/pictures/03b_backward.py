"""Pictures of lesson 03b."""

from __future__ import annotations

import minigrad as torch
from minigrad.autograd.functional import jacobian
from minigrad_course.pictures import Arrow, Box, Picture, beside, graph, row_times_matrix


def before_the_engine() -> Picture:
    """The questions that both functions answer before the engine runs."""
    boxes = {
        "backward": Box("loss.backward()"), "grad": Box("grad(loss, w)"),
        "who": Box("as_tuple, inputs_of", notes=("Who? One tensor or many",)),
        "where": Box("root_edges", notes=("From where? The edges",)),
        "what": Box("root_gradients", notes=("With what? The first gradients",)),
        "add": Box("accumulate", notes=("adds to .grad",)),
        "give": Box("capture", notes=("returns them",)),
        "run": Box("execute", notes=("the engine of stage 03",))}
    arrows = [Arrow(start, end) for start, end in (
        ("backward", "who"), ("grad", "who"), ("who", "where"), ("where", "what"), ("what", "add"),
        ("what", "give"), ("add", "run"), ("give", "run"))]
    return Picture(
        graph(boxes, arrows, down=True), "From backward and grad to the engine",
        "backward and grad both ask who (as_tuple, inputs_of), from where (root_edges) and with "
        "what (root_gradients). Then backward accumulates into .grad, grad captures what it "
        "returns, and both run execute, the engine of stage 03.",
        "Two functions, the same three questions, one engine.")


def weights_of_rows() -> Picture:
    """A pass weighs the rows of the Jacobian."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    table = jacobian(lambda w: w * w.sum(), w.detach()).tolist()
    drawn, told = [], []
    for g in ([1.0, 0.0], [1.0, 1.0]):
        (row,) = torch.autograd.grad(w * w.sum(), w, torch.tensor(g))
        drawn.append(row_times_matrix(g, table, row.tolist(), ("g", "Jacobian", "w.grad")))
        told.append(f"g = {[int(each) for each in g]} gives {[int(each) for each in row.tolist()]}")
    return Picture(
        beside(drawn, 40), "A backward pass weighs the rows of the Jacobian",
        f"The Jacobian of w * w.sum() has the rows {table[0]} and {table[1]}. With "
        f"{' and '.join(told)}: each row counts as much as its entry of g says.",
        "Each row of the Jacobian counts as much as its entry of `g`; a pass returns their sum.")
