"""Each row of `tests.support.nn_cases` on minigrad and PyTorch, and by finite differences."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from tests._oracle import assert_close, central_difference_vjp
from tests.support.nn_cases import CALL_ERRORS, CASES, ERRORS, Case, made, names_in
from tests.support.slow import one_in, slow_but, slow_but_one_in

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch's own

Array = Any
MODES = ("train", "train", "eval")

ROWS = [pytest.param(case, id=case.source) for case in CASES]
CALLED = [pytest.param(case, id=case.source) for case in CASES if case.inputs]


def tensors_in(value: Any) -> Iterator[Any]:
    """Yield the tensors in nested tuples, lists and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif value is not None:
        yield value


def host(tensor: Any) -> Array:
    return None if tensor is None else tensor.numpy(force=True).copy()


def leaves_of(package: Any, module: Any, arrays: list[Array]) -> list[Any]:
    """Return a tensor for each input; floating ones require grad."""
    inputs = [package.from_numpy(np.array(a)) for a in arrays]
    return [t.requires_grad_() if t.is_floating_point() else t for t in inputs]


def weighted_sum(package: Any, outputs: list[Any]) -> Any:
    """Return the sum of all outputs with weights that tell their elements apart."""
    total = package.zeros((), dtype=package.float64)
    for output in outputs:
        if output.requires_grad:
            weights = np.cos(np.arange(output.numel())).reshape(tuple(output.shape))
            total = total + (output * package.from_numpy(np.asarray(weights))).sum()
    return total


def call(package: Any, case: Case, module: Any, inputs: list[Any]) -> list[Any]:
    """Call the module, the random numbers started anew, and return all output tensors."""
    package.manual_seed(5)
    given = [t.clone() if t.requires_grad else t for t in inputs]  # it may write to them
    return list(tensors_in(module(*given, **case.options(package))))


def run(package: Any, case: Case) -> dict[str, Array]:
    """Return outputs, first and second gradients in all modes, and the state afterwards."""
    module = case.make(package).double()
    found: dict[str, Array] = {}
    for step, mode in enumerate(MODES):
        getattr(module, mode)()
        inputs = leaves_of(package, module, case.arrays())
        outputs = call(package, case, module, inputs)
        named = {f"input {i}": t for i, t in enumerate(inputs) if t.requires_grad}
        named |= {n: p for n, p in module.named_parameters() if p.requires_grad}
        label = f"{step} {mode}"
        found |= {f"{label}: output {i}": host(o) for i, o in enumerate(outputs)}
        total = weighted_sum(package, outputs)
        if not named or not total.requires_grad:
            continue
        first = package.autograd.grad(total, list(named.values()), create_graph=case.second,
                                      allow_unused=True)
        found |= {f"{label}: gradient of {n}": host(g)
                  for n, g in zip(named, first, strict=True)}
        length = sum((g * g).sum() for g in first if g is not None)
        second = [None] * len(named)
        if case.second and length.requires_grad:
            second = package.autograd.grad(length, list(named.values()), allow_unused=True)
        found |= {f"{label}: second gradient of {n}": host(g)
                  for n, g in zip(named, second, strict=True)}
    return found | {f"state: {n}": host(t) for n, t in module.state_dict().items()}


def assert_same(ours: dict[str, Array], theirs: dict[str, Array], rtol: float) -> None:
    """Compare by name; a gradient that is missing is one of zeros."""
    assert list(ours) == list(theirs)
    for name, expected in theirs.items():
        given = ours[name]
        if given is None or expected is None:
            assert given is None or not given.any(), name
            assert expected is None or not expected.any(), name
            continue
        assert given.dtype == expected.dtype, name
        assert_close(given, expected, rtol, rtol * 0.1, name)


@pytest.mark.parametrize("case", CALLED)
def test_outputs_and_gradients_are_those_of_pytorch(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    assert_same(run(minigrad, case), run(torch, case), case.rtol)


@pytest.mark.parametrize("case", ROWS)
def test_text_attributes_and_state_are_those_of_pytorch(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    ours, theirs = case.make(minigrad), case.make(torch)
    assert repr(ours) == repr(theirs)
    assert attributes(ours) == attributes(theirs)
    for listing in ("named_parameters", "named_buffers", "named_modules"):
        assert [n for n, _ in getattr(ours, listing)()] == [n for n, _ in
                                                            getattr(theirs, listing)()]
    states = [{n: host(t) for n, t in m.state_dict().items()} for m in (ours, theirs)]
    assert_same(*states, 1e-6)
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata


def attributes(module: Any) -> dict[str, Any]:
    """Return the public attributes that are plain values."""
    plain = (int, float, str, tuple, type(None))
    return {name: value for name, value in vars(module).items()
            if not name.startswith("_") and isinstance(value, plain)}


@pytest.mark.parametrize("case", slow_but_one_in(3, ROWS))
def test_states_move_both_ways(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    ours, theirs = case.make(minigrad), case.make(torch)
    torch.manual_seed(9)
    state = {n: torch.rand_like(t) + 0.5 if t.is_floating_point() else t + 2
             for n, t in theirs.state_dict().items()}
    assert repr(ours.load_state_dict(state)) == "<All keys matched successfully>"
    theirs.load_state_dict({n: torch.from_numpy(t.numpy()) for n, t in ours.state_dict().items()})
    for name, value in theirs.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), state[name].numpy(), name)
    if not case.inputs:
        return
    results = []
    for package, module in ((minigrad, ours), (torch, theirs)):
        module.double().eval()
        outputs = call(package, case, module, leaves_of(package, module, case.arrays()))
        results.append({str(i): host(o) for i, o in enumerate(outputs)})
    assert_same(*results, case.rtol)


SLOPED = [row for row in CALLED if row.values[0].slope]
#: Differences take long: `make test` takes them for the first row of each module, but for those
#: whose parts are modules themselves.
FIRST = {row.values[0].module: row.id for row in reversed(SLOPED)
         if not re.match("Transformer(?!EncoderLayer)", row.id)}


@pytest.mark.parametrize("case", [
    *(row for row in SLOPED if row.id in FIRST.values()),
    *one_in(2, (row for row in SLOPED if row.id not in FIRST.values()))])
@pytest.mark.parametrize("mode", slow_but(1, ["train", "eval"]))
def test_gradients_are_those_of_finite_differences(case: Case, mode: str) -> None:
    module = getattr(case.make(minigrad).double(), mode)()
    kept = copy.deepcopy(module.state_dict())
    arrays = case.arrays()
    parameters = [p for p in module.parameters() if p.requires_grad]
    places = [i for i, a in enumerate(arrays) if np.issubdtype(a.dtype, np.floating)]
    wanted = [arrays[i] for i in places] + [host(p) for p in parameters]
    if not wanted:
        return

    def outputs_for(*values: Array) -> tuple[list[Any], list[Any]]:
        module.load_state_dict(kept)
        given = list(arrays)
        for place, value in zip(places, values, strict=False):
            given[place] = value
        for parameter, value in zip(parameters, values[len(places):], strict=True):
            parameter.data = minigrad.from_numpy(value)
        inputs = leaves_of(minigrad, module, given)
        outputs = [o for o in call(minigrad, case, module, inputs) if o.is_floating_point()]
        return [inputs[i] for i in places] + parameters, outputs

    leaves, outputs = outputs_for(*wanted)
    sizes = [o.numel() for o in outputs]
    cotangent = np.random.default_rng(4).uniform(0.5, 1.5, sum(sizes))
    with_grads = [(o, g.reshape(tuple(o.shape))) for o, g in
              zip(outputs, np.split(cotangent, np.cumsum(sizes)[:-1]), strict=True)
              if o.requires_grad]
    computed = minigrad.autograd.grad([o for o, _ in with_grads], leaves,
                                      [minigrad.from_numpy(np.asarray(g)) for _, g in with_grads],
                                      allow_unused=True)

    def flat(*values: Array) -> Array:
        return np.concatenate([host(o).reshape(-1) for o in outputs_for(*values)[1]])

    expected = central_difference_vjp(flat, wanted, cotangent)
    for leaf, gradient, value in zip(leaves, computed, expected, strict=True):
        found = np.zeros(leaf.shape) if gradient is None else host(gradient)
        assert_close(found, value, 1e-5, 1e-6, f"gradient of a {tuple(leaf.shape)}")


def without_set_order(error: BaseException) -> str:
    """The first line of an error; PyTorch prints sets, whose order the hash seed decides."""
    return re.sub(r"\{(.*?)\}", lambda found: str(sorted(found[1].split(", "))),
                  str(error).split("\n")[0])


@pytest.mark.parametrize("source", ERRORS + CALL_ERRORS)
def test_errors_are_those_of_pytorch(source: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    with pytest.raises(Exception) as theirs:
        made(torch, source)
    with pytest.raises(type(theirs.value)) as ours:
        made(minigrad, source)
    assert without_set_order(ours.value) == without_set_order(theirs.value)


def test_every_module_has_a_row() -> None:
    bases = {"Module", "RNNBase", "RNNCellBase"}
    public = {name for name, value in names_in(nn).items()
              if isinstance(value, type) and issubclass(value, nn.Module) and name in nn.__all__}
    lazy = set(nn.lazy.__all__)  # tests/nn/test_lazy.py tries each
    assert public - bases - lazy - {case.module for case in CASES} == set()
