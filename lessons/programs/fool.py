"""Train a network on digits, then change an image a little, until the network reads another digit.

    minigrad python fool.py                             on your own engine
    minigrad python fool.py --digit 3 --network network.py
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import digits

import minigrad as torch


def shares(net: Any, image: Any) -> Any:
    """Return the share of each digit for one image (8, 8)."""
    return torch.softmax(net(image.reshape(1, 1, 8, 8)), 1)[0]


def fooled(net: Any, image: Any, digit: int, steps: int = 7, size: float = 0.02) -> Any:
    """Go uphill on the loss, in the image: each pixel by `size` in the direction of its slope."""
    image = image.clone()
    for _ in range(steps):
        image.requires_grad_()
        loss = -torch.log(shares(net, image)[digit])
        (slope,) = torch.autograd.grad(loss, image)
        image = (image.detach() + size * slope.sign()).clamp(0.0, 1.0)
    return image


def drawn(image: Any) -> list[str]:
    """Return an image as eight lines of text."""
    return ["".join(" ░▒▓█"[round(4 * v)] * 2 for v in row) for row in image.tolist()]


def main() -> None:
    """Train, and fool the network with the first image that it reads rightly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--digit", type=int, default=7, choices=range(10), help="which (7)")
    parser.add_argument("--network", metavar="FILE",
                        default=str(Path(__file__).with_name("own_network.py")))
    options = parser.parse_args()
    images, wanted, held_images, held_digits = digits.loaded()
    net, _, rate = digits.own_network(torch, options.network)
    for _ in digits.train(torch, net, images, wanted, 20, rate):
        pass
    right = digits.correct(torch, net, held_images, held_digits)
    print(f"{right / len(held_digits):.1%} of the held-out digits are read rightly")
    for image, digit in zip(held_images, held_digits, strict=True):
        before = torch.from_numpy(image[0])
        if digit == options.digit and shares(net, before).argmax().item() == digit:
            break
    else:
        raise SystemExit(f"this network reads no {options.digit} rightly")
    after = fooled(net, before, options.digit)
    for pair in zip(drawn(before), drawn(after), strict=True):
        print("   ".join(pair).rstrip())
    for name, each in (("before", before), ("after", after)):
        found, share = shares(net, each).argmax().item(), shares(net, each).max().item()
        print(f"{name:6}: read as {found}, with a share of {share:.0%}")
    print(f"no pixel was changed by more than {(after - before).abs().max().item():.2f}")


if __name__ == "__main__":
    main()
