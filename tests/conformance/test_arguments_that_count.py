"""Arguments that once were ignored or wrongly accepted: each counts, or is refused."""

from __future__ import annotations

import pytest

OVERLAP = "unsupported operation"


def test_normal_of_tensors_writes_to_out(torch):
    out = torch.zeros(3)
    torch.manual_seed(0)
    result = torch.normal(torch.arange(3.0), torch.ones(3), out=out)
    torch.manual_seed(0)
    assert result is out
    assert out.tolist() == torch.normal(torch.arange(3.0), torch.ones(3)).tolist()


def test_randn_into_strided_memory_draws_the_numbers_of_pytorch(torch):
    torch.manual_seed(0)
    out = torch.zeros(40)[::2]
    torch.randn(20, out=out)
    assert out[:4].tolist() == pytest.approx([1.5410, -0.2934, -2.1788, 0.5684], abs=1e-4)


@pytest.mark.parametrize("weight", [False, True])
def test_label_smoothing_with_every_target_ignored_has_no_gradient(torch, weight):
    x = torch.ones(2, 3, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(
        x, torch.tensor([-100, -100]), torch.ones(3) if weight else None, label_smoothing=0.1)
    loss.backward()
    assert loss.isnan()
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_class_probabilities_refuse_ignore_index(torch):
    x, chances = torch.zeros(2, 3), torch.full((2, 3), 1 / 3)
    cross_entropy = torch.nn.functional.cross_entropy
    with pytest.raises(RuntimeError, match="ignore_index is not supported for floating point"):
        cross_entropy(x, chances, ignore_index=0)
    assert cross_entropy(x, chances, ignore_index=-1).item() == pytest.approx(1.0986, abs=1e-4)


def test_rsub_of_two_tensors_has_two_gradients(torch, leaf):
    a, b = leaf(1.0), leaf(3.0)
    result = torch.Tensor.__rsub__(a, b)
    result.backward()
    assert (result.item(), a.grad.item(), b.grad.item()) == (2.0, -1.0, 1.0)


OVERLAPPING = {
    "index_select": lambda t, x: t.index_select(x, 0, t.tensor([2, 1, 0]), out=x[:3]),
    "take": lambda t, x: t.take(x, t.tensor([2, 1, 0]), out=x[:3]),
    "gather": lambda t, x: t.gather(x, 0, t.tensor([2, 1, 0]), out=x[:3]),
    "masked_select": lambda t, x: t.masked_select(x, x > 2, out=x[:3]),
    "kthvalue": lambda t, x: t.kthvalue(x, 2, out=(x[0], t.tensor(0))),
    "bernoulli": lambda t, x: t.bernoulli(x[:3].clamp_(0, 1), out=x[1:4]),
    "out itself": lambda t, x: t.take(x, t.tensor([2, 1, 0]), out=t.zeros(1).expand(3)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_out_that_overlaps_is_refused_before_the_first_write(torch, name):
    x = torch.arange(6.0)
    before = [0.0, 1.0, 1.0 if name == "bernoulli" else 2.0, 3.0, 4.0, 5.0]
    with pytest.raises(RuntimeError, match=OVERLAP):
        OVERLAPPING[name](torch, x)
    assert x.tolist() == before


@pytest.mark.parametrize("eps", [0.0, -1.0])
def test_batch_norm_refuses_eps_in_training_alone(torch, eps):
    norm = torch.nn.BatchNorm1d(3, eps=eps)
    with pytest.raises(ValueError, match="batch_norm eps must be positive during training"):
        norm(torch.ones(4, 3))
    assert norm.num_batches_tracked.item() == 1
    assert torch.nn.BatchNorm1d(3, eps=0.0).eval()(torch.ones(4, 3)).shape == (4, 3)


def test_a_hermitian_pseudoinverse_reads_the_lower_triangle(torch):
    given = torch.tensor([[1.0, 2.0], [30.0, 4.0]], dtype=torch.float64)
    full = torch.tensor([[1.0, 30.0], [30.0, 4.0]], dtype=torch.float64)
    found = torch.linalg.pinv(given, hermitian=True)
    assert torch.allclose(found @ full, torch.eye(2, dtype=torch.float64))
    one = torch.tensor([[2.0, 9.0], [0.0, 1.0]], dtype=torch.float64)
    assert torch.linalg.pinv(one, rtol=0.6, hermitian=True).tolist() == [[0.5, 0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="square"):
        torch.linalg.pinv(torch.ones(2, 3), hermitian=True)


# -------------------------------------------------------------------- channels last


def image(torch, *sizes):
    total = 1
    for n in sizes:
        total *= n
    numbers = torch.arange(float(total)).reshape(sizes)
    return numbers.contiguous(memory_format=torch.channels_last)


def test_memory_formats(torch):
    x = torch.ones(2, 4, 3, 5)
    strides = (60, 1, 20, 4)
    assert x.to(memory_format=torch.channels_last).stride() == strides
    assert x.clone(memory_format=torch.channels_last).stride() == strides
    assert torch.empty(2, 4, 3, 5, memory_format=torch.channels_last).stride() == strides
    assert torch.zeros_like(x, memory_format=torch.channels_last).stride() == strides
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert y.contiguous().stride() == x.stride()
    deep = torch.ones(2, 3, 2, 2, 2).contiguous(memory_format=torch.channels_last_3d)
    assert deep.stride() == (24, 1, 12, 6, 3)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(3).to(memory_format=torch.channels_last)


LAYERS = {
    "conv": lambda t, x: t.nn.functional.conv2d(x, t.ones(6, 4, 3, 3)),
    "pointwise": lambda t, x: t.nn.functional.conv2d(x, t.ones(6, 4, 1, 1), t.ones(6)),
    "groups": lambda t, x: t.nn.functional.conv2d(x, t.ones(6, 2, 3, 3), groups=2),
    "transposed": lambda t, x: t.nn.functional.conv_transpose2d(x, t.ones(4, 2, 3, 3)),
    "batch norm": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    "max pool": lambda t, x: t.nn.functional.max_pool2d(x, 2),
    "average pool": lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    "adaptive pool": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 2),
    "nearest": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2),
    "bilinear": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 1)),
    "cat": lambda t, x: t.cat([x, x], 1),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_keep_channels_last(torch, name):
    x = image(torch, 2, 4, 6, 6)
    y = LAYERS[name](torch, x)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(y, LAYERS[name](torch, x.contiguous()), rtol=1e-4, atol=1e-4)


def test_a_weight_with_channels_last_gives_them_to_the_result(torch):
    layer = torch.nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
    assert layer.bias.stride() == (1,)
    assert layer(torch.ones(2, 2, 5, 5)).stride() == (27, 1, 9, 3)


def test_dropout_after_a_convolution_with_channels_last_draws_in_their_order(torch):
    torch.manual_seed(0)
    convolved = torch.nn.functional.conv2d(image(torch, 1, 2, 2, 2) + 1, torch.ones(2, 2, 1, 1))
    torch.manual_seed(0)
    dropped = torch.nn.functional.dropout(convolved, 0.5)
    torch.manual_seed(0)
    flat = torch.nn.functional.dropout(torch.ones(8), 0.5)
    assert (dropped.permute(0, 2, 3, 1).flatten() != 0).tolist() == (flat != 0).tolist()


# -------------------------------------------------------------------- optimizers and func


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_loaded_state_is_that_of_the_state_dict(torch, name):
    p = torch.nn.Parameter(torch.ones(2))
    options = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    first, second = (getattr(torch.optim, name)([p], **options) for _ in range(2))
    p.sum().backward()
    first.step()
    state = first.state_dict()
    second.load_state_dict(state)
    assert state["state"][0]
    for key, value in state["state"][0].items():
        assert second.state[p][key] is value
    p.data = p.data.double()
    second.load_state_dict(state)
    for key, value in second.state[p].items():
        assert value.dtype is (torch.float32 if key == "step" else torch.float64)


def cumulated(x):
    return (x.sin() * x).cumsum(0) ** 2


@pytest.mark.parametrize("watched", [False, True])
def test_vmap_of_a_pullback_gives_the_jacobian(torch, watched):
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=watched)
    rows = torch.eye(3, dtype=torch.float64)
    _, pull = torch.func.vjp(cumulated, x)
    (found,) = torch.func.vmap(pull)(rows)
    assert found.requires_grad is watched
    assert torch.allclose(found, torch.autograd.functional.jacobian(cumulated, x.detach()))
    (nested,) = torch.func.vmap(torch.func.vmap(pull))(rows.reshape(1, 3, 3))
    assert torch.allclose(nested[0], found)


def test_grad_inside_vmap(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = cumulated(x)
    (found,) = torch.func.vmap(lambda row: torch.autograd.grad(y, x, row, retain_graph=True))(
        torch.eye(3, dtype=torch.float64))
    assert not found.requires_grad
    assert torch.allclose(found, torch.autograd.functional.jacobian(cumulated, x.detach()))


# -------------------------------------------------------------------- data and sizes


@pytest.mark.parametrize("data", [b"abc", [b"abc"], [[1, b"a"]]])
def test_bytes_are_no_data(torch, data):
    with pytest.raises(TypeError, match="invalid data type 'bytes'"):
        torch.tensor(data)


NO_SIZES = {
    "zeros": lambda t: t.zeros(True),
    "ones": lambda t: t.ones((True, 2)),
    "randn": lambda t: t.randn(True),
    "full": lambda t: t.full((True,), 2.0),
    "new_zeros": lambda t: t.ones(2).new_zeros(True),
    "reshape": lambda t: t.ones(1).reshape(True),
    "expand": lambda t: t.ones(1).expand(True),
}


@pytest.mark.parametrize("name", NO_SIZES)
def test_a_bool_is_no_size(torch, name):
    with pytest.raises(TypeError, match=rf"{name}\(\).*must be tuple of ints"):
        NO_SIZES[name](torch)


def test_a_shape_holds_ints(torch):
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 0 is 'str'\)"):
        torch.Size("a")
    with pytest.raises(TypeError, match=r"item 1 is 'float'"):
        torch.Size([1, 1.5])
    assert [type(n) for n in torch.Size([True, torch.tensor(2)])] == [int, int]
    assert repr(torch.Size([True])) == "torch.Size([1])"
