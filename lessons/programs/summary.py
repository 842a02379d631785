"""Tell what a network is made of: shapes from hooks, weights from the walk through its parts.

    minigrad python --mine 13a summary.py
    minigrad python --mine 13a summary.py resnet
"""

from __future__ import annotations

import argparse
from typing import Any

import minigrad as torch
from minigrad import nn


class Forgotten(nn.Module):
    """Layers in a plain list, where nobody finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers: Any = [nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)]

    def forward(self, x: Any) -> Any:
        """Run the layers one after another."""
        for layer in self.layers:
            x = layer(x)
        return x


class Found(Forgotten):
    """The same layers in a list that is a module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(self.layers)


def small_resnet() -> Any:
    """Return the residual network of the tour."""
    from minigrad.nn.models import SmallResNet

    return SmallResNet(num_classes=10, width=16)


NETWORKS = {"forgotten": (Forgotten, (2, 6)), "found": (Found, (2, 6)),
            "resnet": (small_resnet, (2, 1, 8, 8))}


def summary(net: Any, example: Any) -> list[str]:
    """Return a row for each part that has parts or weights of its own, and the total."""
    shapes: dict[Any, str] = {}

    def note(part: Any, _: Any, output: Any) -> None:
        shapes[part] = " x ".join(map(str, output.shape))

    handles = [part.register_forward_hook(note) for part in net.modules()]
    net.eval()
    with torch.no_grad():
        net(example)
    for handle in handles:
        handle.remove()
    rows = []
    for name, part in net.named_modules():
        own = sum(each.numel() for each in part.parameters(recurse=False))
        rows.append(f"{name or '(the network)':16} {type(part).__name__:18} "
                    f"{shapes.get(part, ''):15} {own or '':>7}".rstrip())
    total = sum(each.numel() for each in net.parameters())
    return [*rows, f"{total:,} numbers to train in {len(list(net.parameters()))} parameters"]


def main() -> None:
    """Describe networks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", choices=[[], *NETWORKS],
                        metavar="network", help=f"of {', '.join(NETWORKS)}; by default the first "
                                                "two")
    for name in parser.parse_args().networks or ["forgotten", "found"]:
        make, shape = NETWORKS[name]
        torch.manual_seed(0)
        print(f"--- {name}")
        print("\n".join(summary(make(), torch.ones(*shape))))


if __name__ == "__main__":
    main()
