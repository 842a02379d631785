"""Pictures of lesson 07."""

from __future__ import annotations

import minigrad as torch
from minigrad import nn
from minigrad.viz import saved_tensors
from minigrad_course.pictures import Drawing, Picture, bars
from minigrad_course.pictures.drawing import SMALL


def bytes_kept() -> Picture:
    """How much a network keeps for backward in each mode."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(16 * 32 * 32, 10))
    images = torch.rand(8, 3, 32, 32)
    rows = []
    for training in (True, False):
        for recording in (True, False):
            net.train(training)
            with torch.set_grad_enabled(recording):
                result = net(images)
            known = {t.data_ptr() for t in (images, *net.parameters(), *net.buffers())}
            found = {t.data_ptr(): t.nbytes for t in saved_tensors(result)
                     if t.data_ptr() not in known} if result.requires_grad else {}
            rows.append((f"{'train' if training else 'eval'}, "
                         f"{'recording' if recording else 'no_grad'}",
                         sum(found.values()) / 1e6, "on-forward"))
    told = "; ".join(f"{name} {value:.1f} MB" for name, value, _ in rows)
    return Picture(
        bars(rows, "MB", say=lambda value: f"{value:.1f}"),
        "Bytes that a network keeps for backward, by mode",
        f"Four bars for the network of this lesson: {told}.",
        "`no_grad` determines how much is kept, while `eval` only skips what dropout would have "
        "saved.")


def stretches() -> Picture:
    """Who runs when a generator is used, and in which mode."""
    drawing = Drawing()
    left, wide = 62.0, 50.0
    for y, name in ((30, "caller"), (72, "body"), (112, "mode")):
        drawing.text(0, y, name, "strong", "start", SMALL)
    for place in range(7):
        x, inside = left + place * wide, place % 2 == 1
        if inside:
            drawing.box(x, 58, wide, 28, "on-forward", 2)
        else:
            drawing.box(x, 16, wide, 28, "box", 2)
        drawing.text(x + wide / 2, 112, "off" if inside else "on",
                     "code forward" if inside else "code", size=SMALL)
        if inside:
            drawing.line([(x, 44), (x, 57)], "line", arrow=True)
            drawing.line([(x + wide, 58), (x + wide, 45)], "line", arrow=True)
    for place, call in enumerate(("next()", "send(v)", "throw(e)")):
        drawing.text(left + (2 * place + 1) * wide, 4, call, "code", size=SMALL)
    drawing.text(left + wide * 1.5, 72, "yield", "code", size=SMALL)
    drawing.text(left + wide * 3.5, 72, "yield", "code", size=SMALL)
    return Picture(
        drawing.room(left + 7 * wide, 120), "A generator's stretches, and the mode in each",
        "Time runs from left to right. The caller runs with the mode on. next(), send(v) and "
        "throw(e) each start a stretch of the body, in which the mode is off; each yield "
        "returns control to the caller, where the mode is on again.",
        "The mode applies to the stretches of the body, not to the gaps between them.")
