"""Probes of stage 03c: random tasks, sums, graphs and passes within passes.

What waits longer than two seconds is reported as a TimeoutError.  Queues and sums of the file's
own stand in for those of other exercises.
"""

import contextlib
import threading

from probing import tried

from minigrad.examples import device_threads as made
from minigrad.examples.device_threads import CPU, Engine, GraphTask, NodeTask, Placed, ReadyQueue
from minigrad.examples.limited import limited
from minigrad.tiny import Number

PATIENCE = 2.0

#: The same, but less after something has waited in vain: the answer is wrong then.
patience = [PATIENCE]


def waited(program):
    """Return what a program returns, or raise a TimeoutError."""
    try:
        return limited(program, patience[0])
    except TimeoutError:
        patience[0] = 0.3
        raise


def ended(program):
    """Return what a program returns, or how it failed."""
    return tried(lambda: waited(program), text=False)


class Planned(Exception):
    """Raised on purpose by a step."""


class Tasks:
    """A queue that works, in place of the learner's."""

    def __init__(self):
        self.heap, self.condition = [], threading.Condition()

    def push(self, task):
        with self.condition:
            self.heap.append(task)
            self.condition.notify_all()

    def pop(self):
        with self.condition:
            self.condition.wait_for(lambda: self.heap)
            self.heap.sort()
            return self.heap.pop(0)


def add_gradient(task, number, grad):
    """Do what 03c.2 does."""
    with task.lock:
        task.grads[number] = task.grads.get(number, 0.0) + grad
        task.dependencies[number] -= 1
        return None if task.dependencies[number] else task.grads.pop(number)


@contextlib.contextmanager
def replaced(**methods):
    """Let queues and sums be those of this file, and methods of Engine be others."""
    queue, add = made.ReadyQueue, GraphTask.add_gradient
    before = {name: getattr(Engine, name) for name in methods}
    made.ReadyQueue, GraphTask.add_gradient = Tasks, add_gradient
    for name, method in methods.items():
        setattr(Engine, name, method)
    try:
        yield
    finally:
        made.ReadyQueue, GraphTask.add_gradient = queue, add
        for name, method in before.items():
            setattr(Engine, name, method)


def graph(random, steps):
    """Return leaves and numbers of a random graph on random devices; slopes are whole numbers."""
    leaves = [Placed(random.uniform(1, 2), device=random.choice([CPU, 0, 1])) for _ in range(3)]
    numbers = list(leaves)
    for _ in range(steps):
        inputs = tuple(random.choice(numbers[-5:]) for _ in range(random.randint(1, 3)))
        slopes = tuple(float(random.choice([-2, 0, 2, 3])) for _ in inputs)
        numbers.append(Placed(random.uniform(1, 2), inputs, slopes, random.choice([CPU, 0, 1])))
    return leaves, numbers


def probe_03c_1_order(random):
    numbers = [Number(random.uniform(1, 2)) for _ in range(8)]
    task, queue = GraphTask(numbers[0], Tasks()), ReadyQueue()
    random.shuffle(numbers)
    pushed = [NodeTask(task, each) for each in numbers]
    pushed.insert(random.randrange(8), NodeTask(task))

    def call():
        for each in pushed:
            queue.push(each)
        return [pushed.index(queue.pop()) for _ in pushed]

    return [round(numbers[0].value, 6), ended(call)]


def probe_03c_1_waiting(random):
    count = random.randint(2, 4)
    numbers = [Number(random.uniform(1, 2)) for _ in range(count)]
    task, queue, got = GraphTask(numbers[0], Tasks()), ReadyQueue(), []
    pushed = [NodeTask(task, each) for each in numbers]
    threads = [threading.Thread(target=lambda: got.append(queue.pop()), daemon=True)
               for _ in range(count)]

    def call():
        for each in threads:
            each.start()
        threads[0].join(0.05)
        with queue.condition:
            queue.condition.notify_all()
        threads[0].join(0.05)
        early = len(got)
        with queue.condition:
            for each in pushed:
                queue.push(each)
        for each in threads:
            each.join(patience[0])
        return [early, sorted(pushed.index(each) for each in got)]

    return [round(numbers[0].value, 6), ended(call)]


class Looked(list):
    """A heap at which another thread pushes while it is found empty, if it can."""

    def __init__(self, queue, task):
        super().__init__()
        self.push, self.looks = threading.Thread(
            target=queue.push, args=(task,), daemon=True), 0

    def __len__(self):
        length = super().__len__()
        self.looks += 1
        if self.looks == 1:
            self.push.start()
            self.push.join(0.2)
        return length

    def __bool__(self):
        return len(self) > 0


def probe_03c_1_worst_moment(random):
    number, queue = Number(random.uniform(1, 2)), ReadyQueue()
    task = NodeTask(GraphTask(number, Tasks()), number)
    queue.heap = Looked(queue, task)
    seen = [round(number.value, 6), ended(lambda: queue.pop() is task)]
    queue.heap = Looked(queue, task)
    queue.heap.looks = 1  # now it only counts

    def wait():
        thread = threading.Thread(target=queue.pop, daemon=True)
        thread.start()
        thread.join(0.2)
        looks = queue.heap.looks
        queue.push(task)
        thread.join()
        return looks < 8

    return [*seen, ended(wait)]


class Stopping(float):
    """A gradient that stops its thread before the sum is stored."""

    def __radd__(self, other):
        with contextlib.suppress(threading.BrokenBarrierError):
            self.barrier.wait(0.2)
        return float(self) + other

    __add__ = __radd__


class StoppingCounts(dict):
    """Counts of which a thread stops at one of its looks."""

    def __init__(self, counts, look):
        super().__init__(counts)
        self.barrier, self.look, self.local = threading.Barrier(2), look, threading.local()

    def __getitem__(self, number):
        looks = self.local.looks = getattr(self.local, "looks", 0) + 1
        found = super().__getitem__(number)
        if looks == self.look:
            with contextlib.suppress(threading.BrokenBarrierError):
                self.barrier.wait(0.2)
            if looks == 2:
                found = super().__getitem__(number)
        return found


def probe_03c_2_sums(random):
    numbers = [Number(1.0) for _ in range(3)]
    parts = {each: [float(random.randint(-9, 9)) for _ in range(random.randint(1, 3))]
             for each in numbers}
    parts[numbers[0]] = [4.0, -4.0]
    task = GraphTask(numbers[0], Tasks())
    task.dependencies = {each: len(given) for each, given in parts.items()}
    order = [each for each in numbers for _ in parts[each]]
    random.shuffle(order)

    def call():
        return [task.add_gradient(each, parts[each].pop()) for each in order]

    return [ended(call), [task.grads.get(each) for each in numbers]]


def probe_03c_2_two_threads(random):
    seen = []
    for look in (0, 1, 2):
        number = Number(1.0)
        task = GraphTask(number, Tasks())
        task.dependencies = StoppingCounts({number: 2}, look)
        parts = [Stopping(random.randint(1, 9)), Stopping(random.randint(10, 90))]
        for each in parts:
            each.barrier = threading.Barrier(2 if look == 0 else 1)

        def both(task=task, number=number, parts=parts):
            got = []
            threads = [threading.Thread(
                target=lambda part=part: got.append(task.add_gradient(number, part)), daemon=True)
                for part in parts]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            return sorted(each for each in got if each is not None)

        seen.append(ended(both))
    return seen


class Noted(list):
    """A queue that only notes what is pushed."""

    def push(self, task):
        self.append([task.number.serial, task.grad, task.graph_task.outstanding_tasks])


def probe_03c_3_queues(random):
    leaves, numbers = graph(random, 10)
    first = min(each.serial for each in numbers)
    with replaced():
        engine, mine = Engine(devices=2), Noted()
        engine.ready_queues = [Noted(), Noted()]
        engine.local.queue = Noted()
        queues = [*engine.ready_queues, mine, engine.local.queue]
        task = GraphTask(numbers[-1], mine)
        task.outstanding_tasks = 1
        by_serial = {each.serial: each for each in numbers}

        def call():
            for number in sorted(numbers, key=lambda each: -each.serial):
                if number is numbers[-1] or not task.dependencies.get(number, 1):
                    grad = random.randint(-3, 3) / 2
                    engine.evaluate(task, by_serial[number.serial], grad)
            return task.outstanding_tasks

        seen = [ended(call)]
    return [*seen, [[[serial - first, *rest] for serial, *rest in queue] for queue in queues],
            [each.grad for each in leaves]]


def probe_03c_3_steps(random):
    calls = []
    by = random.uniform(1, 2)
    leaf = Placed(1.0, device=1)
    result = Placed(2.0, (leaf,), (), random.choice([CPU, 0]),
                    lambda grad: calls.append(grad) or [grad * by])
    with replaced():
        engine, mine = Engine(devices=2), Noted()
        engine.ready_queues = [Noted(), Noted()]
        engine.local.queue = Noted()
        task = GraphTask(result, mine)

        def call():
            engine.push(task, result, by)
            engine.evaluate(task, result, 3.0)
            engine.evaluate(task, leaf, by)
            return task.outstanding_tasks

        return [ended(call), calls, leaf.grad, result.grad, [
            [rest for _, *rest in queue] for queue in (*engine.ready_queues, mine)]]


def probe_03c_4_threads(random):
    devices, calls = random.randint(2, 5), random.randint(2, 4)
    over, seen, stop = threading.Event(), [], threading.Barrier(2)
    usual, begin = made.Thread, threading.Event()

    class Slow(threading.Thread):
        def __init__(self, *args, **options):
            with contextlib.suppress(threading.BrokenBarrierError):
                stop.wait(0.2)
            super().__init__(*args, **options)

        def run(self):
            begin.wait(PATIENCE / 2)  # until start_threads is over
            super().run()

    def thread_main(caller, task):
        if caller is not engine:  # of another probe
            return
        queues = [id(each) for each in engine.ready_queues]
        queue = id(engine.local_queue())
        seen.append([queues.index(queue) if queue in queues else None, task is None,
                     threading.current_thread().daemon])
        over.wait(PATIENCE)

    with replaced(thread_main=thread_main):
        engine = Engine(devices)
        made.Thread = Slow

        def caller():
            before = engine.local_queue()
            for _ in range(calls):
                engine.start_threads()
            same.append(engine.local_queue() is before)

        def both():
            callers = [threading.Thread(target=caller, daemon=False) for _ in range(2)]
            for each in callers:
                each.start()
            for each in callers:
                each.join(patience[0])
            begin.set()
            for _ in range(50):
                if len(seen) >= devices:
                    break
                over.wait(0.01)
            over.wait(0.05)
            return [sorted(seen, key=str), same, len(engine.threads)]

        same = []
        try:
            return [devices, calls, ended(both)]
        finally:
            made.Thread = usual
            over.set()


def probe_03c_4_init(random):
    devices = random.randint(2, 9)
    device = random.randrange(devices)
    with replaced(thread_main=lambda engine, task: seen.append(
            [engine.local_queue() is engine.ready_queues[device], task])):
        seen, engine = [], Engine(devices)
        return [devices, ended(lambda: engine.thread_init(device)), seen]


def probe_03c_5_tasks(random):
    """Two passes on one queue, with wake-ups; in some of them a step raises."""
    seen = []
    for fails in (0, 0, 1, 2):
        queue, owner, log = Tasks(), Tasks(), []
        numbers = [Number(1.0) for _ in range(8)]
        bad = dict(zip(random.sample(numbers, fails), (Planned("a"), KeyboardInterrupt("b")),
                       strict=False))
        mine, other = GraphTask(numbers[0], queue), GraphTask(numbers[0], owner)
        mine.outstanding_tasks = 1
        queue.push(NodeTask(mine, numbers[0]))
        for each in numbers[1:]:
            task = random.choice([mine, other])
            task.outstanding_tasks += 1
            queue.push(NodeTask(task, each))
        queue.push(NodeTask(random.choice([mine, other])))

        def evaluate(engine, task, number, grad, log=log, numbers=numbers, bad=bad):
            log.append(numbers.index(number))
            if number in bad:
                raise bad[number]

        def call(queue=queue, mine=mine):
            engine.local.queue = queue
            engine.thread_main(mine)

        with replaced(evaluate=evaluate):
            engine = Engine(0)
            seen.append(tried_all(lambda call=call: waited(call)))
            queue.push(NodeTask(None))
        seen += [log, mine.outstanding_tasks, other.outstanding_tasks, str(mine.error),
                 str(other.error), [each.number is None for each in owner.heap][:1]]
    return seen


def tried_all(program):
    """Return what a program returns, or the kind of exception, a KeyboardInterrupt too."""
    try:
        return program()
    except (Planned, KeyboardInterrupt, TimeoutError) as error:
        return ["raised", type(error).__name__]


def probe_03c_5_shutdown(random):
    queue, log, numbers = Tasks(), [], [Number(random.uniform(1, 2)) for _ in range(3)]

    def evaluate(engine, task, number, grad):
        log.append(round(number.value, 6))
        if number is numbers[0]:
            queue.push(NodeTask(None))

    def call():
        engine.local.queue = queue
        engine.thread_main(None)

    with replaced(evaluate=evaluate):
        engine, owner = Engine(0), Tasks()
        for each in numbers:
            task = GraphTask(each, owner)
            task.outstanding_tasks = 1
            queue.push(NodeTask(task, each))
        told = ended(call)
    return [told, log, len(owner.heap)]


def executed(engine, result):
    """Run a pass on a thread of its own; return the thread, or what is raised."""
    def call():
        engine.execute(result)
        return threading.current_thread()

    return ended(call)


@contextlib.contextmanager
def running():
    """Hand out an engine, and end its threads."""
    with replaced():
        engine = Engine(devices=2)
        try:
            yield engine
        finally:
            for queue in engine.ready_queues:
                for _ in engine.threads:
                    queue.push(NodeTask(None))


def probe_03c_6_graphs(random):
    seen = []
    with running() as engine:
        for _ in range(4):
            leaves, numbers = graph(random, 12)
            threads = {}

            def noted(number, threads=threads):
                def apply(grad):
                    threads[number] = threading.current_thread()
                    return [grad * each for each in number.slopes]
                return apply

            for each in numbers[3:]:
                each.apply = noted(each)
            caller = executed(engine, numbers[-1])
            same = {(one.device == other.device) == (threads[one] is threads[other])
                    for one in threads for other in threads}
            seen += [isinstance(caller, threading.Thread) or caller, [each.grad for each in leaves],
                     len(threads), sorted(same),
                     all((each.device == CPU) == (threads[each] is caller) for each in threads)]
    return seen


def probe_03c_6_nested(random):
    seen = []
    with running() as engine:
        for fails in (False, True, False):
            devices = [random.choice([0, 1]) for _ in range(random.randint(3, 6))]
            total = []

            def level(place, devices=devices, total=total, fails=fails):
                leaf = Number(1.0)

                def apply(grad):
                    if place + 1 < len(devices):
                        engine.execute(level(place + 1))
                    elif fails:
                        raise Planned
                    total.append(place)
                    return [grad + place]

                return Placed(1.0, (leaf,), (1.0,), devices[place], apply)

            told = executed(engine, level(0))
            seen += [isinstance(told, threading.Thread) or told, total, devices]
    return seen
