"""Convolution through cuDNN's frontend, as far as it goes without cuDNN: what it is asked for."""

from __future__ import annotations

import sys
import threading
from inspect import signature

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.backend import dnn, load_cuda
from minigrad.backend import numpy_backend as xp
from tests.gpu import _cuda_on_host, _fake_cudnn
from tests.gpu.test_kernels_on_host import CONVOLUTIONS

pytestmark = pytest.mark.skipif(_cuda_on_host.COMPILER is None,
                                reason="what cuDNN refuses is done by kernels that need a compiler")
NAMES = ["conv_fprop", "conv_dgrad", "conv_wgrad"]


@pytest.fixture
def cudnn(fake):
    with _fake_cudnn.installed() as library:
        yield library


def ran(machine):
    """The nodes that cuDNN was given, in their order."""
    return [name for name in machine.names() if name in NAMES]


def three(kernels, case, dtype=np.float32):
    """Return what a convolution and its gradients give, and what NumPy's kernels give."""
    x_shape, w_shape, stride, padding, dilation, groups = case
    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=s).astype(dtype) for s in (x_shape, w_shape, w_shape[:1]))
    options = (stride, padding, dilation, groups)
    y = xp.conv_forward(*(a.astype(np.float64) for a in (x, w, b)), *options)
    g = rng.normal(size=y.shape).astype(dtype)
    dx, dw, db, dg = (kernels.from_host(a) for a in (x, w, b, g))
    found = (kernels.conv_forward(dx, dw, db, *options),
             kernels.conv_grad_input(dg, dw, x_shape, *options),
             kernels.conv_grad_weight(dg, dx, w_shape, *options))
    return found, (y, xp.conv_grad_input(g, w, x_shape, *options),
                   xp.conv_grad_weight(g, x, w_shape, *options))


def check(found, expected, rtol=2e-5, atol=2e-5):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.host, theirs, rtol=rtol, atol=atol)


def test_the_stand_in_has_the_real_parameters():
    _fake_cudnn.check_against_the_real_names()


def test_the_real_frontend_does_not_pool():
    """If it does one day, docs/en/gpu_appendix.md has to say something else."""
    real = pytest.importorskip("cudnn", reason="asks NVIDIA's frontend, where it is installed")
    assert not [n for n in dir(real.pygraph) if "pool" in n or "resample" in n]


def test_the_real_frontend_finds_what_we_describe_valid(fake):
    real = pytest.importorskip("cudnn", reason="asks NVIDIA's frontend, where it is installed")
    from minigrad.backend.cupy import dnn as ours

    if dnn.library() is None:
        pytest.skip("needs cuDNN itself")
    for method, parameters in _fake_cudnn.NAMES["pygraph"].items():
        assert set(parameters) <= set(signature(getattr(real.pygraph, method)).parameters), method
    for name in CONVOLUTIONS.keys() - {"empty batch"}:
        x_shape, w_shape, stride, padding, dilation, _ = CONVOLUTIONS[name]
        options = (stride, padding, dilation)
        y_shape = (x_shape[0], w_shape[0],
                   *ours.conv_output_sizes(x_shape[2:], w_shape[2:], *options))
        for node, a, b, out in (("conv_fprop", x_shape, w_shape, y_shape),
                                ("conv_dgrad", y_shape, w_shape, x_shape),
                                ("conv_wgrad", x_shape, y_shape, w_shape)):
            arrays = (np.zeros(a, np.float16), np.zeros(b, np.float16))
            handle = real.Handle(0, 0, 0)  # of no library: validation asks it nothing
            graph = ours.graph_of(real, handle, node, *arrays, out, options)
            graph.validate()
            found = [graph.find_tensor(uid).get_dim() for uid in (1, 2, 3)]
            assert found == [ours.described(shape)[0] for shape in (a, b, out)]


@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions_are_described_and_placed(fake, cudnn, case):
    found, expected = three(load_cuda(), case)
    check(found, expected)
    assert ran(fake) == (NAMES if found[0].size else [])


def test_half_precision_is_summed_in_single(fake, cudnn):
    found, expected = three(load_cuda(), CONVOLUTIONS["plane"], np.float16)
    assert ran(fake) == NAMES and all(a.dtype == np.float16 for a in found)
    check(found, expected, rtol=4e-3, atol=4e-3)


def test_views_are_made_dense_first(fake, cudnn):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(4, 3, 3, 3))
    on = {"dtype": torch.float32, "device": "cuda"}
    got = nn.functional.conv2d(torch.tensor(x, **on).permute(0, 3, 1, 2),
                               torch.tensor(w, **on).flip(3), stride=(2, 1))
    expected = xp.conv_forward(x.transpose(0, 3, 1, 2), w[..., ::-1], None, (2, 1), (0, 0), (1, 1),
                               1)
    assert ran(fake) == ["conv_fprop"]
    np.testing.assert_allclose(got.cpu().numpy(), expected, rtol=1e-4, atol=1e-4)


def test_views_that_begin_anywhere_are_moved(fake, cudnn):
    x, w = torch.randn(3, 1, 5, 5), torch.randn(2, 1, 3, 3)
    got = nn.functional.conv2d(x.cuda()[1:], w.cuda())
    assert ran(fake) == ["conv_fprop"]
    np.testing.assert_allclose(got.cpu(), nn.functional.conv2d(x[1:], w), rtol=1e-4, atol=1e-4)


def test_a_plan_is_made_once_for_each_shape_and_device(fake, cudnn):
    layer = nn.Conv2d(2, 3, 3).cuda()
    for size in (5, 5, 6, 5):
        layer(torch.randn(1, 2, size, size, device="cuda"))
    assert len(cudnn.graphs) == 2 and len(ran(fake)) == 4 and len(cudnn.handles) == 1
    nn.Conv2d(2, 3, 3).cuda(1)(torch.randn(1, 2, 5, 5, device="cuda:1"))
    assert len(cudnn.graphs) == 3 and [h.device for h in cudnn.handles] == [0, 1]


def test_a_thread_has_a_handle_of_its_own_which_others_inherit(fake, cudnn):
    layer, x = nn.Conv2d(2, 3, 3).cuda(), torch.randn(1, 2, 5, 5, device="cuda")
    seen = []

    def convolve():
        layer(x)
        seen.append(cudnn.handles[:])

    layer(x)
    for _ in range(3):
        thread = threading.Thread(target=convolve)
        thread.start()
        thread.join()
    assert [len(handles) for handles in seen] == [2, 2, 2]


def test_only_so_many_plans_are_kept(fake, cudnn, monkeypatch):
    from minigrad.backend.cupy import dnn as kept

    monkeypatch.setattr(kept, "MOST_PLANS", 2)
    layer = nn.Conv1d(1, 1, 2).cuda()
    for size in (3, 4, 5, 3):
        layer(torch.randn(1, 1, size, device="cuda"))
    assert len(cudnn.graphs) == 4


def test_the_current_stream_is_used(fake, cudnn):
    layer, x = nn.Conv2d(2, 3, 3).cuda(), torch.randn(1, 2, 5, 5, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        layer(x)  # the stand-in compares the handle's stream with the current one
    assert cudnn.handles[0].stream == side.cuda_stream
    layer(x)
    assert cudnn.handles[0].stream == 0


def test_a_captured_step_repeats_it(fake, cudnn):
    layer, x = nn.Conv2d(2, 3, 3).cuda(), torch.randn(1, 2, 5, 5, device="cuda")
    repeat = torch.cuda.graph(lambda: layer(x) * 2, warmup=1)
    x.fill_(0.0)
    expected = (2 * layer.bias).view(1, 3, 1, 1).expand(1, 3, 3, 3)
    assert torch.equal(repeat(), expected)


@pytest.mark.parametrize("error", [_fake_cudnn.cudnnGraphNotSupportedError, NotImplementedError])
def test_convolutions_without_a_plan_go_to_our_own_kernels(fake, cudnn, error):
    cudnn.refused = lambda graph: error("no engine proposed a plan")
    for _ in range(2):  # and is asked for once
        check(*three(load_cuda(), CONVOLUTIONS["plane"]))
    assert not ran(fake) and len(cudnn.graphs) == 3


def test_a_failure_of_cudnn_warns(fake, cudnn):
    cudnn.refused = lambda graph: RuntimeError("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED")
    with pytest.warns(UserWarning, match="cuDNN failed, .*CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"):
        check(*three(load_cuda(), CONVOLUTIONS["plane"]))


def test_a_cudnn_that_cannot_work_is_told_of_once(fake, cudnn, monkeypatch):
    def fails():
        raise RuntimeError("cudnnHandle Create failed")

    monkeypatch.setattr(cudnn, "create_handle", fails)
    with pytest.warns(UserWarning, match="cuDNN is unusable, .*cudnnHandle Create failed"):
        check(*three(load_cuda(), CONVOLUTIONS["plane"]))
    check(*three(load_cuda(), CONVOLUTIONS["plane"]))
    assert not cudnn.graphs


def test_what_cudnn_is_not_asked_for(fake, cudnn):
    check(*three(load_cuda(), CONVOLUTIONS["plane"], np.float64))
    assert not ran(fake)
    # A gradient with fewer steps than would fit, as a transposed convolution may ask for.
    x = torch.randn(1, 2, 4, 4)
    for layer, asked in ((nn.ConvTranspose2d(2, 3, 3, output_padding=1, dilation=2), 0),
                         (nn.ConvTranspose2d(2, 3, 3, output_padding=1, stride=2), 1)):
        expected = layer(x).detach().numpy()
        found = layer.cuda()(x.cuda()).detach().cpu().numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert ran(fake) == ["conv_dgrad"] * asked
    with torch.backends.cudnn.flags(enabled=False):
        check(*three(load_cuda(), CONVOLUTIONS["plane"]))
    torch.backends.cudnn.enabled = False
    check(*three(load_cuda(), CONVOLUTIONS["plane"]))
    assert ran(fake) == ["conv_dgrad"]


def test_the_switches_choose_among_plans(fake, cudnn):
    layer, x = nn.Conv2d(2, 3, 3).cuda(), torch.randn(1, 2, 5, 5, device="cuda")
    expected = layer(x)
    notes = {"deterministic": "numerical_note.NONDETERMINISTIC",
             "allow_tf32": "numerical_note.TENSOR_CORE"}
    for switch, note in notes.items():
        with torch.backends.cudnn.flags(enabled=True, **{switch: switch == "deterministic"}):
            layer(x)
        assert cudnn.graphs[-1].deselected == [note]
        assert cudnn.graphs[0].deselected == []
    torch.backends.cudnn.benchmark = True
    fake.log.clear()
    assert torch.equal(layer(x), expected)
    assert cudnn.graphs[-1].policy == "build_plan_policy.ALL"
    tried = [more[0] for name, _, _, *more in fake.log if name == "conv_fprop"]
    assert tried[:4] == [1, 1, 2, 2] and tried[4] in (1, 2), "warmed up, timed, and the best taken"
    layer(x)
    assert ran(fake) == ["conv_fprop"] * 6


# -------------------------------------------------------------------- torch.backends.cudnn


def test_the_package_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cudnn", None)
    dnn.library.cache_clear()
    assert not torch.backends.cudnn.is_available() and torch.backends.cudnn.version() is None
    dnn.library.cache_clear()
    with _fake_cudnn.installed() as library:
        assert torch.backends.cudnn.is_available() and torch.backends.cudnn.version() == 92800
        dnn.library.cache_clear()
        monkeypatch.setattr(library, "backend_version", missing)
        assert not torch.backends.cudnn.is_available()


def missing():
    """What the real frontend says where cuDNN itself is not installed."""
    raise RuntimeError("Unable to find symbol cudnnGetVersion")


def test_switches_are_attributes_of_the_module():
    cudnn = torch.backends.cudnn
    before = {name: getattr(cudnn, name) for name in vars(dnn.switches)}
    assert before == {"enabled": True, "benchmark": False, "deterministic": False,
                      "allow_tf32": True}
    with cudnn.flags(enabled=True, benchmark=True, deterministic=True, allow_tf32=False):
        assert dnn.switches.key() == (True, True, False)
    assert {name: getattr(cudnn, name) for name in vars(dnn.switches)} == before
    with pytest.raises(AttributeError, match="has no attribute 'enable'"):
        _ = cudnn.enable


def test_the_environment_may_turn_it_off(monkeypatch):
    monkeypatch.setenv("MINIGRAD_CUDNN", "0")
    assert not dnn.Switches().enabled
    monkeypatch.delenv("MINIGRAD_CUDNN")
    assert dnn.Switches().enabled
