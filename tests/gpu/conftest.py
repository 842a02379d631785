"""What the tests of the GPU share: the stand-in for CuPy, and the skip where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from minigrad import backend as backends
from tests.gpu import _fake_cublas, _fake_cupy


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two imaginary GPUs under minigrad's CuPy backend; the record of what is done on them."""
    with _fake_cupy.installed(devices=2) as machine:
        backends.load_cuda()
        library = _fake_cublas.library()
        monkeypatch.setattr("minigrad.backend.cupy.products.library", lambda: library)
        machine.log.clear()
        yield machine


@pytest.fixture
def kernels(fake: Any) -> Any:
    """The backend with its own kernels, on the stand-in."""
    return backends.DEVICES["cuda"]
