"""Probes of stage 12: backends of random types and devices, values nested at random.

The tables of backends are put back, and no GPU is asked for: the library is a stand-in.
"""

import contextlib
import importlib
import types
from collections import namedtuple

import numpy as np
from probing import replaced, tried

from minigrad import backend as backends
from minigrad.backend import strict as strict_file
from minigrad.backend.strict import StrictArray

devices = importlib.import_module("minigrad.device")  # a class has the same name
Pair = namedtuple("Pair", "first second")


def array(random, shape=(2,)):
    """Return a random array."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.uniform(-2, 2) for _ in range(size)]).reshape(shape).copy()


@contextlib.contextmanager
def tables():
    """Put the tables of backends back at the end of a block."""
    before = dict(backends.BACKENDS), dict(backends.DEVICES)
    try:
        yield
    finally:
        for table, held in zip((backends.BACKENDS, backends.DEVICES), before, strict=True):
            table.clear()
            table.update(held)


class Entered:
    """A block on a device; unlike a generator, it isn't left when it's garbage collected."""

    def __init__(self, log, index):
        self.log, self.index = log, index

    def __enter__(self):
        self.log.append(self.index)

    def __exit__(self, *exc):
        self.log.append("left")


class Fake:
    """Stands for a backend."""

    def __init__(self, number, array_type, device_type, count=1):
        self.name, self.number = f"backend {number}", number
        self.array_type, self.device_type, self.count = array_type, device_type, count
        self.entered = []

    def device_count(self):
        """Return how many devices there are; or what the driver says."""
        if isinstance(self.count, str):
            raise RuntimeError(self.count)
        return self.count

    def device_index(self, array):
        """Return where an array lies."""
        return array.place

    def on(self, index):
        """Write down what is entered."""
        return Entered(self.entered, index)


def kinds_of(random):
    """Return types of arrays; one is derived from another."""
    kinds = [type(f"Kind{random.randrange(99)}", (), {}) for _ in range(2)]
    return [*kinds, type(f"Sub{random.randrange(99)}", (kinds[0],), {})]


def probe_12_1(random):
    seen = []
    with tables():
        for _ in range(6):
            kinds = kinds_of(random)
            names = [f"device{random.randrange(99)}" for _ in range(2)]
            for _ in range(random.randint(1, 5)):
                made = Fake(random.randrange(1000), random.choice(kinds), random.choice(names))
                backends.register(made)
                seen.append([getattr(backends.DEVICES.get(name), "number", None)
                             for name in names])
                for kind in [*kinds, int, str]:
                    seen.append(tried(lambda kind=kind: backends.backend_of(kind()).number))
            seen.append([tried(lambda: backends.backend_of(np.zeros(2)).name),
                         tried(lambda: backends.backend_of([1.0])),
                         tried(lambda: backends.backend_of(np.float64(1.0)))])
    return seen


def probe_12_2(random):
    seen = []
    for _ in range(10):
        kind = type(f"Kind{random.randrange(99)}", (), {})
        made = Fake(random.randrange(1000), kind, "cuda",
                    random.choice([0, 1, 3, f"the driver says {random.randrange(99)}"]))
        missing = random.choice([None, None, f"no library {random.randrange(99)}"])
        asked = []

        def import_module(name, made=made, missing=missing, asked=asked):
            asked.append(name)
            if missing is not None:
                raise ImportError(missing)
            return types.SimpleNamespace(backend=made)

        with tables(), replaced(backends, import_module=import_module):
            backends.DEVICES.pop("cuda", None)
            try:
                got = [backends.load_cuda() is made]
            except Exception as error:
                text = str(error)
                words = str(error.__cause__) if error.__cause__ is not None else ""
                got = [type(error).__name__, text[:33], type(error.__cause__).__name__, words,
                       words in text]
            seen.append([got, asked, backends.DEVICES.get("cuda") is made,
                         backends.BACKENDS.get(kind) is made])
    return seen


def probe_12_3(random):
    seen = []
    for _ in range(10):
        kind = type(f"Kind{random.randrange(99)}", (), {"place": random.randrange(4)})
        made = Fake(random.randrange(1000), kind, "cuda")
        with tables():
            backends.BACKENDS[kind], backends.DEVICES["cuda"] = made, made
            seen.append([str(devices.device_of(kind())), devices.device_of(kind()).index,
                         devices.device_of(np.zeros(2)) is devices.CPU])
            here = random.randrange(4)
            for where in (None, "cpu", devices.CPU, "cuda", f"cuda:{here}", "cpu:0",
                          devices.device("cuda", here), here):
                made.entered.clear()
                value = random.random()

                def build(xp, value=value, made=made):
                    made.entered.append("built")
                    if value < 0.2:
                        raise KeyError(xp is made)
                    return [xp is made, xp is backends.DEVICES["cpu"], value]

                seen.append([tried(lambda where=where, build=build:
                                   devices.build_on(where, build)), list(made.entered)])
    return seen


def nested(random, depth=3):
    """Return arrays, numbers and texts in nests of tuples, lists and dictionaries."""
    if not depth or random.random() < 0.4:
        return random.choice([StrictArray(array(random)), StrictArray(array(random, ())), 1.5,
                              "text", None, slice(1, 2), np.float64, np.float32(0.5), array(random)
                              if random.random() < 0.15 else True])
    parts = [nested(random, depth - 1) for _ in range(random.randint(0, 3))]
    kind = random.randrange(3)
    if kind == 2:
        return dict(zip("abc", parts, strict=False))
    return tuple(parts) if kind == 0 else parts


def results(random, depth=3):
    """Return what NumPy may give, in nests."""
    if not depth or random.random() < 0.4:
        return random.choice([array(random), array(random, ()), np.float64(random.random()),
                              np.int64(random.randrange(9)), np.bool_(True), 1.5, "text", None,
                              np.float32(0.5), np.float64, StrictArray(array(random))])
    parts = [results(random, depth - 1) for _ in range(random.randint(0, 3))]
    kind = random.randrange(3)
    return tuple(parts) if kind == 0 else parts if kind == 1 else Pair(
        results(random, 0), results(random, 0))


def shown(value):
    """Return nested values with the names of their types."""
    if isinstance(value, dict):
        return ["dict", *[[key, shown(each)] for key, each in value.items()]]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, StrictArray):
        return ["strict", type(value.host).__name__, str(value.host.dtype),
                value.host.astype(np.float64)]
    if isinstance(value, (np.ndarray, np.generic)):
        return [type(value).__name__, np.array(value, np.float64)]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def kept(value):
    """Return the end of an error's text, which alone is fixed."""
    if isinstance(value, list) and len(value) == 3 and isinstance(value[2], str):
        return [*value[:2], value[2].endswith("a NumPy array met a device array")]
    return shown(value)


def probe_12_4(random):
    seen = []
    for _ in range(30):
        value = nested(random)
        seen.append(kept(tried(lambda value=value: strict_file.unwrap(value))))
        seen.append(shown(value))  # which has not changed
        seen.append(shown(strict_file.wrap(results(random))))
        one = array(random)
        wrapped = strict_file.wrap([one])[0]
        seen.append([np.shares_memory(wrapped.host, one) if isinstance(wrapped, StrictArray)
                     else "bare", strict_file.unwrap(StrictArray(one)) is one])
    return seen


def worded(value):
    """Return whether an error's text has the words that are fixed."""
    if isinstance(value, list) and len(value) == 3 and isinstance(value[2], str):
        text = value[2]
        return [*value[:2], text.startswith("Implicit conversion to a NumPy array is not allowed"),
                "hidden transfer" in text, text if "not supported yet" in text else ""]
    return shown(value)


def probe_12_5(random):
    seen = []
    for _ in range(8):
        host = array(random, (3, 2))
        x = StrictArray(host)
        one = StrictArray(random.choice([np.array(random.random()), np.array(True),
                                         np.array(False), np.array(3), np.array(1.0), np.array(0),
                                         array(random, (1,)) > 0, array(random, (2,)) < 9]))
        for program in (lambda: np.asarray(x), lambda: float(one), lambda: int(one),
                        lambda: bool(one), lambda: [1, 2][one], lambda: x.T, lambda: x.shape,
                        lambda: type(x.sum).__name__, lambda: type(x.reshape).__name__,
                        lambda: x.__nothing__, lambda: x.nothing, lambda: x.__array_interface__,
                        lambda: x.__array_function__, lambda: x.__complex__, lambda: x.__dlpack__,
                        lambda: x.dtype.kind, lambda: isinstance(x.dtype, np.dtype), lambda: x.ndim,
                        lambda: x.sum.function(), lambda: np.shares_memory(x.T.host, host),
                        lambda: one._refuse()):
            seen.append(worded(tried(program)))
        seen.append(host.copy())
    return seen


def probe_12_6(random):
    seen = []
    for _ in range(8):
        host = array(random, (3, 2))
        x = StrictArray(host)
        key = random.choice([random.randrange(3), slice(0, 2), (0, 1), StrictArray(
            np.array([0, 2])), StrictArray(host > 0), (slice(None), 1), [0, 1]])
        value = random.random()
        for program in (lambda: x[key], lambda: x.sum(0), lambda: x.sum(axis=1),
                        lambda: x.reshape(-1), lambda: x.astype("float32"), lambda: x.max(),
                        lambda: x.dot(StrictArray(array(random, (2,)))),
                        lambda: x.clip(min=StrictArray(np.array(value)))):
            seen.append(worded(tried(program)))
        seen.append(tried(lambda: np.shares_memory(x[0:2].host, host)))
        for place in (np.array([0, 2]), (slice(None), np.array([1])), np.array(1)):
            seen.append(worded(tried(lambda place=place: x.__setitem__(place, value))))
            seen.append(host.copy())
        for written in (value, StrictArray(np.array(value)), np.array(value)):
            seen.append(worded(tried(lambda written=written: x.__setitem__(key, written))))
            seen.append(host.copy())
        functions = {name: strict_file.strict_function(getattr(np, name)) for name in
                     ("add", "multiply", "maximum", "subtract", "where", "exp", "stack", "split")}
        other = StrictArray(array(random, (3, 2)))
        for program in (lambda: functions["add"](x, other), lambda: functions["exp"](x),
                        lambda: functions["where"](StrictArray(host > 0), x, value),
                        lambda: functions["stack"]([x, other], axis=StrictArray(np.array(0)).host
                                                   .item()),
                        lambda: functions["split"](x, 3),
                        lambda: functions["add"](x, array(random, (3, 2))),
                        lambda: functions["add"](x, other, where=StrictArray(host > 9),
                                                 out=StrictArray(np.ones((3, 2)))),
                        *[lambda name=name, how=how: getattr(functions[name], how)(x, 0)
                          for name in ("add", "multiply", "maximum", "subtract")
                          for how in ("reduce", "accumulate")],
                        lambda: type(functions["maximum"].reduce).__name__,
                        lambda: functions["maximum"].outer(x, other).shape,
                        lambda: functions["add"].at(x, StrictArray(np.array([0, 0])), 1.0)):
            seen.append(worded(tried(program)))
        seen.append(host.copy())
    return seen


def probe_12_7(random):
    seen = []
    module = types.ModuleType(f"module{random.randrange(99)}")
    module.value, module.function = random.random(), lambda x: x
    for value in (np.linalg, module, np.exp, np.float64, np.pi, np.dtype, int, len, "text", None,
                  random.random(), lambda: 1):
        got = strict_file.strict(value)
        seen.append([got is value, type(got).__name__, got if isinstance(got, float) else 0])
    xp = strict_file.StrictBackend()
    for name in ("exp", "add", "linalg", "float64", "pi", "errstate", "concatenate", "nothing",
                 "zeros", "inf", "newaxis", "erf"):
        got = tried(lambda name=name: getattr(xp, name))
        seen.append([name, got[:2] if isinstance(got, list) else type(got).__name__,
                     got is getattr(np, name, None)])
    for _ in range(8):
        host = np.asfortranarray(array(random, (3, 2))) if random.random() < 0.5 else \
            array(random, (3, 2))
        if random.random() < 0.3:
            host = array(random, (2, 3)).T
        elif random.random() < 0.3:
            host = array(random, (2, 3, 2)).transpose(1, 0, 2)
        x = StrictArray(host)
        for value in (x, host, random.random(), [1.5, random.random()], np.float64(2.5)):
            got = xp.as_array(value)
            seen.append([got is x, shown(got)])
        made = xp.from_host(host)
        seen.append([shown(made), bool(np.shares_memory(made.host, host)),
                     list(made.host.strides), type(made).__name__])
        back = xp.to_host(x)
        seen.append([type(back).__name__, np.array(back), bool(np.shares_memory(back, host)),
                     list(back.strides)])
        seen.append(shown(tried(lambda x=x: xp.exp(x))))
        seen.append(shown(tried(lambda x=x: xp.linalg.norm(x))))
    return seen
