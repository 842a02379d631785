"""Probes of stage 10: frames of random depth, nests of modes, nodes with random histories."""

import contextvars
import traceback
import types
import warnings

import numpy as np
from probing import Wrong, tried

import minigrad as torch
from minigrad import _state, backend, frames
from minigrad.autograd import anomaly_mode
from minigrad.backend import strict
from minigrad.graph.node import NaryNode


def function_of(module, name):
    """Return a function of a module of that name, which calls the next of its arguments."""
    names = {"__name__": module} if module is not None else {}
    exec(f"def {name}(first, *rest):\n    return first(*rest)\n", names)
    return names[name]


PACKAGE = frames._PACKAGE


def probe_10_1(random):
    seen = []
    modules = [PACKAGE, f"{PACKAGE}.x", f"{PACKAGE}.ops.y", f"{PACKAGE}_course", "other",
               f"{PACKAGE}_course.tour", f"{PACKAGE}s", f"{PACKAGE}_more.z", "", None,
               f"my.{PACKAGE}", "__main__", f"{PACKAGE}.{random.randrange(99)}"]
    for module in random.sample(modules, len(modules)):
        names = {} if module is None else {"__name__": module}
        seen.append([module, frames.is_ours(names)])
        names |= {"__package__": random.choice([PACKAGE, "user", None, ""])}
        seen.append(bool(frames.is_ours(names)))

    def look():
        frame, depth = frames.user_frame()
        return [frame.f_code.co_name, frame.f_globals.get("__name__") == __name__, depth]

    for _ in range(10):
        chain = [function_of(random.choice(modules), f"function_{i}_{random.randrange(99)}")
                 for i in range(random.randint(0, 5))]
        chain += chain[: random.randint(0, 2)]  # the same functions once more
        last = types.FunctionType(look.__code__, {
            "__name__": random.choice([PACKAGE, f"{PACKAGE}.x", "user"]), "frames": frames},
            "look", None, None)
        seen.append(tried(lambda chain=chain, last=last: [*chain, last][0](*[*chain, last][1:])
                          if chain else last()))
    # a thread's outermost frames are nobody's; here all are the package's
    names = {"__name__": PACKAGE, "frames": frames, "found": []}
    exec("def only():\n    frame, depth = frames.user_frame()\n"
         "    found.append([None if frame is None else frame.f_code.co_name, depth])\n", names)
    before = frames.is_internal
    frames.is_internal = lambda frame: True
    try:
        seen.append(tried(names["only"]))
    finally:
        frames.is_internal = before
    return [*seen, names["found"]]


def quietly(program):
    """Run a program; return what it gives and its warnings, and put the mode back."""
    mode, observers = _state.anomaly, _state.observers
    before = mode.enabled, mode.check_nan, observers.count, observers.on_node
    mode.enabled, mode.check_nan = False, True
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = contextvars.copy_context().run(tried, program)
        return [result, [[each.category.__name__, str(each.message)] for each in told]]
    finally:
        mode.enabled, mode.check_nan, observers.count, observers.on_node = before


def probe_10_2(random):
    seen = []

    def program():
        mode, start = _state.anomaly, _state.observers.count

        def look():
            return [mode.enabled, mode.check_nan, _state.observers.count - start,
                    [each is anomaly_mode.remember_origin for each in _state.observers.on_node]]

        for _ in range(8):
            anomaly_mode.set_anomaly_enabled(random.random() < 0.5,
                                             *random.choice([[], [True], [False]]))
            seen.append(look())
        anomaly_mode.set_anomaly_enabled(False)

        def nest(depth):
            on, nan = random.random() < 0.6, random.random() < 0.5
            kind, fails = random.randrange(3), random.random() < 0.3
            error = random.choice([Wrong, RuntimeError, KeyError, AttributeError])
            between = random.random() < 0.3
            try:
                block = (anomaly_mode.detect_anomaly(nan) if kind == 0 else
                         anomaly_mode.set_detect_anomaly(on, nan) if kind == 1 else
                         anomaly_mode.detect_anomaly())
                seen.append([look(), block.prev, block.prev_check_nan])
                if between:
                    anomaly_mode.set_anomaly_enabled(on, not nan)
                with block:
                    seen.append(look())
                    if depth:
                        nest(depth - 1)
                    seen.append(look())
                    if fails:
                        raise error
            except error:
                seen.append("raised")
            seen.append(look())

        for _ in range(4):
            nest(3)
            anomaly_mode.set_detect_anomaly(random.random() < 0.5, random.random() < 0.5)
            seen.append(look())
            anomaly_mode.set_anomaly_enabled(False)
            seen.append(look())

    return [quietly(program), seen, lines_of(random)]


def lines_of(random):
    """Return whether the warning names the line of the block's maker."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        anomaly_mode.detect_anomaly(random.random() < 0.5)
    return [[each.filename == lines_of.__code__.co_filename, str(each.message)] for each in told]


def node_of(name):
    """Return a node without a formula."""
    node = type(name, (NaryNode,), {})()
    node.extras, node.shape, node.dtype, node.sequence = None, (), None, 0
    return node


def failure_of(program, failures):
    """Run a program; return its error, and whether it is one of these itself."""
    try:
        program()
    except Exception as error:
        return [type(error).__name__, str(error), any(error is each for each in failures)]
    return None


def functions_in(stack):
    """Return the names of the probe's functions in a formatted stack, outermost first."""
    text = [line.split(", in ")[-1].split("\n")[0] for line in stack]
    return [name for name in text if name.startswith(("deep", "remember"))]


def probe_10_3(random):
    seen = []

    def deep_a(program):
        return program()

    def deep_b(program):
        return deep_a(program)

    def program():
        for _ in range(6):
            outer, node = node_of("Outer"), node_of("Inner")
            if random.random() < 0.5:
                outer.metadata[anomaly_mode.PARENT] = node_of("Outermost")
            anomaly_mode._evaluating.set(random.choice([None, outer]))
            through = random.choice([deep_a, deep_b])
            inside = types.FunctionType(
                (lambda: anomaly_mode.remember_origin(node)).__code__,
                {"__name__": f"{PACKAGE}.x", "anomaly_mode": anomaly_mode}, "inside", None,
                (types.CellType(node),))
            through(inside)
            stack = node.metadata[anomaly_mode.TRACEBACK]
            seen.append([type(stack).__name__, functions_in(stack), len(stack) > 2,
                         stack[0] == traceback.format_stack()[0],
                         "in inside" in "".join(stack), "user_frame" in "".join(stack),
                         "remember_origin(node)" in "".join(stack[-1:]),
                         anomaly_mode.PARENT in node.metadata,
                         node.metadata.get(anomaly_mode.PARENT) is outer])
        told, failures = [], []
        before = anomaly_mode.warn_of_origin
        anomaly_mode.warn_of_origin = lambda node: told.append(node.name())
        try:
            for _ in range(8):
                start = random.choice([None, node_of("Earlier")])
                anomaly_mode._evaluating.set(start)
                depth, kind = random.randint(0, 2), random.choice(["", "", "error", "interrupt"])

                def evaluate(node, buffer, depth=depth, kind=kind):
                    seen.append([anomaly_mode._evaluating.get() is node, node.name(), buffer,
                                 sorted(np.geterr().values())])
                    np.array([1.0]) / np.array([0.0])
                    if buffer < depth:
                        inner = node_of(f"Node{buffer}")
                        if random.random() < 0.5:
                            watching(inner, buffer + 1)
                        else:
                            seen.append(failure_of(lambda: watching(inner, buffer + 1), failures))
                        seen.append(anomaly_mode._evaluating.get() is node)
                    if kind == "error" and random.random() < 0.7:
                        failures.append(Wrong(node.name()))
                        raise failures[-1]
                    if kind == "interrupt" and random.random() < 0.5:
                        raise KeyboardInterrupt
                    return "dropped"

                watching = anomaly_mode.watched(evaluate)
                try:
                    seen.append(failure_of(lambda: watching(node_of("First"), 0), failures))
                except KeyboardInterrupt:
                    seen.append("interrupted")
                seen.append([list(told), anomaly_mode._evaluating.get() is start])
                told.clear()
        finally:
            anomaly_mode.warn_of_origin = before

    result = quietly(program)
    return [seen, result, random.random()]


def probe_10_4(random):
    seen = []
    for _ in range(10):
        nodes = [node_of(f"Node{random.randrange(2)}Backward")
                 for _ in range(random.randint(1, 4))]
        for i, node in enumerate(nodes):
            if random.random() < 0.75:
                node.metadata[anomaly_mode.TRACEBACK] = [
                    f"line {random.randrange(2)}\n" for _ in range(random.randint(1, 2))]
            if i:
                nodes[i - 1].metadata[anomaly_mode.PARENT] = node
        seen.append([tried(lambda node=node: anomaly_mode._trace(node)) for node in nodes])

        inner = function_of(f"{PACKAGE}.inner", "inner")
        deep = random.random() < 0.5

        def here(nodes=nodes, inner=inner, warn=anomaly_mode.warn_of_origin, deep=deep):
            inner(warn, nodes[0]) if deep else warn(nodes[0])

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            failure = tried(here)
        seen.append([failure, [[each.category.__name__, str(each.message),
                                each.filename == here.__code__.co_filename,
                                each.lineno == here.__code__.co_firstlineno + 1]
                               for each in told]])
    return seen


def probe_10_5(random):
    backend.BACKENDS[strict.StrictArray] = strict.backend
    seen = []
    for _ in range(40):
        grads = []
        for _ in range(random.randint(1, 4)):
            shape = [random.randint(1, 3) for _ in range(random.randint(0, 3))]
            made = np.array([random.uniform(-2, 2) for _ in range(int(np.prod(shape)))],
                            random.choice([np.float64, np.float32, np.float16]))
            made = made.reshape(shape).copy()
            kind = random.random()
            if kind < 0.3:
                made.reshape(-1)[random.randrange(made.size)] = np.nan
            elif kind < 0.4:
                made[...] = np.nan
            elif kind < 0.55:
                made.reshape(-1)[random.randrange(made.size)] = random.choice([np.inf, -np.inf])
            elif kind < 0.6 and made.size > 1:
                made.reshape(-1)[:2] = [np.inf, -np.inf]  # whose sum is nan
            elif kind < 0.65:
                made = (made * 9).astype(np.int64)
            elif kind < 0.75:
                made = None
            if made is not None and random.random() < 0.4:
                made = torch.Tensor._plain(made)
            elif made is not None and random.random() < 0.2:
                made = strict.StrictArray(made)
            grads.append(made)
        node = node_of(f"Node{random.randrange(99)}")
        seen.append(tried(lambda node=node, grads=grads: anomaly_mode.check_nan(node, grads)))
        mask = np.array([random.random() < 0.4 for _ in range(6)]).reshape(
            random.choice([(6,), (2, 3), (3, 1, 2)]))
        if mask.any():
            seen.append(anomaly_mode.describe(mask))
    seen.append(anomaly_mode.describe(np.array(True)))
    return seen
