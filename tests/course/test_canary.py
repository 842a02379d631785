"""Canaries: what is tested and graded is the file that was handed in, and not another one."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.content.source import Module
from minigrad_course.dev import canary

STAGE = course.find_stage("07")
SHORT = dataclasses.replace(STAGE, holes=STAGE.holes[:2])


@pytest.mark.slow
def test_every_test_and_probe_meets_the_canary():
    met = []
    assert list(canary.canaries(SHORT, lambda *told: met.append(told))) == []
    assert [hole for hole, _, _ in met] == [hole.id for hole in SHORT.holes]
    assert all(tests and probes for _, tests, probes in met)


def test_one_that_looks_at_other_code_is_found(monkeypatch):
    """Without a canary in the file all of them miss it, as they would with another file's code."""
    monkeypatch.setattr(canary, "plant", lambda source, *_: source.text)
    met = []
    found = list(canary.canaries(dataclasses.replace(STAGE, holes=STAGE.holes[3:4]),
                                 lambda *told: met.append(told)))
    ((_, tests, probes),) = met
    assert len(found) == tests + probes
    assert all("misses the canary" in finding for finding in found)


def test_a_canary_is_the_first_thing_that_a_function_does():
    text = ('class A:\n    def f(self):\n        """Text."""\n        # why\n        return 1\n\n'
            "    def g(self):\n        yield 1\n")
    for name in ("f", "g"):
        space: dict[str, type] = {}
        exec(canary.plant(Module.from_text("a.py", text), f"A.{name}", "07.1"), space)
        with pytest.raises(BaseException, match=r"07\.1") as raised:
            list(getattr(space["A"](), name)())
        assert type(raised.value).__name__ == "Canary"
        assert not isinstance(raised.value, Exception)
    assert space["A"].f.__doc__ == "Text."
