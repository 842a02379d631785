"""Symptoms of stage 03c: what each mistake does to waiting threads, sums and passes.

Each looks for at most half a second at what an answer waits for.
"""

import contextlib
import threading
import time

from minigrad.examples import device_threads as made
from minigrad.examples.device_threads import CPU, Engine, GraphTask, NodeTask, Placed, ReadyQueue
from minigrad.examples.limited import limited
from minigrad.tiny import Number

WAIT = 0.5


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


def hangs(program):
    """Return whether a program is still running after a while; its result is lost."""
    try:
        limited(program, WAIT)
    except TimeoutError:
        return True
    except BaseException:
        return False
    return False


def of(*inputs, device=CPU, slopes=None, apply=None):
    """Return a number computed on a device; its slopes are 2, 3, ... if none are given."""
    return Placed(1.5, inputs, slopes or tuple(float(2 + place) for place in range(len(inputs))),
                  device, apply)


# ------------------------------------------------------------------ 03c.1


class Watched(list):
    """A heap that notes when somebody looks whether it is empty."""

    def __init__(self, looked=lambda: None):
        super().__init__()
        self.looks, self.looked = 0, looked

    def __len__(self):
        length = super().__len__()
        self.looks += 1
        if not length:
            self.looked()
        return length

    def __bool__(self):
        return len(self) > 0


def tasks(count):
    """Return tasks, oldest step first."""
    numbers = [Number(1.0) for _ in range(count)]
    task = GraphTask(numbers[0], None)
    return [NodeTask(task, number, 1.0) for number in numbers]


def pushed(queue, *those):
    """Push tasks, and return whether that ended."""
    return not hangs(lambda: [queue.push(each) for each in those])


def sleeping(looked=lambda: None):
    """Return a queue, what a thread pops from it, and how that thread ended, if it did."""
    queue, got, errors = ReadyQueue(), [], []
    queue.heap = Watched(looked)

    def work():
        try:
            got.append(queue.pop())
        except BaseException as error:
            errors.append(error)

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.05)
    return queue, got, errors


def soon(seen):
    """Return whether something is true within a while."""
    until = time.monotonic() + WAIT
    while not seen() and time.monotonic() < until:
        time.sleep(0.005)
    return bool(seen())


def alarmed(queue):
    """Notify the threads of a queue without a task."""
    with queue.condition:
        queue.condition.notify_all()


def works(queue, got):
    """Return whether a push wakes the thread that pops."""
    (task,) = tasks(1)
    return pushed(queue, task) and soon(lambda: got == [task])


def symptom_03c_1_does_not_wait():
    _, got, errors = sleeping()
    return got == [None] or [type(each) for each in errors] == [IndexError]


def symptom_03c_1_keeps_the_lock():
    queue, got, errors = sleeping()
    return not got and not errors and not pushed(queue, *tasks(1))


def symptom_03c_1_never_sleeps():
    queue, got, _ = sleeping()
    time.sleep(0.2)
    return queue.heap.looks > 20 and works(queue, got)


def symptom_03c_1_wakes_no_one():
    queue, got, errors = sleeping()
    (task,) = tasks(1)
    if got or errors or not pushed(queue, task) or soon(lambda: got):
        return False
    return not hangs(lambda: alarmed(queue)) and soon(lambda: got == [task])


def symptom_03c_1_if_for_while():
    queue, got, errors = sleeping()
    if got or errors or hangs(lambda: alarmed(queue)):
        return False
    return soon(lambda: got == [None] or [type(each) for each in errors] == [IndexError])


def symptom_03c_1_falls_asleep_late():
    (task,), pushes = tasks(1), []

    def looked():
        if not pushes:
            pushes.append(threading.Thread(target=queue.push, args=(task,), daemon=True))
            pushes[0].start()
            pushes[0].join(0.2)

    queue, got, errors = ReadyQueue(), [], []
    queue.heap = Watched(looked)
    threading.Thread(target=lambda: got.append(queue.pop()), daemon=True).start()
    if soon(lambda: got):
        return False
    queue, got, errors = sleeping()
    return not errors and works(queue, got)


def symptom_03c_1_wakes_one_of_two():
    queue, got, errors = sleeping()
    threading.Thread(target=lambda: got.append(queue.pop()), daemon=True).start()
    time.sleep(0.05)
    both = tasks(2)

    def push():
        with queue.condition:
            for each in both:
                queue.push(each)

    return not got and not errors and not hangs(push) and soon(lambda: got) and not soon(
        lambda: len(got) == 2)


def symptom_03c_1_not_the_newest():
    queue, (a, b, c) = ReadyQueue(), tasks(3)
    if not pushed(queue, b, c, a):
        return False
    with contextlib.suppress(TimeoutError):
        got = limited(lambda: [queue.pop() for _ in range(3)], WAIT)
        return sorted(map(id, got)) == sorted(map(id, (a, b, c))) and got != [c, b, a]
    return False


# ------------------------------------------------------------------ 03c.2


def counted(number, count):
    """Return a pass in which a number waits for so many gradients."""
    task = GraphTask(Number(1.0), Tasks())
    task.dependencies = {number: count}
    return task


def added(*parts):
    """Return the answers to parts that are added one by one."""
    number = Number(1.0)
    task = counted(number, len(parts))
    return limited(lambda: [task.add_gradient(number, each) for each in parts], WAIT)


class Stop:
    """A place where two threads meet; after 0.2 s each goes on."""

    def __init__(self):
        self.barrier = threading.Barrier(2)

    def meet(self):
        with contextlib.suppress(threading.BrokenBarrierError):
            self.barrier.wait(0.2)


class Stopping(float):
    """A gradient that stops its thread before the sum is stored."""

    def __radd__(self, other):
        self.stop.meet()
        return float(self) + other

    __add__ = __radd__


class StoppingCounts(dict):
    """Counts of which a thread stops at its first or second look."""

    def __init__(self, counts, look):
        super().__init__(counts)
        self.stop, self.look, self.local = Stop(), look, threading.local()

    def __getitem__(self, number):
        looks = self.local.looks = getattr(self.local, "looks", 0) + 1
        found = super().__getitem__(number)
        if looks == self.look:
            self.stop.meet()
            if looks == 2:
                found = super().__getitem__(number)
        return found


def from_two_threads(task, number, parts, missing=None):
    """Return the sums that two threads get, and `missing` for a thread that finds no sum."""
    got = []

    def work(part):
        try:
            got.append(task.add_gradient(number, part))
        except KeyError:
            got.append(missing)

    def both():
        threads = [threading.Thread(target=work, args=(part,), daemon=True) for part in parts]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    limited(both, 2 * WAIT)
    return [each for each in got if each is not None]


def raced(look, missing=None):
    """Return the sums of two threads that look at a count of 2 at the same time."""
    number = Number(1.0)
    task = counted(number, 2)
    task.dependencies = StoppingCounts({number: 2}, look)
    return from_two_threads(task, number, [2.0, 4.0], missing)


def raced_sum():
    """Return the sums of two threads that add 2 and 4 at the same time."""
    number = Number(1.0)
    task = counted(number, 2)
    parts = [Stopping(2.0), Stopping(4.0)]
    parts[0].stop = parts[1].stop = Stop()
    return from_two_threads(task, number, parts)


def symptom_03c_2_waits_inside():
    number = Number(1.0)
    task = counted(number, 2)
    try:
        limited(lambda: task.add_gradient(number, 1.0), WAIT)
    except TimeoutError:
        return task.lock.locked()
    return False


def symptom_03c_2_lock_is_kept():
    for parts in (1, 2):  # the last part, and one before it
        number = Number(1.0)
        task = counted(number, parts)
        with contextlib.suppress(TimeoutError):
            limited(lambda task=task, number=number: task.add_gradient(number, 1.0), WAIT)
            if task.lock.locked():
                return True
    return False


def symptom_03c_2_overwrites():
    return added(1.0, 2.0, 4.0) == [None, None, 4.0]


def symptom_03c_2_never_waits():
    return added(1.0, 2.0, 4.0) == [1.0, 3.0, 7.0]


def symptom_03c_2_zero_is_none():
    return added(1.0, 2.0) == [None, 3.0] and added(1.0, -1.0) == [None, None]


def symptom_03c_2_lost_part():
    return added(1.0, 2.0) == [None, 3.0] and raced_sum() in ([2.0], [4.0])


def symptom_03c_2_count_unlocked():
    return added(1.0, 2.0) == [None, 3.0] and raced_sum() == [6.0] and raced(1) != [6.0]


def symptom_03c_2_looks_too_late():
    return (added(1.0, 2.0) == [None, 3.0] and raced_sum() == [6.0] and raced(1) == [6.0]
            and raced(2, "no sum") != [6.0])


def symptom_03c_2_sum_is_kept():
    number = Number(1.0)
    task = counted(number, 1)
    return limited(lambda: task.add_gradient(number, 5.0), WAIT) == 5.0 and bool(task.grads)


# ------------------------------------------------------------------ 03c.3


class Noted(list):
    """A queue that only notes what is pushed, and how many tasks are then outstanding."""

    def __init__(self):
        super().__init__()
        self.outstanding = []

    def push(self, task):
        self.append((task.number, task.grad))
        self.outstanding.append(task.graph_task.outstanding_tasks)


def evaluated(result, number=None):
    """Evaluate a number of a pass; return the pass and the queues, the owner's and this thread's
    last.
    """
    with replaced():
        engine, mine, here = Engine(devices=2), Noted(), Noted()
        engine.ready_queues = [Noted(), Noted()]
        engine.local.queue = here
        task = GraphTask(result, mine)
        engine.evaluate(task, number or result, 10.0)
        return task, [*engine.ready_queues, mine, here]


def sent(device):
    """Return how many tasks each queue gets for one input on a device."""
    _, queues = evaluated(of(Placed(1.0, device=device), device=0, slopes=(2.0,)))
    return [len(each) for each in queues]


def sent_right():
    """Return whether inputs on the two devices go there."""
    return sent(0) == [1, 0, 0, 0] and sent(1) == [0, 1, 0, 0]


def symptom_03c_3_last_device_for_the_cpu():
    return sent_right() and sent(CPU) == [0, 1, 0, 0]


def symptom_03c_3_own_queue():
    return sent(0) == sent(1) == sent(CPU) == [0, 0, 0, 1]


def symptom_03c_3_thread_s_queue_for_the_cpu():
    return sent_right() and sent(CPU) == [0, 0, 0, 1]


def symptom_03c_3_sender_s_device():
    return sent(0) == sent(1) == sent(CPU) == [1, 0, 0, 0]


def symptom_03c_3_always_the_owner():
    return sent(0) == sent(1) == sent(CPU) == [0, 0, 1, 0]


def symptom_03c_3_counts_too_late():
    task, queues = evaluated(of(Placed(1.0, device=0)))
    return task.outstanding_tasks == 1 and queues[0].outstanding == [0]


def symptom_03c_3_does_not_count():
    task, queues = evaluated(of(Placed(1.0, device=0)))
    return len(queues[0]) == 1 and task.outstanding_tasks == 0


def symptom_03c_3_zero_is_dropped():
    return sent_right() and not any(evaluated(of(Placed(1.0, device=0), slopes=(0.0,)))[1])


def twice_used():
    """Return what is pushed for an input that one step uses twice, with the parts 20 and 30."""
    a = Placed(1.0, device=0)
    return [grad for _, grad in evaluated(of(a, a))[1][0]]


def symptom_03c_3_last_part():
    return twice_used() == [30.0]


def symptom_03c_3_does_not_wait():
    return twice_used() == [20.0, 30.0]


def symptom_03c_3_leaves_stay_empty():
    a = Placed(1.0, device=0)
    evaluated(of(a), a)
    return a.grad == 0.0


def symptom_03c_3_slopes_alone():
    called = []
    a = Placed(1.0, device=0)
    result = of(a, apply=lambda grad: called.append(grad) or [grad])
    return [grad for _, grad in evaluated(result)[1][0]] == [20.0] and not called


# ------------------------------------------------------------------ 03c.4


@contextlib.contextmanager
def started(devices=2, calls=1, together=False, late=False):
    """Start threads that only note themselves; hand out the engine, and their queues and threads.

    With `together`, two callers start them at the same time.  With `late`, the threads begin when
    `start_threads` has returned.
    """
    over, seen = threading.Event(), []
    usual, stop, begin = made.Thread, Stop(), threading.Event()

    class Late(threading.Thread):
        def run(self):
            begin.wait(WAIT / 2)
            super().run()

    class Slow(threading.Thread):
        def __init__(self, *args, **options):
            stop.meet()
            super().__init__(*args, **options)

    def thread_main(caller, task):
        if caller is engine:  # a thread that a test left behind may come here too
            seen.append((engine.local_queue(), threading.current_thread()))
            over.wait(4 * WAIT)

    def call():
        engine.local_queue()
        for _ in range(calls):
            engine.start_threads()
        callers.append((engine.local_queue(), threading.current_thread()))

    with replaced(thread_main=thread_main):
        engine, callers = Engine(devices=devices), []
        try:
            if together or late:
                made.Thread = Slow if together else Late
            those = [threading.Thread(target=call, daemon=False)  # a daemon's threads are daemons
                     for _ in range(1 + together)]
            for each in those:
                each.start()
            for each in those:
                each.join(WAIT)
            begin.set()
            soon(lambda: len(seen) >= devices)
            time.sleep(0.05)
            yield engine, list(seen), callers, those
        finally:
            made.Thread = usual
            over.set()


def symptom_03c_4_runs_it_itself():
    with started() as (_, seen, _, those):
        return len(seen) == 1 and seen[0][1] is those[0]


def symptom_03c_4_joins():
    with started() as (_, seen, callers, those):
        return not callers and len(seen) == 1 and seen[0][1] is not those[0]


def symptom_03c_4_caller_s_queue():
    with started() as (engine, _, callers, _):
        return len(callers) == 1 and callers[0][0] in engine.ready_queues


def symptom_03c_4_each_call():
    with started(calls=1) as (_, once, *_):
        pass
    with started(calls=3) as (_, seen, *_):
        return len(once) == 2 and len(seen) == 6


def symptom_03c_4_two_callers():
    with started(calls=2) as (_, once, *_):
        if len(once) != 2:
            return False
    with started(together=True) as (_, seen, callers, those):
        raised = len(callers) == 1 and not any(each.is_alive() for each in those)
        return len(seen) == 4 or raised  # one caller may start the other's threads again


def symptom_03c_4_one_device():
    with started(devices=3, late=True) as (engine, seen, callers, _):
        queues = {id(queue) for queue, _ in seen}
        return (len(seen) == 3 and len(callers) == len(queues) == 1
                and seen[0][0] in engine.ready_queues)


def symptom_03c_4_no_queue():
    with started() as (engine, seen, callers, _):
        return len(seen) == 2 and callers[0][0] not in engine.ready_queues and all(
            queue not in engine.ready_queues for queue, _ in seen)


def symptom_03c_4_no_daemons():
    with started() as (_, seen, *_):
        return len(seen) == 2 and not any(thread.daemon for _, thread in seen)


# ------------------------------------------------------------------ 03c.5


def filled(queue, count, owner=None):
    """Return a pass with so many tasks on a queue, and their numbers, newest first."""
    numbers = [Number(1.0) for _ in range(count)][::-1]
    task = GraphTask(Number(1.0), owner or queue)
    task.outstanding_tasks = count
    for number in numbers:
        queue.push(NodeTask(task, number, 1.0))
    return task, numbers


def worked(queue, task, does=None, log=None):
    """Run `thread_main` with a queue; return the numbers evaluated, or "waits" or an exception."""
    seen = [] if log is None else log

    def evaluate(engine, graph_task, number, grad):
        seen.append(number)
        if does and number in does:
            raise does[number]

    def call():
        engine.local.queue = queue
        engine.thread_main(task)
        return seen

    with replaced(evaluate=evaluate):
        engine = Engine(devices=0)
        try:
            return limited(call, WAIT)
        except TimeoutError:
            return "waits"
        except BaseException as error:
            return error
        finally:
            queue.push(NodeTask(None))  # so that a thread which waits ends


def plain_works():
    """Return whether a pass of three tasks is worked through."""
    queue = Tasks()
    task, numbers = filled(queue, 3)
    return worked(queue, task) == numbers


def one_fails(error):
    """Return how a pass with one task that raises ends."""
    queue = Tasks()
    task, (number,) = filled(queue, 1)
    return task, worked(queue, task, {number: error})


def symptom_03c_5_never_returns():
    queue = Tasks()
    task, numbers = filled(queue, 2)
    seen = []
    return worked(queue, task, log=seen) == "waits" and seen == numbers and task.done


def symptom_03c_5_thread_dies():
    return isinstance(one_fails(Planned())[1], Planned)


def symptom_03c_5_exceptions_alone():
    return not isinstance(one_fails(Planned())[1], Planned) and isinstance(
        one_fails(KeyboardInterrupt())[1], KeyboardInterrupt)


def symptom_03c_5_failed_step_is_outstanding():
    task, told = one_fails(Planned())
    return told == "waits" and task.outstanding_tasks == 1 and task.error is not None


def failed(count=2):
    """Run a pass whose first two tasks raise; return it, its exceptions and what was evaluated."""
    queue, seen = Tasks(), []
    task, numbers = filled(queue, count)
    errors = [Planned("first"), Planned("second")]
    told = worked(queue, task, dict(zip(numbers, errors, strict=False)), seen)
    return task, errors, seen, told


def symptom_03c_5_skipped_task_is_outstanding():
    task, errors, seen, told = failed()
    return (told == "waits" and len(seen) == 1 and task.error is errors[0]
            and task.outstanding_tasks == 1)


def symptom_03c_5_last_exception():
    task, errors, _, _ = failed()
    return task.error is errors[1]


def symptom_03c_5_goes_on():
    task, errors, seen, told = failed(3)
    return told == seen and len(seen) == 3 and task.error is errors[0]


def symptom_03c_5_ends_after_an_exception():
    queue, owner, seen = Tasks(), Tasks(), []
    mine, _ = filled(queue, 1)
    _, (bad,) = filled(queue, 1, owner=owner)
    return worked(queue, mine, {bad: Planned()}, seen) == [bad] and not mine.done


def symptom_03c_5_owner_sleeps():
    queue, owner = Tasks(), Tasks()
    mine, numbers = filled(queue, 1)
    other, newer = filled(queue, 1, owner=owner)
    return worked(queue, mine) == newer + numbers and other.done and not owner.heap


def symptom_03c_5_other_passes_dropped():
    queue, owner = Tasks(), Tasks()
    mine, numbers = filled(queue, 1)
    other, _ = filled(queue, 1, owner=owner)
    return worked(queue, mine) == numbers and not other.done


def symptom_03c_5_wake_up_counts():
    if not plain_works():
        return False
    queue = Tasks()
    task, _ = filled(queue, 2)
    queue.push(NodeTask(task))
    told = worked(queue, task)
    return isinstance(told, list) and len(told) < 2


# ------------------------------------------------------------------ 03c.6


def executed(result, again=None, devices=2):
    """Return the caller's thread after a pass, or "waits", or an exception; stop the threads."""
    def call():
        engine.execute(result(engine) if callable(result) else result)
        return threading.current_thread()

    with replaced():
        engine = Engine(devices)
        queues = list(engine.ready_queues)
        try:
            told = limited(call, WAIT)
        except TimeoutError:
            return "waits"
        except BaseException as error:
            return error
        finally:
            for queue in queues:
                queue.push(NodeTask(None))
        return told if again is None else again(engine)


def on_cpu():
    """Return a leaf and a result on the CPU."""
    a = Number(7.0)
    return a, of(a, slopes=(3.0,))


def on_device(apply=None):
    """Return a leaf and a result on a device."""
    a = Number(7.0)
    return a, of(a, device=0, slopes=(3.0,), apply=apply)


def threads_of(device=0):
    """Return the thread of a result's step, and the caller's."""
    seen = []

    def apply(grad):
        seen.append(threading.current_thread())
        return [grad]

    caller = executed(of(Placed(1.0, device=device), device=device, apply=apply))
    return seen, caller


def cpu_waits():
    """Return whether a pass on the CPU alone never ends."""
    return executed(on_cpu()[1]) == "waits"


def nested(*devices):
    """Return a function that makes a result whose step runs a pass on the next device."""
    def result(engine):
        def apply(grad):
            if len(devices) > 1:
                engine.execute(nested(*devices[1:])(engine))
            return [grad]

        return of(Number(7.0), device=devices[0], apply=apply)

    return result


def nested_waits():
    """Return whether a pass within a step of the same device never ends."""
    return executed(nested(0, 0)) == "waits"


def fresh_queue():
    """Return whether a pass gives the thread that calls it another queue."""
    def call():
        engine = Engine(devices=0)
        before = engine.local_queue()
        engine.execute(on_cpu()[1])
        return engine.local_queue() is not before

    with replaced():
        return limited(call, WAIT)


def symptom_03c_6_no_threads():
    calls = []
    with replaced():
        engine = Engine(devices=1)
        engine.start_threads = lambda: calls.append(1)
        hangs(lambda: engine.execute(on_cpu()[1]))
    return not calls and not cpu_waits()


def symptom_03c_6_does_not_wait():
    a, result = on_cpu()
    return isinstance(executed(result), threading.Thread) and a.grad == 0.0


def served(result, devices=0):
    """Run a pass with a `thread_main` that only notes its pass; return the notes."""
    seen = []

    def thread_main(engine, task):
        if task is not None:
            seen.append((task, engine.local_queue()))

    with replaced(thread_main=thread_main):
        hangs(lambda: Engine(devices).execute(result))
    return seen


def symptom_03c_6_orphan_queue():
    return any(task.owner_queue is not queue for task, queue in served(on_cpu()[1]))


def symptom_03c_6_sleeps():
    return cpu_waits() and not served(on_cpu()[1])


def symptom_03c_6_new_queue():
    return fresh_queue()


def symptom_03c_6_nested_sleeps():
    return not cpu_waits() and not fresh_queue() and nested_waits()


def symptom_03c_6_begins_with_the_value():
    a, result = on_cpu()
    return isinstance(executed(result), threading.Thread) and a.grad == 4.5


def symptom_03c_6_first_step_here():
    seen, caller = threads_of()
    return seen == [caller]


def failing(engine):
    """Return a result with a step that raises."""
    def apply(grad):
        raise Planned

    return on_device(apply)[1]


def symptom_03c_6_silent():
    return isinstance(executed(failing), threading.Thread)


def symptom_03c_6_other_exception():
    told = executed(failing)
    return isinstance(told, BaseException) and not isinstance(told, Planned)


def symptom_03c_6_stops_the_threads():
    return executed(on_device()[1], lambda engine: not any(
        thread.is_alive() for thread in engine.threads)) is True
