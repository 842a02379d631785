"""A residual network that trains in seconds."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .. import functional as F
from ..batchnorm import BatchNorm2d
from ..containers import Sequential
from ..linear import Linear
from ..module import Module
from ..pool import AdaptiveAvgPool2d
from ..shape_layers import Flatten
from .resnet import BasicBlock, conv1x1, conv3x3


class SmallResNet(Module):
    """A residual network for small grey images, such as 8×8 pixels of handwritten digits.

    Shapes: (N, in_channels, H, W) -> (N, num_classes).

    >>> from minigrad import ones
    >>> SmallResNet()(ones(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, width: int = 16) -> None:
        super().__init__()
        wide = 2 * width
        self.conv1 = conv3x3(in_channels, width)
        self.bn1 = BatchNorm2d(width)
        self.layer1 = BasicBlock(width, width)
        shrink = Sequential(conv1x1(width, wide, stride=2), BatchNorm2d(wide))
        self.layer2 = BasicBlock(width, wide, stride=2, downsample=shrink)
        self.head = Sequential(AdaptiveAvgPool2d(1), Flatten(), Linear(wide, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.layer2(self.layer1(x))
        return self.head(x)
