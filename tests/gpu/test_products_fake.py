"""Products inside of captured graphs, which go to cuBLAS itself, and copies between devices."""

from __future__ import annotations

import re
import sys
from ctypes import c_int, c_longlong, c_size_t, c_void_p
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.backend import load_cuda
from tests.gpu import _cuda_on_host
from tests.gpu.test_cuda_fake import transfers

SHAPES = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((1, 4), (4, 1)),
          ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((3, 4), (6, 4, 2)), ((1, 3, 4), (6, 4, 2)), ((3, 0), (0, 2)), ((0, 3), (3, 2)),
          ((2, 3, 0), (2, 0, 2))]


def captured(work, warmup=1):
    """Return what a captured function gives once it is launched."""
    return torch.cuda.graph(work, warmup=warmup)()


@pytest.mark.parametrize("turned", ["", "left", "right", "both", "strided"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_are_numpys(kernels, shapes, turned):
    rng = np.random.default_rng(0)

    def moved(array, name):
        there = kernels.from_host(array)
        if turned in (name, "both") and array.ndim > 1:  # the same values, columns first
            return kernels.from_host(array.swapaxes(-1, -2).copy()).swapaxes(-1, -2)
        if turned == "strided":
            return kernels.stack([there, there], -1)[..., 0]
        return there

    for dtype in (np.float16, np.float32, np.float64):
        a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in shapes)
        left, right = moved(a, "left"), moved(b, "right")
        found = captured(lambda left=left, right=right: [
            kernels.matmul(left, right), left @ right,
            *([kernels.einsum("...i,ij->...j", left, right)] if right.ndim == 2 else [])])
        for array in found:
            assert array.dtype == dtype and array.shape == (a @ b).shape
            np.testing.assert_array_equal(kernels.to_host(array), a @ b)


def test_what_is_no_product_of_matrices_says_so(fake):
    xp = load_cuda()
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 3\) not aligned"):
        captured(lambda: xp.matmul(xp.ones((2, 3)), xp.ones((2, 3))))
    x = torch.arange(4, device="cuda").view(2, 2)
    assert captured(lambda: x @ x).tolist() == [[2, 3], [6, 11]], "whole numbers need no cuBLAS"


def test_types_are_promoted_and_results_may_have_a_place(kernels):
    xp = kernels
    a, b = xp.from_host(np.ones((2, 3), np.float32)), xp.from_host(np.ones((3, 2)))
    out = xp.zeros((2, 2)).T
    found = captured(lambda: (xp.matmul(a, b), xp.matmul(a, b, out=out)))
    assert found[0].dtype == np.float64 and found[1] is out
    assert xp.to_host(out).tolist() == [[3.0, 3.0]] * 2


def test_outside_of_a_capture_cupy_multiplies(fake):
    x = torch.ones(2, 2, device="cuda")
    with pytest.raises(ZeroDivisionError):
        captured(lambda: (x @ x, 1 / 0), warmup=0)
    captured(lambda: x @ x, warmup=0)
    assert fake.names().count("gemm") == 2
    x @ x
    sys.modules["cupy"].matmul(x._array, x._array)
    assert fake.names().count("gemm") == 2 and fake.names().count("matmul") == 2


def test_a_step_is_warmed_up_with_the_products_of_its_capture(fake):
    x = torch.ones(2, 2, device="cuda")
    torch.cuda.graph(lambda: x @ x, warmup=2)
    assert fake.names().count("gemm") == 3 and "matmul" not in fake.names()


def test_cublas_may_fail(fake, monkeypatch):
    from minigrad.backend.cupy import products

    monkeypatch.setattr(products.library(), "cublasGemmStridedBatchedEx", lambda *args: 15)
    x = torch.ones(2, 2, device="cuda")
    with pytest.raises(RuntimeError, match="cublasGemmStridedBatchedEx failed .* status 15"):
        captured(lambda: x @ x)


@pytest.mark.parametrize("make", [
    lambda: nn.LSTM(4, 3), lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0),
    lambda: nn.Bilinear(4, 4, 2)], ids=["lstm", "attention", "bilinear"])
def test_layers_may_be_captured(kernels, make):
    torch.manual_seed(0)
    layer, x = make(), torch.randn(3, 2, 4)

    def step(module, x):
        module.zero_grad()
        out = module(x, x) if isinstance(module, nn.Bilinear) else module(x)
        out = out[0] if isinstance(out, tuple) else out
        out.square().sum().backward()
        return out, [p.grad for p in module.parameters()]

    expected, slopes = step(layer, x)
    slopes = [slope.clone() for slope in slopes]
    layer, there = layer.cuda(), x.cuda()
    out, found = captured(lambda: step(layer, there))
    np.testing.assert_allclose(out.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-4,
                               atol=1e-5)
    for ours, theirs in zip(found, slopes, strict=True):
        np.testing.assert_allclose(ours.cpu().numpy(), theirs.numpy(), rtol=1e-3, atol=1e-4)


def test_many_tensors_are_joined_in_a_capture(kernels):
    pieces = [torch.full((2,), float(n), device="cuda") for n in range(70)]
    joined, stacked = captured(lambda: (torch.cat(pieces), torch.stack(pieces, 1)))
    assert joined.tolist() == [float(n) for n in range(70) for _ in range(2)]
    assert stacked.tolist() == [[float(n) for n in range(70)]] * 2


NAMES = {c_void_p: r"(cublasHandle_t|cudaStream_t|(const )?void\s*\*)",
         c_int: r"(int|cublas(Operation|ComputeType|GemmAlgo)_t|cudaDataType)",
         c_longlong: r"long long( int)?", c_size_t: "size_t"}


def test_the_functions_have_cublas_parameters(fake):
    """Compared with the header in NVIDIA's package of cuBLAS."""
    from minigrad.backend.cupy.products import SIGNATURES

    header = next((path for place in sys.path
                   for path in sorted((Path(place) / "nvidia").glob("**/cublas_api.h"))), None)
    if header is None:
        pytest.skip("needs cuBLAS's header, cublas_api.h")
    text = header.read_text()
    for name, kinds in SIGNATURES.items():
        said = re.search(rf"{name}\s*\(([^)]*)\);", text)
        assert said, f"{name} is not in {header}"
        parameters = [re.sub(r"\s*\w+$", "", " ".join(p.split())) for p in said[1].split(",")]
        assert len(parameters) == len(kinds), (name, parameters)
        for kind, parameter in zip(kinds, parameters, strict=True):
            assert re.fullmatch(NAMES[kind], parameter), (name, parameter)
    assert re.search(r"CUBLAS_COMPUTE_32F\s*=\s*68\b", text)
    assert re.search(r"CUBLAS_COMPUTE_64F\s*=\s*70\b", text)
    assert re.search(r"CUBLAS_COMPUTE_32F_FAST_TF32\s*=\s*77\b", text)
    assert re.search(r"CUBLAS_GEMM_DEFAULT\s*=\s*-1\b", text)
    assert re.search(r"CUBLAS_OP_T\s*=\s*1\b", text)


@pytest.mark.skipif(_cuda_on_host.COMPILER is None, reason="kernels need a C++ compiler")
@pytest.mark.parametrize(("dtype", "allowed", "wanted"), [
    (torch.float32, True, 77), (torch.float32, False, 68), (torch.float16, True, 68),
    (torch.float64, True, 70)], ids=str)
def test_convolutions_round_to_tf32_where_they_may(fake, dtype, allowed, wanted):
    """And other products do not."""
    from minigrad.backend.cupy import products

    made = products.library().made
    x = torch.ones(2, 3, 5, 5, device="cuda", dtype=dtype, requires_grad=True)
    w = torch.ones(4, 3, 3, 3, device="cuda", dtype=dtype, requires_grad=True)
    with torch.backends.cudnn.flags(enabled=False, allow_tf32=allowed):
        torch.conv2d(x, w).sum().backward()
    assert made.sums == [wanted] * 3 and w.grad[0, 0, 0].tolist() == [18.0] * 3
    captured(lambda: w.detach()[0, 0] @ w.detach()[0, 0])
    assert set(made.sums[3:]) == {70 if dtype is torch.float64 else 68}


# -------------------------------------------------------------------- between devices


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x.permute(2, 0, 1), lambda x: x[:, 1:, ::2],
    lambda x: x[:1].expand(3, 3, 4), lambda x: x[:0]],
    ids=["dense", "turned", "gaps", "expanded", "empty"])
def test_any_view_moves_between_devices(fake, view):
    host = view(torch.arange(24.0).view(2, 3, 4))
    there = view(torch.arange(24.0).view(2, 3, 4).cuda()).cuda(1)
    assert there.device.index == 1 and there.cpu().tolist() == host.tolist()
    if host.permute(1, 2, 0).is_contiguous():
        assert there.stride() == host.stride()


def test_streams_of_two_devices_wait_for_each_other(fake):
    first, second = torch.cuda.Stream(0), torch.cuda.Stream(1)
    with torch.cuda.stream(first):
        x = torch.ones(3, device="cuda:0")
    with torch.cuda.stream(second), torch.cuda.stream(first):
        fake.log.clear()
        x.cuda(1)
    names = [entry[0] for entry in fake.log]
    at = names.index("copy between devices")
    waits = [(place, entry[3]) for place, entry in enumerate(fake.log) if entry[0] == "wait"]
    assert (second.cuda_stream in [ptr for place, ptr in waits if place < at]
            and first.cuda_stream in [ptr for place, ptr in waits if place > at])
    assert not transfers(fake)
