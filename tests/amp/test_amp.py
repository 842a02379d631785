"""Autocast and the gradient scaler; what autocast casts is PyTorch's choice, where installed."""

from __future__ import annotations

import contextvars
import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim

F = minigrad.nn.functional


def run_case(torch, name, dtype):
    """Return what one operation gives under autocast for inputs of a dtype."""
    functional = torch.nn.functional
    x = torch.tensor([[0.9, 0.5, 0.6, 0.7], [0.4, 0.8, 0.5, 0.6],
                      [0.3, 0.6, 0.9, 0.5], [0.5, 0.4, 0.3, 0.8]]).to(dtype)
    sign, classes = torch.ones(4), torch.tensor([0, 1, 2, 3])
    cases = {
        "mm": lambda: torch.mm(x, x), "matmul": lambda: x @ x,
        "bmm": lambda: torch.bmm(x[None], x[None]), "addmm": lambda: torch.addmm(x, x, x),
        "baddbmm": lambda: torch.baddbmm(x[None], x[None], x[None]),
        "addbmm": lambda: torch.addbmm(x, x[None], x[None]),
        "linear": lambda: functional.linear(x, x), "linear+": lambda: functional.linear(x, x, x[0]),
        "einsum": lambda: torch.einsum("ij,jk->ik", x, x),
        "conv1d": lambda: functional.conv1d(x[None], x[None]),
        "conv2d": lambda: functional.conv2d(x[None, None], x[None, None]),
        "conv_transpose2d": lambda: functional.conv_transpose2d(x[None, None], x[None, None]),
        "attention": lambda: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        "tensordot": lambda: torch.tensordot(x, x, 1),
        "prelu": lambda: functional.prelu(x, x[0, :1]),
        "mse_loss": lambda: functional.mse_loss(x, x), "l1_loss": lambda: functional.l1_loss(x, x),
        "smooth_l1_loss": lambda: functional.smooth_l1_loss(x, x),
        "huber_loss": lambda: functional.huber_loss(x, x),
        "kl_div": lambda: functional.kl_div(x, x, reduction="sum"),
        "bce": lambda: functional.binary_cross_entropy(x, x),
        "bce_logits": lambda: functional.binary_cross_entropy_with_logits(x, x),
        "poisson": lambda: functional.poisson_nll_loss(x, x),
        "soft_margin": lambda: functional.soft_margin_loss(x, x),
        "cross_entropy": lambda: functional.cross_entropy(x, classes),
        "nll_loss": lambda: functional.nll_loss(x, classes),
        "cosine_embedding": lambda: functional.cosine_embedding_loss(x, x, sign),
        "hinge": lambda: functional.hinge_embedding_loss(x, x),
        "margin_ranking": lambda: functional.margin_ranking_loss(x[0], x[0], x[0]),
        "triplet": lambda: functional.triplet_margin_loss(x, x, x),
        "multi_margin": lambda: functional.multi_margin_loss(x, classes),
        "prod": lambda: x.prod(), "prod(dim)": lambda: x.prod(1), "trace": lambda: x.trace(),
        "cdist": lambda: torch.cdist(x, x), "inverse": lambda: torch.linalg.inv(x),
        "cholesky": lambda: torch.linalg.cholesky(x @ x.t() + torch.eye(4)),
        "exp": lambda: x.exp(), "log": lambda: x.log(), "sqrt": lambda: x.sqrt(),
        "pow": lambda: x**2,
        "sum": lambda: x.sum(), "mean": lambda: x.mean(), "cumsum": lambda: x.cumsum(0),
        "softmax": lambda: x.softmax(1), "log_softmax": lambda: x.log_softmax(1),
        "logsumexp": lambda: x.logsumexp(1), "norm": lambda: x.norm(), "relu": lambda: x.relu(),
        "gelu": lambda: functional.gelu(x), "mv": lambda: x.mv(x[0]), "dot": lambda: x[0].dot(x[0]),
        "layer_norm": lambda: functional.layer_norm(x, (4,)),
        "batch_norm": lambda: functional.batch_norm(x, None, None, training=True),
        "max_pool2d": lambda: functional.max_pool2d(x[None], 2), "mul": lambda: x * x,
        "cosine_similarity": lambda: functional.cosine_similarity(x, x),
        "cat": lambda: torch.cat([x, x.float()]), "add": lambda: x + x.float(),
    }
    if name is None:
        return list(cases)
    with torch.autocast("cpu", dtype=torch.float16):
        return cases[name]()


@pytest.mark.parametrize("name", run_case(minigrad, None, minigrad.float32))
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_precision_is_pytorchs(name, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    if name == "cholesky" and dtype == "float16":
        pytest.skip("the sum of float16 and float32 is float32 before autocast sees it")
    theirs = run_case(torch, name, getattr(torch, dtype))
    ours = run_case(minigrad, name, getattr(minigrad, dtype))
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(ours.float().numpy(), theirs.float().numpy(), rtol=5e-3, atol=5e-3)


NETWORKS = {
    "convolutions": lambda nn: [nn.Conv1d(3, 4, 2), nn.BatchNorm1d(4), nn.ReLU(),
                                nn.Conv1d(4, 2, 2)],
    "transposed": lambda nn: [nn.ConvTranspose1d(3, 4, 2),
                              nn.ConvTranspose1d(4, 3, 2, bias=False)],
    "linear": lambda nn: [nn.Linear(5, 5), nn.LayerNorm(5), nn.GELU(),
                          nn.Linear(5, 2, bias=False)],
    "prelu": lambda nn: [nn.Linear(5, 5), nn.PReLU()],
    "attention": lambda nn: [nn.Linear(5, 4), lambda x: nn.functional.scaled_dot_product_attention(
        x, x.float(), x)],
    "transformer": lambda nn: [nn.Linear(5, 4), nn.TransformerEncoderLayer(
        4, 2, 8, dropout=0.0, batch_first=True)],
    "lstm": lambda nn: [nn.Linear(5, 4), nn.LSTM(4, 3, batch_first=True), lambda pair: pair[0]],
    "gru": lambda nn: [nn.Linear(5, 4), nn.GRU(4, 3, batch_first=True), lambda pair: pair[0]],
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_every_argument_of_a_function_is_cast(turned, named):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for library in (torch, minigrad):
        x, w, b = (library.ones(*s) for s in ((2, 3, 4), (4, 4), (4,)))
        x = x.transpose(0, 1) if turned else x
        with library.autocast("cpu", dtype=library.float16):
            y = (library.nn.functional.linear(input=x, weight=w, bias=b) if named
                 else library.nn.functional.linear(x, w, b))
            loss = (library.nn.functional.cross_entropy(input=y[0], target=y[0]) if named
                    else library.nn.functional.cross_entropy(y[0], y[0]))
        found.append([str(y.dtype), str(loss.dtype), loss.item()])
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_follow_one_another(name):
    """What one layer gives has the lower precision, the next one's weight has not."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for library in (torch, minigrad):
        layers = NETWORKS[name](library.nn)
        with library.autocast("cpu", dtype=library.float16):
            x = library.ones(2, 3, 5)
            for layer in layers:
                x = layer(x)
        x.float().sum().backward()
        slopes = [p.grad.dtype for layer in layers if isinstance(layer, library.nn.Module)
                  for p in layer.parameters()]
        found.append([str(x.dtype), tuple(x.shape), *map(str, slopes)])
    assert found[0] == found[1]


def test_gradients_come_back_in_the_weights_dtype():
    x = minigrad.rand(3, 4)
    net = nn.Linear(4, 2)
    with minigrad.autocast("cpu", dtype=minigrad.float16):
        out = net(x)
        loss = F.mse_loss(out, minigrad.zeros(3, 2))
    assert out.dtype is minigrad.float16 and loss.dtype is minigrad.float32
    loss.backward()
    assert net.weight.grad.dtype is minigrad.float32
    halves = (2 / 6 * out.detach().float()).t() @ x
    np.testing.assert_allclose(net.weight.grad.numpy(), halves.numpy(), rtol=5e-3, atol=1e-3)


def test_a_weight_is_cast_once_until_it_changes():
    w, x = minigrad.ones(2, 2, requires_grad=True), minigrad.ones(2, 2)
    with minigrad.autocast("cpu", dtype=minigrad.float16):
        first, second = x @ w, x @ w
        nodes = [out.grad_fn.next_functions[1][0] for out in (first, second)]
        assert nodes[0] is nodes[1] and nodes[0].name() == "ToCopyBackward0"
        with minigrad.no_grad():
            w += 1
        third = x @ w
    np.testing.assert_array_equal(third.detach().numpy(), 2 * first.detach().numpy())


def test_blocks_nest_and_end():
    x = minigrad.ones(2, 2)
    half = minigrad.autocast("cpu", dtype=minigrad.float16)
    with half:
        assert minigrad.is_autocast_enabled("cpu") and not minigrad.is_autocast_enabled("cuda")
        with minigrad.autocast("cpu", enabled=False):
            assert (x @ x).dtype is minigrad.float32
        assert (x @ x).dtype is minigrad.float16
    assert (x @ x).dtype is minigrad.float32 and not minigrad.is_autocast_enabled("cpu")
    assert minigrad._state.observers.count == 0

    @minigrad.autocast("cpu", dtype=minigrad.float16)
    def product():
        return x @ x

    assert product().dtype is minigrad.float16


def test_another_thread_is_not_concerned():
    found = []
    x = minigrad.ones(2, 2)
    with minigrad.autocast("cpu", dtype=minigrad.float16):
        thread = threading.Thread(target=lambda: found.append((x @ x).dtype))
        thread.start()
        thread.join()
    assert found == [minigrad.float32]


BFLOAT16 = {
    "autocast": lambda torch: torch.autocast("cpu", dtype=torch.bfloat16),
    "the CPU's": lambda torch: torch.autocast("cpu"),
    "method": lambda torch: torch.ones(2).bfloat16(),
    "to": lambda torch: torch.ones(2).to(torch.bfloat16),
    "to, by name": lambda torch: torch.ones(2).to(dtype=torch.bfloat16),
    "type": lambda torch: torch.ones(2).type(torch.bfloat16),
    "factory": lambda torch: torch.zeros(2, dtype=torch.bfloat16),
    "like": lambda torch: torch.zeros_like(torch.ones(2), dtype=torch.bfloat16),
    "tensor": lambda torch: torch.tensor([1.0], dtype=torch.bfloat16),
    "random": lambda torch: torch.randn(2, dtype=torch.bfloat16),
    "module": lambda torch: torch.nn.Linear(1, 1).to(torch.bfloat16),
    "module's": lambda torch: torch.nn.Linear(1, 1, dtype=torch.bfloat16),
    "sum": lambda torch: torch.ones(2).sum(dtype=torch.bfloat16),
    "softmax": lambda torch: torch.ones(2).softmax(0, dtype=torch.bfloat16),
    "default": lambda torch: torch.set_default_dtype(torch.bfloat16),
    "limits": lambda torch: torch.finfo(torch.bfloat16),
    "promotion": lambda torch: torch.promote_types(torch.bfloat16, torch.float32),
    "view": lambda torch: torch.ones(2, dtype=torch.int16).view(torch.bfloat16),
    "generators": lambda torch: torch.arange(3, dtype=torch.bfloat16),
    "full": lambda torch: torch.full((2,), 1.0, dtype=torch.bfloat16),
    "eye": lambda torch: torch.eye(2, dtype=torch.bfloat16),
    "new": lambda torch: torch.ones(2).new_zeros(2, dtype=torch.bfloat16),
}


@pytest.mark.parametrize("ask", BFLOAT16.values(), ids=BFLOAT16)
def test_who_asks_for_bfloat16_is_told_what_there_is(ask):
    with pytest.raises(NotImplementedError, match="minigrad has no bfloat16, because NumPy has "
                                                  "none: use torch.float16, in training with a "
                                                  "torch.amp.GradScaler, or torch.float32"):
        ask(minigrad)
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    try:
        ask(torch)  # which has it
    finally:
        torch.set_default_dtype(torch.float32)


def test_bfloat16_may_be_named_where_nothing_is_made():
    def told(torch):
        kind = torch.bfloat16
        x = torch.ones(2)
        with torch.autocast("cpu", dtype=kind, enabled=False):
            product = x @ x
        return [str(kind), kind.itemsize, kind.is_floating_point, kind.is_complex, kind.is_signed,
                x.dtype == kind, x.dtype in (torch.float16, kind), product.dtype == kind,
                torch.can_cast(torch.float32, kind), torch.can_cast(kind, torch.int64),
                str(torch.get_autocast_dtype("cpu")), torch.cuda.is_bf16_supported()]

    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert told(minigrad) == told(torch)
    assert minigrad.get_default_dtype() is minigrad.float32
    assert pickle.loads(pickle.dumps(minigrad.bfloat16)) is minigrad.bfloat16
    assert copy.deepcopy(minigrad.bfloat16) is minigrad.bfloat16


def test_unsupported_devices_and_dtypes_raise():
    with pytest.raises(NotImplementedError, match="on the CPU uses bfloat16 by defaul"):
        minigrad.autocast("cpu")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        minigrad.autocast(3)
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'tpu'"):
        minigrad.autocast("tpu")
    with pytest.warns(UserWarning, match="target dtype is not supported. Disabling"):
        block = minigrad.autocast("cpu", dtype=minigrad.float32)
    with block:
        assert not minigrad.is_autocast_enabled("cpu")


def test_without_a_gpu_cudas_is_off():
    if minigrad.cuda.is_available():
        pytest.skip("there is a GPU")
    for make in (lambda: minigrad.autocast("cuda"), minigrad.cuda.amp.autocast):
        with pytest.warns(UserWarning, match="CUDA is not available. Disabling"):
            block = make()
        with block:
            assert (minigrad.ones(1, 1) @ minigrad.ones(1, 1)).dtype is minigrad.float32
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        assert not minigrad.cuda.amp.GradScaler().is_enabled()


def trained(torch, gradients, **options):
    """Return weights and scales of steps whose losses have these slopes."""
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, **options)
    seen = []
    for slope in gradients:
        optimizer.zero_grad()
        scaler.scale((x * slope).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append((x.detach().numpy().tolist(), scaler.get_scale()))
    return seen, scaler.state_dict()


def test_the_scaler_is_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    slopes = [1.0, 2.0, math.inf, 1.0, math.nan, 0.5, 0.25, 1.0]
    options = {"growth_interval": 2, "growth_factor": 4.0, "backoff_factor": 0.25}
    ours, state = trained(minigrad, slopes, **options)
    theirs, their_state = trained(torch, slopes, **options)
    assert ours == theirs
    assert state == {k: float(v) if k == "scale" else v for k, v in their_state.items()}


@pytest.mark.parametrize("options", [
    {"growth_interval": 2, "growth_factor": 4 / 3, "backoff_factor": 0.3}, {"growth_interval": 1}])
def test_the_scale_is_rounded_and_stays_finite_as_pytorchs(options):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def scales(torch):
        x = torch.tensor([1.0], requires_grad=True)
        optimizer = torch.optim.SGD([x], lr=0.5)
        scaler, seen = torch.amp.GradScaler("cpu", init_scale=2.0**126, **options), []
        for slope in (0.0, 0.0, math.inf, 0.0, 0.0, 0.0, 0.0):
            x.grad = None
            scaler.scale((x * slope).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
        again = torch.amp.GradScaler("cpu")
        again.load_state_dict(scaler.state_dict())
        scaler.load_state_dict({**scaler.state_dict(), "scale": 3.0, "_growth_tracker": 1})
        return seen, again.get_scale(), scaler.state_dict()

    assert scales(minigrad) == scales(torch)


def test_what_a_scaler_says_is_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def told(torch):
        seen = []

        def ask(function):
            try:
                seen.append(str(function()))
            except (AssertionError, RuntimeError) as error:
                seen.append(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")

        x = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([x], lr=1.0)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for early in (scaler.update, lambda: scaler.unscale_(optimizer),
                      lambda: scaler.step(optimizer), scaler.get_scale, scaler.state_dict):
            ask(early)
        for kind in (torch.float16, torch.float32, torch.float64):
            for shape in ((), (2,)):
                seen.append(str(scaler.scale(torch.ones(shape, dtype=kind)).dtype))
        ask(scaler.update)
        ask(lambda: scaler.step(optimizer))  # without gradients
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        loss = scaler.scale((x * x).sum())
        loss.backward(retain_graph=True)
        scaler.step(optimizer)
        scaler.update(torch.tensor(3.0))
        ask(scaler.get_scale)
        ask(loss.backward)  # its scale has been written to
        ask(lambda: scaler.update(torch.tensor(2.0, requires_grad=True)))
        ask(lambda: scaler.update(torch.ones(2)))
        return seen

    assert told(minigrad) == told(torch)


def test_an_optimizer_may_look_for_infinities_itself():
    seen = []

    class Looking(optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((self.grad_scale, self.found_inf.item()))

    x = minigrad.ones(2, requires_grad=True)
    scaler, optimizer = minigrad.amp.GradScaler("cpu"), Looking([x], lr=1.0)
    for slope in (1.0, math.inf):
        x.grad = None
        scaler.scale((x * slope).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert seen == [(None, 0.0), (None, 1.0)] and not hasattr(optimizer, "found_inf")


def test_unscale_then_clip():
    x = minigrad.tensor([3.0, 4.0], requires_grad=True)
    optimizer, scaler = optim.SGD([x], lr=1.0), minigrad.amp.GradScaler("cpu", init_scale=16.0)
    scaler.scale((x * x).sum() / 2).backward()
    scaler.unscale_(optimizer)
    assert x.grad.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
        scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_([x], 1.0)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    scaler.update()
    np.testing.assert_allclose(x.detach().numpy(), [2.4, 3.2], rtol=1e-5)
    fresh = minigrad.amp.GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.get_scale() == 16.0


def test_half_gradients_are_refused():
    x = minigrad.ones(2, dtype=minigrad.float16, requires_grad=True)
    scaler, optimizer = minigrad.amp.GradScaler("cpu", init_scale=2.0), optim.SGD([x], lr=1.0)
    scaler.scale(x.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_a_scaler_that_is_off_changes_nothing():
    x = minigrad.ones(2, requires_grad=True)
    scaler, optimizer = minigrad.amp.GradScaler("cpu", enabled=False), optim.SGD([x], lr=1.0)
    scaler.scale(x.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert x.tolist() == [0.0, 0.0] and scaler.get_scale() == 1.0 and scaler.state_dict() == {}


def twice_product():
    """Return a `Function` whose methods say in which precision they run."""
    seen = []

    class Product(minigrad.autograd.Function):
        @staticmethod
        @minigrad.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            seen.append(str((a @ b).dtype))
            return (a @ b).float()

        @staticmethod
        @minigrad.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append(str((g @ b).dtype))
            return g @ b.T, a.T @ g

    return Product, seen


def test_backward_of_a_function_runs_as_its_forward_did():
    product, seen = twice_product()
    a, b = minigrad.ones(2, 2, requires_grad=True), minigrad.ones(2, 2)
    with minigrad.autocast("cpu", dtype=minigrad.float16):
        y = product.apply(a, b)
    y.sum().backward()
    product.apply(a, b).sum().backward()
    assert seen == ["torch.float16"] * 2 + ["torch.float32"] * 2
    assert a.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def cast_inputs(torch):
    """Return the dtypes that come to a `forward` which asks for float16, within and outside."""
    seen = []

    class Takes(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float16)
        def forward(ctx, nest, number, whole, double):
            seen.append([str(t.dtype) for t in (*nest["pair"], whole, double)]
                        + [number, torch.is_autocast_enabled("cpu"), ctx._fwd_used_autocast])
            return double * 1

    x = torch.ones(2)
    args = {"pair": (x, x)}, 3, torch.ones(2).long(), x.double()
    with torch.autocast("cpu", dtype=torch.float16):
        Takes.apply(*args)
    Takes.apply(*args)
    return seen


def test_inputs_are_cast_as_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert cast_inputs(minigrad) == cast_inputs(torch)
    for library in (minigrad, torch):
        for decorate in (library.amp.custom_fwd, library.amp.custom_bwd):
            with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<cl"):
                decorate(device_type=3)


#: Lines that switch autocast by hand, each with what is then seen.
BY_HAND = """
torch.set_autocast_dtype("cpu", torch.float16)
torch.set_autocast_enabled("cpu", True)
torch.set_autocast_enabled("cpu", False)
torch.set_autocast_enabled(False)
torch.set_autocast_enabled(3)
torch.set_autocast_enabled("cpu", 3)
torch.set_autocast_enabled("cpu")
torch.is_autocast_enabled(3)
torch.set_autocast_dtype("cpu", 3)
torch.set_autocast_cache_enabled(False)
torch.is_autocast_cache_enabled()
torch.set_autocast_cache_enabled(1)
torch.autocast_increment_nesting()
torch.set_autocast_cpu_enabled(True)
torch.is_autocast_cpu_enabled()
torch.set_autocast_cpu_enabled(1)
torch.set_autocast_cache_enabled(True)
torch.autocast_decrement_nesting()
torch.clear_autocast_cache()
torch.get_autocast_cpu_dtype()
torch.set_autocast_cpu_enabled(False)
torch.set_autocast_gpu_dtype(torch.bfloat16)
torch.get_autocast_gpu_dtype()
torch.set_autocast_gpu_dtype(3)
torch.set_autocast_gpu_dtype(torch.float16)
torch.set_autocast_cpu_dtype(torch.bfloat16)
""".strip().splitlines()


def steps_by_hand(torch):
    """Return the warnings, which PyTorch gives once each, and what each line changes."""
    x, warned, steps = torch.ones(2, 2), set(), []
    try:
        for line in BY_HAND:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    result = str(eval(line, {"torch": torch}))
                except (TypeError, RuntimeError) as error:
                    result = f"{type(error).__name__}: {error}"
            warned |= {str(each.message).partition(" (Triggered")[0] for each in told}
            with torch.autocast("cpu", dtype=torch.float16, enabled=False):
                inside = str((x @ x).dtype)
            steps.append((line, result, inside, str((x @ x).dtype),
                          torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled(),
                          str(torch.get_autocast_dtype("cpu"))))
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    return warned, steps


def test_it_is_switched_by_hand_as_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert steps_by_hand(minigrad) == steps_by_hand(torch)


def test_switches_within_a_block_end_with_it():
    x = minigrad.ones(2, 2)
    with minigrad.autocast("cpu", dtype=minigrad.float16):
        with minigrad.autocast("cpu", cache_enabled=False):  # the outer one's precision
            minigrad.set_autocast_enabled("cpu", False)
            assert (x @ x).dtype is minigrad.float32 and not minigrad.is_autocast_cache_enabled()
        assert (x @ x).dtype is minigrad.float16 and minigrad.is_autocast_cache_enabled()
    assert (x @ x).dtype is minigrad.float32


def test_another_thread_is_not_switched():
    seen = []
    minigrad.set_autocast_dtype("cpu", minigrad.float16)
    minigrad.set_autocast_enabled("cpu", True)
    try:
        thread = threading.Thread(target=lambda: seen.append(minigrad.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    finally:
        minigrad.set_autocast_enabled("cpu", False)
        minigrad.set_autocast_dtype("cpu", minigrad.bfloat16)
    assert seen == [False]


def test_ops_look_only_while_it_is_on_somewhere():
    before = minigrad._state.observers.count
    minigrad.set_autocast_dtype("cpu", minigrad.float16)
    minigrad.set_autocast_enabled("cpu", True)
    minigrad.set_autocast_enabled("cpu", True)
    context = contextvars.copy_context()
    minigrad.set_autocast_enabled("cpu", False)
    minigrad.set_autocast_dtype("cpu", minigrad.bfloat16)
    x = minigrad.ones(2, 2)
    assert minigrad._state.observers.count > before  # it is on in the copy
    assert (x @ x).dtype is minigrad.float32
    assert context.run(lambda: x @ x).dtype is minigrad.float16
    del context
    assert minigrad._state.observers.count == before


def test_there_is_no_switch_to_bfloat16():
    with pytest.raises(NotImplementedError, match="on the CPU uses bfloat16 by default"):
        minigrad.set_autocast_enabled("cpu", True)
    with (minigrad.autocast("cpu", dtype=minigrad.float16),
          pytest.raises(NotImplementedError, match="^minigrad has no bfloat16")):
        minigrad.set_autocast_dtype("cpu", minigrad.bfloat16)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_run_again_as_they_ran(use_reentrant):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for library in (minigrad, torch):
        checkpoint = library.utils.checkpoint.checkpoint
        weight = library.full((3, 3), 0.1, requires_grad=True)
        x = library.ones(2, 3, requires_grad=True)
        seen = []

        def run(x, library=library, weight=weight, seen=seen):
            y = library.relu(x @ weight) @ weight
            seen.append(str(y.dtype))
            return y.cos()

        with library.autocast("cpu", dtype=library.float16):
            y = checkpoint(run, x, use_reentrant=use_reentrant)
        y.float().sum().backward()
        found.append([seen, x.grad.tolist(), str(weight.grad.dtype)])
    assert found[0][0] == found[1][0] == ["torch.float16"] * len(found[0][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=2e-3)
    assert found[0][2] == found[1][2]
