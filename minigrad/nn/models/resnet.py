"""Residual networks: blocks that learn what to add to their input.

Source: He et al., Deep Residual Learning for Image Recognition, https://arxiv.org/abs/1512.03385
"""

from __future__ import annotations

from ...tensor import Tensor
from .. import functional as F
from ..containers import Sequential
from ..conv import Conv2d
from ..linear import Flatten, Identity, Linear
from ..module import Module
from ..norm import BatchNorm2d
from ..pool import AdaptiveAvgPool2d


def conv3x3(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a 3×3 convolution that keeps the size, divided by its stride."""
    return Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)


class BasicBlock(Module):
    """Two 3×3 convolutions whose result is added to the input.

    Where size or channels change, a 1×1 convolution brings the input into shape.

    >>> from minigrad import ones
    >>> BasicBlock(4, 8, stride=2)(ones(1, 4, 6, 6)).shape
    torch.Size([1, 8, 3, 3])
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = conv3x3(inputs, outputs, stride)
        self.bn1 = BatchNorm2d(outputs)
        self.conv2 = conv3x3(outputs, outputs)
        self.bn2 = BatchNorm2d(outputs)
        self.downsample: Module = Identity()
        if stride != 1 or inputs != outputs:
            self.downsample = Sequential(Conv2d(inputs, outputs, 1, stride, bias=False),
                                         BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.downsample(x))


class SmallResNet(Module):
    """A residual network for small grey images, such as handwritten digits of 8×8 pixels.

    Shapes (N, in_channels, H, W) -> (N, num_classes).

    >>> from minigrad import ones
    >>> SmallResNet()(ones(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, width: int = 16) -> None:
        super().__init__()
        self.conv1 = conv3x3(in_channels, width)
        self.bn1 = BatchNorm2d(width)
        self.layer1 = BasicBlock(width, width)
        self.layer2 = BasicBlock(width, 2 * width, stride=2)
        self.head = Sequential(AdaptiveAvgPool2d(1), Flatten(), Linear(2 * width, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer2(self.layer1(x))
        return self.head(x)
