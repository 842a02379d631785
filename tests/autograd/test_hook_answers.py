"""What hooks return: the same effects, errors and texts as in PyTorch."""

import pytest

import minigrad
from tests.support.gathered import check_all


def leaf(t, *values):
    return t.tensor(values, requires_grad=True)


def after_accumulation(t, answer):
    x = leaf(t, 1.0, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: p if answer == "itself" else answer)
    (x * x).sum().backward()
    return x.grad


def of_a_tensor(t, answer):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: answer)
    y.sum().backward()
    return x.grad


def before_a_node(t, answer):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda g: answer)
    y.sum().backward()
    return x.grad


def after_a_node(t, answer):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: answer)
    y.sum().backward()
    return x.grad


def of_a_module(t, answer, register="register_full_backward_hook"):
    module = t.nn.Linear(2, 2, bias=False)
    t.nn.init.ones_(module.weight)
    getattr(module, register)(lambda m, *grads: answer)
    x = leaf(t, 1.0, 2.0)
    module(x).sum().backward()
    return x.grad


def before_a_module(t, answer):
    return of_a_module(t, answer, "register_full_backward_pre_hook")


def answers(t):
    one, three = t.ones(2), t.ones(3)
    return [None, 3, "a", True, one, three, t.ones(2, 1), t.ones(2, dtype=t.float64),
            t.ones(2, dtype=t.int64), (one,), [one], (one, one), (three,), (3,), (None,),
            (one, None), (None, None), (three, None), (one, one, one), "itself"]


def outcome(call, t, answer):
    try:
        return [round(number, 5) for number in call(t, answer).tolist()]
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("call", [after_accumulation, of_a_tensor, before_a_node, after_a_node,
                                  of_a_module, before_a_module])
def test_what_a_hook_returns_has_pytorchs_effect_or_error(call):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def check(pair):
        ours, theirs = (outcome(call, *each) for each in zip((minigrad, torch), pair, strict=True))
        if call is after_accumulation:  # PyTorch looks at dtype and shape before it refuses
            ours, theirs = ours[0], theirs[0]
        assert ours == theirs

    check_all(check, zip(answers(minigrad), answers(torch), strict=True))


def test_a_hook_after_accumulation_may_return_its_tensor_but_no_other():
    assert after_accumulation(minigrad, "itself").tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="post accumulate grad hooks should return None"):
        after_accumulation(minigrad, minigrad.ones(2))


def order(t):
    seen = []
    x = leaf(t, 2.0)
    y = x * 2
    x.register_hook(lambda g: seen.append("x1"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("after 1"))
    y.register_hook(lambda g: seen.append("y1"))
    y.grad_fn.register_prehook(lambda g: seen.append("before the node"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("after the node"))
    y.register_hook(lambda g: seen.append("y2"))
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("y3", y.grad is None)))
    x.register_hook(lambda g: seen.append("x2"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("after 2", p.grad.tolist())))
    y.sum().backward()
    return seen


def stopped(t):
    seen = []
    x = leaf(t, 2.0)
    x.register_hook(lambda g: seen.append(1))
    x.register_hook(lambda g: 1 / 0)
    x.register_hook(lambda g: seen.append(3))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("after"))
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()
    return seen, x.grad


@pytest.mark.parametrize("program", [order, stopped])
def test_hooks_run_in_pytorchs_order(program):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert program(minigrad) == program(torch)


UNPACKED = {
    "another length": lambda t: t.ones(3), "one element": lambda t: t.ones(1),
    "more dimensions": lambda t: t.ones(3, 2), "another shape": lambda t: t.ones(3, 4),
    "not a tensor": lambda t: 3, "nothing": lambda t: None,
}
FUNCTIONS = {"exp": lambda x: x.exp(), "square": lambda x: x * x, "sin": lambda x: x.sin()}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("unpacked", UNPACKED)
def test_an_unpack_hook_with_a_wrong_tensor_raises_pytorchs_error(function, unpacked):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def run(t, _):
        x = leaf(t, 1.0, 2.0)
        with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: UNPACKED[unpacked](t)):
            y = FUNCTIONS[function](x)
        y.sum().backward()
        return x.grad

    assert outcome(run, minigrad, None) == outcome(run, torch, None)
