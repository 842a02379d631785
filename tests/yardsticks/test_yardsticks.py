"""Each entry of PyTorch's databases agrees, or stands in known.json with what disagrees."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest

from tests.support.slow import ALL, one_in, today

from . import compiled
from .databases import LEFT_OUT, load, why_left_out
from .modules import try_module
from .ops import chosen, full_name, try_op
from .optimizers import try_optimizer
from .tables import LIMIT, failing, known

pytestmark = pytest.mark.slow

#: How many tests share the ops.
PARTS = 8

ADVICE = "an entry that agrees now leaves known.json: python -m tests.yardsticks --write"


@pytest.fixture(autouse=True)
def torch() -> Any:
    return pytest.importorskip("torch", reason="the databases come with PyTorch")


def expected(kind: str, names: list[str]) -> dict[str, str]:
    return {name: wrong for name, wrong in known()[kind].items() if name in names}


@pytest.mark.parametrize("part", one_in(4, range(PARTS)))
def test_ops(part: int) -> None:
    ops = load()[0][part::PARTS]
    found = failing([try_op(op, LIMIT) for op in ops])
    assert found == expected("ops", [full_name(op) for op in ops]), ADVICE


def test_compiled_ops() -> None:
    total: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples also try deprecated calls
        for op in today(4, load()[0]):
            total.update(compiled.try_entry(op, compiled.SAMPLES))
    assert not [kind for kind in total if kind.startswith("differs")]
    assert compiled.share_refused(total) <= compiled.REFUSED * (1 if ALL else 2)


def test_modules() -> None:
    modules = load()[1]
    found = failing([try_module(module, LIMIT) for module in modules])
    assert found == expected("modules", [module.name for module in modules]), ADVICE


def test_optimizers() -> None:
    optimizers = load()[2]
    found = failing([try_optimizer(o) for o in optimizers])
    assert found == expected("optimizers", [o.optim_cls.__name__ for o in optimizers]), ADVICE


def test_the_tables_name_entries_that_are_there() -> None:
    ops, modules, optimizers = load()
    names = {"ops": {full_name(op) for op in ops}, "modules": {m.name for m in modules},
             "optimizers": {o.optim_cls.__name__ for o in optimizers}}
    for kind, table in known().items():
        assert set(table) <= names[kind]


def test_what_is_left_out_is_told() -> None:
    assert why_left_out("fft.rfft") == "complex numbers"
    assert why_left_out("__radd__") is why_left_out("add") is None
    assert why_left_out("_chunk_cat") == list(LEFT_OUT.values())[-1]


def test_samples_are_spread_evenly() -> None:
    assert chosen(list(range(10)), 4) == [0, 3, 6, 9]
    assert chosen([1, 2], 4) == [1, 2]
    assert chosen(list(range(10)), None) == list(range(10))
