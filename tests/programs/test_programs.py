"""How other people's programs are run and compared; the programs themselves are not run here."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from tests.programs import __main__ as command
from tests.programs.table import PROGRAMS, Program, Repository
from tests.support.slow import slow_but

HERE = Repository("somebody/something", "0" * 40)
SCRIPT = """import torch
for step in range(5000):
    pass
print(step, torch.rand(2).sum().item(), "in 3.2 seconds")
"""


def test_each_program_has_a_name_of_its_own() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(names) == len(set(names)) >= 25
    assert not doctest.testmod(command).failed


@pytest.fixture
def somewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    pytest.importorskip("torch", reason="compares with PyTorch")
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    folder = tmp_path / "somebody+something"
    folder.mkdir()
    return folder


def test_a_program_is_run_with_both_and_shortened(somewhere: Any, monkeypatch: Any,
                                                  capsys: Any) -> None:
    (somewhere / "script.py").write_text(SCRIPT, encoding="utf-8")
    program = Program("it", HERE, ".", "script.py", edits=((r"range\(5000\)", "range(7)"),))
    monkeypatch.setattr(command, "PROGRAMS", [program])
    assert command.main([]) == 0
    assert "2 numbers, differ by 0" in capsys.readouterr().out


@pytest.mark.parametrize(("script", "words"), slow_but(1, [
    ("import torch, sys\nprint(2.0 if 'minigrad' in sys.modules else 1.0)", "differ by 1"),
    ("import torch, sys\nprint(*[1] * (1 + ('minigrad' in sys.modules)))", "differ by inf"),
    ("import torch.nowhere", "failed: ModuleNotFoundError"),
]))
def test_what_differs_or_fails_is_told(somewhere: Any, monkeypatch: Any, capsys: Any,
                                       script: str, words: str) -> None:
    (somewhere / "script.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(command, "PROGRAMS", [Program("it", HERE, ".", "script.py")])
    assert command.main(["it"]) == 1
    assert words in capsys.readouterr().out
