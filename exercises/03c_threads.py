# Stage 03c, Threads: a queue for each device: the exercise for minigrad/examples/device_threads.py.
# Made by `minigrad dev build`. The lesson is lessons/03c_threads.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03c
# docs/en/glossary.md explains the names used inside the package.

"""A backward pass on several devices, each with its own queue and its own thread.

>>> a = Number(3.0)
>>> b = place(a * a, 0)
>>> engine = Engine(devices=2)
>>> engine.execute(place(b * a, 1))
>>> a.grad
27.0
>>> engine.stop()
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Condition, Lock, Thread, local

from ..tiny import Number, backward_order

__all__ = ["CPU", "Engine", "GraphTask", "NodeTask", "Placed", "ReadyQueue", "device_of",
           "input_gradients", "place"]

#: The device of a number that wasn't placed. Devices with a thread are numbered from 0.
CPU = -1

_grad_lock = Lock()


class Placed(Number):
    """A Number that was computed on a device.

    `apply(grad)` returns a gradient for each input. Without it, the slopes say what they are.
    """

    def __init__(self, value: float, inputs: tuple[Number, ...] = (),
                 slopes: tuple[float, ...] = (), device: int = CPU,
                 apply: Callable[[float], Sequence[float]] | None = None) -> None:
        super().__init__(value, inputs, slopes)
        self.device = device
        self.apply = apply


def place(number: Number, device: int,
          apply: Callable[[float], Sequence[float]] | None = None) -> Placed:
    """Return the same step of the graph as a Number on `device`."""
    return Placed(number.value, number.inputs, number.slopes, device, apply)


def device_of(number: Number) -> int:
    """Return the device of a number, or `CPU` if it wasn't placed."""
    return number.device if isinstance(number, Placed) else CPU


def input_gradients(number: Number, grad: float) -> Sequence[float]:
    """Return a gradient for each input of `number`."""
    if isinstance(number, Placed) and number.apply is not None:
        return number.apply(grad)
    return [grad * local for local in number.slopes]


def accumulate(leaf: Number, grad: float) -> None:
    """Add a gradient to a leaf's `grad`; passes on several threads may share the leaf."""
    with _grad_lock:
        leaf.grad += grad


class NodeTask:
    """A number that is ready, its complete gradient, and the pass to which it belongs.

    Two kinds of task carry no work. A *wake-up* has no number: it only ends a thread's sleep. A
    *shutdown* has no pass either: a thread that pops one ends.
    """

    def __init__(self, graph_task: GraphTask | None, number: Number | None = None,
                 grad: float = 0.0) -> None:
        self.graph_task = graph_task
        self.number = number
        self.grad = grad

    def __lt__(self, other: NodeTask) -> bool:
        """Return whether a queue returns this task first: wake-ups, then the newest step."""
        if self.number is None or other.number is None:
            return self.number is None and other.number is not None
        return self.number.serial > other.number.serial


class ReadyQueue:
    """The tasks that one thread works through; any thread may push.

    `heap` is a list in the order of `heapq`. Look at it or change it only inside
    `with self.condition:`, because this lets one thread in at a time.
    """

    def __init__(self) -> None:
        self.heap: list[NodeTask] = []
        self.condition = Condition()

    def push(self, task: NodeTask) -> None:
        """Add a task, and wake a thread that sleeps in `pop`."""
        # 03c.1 A queue that sleeps (about 7 lines)
        # Write `push` and `pop` for a queue that several threads share. `pop` returns the
        # first task in the order of the tasks; if the queue is empty, the thread sleeps until
        # another one pushes.
        #   push b, c, a, numbered in order   -> pop returns c, then b, then a
        #   pop on an empty queue             -> returns only after a push
        # Mind:
        # - A sleeping thread uses no processor time.
        # - It may wake up although the queue is still empty.
        # - Two pushes wake two threads.
        # Use: `self.condition`, `heapq`.
        raise NotImplementedError("03c.1 A queue that sleeps is yours to write")

    def pop(self) -> NodeTask:
        """Remove the first task and return it; while the queue is empty, sleep."""
        # 03c.1 A queue that sleeps: see the task at `ReadyQueue.push`.
        raise NotImplementedError("03c.1 A queue that sleeps is yours to write")


class GraphTask:
    """One backward pass, shared by all threads that work on it.

    `dependencies` counts the gradients that each number still waits for, and `grads` holds the
    sum of the earlier ones. `outstanding_tasks` counts the tasks that were pushed and
    haven't been finished. `owner_queue` belongs to the thread that called `execute`, and `error`
    is the first exception. Change any of them only inside `with self.lock:`.
    """

    def __init__(self, result: Number, owner_queue: ReadyQueue) -> None:
        self.dependencies = dict(Counter(
            each for number in backward_order(result) for each in number.inputs))
        self.grads: dict[Number, float] = {}
        self.outstanding_tasks = 0
        self.owner_queue = owner_queue
        self.error: BaseException | None = None
        self.lock = Lock()

    @property
    def done(self) -> bool:
        """Whether every task that was pushed has been finished."""
        return self.outstanding_tasks == 0

    def count_outstanding(self, change: int) -> int:
        """Change the number of outstanding tasks by 1 or -1, and return the new number."""
        with self.lock:
            self.outstanding_tasks += change
            return self.outstanding_tasks

    def fail(self, error: BaseException) -> None:
        """Keep an exception for the caller, unless there is an earlier one."""
        with self.lock:
            if self.error is None:
                self.error = error

    def add_gradient(self, number: Number, grad: float) -> float | None:
        """Return the complete gradient of `number` if this was the last part, or `None`."""
        # 03c.2 One sum, two threads (about 6 lines)
        # Add a gradient to the sum for a number. Return the sum if this was the last gradient
        # that the number waits for, and `None` otherwise. Any thread may call this at any
        # time.
        #   dependencies {a: 3}, then add 1.0, 2.0, 4.0   -> None, None, 7.0
        #   dependencies {a: 2}, then add 1.5, -1.5       -> None, 0.0
        # Mind:
        # - No part is lost, and exactly one call returns the sum.
        # - `self.grads` forgets a sum when you return it.
        # Use: `self.lock`.
        raise NotImplementedError("03c.2 One sum, two threads is yours to write")


class Engine:
    """Backward passes on several devices; `ready_queues[device]` has the tasks of a device.

    Several threads may call `execute` at the same time.
    """

    def __init__(self, devices: int) -> None:
        self.ready_queues = [ReadyQueue() for _ in range(devices)]
        self.threads: list[Thread] = []
        self.start_lock = Lock()
        self.local = local()  # its attributes are different on each thread

    def local_queue(self) -> ReadyQueue:
        """Return the queue that this thread works through; make one for a new caller."""
        if not hasattr(self.local, "queue"):
            self.local.queue = ReadyQueue()
        queue: ReadyQueue = self.local.queue
        return queue

    def push(self, graph_task: GraphTask, number: Number, grad: float) -> None:
        """Make a task of a number that is ready, for the thread of its device."""
        # 03c.3 To the right queue (about 10 lines)
        # `push` makes a `NodeTask` for a number that is ready, and puts it on the queue of
        # its device, or on the owner's queue for the CPU. `evaluate` runs one step, and
        # pushes each input whose gradient is complete.
        #   inputs a on device 0, b on the CPU   -> a task on ready_queues[0], one on owner_queue
        # Mind:
        # - A leaf accumulates its gradient.
        # - A gradient of 0.0 is pushed too.
        # - A task counts as outstanding before another thread sees it.
        # Use: `device_of`, `accumulate`, `input_gradients`.
        raise NotImplementedError("03c.3 To the right queue is yours to write")

    def evaluate(self, graph_task: GraphTask, number: Number, grad: float) -> None:
        """Run one step of a pass, and push the inputs that have become ready."""
        # 03c.3 To the right queue: see the task at `Engine.push`.
        raise NotImplementedError("03c.3 To the right queue is yours to write")

    def start_threads(self) -> None:
        """Start a thread for each device, the first time that it is called."""
        # 03c.4 A thread for each device (about 9 lines)
        # `start_threads` starts one thread for each device, keeps them in `self.threads`, and
        # returns while they work. On the new thread, `thread_init` sets `self.local.queue` to
        # the queue of its device, and then works in `self.thread_main(None)`.
        #   Engine(devices=3).start_threads()   -> 3 threads
        #   a second call                       -> no more threads
        # Mind:
        # - Two threads may call `start_threads` at the same time.
        # - Threads that wait for work must not keep a program alive.
        # Use: `Thread`, `self.start_lock`.
        raise NotImplementedError("03c.4 A thread for each device is yours to write")

    def thread_init(self, device: int) -> None:
        """Give this thread the queue of its device, and work until the engine is stopped."""
        # 03c.4 A thread for each device: see the task at `Engine.start_threads`.
        raise NotImplementedError("03c.4 A thread for each device is yours to write")

    def thread_main(self, graph_task: GraphTask | None) -> None:
        """Work through this thread's queue until `graph_task` is done, or without an end."""
        # 03c.5 What a thread does (about 15 lines)
        # Work through this thread's queue until `graph_task` is done; if it is `None`, until
        # a shutdown. Evaluate the tasks of every pass.
        #   a pass with 3 tasks on the queue   -> all evaluated, outstanding_tasks 0, and it returns
        # Mind:
        # - The thread that finishes a pass wakes the owner, because it may sleep in another
        #   queue.
        # - Any exception, even a KeyboardInterrupt, fails its pass. The remaining steps don't
        #   run, but the pass still gets done, and other passes go on.
        # - A wake-up is no work.
        # Use: `self.local_queue()`, `fail`, `count_outstanding`.
        raise NotImplementedError("03c.5 What a thread does is yours to write")

    def execute(self, result: Number) -> None:
        """Add the derivative of `result` with respect to each leaf to the leaf's `grad`."""
        # 03c.6 A pass, also within a pass (about 6 lines)
        # Run a backward pass from `result`, starting with the gradient 1.0, and return when
        # every device has finished. If a step raised an exception, raise the same one here.
        #   a = Number(3.0); execute(place(a * a, 0))   -> a.grad 6.0
        # Mind:
        # - Steps on the CPU run on the thread that called `execute`.
        # - A step may call `execute` again, on a device's thread too.
        # - After an exception, the engine still works.
        # Use: `GraphTask`, `self.local_queue()`.
        raise NotImplementedError("03c.6 A pass, also within a pass is yours to write")

    def stop(self) -> None:
        """End the threads; the next pass starts new ones."""
        for queue in self.ready_queues[:len(self.threads)]:
            queue.push(NodeTask(None))
        for thread in self.threads:
            thread.join()
        self.threads = []
