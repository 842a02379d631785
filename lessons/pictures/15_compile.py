"""Pictures of lesson 15."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any
from unittest import mock

import minigrad as torch
from minigrad.aot.buffers import last_uses, roots_of, taken_over
from minigrad.aot.compiled import LIMIT, Compiled, CompiledFunction
from minigrad.aot.direct import is_elementwise
from minigrad.aot.partition import Partition, at_level, cut, partition
from minigrad.aot.program import Step
from minigrad.aot.trace.record import Recorded, record
from minigrad.aot.trace.steps import Steps
from minigrad_course.pictures import (
    Arrow,
    Box,
    Chip,
    Drawing,
    Picture,
    graph,
    stacked,
    table,
)
from minigrad_course.pictures.drawing import SMALL, text_width


def record_then_replay() -> Picture:
    """What a call goes through, and five calls of one compiled function."""
    boxes = {
        "call": Box("f(x)"),
        "guards": Box("guards", notes=("arguments, modes,", "surroundings"), kind="on-forward"),
        "run": Box("run its program", code=False),
        "record": Box("record another", notes=(f"at most {LIMIT}",), code=False)}
    arrows = [Arrow("call", "guards"), Arrow("guards", "run", "as recorded", "right-line"),
              Arrow("guards", "record", "different", "wrong-line"), Arrow("record", "run")]
    factor = 2.0
    f = CompiledFunction(lambda x: x * factor)
    ran: list[Compiled] = []
    run = Compiled.run

    def noted(self: Compiled, *args: Any) -> Any:
        if self not in ran:
            ran.append(self)
        numbers.append(ran.index(self) + 1)
        return run(self, *args)

    rows: list[list[list[Chip] | str]] = []
    told: list[str] = []
    numbers: list[int] = []
    with mock.patch.object(Compiled, "run", noted):
        for factor, make, size in ((2.0, "ones", 2), (2.0, "zeros", 2), (2.0, "ones", 3),
                                   (3.0, "ones", 2), (2.0, "ones", 3)):
            count, keys = f.count, len(f.programs)
            f(getattr(torch, make)(size))
            found = ("all as recorded" if f.count == count else "no program" if not count else
                     "another shape" if len(f.programs) > keys else "another factor")
            then = f"{'run' if f.count == count else 'record, run'} {numbers[-1]}"
            rows.append([[Chip(f"f({make}({size}))", "")], f"{factor:g}", found, then])
            told.append(f"f({make}({size})) with factor {factor:g}: {found}, so {then}")
    return Picture(
        stacked([graph(boxes, arrows, down=True),
                 table(["call", "factor", "the guards find", "so"], rows, gap=12)]),
        "Record a call, then replay it",
        "A call passes the guards. If everything is as recorded, its program runs; otherwise "
        f"minigrad records another program, at most {LIMIT}, and runs that. Five calls of a "
        f"function that returns x * factor, with the number of the program: {'; '.join(told)}.",
        "The values in `x` may change, because a program reads them each time. Its shape and "
        "`factor` are part of the program.")


def a_branch_taken_for_granted() -> Picture:
    """A trace of a function with a branch, which is wrong for the second call."""
    def f(x: Any) -> Any:
        if x.sum() > 0:
            return x * 2
        return -x

    first, second = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])
    # a recorder that lets the function see the values of this one call
    with mock.patch.object(Steps, "known", lambda self, array, what: array.inner):
        recorded = record(f, (first,))
    program = Compiled(recorded)
    code = ["def f(x):", "    if x.sum() > 0:", "        return x * 2", "    return -x"]
    drawing, told = Drawing(), []
    for left, title, x, taken in ((0, "1st call", first, 2), (216, "2nd call", second, 3)):
        wanted = f(x)
        found = torch.from_numpy(program.forward(x.numpy())[0])
        tone = "right" if torch.equal(found, wanted) else "wrong"
        drawing.text(left, 8, f"{title}: x = {_numbers(x)}", "strong", "start", SMALL)
        drawing.box(left, 26 + 20 * taken, 180, 20, "on-forward", 3)
        _code(drawing, code, left + 6, 36)
        drawing.text(left + 6, 132, f"f(x):    {_numbers(wanted)}", "", "start", SMALL)
        drawing.text(left + 6, 152, f"program: {_numbers(found)}", f"strong {tone}", "start", SMALL)
        told.append(f"for x = {_numbers(x)}, the function returns {_numbers(wanted)} and the "
                    f"program {_numbers(found)}")
    lines = str(recorded.program).splitlines()
    drawing.line([(0, 176), (396, 176)], "hair")
    drawing.text(0, 198, "the program, recorded in the 1st call", "strong", "start", SMALL)
    _code(drawing, lines, 6, 224)
    return Picture(
        drawing.room(400, 0), "A branch that the trace takes for granted",
        "A function returns x * 2 if the sum of x is positive, and -x otherwise. Its trace from "
        f"the first call contains only the multiplication: {told[0]}; {told[1]}, which is wrong.",
        "The trace has no `if`, because it contains only the operations of one call.")


def _code(drawing: Drawing, lines: list[str], left: float, top: float) -> None:
    """Add lines of code, indented as they are."""
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        drawing.text(left + 7 * indent, top + 20 * number, line.lstrip(), "code", "start", SMALL)


def _numbers(tensor: Any) -> str:
    return f"({', '.join(f'{value:g}' for value in tensor.tolist())})"


def _small_net() -> Recorded:
    def net(x: Any, w: Any, v: Any) -> Any:
        return (torch.tanh(x @ w) @ v).sum()

    return record(net, (torch.ones(4, 3), torch.ones(3, 5, requires_grad=True),
                        torch.ones(5, 1, requires_grad=True)))


#: Where the values of the small network are: the middle of each box.
_PLACES: dict[str, tuple[float, float]] = {
    "x": (14, 14), "w": (14, 94), "v": (14, 204),
    "mm": (96, 54), "tanh": (96, 154), "mm_1": (96, 254), "sum": (96, 314),
    "mul": (246, 154), "sub": (246, 94), "mm_3": (246, 204),
    "tangent": (352, 314), "mm_2": (352, 254), "mul_1": (352, 94), "mm_4": (352, 14)}


def joint_graph() -> Picture:
    """Both passes of a small network as one graph, with the cut between them."""
    recorded = _small_net()
    program, found = recorded.joint, partition(recorded)
    roots = roots_of(program.steps)
    saved = {value.name for value in found.saved}
    gradients = {v.name: recorded.inputs[i].name for v, i in
                 zip(recorded.gradients, recorded.sources, strict=True) if v is not None}
    backward = {v.name for step in recorded.backward for v in step.outputs} | {"tangent"}
    drawing = Drawing()
    bytes_of = {v.name: v.nbytes for step in program.steps for v in step.outputs}
    sizes: dict[str, tuple[float, float]] = {}
    boxes: dict[str, Box] = {}
    for name in _PLACES:
        notes = (f"{bytes_of[name]} B",) if name in saved and name in bytes_of else (
            (f"∂{gradients[name]}",) if name in gradients else ())
        is_input = name in ("x", "w", "v", "tangent")
        kind = "on-gradient" if name in backward else "on-forward" if name in saved else "box"
        boxes[name] = Box(name, notes=notes, kind=kind, leaf=is_input)
        sizes[name] = boxes[name].size
    crossing = []
    for step in program.steps:
        if step.view:
            continue
        (end,) = step.outputs
        for operand in {id(v): v for v in step.inputs()}.values():
            start = roots.get(id(operand), operand).name
            if start not in _PLACES:
                continue  # a constant
            is_crossing = start not in backward and end.name in backward
            crossing += [(start, end.name)] * is_crossing
            kind = ("forward-line" if is_crossing else
                    "gradient-line" if start in backward else "line")
            points = _route(start, end.name, sizes)
            if len(points) == 3:
                drawing.line(points, kind, True)
            else:
                drawing.curve(points, kind, True, upright=False)
    assert {start for start, _ in crossing} == saved
    middle = 172.0
    drawing.line([(middle, -6), (middle, 330)], "wrong-line")
    for name, (x, y) in _PLACES.items():
        width, height = sizes[name]
        drawing.put(_boxed(boxes[name]), x - width / 2, y - height / 2)
    whole = Drawing().put(drawing, 6, 30)
    for x, text, kind in ((90, "forward", "strong forward"), (middle + 6, "the cut", "wrong"),
                          (312, "backward", "strong gradient")):
        whole.text(x, 8, text, kind, size=SMALL)
    told = "; ".join(f"{start} to {end}" for start, end in crossing)
    return Picture(
        whole, "Forward and backward as one graph",
        "The steps of sum(tanh(x @ w) @ v) on the left and of its backward pass, from the tangent "
        "to the gradients of v and w, on the right. The cut separates them, and these arrows "
        f"cross it: {told}. So the values {', '.join(sorted(saved))} are saved, and only tanh, of "
        f"{found.saved_bytes} bytes, takes extra memory, because x and v are inputs.",
        "Only the blue arrows cross the cut, so these three values are all that the backward half "
        "needs from the forward half. Views are left out.")


def _route(start: str, end: str, sizes: dict[str, tuple[float, float]]
           ) -> list[tuple[float, float]]:
    """Return the points of an arrow between the borders of two boxes."""
    (x, y), (to_x, to_y) = _PLACES[start], _PLACES[end]
    if abs(x - to_x) < 1:
        side = 1 if to_y > y else -1
        return [(x, y + side * sizes[start][1] / 2), (to_x, to_y - side * sizes[end][1] / 2)]
    if to_x < x:  # around the corner
        return [(x - sizes[start][0] / 2, y), (to_x, y), (to_x, to_y + sizes[end][1] / 2)]
    return [(x + sizes[start][0] / 2, y), (to_x - sizes[end][0] / 2, to_y)]


def _boxed(box: Box) -> Drawing:
    return graph({"box": box}, [])


def two_ends() -> Picture:
    """A network in which the minimum cut beats both simple choices."""
    def net(x: Any, w: Any, v: Any) -> Any:
        narrow = (x @ w).sum(1, keepdim=True)
        return (narrow * v).sin().exp().sum()

    recorded = record(net, (torch.ones(64, 8), torch.ones(8, 256, requires_grad=True),
                            torch.ones(256, requires_grad=True)))
    costly = {id(v) for step in recorded.forward if step.cost > 2 for v in step.outputs}
    choices = [("save all", at_level(recorded, 0)), ("redo all", cut(recorded, costly)),
               ("min cut", partition(recorded, 0.5))]
    steps = recorded.forward[:-1]  # the last one is the loss
    read = {id(v) for step in recorded.backward for v in step.inputs()}
    most = max(step.outputs[0].nbytes for step in steps)
    wide, middle, row = 112.0, 144.0, 44.0
    columns = [246.0, 318.0, 388.0]
    drawing = Drawing()
    for column, (name, _) in zip(columns, choices, strict=True):
        drawing.text(column, 8, name, "strong", size=SMALL)
    for number, step in enumerate(steps):
        (value,) = step.outputs
        y = 40 + number * row
        share = max(wide * value.nbytes / most, 3.0)
        drawing.text(0, y, value.name, "code strong", "start", SMALL)
        drawing.text(0, y + 17, f"{value.nbytes:,} B", "muted", "start", SMALL)
        drawing.box(middle - share / 2, y - 11, share, 22,
                    "on-gradient" if id(value) in read else "box", 2)
        if number:
            drawing.line([(middle, y - row + 13), (middle, y - 12)], "line", arrow=True)
        for x, (_, choice) in zip(columns, choices, strict=True):
            if any(kept is value for kept in choice.saved):
                drawing.box(x - 24, y - 11, 48, 22, "on-forward", 4)
                drawing.text(x, y, "saved", size=SMALL)
            elif any(each is step for each in choice.backward):
                drawing.text(x, y, "again", "muted", size=SMALL)
    y = 46 + len(steps) * row
    drawing.line([(0, y - 20), (columns[-1] + 26, y - 20)], "hair")
    drawing.text(0, y, "bytes between the passes", "strong", "start", SMALL)
    best = min(choice.saved_bytes for _, choice in choices)
    for x, (_, choice) in zip(columns, choices, strict=True):
        kind = "strong right" if choice.saved_bytes == best else "strong"
        drawing.text(x, y, f"{choice.saved_bytes:,}", f"code {kind}", size=SMALL)
    narrow = min((step.outputs[0] for step in steps), key=lambda value: value.nbytes)
    return Picture(
        drawing, "Both ends lose to the minimum cut",
        f"A forward pass of {len(steps)} steps whose results have "
        + ", ".join(f"{s.outputs[0].nbytes:,} bytes ({s.outputs[0].name})" for s in steps)
        + ". " + " ".join(f"{told} takes {choice.saved_bytes:,} bytes, for "
                          f"{_saved_among(choice, steps)}." for told, (_, choice) in zip(
                              ("Saving every value that the backward pass reads",
                               "Recomputing every value that can be computed again",
                               "The minimum cut"), choices, strict=True)),
        f"Orange: what the backward pass reads. The minimum cut saves the narrow `{narrow.name}` "
        "and computes the wide values below it again.")


def _saved_among(choice: Partition, steps: list[Step]) -> str:
    """Return the names of the steps' results that a choice saves."""
    kept = set(map(id, choice.saved))
    return " and ".join(s.outputs[0].name for s in steps if id(s.outputs[0]) in kept)


def lifetimes() -> Picture:
    """The lines of an emitted function, and from where to where each value lives."""
    def f(x: Any) -> Any:
        wave = x.sin()
        return (wave * 2).exp() + wave

    compiled = Compiled(record(f, (torch.ones(3),)))
    steps = compiled.recorded.forward
    outputs = [result.value for result in compiled.results]
    dying, taken = last_uses(steps, outputs), taken_over(steps, outputs, is_elementwise)
    lines = [line.strip() for line in _source(compiled.forward)[1:]
             if not line.strip().startswith("del ")]
    drawing, row, top = Drawing(), 36.0, 36.0
    left = max(text_width(line, SMALL) for line in lines) + 16
    values = [*compiled.recorded.inputs, *(step.outputs[0] for step in steps)]
    places = {id(value): left + 32 * number for number, value in enumerate(values)}
    for value in values:
        drawing.text(places[id(value)], 8, value.name, "code strong", size=SMALL)
    for number, line in enumerate(lines):
        y = top + number * row
        drawing.line([(0, y - row / 2 + 1), (max(places.values()) + 14, y - row / 2 + 1)], "hair")
        drawing.text(0, y, line, "code", "start", SMALL)
    buffers: dict[int, int] = {}
    told = []
    for value in values:
        born = next((n for n, step in enumerate(steps) if value in step.outputs), -1)
        dies = next((n for n, dead in enumerate(dying) if value in dead), len(steps))
        before = None if born < 0 else taken.get(id(steps[born]))
        if born >= 0:
            buffers[id(value)] = (len(set(buffers.values())) + 1 if before is None
                                  else buffers[id(before)])
        x, begin = places[id(value)], top + born * row if born >= 0 else top - row / 2 + 4
        kind = "saved" if born < 0 else "on-forward" if buffers[id(value)] == 1 else "on-gradient"
        end = top + dies * row + (-2 if dies < len(steps) and dies != born else 10)
        drawing.box(x - 12, begin + 2, 24, end - begin, kind, 4)
        if born >= 0:
            drawing.text(x, begin + 16, str(buffers[id(value)]), "strong", size=SMALL)
            how = "in a new buffer" if before is None else f"in the buffer of {before.name}"
            until = "the end" if dies == len(steps) else f"step {dies + 1}"
            told.append(f"{value.name} is made in step {born + 1} {how} and lives until {until}")
        if before is not None:
            drawing.line([(places[id(before)] + 12, begin + 8), (x - 13, begin + 8)],
                         "gradient-solid", arrow=True)
    count = len(set(buffers.values()))
    return Picture(
        drawing, "Who lives from where to where",
        f"The lines of an emitted function, with a bar for each value. {'; '.join(told)}. So "
        f"{len(steps)} results need {count} buffers.",
        f"The number in a bar is its buffer. The last argument of `{lines[2].partition(' = ')[2]}` "
        "says where the result goes: into the operand that dies here.")


def _source(function: Callable[..., Any]) -> list[str]:
    """Return the lines of an emitted function."""
    return linecache.getlines(function.__code__.co_filename)
