"""What a step of ResNet-18 costs: minigrad, PyTorch, MyGrad and NumPy by hand, side by side.

    python benchmarks/resnet.py --json benchmarks/results/resnet.json

Cross entropy forward and all gradients backward, and an evaluation without a graph, on one thread
and on two. See README.md here.
"""

from __future__ import annotations

import _resnets
from _steps import Engine, Steps

SMALL, LARGE = "8x3x64x64", "1x3x224x224"
SEEN = _resnets.EVALUATION

BENCHMARK = Steps(
    script=__file__,
    engines={
        "minigrad": Engine("minigrad", "minigrad", "minigrad-course", _resnets.TorchLike),
        "pytorch": Engine("PyTorch", "torch", "torch", _resnets.TorchLike, uses_openblas=False),
        "by_hand": Engine("NumPy by hand", "numpy", "numpy", _resnets.ByHand),
        "products": Engine("matrix products alone", "numpy", "numpy", _resnets.Products),
        "mygrad": Engine("MyGrad", "mygrad", "mygrad", _resnets.MyGrad),
    },
    cases=[*_resnets.SHAPES, *(shape + SEEN for shape in _resnets.SHAPES)],
    targets={(LARGE, 1): 1.2, (LARGE, 2): 1.5, (SMALL, 1): 1.25, (SMALL, 2): 1.7,
             (LARGE + SEEN, 1): 1.2, (LARGE + SEEN, 2): 1.2,
             (SMALL + SEEN, 1): 1.3, (SMALL + SEEN, 2): 1.3},
    by_hand="by_hand",
    unit=0.1,
    repeats=5,
    not_available={"HIPS autograd": "has no convolution with strides, padding and channels"},
)

if __name__ == "__main__":
    BENCHMARK.main(__doc__)
