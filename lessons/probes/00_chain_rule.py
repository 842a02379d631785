"""Probes of stage 00: random functions, steps and graphs.

Graphs are made of Numbers with given inputs and slopes, so that a probe of one hole does not lean
on another.
"""

import math

from probing import tried

from minigrad import tiny
from minigrad.tiny import Number


def numbers(random, count):
    """Return random leaves, none of them 0 or 1."""
    return [Number(random.uniform(1.1, 3.0) * random.choice([-1, 1])) for _ in range(count)]


def graph(random, leaves, steps):
    """Return all numbers of a random graph, leaves first; slopes are small whole numbers."""
    made = list(leaves)
    for _ in range(steps):
        inputs = tuple(random.choice(made[-6:]) for _ in range(random.randint(1, 3)))
        slopes = tuple(float(random.choice([-3, -2, 2, 3])) for _ in inputs)
        made.append(Number(random.uniform(-2, 2), inputs, slopes))
    return made


def place_in(numbers_there, wanted):
    """Return where a number stands in a list, by identity; -1 if it does not."""
    return next((place for place, each in enumerate(numbers_there) if each is wanted), -1)


def probe_00_1(random):
    seen = []
    for _ in range(4):
        factors, x, eps = [random.uniform(-2, 2) for _ in range(4)], random.uniform(-2, 2), 0.25
        called = []

        def f(at, factors=factors, called=called):
            called.append(at)
            return sum(factor * at ** power for power, factor in enumerate(factors))

        seen += [tiny.slope(f, x, eps), sorted(called)]
        seen.append(round(tiny.slope(math.sin, x), 6))
    return seen


def steps(random, names, count):
    seen = []
    for name in names:
        for _ in range(3):
            inputs = numbers(random, count)
            if count == 2 and random.random() < 0.3:
                inputs[1] = inputs[0]
            made = getattr(tiny, name)(*inputs)
            seen += [made.value, list(made.slopes), isinstance(made, Number),
                     [place_in(inputs, each) for each in made.inputs],
                     [[each.value, len(each.inputs), each.grad] for each in inputs]]
    return seen


def probe_00_2(random):
    a, b = numbers(random, 2)
    made = (a * b + 2.0) * (b - 1.5) - a
    return [*steps(random, ["add", "mul"], 2), made.value, list(made.slopes)]


def probe_00_3(random):
    return steps(random, ["exp", "tanh", "reciprocal"], 1)


def probe_00_4(random):
    seen = []
    for _ in range(4):
        made = graph(random, numbers(random, 3), 25)
        result = random.choice(made[10:])
        order = list(tiny.backward_order(result))
        places = [place_in(order, each) for each in made]
        seen += [len(order), [place >= 0 for place in places], place_in(order, result)]
        seen.append(all(place_in(order, number) < place_in(order, each)
                        for number in order for each in number.inputs))
        seen += [len(tiny.backward_order(each)) for each in made[::4]]
    chain = numbers(random, 1)
    for _ in range(3000):
        chain.append(Number(1.0, (chain[-1], chain[-1]), (1.0, 1.0)))
    seen.append(tried(lambda: len(tiny.backward_order(chain[-1])), text=False))
    return seen


class Counting(Number):
    """A Number that counts how often its inputs are looked at."""

    looked = 0

    @property
    def inputs(self):
        Counting.looked += 1
        return self.given

    @inputs.setter
    def inputs(self, given):
        self.given = given


def probe_00_5(random):
    seen = []
    for _ in range(4):
        made = graph(random, numbers(random, 3), 15)
        for leaf in made[:3]:
            leaf.grad = random.uniform(1, 2)
        for result in random.sample(made[8:], 2):
            grads = tiny.gradients(result)
            seen += [len(grads), [grads.get(each) for each in made], [each.grad for each in made]]
    chain = numbers(random, 1)
    for _ in range(1200):
        chain.append(Number(1.0, (chain[-1],), (-1.0,)))
    seen.append(tried(lambda: tiny.gradients(chain[-1])[chain[0]], text=False))
    last = first = Counting(1.0)
    for _ in range(15):
        last = Counting(1.0, (last, last), (1.0, 1.0))
    return [*seen, tiny.gradients(last)[first], Counting.looked < 2000]


def probe_00_6_backward(random):
    leaves = numbers(random, 3)
    made = graph(random, leaves, 12)
    seen = []
    for _ in range(3):
        random.choice(made).backward()
        seen.append([[each.grad, each.value] for each in made])
    return seen


def probe_00_6_descend(random):
    weights, seen = numbers(random, 3), []
    weights[0].grad = random.uniform(1, 2)
    for _ in range(3):
        loss = graph(random, weights, 6)[-1]
        tiny.descend(loss, weights, random.uniform(0.1, 0.5))
        seen.append([[each.value, each.grad] for each in weights])
    return seen
