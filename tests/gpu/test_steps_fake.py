"""Steps of optimizers by one kernel for all parameters, on imaginary GPUs, against the CPU's."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn, optim
from minigrad.backend import load_cuda
from tests.gpu import _cuda_on_host
from tests.gpu.test_cuda_fake import step_of, steps, transfers

pytestmark = pytest.mark.skipif(_cuda_on_host.COMPILER is None,
                                reason="the kernels' text needs a C++ compiler to run on a CPU")

OPTIONS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "sgd, decay": lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1, maximize=True),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1),
    "nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, maximize=True),
    "adam": lambda p: optim.Adam(p, lr=0.1, betas=(0.8, 0.9)),
    "adam, decay": lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1, maximize=True, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1, eps=1e-3, amsgrad=True),
    "adamw, maximize": lambda p: optim.AdamW(p, lr=0.1, maximize=True),
    "adamax": lambda p: optim.Adamax(p, lr=0.1, weight_decay=0.1),
    "nadam": lambda p: optim.NAdam(p, lr=0.1, momentum_decay=0.5, betas=(0.7, 0.9)),
    "nadam, decay": lambda p: optim.NAdam(p, lr=0.1, weight_decay=0.1, maximize=True,
                                          decoupled_weight_decay=True),
    "radam": lambda p: optim.RAdam(p, lr=0.1, betas=(0.8, 0.999), weight_decay=0.1),
    "radam, decay": lambda p: optim.RAdam(p, lr=0.1, betas=(0.8, 0.6), weight_decay=0.1,
                                          decoupled_weight_decay=True, maximize=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.1, alpha=0.7, weight_decay=0.1),
    "rmsprop, all": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.9, centered=True, maximize=True),
    "rmsprop, centered": lambda p: optim.RMSprop(p, lr=0.1, centered=True, eps=0.1),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.5, initial_accumulator_value=0.3),
}

#: Adam as it is counted on the device; on a CPU only one of the two options is accepted.
ON_DEVICE = {
    "capturable": lambda p, there: optim.Adam(p, lr=0.1, capturable=there, amsgrad=True),
    "fused": lambda p, there: optim.AdamW(p, lr=0.1, weight_decay=0.2, fused=True),
    "adamax": lambda p, there: optim.Adamax(p, lr=0.1, capturable=there),
    "nadam": lambda p, there: optim.NAdam(p, lr=0.1, momentum_decay=0.5, capturable=there),
    "radam": lambda p, there: optim.RAdam(p, lr=0.1, betas=(0.8, 0.9), capturable=there),
    "rmsprop": lambda p, there: optim.RMSprop(p, lr=0.1, momentum=0.5, capturable=there),
    "adadelta": lambda p, there: optim.Adadelta(p, eps=1e-3, capturable=there),
}

#: One block, a chunk and a bit, several chunks; nothing; one number.
SHAPES = [(3, 5), (1025,), (2, 1300), (0, 4), ()]


def close(found, expected, dtype):
    near = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}[dtype.name]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.detach().cpu().numpy().astype(float),
                                   theirs.detach().numpy().astype(float), rtol=near, atol=near)


def trained(place, make, dtype=torch.float32, shapes=SHAPES, count=3, turn=False):
    """Return parameters after some steps, the last of them without a gradient in the first."""
    rng = np.random.default_rng(0)

    def drawn(shape):
        return torch.tensor(rng.normal(size=shape), dtype=torch.float64)

    params = [drawn(shape).to(place, dtype) for shape in shapes]
    if turn:
        params = [p.transpose(0, -1) if p.ndim else p for p in params]
    params = [p.requires_grad_() for p in params]
    optimizer = make(params)
    for step in range(count):
        for parameter in params:
            grad = drawn(parameter.shape).to(place, dtype)
            parameter.grad = None if parameter is params[-1] and not step else grad
        optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("make", OPTIONS.values(), ids=OPTIONS)
def test_a_step_is_the_cpus(kernels, make, dtype):
    # The CPU rounds float16 after each operation, the kernels once, so they follow float32.
    half, shapes = dtype is torch.float16, SHAPES[1:]
    count = 3 if half else 8  # RAdam begins to adapt with the sixth step
    model = trained("cpu", make, torch.float32 if half else dtype, shapes, count)
    found = trained("cuda", make, dtype, shapes, count)
    close(found[0], model[0], dtype)
    for ours, theirs in zip(found[0], model[0], strict=True):
        state, expected = found[1].state[ours], model[1].state[theirs]
        assert list(state) == list(expected) and not any(
            state[n].is_cuda for n in ("step", "mu_product") if n in state)
        if not half:  # whose averages are rounded after each step
            close(state.values(), expected.values(), dtype)


@pytest.mark.parametrize("make", [OPTIONS["momentum"], OPTIONS["adamw"]])
def test_memory_may_have_another_order(kernels, make):
    shapes = [(3, 5), (7, 2), (4,)]
    params, optimizer = trained("cuda", make, torch.float64, shapes, turn=True)
    close(params, trained("cpu", make, torch.float64, shapes, turn=True)[0], torch.float64)
    assert not params[0].is_contiguous()
    assert not any(value.is_contiguous() for name, value in optimizer.state[params[0]].items()
                   if name != "step")


@pytest.mark.parametrize("make", [OPTIONS["momentum"], OPTIONS["adamw"]])
def test_a_gradient_may_be_a_view(kernels, make):
    results = []
    for place in ("cpu", "cuda"):
        x = torch.ones(3, 4, dtype=torch.float64, device=place, requires_grad=True)
        x.grad = torch.arange(4.0, dtype=torch.float64, device=place).expand(3, 4)
        make([x]).step()
        results.append(x.detach().cpu().numpy())
    np.testing.assert_allclose(*results, rtol=1e-12)


@pytest.mark.parametrize("make", ON_DEVICE.values(), ids=ON_DEVICE)
def test_steps_counted_on_the_device(kernels, make):
    found, optimizer = trained("cuda", lambda p: make(p, True), count=7)
    close(found, trained("cpu", lambda p: make(p, False), count=7)[0], torch.float32)
    counts = [optimizer.state[p]["step"] for p in found]
    assert all(c.is_cuda and c.dtype is torch.float32 for c in counts)
    assert [c.item() for c in counts] == [7, 7, 7, 7, 6]


def kernels_of(fake, optimizer):
    """Return what a step asked the device for."""
    fake.log.clear()
    optimizer.step()
    return fake.names()


def test_a_step_is_one_launch(fake):
    def named(name, **options):
        make = getattr(optim, name)
        return trained("cuda", lambda p: make(p, **options), shapes=[(3,), (1500,), (2, 2)])[1]

    assert kernels_of(fake, named("SGD", momentum=0.9)) == ["sgd"]
    assert kernels_of(fake, named("Adam")) == ["adam"] * 2, "for two different counts of steps"
    assert kernels_of(fake, named("Adagrad")) == ["adagrad"] * 2
    for name, kernel in (("AdamW", "adam"), ("RMSprop", "rmsprop"), ("Adadelta", "adadelta"),
                         ("Adamax", "adamax"), ("NAdam", "nadam"), ("RAdam", "radam")):
        names = kernels_of(fake, named(name, capturable=True))
        assert [n for n in names if n not in ("empty", "getitem")] == [f"{kernel}_numbers", kernel]


def test_many_arrays_take_several_launches(fake):
    shapes = [(n % 7, 3) for n in range(150)]
    optimizer = trained("cuda", OPTIONS["nesterov"], torch.float64, shapes)[1]
    assert kernels_of(fake, optimizer) == ["sgd"] * 3


@pytest.mark.parametrize("make", [ON_DEVICE["fused"], lambda p, there: OPTIONS["nesterov"](p)])
def test_many_arrays_are_the_cpus(kernels, make):
    shapes = [(n % 7, 3) for n in range(150)]
    found = trained("cuda", lambda p: make(p, True), torch.float64, shapes)[0]
    close(found, trained("cpu", lambda p: make(p, False), torch.float64, shapes)[0], torch.float64)


def test_nan_goes_its_way(kernels):
    for make in (OPTIONS["adamw"], OPTIONS["nesterov"]):
        results: list = []
        for place in ("cpu", "cuda"):
            x = torch.ones(4, device=place, requires_grad=True)
            optimizer = make([x])
            for value in (np.nan, 1.0):
                x.grad = torch.tensor([1.0, value, np.inf, -2.0], device=place)
                optimizer.step()
            results.append([x, *(optimizer.state[x][n] for n in optimizer.state[x] if n != "step")])
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_allclose(theirs.detach().cpu().numpy(), ours.detach().numpy(),
                                       rtol=1e-5)


def test_a_step_counts_as_a_write(fake):
    x = torch.ones(3, device="cuda", requires_grad=True)
    y = (x * x).sum()
    x.grad = torch.ones(3, device="cuda")
    optim.Adam([x]).step()
    assert x._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_step_that_is_broken_off_counts_as_a_write(fake, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyboardInterrupt

    x, w = (torch.ones(3, device="cuda", requires_grad=True) for _ in range(2))
    y = (x * x * w).sum()
    x.grad, w.grad = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
    optimizer = optim.SGD([x, w], momentum=0.9)
    monkeypatch.setattr(type(load_cuda()), "take_step", broken)
    with pytest.raises(KeyboardInterrupt):
        optimizer.step()
    assert [x._version, w._version] == [1, 1] and not optimizer.state
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_what_moves_by_rules_of_its_own_has_no_kernel(fake):
    class Backwards(optim.SGD):
        def update(self, group, array, grad, state):
            array += grad

    class Renamed(optim.SGD):
        pass

    for kind, expected, kernel in ((Backwards, 2.0, False), (Renamed, 0.5, True)):
        x = torch.ones(2, device="cuda", requires_grad=True)
        x.grad = torch.ones(2, device="cuda")
        assert ("sgd" in kernels_of(fake, kind([x], lr=0.5))) is kernel
        assert x.tolist() == [expected] * 2


@pytest.mark.parametrize("kind", [optim.Adam, optim.RMSprop])
def test_parameters_of_several_places(fake, kind):
    places = ("cpu", "cuda:0", "cuda:1")
    params = [torch.ones(2, device=place, requires_grad=True) for place in places]
    for parameter in params:
        parameter.grad = torch.full((2,), 2.0, device=parameter.device)
    kind(params, lr=0.1).step()
    assert params[1].cpu().tolist() == params[2].cpu().tolist()
    np.testing.assert_allclose(params[1].cpu().tolist(), params[0].tolist(), rtol=1e-6)
    assert torch.cuda.current_device() == 0


# -------------------------------------------------------------------- captured


def test_a_captured_step_of_adam_counts_on(kernels):
    def make(place):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
        net = net.to(place)
        optimizer = optim.AdamW(net.parameters(), lr=0.05, capturable=place == "cuda")
        x, y = torch.randn(5, 8).to(place), torch.tensor([0, 1, 2, 3, 0]).to(place)
        return step_of(net, optimizer, x, y)

    plain, repeat = make("cpu"), torch.cuda.graph(make("cuda"), warmup=2)
    expected = [plain().item() for _ in range(6)]
    np.testing.assert_allclose([repeat().item() for _ in range(4)], expected[2:], rtol=2e-4)


def test_a_rate_on_the_device_counts_in_a_graph(fake):
    for kind, options in ((optim.SGD, {}), (optim.Adam, {"capturable": True}),
                          (optim.Adamax, {"capturable": True})):
        lr = torch.tensor(0.5, device="cuda")
        x = torch.ones(2, device="cuda", requires_grad=True)
        x.grad = torch.ones(2, device="cuda")
        optimizer = kind([x], lr=lr, **options)
        repeat = torch.cuda.graph(optimizer.step, warmup=1)
        before = x.tolist()
        lr.fill_(0.25)
        fake.log.clear()
        repeat()
        assert not transfers(fake)
        np.testing.assert_allclose(x.tolist(), [v - 0.25 for v in before], rtol=1e-6)


def test_what_may_not_be_captured_says_so(fake):
    def captured(make):
        x = torch.ones(3, device="cuda", requires_grad=True)
        optimizer = make([x])
        torch.cuda.graph(lambda: ((x * x).sum().backward(), optimizer.step()))

    with pytest.raises(RuntimeError, match="Attempting CUDA graph capture of step.. for an "
                                           "instance of Adam but param_groups' capturable is "
                                           "False"):
        captured(optim.Adam)
    with pytest.raises(RuntimeError, match="Adagrad counts its steps on the host"):
        captured(optim.Adagrad)


def test_a_cpu_has_nothing_to_capture():
    for kind in (optim.Adam, optim.Adamax, optim.RMSprop):
        x = torch.ones(2, requires_grad=True)
        optimizer = kind([x], capturable=True)
        optimizer.step()  # without a gradient nothing is looked at
        x.grad = torch.ones(2)
        with pytest.raises(AssertionError, match="If capturable=True, params and state_steps must "
                                                 "be on supported devices"):
            optimizer.step()


def test_a_state_goes_from_the_host_to_the_device(kernels):
    first, before = trained("cuda", lambda p: optim.Adam(p, lr=0.1), shapes=[(3,), (2, 2)])
    params = [p.detach().clone().requires_grad_() for p in first]
    after = optim.Adam(params, lr=0.1, capturable=True)
    groups = before.state_dict()["param_groups"]
    state = copy.deepcopy(before.state_dict()["state"])  # a loaded state has the same tensors
    after.load_state_dict({"state": state, "param_groups": [{**groups[0], "capturable": True}]})
    for parameter, old in zip(params, first, strict=True):
        parameter.grad = old.grad
    before.step()
    after.step()
    close(params, [p.cpu() for p in first], torch.float32)
    assert [after.state[p]["step"].item() for p in params] == [4, 3]


# -------------------------------------------------------------------- scaling


def test_gradients_are_unscaled_by_one_launch(fake):
    params = [torch.zeros(n, device="cuda", requires_grad=True) for n in (3, 1500, 0)]
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    scaler.scale(params[0].sum())
    optimizer = optim.SGD(params, lr=1.0)
    for bad in (False, True):
        for parameter in params:
            parameter.grad = torch.full((len(parameter),), 8.0, device="cuda")
        if bad:
            params[1].grad[1400] = np.inf
        versions = [p.grad._version for p in params]
        fake.log.clear()
        scaler.step(optimizer)
        scaler.update()
        assert fake.names().count("unscale") == 1 and transfers(fake) == ["item"]
        assert [p.grad._version - v for p, v in zip(params, versions, strict=True)] == [1] * 3
        assert params[0].grad.tolist() == [2.0] * 3
        assert params[0].tolist() == [-2.0] * 3, "the second step is left out"
    assert scaler.get_scale() == 2.0


#: Steps that look on the device whether a gradient is infinite; on a CPU there are no such options.
LOOKING = {
    "sgd": lambda p, there: optim.SGD(p, lr=0.1, momentum=0.9, fused=there),
    **ON_DEVICE,
}

SLOPES = [1.0, 2.0, np.inf, 1.0, -1.0, np.nan, 0.5]


def scaled(place, make, slopes=SLOPES, watched=None):
    """Return the parameter, the optimizer and the scale after steps whose losses have slopes."""
    x = torch.tensor([1.0, 2.0], device=place, requires_grad=True)
    optimizer = make([x], place == "cuda")
    scaler = torch.amp.GradScaler(place, init_scale=8.0, growth_interval=2)
    for slope in slopes:
        optimizer.zero_grad()
        scaler.scale((x * slope).sum()).backward()
        if watched is not None:
            watched.log.clear()
        scaler.step(optimizer)
        scaler.update()
        if watched is not None:
            assert not transfers(watched), "the host is asked nothing"
    return x, optimizer, scaler


@pytest.mark.parametrize("make", LOOKING.values(), ids=LOOKING)
def test_a_scaler_asks_the_device_nothing(fake, make):
    found, optimizer, scaler = scaled("cuda", make, watched=fake)
    expected, model, theirs = scaled("cpu", make)
    close([found], [expected], torch.float32)
    assert scaler.state_dict() == theirs.state_dict()
    state = {name: value.cpu() for name, value in optimizer.state[found].items()}
    close(state.values(), model.state[expected].values(), torch.float32)
    if "step" in state:
        assert state["step"].item() == 5, "steps that are left out do not count"
    assert not hasattr(optimizer, "found_inf") and not hasattr(optimizer, "grad_scale")


class Twice(optim.AdamW):
    """A step of its own, which knows nothing of `found_inf`."""

    def step(self, closure=None):
        for parameter in self.param_groups[0]["params"]:
            parameter.data -= parameter.grad.data
        return super().step(closure)


@pytest.mark.parametrize("make", [
    lambda p, there: optim.Adam(p, lr=0.1), lambda p, there: optim.Adagrad(p, lr=0.1),
    lambda p, there: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, fused=there),
    lambda p, there: Twice(p, lr=0.1, capturable=there)])
def test_steps_counted_on_the_host_are_asked_for(fake, make):
    slopes = SLOPES[2:]  # dampening begins with the first step that is taken
    found, optimizer, scaler = scaled("cuda", make, slopes)
    expected, _, theirs = scaled("cpu", make, slopes)
    close([found], [expected], torch.float32)
    assert scaler.state_dict() == theirs.state_dict()
    scaler.scale(found.sum()).backward()
    fake.log.clear()
    scaler.step(optimizer)
    assert transfers(fake) == ["item"]


def test_an_infinity_on_one_device_stops_the_step_on_all(fake):
    params = [torch.ones(2, device=f"cuda:{n}", requires_grad=True) for n in range(2)]
    optimizer = optim.AdamW(params, lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    scaler.scale(params[0].sum())
    for parameter in params:
        parameter.grad = torch.ones(2, device=parameter.device)
    params[1].grad[0] = np.inf
    fake.log.clear()
    scaler.step(optimizer)
    scaler.update()
    assert not transfers(fake)
    assert [p.tolist() for p in params] == [[1.0, 1.0]] * 2 and scaler.get_scale() == 2.0
    assert [optimizer.state[p]["step"].item() for p in params] == [0.0, 0.0]


def test_a_step_with_a_scaler_may_be_captured(kernels):
    def make(place):
        w = torch.ones(3, device=place, requires_grad=True)
        x = torch.tensor([1.0, 2.0, 3.0], device=place)
        optimizer = optim.Adam([w], lr=0.05, capturable=place == "cuda")
        scaler = torch.amp.GradScaler(place, init_scale=16.0, growth_interval=3)

        def step():
            optimizer.zero_grad()
            loss = (w * x).square().sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss

        return step, x, w, scaler

    (plain, x, w, model), (step, there, found, scaler) = make("cpu"), make("cuda")
    repeat = torch.cuda.graph(step, warmup=2)
    plain(), plain()
    for factor in (1.0, 1.0, np.inf, 0.0, 1.0, 1.0, 1.0):
        values = torch.tensor([1.0, 2.0, 3.0]) * factor if factor else torch.ones(3)
        x.copy_(values)
        there.copy_(values.cuda())
        np.testing.assert_allclose(repeat().item(), plain().item(), rtol=1e-5)
        assert scaler.get_scale() == model.get_scale()
    close([found], [w], torch.float32)


def test_training_goes_on_as_on_the_cpu(fake):
    def make(params):
        return optim.AdamW(params, lr=0.01, fused=True)

    np.testing.assert_allclose(steps("cuda", make, 4), steps("cpu", make, 4), rtol=2e-4)
