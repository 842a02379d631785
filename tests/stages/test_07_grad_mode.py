"""Stage 07: grad modes as blocks, decorators, generators and plain calls."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd.grad_mode import _Mode


@pytest.fixture(autouse=True)
def restored():
    """Leave the modes of a new thread behind, whatever a test did."""
    count = _state.observers.count
    yield
    _state.grad_enabled.set(True)
    _state.inference_enabled.set(False)
    _state.observers.count = count
    Volume.now = 0


class Volume(_Mode):
    """A mode of the tests' own, with a setting."""

    now = 0

    def __init__(self, wanted):
        self.wanted = wanted

    def clone(self):
        return Volume(self.wanted)

    def __enter__(self):
        self.previous = Volume.now
        Volume.now = self.wanted

    def __exit__(self, *exc):
        Volume.now = self.previous


class ReadsEarly(Volume):
    """A mode that reads the previous one when it is created, as `set_grad_enabled` does."""

    def __init__(self, wanted):
        super().__init__(wanted)
        self.previous = Volume.now

    def clone(self):
        return ReadsEarly(self.wanted)

    def __enter__(self):
        Volume.now = self.wanted


class Harsh(BaseException):
    """Raised on purpose; no Exception."""


def start(mode):
    _state.grad_enabled.set(mode)


def expect(mode, when):
    """Check the thread's mode, and that operations go by it."""
    names = {True: "recording", False: "not recording"}
    got = _state.grad_enabled.get()
    assert got is mode, f"expected {names[mode]} {when}, got {names.get(got, got)}"
    recorded = (torch.ones(2, requires_grad=True) * 2).requires_grad
    assert recorded is mode, f"expected {names[mode]} {when}, got requires_grad={recorded}"


each_block = pytest.mark.parametrize(
    ("make", "mode"), [(torch.no_grad, False), (torch.enable_grad, True)],
    ids=["no_grad", "enable_grad"])
each_block_before = pytest.mark.parametrize(
    ("make", "mode", "before"),
    [pytest.param(make, mode, before, id=f"{make.__name__} where recording was "
                                         f"{'on' if before else 'off'}")
     for make, mode in ((torch.no_grad, False), (torch.enable_grad, True))
     for before in (True, False)])


# ------------------------------------------------------------------ 07.1


@pytest.mark.hole("07.1")
@pytest.mark.parametrize("mode", [True, False])
def test_is_grad_enabled_tells_the_mode(mode):
    start(mode)
    told = torch.is_grad_enabled()
    assert told is mode, f"expected {mode}, got {told!r}"


@pytest.mark.hole("07.1")
@each_block_before
def test_a_block_has_its_mode(make, mode, before):
    start(before)
    with make():
        expect(mode, "inside the block")


@pytest.mark.hole("07.1")
@each_block_before
def test_a_block_leaves_the_mode_before(make, mode, before):
    start(before)
    with make():
        pass
    expect(before, "after the block")


@pytest.mark.hole("07.1")
@each_block_before
def test_a_block_puts_back_what_was_on_at_its_start(make, mode, before):
    start(before)
    with make():
        start(not mode)  # as a plain call of set_grad_enabled would
    expect(before, "after the block")


@pytest.mark.hole("07.1")
@each_block
def test_an_exception_goes_on(make, mode):
    with pytest.raises(KeyError), make():
        raise KeyError


@pytest.mark.hole("07.1")
@each_block_before
def test_an_exception_leaves_the_mode_before(make, mode, before):
    start(before)
    try:
        with make():
            raise KeyError
    except KeyError:
        pass
    expect(before, "after a block that raised")


@pytest.mark.hole("07.1")
@each_block
def test_entering_gives_nothing(make, mode):
    with make() as given:
        pass
    assert given is None, f"expected None from __enter__, got {given!r}"


@pytest.mark.hole("07.1")
@each_block
def test_a_block_inside_one_of_its_kind(make, mode):
    start(not mode)
    with make():
        with make():
            expect(mode, "in the second block")
        expect(mode, "in the first block, after the second")
    expect(not mode, "after both blocks")


@pytest.mark.hole("07.1")
def test_blocks_of_two_kinds_nest():
    with torch.no_grad():
        with torch.no_grad():
            expect(False, "in the second block")
        expect(False, "between the blocks")
        with torch.enable_grad():
            expect(True, "in enable_grad inside no_grad")
            with torch.no_grad():
                pass
            expect(True, "back in enable_grad")
        expect(False, "back in no_grad")
    expect(True, "after all blocks")


@pytest.mark.hole("07.1")
def test_one_object_serves_one_block_after_another():
    block = torch.no_grad()
    for _ in range(2):
        with block:
            expect(False, "inside the block")
        expect(True, "after the block")


@pytest.mark.hole("07.1")
@each_block
def test_a_block_that_was_created_earlier(make, mode):
    start(mode)
    block = make()
    start(not mode)
    with block:
        expect(mode, "inside the block")
    expect(not mode, "after the block")


@pytest.mark.hole("07.1")
@each_block
def test_blocks_of_two_threads_overlap(make, mode):
    start(True)
    mine, other = make(), make()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(start, False).result()
        mine.__enter__()
        pool.submit(other.__enter__).result()
        mine.__exit__(None, None, None)
        pool.submit(other.__exit__, None, None, None).result()
        expect(True, "after this thread's block")
        pool.submit(expect, False, "after the other thread's block").result()


@pytest.mark.hole("07.1")
def test_another_thread_has_a_mode_of_its_own():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True], f"expected a new thread to record, got is_grad_enabled() = {seen}"


@pytest.mark.hole("07.1")
def test_nothing_is_recorded_inside_no_grad():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
    assert not y.requires_grad and y.grad_fn is None, f"expected no history, got {y.grad_fn}"
    assert (x * 2).requires_grad, "expected recording after the block"


@pytest.mark.hole("07.1")
def test_a_leaf_may_be_written_inside_no_grad():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
    assert w.tolist() == [0.0, 0.0] and w.requires_grad and w.is_leaf


# ------------------------------------------------------------------ 07.2


@pytest.mark.hole("07.2")
def test_decorating_gives_a_function():
    def plain():
        return 1

    got = torch.no_grad()(plain)
    assert callable(got) and got is not plain, f"expected a new function, got {got}"


@pytest.mark.hole("07.2")
def test_decorating_calls_nothing():
    called = []
    torch.no_grad()(lambda: called.append(1))
    assert called == [], "expected no call while decorating"


@pytest.mark.hole("07.2")
def test_decorating_switches_nothing():
    torch.no_grad()(lambda: None)
    expect(True, "after decorating")


@pytest.mark.hole("07.2")
def test_a_call_calls_once():
    calls = []
    torch.no_grad()(lambda: calls.append(1))()
    assert calls == [1], f"expected one call, got {len(calls)}"


@pytest.mark.hole("07.2")
def test_the_result_comes_out():
    got = torch.no_grad()(lambda: 5)()
    assert got == 5, f"expected 5, got {got}"


@pytest.mark.hole("07.2")
@pytest.mark.parametrize(("args", "kwargs"), [((1, 2), {}), ((), {"key": 3}), ((1,), {"key": 3})],
                         ids=["by place", "by name", "by both"])
def test_arguments_pass_through(args, kwargs):
    @torch.no_grad()
    def given(*args, **kwargs):
        return args, kwargs

    got = given(*args, **kwargs)
    assert got == (args, kwargs), f"expected {(args, kwargs)}, got {got}"


@pytest.mark.hole("07.2")
@each_block_before
def test_a_decorated_function_runs_in_the_mode(make, mode, before):
    @make()
    def inside():
        return _state.grad_enabled.get()

    start(before)
    got = inside()
    assert got is mode, f"expected mode {mode} in the call, got {got}"


@pytest.mark.hole("07.2")
@each_block_before
def test_after_a_call_the_mode_is_the_one_before(make, mode, before):
    decorated = make()(lambda: None)
    start(before)
    decorated()
    expect(before, "after the call")


@pytest.mark.hole("07.2")
def test_an_exception_comes_out_of_a_decorated_function():
    @torch.no_grad()
    def failing():
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        failing()


@pytest.mark.hole("07.2")
def test_an_exception_leaves_the_mode_before_the_call():
    @torch.no_grad()
    def failing():
        raise KeyError("inside")

    with pytest.raises(KeyError):
        failing()
    expect(True, "after a call that raised")


@pytest.mark.hole("07.2")
def test_name_and_docstring_stay():
    @torch.no_grad()
    def documented():
        """What it is for."""

    got = documented.__name__, documented.__doc__
    assert got == ("documented", "What it is for."), f"got {got}"


@pytest.mark.hole("07.2")
@each_block
def test_a_function_that_calls_itself(make, mode):
    @make()
    def down(n):
        if n:
            down(n - 1)
        return _state.grad_enabled.get()

    start(not mode)
    got = down(3)
    assert got is mode, f"expected mode {mode} in the outer call too, got {got}"
    expect(not mode, "after the calls")


@pytest.mark.hole("07.2")
@each_block
def test_a_call_inside_a_call_in_another_mode(make, mode):
    seen = []

    @make()
    def down(n):
        seen.append(_state.grad_enabled.get())
        start(not mode)
        if n:
            down(n - 1)

    down(1)
    assert seen == [mode, mode], f"expected both calls to run in mode {mode}, got {seen}"


@pytest.mark.hole("07.2")
def test_no_call_uses_what_the_mode_remembered():
    decorated = ReadsEarly(5)(lambda: Volume.now)
    Volume.now = 3
    got = decorated()
    assert got == 5, f"expected 5 in the call, got {got}"
    assert Volume.now == 3, f"expected 3 after the call, got {Volume.now}"


@pytest.mark.hole("07.2")
def test_any_exception_leaves_the_mode_before_the_call():
    @torch.no_grad()
    def failing():
        raise Harsh

    with pytest.raises(Harsh):
        failing()
    expect(True, "after a call that raised a BaseException")


@pytest.mark.hole("07.2")
def test_each_call_has_the_setting_of_the_mode():
    @Volume(5)
    def now():
        return Volume.now

    assert [now(), now()] == [5, 5], "expected both calls in the mode with its setting"
    assert Volume.now == 0, f"expected 0 after the calls, got {Volume.now}"


@pytest.mark.hole("07.2")
@each_block
def test_a_decorator_without_parentheses(make, mode):
    @make
    def inside():
        return _state.grad_enabled.get()

    start(not mode)
    assert inside() is mode


@pytest.mark.hole("07.2")
def test_a_method():
    class Model:
        @torch.no_grad()
        def predict(self, x):
            return self, x, _state.grad_enabled.get()

    model = Model()
    assert model.predict(3) == (model, 3, False)


# ------------------------------------------------------------------ 07.3


@pytest.mark.hole("07.3")
def test_items_come_out_one_by_one():
    @torch.no_grad()
    def numbers():
        yield 1
        yield 2
        yield 3

    got = list(islice(numbers(), 10))
    assert got == [1, 2, 3], f"expected [1, 2, 3], got {got}"


@pytest.mark.hole("07.3")
def test_a_generator_ends():
    @torch.no_grad()
    def numbers():
        yield 1

    running = numbers()
    next(running)
    assert next(running, "end") == "end"


@pytest.mark.hole("07.3")
def test_a_generator_without_items():
    @torch.no_grad()
    def none():
        return
        yield

    assert list(none()) == []


@pytest.mark.hole("07.3")
def test_nothing_runs_before_the_first_next():
    log = []

    @torch.no_grad()
    def numbers():
        log.append("first")
        yield 1

    running = numbers()
    assert log == [], f"expected nothing to run before the first next(), got {log}"
    assert next(running) == 1 and log == ["first"]


@pytest.mark.hole("07.3")
def test_a_generator_does_no_more_than_it_is_asked():
    log = []

    @torch.no_grad()
    def numbers():
        log.append("first")
        yield 1
        log.append("second")
        yield 2

    running = numbers()
    assert next(running) == 1 and log == ["first"], f"expected one stretch, got {log}"
    assert next(running) == 2 and log == ["first", "second"]


def modes_seen(make, before, in_body):
    """Return the modes that the body, or its caller, of a decorated generator sees."""
    @make()
    def body():
        for _ in range(3):
            yield _state.grad_enabled.get()

    start(before)
    running, seen = body(), []
    for _ in range(3):
        inside = next(running)
        seen.append(inside if in_body else _state.grad_enabled.get())
    return seen


@pytest.mark.hole("07.3")
@each_block
def test_the_first_stretch_runs_in_the_mode(make, mode):
    assert modes_seen(make, not mode, True)[0] is mode


@pytest.mark.hole("07.3")
@each_block
def test_later_stretches_run_in_the_mode(make, mode):
    got = modes_seen(make, not mode, True)
    assert got == [mode] * 3, f"expected {[mode] * 3}, got {got}"


@pytest.mark.hole("07.3")
@each_block
def test_the_caller_runs_in_the_caller_s_mode(make, mode):
    got = modes_seen(make, not mode, False)
    assert got == [not mode] * 3, f"expected {[not mode] * 3}, got {got}"


@pytest.mark.hole("07.3")
@each_block
def test_the_mode_after_a_generator(make, mode):
    @make()
    def body():
        yield 1

    start(not mode)
    list(body())
    expect(not mode, "after the generator")


@pytest.mark.hole("07.3")
@each_block
def test_a_caller_that_changes_its_mode(make, mode):
    @make()
    def body():
        yield 1
        yield 2

    start(not mode)
    running = body()
    next(running)
    start(mode)
    next(running)
    expect(mode, "after the second stretch")


@pytest.mark.hole("07.3")
def test_a_generator_is_sent_values():
    @torch.no_grad()
    def echo():
        got = yield "ready"
        for _ in range(3):
            got = yield got

    running = echo()
    assert next(running) == "ready"
    got = [running.send(value) for value in ("a", 0, None)]
    assert got == ["a", 0, None], f"expected ['a', 0, None], got {got}"


def patient_generator():
    @torch.no_grad()
    def patient():
        for _ in range(3):
            try:
                yield "waits"
            except KeyError as error:
                yield error.args[0], _state.grad_enabled.get()

    running = patient()
    next(running)
    return running


@pytest.mark.hole("07.3")
def test_a_thrown_exception_reaches_the_body():
    running = patient_generator()
    try:
        got = running.throw(KeyError("thrown"))
    except KeyError:
        got = "not caught"
    assert got != "not caught", "the body did not get the exception"


@pytest.mark.hole("07.3")
def test_what_the_body_yields_to_an_exception_comes_out():
    got = patient_generator().throw(KeyError("thrown"))
    assert isinstance(got, tuple) and got[0] == "thrown", f"expected 'thrown', got {got}"


@pytest.mark.hole("07.3")
def test_a_thrown_exception_is_handled_in_the_mode():
    running = patient_generator()
    got = running.throw(KeyError("thrown"))
    assert got == ("thrown", False), f"expected ('thrown', False), got {got}"
    expect(True, "after an exception was thrown in")


@pytest.mark.hole("07.3")
def test_a_generator_goes_on_after_an_exception():
    running = patient_generator()
    running.throw(KeyError("thrown"))
    assert next(running) == "waits"


@pytest.mark.hole("07.3")
def test_an_exception_that_the_body_does_not_catch_comes_out():
    running = patient_generator()
    with pytest.raises(ZeroDivisionError):
        running.throw(ZeroDivisionError())
    expect(True, "after an exception came out")


@pytest.mark.hole("07.3")
def test_any_exception_can_be_thrown_into_a_generator():
    @torch.no_grad()
    def patient():
        try:
            yield "waits"
        except KeyboardInterrupt:
            yield "caught"

    running = patient()
    next(running)
    try:
        got = running.throw(KeyboardInterrupt())
    except KeyboardInterrupt:  # pytest would stop
        got = "not caught"
    assert got == "caught", f"expected the body to catch a KeyboardInterrupt, got {got!r}"


def closed():
    """Return what a generator logs that is closed at its first yield, and the generator."""
    log = []

    @torch.no_grad()
    def careful():
        try:
            yield 1
        finally:
            log.append(_state.grad_enabled.get())

    running = careful()
    next(running)
    running.close()
    return log, running


@pytest.mark.hole("07.3")
def test_a_generator_can_be_closed():
    log, running = closed()
    assert len(log) == 1, f"expected the finally of the body to run once, got {len(log)}"
    assert next(running, "end") == "end"


@pytest.mark.hole("07.3")
def test_a_generator_that_is_closed_cleans_up_in_the_mode():
    log, _ = closed()
    assert log == [False], f"expected the finally to run in the mode, got modes {log}"
    expect(True, "after the generator was closed")


@pytest.mark.hole("07.3")
def test_a_generator_returns_a_value():
    @torch.no_grad()
    def counted():
        yield 1
        return 7

    def outer():
        return (yield from counted())

    running = outer()
    next(running)
    with pytest.raises(StopIteration) as stop:
        next(running)
    assert stop.value.value == 7, f"expected the value 7, got {stop.value.value}"


@pytest.mark.hole("07.3")
def test_an_exception_of_the_body_comes_out():
    @torch.no_grad()
    def failing():
        yield 1
        raise KeyError("inside")

    running = failing()
    next(running)
    with pytest.raises(KeyError, match="inside"):
        next(running)
    expect(True, "after the body raised")


@pytest.mark.hole("07.3")
def test_arguments_of_a_generator_function():
    @torch.no_grad()
    def upto(n, first=0):
        yield from range(first, n)

    assert list(upto(5, first=2)) == [2, 3, 4]


@pytest.mark.hole("07.3")
def test_name_and_docstring_of_a_generator_function():
    @torch.no_grad()
    def upto(n, first=0):
        """Count."""
        yield from range(first, n)

    assert (upto.__name__, upto.__doc__) == ("upto", "Count.")


@pytest.mark.hole("07.3")
def test_a_generator_that_runs_another_of_its_kind():
    @torch.no_grad()
    def walk(depth):
        if depth:
            yield from walk(depth - 1)
        yield depth, _state.grad_enabled.get()

    got = list(walk(2))
    assert got == [(0, False), (1, False), (2, False)], f"got {got}"
    expect(True, "after the generators")


@pytest.mark.hole("07.3")
def test_a_generator_has_the_setting_of_the_mode():
    def now():
        yield Volume.now
        yield Volume.now

    wrapped = Volume(5)._wrap_generator(now)
    assert list(wrapped()) == [5, 5] and Volume.now == 0


@pytest.mark.hole("07.3")
def test_a_generator_in_two_modes():
    @Volume(5)
    @torch.no_grad()
    def now():
        yield Volume.now, _state.grad_enabled.get()

    got = list(now())
    assert got == [(5, False)], f"expected the body to run in both modes, got {got}"


@pytest.mark.hole("07.3")
def test_no_stretch_uses_what_an_object_remembered():
    @ReadsEarly(5)
    def body():
        yield Volume.now
        yield Volume.now

    seen, running = [], body()
    for volume in (2, 3):
        Volume.now = volume
        seen.append((next(running), Volume.now))
    assert seen == [(5, 2), (5, 3)], f"expected the caller to keep its modes 2 and 3, got {seen}"


# ------------------------------------------------------------------ 07.4


each_mode = pytest.mark.parametrize("mode", [True, False], ids=["True", "False"])
each_mode_before = pytest.mark.parametrize(
    ("mode", "before"),
    [pytest.param(mode, before, id=f"mode={mode} where recording was {'on' if before else 'off'}")
     for mode in (True, False) for before in (True, False)])


@pytest.mark.hole("07.4")
@each_mode
def test_a_plain_call_switches(mode):
    start(not mode)
    torch.set_grad_enabled(mode)
    expect(mode, "after the plain call")


@pytest.mark.hole("07.4")
@each_mode_before
def test_set_grad_enabled_as_a_block(mode, before):
    start(before)
    with torch.set_grad_enabled(mode):
        expect(mode, "inside the block")


@pytest.mark.hole("07.4")
@each_mode_before
def test_after_the_block_the_mode_is_the_one_before(mode, before):
    start(before)
    with torch.set_grad_enabled(mode):
        pass
    expect(before, "after the block")


@pytest.mark.hole("07.4")
@each_mode_before
def test_a_block_that_raises(mode, before):
    start(before)
    with pytest.raises(KeyError), torch.set_grad_enabled(mode):
        raise KeyError
    expect(before, "after a block that raised")


@pytest.mark.hole("07.4")
@each_mode_before
def test_decorating_switches_back(mode, before):
    start(before)
    torch.set_grad_enabled(mode)(lambda: None)
    expect(before, "after decorating")


@pytest.mark.hole("07.4")
@each_mode_before
def test_set_grad_enabled_as_a_decorator(mode, before):
    start(before)
    inside = torch.set_grad_enabled(mode)(lambda: _state.grad_enabled.get())
    assert inside is not None, "decorating is to give a function"
    got = inside()
    assert got is mode, f"expected the call to run in mode {mode}, got {got}"
    expect(before, "after the call")


@pytest.mark.hole("07.4")
@each_mode_before
def test_a_decorated_call_in_another_mode(mode, before):
    start(before)
    inside = torch.set_grad_enabled(mode)(lambda: _state.grad_enabled.get())
    start(not before)
    assert inside() is mode
    expect(not before, "after a call in the other mode")


@pytest.mark.hole("07.4")
@each_mode
def test_entering_switches_again(mode):
    start(mode)
    block = torch.set_grad_enabled(mode)
    start(not mode)
    with block:
        expect(mode, "inside the block")


@pytest.mark.hole("07.4")
@each_mode_before
def test_a_mode_that_was_changed_before_the_block(mode, before):
    start(before)
    block = torch.set_grad_enabled(mode)
    start(not before)
    with block:
        pass
    expect(before, "after the block")


@pytest.mark.hole("07.4")
def test_blocks_of_set_grad_enabled_nest():
    with torch.set_grad_enabled(False):
        with torch.set_grad_enabled(False):
            pass
        expect(False, "in the outer block, after the inner one")
    expect(True, "after both blocks")


@pytest.mark.hole("07.4")
def test_objects_that_are_entered_in_the_order_of_their_creation():
    first = torch.set_grad_enabled(False)
    second = torch.set_grad_enabled(True)
    with first:
        pass
    expect(True, "after the block of the first object")
    with second:
        pass
    expect(False, "after the block of the second object")


@pytest.mark.hole("07.4")
def test_a_generator_function_is_decorated_as_one(monkeypatch):
    def numbers():
        yield 1

    monkeypatch.setattr(_Mode, "_wrap_generator", lambda self, decorated: (self.mode, decorated))
    got = torch.set_grad_enabled(False)(numbers)
    assert got == (False, numbers), f"expected what super().__call__ returns, got {got}"


@pytest.mark.hole("07.4")
def test_the_object_keeps_its_mode():
    got = [torch.set_grad_enabled(mode).mode for mode in (True, False)]
    assert got == [True, False], f"expected the modes True and False, got {got}"


@pytest.mark.hole("07.4")
@pytest.mark.parametrize("given", [0, None, 1.0], ids=["0", "None", "1.0"])
def test_only_a_bool_is_a_mode(given):
    start(True)
    with pytest.raises(TypeError):
        torch.set_grad_enabled(given)
    expect(True, "after a call that was refused")


# ------------------------------------------------------------------ 07.5


def modes():
    return _state.inference_enabled.get(), _state.grad_enabled.get()


def expect_modes(wanted, when):
    got = modes()
    assert got == wanted, f"expected (inference, grad) = {wanted} {when}, got {got}"


each_wanted = pytest.mark.parametrize("wanted", [True, False],
                                      ids=["inference_mode(True)", "inference_mode(False)"])
PAIRS = {"where recording was on": (False, True), "in no_grad": (False, False),
         "in inference mode": (True, False), "in enable_grad in inference mode": (True, True)}
each_wanted_before = pytest.mark.parametrize(
    ("wanted", "before"), [pytest.param(wanted, before, id=f"inference_mode({wanted}) {inside}")
                           for wanted in (True, False) for inside, before in PAIRS.items()])


def begin(pair):
    _state.inference_enabled.set(pair[0])
    _state.grad_enabled.set(pair[1])


@pytest.mark.hole("07.5")
@each_wanted
def test_inference_mode_is_switched(wanted):
    begin((not wanted, wanted))
    with torch.inference_mode(wanted):
        got = _state.inference_enabled.get()
    assert got is wanted, f"expected {wanted}, got {got}"


@pytest.mark.hole("07.5")
@each_wanted
def test_recording_is_the_opposite(wanted):
    begin((not wanted, wanted))
    with torch.inference_mode(wanted):
        got = _state.grad_enabled.get()
    assert got is not wanted, f"expected grad mode {not wanted}, got {got}"


@pytest.mark.hole("07.5")
@pytest.mark.parametrize("wanted", [True, False])
def test_an_observer_comes(wanted):
    before = _state.observers.count
    with torch.inference_mode(wanted):
        got = _state.observers.count
    assert got == before + 1, f"expected one observer more inside, got {got - before}"


@pytest.mark.hole("07.5")
@pytest.mark.parametrize("wanted", [True, False])
def test_observers_come_and_go(wanted):
    before = _state.observers.count
    with torch.inference_mode(wanted):
        pass
    got = _state.observers.count
    assert got == before, f"expected {before} observers after the block, got {got}"


@pytest.mark.hole("07.5")
@each_wanted_before
def test_both_modes_are_switched_and_put_back(wanted, before):
    begin(before)
    with torch.inference_mode(wanted):
        expect_modes((wanted, not wanted), f"inside inference_mode({wanted})")
    expect_modes(before, "after the block")


@pytest.mark.hole("07.5")
@each_wanted_before
def test_both_are_put_back_after_an_exception(wanted, before):
    begin(before)
    count = _state.observers.count
    with pytest.raises(KeyError), torch.inference_mode(wanted):
        raise KeyError
    expect_modes(before, "after a block that raised")
    assert _state.observers.count == count, "an observer stayed"


@pytest.mark.hole("07.5")
@each_wanted_before
def test_an_object_that_was_created_earlier(wanted, before):
    begin((not before[0], not before[1]))
    block = torch.inference_mode(wanted)
    begin(before)
    with block:
        pass
    expect_modes(before, "after the block")


@pytest.mark.hole("07.5")
def test_inference_modes_of_two_threads_overlap():
    begin((False, True))
    mine, other = torch.inference_mode(), torch.inference_mode()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(begin, (True, False)).result()
        mine.__enter__()
        pool.submit(other.__enter__).result()
        mine.__exit__(None, None, None)
        pool.submit(other.__exit__, None, None, None).result()
        expect_modes((False, True), "after this thread's block")
        pool.submit(expect_modes, (True, False), "after the other thread's block").result()


@pytest.mark.hole("07.5")
def test_tensors_made_inside_are_inference_tensors():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        made, computed = torch.ones(2), x * 2
    assert made.is_inference() and computed.is_inference(), "expected inference tensors"
    assert not computed.requires_grad
    after = torch.ones(2)
    assert not after.is_inference(), "expected an ordinary tensor after the block"


@pytest.mark.hole("07.5")
def test_an_inference_tensor_can_never_be_saved():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        made = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made


@pytest.mark.hole("07.5")
def test_leaving_inference_mode_inside_it():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        with torch.inference_mode(False):
            y = x * 2
        z = x * 2
    assert y.requires_grad and not y.is_inference(), "expected recording in inference_mode(False)"
    assert not z.requires_grad and z.is_inference(), "expected inference mode again after it"
