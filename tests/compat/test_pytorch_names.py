"""Each public name of PyTorch is there, does nothing but accept its arguments, or is refused.

`tests/compat/pytorch_names.py` makes the table and counts.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from typing import Any

import pytest

from tests.compat import pytorch_names
from tests.support.engines import on_each_engine

#: Names that are there, at least, and the other kinds, at most.  After a change that makes the
#: counts better, write the new ones here.
THERE = 1977
AT_MOST = {"thin": 25, "refused": 363, "missing": 466}


def test_counts_of_names_only_get_better() -> None:
    found = {kind: len(paths) for kind, paths in pytorch_names.by_status().items()}
    worse = {kind: found[kind] for kind, most in AT_MOST.items() if found[kind] > most}
    assert not worse
    assert found["there"] >= THERE


def test_each_refused_name_has_its_reason() -> None:
    for path in pytorch_names.by_status()["refused"]:
        assert pytorch_names.left_out(path), path


@pytest.mark.slow
def test_the_table_is_of_the_installed_pytorch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("the table is made from PyTorch")
    text = pytorch_names.TABLE.read_text(encoding="utf-8")
    known = {line.partition(":")[0] for line in text.splitlines()}
    new = [line for line in pytorch_names.written().splitlines()
           if line.partition(":")[0] in known and line not in text.splitlines()]
    assert not new


@pytest.mark.parametrize("kind", ["there", "thin", "refused", "missing"])
def test_status_of_a_name(kind: str) -> None:
    paths = {"there": "optim.swa_utils.AveragedModel", "thin": "jit.export",
             "refused": "fft.rfft", "missing": "nn.no_such_name"}
    assert pytorch_names.status(paths[kind]) == kind


def averaged(torch: Any, **options: Any) -> list[list[float]]:
    """Return the state of a model averaged over three steps."""
    swa = import_module(torch.__name__ + ".optim.swa_utils")
    if "fn" in options:
        kind = options.pop("fn")
        options["multi_avg_fn" if "multi" in kind else "avg_fn"] = getattr(swa, kind)(0.75)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    model.load_state_dict({name: torch.arange(float(each.numel())).reshape(each.shape).to(
        each.dtype) for name, each in model.state_dict().items()})
    average = swa.AveragedModel(model, **options)
    for step in range(3):
        with torch.no_grad():
            for each in model.parameters():
                each.add_(step)
        model(torch.arange(8.0).reshape(4, 2))
        average.update_parameters(model)
    swa.update_bn([torch.arange(6.0).reshape(3, 2), (torch.ones(2, 2), 0)], average)
    assert average.module[1].momentum == 0.1
    return [each.reshape(-1).tolist() for each in average.state_dict().values()]


@pytest.mark.parametrize("options", [
    {}, {"use_buffers": True}, {"fn": "get_ema_avg_fn"}, {"fn": "get_ema_multi_avg_fn"},
    {"fn": "get_ema_multi_avg_fn", "use_buffers": True}], ids=str)
def test_averaged_models_agree_with_pytorch(options: Any) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    mine, theirs = averaged(import_module("minigrad"), **options), averaged(torch, **options)
    for one, other in zip(mine, theirs, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)


@on_each_engine
@pytest.mark.parametrize(("options", "rates"), [
    ({}, [0.987764, 0.952254, 0.896946, 0.827254]),
    ({"anneal_epochs": 3, "anneal_strategy": "linear"}, [0.833333, 0.666667, 0.5, 0.5]),
    ({"anneal_epochs": 0}, [0.5, 0.5, 0.5, 0.5])], ids=str)
def test_swalr(torch: Any, options: Any, rates: list[float]) -> None:
    swa = import_module(torch.__name__ + ".optim.swa_utils")
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = swa.SWALR(optimizer, 0.5, **options)
    found = []
    for _ in rates:
        optimizer.step()
        scheduler.step()
        found += scheduler.get_last_lr()
    assert found == pytest.approx(rates, abs=1e-6)
    for wrong in ({"anneal_strategy": "x"}, {"anneal_epochs": -1}, {"swa_lr": [0.1, 0.2]}):
        with pytest.raises(ValueError, match=r"must (be|have)"):
            swa.SWALR(optimizer, **{"swa_lr": 0.1, **wrong})
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        swa.get_ema_avg_fn(2)


@on_each_engine
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 5, 3)], ids=str)
def test_lowrank_decompositions(torch: Any, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(*shape[:-1], 2) @ torch.randn(*shape[:-2], 2, shape[-1])
    mean = torch.ones(shape)
    for (U, S, V), expected in (
            (torch.svd_lowrank(matrix, 2), matrix), (torch.svd_lowrank(matrix, 3, M=mean),
                                                     matrix - mean),
            (torch.pca_lowrank(matrix, 2), matrix - matrix.mean(-2, keepdim=True))):
        torch.testing.assert_close(U @ torch.diag_embed(S) @ V.mT, expected, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match=r"q\(=9\) must be non-negative"):
        torch.pca_lowrank(matrix, 9)


VALUES = {
    "torch.vander(torch.tensor([1, 2, 3]))": [[1, 1, 1], [4, 2, 1], [9, 3, 1]],
    "torch.vander(torch.tensor([1, 2]), 2, increasing=True)": [[1, 1], [1, 2]],
    "torch.zeros(2, 3).fill_diagonal_(1)": [[1, 0, 0], [0, 1, 0]],
    "torch.zeros(5, 2).fill_diagonal_(1, wrap=True)": [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]],
    "torch.zeros(2, 2, 2).fill_diagonal_(1)": [[[1, 0], [0, 0]], [[0, 0], [0, 1]]],
    "torch.index_put_(torch.zeros(2), (torch.tensor([0]),), torch.tensor(9.0))": [9, 0],
    "torch.arange(4).narrow_copy(0, 1, 2)": [1, 2],
    "torch.tensor([2.0], dtype=torch.float64).float_power_(3)": [8],
    "torch.func.functionalize(lambda a: a.clone().add_(1))(torch.zeros(1))": [1],
}


@on_each_engine
@pytest.mark.parametrize("expression", VALUES)
def test_values(torch: Any, expression: str) -> None:
    assert eval(expression, {"torch": torch}).tolist() == VALUES[expression]


@on_each_engine
def test_names_that_older_programs_use(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for name, args in (("igamma", (x,)), ("igammac", (x,)), ("polygamma", (1,))):
        assert getattr(x.clone(), name + "_")(*args).equal(getattr(x, name)(*args))
    with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype Float"):
        x.clone().float_power_(2)
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        x.clone().fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="must be of equal length"):
        torch.zeros(2, 3, 2).fill_diagonal_(1)
    assert torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last).dim_order() == (0, 2, 3, 1)
    assert torch.is_same_size(x, x + 1)
    assert not x.is_pinned()
    y = x.clone().requires_grad_() * 2
    assert torch.detach_(y).grad_fn is None
    types = import_module(torch.__name__ + ".return_types")
    assert isinstance(torch.ones(2).max(0), types.max)
    assert isinstance(torch.linalg.qr(torch.eye(2)), types.linalg_qr)
    with pytest.raises(AttributeError, match="no_such_name"):
        types.no_such_name  # it raises
    rows = torch.ones(3, 3, requires_grad=True)
    (rows * 2).fill_diagonal_(0).sum().backward()
    assert rows.grad.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]


@on_each_engine
def test_attention_kernels_can_be_chosen(torch: Any) -> None:
    attention = import_module(torch.__name__ + ".nn.attention")
    x = torch.ones(1, 2, 2)
    with attention.sdpa_kernel(attention.SDPBackend.MATH):
        assert torch.nn.functional.scaled_dot_product_attention(x, x, x).equal(x)
    with pytest.raises((AssertionError, TypeError)), attention.sdpa_kernel(3):
        pass


@on_each_engine
def test_trees(torch: Any) -> None:
    pytree = import_module(torch.__name__ + ".utils._pytree")
    found = torch.ones(2).max(0)
    tree = {"b": [1, (2, None)], "a": found, "c": (), "d": {}}
    leaves, structure = pytree.tree_flatten(tree)
    assert [each for each in leaves if isinstance(each, int | None)] == [1, 2, None]
    again = pytree.tree_unflatten(leaves, structure)
    assert again["b"] == tree["b"]
    assert type(again["a"]) is type(found)
    assert pytree.tree_structure([1, (2,)]) == pytree.tree_structure([3, (4,)])
    assert pytree.tree_structure([1]) != pytree.tree_structure((1,))
    assert pytree.tree_map(lambda a, b: a + b, [1, {"x": 2}], [3, {"x": 4}]) == [4, {"x": 6}]
    assert pytree.tree_map_only(int, str, [1, 2.0]) == ["1", 2.0]
    assert pytree.tree_leaves([1, [2]], is_leaf=lambda each: each == [2]) == [1, [2]]
    assert pytree.tree_all(bool, [1, (2,)])
    assert not pytree.tree_any(bool, [0, (0,)])
    with pytest.raises(ValueError, match="has length 1"):
        pytree.tree_unflatten([1], structure)
    with pytest.raises(ValueError, match="arity mismatch; expected 2, but got 1"):
        pytree.tree_map(max, [1, 2], [1])
    assert sys.modules[torch.__name__ + ".utils._pytree"] is pytree
