"""The residual networks of `minigrad.nn.models`, written for any library with PyTorch's names.

PyTorch's own are in a separate package, which is not needed here.  Parameters have the same names
in the same order, so weights can be copied between them.

Source: He et al., Deep Residual Learning for Image Recognition, https://arxiv.org/abs/1512.03385
"""

from __future__ import annotations

from typing import Any

#: The number of blocks per stage, and whether blocks have three convolutions.
LAYERS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}


def residual_network(torch: Any, name: str, num_classes: int = 1000) -> Any:
    """Return the network called `name`, made of `torch.nn`: images (N, 3, H, W) -> (N, classes).

    >>> import minigrad
    >>> net = residual_network(minigrad, "resnet18")
    >>> sum(p.numel() for p in net.parameters())
    11689512
    """
    nn = torch.nn

    def stack(channels: int, sizes: list[tuple[int, int, int]]) -> list[tuple[Any, Any]]:
        pairs = []
        for size, out, stride in sizes:
            conv = nn.Conv2d(channels, out, size, stride, size // 2, bias=False)
            pairs.append((conv, nn.BatchNorm2d(out)))
            channels = out
        return pairs

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # its Module is not known here
        def __init__(self, channels: int, width: int, stride: int, deep: bool) -> None:
            super().__init__()
            out = 4 * width if deep else width
            sizes = ([(1, width, 1), (3, width, stride), (1, out, 1)] if deep
                     else [(3, width, stride), (3, out, 1)])
            for number, (conv, norm) in enumerate(stack(channels, sizes), 1):
                setattr(self, f"conv{number}", conv)
                setattr(self, f"bn{number}", norm)
            self.relu = nn.ReLU(inplace=True)
            self.count = len(sizes)
            self.downsample = None
            if stride != 1 or channels != out:
                self.downsample = nn.Sequential(*stack(channels, [(1, out, stride)])[0])

        def forward(self, x: Any) -> Any:
            y = x
            for number in range(1, self.count + 1):
                y = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(y))
                if number < self.count:
                    y = self.relu(y)
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    class Network(nn.Module):  # type: ignore[misc, name-defined]  # as above
        def __init__(self, stages: tuple[int, ...], deep: bool) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            channels = 64
            for number, blocks in enumerate(stages):
                width, stage = 64 << number, []
                for position in range(blocks):
                    stride = 2 if number and not position else 1
                    stage.append(Block(channels, width, stride, deep))
                    channels = 4 * width if deep else width
                setattr(self, f"layer{number + 1}", nn.Sequential(*stage))
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(channels, num_classes)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(self.avgpool(x).flatten(1))

    return Network(*LAYERS[name])
