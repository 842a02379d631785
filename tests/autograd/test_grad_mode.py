"""`no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode` in every form."""

from __future__ import annotations

import threading

import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine

MODES = {
    "no_grad": (lambda t: t.no_grad(), False),
    "enable_grad": (lambda t: t.enable_grad(), True),
    "set_grad_enabled(False)": (lambda t: t.set_grad_enabled(False), False),
    "set_grad_enabled(True)": (lambda t: t.set_grad_enabled(True), True),
    "inference_mode": (lambda t: t.inference_mode(), False),
    "inference_mode(False)": (lambda t: t.inference_mode(False), True),
}
each_mode = pytest.mark.parametrize("name", MODES)


def opposite(torch, mode):
    """Switch to the other mode, so that entering `mode` shows."""
    return torch.enable_grad() if not mode else torch.no_grad()


@each_mode
def test_context_manager(torch, name):
    make, mode = MODES[name]
    with opposite(torch, mode):
        with make(torch):
            assert torch.is_grad_enabled() is mode
            assert (leaf(torch, 1.0) * 2).requires_grad is mode
        assert torch.is_grad_enabled() is not mode
    assert torch.is_grad_enabled()


@each_mode
def test_an_exception_restores_the_mode(torch, name):
    make, mode = MODES[name]
    with opposite(torch, mode):
        with pytest.raises(KeyError), make(torch):
            raise KeyError
        assert torch.is_grad_enabled() is not mode
        assert not torch.is_inference_mode_enabled()


@each_mode
def test_function(torch, name):
    make, mode = MODES[name]
    decorator = make(torch)
    torch.set_grad_enabled(True)  # one of the modes takes effect where it is made

    @decorator
    def documented(a, *, b):
        """What it is for."""
        return a, b, torch.is_grad_enabled()

    assert documented.__name__ == "documented" and documented.__doc__ == "What it is for."
    with opposite(torch, mode):
        assert documented(1, b=2) == (1, 2, mode)
        assert torch.is_grad_enabled() is not mode

    @make(torch)
    def failing():
        raise KeyError("inside")

    torch.set_grad_enabled(True)
    with pytest.raises(KeyError, match="inside"):
        failing()
    assert torch.is_grad_enabled()


@each_mode
def test_recursion_through_a_decorated_function(torch, name):
    make, mode = MODES[name]

    @make(torch)
    def down(n):
        with opposite(torch, mode):
            inner = down(n - 1) if n else []
        return [*inner, torch.is_grad_enabled()]

    torch.set_grad_enabled(True)
    assert down(5) == [mode] * 6
    assert torch.is_grad_enabled()


@each_mode
def test_generator(torch, name):
    make, mode = MODES[name]
    log = []

    @make(torch)
    def generator(start):
        try:
            received = yield start, torch.is_grad_enabled()
            while True:
                try:
                    received = yield received, torch.is_grad_enabled()
                except KeyError as error:
                    received = f"caught {error.args[0]}", torch.is_grad_enabled()
                if received is None:
                    return torch.is_grad_enabled()
        finally:
            log.append(torch.is_grad_enabled())

    def check():
        assert torch.is_grad_enabled() is not mode

    torch.set_grad_enabled(True)
    with opposite(torch, mode):
        running = generator("start")
        check()
        assert next(running) == ("start", mode)
        check()
        assert running.send("sent") == ("sent", mode)
        check()
        assert running.throw(KeyError("thrown")) == (("caught thrown", mode), mode)
        check()
        with pytest.raises(StopIteration) as stop:
            running.send(None)
        assert stop.value.value is mode
        check()
        closed = generator("start")
        next(closed)
        closed.close()
        check()
        assert log == [mode, mode]
        failing = generator("start")
        next(failing)
        with pytest.raises(ZeroDivisionError):
            failing.throw(ZeroDivisionError())
        check()


def test_a_generator_may_be_delegated_to(torch):
    @torch.no_grad()
    def inner():
        got = yield torch.is_grad_enabled()
        return got

    def outer():
        return (yield from inner())

    running = outer()
    assert next(running) is False
    assert torch.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        running.send("value")
    assert stop.value.value == "value"


def test_a_generator_that_ignores_being_closed(torch):
    @torch.no_grad()
    def stubborn():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    running = stubborn()
    next(running)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        running.close()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "inference_mode"])
def test_without_parentheses(torch, name):
    mode = name == "enable_grad"

    @getattr(torch, name)
    def plain():
        return torch.is_grad_enabled()

    @getattr(torch, name)
    def generator():
        yield torch.is_grad_enabled()

    with opposite(torch, mode):
        assert plain() is mode
        assert list(generator()) == [mode]


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "inference_mode"])
def test_class(torch, name):
    mode = name == "enable_grad"
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @getattr(torch, name)()
        class Thing:
            def __init__(self, value):
                self.value, self.mode = value, torch.is_grad_enabled()

            def method(self):
                return torch.is_grad_enabled()

    with opposite(torch, mode):
        thing = Thing(3)
        assert (thing.value, thing.mode, thing.method()) == (3, mode, not mode)


def test_class_without_a_constructor(torch):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Thing:
            value = 3

    assert Thing().value == 3


def test_methods_of_every_kind(torch):
    class Thing:
        @torch.no_grad()
        def method(self):
            return self, torch.is_grad_enabled()

        @classmethod
        @torch.no_grad()
        def of_class(cls):
            return cls, torch.is_grad_enabled()

        @staticmethod
        @torch.no_grad()
        def static():
            return torch.is_grad_enabled()

    thing = Thing()
    assert thing.method() == (thing, False)
    assert thing.of_class() == (Thing, False)
    assert thing.static() is False


def test_plain_call(torch):
    try:
        torch.set_grad_enabled(False)
        assert not torch.is_grad_enabled()
        y = leaf(torch, 1.0) * 2
        torch.set_grad_enabled(True)
        assert torch.is_grad_enabled() and not y.requires_grad
    finally:
        torch.set_grad_enabled(True)


def test_decorating_with_set_grad_enabled_takes_effect_in_the_call_only(torch):
    @torch.set_grad_enabled(False)
    def inside():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert inside() is False
    assert torch.is_grad_enabled()


def test_nesting(torch):
    seen = []
    with torch.no_grad():
        with torch.enable_grad():
            with torch.set_grad_enabled(False):
                seen.append(torch.is_grad_enabled())
            seen.append(torch.is_grad_enabled())
            with torch.no_grad(), torch.no_grad():
                seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    assert seen == [False, True, False, False]
    assert torch.is_grad_enabled()


def test_one_object_may_be_used_again(torch):
    manager = torch.no_grad()
    for _ in range(2):
        with manager:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


def test_leaves_may_be_made_and_written_to_without_recording(torch):
    x = leaf(torch, [1.0, 2.0])
    with torch.no_grad():
        inside = torch.ones(2, requires_grad=True)
        x.add_(1)
        x[0] = 7.0
    assert inside.requires_grad and inside.is_leaf
    assert x.tolist() == [7.0, 3.0] and x.is_leaf and x._version == 2


def test_backward_works_without_recording(torch):
    x = leaf(torch, 3.0)
    y = x * x
    with torch.no_grad():
        y.backward()
    assert x.grad.item() == 6.0


def test_the_mode_belongs_to_a_thread(torch):
    seen = {}

    def work(key, make):
        seen[key, "at start"] = torch.is_grad_enabled()
        with make():
            barrier.wait(10)
            seen[key, "inside"] = torch.is_grad_enabled()
            barrier.wait(10)
        seen[key, "after"] = torch.is_grad_enabled()

    barrier = threading.Barrier(2)
    with torch.no_grad():
        threads = [threading.Thread(target=work, args=args)
                   for args in (("off", torch.no_grad), ("on", torch.enable_grad))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not torch.is_grad_enabled()
    assert seen == {("off", "at start"): True, ("off", "inside"): False, ("off", "after"): True,
                    ("on", "at start"): True, ("on", "inside"): True, ("on", "after"): True}


# --- Inference mode ------------------------------------------------------------------------------


def test_inference_tensors(torch):
    x = leaf(torch, [1.0, 2.0])
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        made, computed = torch.ones(2), x * 2
        made.add_(1)
        view = x.view(2)
    assert not torch.is_inference_mode_enabled()
    assert made.is_inference() and computed.is_inference() and not computed.requires_grad
    assert not x.is_inference() and not view.is_inference()
    assert made.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=r"Inference tensors do not track version counter."):
        made._version


def test_enable_grad_inside_inference_mode(torch):
    with torch.inference_mode(), torch.enable_grad():
        assert torch.is_grad_enabled()
        y = leaf(torch, 1.0) * 2
        assert not y.requires_grad and y.is_inference()


def test_leaving_inference_mode_inside_it(torch):
    with torch.inference_mode():
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
            y = leaf(torch, 1.0) * 2
            assert y.requires_grad and not y.is_inference()
        assert torch.is_inference_mode_enabled()
    y.backward()


def test_what_inference_tensors_refuse(torch):
    x = leaf(torch, [1.0, 2.0])
    with torch.inference_mode():
        made = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made
    assert (x + made).requires_grad  # nothing saved, nothing to refuse
    with pytest.raises(RuntimeError, match=r"Inplace update to inference tensor outside "
                       r"InferenceMode is not allowed."):
        made.add_(1)
    with pytest.raises(RuntimeError, match=r"Setting requires_grad=True on inference tensor "
                       r"outside InferenceMode is not allowed."):
        made.requires_grad_()
    normal = made.clone()
    assert not normal.is_inference()
    (x * normal).sum().backward()
    assert x.grad.tolist() == normal.tolist()


def test_writing_to_normal_tensors_in_inference_mode_counts(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    square = y * y
    with torch.inference_mode():
        y.add_(1)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
