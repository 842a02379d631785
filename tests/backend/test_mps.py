"""Programs ask for Apple's GPU before they pick a device; the answers fit what `device` can do."""

import pytest

import minigrad as torch
from minigrad.backend import DEVICES, numpy_backend


def picked(torch) -> str:
    """Return the device that a usual program picks on a machine without an NVIDIA GPU."""
    return "mps" if torch.backends.mps.is_available() else "cpu"


def test_a_program_picks_a_device_on_which_tensors_can_be():
    assert not torch.backends.mps.is_built()
    assert torch.ones(2, device=picked(torch)).tolist() == [1, 1]


def test_a_registered_backend_is_found(monkeypatch):
    monkeypatch.setitem(DEVICES, "mps", numpy_backend)
    assert torch.backends.mps.is_built() and torch.backends.mps.is_available()
    assert picked(torch) == "mps"


def test_the_names_are_those_of_pytorch():
    pytorch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert set(torch.backends.mps.__all__) <= set(pytorch.backends.mps.__all__)
