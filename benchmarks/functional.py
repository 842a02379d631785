"""What whole derivatives cost: minigrad, PyTorch, HIPS autograd and JAX side by side.

    python benchmarks/functional.py --json benchmarks/results/functional.json

The hessian of a scalar function of 100 inputs, the jacobian of a network from 100 to 100, row by
row and in one batched pass, and a product of the hessian with a vector. See README.md here.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import statistics
import sys
import time
from contextlib import ExitStack
from typing import Any

import _command as command
import _harness as harness
from _harness import Unavailable

SIZE = 100
REFERENCE = "pytorch"
ENGINES = {"minigrad": "minigrad", "pytorch": "PyTorch", "hips": "HIPS autograd", "jax": "JAX"}
MODULES = {"minigrad": "minigrad", "pytorch": "torch", "hips": "autograd", "jax": "jax"}
WORKLOADS = {
    "hessian_loop": "hessian, row by row",
    "hessian_batched": "hessian, one batched pass",
    "jacobian_loop": "jacobian, row by row",
    "jacobian_batched": "jacobian, one batched pass",
    "hvp": "hessian times a vector",
}
TARGETS = {"hessian_loop": 0.8, "hessian_batched": 1.0, "jacobian_loop": 0.8,
           "jacobian_batched": 1.0, "hvp": 1.2}


# ---- the work, in whatever library `np` is ------------------------------------------------------


def scalar(np: Any, x: Any, a: Any) -> Any:
    """A function of all inputs whose hessian is full."""
    hidden = np.tanh(a @ x)
    return (hidden * hidden).sum() + (x * x * x).sum()


def network(np: Any, x: Any, weights: Any) -> Any:
    """Three layers, 100 to 100."""
    (w1, b1), (w2, b2), (w3, b3) = weights
    return np.tanh(np.tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3


def data() -> dict[str, Any]:
    """The same inputs for every library, in float64."""
    import numpy  # here because the parent process needs nothing but the standard library

    rng = numpy.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return rng.normal(size=shape)

    return {"x": draw(SIZE), "v": draw(SIZE), "a": draw(SIZE, SIZE) / 10,
            "weights": [(draw(SIZE, SIZE) / 10, draw(SIZE)) for _ in range(3)]}


def expected(given: dict[str, Any]) -> dict[str, Any]:
    """The derivatives by hand, in NumPy and float64."""
    import numpy

    x, a = given["x"], given["a"]
    h = numpy.tanh(a @ x)
    curvature = (1 - h * h) * (2 - 6 * h * h)
    hessian = a.T @ (curvature[:, None] * a) + numpy.diag(6 * x)
    jacobian, value = numpy.eye(SIZE), x
    for place, (w, b) in enumerate(given["weights"]):
        value = value @ w + b
        jacobian = w.T @ jacobian
        if place < 2:
            value = numpy.tanh(value)
            jacobian = (1 - value * value)[:, None] * jacobian
    return {"hessian": hessian, "jacobian": jacobian, "hvp": hessian @ given["v"]}


def like_pytorch(torch: Any) -> dict[str, Any]:
    """The workloads for PyTorch and for minigrad."""
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    functional = torch.autograd.functional
    given = data()

    def t(array: Any) -> Any:
        return torch.tensor(array.tolist(), dtype=torch.float32)

    x, v, a = t(given["x"]), t(given["v"]), t(given["a"])
    weights = [(t(w), t(b)) for w, b in given["weights"]]

    def f(x: Any) -> Any:
        return scalar(torch, x, a)

    def g(x: Any) -> Any:
        return network(torch, x, weights)

    return {
        "hessian_loop": lambda: functional.hessian(f, x).numpy(),
        "hessian_batched": lambda: functional.hessian(f, x, vectorize=True).numpy(),
        "jacobian_loop": lambda: functional.jacobian(g, x).numpy(),
        "jacobian_batched": lambda: functional.jacobian(g, x, vectorize=True).numpy(),
        "hvp": lambda: functional.hvp(f, x, v)[1].numpy(),
    }


def hips(autograd: Any) -> dict[str, Any]:
    """The workloads for HIPS autograd, which has no batched pass."""
    np = importlib.import_module("autograd.numpy")
    given = data()
    x, v, a = (given[n].astype("float32") for n in "xva")
    weights = [(w.astype("float32"), b.astype("float32")) for w, b in given["weights"]]
    hessian = autograd.hessian(lambda x: scalar(np, x, a))
    jacobian = autograd.jacobian(lambda x: network(np, x, weights))
    product = autograd.hessian_vector_product(lambda x: scalar(np, x, a))
    return {"hessian_loop": lambda: hessian(x), "jacobian_loop": lambda: jacobian(x),
            "hvp": lambda: product(x, v)}


def jax(module: Any) -> dict[str, Any]:
    """The workloads for JAX, compiled; it has no loop."""
    np = importlib.import_module("jax.numpy")
    given = data()
    x, v, a = (np.asarray(given[n], dtype="float32") for n in "xva")
    weights = [(np.asarray(w, dtype="float32"), np.asarray(b, dtype="float32"))
               for w, b in given["weights"]]

    def f(x: Any) -> Any:
        return scalar(np, x, a)

    hessian = module.jit(module.hessian(f))
    jacobian = module.jit(module.jacrev(lambda x: network(np, x, weights)))
    product = module.jit(lambda x, v: module.jvp(module.grad(f), (x,), (v,))[1])
    return {"hessian_batched": lambda: hessian(x).block_until_ready(),
            "jacobian_batched": lambda: jacobian(x).block_until_ready(),
            "hvp": lambda: product(x, v).block_until_ready()}


ADAPTERS = {"minigrad": like_pytorch, "pytorch": like_pytorch, "hips": hips, "jax": jax}


# ---- the worker's side -------------------------------------------------------------------------


def work(key: str) -> None:
    """Answer requests about one engine until the parent closes the pipe."""
    loaded: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> Any:
        if request["task"] == "hello":
            try:
                module = importlib.import_module(MODULES[key])
            except ImportError as error:
                raise Unavailable(f"not installed ({error})") from error
            loaded.update(ADAPTERS[key](module))
            check(loaded)
            version = getattr(module, "__version__", None)
            return {"version": version or importlib.metadata.version(MODULES[key]),
                    "numpy": sys.modules["numpy"].__version__}
        if request["task"] not in loaded:
            raise Unavailable("has no such function")
        return time_runs(loaded[request["task"]], request["repeats"])

    harness.serve(answer)


def check(workloads: dict[str, Any]) -> None:
    """Raise unless every result is the derivative computed by hand in float64."""
    import numpy

    wanted = expected(data())
    for name, run in workloads.items():
        right, got = wanted[name.partition("_")[0]], numpy.asarray(run())
        if not numpy.allclose(got, right, rtol=1e-3, atol=1e-3):
            raise Unavailable(f"wrong result: {name} differs by {abs(got - right).max():.3g}")


def time_runs(run: Any, repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` runs, after one untimed run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(round(1e3 * (time.perf_counter() - start), 5))
    return times


# ---- the parent's side -------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything; a report with every round in it."""
    engines: dict[str, Any] = {}
    records: dict[str, Any] = {name: {"rounds": [], "not_available": {}} for name in WORKLOADS}
    report: dict[str, Any] = {
        "benchmark": "functional",
        "date": harness.now(),
        "machine": harness.machine(),
        "settings": {"quick": options.quick, "threads": 1, "inputs": SIZE, "dtype": "float32",
                     "rounds": options.rounds, "repeats_per_round": options.repeats,
                     "reference": REFERENCE},
        "engines": engines,
        "workloads": records,
    }
    with ExitStack() as stack:
        workers = command.start(__file__, options.engines, {}, engines, stack)
        for number in range(options.rounds):
            harness.progress(f"round {number + 1} of {options.rounds}")
            for name, record in records.items():
                request = {"task": name, "repeats": options.repeats}
                record["rounds"].append(
                    command.ask_each(workers, request, record["not_available"]))
    for record in records.values():
        medians = [{key: statistics.median(times) for key, times in each.items()}
                   for each in record["rounds"]]
        record["ms"] = harness.summary(medians, workers, REFERENCE)
    report["targets"] = [
        command.verdict(f"{WORKLOADS[name]} / PyTorch", limit,
                        records[name]["ms"].get("minigrad", {}).get("ratio"))
        for name, limit in TARGETS.items()]
    return report


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    engines, settings = report["engines"], report["settings"]
    usable = [key for key, engine in engines.items() if engine["status"] == "measured"]
    rows = [["milliseconds", *(f"{ENGINES[key]} (ratio)" for key in usable)]]
    rows += [[title, *(command.cell(report["workloads"][name]["ms"][key]) for key in usable)]
             for name, title in WORKLOADS.items()]
    return command.text(report, [
        "\n".join(f"{ENGINES[key]} {each['version']} (NumPy {each['numpy']})" if key in usable
                  else f"{ENGINES[key]}: {each['reason']}" for key, each in engines.items()),
        f"{SIZE} inputs, float32, one thread, {settings['rounds']} rounds of "
        f"{settings['repeats_per_round']}; ratios to PyTorch, paired by round\n"
        + harness.table(rows),
        command.verdicts(report["targets"]),
    ])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Command-line options with the defaults of a full or a quick run filled in."""
    parser = command.parser(__doc__, ENGINES)
    parser.add_argument("--rounds", type=int, help="rounds (15, quick 2)")
    options = parser.parse_args(arguments)
    options.engines = command.chosen(parser, options.engines, ENGINES)
    options.rounds = options.rounds or (2 if options.quick else 15)
    options.repeats = 2 if options.quick else 10
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the JSON."""
    command.run(parse(arguments), measure, render, work)


if __name__ == "__main__":
    main()
