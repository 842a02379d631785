"""Every test of this folder runs twice: with minigrad as `torch`, and with PyTorch itself."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    """Hand out the module under test; without PyTorch its half is skipped."""
    module = pytest.importorskip(request.param, reason="compares with PyTorch")
    if request.param == "torch":
        module.set_warn_always(True)  # not only the first time in a process
    return module


@pytest.fixture
def leaf(torch):
    """Make a leaf that requires grad out of numbers."""

    def make(*values, dtype=None):
        data = values[0] if len(values) == 1 else list(values)
        return torch.tensor(data, dtype=dtype or torch.float64, requires_grad=True)

    return make
