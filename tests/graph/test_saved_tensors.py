"""Version counters, the check of saved tensors, and hooks on what is saved."""

from __future__ import annotations

import pytest

from tests.autograd.test_function import function
from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


# --- Versions ------------------------------------------------------------------------------------


def test_every_write_counts_one(torch):
    x = torch.tensor([1.0, 2.0])
    assert x._version == 0
    x + 1
    assert x._version == 0
    for version, write in enumerate((
        lambda: x.add_(1), lambda: x.mul_(2), lambda: x.zero_(), lambda: x.fill_(3),
        lambda: x.__setitem__(0, 5.0), lambda: x.copy_(torch.ones(2)), lambda: x.__iadd__(1),
    ), 1):
        write()
        assert x._version == version


def test_views_share_the_counter(torch):
    x = torch.zeros(2, 3)
    views = [x.view(6), x[0], x.t(), x.view(6)[1:], x.expand(4, 2, 3), x[:, None]]
    x.add_(1)
    assert [v._version for v in views] == [1] * 6
    views[1].add_(1)
    views[3].mul_(2)
    assert [v._version for v in [x, *views]] == [3] * 7
    assert x[0]._version == 3


def test_detach_shares_and_data_does_not(torch):
    x = leaf(torch, [1.0, 2.0]) * 1
    detached, data = x.detach(), x.data
    detached.add_(1)
    assert (x._version, detached._version, data._version) == (1, 1, 0)
    data.add_(1)
    assert (x._version, data._version) == (1, 1)
    assert x.tolist() == [3.0, 4.0]
    assert not data.requires_grad and data.grad_fn is None


def test_assigning_data_keeps_identity_and_version(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    y.add_(1)
    node = y.grad_fn
    y.data = torch.tensor([7.0, 8.0, 9.0])
    assert y.tolist() == [7.0, 8.0, 9.0]
    assert y._version == 1 and y.grad_fn is node
    x.data = torch.tensor([5.0, 6.0])
    assert x.is_leaf and x.requires_grad and x.tolist() == [5.0, 6.0]


def test_a_copy_has_a_version_of_its_own(torch):
    x = torch.ones(2)
    copy = x.clone()
    x.add_(1)
    assert (x._version, copy._version) == (1, 0)


def test_results_that_share_nothing_start_at_zero(torch):
    x = torch.ones(2)
    x.add_(1)
    assert (x + 1)._version == 0 and (x * x)._version == 0


# --- The check -----------------------------------------------------------------------------------

WRITES = {
    "add_": lambda t, y: y.add_(1),
    "item": lambda t, y: y.__setitem__(0, 9.0),
    "view": lambda t, y: y[1:].mul_(2),
    "view of view": lambda t, y: y.view(2, 1)[0].zero_(),
    "detached": lambda t, y: y.detach().add_(1),
    "no_grad": lambda t, y: t.no_grad()(lambda: y.add_(1))(),
    "twice": lambda t, y: y.add_(1).sub_(1),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_saved_input_that_was_written_to(torch, name, create_graph):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    square = y * y
    WRITES[name](torch, y)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation "
                       r"has been modified by an inplace operation: \[torch.FloatTensor \[2\]\]"):
        torch.autograd.grad(square, x, torch.ones(2), create_graph=create_graph)


@pytest.mark.parametrize("name", WRITES)
def test_a_saved_output_that_was_written_to(torch, name):
    x = leaf(torch, [1.0, 2.0])
    y = x.exp()
    use = y.sum()
    WRITES[name](torch, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        use.backward()


@pytest.mark.parametrize("name", ["add_", "detached", "view"])
def test_a_write_before_the_saving_is_allowed(torch, name):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    WRITES[name](torch, y)
    expected = (2 * y).tolist()
    (by_y,) = torch.autograd.grad((y * y).sum(), y)
    assert by_y.tolist() == expected


def test_a_write_to_what_is_not_saved_is_allowed(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    total = y + y * 3
    y.add_(100)
    total.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_a_write_through_data_goes_unnoticed(torch):
    """That is what `.data` is for, and why it is dangerous."""
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    square = y * y
    y.data.fill_(10.0)
    square.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_the_message(torch):
    x = leaf(torch, [[1.0, 2.0]], dtype=torch.float64)
    y = x * 1
    square = y * y
    y.add_(1).add_(1)
    with pytest.raises(RuntimeError) as caught:
        square.sum().backward()
    assert str(caught.value) == (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.DoubleTensor [1, 2]], which is output 0 of Add, is at version 2; "
        "expected version 0 instead. Hint: enable anomaly detection to find the operation that "
        "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
        "check_nan=False)."
    )


def test_the_message_for_a_leaf_and_for_an_output(torch):
    w, x = leaf(torch, 2.0), leaf(torch, 3.0)
    product = x * w
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[\]\] is at version 1; "
                       "expected version 0 instead"):
        product.backward()
    Two = function(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    _, second = Two.apply(x)
    use = second * x
    second.detach().add_(1)
    with pytest.raises(RuntimeError, match=r"which is output . of Custom, is at version 1"):
        use.backward()


def test_reading_a_saved_value_checks_too(torch):
    x = leaf(torch, 2.0)
    y = x * 1
    square = y * y
    node, result = square.grad_fn, y.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        node._saved_self
    result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.grad_fn.next_functions[0][0]._saved_result


def test_after_the_error_the_rest_still_works(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    square = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert torch.is_grad_enabled()


# --- Hooks on saved tensors ----------------------------------------------------------------------


def packing(log, factor=1.0):
    """Return hooks that pack into a list and unpack, changed by a factor, from it."""

    def pack(tensor):
        log.append(("pack", tensor.tolist()))
        return [tensor.detach() * factor]

    def unpack(packed):
        log.append(("unpack", packed[0].tolist()))
        return packed[0]

    return pack, unpack


def test_register_hooks_on_inputs_and_outputs(torch):
    x, log = leaf(torch, [1.0, 2.0]), []
    y = x.square()
    y.grad_fn._raw_saved_self.register_hooks(*packing(log, 10.0))
    assert log == [("pack", [1.0, 2.0])]
    y.sum().backward()
    assert log[1:] == [("unpack", [10.0, 20.0])]
    assert x.grad.tolist() == [20.0, 40.0]
    z, log = leaf(torch, [0.0]).exp(), []
    z.grad_fn._raw_saved_result.register_hooks(*packing(log, 3.0))
    assert torch.autograd.grad(z, z.grad_fn.next_functions[0][0].variable)[0].tolist() == [3.0]
    assert log == [("pack", [1.0]), ("unpack", [3.0])]


def test_hooks_on_what_a_function_saved(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x, x * 2)
        return x * x

    x, log = leaf(torch, [3.0]), []
    y = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[1]).apply(x)
    _, second = y.grad_fn._raw_saved_tensors
    second.register_hooks(*packing(log, 10.0))
    y.backward()
    assert x.grad.tolist() == [60.0]
    assert log == [("pack", [6.0]), ("unpack", [60.0])]


def test_what_register_hooks_refuses(torch):
    y = leaf(torch, [1.0, 2.0]).square()
    saved = y.grad_fn._raw_saved_self
    with pytest.raises(TypeError):
        saved.register_hooks(1, 2)
    with pytest.raises(TypeError):
        saved.register_hooks(lambda t: t)
    saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match=r"Calling register_hooks on a saved tensor whose hooks "
                       r"have already been set. Hint: only one pair of hooks is allowed"):
        saved.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"Calling register_hooks on a saved tensor after it has "
                       r"been freed. Saved intermediate values of the graph are freed when"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_a_pack_hook_may_not_write(torch):
    y = leaf(torch, [1.0, 2.0]).square()
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t)


def test_unpack_has_to_give_a_tensor(torch):
    y = leaf(torch, [1.0, 2.0]).square()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: 3, lambda packed: packed)
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a "
                       "Tensor but got result of type int"):
        y.sum().backward()


def test_a_packed_copy_is_safe_from_writes(torch):
    x = leaf(torch, [1.0, 2.0])
    middle = x * 1
    y = middle.square()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.clone(), lambda t: t)
    middle.fill_(100.0)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_second_derivatives_through_hooks(torch):
    x = leaf(torch, [3.0])
    y = x * x * x
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        node._raw_saved_self.register_hooks(lambda t: t.detach().clone(), lambda t: t)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    assert slope.tolist() == [27.0]
    assert torch.autograd.grad(slope, x)[0].tolist() == [18.0]


def test_nobody_makes_saved_tensors_by_hand(torch):
    x = leaf(torch, [1.0])
    raw = (x * x).grad_fn._raw_saved_self
    assert type(raw).__name__ == "SavedTensor"
    with pytest.raises((TypeError, RuntimeError)):
        type(raw)()


# --- Hooks on everything that is saved -----------------------------------------------------------


def test_default_hooks_see_inputs_and_outputs(torch):
    x, log = leaf(torch, [2.0]), []
    with torch.autograd.graph.saved_tensors_hooks(*packing(log)):
        y = x * x
        z = y.exp()
    assert [kind for kind, _ in log] == ["pack"] * 3
    assert [values for _, values in log[:2]] == [[2.0], [2.0]]
    assert log[2][1] == z.tolist()
    z.backward()
    assert [kind for kind, _ in log[3:]] == ["unpack"] * 3
    assert x.grad.tolist() == pytest.approx([4 * 2.718281828**4])


def test_default_hooks_change_what_is_used(torch):
    x, w = leaf(torch, [2.0]), torch.tensor([3.0])
    with torch.autograd.graph.saved_tensors_hooks(*packing([], 10.0)):
        y = x * w
    (y + x * w).backward()
    assert x.grad.tolist() == [33.0]


def test_the_innermost_hooks_win(torch):
    outer, inner = [], []
    x = leaf(torch, [2.0])
    with torch.autograd.graph.saved_tensors_hooks(*packing(outer)):
        with torch.autograd.graph.saved_tensors_hooks(*packing(inner)):
            x.square()
        assert (len(outer), len(inner)) == (0, 1)
        x.square()
    x.square()
    assert (len(outer), len(inner)) == (1, 1)


def test_default_hooks_and_functions(torch):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(x, result)
        return result

    log = []
    x = leaf(torch, [0.0])
    with torch.autograd.graph.saved_tensors_hooks(*packing(log, 5.0)):
        y = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[1]).apply(x)
    assert [entry for entry in log if entry[0] == "pack"] == [("pack", [0.0]), ("pack", [1.0])]
    y.backward()
    assert x.grad.tolist() == [5.0]


def test_default_hooks_run_without_recording(torch):
    modes = []
    x = leaf(torch, [2.0])

    def noting(tensor):
        modes.append(torch.is_grad_enabled())
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(noting, noting):
        y = x.square()
    y.backward()
    assert modes == [False, False]


def test_second_derivatives_through_default_hooks(torch):
    x = leaf(torch, [3.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x * x * x).exp().log()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    assert slope.tolist() == pytest.approx([27.0])
    (curvature,) = torch.autograd.grad(slope, x)
    assert curvature.tolist() == pytest.approx([18.0], rel=1e-4)


def test_a_failing_pack_hook_leaves_the_mode_alone(torch):
    def fail(tensor):
        raise KeyError("pack")

    x = leaf(torch, [3.0])
    hooks = torch.autograd.graph.saved_tensors_hooks(fail, fail)
    with pytest.raises(KeyError, match="pack"), hooks:
        x.square()
    assert torch.is_grad_enabled()
    x.square().backward()
    assert x.grad.tolist() == [6.0]


# --- Whole texts, and what comes back from hooks ------------------------------------------------


def text_of(error, call):
    """Return the text of the error that a call raises."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_messages_about_inference_tensors(torch):
    with torch.inference_mode():
        made = torch.ones(2)
    x = leaf(torch, [1.0, 2.0])
    assert text_of(RuntimeError, lambda: x * made) == (
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make a "
        "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
        "`torch.inference_mode()`.")
    assert text_of(RuntimeError, lambda: made.add_(1)) == (
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
        "clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details.")


def test_messages_of_register_hooks(torch):
    y = leaf(torch, [1.0, 2.0]).square()

    def again():
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)

    assert text_of(RuntimeError, lambda: y.grad_fn._raw_saved_self.register_hooks(
        lambda t: t.mul_(2), lambda t: t)) == (
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
        "pack hook cannot be modified by in-place operations as this can lead to unexpected "
        "side-effects. Please open an issue if you need to perform in-place operations on the "
        "input to a pack hook.")
    y = leaf(torch, [1.0, 2.0]).square()
    again()
    assert text_of(RuntimeError, again) == (
        "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only "
        "one pair of hooks is allowed at a time.")
    y.sum().backward()
    assert text_of(RuntimeError, again) == (
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
        "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need "
        "to access saved variables after calling backward.")
    assert text_of(RuntimeError, y.sum().backward) == (
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward.")


@pytest.mark.parametrize("which", [0, 1])
def test_both_hooks_have_to_be_callable(torch, which):
    hooks = [lambda t: t, lambda t: t]
    hooks[which] = 3
    y = leaf(torch, [1.0, 2.0]).square()
    text = text_of(TypeError, lambda: y.grad_fn._raw_saved_self.register_hooks(*hooks))
    assert text.startswith("register_hooks(): incompatible function arguments. The following "
                           "argument types are supported:\n    ")
    if torch.__name__ == "minigrad":
        assert text.endswith("(pack_hook: Callable, unpack_hook: Callable)")


@pytest.mark.parametrize(("dtype", "name"), [
    ("float16", "torch.HalfTensor"), ("float32", "torch.FloatTensor"),
    ("float64", "torch.DoubleTensor"), ("int8", "torch.CharTensor"),
    ("int16", "torch.ShortTensor"), ("int32", "torch.IntTensor"), ("int64", "torch.LongTensor"),
    ("uint8", "torch.ByteTensor"), ("bool", "torch.BoolTensor"),
])
def test_the_message_names_each_dtype_as_pytorch_once_did(torch, dtype, name):
    saves = function(torch, lambda ctx, x, o: (ctx.save_for_backward(o), x * 1)[1],
                     lambda ctx, g: (g * ctx.saved_tensors[0], None))
    other = torch.ones(2, dtype=getattr(torch, dtype))
    y = saves.apply(leaf(torch, [1.0, 2.0]), other)
    other.fill_(0)
    if torch.__name__ == "torch" and dtype == "bool":
        name = "CPUBoolType"
    assert f"inplace operation: [{name} [2]] is at version 1;" in text_of(
        RuntimeError, y.sum().backward)


# That the mode is slow, and the trace, which has tests of its own.
@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in")
def test_the_hint_in_anomaly_mode(torch):
    y = leaf(torch, [1.0, 2.0]).exp()
    y.add_(1)
    assert text_of(RuntimeError, y.sum().backward).endswith(
        "is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).")
    with torch.autograd.set_detect_anomaly(True):
        y = leaf(torch, [1.0, 2.0]).exp()
        y.add_(1)
        assert text_of(RuntimeError, y.sum().backward).endswith(
            "is at version 1; expected version 0 instead. Hint: the backtrace further above shows "
            "the operation that failed to compute its gradient. The variable in question was "
            "changed in there or anywhere later. Good luck!")


def test_a_leaf_comes_back_from_its_hooks_as_a_leaf(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x.square()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    back = y.grad_fn._saved_self
    assert back.is_leaf and back.requires_grad and back.grad_fn is None
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    first.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_output_comes_back_with_its_counter(torch):
    y = leaf(torch, [1.0, 2.0]) * 1
    y.exp_()
    back = y.grad_fn._saved_result
    assert back._version == 1 and back.grad_fn is y.grad_fn
    with torch.no_grad():
        y.add_(1)
    assert back._version == 2
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1"):
        y.sum().backward()


def test_default_hooks_are_shown_an_input_with_its_history(torch):
    seen = []

    def pack(tensor):
        seen.append(tensor)
        return tensor.detach()

    x = leaf(torch, [1.0, 2.0])
    mid = x * 1
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        x.square()
        mid.square()
    assert seen[0] is x and seen[1] is mid


def test_a_handle_that_was_taken_before_takes_no_hooks_when_the_tensor_is_freed(torch):
    x = leaf(torch, [1.0, 2.0])
    y, z = x * x, x.exp()
    handles = [y.grad_fn._raw_saved_self, z.grad_fn._raw_saved_result]
    y.sum().backward()
    z.sum().backward()
    for handle in handles:
        with pytest.raises(RuntimeError, match="after it has been freed"):
            handle.register_hooks(lambda t: t, lambda t: t)


@pytest.mark.parametrize(("text", "shapes"), [
    ("torch.addmm(x[0, 0], y, x.T)", [(2, 3), (3, 2)]),
    ("torch.mv(x, y[0])", [(2, 3), (3,)]),
    ("x * y[0]", [(3,), (2, 3)]),
    ("torch.atan2(x, y[0])", [(3,), (2, 3)]),
    ("x ** y[0]", [(3,), (2, 3), (2, 3)]),
    ("torch.lerp(x, y[0], y[:, :1])", [(3,), (2, 3), (2, 1)]),
    ("torch.addcdiv(x, x[0], y[:, :1])", [(3,), (2, 1)]),
    ("torch.nn.functional.layer_norm(x, (3,), y[0], y[1])", [(3,), (2, 3), (3,), (2, 1), (2, 1)]),
    ("torch.nn.functional.conv1d(x[None], y[None])", [(1, 2, 3), (1, 2, 3)]),
    ("torch.nn.functional.max_pool2d(x[None], 2)", [(1, 2, 3), (1, 1, 1)]),
])
def test_hooks_see_inputs_in_the_order_of_their_names_then_outputs(torch, text, shapes):
    names = {"torch": torch, **{n: torch.rand(2, 3).requires_grad_() for n in "xy"}}
    packed, unpacked = [], []

    def note(log, tensor):
        log.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(
            lambda t: note(packed, t), lambda t: note(unpacked, t)):
        result = eval(text, names)
    assert packed == shapes
    result.sum().backward()
    assert unpacked == shapes
