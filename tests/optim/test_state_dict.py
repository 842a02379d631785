"""Promises of `Optimizer.state_dict` beside numbers and options: hooks, other keys, duplicates."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import optim


def two_groups() -> tuple[optim.SGD, list[minigrad.Tensor]]:
    parameters = [minigrad.zeros(1, requires_grad=True) for _ in range(3)]
    groups = [{"params": parameters[:2]}, {"params": parameters[2:], "lr": 3.0}]
    return optim.SGD(groups, lr=0.5), parameters


def test_hooks_before_it_see_and_change_the_optimizer() -> None:
    optimizer, _ = two_groups()
    seen: list[Any] = []

    def before(given: Any) -> None:
        seen.append(given)
        given.param_groups[0]["lr"] = 7.0

    optimizer.register_state_dict_pre_hook(before)
    assert optimizer.state_dict()["param_groups"][0]["lr"] == 7.0
    assert seen == [optimizer]


def test_what_a_hook_after_it_returns_goes_to_the_next_and_out() -> None:
    optimizer, _ = two_groups()
    seen: list[Any] = []
    optimizer.register_state_dict_post_hook(
        lambda given, state: seen.append((given is optimizer, sorted(state))))
    optimizer.register_state_dict_post_hook(lambda given, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(lambda given, state: {**state, "most": state["more"]})
    state = optimizer.state_dict()
    assert seen == [(True, ["param_groups", "state"])]
    assert (state["more"], state["most"]) == (1, 1) and "state" in state


def test_a_key_that_is_no_parameter_stays() -> None:
    optimizer, _ = two_groups()
    optimizer.state["rounds"] = {"n": 3}
    assert optimizer.state_dict()["state"] == {"rounds": {"n": 3}}


def test_a_parameter_in_two_places_keeps_its_first_number() -> None:
    optimizer, (a, _, _) = two_groups()
    optimizer.param_groups[1]["params"].insert(0, a)
    assert [group["params"] for group in optimizer.state_dict()["param_groups"]] == [[0, 1], [0, 3]]
