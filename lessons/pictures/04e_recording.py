"""Pictures of lesson 04e."""

from __future__ import annotations

from minigrad_course.pictures import Arrow, Box, Picture, graph


def four_steps() -> Picture:
    """The path of an op from its arguments to its result."""
    boxes = {"prepare": Box("prepare", notes=("tensors → arrays",)),
             "forward": Box("forward", notes=("arrays → array",), kind="on-forward"),
             "record": Box("record", notes=("a node, its edges", "and saved values"),
                           kind="on-gradient"),
             "wrap": Box("wrap", notes=("array → tensor",))}
    arrows = [Arrow("prepare", "forward"), Arrow("prepare", "record", kind="gradient-line"),
              Arrow("forward", "wrap"), Arrow("record", "wrap", kind="gradient-line")]
    return Picture(
        graph(boxes, arrows, down=True), "The four steps of an operation",
        "Arrows lead from prepare to forward and to record, and from both to wrap. Forward turns "
        "arrays into an array; record makes a node with its edges and saved values.",
        "Under `no_grad`, minigrad leaves out the orange path. The other path is the same either "
        "way.")


def handing_over() -> Picture:
    """Which of two functions runs a call, and when the first hands it to the second."""
    boxes = {"call": Box("x * y"),
             "generated": Box("the generated mul", notes=("four steps, written for Mul",),
                              kind="on-forward"),
             "taught": Box("run_op", notes=("the four steps, for any op",), kind="on-gradient"),
             "result": Box("the result", notes=("and its node",))}
    arrows = [Arrow("call", "generated"), Arrow("generated", "result", label="the common case"),
              Arrow("generated", "taught", label="any other call", kind="gradient-line"),
              Arrow("taught", "result", kind="gradient-line")]
    return Picture(
        graph(boxes, arrows, down=True), "The generated function and the taught one",
        "x * y calls the generated mul. In the common case it makes the result itself; any other "
        "call goes to run_op, which makes the same result.",
        "Both paths return the same numbers, bit for bit.")
