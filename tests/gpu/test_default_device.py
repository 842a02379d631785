"""Where tensors are made that no argument sends elsewhere, on imaginary GPUs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import minigrad as torch


@pytest.fixture
def gpus(fake):
    yield fake
    torch.set_default_device(None)


def test_at_first_and_again_after_none_it_is_the_cpu():
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu") == torch.ones(1).device
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.set_default_device("nowhere")


MADE = [
    "torch.ones(2)", "torch.zeros((1, 2))", "torch.empty(0)", "torch.full((2,), 3.0)",
    "torch.tensor([1.0])", "torch.tensor(torch.ones(1, device='cpu'))", "torch.arange(3)",
    "torch.as_tensor([1.0])", "torch.as_tensor(np.ones(2))", "torch.as_tensor(host)",
    "torch.rand(2)", "torch.randn(2)", "torch.randint(3, (2,))", "torch.randperm(3)",
    "torch.eye(2)", "torch.linspace(0, 1, 3)", "torch.nn.Linear(2, 2).weight",
    "torch.get_default_device()", "torch.ones(1, device=None)",
]


@pytest.mark.filterwarnings("ignore:To copy construct")  # from a tensor that lies elsewhere
@pytest.mark.parametrize("line", MADE)
def test_factories_make_tensors_there(gpus, line):
    host = torch.ones(1)
    torch.set_default_device("cuda")
    made = eval(line, {"torch": torch, "np": np, "host": host})
    assert getattr(made, "device", made) == torch.device("cuda:0")


@pytest.mark.parametrize("line", [
    "torch.from_numpy(np.ones(2))", "torch.ones_like(host)", "host + 1", "host.new_zeros(2)",
    "host.new_tensor([1])", "torch.ones(1, device='cpu')", "torch.Generator()"])
def test_what_has_a_place_of_its_own_stays_there(gpus, line):
    host = torch.ones(1)
    torch.set_default_device("cuda:1")
    made = eval(line, {"torch": torch, "np": np, "host": host})
    assert made.device == torch.device("cpu")


def test_blocks_nest_and_go_before_what_was_set_also_after_an_error(gpus):
    torch.set_default_device("cuda:1")
    with torch.device("cpu") as inner:
        assert inner == torch.device("cpu") == torch.ones(1).device
        with pytest.raises(KeyError), torch.device("cuda:0"):
            assert torch.ones(1).device == torch.device("cuda:0")
            raise KeyError
        assert torch.get_default_device() == torch.device("cpu")
    assert torch.ones(1).device == torch.device("cuda:1")


def test_it_belongs_to_the_thread(gpus):
    torch.set_default_device("cuda")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.ones(1).device))
    thread.start()
    thread.join()
    assert seen == [torch.device("cpu")] and torch.ones(1).is_cuda
