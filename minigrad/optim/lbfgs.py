"""L-BFGS: Newton's method with a curvature estimated from the last few steps.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.grad_mode import enable_grad, no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer
from .state_arrays import State


def number(loss: Any) -> float:
    """Return a loss as a number, without the warning that its history is lost."""
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


class LBFGS(Optimizer):
    """Quasi-Newton steps: an estimated inverse Hessian times the gradient of all parameters.

    `step(closure)` takes up to `max_iter` such steps and calls the closure, which computes loss and
    gradients, up to `max_eval` times. With `line_search_fn="strong_wolfe"` a line search chooses
    the length of each step; otherwise it is `lr`. All parameters must be in one group.

    >>> from minigrad import optim, tensor
    >>> x = tensor([3.0, -1.0], requires_grad=True)
    >>> optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    8.0
    >>> x
    tensor([1., 1.], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1, max_iter: int = 20,
                 max_eval: int | None = None, tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:
        if not 0.0 <= lr:  # noqa: SIM300  # PyTorch's order, in the error for a str
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take steps until a limit is reached; return the loss before the first."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        with no_grad():
            return self._iterate(enable_grad()(closure))

    # ---------------------------------------------------------------- helpers

    def _iterate(self, evaluate: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, grad, evaluations = number(first), self._gathered(), 1
        state["func_evals"] += 1
        taken = 0
        while not self._is_flat(grad) and taken < group["max_iter"]:
            taken += 1
            state["n_iter"] += 1
            direction = self._direction(state, grad)
            before, state["prev_flat_grad"], state["prev_loss"] = loss, grad, loss
            t = group["lr"]
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / float(F.sum(F.abs(grad)))) * group["lr"]
            state["d"], state["t"] = direction, t
            slope = float(F.dot(grad, direction))
            if slope > -group["tolerance_change"]:
                break
            tried = 0
            if group["line_search_fn"] is not None:
                start = Point(0.0, loss, grad, slope)
                found, tried = self._searched(evaluate, start, t, direction)
                loss, grad, state["t"] = found.loss, found.grad, found.t
            else:
                self._move(direction, t)
                if taken != group["max_iter"]:
                    loss, grad, tried = number(evaluate()), self._gathered(), 1
            evaluations += tried
            state["func_evals"] += tried
            moved = float(F.max(F.abs(direction * state["t"])))
            if (evaluations >= group["max_eval"] or moved <= group["tolerance_change"]
                    or abs(loss - before) < group["tolerance_change"]):
                break
        return first

    def _is_flat(self, grad: Tensor) -> bool:
        return float(F.max(F.abs(grad))) <= self.param_groups[0]["tolerance_grad"]

    def _gathered(self) -> Tensor:
        """Return the gradients of all parameters as one vector, with zeros for missing ones."""
        found: Tensor = F.cat([F.reshape(F.zeros_like(p) if p.grad is None else p.grad, (-1,))
                               for p in self._params])
        return found

    def _move(self, direction: Tensor, t: float) -> None:
        offset = 0
        for p in self._params:
            part = direction[offset:offset + p.numel()]
            p.add_(F.reshape(part, p.shape), alpha=t)
            offset += p.numel()

    def _searched(self, evaluate: Callable[[], Any], start: Point, t: float,
                  direction: Tensor) -> tuple[Point, int]:
        """Take a step whose length the line search chooses."""
        group = self.param_groups[0]
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [F.clone(p) for p in self._params]

        def at(t: float) -> Point:
            self._move(direction, t)
            loss, grad = number(evaluate()), self._gathered()
            for p, value in zip(self._params, origin, strict=True):
                p.copy_(value)
            return Point(t, loss, grad, float(F.dot(grad, direction)))

        reach = float(F.max(F.abs(direction)))
        found, tried = strong_wolfe(at, start, t, reach, 1e-9)
        self._move(direction, found.t)
        return found, tried

    def _direction(self, state: State, grad: Tensor) -> Tensor:
        """Return the descent direction: minus the estimated inverse Hessian times the gradient."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -grad
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = grad - state["prev_flat_grad"], state["d"] * state["t"]
        product = F.dot(change, step)
        if float(product) > 1e-10:
            if len(changes) == self.param_groups[0]["history_size"]:
                for kept in (changes, steps, inverses):
                    kept.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / product)
            state["H_diag"] = product / F.dot(change, change)
        direction, shares = -grad, []
        for change, step, inverse in zip(changes[::-1], steps[::-1], inverses[::-1], strict=True):
            shares.append(F.dot(step, direction) * inverse)
            direction = direction - change * shares[-1]
        direction = direction * state["H_diag"]
        for change, step, inverse, share in zip(changes, steps, inverses, shares[::-1],
                                                strict=True):
            direction = direction + step * (share - F.dot(change, direction) * inverse)
        return direction
