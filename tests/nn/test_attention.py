"""Attention: against its plain formula and PyTorch, its masks, its edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.autograd import grad
from minigrad.backend.kernels_attention import empty_like_rows, row_maxima
from minigrad.nn.functional import scaled_dot_product_attention
from tests import _oracle
from tests.support.arrays import host
from tests.support.programs import assert_same, error, plain

RNG = np.random.default_rng(0)


def real(*shape: int) -> np.ndarray:
    return RNG.uniform(-2.0, 2.0, shape)


def leaf(*shape: int) -> Any:
    return minigrad.from_numpy(real(*shape)).requires_grad_()


# -------------------------------------------------------------------- scaled_dot_product_attention


@pytest.mark.parametrize("mask", [None, "causal", "added"])
def test_it_is_its_plain_formula(mask: str | None) -> None:
    query, key, value = leaf(2, 3, 5, 4), leaf(2, 3, 5, 4), leaf(2, 3, 5, 2)
    added = {"causal": np.triu(np.full((5, 5), -np.inf), 1), "added": real(2, 1, 5, 5),
             None: np.zeros(())}[mask]
    scores = query @ key.transpose(-2, -1) / math.sqrt(4) + minigrad.from_numpy(added)
    plain = scores.softmax(-1) @ value
    given = minigrad.from_numpy(added) if mask == "added" else None
    fused = scaled_dot_product_attention(query, key, value, given, is_causal=mask == "causal")
    results = []
    for output in (fused, plain):
        first = grad((output * output).sum(), [query, key, value], create_graph=True)
        second = grad(sum((g * g).sum() for g in first), [query, key, value])
        results.append([output, *first, *second])
    for ours, wanted in zip(*results, strict=True):
        _oracle.assert_close(host(ours), host(wanted), 1e-9, 1e-9, "result")


# Shapes of query, key and value, mask as a recipe, and further arguments.
CASES: dict[str, tuple[tuple[tuple[int, ...], ...], Any, dict[str, Any]]] = {
    "plain": (((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 2)), None, {}),
    "matrices": (((5, 4), (6, 4), (6, 2)), None, {"scale": 0.3}),
    "causal": (((2, 5, 4), (2, 5, 4), (2, 5, 4)), None, {"is_causal": True}),
    "causal, fewer queries": (((3, 4), (5, 4), (5, 2)), None, {"is_causal": True}),
    "causal, fewer keys": (((5, 4), (3, 4), (3, 2)), None, {"is_causal": True}),
    "bool mask": (((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)), lambda: RNG.random((5, 6)) < 0.7, {}),
    "floating mask": (((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)), lambda: real(2, 1, 5, 6), {}),
    "batches broadcast": (((2, 3, 5, 4), (1, 3, 6, 4), (6, 4)), None, {}),
    "grouped queries": (((2, 4, 5, 3), (2, 2, 6, 3), (2, 2, 6, 3)), None, {"enable_gqa": True}),
    "scale 0": (((5, 4), (6, 4), (6, 2)), None, {"scale": 0.0}),
    "one key": (((5, 4), (1, 4), (1, 2)), None, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    shapes, recipe, options = CASES[name]
    arrays, mask = [real(*shape) for shape in shapes], recipe and recipe()
    results = []
    for package in (minigrad, torch):
        leaves = [package.from_numpy(a.copy()).requires_grad_() for a in arrays]
        given = None if mask is None else package.from_numpy(mask.copy())
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            output = package.nn.functional.scaled_dot_product_attention(*leaves, given, **options)
        first = package.autograd.grad((output * output).sum(), leaves, create_graph=True)
        second = package.autograd.grad(sum((g * g).sum() for g in first), leaves)
        results.append([output, *first, *second])
    for ours, wanted in zip(*results, strict=True):
        assert ours.shape == wanted.shape
        _oracle.assert_close(host(ours), host(wanted), 1e-8, 1e-8, name)


def test_a_mask_that_requires_grad_gets_one() -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    arrays = [real(2, 5, 4), real(2, 6, 4), real(2, 6, 3), real(5, 6)]
    results = []
    for package in (minigrad, torch):
        leaves = [package.from_numpy(a.copy()).requires_grad_() for a in arrays]
        output = package.nn.functional.scaled_dot_product_attention(*leaves)
        results.append(package.autograd.grad((output * output).sum(), leaves))
    for ours, wanted in zip(*results, strict=True):
        _oracle.assert_close(host(ours), host(wanted), 1e-9, 1e-9, "gradient")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_drops_pytorchs_weights(dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    arrays = [real(2, 2, 5, 4).astype(dtype) for _ in range(3)]
    results = []
    for package in (minigrad, torch):
        package.manual_seed(3)
        operands = [package.from_numpy(a) for a in arrays]
        results.append(host(package.nn.functional.scaled_dot_product_attention(
            *operands, dropout_p=0.5)))
    _oracle.assert_close(*results, 1e-5, 1e-6, "output")


ERRORS = [
    "attend(torch.ones(4), torch.ones(3, 4), torch.ones(3, 4))",
    "attend(torch.ones(2, 4), torch.ones(3, 4), torch.ones(3, 4).double())",
    "attend(*[torch.ones(3, 4)] * 3, torch.ones(3, 3), is_causal=True)",
    "attend(*[torch.ones(3, 4)] * 3, torch.ones(3, 3).long())",
    "attend(*[torch.ones(1, 3, 4)] * 3, torch.ones(3, 2))",
    "attend(torch.ones(1, 2, 4), torch.ones(1, 3, 5), torch.ones(1, 3, 4))",
    "attend(torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 2, 4))",
    "attend(torch.ones(1, 4, 2, 4), *[torch.ones(1, 3, 3, 4)] * 2, enable_gqa=True)",
    "attend(*[torch.ones(3, 4)] * 3, dropout_p=1.5)",
]


@pytest.mark.parametrize("source", ERRORS)
def test_errors_are_pytorchs(source: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    raised = []
    for package in (minigrad, torch):
        attend = package.nn.functional.scaled_dot_product_attention
        with pytest.raises(Exception) as error:
            eval(source, {"torch": package, "attend": attend})
        raised.append((type(error.value), str(error.value)))
    assert raised[0] == raised[1]


def test_who_may_see_nothing_gets_zeros_and_gives_no_gradient() -> None:
    query, key, value = leaf(3, 4), leaf(5, 4), leaf(5, 2)
    seen = minigrad.ones(3, 5, dtype=minigrad.bool)
    seen[1] = False
    output = scaled_dot_product_attention(query, key, value, seen)
    assert output[1].tolist() == [0.0, 0.0]
    for create_graph in (False, True):
        for g in grad(output.sum(), [query, key, value], retain_graph=True,
                      create_graph=create_graph):
            assert g.isfinite().all()
    assert not grad(output.sum(), query)[0][1].any()


def test_large_scores_do_not_overflow() -> None:
    query, key = (minigrad.tensor([[1e4], [-1e4]], requires_grad=True) for _ in range(2))
    output = scaled_dot_product_attention(query, key, minigrad.eye(2))
    assert output.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    output.sum().backward()
    assert not query.grad.any()


def test_no_copy_is_needed_to_join_the_heads() -> None:
    heads = [leaf(2, 5, 3, 4).transpose(1, 2) for _ in range(3)]
    output = scaled_dot_product_attention(*heads)
    assert output.transpose(1, 2).is_contiguous()
    (g,) = grad(output.sum(), heads[0])
    assert g.transpose(1, 2).is_contiguous()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 65])
def test_maxima_of_rows(size: int) -> None:
    x = real(3, size)
    before = x.copy()
    assert (row_maxima(np, x) == x.max(-1, keepdims=True)).all()
    assert (x == before).all()


def test_arrays_laid_out_alike() -> None:
    x = np.empty((2, 3, 4, 5)).transpose(0, 2, 1, 3)
    assert empty_like_rows(np, x, (2, 4, 3, 6)).transpose(0, 2, 1, 3).flags.c_contiguous
    by_columns = np.empty((3, 4)).T
    assert empty_like_rows(np, by_columns, (4, 2)).flags.c_contiguous


# -------------------------------------------------------------------- modules


def test_heads_with_weights_and_fused_agree() -> None:
    attention = nn.MultiheadAttention(6, 3, batch_first=True).double()
    x, mask = leaf(2, 4, 6), nn.Transformer.generate_square_subsequent_mask(4).double()
    padding = minigrad.tensor([[False] * 4, [False, False, False, True]])
    for options in ({}, {"attn_mask": mask}, {"attn_mask": mask, "is_causal": True},
                    {"key_padding_mask": padding}):
        results = []
        for need_weights in (True, False):
            output, weights = attention(x, x, x, need_weights=need_weights, **options)
            assert (weights is not None) == need_weights
            results.append([output, *grad((output * output).sum(), [x, *attention.parameters()])])
        for with_weights, fused in zip(*results, strict=True):
            _oracle.assert_close(host(with_weights), host(fused), 1e-10, 1e-10, str(options))


def test_masks_of_two_kinds_are_pointed_out() -> None:
    attention, x = nn.MultiheadAttention(4, 2), minigrad.ones(3, 2, 4)
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        attention(x, x, x, key_padding_mask=minigrad.zeros(2, 3, dtype=minigrad.bool),
                  attn_mask=minigrad.zeros(3, 3))


@pytest.mark.parametrize("norm_first", [True, False])
def test_masked_transformers_are_pytorchs(norm_first: bool) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    source, target = real(5, 2, 8), real(4, 2, 8)
    results = []
    for package in (minigrad, torch):
        package.manual_seed(1)
        if package is torch:
            with pytest.warns(UserWarning, match="enable_nested_tensor"):
                net = package.nn.Transformer(8, 2, 2, 2, 16, 0.1, norm_first=norm_first).double()
        else:
            net = package.nn.Transformer(8, 2, 2, 2, 16, 0.1, norm_first=norm_first).double()
        x, y = (package.from_numpy(a.copy()).requires_grad_() for a in (source, target))
        causal = package.nn.Transformer.generate_square_subsequent_mask(4, dtype=package.float64)
        padding = package.tensor([[False] * 5, [False, False, False, True, True]])
        package.manual_seed(2)
        output = net(x, y, tgt_mask=causal, src_key_padding_mask=padding,
                     memory_key_padding_mask=padding, tgt_is_causal=True)
        grads = package.autograd.grad((output * output).sum(), [x, y, *net.parameters()])
        results.append([output, *grads])
    for ours, wanted in zip(*results, strict=True):
        _oracle.assert_close(host(ours), host(wanted), 1e-4, 1e-5, "result")


def test_wrong_sizes_are_refused() -> None:
    net = nn.Transformer(4, 2, 1, 1, 8)
    with pytest.raises(RuntimeError, match="the batch number of src and tgt must be equal"):
        net(minigrad.ones(3, 2, 4), minigrad.ones(3, 1, 4))
    with pytest.raises(RuntimeError, match="the feature number of src and tgt must be equal"):
        net(minigrad.ones(3, 2, 4), minigrad.ones(3, 2, 5))


# -------------------------------------------------------------------- multi_head_attention_forward


def function_arguments(t: Any, **changes: Any) -> dict[str, Any]:
    """Return arguments of `multi_head_attention_forward`: 5 queries, 3 keys, 2 samples, 2 heads."""

    def part(*shape: int, first: float = -1.0) -> Any:
        count = int(np.prod(shape))
        values = np.linspace(first, 1, count) + 0.3 * np.arange(count) % 1
        return t.from_numpy(values.reshape(shape))

    given: dict[str, Any] = {
        "query": part(5, 2, 4), "key": part(3, 2, 4), "value": part(3, 2, 4, first=-2.0),
        "embed_dim_to_check": 4, "num_heads": 2, "in_proj_weight": part(12, 4),
        "in_proj_bias": part(12), "bias_k": None, "bias_v": None, "add_zero_attn": False,
        "dropout_p": 0.0, "out_proj_weight": part(4, 4), "out_proj_bias": part(4)}
    shaped = {name: part(*value) if isinstance(value, tuple) else value
              for name, value in changes.items()}
    return given | shaped


FUNCTION_CASES: dict[str, dict[str, Any]] = {
    "as it is": {}, "no weights": {"need_weights": False},
    "weights of each head": {"average_attn_weights": False},
    "no biases": {"in_proj_bias": None, "out_proj_bias": None},
    "learnt keys": {"bias_k": (1, 1, 4), "bias_v": (1, 1, 4), "add_zero_attn": True},
    "learnt keys of one dimension": {"bias_k": (4,), "bias_v": (4,)},
    "apart": {"use_separate_proj_weight": True, "q_proj_weight": (4, 4), "key": (3, 2, 5),
              "k_proj_weight": (4, 5), "v_proj_weight": (4, 4)},
    "static keys": {"static_k": (4, 6, 2), "static_v": (4, 6, 2)},
    "static keys, no weights": {"static_k": (4, 6, 2), "static_v": (4, 6, 2),
                                "need_weights": False},
    "dropout": {"dropout_p": 0.5}, "dropout, not training": {"dropout_p": 0.5, "training": False},
    "added mask": {"attn_mask": (5, 3)}, "a mask for each head": {"attn_mask": (4, 5, 3)},
    "causal": {"attn_mask": (5, 3), "is_causal": True, "need_weights": False},
    "padding": {"key_padding_mask": (2, 3), "add_zero_attn": True},
    "no batch": {"query": (5, 4), "key": (3, 4), "value": (3, 4), "key_padding_mask": (3,)},
    "other output": {"out_proj_weight": (3, 4), "out_proj_bias": (3,)},
    # errors
    "other features": {"embed_dim_to_check": 5}, "not divisible": {"num_heads": 3},
    "key and value differ": {"value": (4, 2, 4)}, "no weight": {"in_proj_weight": None},
    "apart, one missing": {"use_separate_proj_weight": True, "q_proj_weight": (4, 4)},
    "apart, other shape": {"use_separate_proj_weight": True, "q_proj_weight": (4, 4),
                           "k_proj_weight": (4, 3), "v_proj_weight": (4, 4)},
    "apart, other bias": {"use_separate_proj_weight": True, "q_proj_weight": (4, 4),
                          "in_proj_bias": (9,), "k_proj_weight": (4, 4), "v_proj_weight": (4, 4)},
    "apart, other length": {"use_separate_proj_weight": True, "value": (4, 2, 4)},
    "bias_k alone": {"bias_k": (1, 1, 4)}, "bias_v alone": {"bias_v": (1, 1, 4)},
    "bias and static key": {"bias_k": (1, 1, 4), "bias_v": (1, 1, 4), "static_k": (4, 6, 2)},
    "bias and static value": {"bias_k": (1, 1, 4), "bias_v": (1, 1, 4), "static_v": (4, 6, 2)},
    "static key of another batch": {"static_k": (3, 6, 2)},
    "static value of another size": {"static_v": (4, 6, 3)},
    "no causal mask": {"is_causal": True}, "mask of another size": {"attn_mask": (3, 5)},
    "mask of another batch": {"attn_mask": (3, 5, 3)}, "mask of one dimension": {"attn_mask": (5,)},
    "padding of another size": {"key_padding_mask": (2, 4)},
    "padding of another batch": {"key_padding_mask": (3, 3)},
    "padding of one dimension": {"key_padding_mask": (3,)},
    "four dimensions": {"query": (1, 5, 2, 4)}, "key without batch": {"key": (3, 4)},
}


@pytest.mark.parametrize("name", FUNCTION_CASES)
def test_the_function_does_what_it_does_in_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for t in (minigrad, torch):
        given = function_arguments(t, **FUNCTION_CASES[name])
        leaves = [v.requires_grad_() for v in given.values() if hasattr(v, "requires_grad_")]
        t.manual_seed(0)

        def attend(t: Any = t, given: Any = given, leaves: Any = leaves) -> Any:
            result, weights = t.nn.functional.multi_head_attention_forward(**given)
            (result * result).sum().backward()
            return [result, weights, [leaf.grad for leaf in leaves]]

        results.append(plain(attend()) if error(attend) == ["none"] else error(attend))
    assert_same(*results)


@pytest.mark.parametrize("changes", [{}, {"need_weights": False}])
def test_masks_of_truth_hide_as_infinity_does(changes: dict[str, Any]) -> None:
    hidden = np.triu(np.ones((5, 3)), 1) > 0
    results = []
    for mask in (hidden, np.where(hidden, -np.inf, 0.0)):
        given = function_arguments(minigrad, attn_mask=minigrad.from_numpy(mask), **changes)
        results.append(minigrad.nn.functional.multi_head_attention_forward(**given)[0].tolist())
    assert results[0] == results[1]
