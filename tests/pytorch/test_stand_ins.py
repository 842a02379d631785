"""The stand-ins find differences, cases and devices; each known failure has its reason."""

from __future__ import annotations

import json
import unittest

import pytest

import minigrad as torch

from .__main__ import KNOWN, Result
from .stand_ins import (
    TestCase,
    device_count_at_least,
    dtypes,
    instantiate_device_type_tests,
    instantiate_parametrized_tests,
    only_cuda,
    parametrize,
    subtest,
)

same = [(torch.ones(2), torch.ones(2)), (torch.ones(2), 1), (1.0, 1 + 1e-9),
        ([1, (2.0,)], [1, [2.0]]), ({"a": torch.zeros(1)}, {"a": torch.zeros(1)}), ("a", "a"),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]))]
other = [(torch.ones(2), torch.ones(2) * 1.001), (torch.ones(2), torch.ones(1, 2)), (1, 2),
         (torch.ones(2), torch.ones(2, dtype=torch.float64)), ([1], [1, 1]), ({"a": 1}, {"b": 1}),
         (1234567890123456789, 1234567890123456788), ("a", "b"), (None, 0)]


@pytest.mark.parametrize("pair", same, ids=str)
def test_equal_values_are_equal(pair):
    TestCase().assertEqual(*pair)


@pytest.mark.parametrize("pair", other, ids=str)
def test_other_values_are_not(pair):
    TestCase().assertNotEqual(*pair)
    with pytest.raises(AssertionError):
        TestCase().assertEqual(*pair)


def test_each_case_becomes_a_test():
    class Cases(TestCase):
        @parametrize("a", [1, 2])
        @parametrize("b,c", [subtest((3, 4), name="small")])
        def test_sum(self, a, b, c):
            self.assertEqual(a + b + c, 8)

    instantiate_parametrized_tests(Cases)
    names = [name for name in dir(Cases) if name.startswith("test")]
    assert names == ["test_sum_a_1_small", "test_sum_a_2_small"]
    Cases("test_sum_a_1_small").test_sum_a_1_small()
    with pytest.raises(AssertionError):
        Cases("test_sum_a_2_small").test_sum_a_2_small()


def test_a_test_of_devices_runs_on_the_cpu():
    seen = []

    class Devices(TestCase):
        def test_one(self, device):
            seen.append(device)

        @dtypes(torch.float32, torch.float64)
        def test_kinds(self, device, dtype):
            seen.append(dtype)

        @device_count_at_least(1)
        def test_list(self, devices):
            seen.append(devices)

        @device_count_at_least(2)
        def test_two(self, devices):
            raise AssertionError

        @only_cuda
        def test_gpu(self, device):
            raise AssertionError

    scope = {"Devices": Devices}
    instantiate_device_type_tests(Devices, scope)
    result = Result()
    for test in unittest.defaultTestLoader.loadTestsFromTestCase(scope["DevicesCPU"]):
        test(result)
    kinds = {name.partition(".")[2]: kind for name, (kind, _) in result.outcomes.items()}
    assert kinds == {"test_gpu_cpu": "skipped", "test_kinds_cpu_float32": "passed",
                     "test_kinds_cpu_float64": "passed", "test_list_cpu": "passed",
                     "test_one_cpu": "passed", "test_two_cpu": "skipped"}
    assert sorted(map(str, seen)) == ["['cpu']", "cpu", "torch.float32", "torch.float64"]


def test_each_known_failure_says_why():
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    assert known and all(known.values())
    assert not [name for name in known if not name.startswith("Test")]
