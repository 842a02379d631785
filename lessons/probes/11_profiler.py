"""Probes of stage 11: events with random times, tables and traces of them, recorders in use.

Where clocks have a part in it, only what holds of every clock is returned.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, get_ident
from time import perf_counter_ns

import numpy as np
from probing import Wrong, tried

import minigrad as torch
from minigrad import _state
from minigrad.autograd import profiler, profiler_util
from minigrad.autograd.profiler import recorder
from minigrad.autograd.profiler import table as profiler_table
from minigrad.autograd.profiler import trace as profiler_trace
from minigrad.graph.node import NaryNode


def events_of(random, count, asynchronous=0.1):
    """Return events with random times, many of them equal."""
    return [profiler_util.FunctionEvent(
        i, random.choice(["aten::mul", "aten::add", "Mul", "block"]), random.randint(1, 2),
        float(start), float(start + random.randint(0, 12)),
        scope=random.choice([recorder.FUNCTION, recorder.FUNCTION, recorder.BACKWARD,
                             recorder.USER]),
        input_shapes=random.choice([None, [], [[2, 3]], [[random.randint(1, 3)]]]),
        stack=[f"line {random.randint(1, 2)}" for _ in range(random.randint(0, 3))],
        cpu_memory_usage=random.choice([0, random.randint(-50, 5000)]),
        is_async=random.random() < asynchronous, sequence_nr=random.randint(-2, 6))
        for i in range(count) for start in [random.randint(0, 20)]]


def family(random, events):
    """Give events children and parents at random."""
    for i, event in enumerate(events[1:], 1):
        if random.random() < 0.6:
            parent = random.choice(events[:i])
            parent.append_cpu_child(event)
            event.set_cpu_parent(parent)
    return events


def parents(events):
    """Return who is within whom."""
    return [[e.id, None if e.cpu_parent is None else e.cpu_parent.id,
             [child.id for child in e.cpu_children]] for e in events]


def probe_11_1(random):
    seen = []
    for _ in range(10):
        events = events_of(random, random.randint(3, 14))
        random.shuffle(events)
        made = profiler_util.EventList(events)
        made._populate_cpu_children()
        # which of two events with the same times is the outer one is anybody's choice
        times = [(e.time_range.start, e.time_range.end) for e in events]
        if len(set(times)) == len(times):
            seen.append([parents(events), [e.id for e in made]])
        around = []
        for event in sorted(events_of(random, 9, 0), key=lambda e: e.time_range.start):
            profiler_util.within(around, event)
            seen.append([e.id for e in around])
            seen += parents(around)
    spread = [profiler_util.FunctionEvent(i, "e", 1, float(a), float(b)) for i, (a, b) in enumerate(
        [(0, 100), (1, 40), (2, 10), (10, 20), (12, 19), (20, 30), (40, 60), (50, 70), (0, 40),
         (60 + random.randint(11, 20), 100)])]
    random.shuffle(spread)
    profiler_util.EventList(spread)._populate_cpu_children()
    return [*seen, parents(spread)]


def probe_11_2(random):
    seen = []
    for _ in range(8):
        events = family(random, events_of(random, random.randint(2, 10), 0.2))
        seen.append([[e.cpu_time_total, e.self_cpu_time_total, e.self_cpu_memory_usage,
                      e.cpu_time] for e in events])
        total = profiler_util.EventList(events).self_cpu_time_total
        seen.append(total)
        average = profiler_util.FunctionEventAvg()
        average.cpu_time_total, average.count = random.random(), random.choice([0, 1, 3, 7])
        seen.append(tried(lambda average=average: average.cpu_time))
    seen.append(profiler_util.EventList().self_cpu_time_total)
    return seen


def averaged(average):
    """Return what an average holds."""
    return [average.key, average.count, average.node_id, average.is_async, average.is_remote,
            float(average.cpu_time_total), float(average.self_cpu_time_total),
            average.cpu_memory_usage, average.self_cpu_memory_usage,
            float(average.device_time_total), float(average.self_device_time_total),
            average.input_shapes,
            average.stack, average.scope,
            None if average.cpu_parent is None else average.cpu_parent.id]


def probe_11_3(random):
    seen = []
    for _ in range(6):
        events = family(random, events_of(random, random.randint(3, 14)))
        for event in events:
            event.self_device_time_total = random.randint(0, 5)
            event.device_time_total = event.self_device_time_total + random.randint(0, 5)
        made = profiler_util.EventList(events, profile_memory=random.random() < 0.5)
        for shapes in (True, False):
            for lines in (0, 1, 2):
                found = tried(lambda made=made, shapes=shapes, lines=lines:
                              made.key_averages(shapes, lines))
                seen.append(found if isinstance(found, list) and found[:1] == ["raised"] else
                            [type(found).__name__, found._profile_memory,
                             [averaged(each) for each in found]])
        twice = made.key_averages(random.random() < 0.5)
        seen.append(tried(lambda twice=twice: [averaged(each) for each in twice.key_averages()]))
        one, other = profiler_util.FunctionEventAvg(), profiler_util.FunctionEventAvg()
        for event in random.sample(events, 3):
            for average in (one, other):
                seen.append(tried(lambda average=average, event=event:
                                  average.add(event) is average)
                            if event.key == (average.key or event.key) else
                            tried(lambda average=average, event=event: average.add(event))[:2])
        seen.append([averaged(one), tried(lambda one=one, other=other: averaged(one.add(other)))])
        seen.append(tried(lambda one=one: one.add(random.choice([1.5, None])))[:2])
        key = one.key
        one += one
        seen.append([averaged(one), key])
        seen.append([e.name for e in made])
    return seen


def probe_11_4(random):
    seen = []
    for _ in range(12):
        events = family(random, events_of(random, random.randint(2, 10)))
        for event in events:
            event.device_time_total = float(random.randint(0, 5))
        before = list(events)
        by = random.choice([None, "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
                            "cuda_time_total", "device_time_total", "count", "cuda_time"])
        limit, top = random.choice([-1, -1, 0, 1, 3, 100, -5]), random.random() < 0.4
        shown = tried(lambda events=events, by=by, limit=limit, top=top:
                      profiler_table.rows_shown(events, by, limit, top))
        seen.append(shown if shown[:1] == ["raised"] else [type(shown).__name__,
                                                           [e.id for e in shown]])
        seen.append(all(a is b for a, b in zip(before, events, strict=True)))
        some = random.sample(before, max(1, len(before) // 2))  # without some of the parents
        seen.append(tried(lambda some=some, limit=limit: [
            e.id for e in profiler_table.rows_shown(some, None, limit, True)]))
    return seen


def probe_11_5(random):
    seen = []
    for _ in range(10):
        events = sorted(events_of(random, random.randint(3, 14)), key=lambda e: e.time_range.start)
        for given in (events, iter(events)):
            seen.append(tried(lambda given=given: [
                [a.id, b.id] for a, b in profiler_trace.linked(given)]))
    kinds = [recorder.FUNCTION, recorder.USER, *[recorder.BACKWARD] * 4]
    for number in range(4):  # many events of few numbers
        events = [profiler_util.FunctionEvent(
            i, "event", 1, float(i), float(i + random.randint(1, 3)),
            scope=kinds[0] if i < 2 else random.choice(kinds),
            sequence_nr=number + random.randint(0, 1)) for i in range(10)]
        seen.append([[a.id, b.id] for a, b in profiler_trace.linked(events)])
    return seen


def rows_of(made):
    """Return what a recorder wrote down, without times and threads."""
    rows = list(zip(*[iter(made.rows)] * 7, strict=True))
    return [[what if isinstance(what, str) else what.__name__, scope, sequence,
             thread == get_ident(), None if details is None else
             [details.shapes, len(details.made), sum(details.made.values())]]
            for what, scope, start, end, sequence, thread, details in rows]


def numbered_node(sequence):
    """Return a node with this sequence number."""
    node = NaryNode()
    node.sequence = sequence
    return node


def probe_11_6(random):
    seen = []
    for _ in range(6):
        details = random.random() < 0.5
        made = recorder.DetailedRecorder(True, False, random.random() < 0.6) if details \
            else recorder.Recorder()
        inner = []

        def busy(inner=inner):
            inner.append(perf_counter_ns())
            while perf_counter_ns() < inner[-1] + 2000:
                pass
            inner.append(perf_counter_ns())

        def run(depth, *args, fails=False, made=made, busy=busy, **kwargs):
            busy()
            seen.append([depth, len(args), sorted(kwargs.items())])
            for _ in range(random.randint(0, 2)):
                act = random.random()
                if act < 0.35:
                    made.made(numbered_node(random.randrange(100)))
                elif act < 0.75 and depth:
                    seen.append(tried(lambda: made.call(
                        f"inner {depth}", [], run, depth - 1, fails=random.random() < 0.3,
                        extra=random.random())[0]))
                else:
                    seen.append(tried(lambda: made.node(
                        numbered_node(random.randrange(100)), [], act_of_node, random.random())))
            if fails:
                raise Wrong
            return [random.random(), torch.Tensor._plain(np.zeros(random.randint(1, 4)))]

        def act_of_node(value, busy=busy):
            busy()
            if value < 0.3:
                raise Wrong
            return [value]

        x = torch.Tensor._plain(np.zeros(random.randint(1, 3)))
        made._here.sequence = random.randrange(50)
        before = made._here.sequence
        for _ in range(3):
            inner.clear()
            seen.append(tried(lambda made=made, run=run, x=x: made.call(
                "outer", [x, 1.5], run, 2, x, key=random.random(),
                fails=random.random() < 0.3)[0]))
            seen.append(made._here.sequence == before)
            start, end = made.rows[-5], made.rows[-4]
            seen.append([start <= inner[0], inner[-1] <= end])
            busy(inner)
            seen.append(tried(lambda made=made: made.node_ran(
                numbered_node(random.randrange(99)), inner[-1], [], None)))
            seen.append([made.rows[-5] == inner[-1], made.rows[-4] > inner[-1]])
        seen.append(rows_of(made))
        blocks = [made.begin(f"block {random.randrange(99)}") for _ in range(3)]
        seen.append([[b.name, b.end, b.details is None] for b in made.blocks])
        seen.append([a is b for a, b in zip(blocks, made.blocks, strict=True)])
        busy(inner)
        for block in random.sample(blocks, 2):
            made.finish(block)
            seen.append([b.end > b.start for b in blocks])
    return seen


class Harsh(BaseException):
    """Raised on purpose; no Exception."""


class Slow(recorder.DetailedRecorder):
    """A recorder whose details take time."""

    def details(self, inputs):
        self.ended = perf_counter_ns() + 2000
        while perf_counter_ns() < self.ended:
            pass
        return super().details(inputs)


def probe_11_6_details(random):
    """Describe inputs that a slow call changes, and raise a BaseException."""
    def grow(count):
        inputs.extend([torch.Tensor._plain(np.zeros(2))] * count)
        if random.random() < 0.5:
            raise Harsh
        return count

    seen, made = [], Slow(shapes=True)
    for run, what in [(made.call, "grow"), (made.node, numbered_node(3))] * 3:
        inputs = [torch.Tensor._plain(np.zeros(random.randint(1, 3)))]
        try:
            seen.append(run(what, inputs, grow, random.randint(1, 3)))
        except Harsh:
            seen.append("raised")
        seen.append(len(made.rows))
        if run == made.call:
            seen.append([made.rows[-5] >= made.ended, made.rows[-1].shapes])
    return seen


class Fake:
    """Stands for a recorder."""

    quick = True

    def made(self, node):
        """Do nothing."""


def alone(program):
    """Run a program without a recorder; put all back and tell what was left on."""
    before = _state.recorder.get(), _state.observers.count, _state.observers.on_node
    _state.recorder.set(None)
    try:
        return program()
    finally:
        _state.recorder.set(before[0])
        _state.observers.count, _state.observers.on_node = before[1:]


class Watched(profiler.profile):
    """Notes when its recorder is switched on and off."""

    def _start(self, recorder):
        super()._start(recorder)
        self.ready = perf_counter_ns()

    def _stop(self, recorder):
        self.stopped = perf_counter_ns()
        super()._stop(recorder)


def probe_11_7_span(random):
    def program():
        seen = []
        for _ in range(3):
            made = Watched(record_shapes=random.random() < 0.5)
            with made:
                torch.ones(2) * random.random()
            seen.append([made.ready <= made._span[0], made._span[1] <= made.stopped])
        return [*seen, random.random()]

    return alone(program)


def probe_11_7(random):
    def program():
        seen, begin = [], _state.observers.count

        def look():
            return [_state.recorder.get() is None, _state.observers.count - begin,
                    len(_state.observers.on_node)]

        for _ in range(6):
            held = profiler.profile(random.random() < 0.7, record_shapes=random.random() < 0.5,
                                    profile_memory=random.random() < 0.4)
            fake, again = Fake(), profiler.profile()
            seen.append(tried(lambda held=held, fake=fake: held._start(fake)))
            seen.append([look(), _state.recorder.get() is fake, held.entered])
            seen.append(tried(lambda held=held: held._start(Fake())))
            seen.append(tried(lambda again=again: again._start(Fake())))
            seen.append([look(), again.entered, tried(lambda again=again: again.__enter__()
                                                      and None)])
            seen.append(tried(lambda held=held, fake=fake: held._stop(fake)))
            seen.append([look(), fake.quick])
            seen.append(tried(lambda held=held: held._start(Fake())))
            _state.recorder.set(None)
            made = profiler.profile(random.random() < 0.75, record_shapes=random.random() < 0.5)
            fails, value = random.random() < 0.4, random.random()
            times = [perf_counter_ns()]

            def block(made=made, fails=fails, value=value, times=times):
                with made as given:
                    times.append(perf_counter_ns())
                    seen.append([given is made, look(),
                                 type(_state.recorder.get()).__name__])
                    x = torch.ones(2, 3) * value
                    x = x + 1
                    times.append(perf_counter_ns())
                    if fails:
                        raise Wrong
                return value

            seen.append(tried(block))
            seen.append(look())
            times.append(perf_counter_ns())
            span = made._span
            seen.append(None if span is None else
                        [times[0] <= span[0] <= times[1], times[-2] <= span[1] <= times[-1]
                         if len(times) > 3 else None])
            if span is not None:
                seen.append(tried(lambda made=made: made.__enter__()))
                seen.append([[[e.name, e.input_shapes] for e in made.function_events], look()])
        return seen

    return alone(program)


def probe_11_8(random):
    def program():
        seen = []

        class Notes:
            def begin(self, name):
                seen.append(["begin", name])
                return [name, random.random()]

            def finish(self, event):
                seen.append(["finish", event])

        def nest(depth):
            name, args = f"name {random.randrange(99)}", random.choice([None, None, "", "a, b", 3])
            block = profiler.record_function(name, args)
            fails, off = random.random() < 0.3, random.random() < 0.2
            held = _state.recorder.get()
            try:
                with block as given:
                    seen.append([given is block, block._open is None])
                    if off:
                        _state.recorder.set(random.choice([None, Notes()]))
                    if depth:
                        nest(depth - 1)
                    if fails:
                        raise Wrong
                    seen.append("after")
            except Wrong:
                seen.append("raised")
            finally:
                _state.recorder.set(held)
            seen.append(block._open is None)

        def overlapping(name):
            """Call a decorated function in two threads; the call that began first ends first."""
            started, may_end, running = Event(), Event(), []

            @profiler.record_function(name)
            def run(work):
                work()

            def other():
                _state.recorder.set(Notes())
                run(lambda: (started.set(), may_end.wait(5)))

            with ThreadPoolExecutor(1) as pool:
                _state.recorder.set(Notes())
                run(lambda: (running.append(pool.submit(other)), started.wait(5)))
                seen.append("ended")
                may_end.set()
                running[0].result()

        class Model:
            @profiler.record_function("method")
            def method(self, value):
                seen.append([type(self).__name__, value])
                if value > 0.5:
                    raise Harsh

        overlapping(f"work {random.randrange(99)}")
        for value in random.sample([0.25, 0.75], 2):
            try:
                seen.append(tried(lambda value=value: Model().method(value)))
            except Harsh:
                seen.append("harsh")
        for _ in range(6):
            _state.recorder.set(Notes() if random.random() < 0.75 else None)
            nest(2)
            name = f"function {random.randrange(99)}"
            seen.append(["decorating", name])

            @profiler.record_function(name, random.choice([None, "args"]))
            def decorated(a, *rest, again=0, **more):
                "What it says."
                seen.append([a, list(rest), sorted(more.items())])
                if again:
                    seen.append(decorated(a + 1, again=again - 1))
                if a > 3:
                    raise Wrong
                return [a, again]

            seen.append([decorated.__name__, decorated.__doc__])
            for _ in range(2):
                seen.append(tried(lambda: decorated(random.randint(0, 4), 7, again=2,
                                                    key=random.random())))
        return seen

    return alone(program)
