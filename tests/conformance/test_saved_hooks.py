"""Saved tensors: what a node keeps, how it is seen, and hooks that keep something else."""

from __future__ import annotations

import pytest


def test_an_input_is_kept_as_it_is(leaf):
    a, b = leaf(2.0), leaf(3.0)
    y = a * b
    assert (y.grad_fn._saved_self is a, y.grad_fn._saved_other is b) == (True, True)


def test_an_output_is_rebuilt(torch, leaf):
    y = leaf(0.0).exp()
    kept = y.grad_fn._saved_result
    assert kept is not y
    assert (kept.tolist(), kept.grad_fn is y.grad_fn, kept._version) == (1.0, True, y._version)


def test_the_version_of_a_rebuilt_output_follows(torch, leaf):
    y = leaf(0.0).exp()
    kept = y.grad_fn._saved_result
    with torch.no_grad():
        y += 1
    assert (kept.tolist(), kept._version) == (2.0, 1)


def test_numbers_and_sizes_are_seen_too(leaf):
    x = leaf([[1.0, 2.0]])
    assert (x**3).grad_fn._saved_exponent == 3
    node = x.sum(0).grad_fn
    name = "_saved_self_sizes" if hasattr(node, "_saved_self_sizes") else "_saved_self_sym_sizes"
    assert tuple(getattr(node, name)) == (1, 2)


def test_saved_values_are_gone_after_the_pass(leaf):
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_self  # reading it is what raises


def test_a_saved_value_written_to_raises_when_it_is_read(leaf):
    x = leaf(2.0) * 1
    y = x * x
    x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self  # reading it is what raises


def test_an_unknown_saved_name_is_an_attribute_error(leaf):
    y = leaf(2.0) * 3
    with pytest.raises(AttributeError):
        y.grad_fn._saved_nothing  # reading it is what raises


def test_saved_tensors_cannot_be_made(torch):
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python"):
        torch.autograd.SavedTensor()


def test_hooks_stand_for_the_tensor(torch, leaf):
    packed, x = [], leaf(2.0)

    def pack(t):
        packed.append(t.tolist())
        return len(packed) - 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda i: torch.tensor(
            packed[i] * 100, dtype=torch.float64)):
        y = x * x
    y.backward()
    assert (packed, x.grad.tolist()) == ([2.0, 2.0], 400.0)


def test_outside_of_the_block_nothing_is_packed(torch, leaf):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
        pass
    leaf(2.0) * leaf(3.0)


def test_the_innermost_hooks_count(torch, leaf):
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(2.0)
    with hooks(lambda t: t * 10, lambda t: t), hooks(lambda t: t * 100, lambda t: t):
        y = x**2
    y.backward()
    assert x.grad.tolist() == 400.0


def test_the_unpack_hook_belongs_to_the_pack_hook(torch, leaf):
    hooks = torch.autograd.graph.saved_tensors_hooks
    x, log = leaf(2.0), []
    with hooks(lambda t: t, lambda t: log.append(1) or t):
        y = x**2
    with hooks(lambda t: t, lambda t: 1 / 0):
        y.backward()
    assert log == [1]


def test_an_unpack_hook_has_to_give_a_tensor(torch, leaf):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 1):
        y = leaf(2.0) ** 2
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of ty"):
        y.backward()


def test_a_pack_hook_may_not_write(torch, leaf):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t), \
            pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        (leaf(2.0) * 1) ** 2


def test_hooks_of_one_saved_tensor(torch, leaf):
    x = leaf(2.0)
    y = x**2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.tolist(), lambda v: torch.tensor(
        v * 10, dtype=torch.float64))
    y.backward()
    assert x.grad.tolist() == 40.0


def test_one_pair_of_hooks_for_one_saved_tensor(leaf):
    y = leaf(2.0) ** 2  # kept, for the saved tensor is a part of its node
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)


def test_hooks_come_too_late_for_what_is_freed(leaf):
    y = leaf(2.0) ** 2
    y.backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_hooks_have_to_be_callable(leaf):
    y = leaf(2.0) ** 2  # kept, for the saved tensor is a part of its node
    saved = y.grad_fn._raw_saved_self
    with pytest.raises(TypeError):
        saved.register_hooks(1, 2)


def test_hooks_see_what_a_function_saves(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = Keep.apply(x)
    y.backward()
    assert x.grad.tolist() == 20.0


def test_raw_saved_tensors_of_a_function(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(2.0)
    y = Keep.apply(x)
    (raw,) = y.grad_fn._raw_saved_tensors
    assert isinstance(raw, torch._C._autograd.SavedTensor)
    raw.register_hooks(lambda t: t, lambda t: t * 10)
    y.backward()
    assert x.grad.tolist() == 20.0


def test_a_second_derivative_through_hooks(torch, leaf):
    x = leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x**3
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
    assert (slope.tolist(), second.tolist()) == (12.0, 12.0)


def test_save_on_cpu_changes_no_gradient(torch, leaf):
    x = leaf(2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x * x
    y.backward()
    assert x.grad.tolist() == 12.0


def test_hooks_can_be_forbidden(torch, leaf):
    graph = torch.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        assert not torch._C._autograd._saved_tensors_hooks_is_enabled()
        with pytest.raises(RuntimeError, match="not here"), \
                graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass
    assert torch._C._autograd._saved_tensors_hooks_is_enabled()


def test_hooks_cannot_be_forbidden_where_some_are_active(torch, leaf):
    graph = torch.autograd.graph
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t), \
            pytest.raises(RuntimeError, match="not here"), \
            graph.disable_saved_tensors_hooks("not here"):
        pass


def test_a_failing_pack_hook_fails_the_forward(torch, leaf):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), \
            pytest.raises(ZeroDivisionError):
        leaf(2.0) ** 2


def test_hooks_know_nothing_of_other_threads(torch, leaf):
    from threading import Thread

    log = []
    with torch.autograd.graph.saved_tensors_hooks(log.append, lambda t: t):
        thread = Thread(target=lambda: leaf(2.0) ** 2)
        thread.start()
        thread.join()
    assert log == []


def test_saved_tensors_written_to_disk(torch, leaf, tmp_path):
    def pack(t):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        torch.save(t, path)
        return path

    x = leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, torch.load):
        y = x * x
    y.backward()
    assert x.grad.tolist() == 4.0
