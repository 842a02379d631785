"""Pictures of lesson 11."""

from __future__ import annotations

import minigrad as torch
from minigrad.autograd.profiler import profile
from minigrad.autograd.profiler.trace import linked
from minigrad.autograd.profiler_util import EventList, FunctionEvent
from minigrad.nn.models import resnet18
from minigrad_course.pictures import Drawing, Picture, bars, flame
from minigrad_course.pictures.drawing import SMALL, text_width
from minigrad_course.pictures.graphs import short


def _events() -> EventList:
    events = EventList([FunctionEvent(0, "conv2d", 1, 0.0, 10.0),
                        FunctionEvent(1, "pad", 1, 1.0, 4.0),
                        FunctionEvent(2, "copy", 1, 1.5, 3.5),
                        FunctionEvent(3, "convolution", 1, 4.5, 9.0)])
    events._populate_cpu_children()
    return events


def brackets() -> Picture:
    """Four events, nested."""
    events = _events()
    depth = {events[0].id: 0}
    for event in events:
        for child in event.cpu_children:
            depth[child.id] = depth[event.id] + 1
    drawn = flame([(event.name, event.time_range.start, event.time_range.end, depth[event.id],
                    "on-forward" if event.cpu_children else "box") for event in events])
    scale = drawn.width / 10
    y = drawn.height + 14
    for tick in range(0, 11, 2):
        drawn.text(min(max(tick * scale, 5), 10 * scale - 10), y, str(tick), "muted", size=SMALL)
    told = "; ".join(f"{event.name} from {short(event.time_range.start)} to "
                     f"{short(event.time_range.end)}" for event in events)
    return Picture(
        drawn, "Events nest like brackets",
        f"A flame graph of four events: {told}. pad and convolution are nested in conv2d, and "
        "copy is nested in pad.",
        "Time runs to the right, and each event is drawn below the event that contains it.")


def self_times() -> Picture:
    """The self time of each event."""
    events = _events()
    rows = [(event.name, event.self_cpu_time_total, "on-forward") for event in events]
    told = ", ".join(f"{name} {short(value)}" for name, value, _ in rows)
    return Picture(
        bars(rows), "Self times of four events",
        f"Bars of self times: {told}. Together they are {short(events.self_cpu_time_total)}, the "
        "time that passed.",
        f"Self times add up to the {short(events.self_cpu_time_total)} ticks that passed; totals "
        "would count some of them twice.")


def counts() -> Picture:
    """Counts of a step of ResNet-18."""
    torch.manual_seed(0)
    network = resnet18()
    image = torch.randn((1, 3, 64, 64))
    with profile() as prof:
        network(image).sum().backward()
    found = {average.key: average.count for average in prof.key_averages()}
    rows = [(name.rpartition("::")[2], float(found[name]), kind) for name, kind in (
        ("aten::conv2d", "on-forward"), ("aten::batch_norm", "on-forward"),
        ("aten::relu_", "on-forward"), ("NativeBatchNormBackward", "on-gradient"),
        ("AddBackward0", "on-gradient"), ("torch::autograd::AccumulateGrad", "on-gradient"))]
    told = ", ".join(f"{name} {int(value)}" for name, value, _ in rows)
    return Picture(
        bars(rows), "How often each op and node runs in one step of ResNet-18",
        f"Bars of counts: {told}.",
        "The structure of the network determines these counts, so every machine gets the same.")


def forward_and_backward() -> Picture:
    """Ops and the nodes that belong to them."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with profile() as prof:
        (x * x).exp().sum().backward()
    pairs = sorted(linked(prof.function_events), key=lambda pair: pair[0].sequence_nr)
    order = sorted((backward for _, backward in pairs), key=lambda event: event.time_range.start)
    first = min(op.sequence_nr for op, _ in pairs)
    drawing, cell = Drawing(), 136.0
    drawing.text(0, 6, "forward", "forward", "start", SMALL)
    drawing.text(0, 158, "backward", "gradient", "start", SMALL)
    for place, (op, backward) in enumerate(pairs):
        ends = []
        for column, y, event, kind in ((place, 20, op, "on-forward"),
                                       (order.index(backward), 116, backward, "on-gradient")):
            name = event.name.removeprefix("aten::")
            width = text_width(name, SMALL) + 14
            x0 = column * cell + (cell - width) / 2
            drawing.box(x0, y, width, 28, kind, 4)
            drawing.text(x0 + width / 2, y + 14, name, "code", size=SMALL)
            ends.append((x0 + width / 2, y + (28 if y < 60 else -1)))
        drawing.line(ends, "line", arrow=True)
        (x1, y1), (x2, y2) = ends
        share = 0.25
        label_x, label_y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
        drawing.box(label_x - 10, label_y - 9, 20, 18, "sheet", 4)
        drawing.text(label_x, label_y, str(op.sequence_nr - first), "code strong", size=SMALL)
    told = ", ".join(f"{op.name} to {backward.name}" for op, backward in pairs)
    return Picture(
        drawing, "Ops joined with their nodes by sequence numbers",
        f"Arrows join {told}. In the forward pass, the numbers rise from "
        "left to right; in the backward pass, they fall.",
        "Both rows run from left to right in time. The number on an arrow is the sequence number.")
