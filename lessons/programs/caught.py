"""Train a network with three softmaxes: a bug that nobody notices, the same one caught, its repair.

    minigrad python --mine 06 caught.py                 on your own saved tensors
    python lessons/programs/caught.py --steps 200
"""

from __future__ import annotations

import argparse

from minigrad_course.demos.softmax_training import SOFTMAX, four_clouds, train


def main() -> None:
    """Train with each of the three, and print the losses as a curve."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=200, help="points in four clouds (200)")
    parser.add_argument("--steps", type=int, default=60, help="steps of training (60)")
    chosen = parser.parse_args()
    if chosen.points < 4 or chosen.steps < 1:
        parser.error("--points is 4 or more, --steps 1 or more")
    points, labels = four_clouds(chosen.points)
    for name, softmax in SOFTMAX.items():
        losses, right, error = train(softmax, points, labels, chosen.steps)
        print(f"powers divided: {name}")
        for step in range(0, len(losses), max(1, chosen.steps // 6)):
            print(f"  step {step:3} {'█' * round(losses[step] * 30)} {losses[step]:.3f}")
        print(f"  stopped: {error.partition(' Hint')[0]}" if error else
              f"  {right:.0%} of the points are told rightly")


if __name__ == "__main__":
    main()
