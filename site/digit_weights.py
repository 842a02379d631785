"""Trains the small network of the figure "digit" on minigrad and writes its weights for the page.

    python site/digit_weights.py

The images are the 1797 handwritten digits of 8 x 8 pixels that come with scikit-learn: the test
part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository). The figure makes such an image of a drawing in the way in which these were made.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import minigrad as torch
from minigrad import nn
from minigrad_course.demos import digits

__all__ = ["FILE", "network", "trained", "warped", "written"]

FILE = Path(__file__).parent / "widgets" / "digit_weights.js"
SEED, EPOCHS, COPIES = 0, 15, 5
COMMENT = """\
// Made by site/digit_weights.py: do not edit. A network of 64, 32 and 10 units, trained by
// minigrad; it reads {right} of {count} digits that it was not trained on. A row is an output's.
"""


def network() -> nn.Sequential:
    """Return the network that the figure draws, not yet trained."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def warped(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return images (n, 1, 8, 8) slanted, turned, stretched and moved a little, each by chance.

    People draw on a page in other ways than on a form, and the network has to read both.
    """
    count = len(images)
    change = np.eye(2) + rng.uniform(-1, 1, (count, 2, 2)) * [[0.15, 0.22], [0.22, 0.15]]
    places = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0), indexing="ij"), -1)
    places = np.einsum("nij,pj->npi", change, places.reshape(64, 2) - 3.5) + 3.5
    places += rng.uniform(-0.4, 0.4, (count, 1, 2))
    corner = np.floor(places).astype(int)
    rest = places - corner
    padded = np.pad(images[:, 0], ((0, 0), (2, 3), (2, 3)))
    corner = np.clip(corner, -2, 8) + 2
    made = np.zeros((count, 64))
    for dy in (0, 1):
        for dx in (0, 1):
            weight = np.abs(1 - dy - rest[..., 0]) * np.abs(1 - dx - rest[..., 1])
            made += weight * padded[np.arange(count)[:, None], corner[..., 0] + dy,
                                    corner[..., 1] + dx]
    return made.reshape(count, 1, 8, 8).astype("float32")


def trained(data: digits.Digits, epochs: int) -> nn.Sequential:
    """Return the network after so many epochs on the images and on copies of them, warped."""
    rng, images = np.random.default_rng(SEED), data.train_images.numpy()
    copies = [images, *(warped(images, rng) for _ in range(COPIES))]
    more = data._replace(
        train_images=torch.from_numpy(np.concatenate(copies)),
        train_digits=torch.from_numpy(np.tile(data.train_digits.numpy(), len(copies))))
    torch.manual_seed(SEED)
    net = network()
    for _ in digits.train(net, more, epochs):
        pass
    return net.eval()


def written(net: nn.Sequential, data: digits.Digits) -> str:
    """Return the weights as a module of JavaScript, each with three decimals."""
    with torch.no_grad():
        for each in net.parameters():
            each.copy_(torch.round(each * 1000) / 1000)  # what is counted is what is written
    right, count = (digits.correct(net, data.test_images, data.test_digits),
                    len(data.test_digits))
    lines = [COMMENT.format(right=right, count=count)]
    for name, layer in (("HIDDEN", net[1]), ("OUTPUT", net[3])):
        rows = [_row(row) for row in layer.weight.tolist()]
        lines.append(f"export const {name} = {{\n  bias: {_row(layer.bias.tolist())},\n"
                     f"  weight: [\n    " + ",\n    ".join(rows) + ",\n  ],\n};\n")
    return "\n".join(lines)


def _row(numbers: list[float]) -> str:
    return "[" + ", ".join(f"{number:.3f}" for number in numbers) + "]"


def main() -> None:
    """Train, write the file, and tell what the network reads."""
    data = digits.load(SEED)
    text = written(trained(data, EPOCHS), data)
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(text)} bytes; " + text.splitlines()[1].lstrip("/ "))


if __name__ == "__main__":
    main()
