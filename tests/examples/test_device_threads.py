"""Passes on several devices give the gradients of `tiny.py`, however they are nested."""

import random
import threading

import pytest

from minigrad.examples.device_threads import CPU, Engine, Placed, ReadyQueue
from minigrad.examples.limited import limited
from minigrad.tiny import Number, gradients


@pytest.fixture(scope="module")
def engine():
    engine = Engine(devices=3)
    yield engine
    engine.stop()


def graph(seed):
    """Return leaves, and a result of 40 steps on random devices; slopes are whole numbers."""
    rng = random.Random(seed)
    leaves = [Placed(1.0, device=rng.choice([CPU, 0, 1, 2])) for _ in range(4)]
    made = list(leaves)
    for _ in range(40):
        inputs = tuple(rng.choice(made[-8:]) for _ in range(rng.randint(1, 3)))
        slopes = tuple(float(rng.randint(-2, 2)) for _ in inputs)
        made.append(Placed(1.0, inputs, slopes, rng.choice([CPU, 0, 1, 2])))
    return leaves, made[-1]


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_have_the_gradients_of_tiny(engine, seed):
    leaves, result = graph(seed)
    slopes = gradients(result)
    limited(lambda: engine.execute(result), 20)
    assert [each.grad for each in leaves] == [slopes.get(each, 0.0) for each in leaves]


def nested(engine, rng, depth, leaf):
    """Return a result whose step runs two such results, down to some depth."""
    def apply(grad):
        for _ in range(2 if depth else 0):
            engine.execute(nested(engine, rng, depth - 1, leaf))
        return [grad]

    return Placed(1.0, (leaf,), device=rng.choice([CPU, 0, 1, 2]), apply=apply)


def test_callers_on_four_threads_run_nested_passes(engine):
    leaf = Number(1.0)

    def call(seed):
        engine.execute(nested(engine, random.Random(seed), 4, leaf))

    def all_calls():
        callers = [threading.Thread(target=call, args=(seed,), daemon=True) for seed in range(4)]
        for each in callers:
            each.start()
        for each in callers:
            each.join()

    limited(all_calls, 30)
    assert leaf.grad == 4 * (2**5 - 1)


def test_an_engine_that_was_stopped_starts_again():
    engine, leaf = Engine(devices=1), Number(1.0)
    for _ in range(3):
        limited(lambda: engine.execute(Placed(1.0, (leaf,), (2.0,), 0)), 20)
        threads = list(engine.threads)
        engine.stop()
        assert threads and not any(each.is_alive() for each in threads)
    assert leaf.grad == 6.0


def test_a_program_that_waits_forever_is_left_behind():
    with pytest.raises(TimeoutError, match=r"^still waiting after 0\.1 s$"):
        limited(ReadyQueue().pop, 0.1)


def test_what_a_limited_program_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        limited(lambda: 1 / 0)


def test_an_exception_that_ends_another_thread_is_raised_too():
    before = threading.excepthook

    def call():
        threading.Thread(target=lambda: [].pop(), daemon=True).start()
        ReadyQueue().pop()

    with pytest.raises(IndexError):
        limited(call, 20)
    assert threading.excepthook is before
