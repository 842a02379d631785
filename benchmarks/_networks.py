"""ResNets of 18 and 50 layers, made of the modules of either library; torchvision is not needed."""

from __future__ import annotations

from typing import Any

#: How many blocks each of the four stages has.
BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


def resnet(nn: Any, depth: int) -> Any:
    """Return a ResNet made of `nn`, a library's modules.

    >>> from minigrad import nn
    >>> sum(p.numel() for p in resnet(nn, 18).parameters())
    11689512
    """
    expansion = 4 if depth == 50 else 1

    def conv(before: int, after: int, size: int, stride: int = 1) -> Any:
        return nn.Conv2d(before, after, size, stride, size // 2, bias=False)

    class Block(nn.Module):  # type: ignore[misc]  # its base is known at run time only
        def __init__(self, before: int, width: int, stride: int) -> None:
            super().__init__()
            after = width * expansion
            shapes = [(before, width, 3, stride), (width, after, 3, 1)] if expansion == 1 else [
                (before, width, 1, 1), (width, width, 3, stride), (width, after, 1, 1)]
            self.convolutions = nn.ModuleList([conv(*shape) for shape in shapes])
            self.norms = nn.ModuleList([nn.BatchNorm2d(shape[1]) for shape in shapes])
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None if stride == 1 and before == after else nn.Sequential(
                conv(before, after, 1, stride), nn.BatchNorm2d(after))

        def forward(self, x: Any) -> Any:
            shortcut = x if self.downsample is None else self.downsample(x)
            for place, (convolution, norm) in enumerate(
                    zip(self.convolutions, self.norms, strict=True)):
                x = norm(convolution(x if place == 0 else self.relu(x)))
            x += shortcut
            return self.relu(x)

    stages, before = [], 64
    for place, (width, count) in enumerate(
            zip((64, 128, 256, 512), BLOCKS[depth], strict=True)):
        for number in range(count):
            stages.append(Block(before, width, 2 if place and not number else 1))
            before = width * expansion
    return nn.Sequential(
        conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1),
        *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(1), nn.Linear(before, 1000))
