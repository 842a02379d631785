"""A network that reads digits, for you to change until it reads more than 97 in 100.

    minigrad capstone digits

It reads 90 in 100 as it stands. Images come as (n, 1, 8, 8); it gives ten scores for each.
"""

from typing import Any

EPOCHS = 6
LEARNING_RATE = 3e-3


def network(torch: Any) -> Any:
    """Return a network that nobody has trained yet."""
    nn = torch.nn
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )
