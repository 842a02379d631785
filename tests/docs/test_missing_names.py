"""compare.md says what a missing name raises: left-out names explain themselves, others do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import minigrad as torch

PAGE = Path(__file__).resolve().parents[2] / "docs/en/compare.md"


@pytest.mark.parametrize("use", [
    lambda: torch.zeros(2, dtype=torch.complex64),
    lambda: torch.sparse_coo_tensor([[0]], [1.0]),
    lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8),
    lambda: torch.ones(2).to_sparse(),
    lambda: torch.ones(2).to(torch.bfloat16)])
def test_a_name_that_is_left_out_raises_when_it_is_used(use):
    with pytest.raises(NotImplementedError, match=r"minigrad has no \w+"):
        use()


def test_another_missing_name_raises_what_python_raises():
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        torch.no_such_name
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        torch.ones(2).no_such_name


@pytest.mark.slow
def test_importing_a_missing_name_raises_import_error(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("from torch import complex64, bfloat16\n"
                       "try:\n    from torch import no_such_name\n"
                       "except ImportError as error:\n    print(type(error).__name__)\n")
    done = subprocess.run([sys.executable, "-m", "minigrad", str(program)], capture_output=True,
                          text=True, cwd=PAGE.parents[2])
    assert done.stdout == "ImportError\n", done.stderr


def test_the_page_says_so():
    page = PAGE.read_text(encoding="utf-8")
    assert "you get a `NotImplementedError` that says why" in page
    assert "`AttributeError` for `torch.name`" in page
    assert "`ImportError` for `from torch import name`" in page
