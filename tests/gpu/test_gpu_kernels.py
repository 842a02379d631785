"""On a real GPU: the tests of kernels that the CPU runs as C++, and of steps of optimizers.

Skipped where CuPy or a GPU is missing: `pytest -m gpu` runs these, and nothing else does.
"""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from tests.gpu.test_gradients_on_host import (  # noqa: F401  # tests, collected here once more
    test_a_scale_grows_and_shrinks_as_on_the_cpu,
    test_a_target_that_is_no_class_raises_and_is_not_read,
    test_batch_norm_of_several_parts,
    test_gelu,
    test_gelu_of_what_is_not_finite,
    test_halves_are_rounded_as_numpy_rounds_them,
    test_layer_norm_gradients,
    test_max_pool_gradient,
    test_nll_loss,
    test_relu,
    test_softmax_gradient,
    test_softmax_gradient_keeps_nan_in_its_row,
)
from tests.gpu.test_products_fake import (  # noqa: F401  # tests, collected here once more
    test_layers_may_be_captured,
    test_many_tensors_are_joined_in_a_capture,
    test_products_are_numpys,
    test_types_are_promoted_and_results_may_have_a_place,
)
from tests.gpu.test_steps_fake import (  # noqa: F401  # tests, collected here once more
    test_a_captured_step_of_adam_counts_on,
    test_a_gradient_may_be_a_view,
    test_a_state_goes_from_the_host_to_the_device,
    test_a_step_is_the_cpus,
    test_a_step_with_a_scaler_may_be_captured,
    test_many_arrays_are_the_cpus,
    test_memory_may_have_another_order,
    test_nan_goes_its_way,
    test_steps_counted_on_the_device,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device and CuPy"),
]


@pytest.fixture
def kernels():
    """The backend of real GPUs, for the tests above."""
    from minigrad.backend import load_cuda

    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):  # for comparisons with the CPU
        yield load_cuda()


def test_long_rows_and_many_parts(kernels):
    """More than one turn of every loop: rows longer than a block, more chunks than blocks."""
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=(2, 600, 5000))
    y = np.exp(x - x.max(1, keepdims=True))
    y /= y.sum(1, keepdims=True)
    found = kernels.softmax_gradient(kernels.from_host(g), kernels.from_host(y), 1)
    model = y * (g - (g * y).sum(1, keepdims=True))
    np.testing.assert_allclose(kernels.to_host(found), model, rtol=1e-9, atol=1e-15)
    large = kernels.from_host(np.ones((66_000, 1100), np.float32))
    scale, found = (kernels.from_host(np.array(v, np.float32)) for v in (2, 0))
    kernels.unscale([large, large[:1, :3].copy()], scale, found)
    assert kernels.to_host(found) == 0
    assert kernels.to_host((large == 0.5).all())
    target = rng.integers(0, 5000, 600)
    loss = kernels.nll_loss(kernels.from_host(x), kernels.from_host(target), None, "mean", -100)
    np.testing.assert_allclose(kernels.to_host(loss), -x[np.arange(600), target].mean())
    found = kernels.nll_gradient(kernels.from_host(np.array(1.0)), kernels.from_host(target), None,
                                 x.shape, "mean", -100)
    assert np.count_nonzero(kernels.to_host(found)) == 600
