"""Residual networks: their blocks learn what to add to their input.

Submodules have torchvision's names and order, so weights can be exchanged with it.

Source: He et al., Deep Residual Learning for Image Recognition, https://arxiv.org/abs/1512.03385
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...tensor.tensor import Tensor
from .. import init
from ..activation import ReLU
from ..batchnorm import BatchNorm2d
from ..containers import Sequential
from ..conv import Conv2d
from ..linear import Linear
from ..module import Module
from ..normalization import GroupNorm
from ..pool import AdaptiveAvgPool2d, MaxPool2d

Norm = Callable[[int], Module]


def conv3x3(inputs: int, outputs: int, stride: int = 1, groups: int = 1,
            dilation: int = 1) -> Conv2d:
    """Return a 3×3 convolution that keeps the image's size, except for the stride."""
    return Conv2d(inputs, outputs, 3, stride, dilation, dilation, groups, bias=False)


def conv1x1(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a 1×1 convolution that mixes the channels of each pixel."""
    return Conv2d(inputs, outputs, 1, stride, bias=False)


class BasicBlock(Module):
    """Residual block: two 3×3 convolutions whose result is added to the input.

    If the size or the channels change, `downsample` maps the input to the new shape.

    >>> from minigrad import ones
    >>> BasicBlock(4, 4)(ones(1, 4, 6, 6)).shape
    torch.Size([1, 4, 6, 6])
    """

    expansion: ClassVar[int] = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1,
                 downsample: Module | None = None, groups: int = 1, base_width: int = 64,
                 dilation: int = 1, norm_layer: Norm | None = None) -> None:
        super().__init__()
        norm = norm_layer or BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class Bottleneck(Module):
    """Residual block: a 1×1, a 3×3 and a 1×1 convolution.

    The first reduces the channels and the last raises them to `expansion` times `planes`. The 3×3
    convolution takes the stride, as in torchvision; in the paper, the first one does.

    >>> from minigrad import ones
    >>> Bottleneck(8, 2)(ones(1, 8, 6, 6)).shape
    torch.Size([1, 8, 6, 6])
    """

    expansion: ClassVar[int] = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1,
                 downsample: Module | None = None, groups: int = 1, base_width: int = 64,
                 dilation: int = 1, norm_layer: Norm | None = None) -> None:
        super().__init__()
        norm = norm_layer or BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += identity
        return self.relu(out)


class ResNet(Module):
    """Four stages of residual blocks between a 7×7 convolution and a linear classifier.

    `layers` holds the number of blocks of each stage. Shapes: (N, 3, H, W) -> (N, num_classes).

    >>> from minigrad import ones
    >>> ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5)(ones(2, 3, 32, 32)).shape
    torch.Size([2, 5])
    """

    def __init__(self, block: type[BasicBlock] | type[Bottleneck], layers: list[int],
                 num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1,
                 width_per_group: int = 64,
                 replace_stride_with_dilation: list[bool] | None = None,
                 norm_layer: Norm | None = None) -> None:
        super().__init__()
        dilated = replace_stride_with_dilation or [False] * 3
        if len(dilated) != 3:
            raise ValueError("replace_stride_with_dilation should be None or a 3-element tuple, "
                             f"got {replace_stride_with_dilation}")
        self._norm_layer: Norm = norm_layer or BatchNorm2d
        self.inplanes = 64
        self.dilation = 1
        self.groups = groups
        self.base_width = width_per_group
        self.conv1 = Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = ReLU(inplace=True)
        self.maxpool = MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilated[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilated[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilated[2])
        self.avgpool = AdaptiveAvgPool2d((1, 1))
        self.fc = Linear(512 * block.expansion, num_classes)
        self._reset(zero_init_residual)

    def _make_layer(self, block: type[BasicBlock] | type[Bottleneck], planes: int, blocks: int,
                    stride: int = 1, dilate: bool = False) -> Sequential:
        """Return a stage of blocks; the first block changes the size and the channels."""
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        outputs = planes * block.expansion
        shared: dict[str, Any] = {"groups": self.groups, "base_width": self.base_width,
                                  "norm_layer": self._norm_layer}
        downsample = None
        if stride != 1 or self.inplanes != outputs:
            downsample = Sequential(conv1x1(self.inplanes, outputs, stride),
                                    self._norm_layer(outputs))
        stage = [block(self.inplanes, planes, stride, downsample, dilation=before, **shared)]
        self.inplanes = outputs
        while len(stage) < blocks:
            stage.append(block(outputs, planes, dilation=self.dilation, **shared))
        return Sequential(*stage)

    def _reset(self, zero_init_residual: bool) -> None:
        """Initialise convolutions by He's rule; optionally zero the last norm of each block."""
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (BatchNorm2d, GroupNorm)):
                init.constant_(module.weight, 1)
                init.constant_(module.bias, 0)
        for module in self.modules() if zero_init_residual else ():
            if isinstance(module, (BasicBlock, Bottleneck)):
                last = module.bn3 if isinstance(module, Bottleneck) else module.bn2
                if last.weight is not None:
                    init.constant_(last.weight, 0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(num_classes: int = 1000, **options: Any) -> ResNet:
    """Return a network of 18 layers with 11,689,512 parameters; takes the options of `ResNet`.

    Source: https://docs.pytorch.org/vision/stable/models/resnet.html

    >>> net = resnet18()
    >>> sum(p.numel() for p in net.parameters())
    11689512
    """
    return ResNet(BasicBlock, [2, 2, 2, 2], num_classes, **options)


def resnet34(num_classes: int = 1000, **options: Any) -> ResNet:
    """Return a network of 34 layers with 21,797,672 parameters; takes the options of `ResNet`.

    >>> net = resnet34(num_classes=10)
    >>> [len(layer) for layer in (net.layer1, net.layer2, net.layer3, net.layer4)], net.fc
    ([3, 4, 6, 3], Linear(in_features=512, out_features=10, bias=True))
    """
    return ResNet(BasicBlock, [3, 4, 6, 3], num_classes, **options)


def resnet50(num_classes: int = 1000, **options: Any) -> ResNet:
    """Return a network of 50 layers with 25,557,032 parameters; takes the options of `ResNet`.

    >>> net = resnet50(num_classes=10, width_per_group=1)  # a narrow one
    >>> [len(layer) for layer in (net.layer1, net.layer2, net.layer3, net.layer4)], net.fc
    ([3, 4, 6, 3], Linear(in_features=2048, out_features=10, bias=True))
    """
    return ResNet(Bottleneck, [3, 4, 6, 3], num_classes, **options)


def resnet101(num_classes: int = 1000, **options: Any) -> ResNet:
    """Return a network of 101 layers with 44,549,160 parameters; takes the options of `ResNet`.

    >>> net = resnet101(num_classes=10, width_per_group=1)  # a narrow one
    >>> [len(layer) for layer in (net.layer1, net.layer2, net.layer3, net.layer4)], net.fc
    ([3, 4, 23, 3], Linear(in_features=2048, out_features=10, bias=True))
    """
    return ResNet(Bottleneck, [3, 4, 23, 3], num_classes, **options)
