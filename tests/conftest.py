"""What all tests share: where random numbers start, and how Hypothesis runs."""

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("minigrad", deadline=None)
settings.load_profile("minigrad")


@pytest.fixture
def seed():
    """Start the package's random numbers at 0 and hand out a NumPy generator that does too."""
    from minigrad.op.declaration import F

    F.manual_seed(0)
    return np.random.default_rng(0)
