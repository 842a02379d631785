"""Stage 03c: a queue and a thread for each device.

Each test ends after a second or two, whatever an answer waits for; the threads that it leaves are
daemons.  Queues and passes of the tests' own stand in for those of other exercises.
"""

import threading
import time
from collections import Counter

import pytest

from minigrad.examples import device_threads as made
from minigrad.examples.device_threads import CPU, Engine, GraphTask, NodeTask, Placed, ReadyQueue
from minigrad.examples.limited import limited
from minigrad.tiny import Number

#: The seconds that a test waits: the first one that waits in vain says that the answer is wrong.
patience = [2.0]


#: The exceptions that ended other threads during a test.
died = []


class Planned(Exception):
    """Raised on purpose by a step."""


@pytest.fixture(autouse=True)
def watched(monkeypatch):
    """Note the exceptions that end threads."""
    died.clear()
    monkeypatch.setattr(threading, "excepthook", lambda args: died.append(args.exc_value))


def check_threads():
    """Raise the exception of a thread that died, if there is one."""
    for error in died:
        if isinstance(error, (Planned, KeyboardInterrupt)):
            raise AssertionError(f"the exception {error!r} ended a device's thread")
        raise error


def ended(program, otherwise):
    """Return what a program returns; fail with a sentence if it never ends or a thread dies."""
    check_threads()
    try:
        return limited(program, patience[0])
    except TimeoutError:
        check_threads()
        patience[0] = 0.5
        raise AssertionError(otherwise) from None
    except (Planned, KeyboardInterrupt) as error:
        raise AssertionError(f"the exception {error!r} ended a device's thread") from None


class Tasks:
    """A queue of the tests' own, which may be used in place of the learner's."""

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


@pytest.fixture
def sure(monkeypatch):
    """Replace the queues and sums of the first two exercises by the tests' own."""
    monkeypatch.setattr(made, "ReadyQueue", Tasks)
    monkeypatch.setattr(GraphTask, "add_gradient", add_gradient)


@pytest.fixture
def engine(sure):
    """Return an engine with two devices; its threads end after the test."""
    engine = Engine(devices=2)
    yield engine
    threads = [each for each in engine.threads if each.is_alive()]
    for queue in engine.ready_queues:
        for _ in threads:
            queue.push(NodeTask(None))
    for thread in threads:
        thread.join(0.2)


def step(*inputs, device=CPU, slopes=None, apply=None):
    """Return a number computed on a device; its slopes are 2, 3, ... if none are given."""
    return Placed(1.5, inputs, slopes or tuple(float(2 + place) for place in range(len(inputs))),
                  device, apply)


def pass_of(result, queue=None):
    """Return a pass of the tests' own."""
    return GraphTask(result, queue or Tasks())


# ------------------------------------------------------------------ 03c.1


class Watched(list):
    """The heap of a queue that notes when somebody looks whether it is empty."""

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
    """Return tasks of one pass, oldest step first."""
    numbers = [Number(1.0) for _ in range(count)]
    task = GraphTask(numbers[0], None)
    return [NodeTask(task, number, 1.0) for number in numbers]


def sleeper(queue):
    """Start a thread that pops; return the list for its task, and a function that waits for it."""
    got = []
    thread = threading.Thread(target=lambda: got.append(queue.pop()), daemon=True)
    thread.start()

    def joined(otherwise):
        thread.join(patience[0])
        check_threads()
        if thread.is_alive():
            patience[0] = 0.5
        assert not thread.is_alive(), otherwise

    return got, joined


def asleep(queue):
    """Return a sleeper as soon as it waits; `pop` has then looked at the empty heap."""
    looked = threading.Event()
    queue.heap = Watched(looked.set)
    got, joined = sleeper(queue)
    found = looked.wait(patience[0])
    check_threads()
    assert found, "pop does not look at the heap"
    time.sleep(0.05)
    return got, joined


def pushed(queue, *those):
    """Push tasks; fail if that waits forever."""
    ended(lambda: [queue.push(each) for each in those], "push waits forever")


@pytest.mark.hole("03c.1")
def test_the_newest_step_is_popped_first():
    queue, (a, b, c, d) = ReadyQueue(), tasks(4)
    wake_up = NodeTask(a.graph_task)
    pushed(queue, b, d, a, wake_up, c)
    got = ended(lambda: [queue.pop() for _ in range(5)], "pop waits although there is a task")
    assert got == [wake_up, d, c, b, a], (
        "expected a wake-up, then the newest step first; popped the tasks numbered "
        f"{[[a, b, c, d, wake_up].index(each) for each in got]}")


@pytest.mark.hole("03c.1")
def test_pop_waits_for_a_task():
    queue, (task,) = ReadyQueue(), tasks(1)
    got, joined = sleeper(queue)
    time.sleep(0.05)
    assert not got, "pop returned from an empty queue"
    pushed(queue, task)
    joined("pop still waits after a push")
    assert got == [task], f"expected the pushed task, got {got}"


@pytest.mark.hole("03c.1")
def test_a_waiting_thread_sleeps():
    queue, (task,) = ReadyQueue(), tasks(1)
    queue.heap = Watched()
    spent = []

    def wait():
        before = time.thread_time()
        queue.pop()
        spent.append(time.thread_time() - before)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.3)
    looks = queue.heap.looks
    pushed(queue, task)
    thread.join(patience[0])
    assert spent, "pop still waits after a push"
    assert looks <= 4, "the waiting thread looked at the heap again and again"
    assert spent[0] < 0.02, "the waiting thread kept its processor busy"


@pytest.mark.hole("03c.1")
def test_a_push_at_the_worst_moment_wakes_the_thread():
    queue, (task,) = ReadyQueue(), tasks(1)
    pushes = []

    def looked():  # the heap was found empty: now another thread pushes, if it can
        if not pushes:
            pushes.append(threading.Thread(target=queue.push, args=(task,), daemon=True))
            pushes[0].start()
            pushes[0].join(0.2)

    queue.heap = Watched(looked)
    got, joined = sleeper(queue)
    joined("a task was pushed just before the thread fell asleep, and it sleeps on")
    assert got == [task]


@pytest.mark.hole("03c.1")
def test_a_false_alarm_changes_nothing():
    queue, (task,) = ReadyQueue(), tasks(1)
    got, joined = asleep(queue)

    def alarm():
        with queue.condition:
            queue.condition.notify_all()

    ended(alarm, "pop keeps the lock while it waits")
    time.sleep(0.05)
    assert not got, "pop returned although nothing was pushed"
    pushed(queue, task)
    joined("pop ended, or sleeps on, after an alarm without a task")
    assert got == [task], "pop ended after an alarm without a task"


@pytest.mark.hole("03c.1")
def test_two_pushes_wake_two_threads():
    queue, both = ReadyQueue(), tasks(2)
    first, first_joined = asleep(queue)
    second, second_joined = asleep(queue)

    def push():
        with queue.condition:  # so that both come before a thread can wake up
            for each in both:
                queue.push(each)

    ended(push, "push waits forever")
    first_joined("two tasks were pushed, and a thread sleeps on")
    second_joined("two tasks were pushed, and a thread sleeps on")
    assert sorted(first + second) == sorted(both)


# ------------------------------------------------------------------ 03c.2


def counted(numbers):
    """Return a pass in which each number waits for so many gradients."""
    task = pass_of(Number(1.0))
    task.dependencies = dict(numbers)
    return task


def added(task, number, *parts):
    """Add parts one by one and return the answers."""
    return ended(lambda: [task.add_gradient(number, part) for part in parts],
                 "add_gradient waits forever")


@pytest.mark.hole("03c.2")
def test_the_last_part_completes_the_sum():
    number = Number(1.0)
    assert added(counted({number: 3}), number, 1.0, 2.0, 4.0) == [None, None, 7.0]
    assert added(counted({number: 1}), number, 5.0) == [5.0]


@pytest.mark.hole("03c.2")
def test_a_gradient_of_zero_is_complete_too():
    number = Number(1.0)
    assert added(counted({number: 2}), number, 1.5, -1.5) == [None, 0.0]


@pytest.mark.hole("03c.2")
def test_numbers_are_counted_one_by_one():
    a, b = Number(1.0), Number(1.0)
    task = counted({a: 2, b: 1})
    assert added(task, a, 1.0) == [None]
    assert added(task, b, 8.0) == [8.0]
    assert added(task, a, 2.0) == [3.0]


@pytest.mark.hole("03c.2")
def test_a_complete_sum_is_not_kept():
    number = Number(1.0)
    task = counted({number: 2})
    added(task, number, 1.0, 2.0)
    assert not task.grads, "the pass still holds a sum that was returned"


class Meeting:
    """A place where a thread stops until another one is there too; after 0.2 s it goes on."""

    def __init__(self):
        self.barrier = threading.Barrier(2)

    def wait(self):
        try:
            self.barrier.wait(0.2)
        except threading.BrokenBarrierError:
            pass


class Stopping(float):
    """A gradient that, when it is added, stops before the sum is stored."""

    def __radd__(self, other):
        self.meeting.wait()
        return float(self) + other

    __add__ = __radd__


class StoppingCounts(dict):
    """Counts of which a thread stops at its first or its second look."""

    def __init__(self, counts, look):
        super().__init__(counts)
        self.meeting, self.look, self.local = Meeting(), look, threading.local()

    def __getitem__(self, number):
        looks = self.local.looks = getattr(self.local, "looks", 0) + 1
        found = super().__getitem__(number)
        if looks == self.look:
            self.meeting.wait()
            if looks == 2:
                found = super().__getitem__(number)
        return found


def from_two_threads(task, number, parts):
    """Add two parts at the same time; return both answers."""
    def both():
        answers, threads = [], []
        for part in parts:
            threads.append(threading.Thread(
                target=lambda part=part: answers.append(task.add_gradient(number, part)),
                daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    return ended(both, "add_gradient waits forever")


@pytest.mark.hole("03c.2")
def test_two_threads_lose_no_part_of_a_sum():
    number = Number(1.0)
    task = counted({number: 3})
    assert added(task, number, 1.0) == [None]
    parts = [Stopping(2.0), Stopping(4.0)]
    parts[0].meeting = parts[1].meeting = Meeting()
    answers = from_two_threads(task, number, parts)
    complete = [each for each in answers if each is not None]
    assert complete == [7.0], f"expected one complete sum, 7.0, got {complete}"


@pytest.mark.hole("03c.2")
@pytest.mark.parametrize("look", [1, 2])
def test_two_threads_complete_a_sum_once(look):
    number = Number(1.0)
    task = counted({number: 2})
    task.dependencies = StoppingCounts({number: 2}, look)
    answers = from_two_threads(task, number, [2.0, 4.0])
    complete = [each for each in answers if each is not None]
    assert complete == [6.0], f"expected one complete sum, 6.0, got {complete}"


# ------------------------------------------------------------------ 03c.3


class Noted(list):
    """A queue that only notes what is pushed, and how many tasks are then outstanding."""

    def __init__(self):
        super().__init__()
        self.outstanding = []

    def push(self, task):
        self.append((task.number, task.grad))
        self.outstanding.append(task.graph_task.outstanding_tasks)


def noted(result):
    """Return an engine without threads, a pass, and the queues: the owner's last."""
    engine, mine = Engine(devices=2), Noted()
    engine.ready_queues = [Noted(), Noted()]
    engine.local.queue = Noted()  # the thread's own, which is no one's here
    return engine, GraphTask(result, mine), [*engine.ready_queues, mine]


@pytest.mark.hole("03c.3")
def test_a_task_goes_to_the_device_of_its_number(sure):
    a, b, c, d = Number(1.0), Placed(1.0, device=0), Placed(1.0, device=1), Placed(1.0)
    result = step(a, b, c, d, device=1)
    engine, task, queues = noted(result)
    engine.evaluate(task, result, 10.0)
    assert queues == [[(b, 30.0)], [(c, 40.0)], [(a, 20.0), (d, 50.0)]], (
        "expected one task for device 0, one for device 1, and two on the owner's queue; "
        f"got {[len(each) for each in queues]}")


@pytest.mark.hole("03c.3")
def test_push_sends_the_result_to_its_device_too(sure):
    for place, device in enumerate([0, 1, CPU]):
        result = step(Number(1.0), device=device)
        engine, task, queues = noted(result)
        engine.push(task, result, 1.0)
        assert [len(each) for each in queues] == [int(number == place) for number in range(3)]
        assert queues[place] == [(result, 1.0)]


@pytest.mark.hole("03c.3")
def test_a_number_waits_for_its_last_gradient(sure):
    a = Placed(1.0, device=0)
    b, c = step(a, device=1), step(a, a, device=1, slopes=(5.0, 7.0))
    engine, task, queues = noted(step(b, c))
    engine.evaluate(task, b, 1.0)
    assert queues[0] == [], "a was pushed before all of its gradients had arrived"
    engine.evaluate(task, c, 10.0)
    assert queues[0] == [(a, 122.0)], f"expected one task with 122.0, got {queues[0]}"


@pytest.mark.hole("03c.3")
def test_a_gradient_of_zero_is_pushed_too(sure):
    a = Placed(1.0, device=0)
    result = step(a, device=1, slopes=(0.0,))
    engine, task, queues = noted(result)
    engine.evaluate(task, result, 1.0)
    assert queues[0] == [(a, 0.0)], f"expected one task with 0.0, got {queues[0]}"


@pytest.mark.hole("03c.3")
def test_a_leaf_keeps_its_gradient(sure):
    a = Placed(1.0, device=0)
    result = step(a)
    engine, task, _ = noted(result)
    engine.evaluate(task, a, 4.0)
    engine.evaluate(task, a, 0.5)
    engine.evaluate(task, result, 3.0)
    assert a.grad == 4.5 and result.grad is None


@pytest.mark.hole("03c.3")
def test_a_step_may_have_a_function_for_its_slopes(sure):
    a, seen = Placed(1.0, device=0), []
    result = step(a, apply=lambda grad: seen.append(grad) or [grad + 0.25])
    engine, task, queues = noted(result)
    engine.evaluate(task, result, 3.0)
    assert seen == [3.0] and queues[0] == [(a, 3.25)]


@pytest.mark.hole("03c.3")
def test_a_task_counts_before_another_thread_sees_it(sure):
    a, b = Placed(1.0, device=0), Placed(1.0, device=1)
    result = step(a, b)
    engine, task, queues = noted(result)
    task.outstanding_tasks = 1  # the result itself, which is being evaluated
    engine.evaluate(task, result, 1.0)
    assert queues[0].outstanding == [2] and queues[1].outstanding == [3], (
        "expected 2 and 3 outstanding tasks as the two are pushed, got "
        f"{queues[0].outstanding} and {queues[1].outstanding}")
    assert task.outstanding_tasks == 3


# ------------------------------------------------------------------ 03c.4


class Mains:
    """Notes what runs `thread_main`, and waits in its place until the test is over."""

    def __init__(self):
        self.seen, self.over, self.lock = [], threading.Event(), threading.Lock()

    def __call__(self, engine, graph_task):
        with self.lock:
            self.seen.append((threading.current_thread(), engine.local_queue(), graph_task))
        self.over.wait(3 * patience[0])

    def wait_for(self, count):
        """Return what was seen as soon as there are so many calls, or after the usual time."""
        until = time.monotonic() + patience[0]
        while len(self.seen) < count and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.05)
        with self.lock:
            return list(self.seen)


@pytest.fixture
def mains(monkeypatch, sure):
    """Replace `thread_main` by one that notes who calls it."""
    mains = Mains()
    monkeypatch.setattr(Engine, "thread_main", lambda self, task: mains(self, task))
    yield mains
    mains.over.set()


def started(engine):
    """Start the threads; fail if that waits for their end."""
    ended(engine.start_threads, "start_threads doesn't return: is it waiting for a thread's work?")


@pytest.mark.hole("03c.4")
def test_each_device_has_a_thread_and_a_queue(mains):
    engine = Engine(devices=3)
    started(engine)
    seen = mains.wait_for(3)
    assert len(seen) == len({thread for thread, *_ in seen}) == 3, (
        f"expected thread_main on 3 threads, got {len(seen)} calls")
    queues = [queue for _, queue, _ in seen]
    assert sorted(map(id, queues)) == sorted(map(id, engine.ready_queues)), (
        "each thread has to work through its own device's queue")
    assert all(task is None for *_, task in seen)
    assert engine.threads and set(engine.threads) == {thread for thread, *_ in seen}


@pytest.mark.hole("03c.4")
@pytest.mark.parametrize("devices", [2, 4])
def test_each_thread_keeps_its_device_even_if_it_begins_late(mains, monkeypatch, devices):
    begin = threading.Event()

    class Late(threading.Thread):
        def run(self):
            begin.wait(patience[0] / 2)  # until start_threads is over
            super().run()

    monkeypatch.setattr(made, "Thread", Late)
    engine = Engine(devices=devices)
    started(engine)
    begin.set()
    seen = mains.wait_for(devices)
    places = [engine.ready_queues.index(queue) for _, queue, _ in seen]
    assert sorted(places) == list(range(devices)), (
        f"the threads begin after start_threads has returned, and work for the devices {places}")


@pytest.mark.hole("03c.4")
def test_threads_start_once(mains):
    engine = Engine(devices=2)
    for _ in range(3):
        started(engine)
    seen = mains.wait_for(2)
    assert len(seen) == 2, f"expected 2 threads, got {len(seen)} after three calls"


@pytest.mark.hole("03c.4")
def test_two_callers_start_them_once(mains, monkeypatch):
    meeting = Meeting()

    class Slow(threading.Thread):
        def __init__(self, *args, **options):
            meeting.wait()  # another caller may come while this one makes its threads
            super().__init__(*args, **options)

    monkeypatch.setattr(made, "Thread", Slow)
    engine = Engine(devices=2)

    def both():
        callers = [threading.Thread(target=engine.start_threads, daemon=True) for _ in range(2)]
        for each in callers:
            each.start()
        for each in callers:
            each.join()

    ended(both, "start_threads doesn't return")
    seen = mains.wait_for(2)
    assert len(seen) == 2, f"expected 2 threads, got {len(seen)} from two callers at the same time"


@pytest.mark.hole("03c.4")
def test_threads_do_not_keep_a_program_alive(mains):
    engine = Engine(devices=2)

    def call():  # from a thread that is no daemon, as the threads of a daemon are daemons
        caller = threading.Thread(target=engine.start_threads, daemon=False)
        caller.start()
        caller.join()

    ended(call, "start_threads doesn't return")
    seen = mains.wait_for(2)
    assert len(seen) == 2 and all(thread.daemon for thread, *_ in seen)


@pytest.mark.hole("03c.4")
def test_a_caller_keeps_its_own_queue(mains):
    engine = Engine(devices=2)

    def call():
        before = engine.local_queue()
        engine.start_threads()
        return before, engine.local_queue()

    before, after = ended(call, "start_threads doesn't return")
    assert before is after and all(each is not after for each in engine.ready_queues)
    assert len(mains.wait_for(2)) == 2


@pytest.mark.hole("03c.4")
def test_thread_init_works_on_the_thread_that_calls_it(mains):
    engine = Engine(devices=2)
    mains.over.set()

    def call():
        engine.thread_init(1)
        return engine.local_queue()

    assert ended(call, "thread_init doesn't return") is engine.ready_queues[1]
    assert [(queue, task) for _, queue, task in mains.seen] == [(engine.ready_queues[1], None)]


# ------------------------------------------------------------------ 03c.5


class Steps:
    """Notes the steps that are evaluated, in place of `Engine.evaluate`."""

    def __init__(self):
        self.seen, self.does = [], {}

    def __call__(self, engine, graph_task, number, grad):
        self.seen.append(number)
        if number in self.does:
            self.does[number]()


@pytest.fixture
def steps(monkeypatch):
    """Replace `evaluate` by a list of what was evaluated."""
    steps = Steps()
    monkeypatch.setattr(Engine, "evaluate", lambda self, *args: steps(self, *args))
    return steps


def filled(queue, count, owner=None):
    """Return a pass with so many tasks on a queue, and their numbers, newest first."""
    numbers = [Number(1.0) for _ in range(count)][::-1]
    task = GraphTask(Number(1.0), owner or queue)
    task.outstanding_tasks = count
    for number in numbers:
        queue.push(NodeTask(task, number, 1.0))
    return task, numbers


def raises(error):
    """Return a step that raises."""
    def call():
        raise error
    return call


def worked(engine, queue, task, otherwise="thread_main didn't return although its pass is done"):
    """Let a thread with this queue run thread_main."""
    def call():
        engine.local.queue = queue
        engine.thread_main(task)

    ended(call, otherwise)


def working(engine, queue):
    """Start a thread that works on a queue as a device's does."""
    def call():
        engine.local.queue = queue
        engine.thread_main(None)

    thread = threading.Thread(target=call, daemon=True)
    engine.threads.append(thread)
    thread.start()
    return thread


def woken(queue, otherwise):
    """Pop a task from an owner's queue."""
    return ended(queue.pop, otherwise)


@pytest.mark.hole("03c.5")
def test_it_works_until_its_pass_is_done(engine, steps):
    queue = Tasks()
    task, numbers = filled(queue, 3)
    worked(engine, queue, task)
    assert steps.seen == numbers and task.outstanding_tasks == 0 and task.error is None


@pytest.mark.hole("03c.5")
def test_it_returns_at_once_if_its_pass_is_done(engine, steps):
    queue = Tasks()
    task, _ = filled(queue, 0)
    worked(engine, queue, task)
    assert steps.seen == []


@pytest.mark.hole("03c.5")
def test_it_works_for_other_passes_while_it_waits(engine, steps):
    queue, elsewhere = Tasks(), Tasks()
    task, (mine,) = filled(queue, 1)
    other, (newer,) = filled(queue, 1, owner=elsewhere)
    worked(engine, queue, task)
    assert steps.seen == [newer, mine], "a task of another pass was left out"
    assert other.outstanding_tasks == 0


@pytest.mark.hole("03c.5")
def test_a_device_s_thread_wakes_the_owner(engine, steps):
    owner, queue = Tasks(), engine.ready_queues[0]
    working(engine, queue)
    task, numbers = filled(queue, 2, owner=owner)
    got = woken(owner, "the pass is done, and its owner sleeps on")
    assert got.graph_task is task and got.number is None
    assert Counter(steps.seen) == Counter(numbers) and task.done


@pytest.mark.hole("03c.5")
def test_a_wake_up_is_no_work(engine, steps):
    queue = Tasks()
    task, numbers = filled(queue, 2)
    queue.push(NodeTask(task))
    queue.push(NodeTask(GraphTask(Number(1.0), Tasks())))
    worked(engine, queue, task)
    assert steps.seen == numbers and task.outstanding_tasks == 0


@pytest.mark.hole("03c.5")
def test_a_shutdown_ends_the_thread(engine, steps):
    queue = Tasks()
    queue.push(NodeTask(None))
    worked(engine, queue, None, "the thread didn't end after a shutdown")
    assert steps.seen == []


@pytest.mark.hole("03c.5")
@pytest.mark.parametrize("kind", [Planned, KeyboardInterrupt])
def test_an_exception_is_kept_for_the_caller(engine, steps, kind):
    owner, queue, error = Tasks(), engine.ready_queues[0], kind("on purpose")
    number = Number(1.0)
    steps.does[number] = raises(error)
    working(engine, queue)
    task = GraphTask(Number(1.0), owner)
    task.outstanding_tasks = 1
    queue.push(NodeTask(task, number, 1.0))
    woken(owner, "a step raised, and the pass is never done")
    assert task.error is error


@pytest.mark.hole("03c.5")
def test_after_an_exception_the_pass_stops_and_the_first_one_counts(engine, steps):
    queue, first = Tasks(), Planned("first")
    task, numbers = filled(queue, 3)
    steps.does = {numbers[0]: raises(first), numbers[1]: raises(Planned("second"))}
    worked(engine, queue, task, "the pass with an exception is never done")
    assert task.error is first
    assert steps.seen == numbers[:1], "steps of the pass ran after its exception"
    assert task.outstanding_tasks == 0


@pytest.mark.hole("03c.5")
def test_after_an_exception_other_passes_run(engine, steps):
    owner, queue = Tasks(), engine.ready_queues[0]
    bad = Number(1.0)
    steps.does[bad] = raises(Planned("on purpose"))
    working(engine, queue)
    failing = GraphTask(Number(1.0), owner)
    failing.outstanding_tasks = 1
    queue.push(NodeTask(failing, bad, 1.0))
    woken(owner, "a step raised, and the pass is never done")
    task, (number,) = filled(queue, 1, owner=owner)
    got = woken(owner, "after an exception the thread does no more work")
    assert got.graph_task is task and steps.seen == [bad, number] and task.error is None


# ------------------------------------------------------------------ 03c.6


STUCK = "execute doesn't return"


def executed(engine, result):
    """Run a pass on a thread of its own; return the thread."""
    def call():
        engine.execute(result)
        return threading.current_thread()

    return ended(call, STUCK)


def seen_by(threads, name, grads):
    """Return a function for slopes that notes its thread."""
    def apply(grad):
        threads[name] = threading.current_thread()
        return [grad * each for each in grads]
    return apply


@pytest.mark.hole("03c.6")
def test_a_pass_on_the_cpu_alone(engine):
    a = Number(7.0)
    result = step(step(a, slopes=(3.0,)), step(a, slopes=(5.0,)), slopes=(2.0, 4.0))
    executed(engine, result)
    assert a.grad == 26.0


@pytest.mark.hole("03c.6")
def test_each_step_runs_on_the_thread_of_its_device(engine):
    threads, a = {}, Placed(7.0, device=1)
    b = step(a, device=0, apply=seen_by(threads, "b", [3.0]))
    c = step(a, device=1, apply=seen_by(threads, "c", [5.0]))
    result = step(b, c, apply=seen_by(threads, "result", [2.0, 4.0]))
    caller = executed(engine, result)
    assert a.grad == 26.0
    assert threads["result"] is caller, "a step on the CPU ran on another thread than the caller's"
    assert len({*threads.values()}) == 3


@pytest.mark.hole("03c.6")
def test_the_result_may_be_on_a_device(engine):
    threads, a = {}, Number(7.0)
    caller = executed(engine, step(a, device=1, apply=seen_by(threads, "result", [3.0])))
    assert a.grad == 3.0 and threads["result"] is not caller


@pytest.mark.hole("03c.6")
def test_it_returns_when_all_devices_are_done(engine):
    a = Placed(7.0, device=1)

    def slow(grad):
        time.sleep(0.1)
        return [grad * 3.0]

    executed(engine, step(step(a, device=0, apply=slow)))
    assert a.grad == 6.0, f"expected 6.0 as execute returns, got {a.grad}"


@pytest.mark.hole("03c.6")
@pytest.mark.parametrize("device", [CPU, 0, 1])
def test_an_exception_reaches_the_caller(engine, device):
    a, error = Number(7.0), Planned("on purpose")
    bad = step(a, device=device, apply=lambda grad: raises(error)())

    def call():
        try:
            engine.execute(step(bad, device=0))
        except Planned as caught:
            return caught
        return None

    caught = ended(call, STUCK)
    assert caught is error, f"expected the step's own exception, got {caught!r}"
    executed(engine, step(a, device=0, slopes=(3.0,)))
    executed(engine, step(a, device=1, slopes=(4.0,)))
    assert a.grad == 7.0, "the engine does not work after an exception"


def nested(engine, *devices, error=None):
    """Return a leaf, and a result on the first device whose step runs a pass on the next."""
    leaf = Number(7.0)

    def apply(grad):
        if error is not None and len(devices) == 1:
            raise error
        if len(devices) > 1:
            inner, result = nested(engine, *devices[1:], error=error)
            engine.execute(result)
            grad += inner.grad
        return [grad]

    return leaf, step(leaf, device=devices[0], apply=apply)


@pytest.mark.hole("03c.6")
@pytest.mark.parametrize("devices", [
    (CPU, CPU), (0, 0), (0, CPU), (CPU, 0), (0, 1), (0, 1, 0), (1, 0, CPU, 1, 0)], ids=str)
def test_a_step_may_run_a_pass(engine, devices):
    leaf, result = nested(engine, *devices)
    executed(engine, result)
    assert leaf.grad == len(devices)


@pytest.mark.hole("03c.6")
def test_an_exception_leaves_a_nested_pass(engine):
    error = Planned("on purpose")
    leaf, result = nested(engine, 0, 1, 0, error=error)

    def call():
        try:
            engine.execute(result)
        except Planned as caught:
            return caught
        return None

    assert ended(call, STUCK) is error
    leaf, result = nested(engine, 0, 1, 0)
    executed(engine, result)
    assert leaf.grad == 3.0


@pytest.mark.hole("03c.6")
def test_two_callers_have_a_pass_each(engine):
    def call():
        a, b = Number(7.0), Number(7.0)
        callers = [threading.Thread(
            target=lambda leaf=leaf, by=by: [engine.execute(
                step(step(step(leaf), device=0), slopes=(by,), device=1)) for _ in range(20)],
            daemon=True) for leaf, by in [(a, 1.0), (b, 10.0)]]
        for each in callers:
            each.start()
        for each in callers:
            each.join()
        return a.grad, b.grad

    assert ended(call, STUCK) == (80.0, 800.0)
