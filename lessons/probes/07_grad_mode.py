"""Probes of stage 07: random nests of modes, decorated functions and generators.

Each returns what was seen on the way.  Modes are read and set in `_state`, so that a probe of one
hole does not lean on another; decorators are tried on a mode of the probe's own.
"""


import inspect
from concurrent.futures import ThreadPoolExecutor

import probing
from probing import Wrong

import minigrad as torch
from minigrad import _state
from minigrad.autograd import grad_mode

grad, inference = _state.grad_enabled, _state.inference_enabled


def kept(program):
    """Run a program and put both modes and the number of observers back."""
    before = grad.get(), inference.get(), _state.observers.count
    try:
        return program()
    finally:
        grad.set(before[0])
        inference.set(before[1])
        _state.observers.count = before[2]


def tried(program):
    """Return what a program returns, or of what class it raises: texts are free here."""
    return probing.tried(program, text=False)


class Harsh(BaseException):
    """Raised on purpose; no Exception."""


def nest(random, seen, makers, look, depth):
    """Enter blocks at random, look before, in and after, raise and catch at random places."""
    for _ in range(random.randint(1, 3)):
        seen.append(look())
        block, fails = makers[random.randrange(len(makers))](), random.random() < 0.4
        try:
            with block:
                seen.append(look())
                if depth and random.random() < 0.7:
                    nest(random, seen, makers, look, depth - 1)
                seen.append(look())
                if fails:
                    raise Wrong
                seen.append(random.random())
        except Wrong:
            seen.append("raised")
        seen.append(look())


def recorded(random):
    """Return whether a product is recorded, and its value."""
    x = torch.Tensor._plain(torch.tensor(random.uniform(1, 2), dtype=torch.float64)._array)
    x._requires_grad = True
    y = x * random.uniform(1, 2)
    return [y.requires_grad, y.item()]


def probe_07_1(random):
    def program():
        seen = []
        for start in random.sample([True, False], 2):
            for makers in ([torch.no_grad], [torch.enable_grad],
                           [torch.no_grad, torch.enable_grad]):
                grad.set(start)
                nest(random, seen, makers,
                     lambda: [torch.is_grad_enabled(), grad.get(), *recorded(random)], 2)
                grad.set(not start)
                seen.append(torch.is_grad_enabled())
        blocks = [random.choice([torch.no_grad, torch.enable_grad])() for _ in range(4)]
        for block in blocks:  # what is on when it is entered counts, not when it was made
            grad.set(random.random() < 0.5)
            seen.append(block.__enter__())
            seen.append(grad.get())
            grad.set(random.random() < 0.5)
        for block in reversed(blocks):
            seen.append(bool(block.__exit__(None, None, None)))
            seen.append([torch.is_grad_enabled(), grad.get()])
        for maker in (torch.no_grad, torch.enable_grad):
            seen.append(overlapping(random, maker, [grad]))
        return seen

    return kept(program)


def overlapping(random, maker, variables):
    """Open a block in each of two threads, leave the older one first, and look each time."""
    def begin(mode):
        for variable in variables:
            variable.set(mode)

    def look():
        return [variable.get() for variable in variables]

    mine, other, mode, seen = maker(), maker(), random.random() < 0.5, []
    with ThreadPoolExecutor(1) as pool:
        begin(mode)
        pool.submit(begin, not mode).result()
        mine.__enter__()
        pool.submit(other.__enter__).result()
        mine.__exit__(None, None, None)
        seen.append(look())
        pool.submit(other.__exit__, None, None, None).result()
        seen.append(pool.submit(look).result())
    return seen


class Marked(grad_mode._Mode):
    """A mode of the probe's own: a list of what is open, and a setting that a clone has too."""

    def __init__(self, value, opened):
        self.value, self.opened = value, opened

    def clone(self):
        return Marked(self.value, self.opened)

    def __enter__(self):
        self.place = len(self.opened)
        self.opened.append(self.value)

    def __exit__(self, *exc):
        del self.opened[self.place:]


class ReadsEarly(Marked):
    """A mode that reads the current mode when it is created, as `set_grad_enabled` does."""

    def __init__(self, value, opened):
        super().__init__(value, opened)
        self.place = len(opened)

    def clone(self):
        return ReadsEarly(self.value, self.opened)

    def __enter__(self):
        self.opened.append(self.value)


def probe_07_2_calls(random):
    """Call methods, raise a BaseException, and change the open blocks between two calls."""
    def program():
        opened, seen = [], []
        for kind in random.sample([Marked, ReadsEarly], 2):
            mode = kind(random.randrange(1000), opened)

            def harsh():
                raise Harsh

            class Model:
                @mode
                def predict(self, number):
                    return [type(self).__name__, number, list(opened)]

            seen.append(tried(lambda Model=Model: Model().predict(random.random())))
            opened.append(-1)
            seen.append(tried(lambda Model=Model: Model().predict(random.random())))
            try:
                mode(harsh)()
            except Harsh:
                seen.append(list(opened))
            opened.clear()
        return seen

    return kept(program)


def probe_07_2_functions(random):
    def program():
        opened, value, seen = [], random.randrange(1000), []
        a, b = random.randint(2, 9), random.random()

        def named(x, *rest, scale=1.0, **others):
            "What it says."
            seen.append(list(opened))
            if x > 0:
                seen.append(decorated(x - 1, scale=scale + b))
                seen.append(list(opened))
            if x == a % 3 and rest:
                raise Wrong
            return [x, list(rest), scale, sorted(others), len(opened)]

        mode = Marked(value, opened)
        decorated = mode(named)
        seen.append([list(opened), decorated.__name__, decorated.__doc__, decorated is named])
        for _ in range(4):
            arguments = [random.randint(0, 9) for _ in range(random.randint(0, 2))]
            more = {key: random.random() for key in random.sample("uvw", random.randint(0, 3))}
            start = random.randint(0, 3)
            seen.append(tried(lambda: decorated(start, *arguments, **more)))
            seen.append(list(opened))
            with Marked(-1, opened):
                seen.append(tried(lambda: decorated(start, *arguments, scale=b)))
                seen.append(list(opened))
            opened.clear()
        return seen

    return kept(program)


def probe_07_3(random):
    def program():
        seen = []
        for _ in range(6):
            opened, value = [], random.randrange(1000)
            scale = random.uniform(1, 2)

            def body(n, scale=scale, opened=opened, again=None):
                """Steps."""
                seen.append(["begin", list(opened)])
                total = 0.0
                try:
                    for i in range(n):
                        if again is not None and i == 0:  # one of its own kind inside a stretch
                            seen.append([list(again(1)), list(opened)])
                        try:
                            sent = yield [i, total * scale, list(opened)]
                            seen.append(["got", sent, list(opened)])
                            total += 0 if sent is None else sent
                            if sent is not None and sent > 0.9:
                                raise KeyError(sent)
                        except Wrong:
                            seen.append(["caught", list(opened)])
                            total += 10
                finally:
                    seen.append(["end", list(opened)])
                return total

            def outer():
                result = yield from wrapped(random.randint(1, 4), again=wrapped)
                seen.append(["returned", result])

            mode = Marked(value, opened)
            wrapped = mode._wrap_generator(body)
            seen.append([wrapped.__name__, wrapped.__doc__, list(opened)])
            generator = outer()
            seen.append(list(opened))
            seen.append(tried(lambda: next(generator)))
            for _ in range(random.randint(1, 5)):
                with Marked(-1, opened):
                    act = random.choice(["next", "send", "send", "throw", "throw other", "close"])
                    number = random.random()
                    seen.append([act, list(opened)])
                    seen.append(tried({
                        "next": lambda: next(generator), "send": lambda: generator.send(number),
                        "throw": lambda: generator.throw(Wrong()),
                        "throw other": lambda: generator.throw(ValueError()),
                        "close": lambda: generator.close()}[act]))
                    seen.append(list(opened))
            opened.clear()
            seen.append(tried(generator.close))
        return seen

    return kept(program)


def probe_07_3_twice(random):
    """Decorate a generator function with two modes."""
    def program():
        opened = []

        def body(count):
            for _ in range(count):
                yield [random.random(), list(opened)]

        inner, outer = (Marked(random.randrange(1000), opened) for _ in range(2))
        wrapped = inner._wrap_generator(body)
        return [inspect.isgeneratorfunction(wrapped),
                tried(lambda: list(outer(wrapped)(random.randint(2, 4))))]

    return kept(program)


def probe_07_3_doors(random):
    """Each door of a generator once, with a mode whose objects serve once."""
    class Once(Marked):
        def clone(self):
            return Once(self.value, self.opened)

        def __enter__(self):
            if getattr(self, "used", False):
                self.opened.append("used again")
            self.used = True
            super().__enter__()

    def program():
        opened, seen, value = [], [], random.randrange(1000)

        def body():
            try:
                got = yield [value, list(opened)]
                seen.append([got, list(opened)])
                try:
                    yield random.random()
                except (Wrong, Harsh):
                    seen.append(["caught", list(opened)])
                yield list(opened)
                return value + 0.5
            finally:
                seen.append(["cleaned up", list(opened)])

        wrapped = Once(value, opened)._wrap_generator(body)
        throw = random.choice([lambda g: g.throw(Wrong()), harsh])
        for stop in range(12):
            doors = [lambda g: next(g), lambda g: g.send(value), throw,
                     lambda g: stopped(g), lambda g: g.close()]
            throw = harsh if throw is not harsh else lambda g: g.throw(Wrong())
            generator = wrapped()
            for door in doors[: stop // 2]:
                seen.append(tried(lambda door=door: door(generator)))
                seen.append(list(opened))
            seen.append(tried(generator.close))
            seen.append(tried(lambda: next(generator)))
            seen.append(list(opened))
            opened.clear()
        return seen

    def harsh(generator):
        try:
            return generator.throw(Harsh())
        except Harsh:
            return "came out"

    def stopped(generator):
        try:
            return next(generator)
        except StopIteration as stop:
            return ["stopped", stop.value]

    return kept(program)


def probe_07_4(random):
    def simply(self, decorated):
        if inspect.isgeneratorfunction(decorated):
            return ["generator", self.mode]

        def wrapped(*args):
            with self.clone():
                return decorated(*args)

        return wrapped

    def program():
        seen = []

        def look():
            return [grad.get(), *recorded(random)]

        def shown():
            return [grad.get(), random.random()]

        def numbers():
            yield random.random()

        makers = [lambda: torch.set_grad_enabled(random.random() < 0.5)]
        for start in random.sample([True, False], 2):
            for _ in range(3):
                grad.set(start)
                nest(random, seen, makers, look, 2)
                seen.append(grad.get())
        for _ in range(8):
            grad.set(random.random() < 0.5)
            torch.set_grad_enabled(random.random() < 0.5)
            seen.append(look())
            block = torch.set_grad_enabled(random.random() < 0.5)
            between = random.random() < 0.5
            grad.set(between)
            with block:
                seen.append(look())
            seen.append(look())
            made = [torch.set_grad_enabled(random.random() < 0.5) for _ in range(3)]
            for each in random.sample(made, 3):
                with each:
                    seen.append(look())
                seen.append(look())
            found = made[0](numbers)
            seen.append(found if isinstance(found, list) else "something else")
            decorator = torch.set_grad_enabled(random.random() < 0.5)
            decorated = decorator(shown)
            seen.append(look())
            seen.append(decorated())
            seen.append(look())
            try:
                torch.set_grad_enabled(random.choice([0, 1, None, 0.5, "", "x"]))
            except TypeError as error:
                seen.append(str(error))
            seen.append(grad.get())
        return seen

    before = grad_mode._Mode.__call__
    grad_mode._Mode.__call__ = simply
    try:
        return kept(program)
    finally:
        grad_mode._Mode.__call__ = before


def probe_07_5(random):
    def program():
        seen, beginning = [], _state.observers.count

        def look():
            made = torch.Tensor._plain(torch.ones(2, dtype=torch.float64)._array)
            return [inference.get(), grad.get(), _state.observers.count - beginning,
                    made.is_inference(), (made * random.random()).is_inference(),
                    *(recorded(random) if not inference.get() else [])]

        makers = [lambda: torch.inference_mode(random.random() < 0.5)]
        for before in random.sample([(a, b) for a in (True, False) for b in (True, False)], 4):
            inference.set(before[0])
            grad.set(before[1])
            nest(random, seen, makers, look, 2)
            inference.set(before[0])
            grad.set(before[1])
            nest(random, seen, [torch.inference_mode], look, 1)
            block = torch.inference_mode(random.random() < 0.5)
            inference.set(random.random() < 0.5)
            grad.set(random.random() < 0.5)
            with block:
                seen.append(look())
            seen.append(look())
            inference.set(False)
            seen.append(look())
        seen.append(overlapping(random, torch.inference_mode, [inference, grad]))
        return seen

    return kept(program)
