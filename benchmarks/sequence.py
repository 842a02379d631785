"""What a training step on sequences costs: a small GPT and an LSTM, beside PyTorch.

    python benchmarks/sequence.py --json benchmarks/results/sequence.json

GPT: 4 blocks of width 128, 4 heads, 16 pieces of 64 characters, AdamW. LSTM: characters as vectors
of 64, a state of 128, 32 pieces of 32 characters, Adam. Forward, backward and the optimiser, on one
thread and on two. See README.md here.
"""

from __future__ import annotations

import importlib
from typing import Any

import _harness as harness
from _steps import Engine, Steps

ALPHABET = 100
GPT, LSTM = "GPT 16x64", "LSTM 32x32"
SHAPES = {GPT: (16, 64), LSTM: (32, 32)}  # samples and characters
WIDTH, BLOCKS, HEADS = 128, 4, 4  # of the GPT
INPUTS, STATE = 64, 128  # of the LSTM


def data(case: str) -> tuple[Any, Any]:
    """Characters and those that follow, as numbers (samples, characters)."""
    import numpy  # here because the parent process needs nothing but the standard library

    samples, length = SHAPES[case]
    text = numpy.random.default_rng(0).integers(0, ALPHABET, (samples, length + 1))
    return text[:, :-1], text[:, 1:]


def gpt_of(module: str) -> Any:
    """The package's GPT, made with the package or, from the same source, with PyTorch."""
    models = harness.from_package(module, "minigrad/nn/models/gpt.py")
    return models.GPT(models.GPTConfig(ALPHABET, SHAPES[GPT][1], BLOCKS, HEADS, WIDTH))


def lstm_of(torch: Any) -> Any:
    """A network that predicts the next character from a state."""

    class Reader(torch.nn.Module):  # type: ignore[misc]  # the package decides what it is
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(ALPHABET, INPUTS)
            self.lstm = torch.nn.LSTM(INPUTS, STATE, batch_first=True)
            self.head = torch.nn.Linear(STATE, ALPHABET)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.embedding(x))[0])

    return Reader()


class TorchLike:
    """PyTorch and minigrad."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        torch = importlib.import_module(module)
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        self.net = gpt_of(module) if case == GPT else lstm_of(torch)
        optimizer = torch.optim.AdamW if case == GPT else torch.optim.Adam
        self.optimizer = optimizer(self.net.parameters(), lr=1e-3)
        self.loss = torch.nn.functional.cross_entropy
        self.x, self.y = (torch.tensor(a) for a in data(case))
        self.last: Any = None

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.last = self.loss(self.net(self.x).flatten(0, 1), self.y.flatten())
        self.last.backward()
        self.optimizer.step()

    def results(self) -> dict[str, float]:
        losses = {}
        for number in range(3):
            self.step()
            losses[f"loss of step {number}"] = float(self.last.item())
        return losses


class Products:
    """The matrix products of a step and nothing else: the least that NumPy needs."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.np = np = importlib.import_module(module)
        self.samples, self.length = SHAPES[case]
        rows = self.samples * self.length

        def made(*shape: int) -> Any:
            return np.random.default_rng(0).standard_normal(shape).astype("float32")

        if case == GPT:
            shapes = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
            shapes = shapes * BLOCKS + [(WIDTH, ALPHABET)]
        else:
            shapes = [(INPUTS, 4 * STATE), (STATE, ALPHABET)]
        self.layers = [(made(rows, i), made(i, o), made(rows, o)) for i, o in shapes]
        self.heads = made(self.samples, HEADS, self.length, WIDTH // HEADS)
        self.state, self.gates = made(self.samples, STATE), made(self.samples, 4 * STATE)
        self.weight = made(STATE, 4 * STATE)
        self.case = case

    def step(self) -> None:
        for x, w, g in self.layers:  # forward, by the input and by the weight
            _ = x @ w, g @ w.T, x.T @ g
        if self.case == GPT:
            for _ in range(BLOCKS):
                weights = self.heads @ self.heads.swapaxes(-1, -2)
                _ = self.heads @ self.heads.swapaxes(-1, -2), [weights @ self.heads for _ in "4321"]
        else:
            for _ in range(self.length):
                _ = self.state @ self.weight, self.gates @ self.weight.T
            _ = self.layers[0][2].T @ self.layers[1][0]  # by the state's weight, all steps at once


class Traced:
    """HIPS autograd with the LSTM, written with its functions."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        if case != LSTM:
            raise harness.Unavailable("has no layers of a GPT")
        np = importlib.import_module("autograd.numpy")
        autograd = importlib.import_module(module)
        rng = importlib.import_module("numpy").random.default_rng(0)
        x, y = (a.T for a in data(case))  # one row for each time step
        shapes = [(ALPHABET, INPUTS), (INPUTS, 4 * STATE), (STATE, 4 * STATE), (4 * STATE,),
                  (STATE, ALPHABET), (ALPHABET,)]
        self.weights = [(0.1 * rng.standard_normal(s)).astype("float32") for s in shapes]
        self.moments = [(0 * w, 0 * w) for w in self.weights]
        zero = importlib.import_module("numpy").zeros((x.shape[1], STATE), "float32")

        def sigmoid(x: Any) -> Any:
            return 0.5 * np.tanh(0.5 * x) + 0.5

        def loss(weights: Any) -> Any:
            table, w_input, w_state, bias, w_head, b_head = weights
            gates, h, c, outputs = np.dot(table[x], w_input) + bias, zero, zero, []
            for step in range(len(x)):
                i, f, a, o = np.split(gates[step] + np.dot(h, w_state), 4, 1)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(a)
                h = sigmoid(o) * np.tanh(c)
                outputs.append(h)
            scores = np.dot(np.concatenate(outputs), w_head) + b_head
            scores = scores - np.max(scores, axis=1, keepdims=True)
            logs = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
            return -np.mean(logs[range(y.size), y.reshape(-1)])

        self.value_and_grad = autograd.value_and_grad(loss)

    def step(self) -> None:
        _, slopes = self.value_and_grad(self.weights)
        for w, g, (mean, square) in zip(self.weights, slopes, self.moments, strict=True):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            w -= 1e-3 * mean / (square**0.5 + 1e-8)


BENCHMARK = Steps(
    script=__file__,
    engines={
        "minigrad": Engine("minigrad", "minigrad", "minigrad-course", TorchLike),
        "pytorch": Engine("PyTorch", "torch", "torch", TorchLike, uses_openblas=False),
        "products": Engine("matrix products alone", "numpy", "numpy", Products),
        "hips": Engine("HIPS autograd", "autograd", "autograd", Traced),
    },
    cases=list(SHAPES),
    targets={(GPT, 1): 1.5, (GPT, 2): 1.7, (LSTM, 1): 1.5, (LSTM, 2): 1.7},
    by_hand="products",
)

if __name__ == "__main__":
    BENCHMARK.main(__doc__)
