"""Pictures of lesson 03c."""

from __future__ import annotations

from minigrad.examples.device_threads import Engine, GraphTask, NodeTask, Placed, ReadyQueue
from minigrad.tiny import Number
from minigrad_course.pictures import Chip, Picture, table


def _shown(queue: ReadyQueue, names: dict[Number | None, str]) -> list[Chip]:
    return [Chip(names[task.number], "on-gradient") for task in sorted(queue.heap)]


def three_queues() -> Picture:
    """The queues during a pass, one row for each step."""
    a = Placed(2.0)
    b, c = Placed(1.0, (a,), (1.0,), 0), Placed(1.0, (a,), (1.0,), 1)
    f = Placed(1.0, (b, c), (1.0, 1.0))
    names: dict[Number | None, str] = {a: "a", b: "b", c: "c", f: "f", None: "wake-up"}
    engine, mine = Engine(devices=2), ReadyQueue()
    task = GraphTask(f, mine)
    rows: list[list[list[Chip] | str]] = []

    def note(event: str) -> None:
        rows.append([event, _shown(mine, names), _shown(engine.ready_queues[0], names),
                     _shown(engine.ready_queues[1], names), str(task.outstanding_tasks)])

    def run(queue: ReadyQueue) -> None:
        step: NodeTask = queue.pop()
        assert step.number is not None
        engine.evaluate(task, step.number, step.grad)
        task.count_outstanding(-1)
        note(f"{names[step.number]} has run")

    engine.push(task, f, 1.0)
    note("execute(f)")
    for queue in (mine, engine.ready_queues[0], engine.ready_queues[1], mine):
        run(queue)
    return Picture(
        table(["", "caller", "device 0", "device 1", "outstanding"], rows),
        "Three queues during one backward pass",
        "A table with a row for each step of a pass through f, which is on the CPU, b on device 0, "
        "c on device 1 and the leaf a on the CPU. f is in the caller's queue first; then b is in "
        "the queue of device 0 and c in the queue of device 1; when both have run, a is in the "
        "caller's queue. The number of outstanding tasks is "
        + ", ".join(str(row[-1]) for row in rows) + ".",
        "The pass is done when no task is outstanding. Between the second row and the fourth, the "
        "caller has nothing to do and sleeps.")


def nested_passes() -> Picture:
    """What two threads are in the middle of when passes call each other's devices."""
    rows: list[list[list[Chip] | str]] = [
        ["1", [Chip("step A", "on-gradient")], "sleeps"],
        ["2", [Chip("step A"), Chip("wait for B", "on-gradient")],
         [Chip("step B", "on-gradient")]],
        ["3", [Chip("step A"), Chip("wait for B", "on-gradient")],
         [Chip("step B"), Chip("wait for C", "on-gradient")]],
        ["4", [Chip("step A"), Chip("wait for B"), Chip("step C", "on-gradient")],
         [Chip("step B"), Chip("wait for C", "on-gradient")]],
    ]
    return Picture(
        table(["", "thread of device 0", "thread of device 1"], rows, 9),
        "Two threads whose passes need each other",
        "Four moments. The thread of device 0 runs a step of pass A. It calls pass B, whose step "
        "runs on device 1. That step calls pass C, whose step needs device 0. In the last row, the "
        "thread of device 0, which waits for B, runs the step of C.",
        "In the last row, the thread of device 0 runs the step of C while it waits for B. If it "
        "slept instead, row 3 would last forever.")
