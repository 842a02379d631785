# Stage 03c, Threads: a queue for each device: the solution for minigrad/examples/device_threads.py.
# Made by `minigrad dev build`. The lesson is lessons/03c_threads.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
        with self.condition:
            heapq.heappush(self.heap, task)
            self.condition.notify()

    def pop(self) -> NodeTask:
        """Remove the first task and return it; while the queue is empty, sleep."""
        with self.condition:
            while not self.heap:
                self.condition.wait()
            return heapq.heappop(self.heap)


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
        with self.lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            self.dependencies[number] -= 1
            if self.dependencies[number]:
                return None
            return self.grads.pop(number)


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
        device = device_of(number)
        queue = graph_task.owner_queue if device == CPU else self.ready_queues[device]
        graph_task.count_outstanding(+1)
        queue.push(NodeTask(graph_task, number, grad))

    def evaluate(self, graph_task: GraphTask, number: Number, grad: float) -> None:
        """Run one step of a pass, and push the inputs that have become ready."""
        if not number.inputs:
            accumulate(number, grad)
        for each, part in zip(number.inputs, input_gradients(number, grad), strict=True):
            complete = graph_task.add_gradient(each, part)
            if complete is not None:
                self.push(graph_task, each, complete)

    def start_threads(self) -> None:
        """Start a thread for each device, the first time that it is called."""
        with self.start_lock:
            if self.threads:
                return
            for device in range(len(self.ready_queues)):
                self.threads.append(Thread(target=self.thread_init, args=(device,), daemon=True))
            for thread in self.threads:
                thread.start()

    def thread_init(self, device: int) -> None:
        """Give this thread the queue of its device, and work until the engine is stopped."""
        self.local.queue = self.ready_queues[device]
        self.thread_main(None)

    def thread_main(self, graph_task: GraphTask | None) -> None:
        """Work through this thread's queue until `graph_task` is done, or without an end."""
        queue = self.local_queue()
        while graph_task is None or not graph_task.done:
            task = queue.pop()
            if task.graph_task is None:
                return
            if task.number is None:
                continue
            if task.graph_task.error is None:
                try:
                    self.evaluate(task.graph_task, task.number, task.grad)
                except BaseException as error:
                    task.graph_task.fail(error)
            left = task.graph_task.count_outstanding(-1)
            if left == 0 and task.graph_task.owner_queue is not queue:
                task.graph_task.owner_queue.push(NodeTask(task.graph_task))

    def execute(self, result: Number) -> None:
        """Add the derivative of `result` with respect to each leaf to the leaf's `grad`."""
        self.start_threads()
        graph_task = GraphTask(result, self.local_queue())
        self.push(graph_task, result, 1.0)
        self.thread_main(graph_task)
        if graph_task.error is not None:
            raise graph_task.error

    def stop(self) -> None:
        """End the threads; the next pass starts new ones."""
        for queue in self.ready_queues[:len(self.threads)]:
            queue.push(NodeTask(None))
        for thread in self.threads:
            thread.join()
        self.threads = []
