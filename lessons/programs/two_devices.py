"""Train a network whose hidden units are spread over two devices.

    minigrad python --mine 03c two_devices.py              with your own threads
    python lessons/programs/two_devices.py --steps 40
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence

from minigrad.examples.device_threads import CPU, Engine, Placed, place
from minigrad.tiny import Number, gradients, tanh
from minigrad_course.demos.two_moons import two_moons

#: The seconds that each step of the race takes on its device.
STEP = 0.02


class Network:
    """A tanh layer whose units are on devices 0 and 1 by turns, and a last unit on the CPU."""

    def __init__(self, units: int) -> None:
        self.hidden = [[Number(random.uniform(-1, 1)) for _ in range(3)] for _ in range(units)]
        self.last = [Number(random.uniform(-1, 1)) for _ in range(units + 1)]
        self.weights = [weight for row in (*self.hidden, self.last) for weight in row]
        self.worked: Counter[str] = Counter()  # the steps that each thread has run
        self.lock = threading.Lock()

    def on(self, number: Number, device: int) -> Placed:
        """Place a step on a device, and count it for the thread that runs it."""
        def apply(grad: float) -> Sequence[float]:
            name = names.get(threading.current_thread(), "the caller")
            with self.lock:
                self.worked[name] += 1
            return [grad * local for local in number.slopes]

        return place(number, device, apply)

    def __call__(self, point: Sequence[float]) -> Number:
        """Return a number near 1 for the upper moon, and near -1 for the lower one."""
        x, y = point
        total: Number = self.last[-1]
        for i, (a, b, c) in enumerate(self.hidden):
            unit = self.on(tanh(self.on(a * x + b * y + c, i % 2)), i % 2)
            total = self.on(total + self.last[i] * unit, CPU)
        return tanh(total)


engine = Engine(devices=2)
names: dict[threading.Thread, str] = {}


def race() -> None:
    """Run two chains of slow steps on one device, then on two."""
    def slow(grad: float) -> Sequence[float]:
        time.sleep(STEP)
        return [grad]

    def chain(number: Number, device: int) -> Number:
        for _ in range(8):
            number = Placed(number.value, (number,), (), device, slow)
        return number

    took = []
    for devices in ((0, 0), (0, 1)):
        leaf = Number(1.0)
        result = chain(leaf, devices[0]) + chain(leaf, devices[1])
        start = time.perf_counter()
        engine.execute(result)
        took.append(time.perf_counter() - start)
    print(f"two chains of 8 slow steps: {took[0] / took[1]:.0f} times as fast on two devices")


def train(network: Network, steps: int) -> None:
    """Train on twenty points, and compare the first gradients with those of `tiny.py`."""
    points = two_moons(20)
    for step in range(steps + 1):
        loss = Number(0.0)
        for point, label in points:
            error = network(point) - label
            loss = loss + error * error
        loss = loss / len(points)
        for weight in network.weights:
            weight.grad = 0.0
        engine.execute(loss)
        if step == 0:
            slopes = gradients(loss)
            same = all(abs(each.grad - slopes[each]) < 1e-12 for each in network.weights)
            print("gradients as in tiny.py:", same)
        for weight in network.weights:
            weight.value -= weight.grad
        if step % 25 == 0:
            print(f"step {step:3}: loss {loss.value:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=8, help="units of the hidden layer")
    parser.add_argument("--steps", type=int, default=100, help="steps of training")
    options = parser.parse_args()
    if options.units < 1 or options.steps < 0:
        parser.error("--units is at least 1, --steps at least 0")
    random.seed(0)
    engine.start_threads()
    names.update({thread: f"device {i}" for i, thread in enumerate(engine.threads)})
    race()
    network = Network(options.units)
    train(network, options.steps)
    print(", ".join(f"{name}: {network.worked[name]:,} steps"
                    for name in ("the caller", "device 0", "device 1")))
    engine.stop()


if __name__ == "__main__":
    main()
