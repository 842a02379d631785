"""Profile ResNet-18, forward and backward, on minigrad or on PyTorch.

    minigrad python resnet18.py                                   on your own engine
    python lessons/programs/resnet18.py --engine torch            on PyTorch
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any

EVENTS = 12


def resnet18(torch: Any) -> Any:
    """Return the network of He and others (2015), https://arxiv.org/abs/1512.03385, table 1."""
    nn = torch.nn

    class Block(nn.Module):
        """Two convolutions, whose result is added to what came in."""

        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.shortcut = nn.Identity()
            if stride != 1 or inside != outside:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(inside, outside, 1, stride=stride, bias=False),
                    nn.BatchNorm2d(outside))

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.bn1(self.conv1(x)))
            return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(3, stride=2, padding=1)]
    for inside, outside in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += [Block(inside, outside, 1 if inside == outside else 2),
                   Block(outside, outside, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def main() -> None:
    """Run a few iterations under the profiler and print where the time went."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", default="minigrad", choices=["minigrad", "torch"])
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--size", type=int, default=64)
    options = parser.parse_args()
    torch = importlib.import_module(options.engine)
    torch.manual_seed(0)
    network = resnet18(torch)
    image = torch.randn(1, 3, options.size, options.size, requires_grad=True)
    with torch.autograd.profiler.profile() as record:
        for _ in range(options.iterations):
            torch.sum(network(image)).backward()
    events = sorted(record.key_averages(), key=lambda event: -event.self_cpu_time_total)
    whole = sum(event.self_cpu_time_total for event in events)
    print(f"{options.engine}, {options.iterations} iterations, an image of "
          f"{options.size} x {options.size}")
    print(f"{'name':45} {'self CPU':>9} {'calls':>6}")
    for event in events[:EVENTS]:
        share = event.self_cpu_time_total / whole
        print(f"{event.key[:45]:45} {share:>8.1%} {event.count:>7}")
    weights = sum(parameter.numel() for parameter in network.parameters())
    print(f"{weights:,} weights; the gradient of the image has shape {tuple(image.grad.shape)}")


if __name__ == "__main__":
    main()
