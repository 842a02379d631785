"""Symptoms of stage 07: what a wrong answer does, shown by tiny programs."""

import functools
import warnings

import minigrad as torch
from minigrad import _state
from minigrad.autograd.grad_mode import _Mode


def clean(symptom):
    """Start from the modes of a new thread, and leave them so."""

    def reset():
        _state.grad_enabled.set(True)
        _state.inference_enabled.set(False)
        _state.observers.count = 0
        Lamp.lit = False

    @functools.wraps(symptom)
    def checked():
        reset()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return symptom()
        finally:
            reset()

    return checked


class Lamp(_Mode):
    """A mode of our own, so that a broken `no_grad` is not taken for a broken decorator."""

    lit = False

    def __enter__(self):
        self.before = Lamp.lit
        Lamp.lit = True

    def __exit__(self, *exc):
        Lamp.lit = self.before


class Dimmer(Lamp):
    """A mode with a setting."""

    level = 0

    def __init__(self, wanted=1):
        self.wanted = wanted

    def __enter__(self):
        self.before = Dimmer.level
        Dimmer.level = self.wanted

    def __exit__(self, *exc):
        Dimmer.level = self.before

    def clone(self):
        return Dimmer(self.wanted)


def mode():
    return _state.grad_enabled.get()


def after(block, before):
    """Return the mode after a block that is entered in the mode `before`."""
    _state.grad_enabled.set(before)
    with block():
        pass
    return mode()


def inside(block, before):
    _state.grad_enabled.set(before)
    with block():
        return mode()


# ------------------------------------------------------------------ 07.1


def switches_right():
    return (inside(torch.no_grad, True), inside(torch.enable_grad, False)) == (False, True)


@clean
def symptom_07_1_tells_the_variable():
    return not isinstance(torch.is_grad_enabled(), bool)


@clean
def symptom_07_1_always_tells_the_same():
    told = []
    for now in (True, False):
        _state.grad_enabled.set(now)
        told.append(torch.is_grad_enabled())
    return told in ([True, True], [False, False])


@clean
def symptom_07_1_tells_the_opposite():
    _state.grad_enabled.set(False)
    return torch.is_grad_enabled() is True and not symptom_07_1_always_tells_the_same()


@clean
def symptom_07_1_wrong_way_round():
    return all(inside(block, before) is not wanted for before in (True, False)
               for block, wanted in ((torch.no_grad, False), (torch.enable_grad, True)))


@clean
def symptom_07_1_turns_into_the_opposite():
    return all(inside(block, before) is not before for before in (True, False)
               for block in (torch.no_grad, torch.enable_grad))


@clean
def symptom_07_1_enable_grad_switches_off():
    return inside(torch.no_grad, True) is False and inside(torch.enable_grad, True) is False


@clean
def symptom_07_1_no_grad_switches_on():
    return inside(torch.no_grad, False) is True and inside(torch.enable_grad, False) is True


@clean
def symptom_07_1_block_changes_nothing():
    return inside(torch.no_grad, True) is True and inside(torch.enable_grad, False) is False


@clean
def symptom_07_1_swallows_exceptions():
    with torch.no_grad():
        raise KeyError
    return True


@clean
def symptom_07_1_gives_itself():
    with torch.no_grad() as given:
        pass
    return given is not None


@clean
def symptom_07_1_never_restores():
    return (switches_right() and after(torch.no_grad, True) is False
            and after(torch.enable_grad, False) is True)


@clean
def symptom_07_1_opposite_afterwards():
    return (after(torch.no_grad, False) is True and after(torch.enable_grad, True) is False
            and after(torch.no_grad, True) is True)


@clean
def symptom_07_1_always_on_again():
    return [after(block, before) for block in (torch.no_grad, torch.enable_grad)
            for before in (True, False)] == [True] * 4


@clean
def symptom_07_1_always_off_afterwards():
    return (after(torch.no_grad, True), after(torch.enable_grad, True)) == (False, False)


def restores():
    return all(after(block, before) is before for block in (torch.no_grad, torch.enable_grad)
               for before in (True, False))


@clean
def symptom_07_1_not_after_an_exception():
    if not restores():
        return False
    _state.grad_enabled.set(True)
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        return mode() is False
    return False


@clean
def symptom_07_1_blocks_share_memory():
    if not restores():
        return False
    _state.grad_enabled.set(True)
    with torch.no_grad():
        with torch.no_grad():
            pass
        within = mode()
    return within is True or mode() is False


# ------------------------------------------------------------------ 07.2


def probe(*args, **kwargs):
    """What a decorated function is given and sees."""
    return args, kwargs, Lamp.lit


@clean
def symptom_07_2_function_is_lost():
    return Lamp()(probe) is None


@clean
def symptom_07_2_calls_while_decorating():
    called = []
    Lamp()(lambda: called.append(1))
    return bool(called)


@clean
def symptom_07_2_decorating_leaves_it_on():
    Lamp()(probe)
    return Lamp.lit


@clean
def symptom_07_2_drops_the_result():
    return Lamp()(lambda: 3)() is None


@clean
def symptom_07_2_drops_arguments():
    try:
        return Lamp()(lambda *given: given)(1, 2) == ()
    except TypeError as error:
        return "takes 0 positional arguments" in str(error)


@clean
def symptom_07_2_calls_twice():
    calls = []
    Lamp()(lambda: calls.append(1))()
    return len(calls) == 2


@clean
def symptom_07_2_drops_keywords():
    def needs(a, b=0):
        return a, b

    decorated = Lamp()(needs)
    if decorated(1) != (1, 0):
        return False
    try:
        return decorated(1, b=2) != (1, 2)
    except TypeError:
        return True


@clean
def symptom_07_2_mode_while_decorating():
    return Lamp()(lambda: Lamp.lit)() is False


@clean
def symptom_07_2_stays_on_after_the_call():
    Lamp()(lambda: 0)()
    return Lamp.lit


@clean
def symptom_07_2_stays_on_after_an_exception():
    try:
        Lamp()(lambda: 1 / 0)()
    except ZeroDivisionError:
        return Lamp.lit and not symptom_07_2_stays_on_after_the_call()
    return False


@clean
def symptom_07_2_forgets_settings():
    return Dimmer(5)(lambda: Dimmer.level)() == 1


@clean
def symptom_07_2_calls_share_one_object():
    @Lamp()
    def down(n):
        Lamp.lit = False
        if n:
            down(n - 1)

    Lamp.lit = True
    down(0)
    single = Lamp.lit
    Lamp.lit = True
    down(1)
    return single is True and Lamp.lit is False


@clean
def symptom_07_2_loses_the_name():
    def named():
        """What it is for."""

    return Lamp()(named).__name__ != "named"


# ------------------------------------------------------------------ 07.3


def wrap(generator_function):
    return Lamp()._wrap_generator(generator_function)


@clean
def symptom_07_3_runs_ahead():
    log = []

    @wrap
    def numbers():
        log.append(1)
        yield 1
        log.append(2)
        yield 2

    running = numbers()
    ahead = bool(log)
    next(running)
    return ahead or log == [1, 2]


@clean
def symptom_07_3_caller_runs_in_the_mode():
    @wrap
    def numbers():
        yield 1
        yield 2

    running = numbers()
    next(running)
    return Lamp.lit


@clean
def symptom_07_3_no_stretch_inside():
    @wrap
    def seen():
        yield Lamp.lit
        yield Lamp.lit

    return list(seen()) == [False, False]


@clean
def symptom_07_3_first_stretch_outside():
    @wrap
    def seen():
        yield Lamp.lit
        yield Lamp.lit

    return list(seen()) == [False, True]


@clean
def symptom_07_3_later_stretches_outside():
    @wrap
    def seen():
        yield Lamp.lit
        yield Lamp.lit
        yield Lamp.lit

    running = seen()
    found = [next(running), next(running), next(running)]
    return found[0] is True and False in found


def two():
    yield 1
    yield 2


@clean
def symptom_07_3_end_is_an_error():
    try:
        list(wrap(two)())
    except RuntimeError as error:
        return "StopIteration" in str(error)
    return False


@clean
def symptom_07_3_never_ends():
    running = wrap(two)()
    taken = [next(running, None) for _ in range(6)]
    return None not in taken


@clean
def symptom_07_3_loses_an_item():
    return list(wrap(two)()) in ([1], [2], [])


@clean
def symptom_07_3_items_come_twice():
    running = wrap(two)()
    return [next(running, None) for _ in range(3)] in ([1, 1, 2], [1, 2, 2])


@clean
def symptom_07_3_loses_what_is_sent():
    @wrap
    def echo():
        got = yield "ready"
        for _ in range(3):
            got = yield got

    running = echo()
    return next(running) == "ready" and running.send("hello") is None


def sent_in():
    """Return what came first, what the body got of a "hello", and what came in answer to it."""
    got = []

    @wrap
    def echo():
        got.append((yield "ready"))
        yield "answer"
        yield "more"

    running = echo()
    return next(running), running.send("hello"), *got


@clean
def symptom_07_3_sends_something_else():
    return sent_in()[2:] not in [("hello",), (None,)] and sent_in()[0] == "ready"


@clean
def symptom_07_3_loses_what_answers():
    return sent_in() == ("ready", "ready", "hello")


def thrown_in(kind):
    """Return what the body saw of an exception thrown in, and what came out instead."""
    seen = []

    @wrap
    def patient():
        try:
            yield 1
        except kind:
            seen.append("caught")
            yield "answer"
            yield "later"

    running = patient()
    next(running)
    try:
        out = running.throw(kind())
    except kind:
        out = "raised"
    except StopIteration:
        out = "stopped"
    return seen, out


@clean
def symptom_07_3_loses_what_is_thrown():
    return thrown_in(KeyError)[0] == []


@clean
def symptom_07_3_loses_the_answer():
    seen, out = thrown_in(KeyError)
    return seen == ["caught"] and out != "answer"


@clean
def symptom_07_3_throws_only_some():
    return thrown_in(KeyError)[1] == "answer" and thrown_in(KeyboardInterrupt)[0] == []


@clean
def symptom_07_3_throws_outside():
    @wrap
    def patient():
        try:
            yield 1
        except KeyError:
            yield Lamp.lit

    running = patient()
    next(running)
    return running.throw(KeyError()) is False


def closed_in():
    """Return the state of the lamp while the generator was closed, and what closing raised."""
    log = []

    @wrap
    def careful():
        try:
            yield 1
        finally:
            log.append(Lamp.lit)

    running = careful()
    next(running)
    problem = None
    try:
        running.close()
    except RuntimeError as error:
        problem = error
    del running
    return log, problem


@clean
def symptom_07_3_goes_on_after_close():
    problem = closed_in()[1]
    return problem is not None and "ignored GeneratorExit" in str(problem)


@clean
def symptom_07_3_closes_outside():
    log, problem = closed_in()
    return problem is None and log == [False]


@clean
def symptom_07_3_loses_the_returned_value():
    @wrap
    def counted():
        yield 1
        return 7

    def outer():
        found.append((yield from counted()))

    found = []
    list(outer())
    return found == [None]


@clean
def symptom_07_3_drops_arguments():
    @wrap
    def upto(n, start=0):
        yield from range(start, n)

    try:
        return list(upto(4, start=2)) != [2, 3]
    except TypeError:
        return True


@clean
def symptom_07_3_loses_the_name():
    return wrap(two).__name__ != "two"


@clean
def symptom_07_3_forgets_settings():
    def seen():
        yield Dimmer.level

    return list(Dimmer(5)._wrap_generator(seen)()) == [1]


@clean
def symptom_07_3_stretches_share_one_object():
    @wrap
    def nested(depth):
        if depth:
            yield from nested(depth - 1)
        yield depth

    list(nested(2))
    return Lamp.lit


# ------------------------------------------------------------------ 07.4


@clean
def symptom_07_4_ignores_the_mode():
    with torch.set_grad_enabled(True):
        on = mode()
    _state.grad_enabled.set(True)
    with torch.set_grad_enabled(False):
        off = mode()
    return on == off


@clean
def symptom_07_4_wrong_way_round():
    torch.set_grad_enabled(False)
    off = mode()
    torch.set_grad_enabled(True)
    return off is True and mode() is False


def plain_call_works():
    _state.grad_enabled.set(True)
    torch.set_grad_enabled(False)
    return mode() is False


@clean
def symptom_07_4_number_accepted():
    torch.set_grad_enabled(0)  # raises TypeError
    return True


@clean
def symptom_07_4_plain_call_does_nothing():
    return not plain_call_works() and not symptom_07_4_wrong_way_round()


@clean
def symptom_07_4_stays_after_the_block():
    return all(after(functools.partial(torch.set_grad_enabled, wanted), not wanted) is wanted
               for wanted in (True, False))


@clean
def symptom_07_4_opposite_after_the_block():
    return all(after(functools.partial(torch.set_grad_enabled, wanted), wanted) is not wanted
               for wanted in (True, False))


@clean
def symptom_07_4_always_on_after_the_block():
    return all(after(functools.partial(torch.set_grad_enabled, wanted), before) is True
               for wanted in (True, False) for before in (True, False))


@clean
def symptom_07_4_swallows_exceptions():
    with torch.set_grad_enabled(False):
        raise KeyError
    return True


@clean
def symptom_07_4_entering_does_nothing():
    if not plain_call_works():
        return False
    _state.grad_enabled.set(True)
    made = torch.set_grad_enabled(False)
    _state.grad_enabled.set(True)
    with made:
        return mode() is True


@clean
def symptom_07_4_decorating_switches():
    if not plain_call_works():
        return False
    _state.grad_enabled.set(True)
    torch.set_grad_enabled(False)(lambda: 0)
    return mode() is False


@clean
def symptom_07_4_call_outside_the_mode():
    if not plain_call_works() or symptom_07_4_entering_does_nothing():
        return False
    _state.grad_enabled.set(True)
    decorated = torch.set_grad_enabled(False)(mode)
    _state.grad_enabled.set(True)
    with torch.set_grad_enabled(False):
        block = mode()
    _state.grad_enabled.set(True)
    return block is False and decorated() is True


@clean
def symptom_07_4_decorating_always_switches_on():
    _state.grad_enabled.set(False)
    torch.set_grad_enabled(False)(lambda: 0)
    return mode() is True


# ------------------------------------------------------------------ 07.5


def flags():
    return _state.inference_enabled.get(), _state.grad_enabled.get()


def flags_inside(wanted, inference=False, grad=True):
    _state.inference_enabled.set(inference)
    _state.grad_enabled.set(grad)
    with torch.inference_mode(wanted):
        return flags()


def flags_after(wanted, inference=False, grad=True):
    flags_inside(wanted, inference, grad)
    return flags()


@clean
def symptom_07_5_is_only_no_grad():
    return flags_inside(True) == (False, False)


@clean
def symptom_07_5_goes_on_recording():
    return flags_inside(True) == (True, True)


@clean
def symptom_07_5_tensors_are_ordinary():
    with torch.inference_mode():
        return flags() == (True, False) and not torch.ones(2).is_inference()


@clean
def symptom_07_5_ignores_the_mode():
    return flags_inside(True) == flags_inside(False) == (True, False)


@clean
def symptom_07_5_false_does_not_record():
    return (flags_inside(True) == (True, False)
            and flags_inside(False, True, False) == (False, False))


@clean
def symptom_07_5_false_stays_in_inference():
    return flags_inside(False, True, False)[0] is True and flags_inside(True)[0] is True


@clean
def symptom_07_5_swallows_exceptions():
    with torch.inference_mode():
        raise KeyError
    return True


@clean
def symptom_07_5_exchanged():
    return flags_after(True) == (True, False) and flags_after(True, True, False) == (False, True)


@clean
def symptom_07_5_nothing_is_put_back():
    return flags_after(True) == (True, False)


@clean
def symptom_07_5_recording_stays_off():
    return flags_after(True) == (False, False)


@clean
def symptom_07_5_inference_stays_on():
    return flags_after(True) == (True, True)


@clean
def symptom_07_5_nested_blocks_end_all():
    return flags_after(True) == (False, True) and flags_after(True, True, False)[0] is False


@clean
def symptom_07_5_records_after_no_grad():
    return (flags_after(True, True, False)[0] is True
            and flags_after(True, False, False) == (False, True))


@clean
def symptom_07_5_not_after_an_exception():
    if flags_after(True) != (False, True):
        return False
    try:
        with torch.inference_mode():
            raise KeyError
    except KeyError:
        return flags() != (False, True)
    return False


@clean
def symptom_07_5_observer_stays():
    with torch.inference_mode():
        entered = _state.observers.count == 1
    return entered and _state.observers.count == 1


@clean
def symptom_07_5_observer_leaves_twice():
    with torch.inference_mode():
        pass
    return _state.observers.count < 0
