"""What programs may name besides the library: custom Functions, threads, and a place to look."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def define(torch: Any, seen: Callable[[Any], None]) -> dict[str, Any]:
    """Make the helpers for a library; what a program looks at goes to `seen`."""
    Function = torch.autograd.Function

    class Scale(Function):
        """x * factor, whose backward needs x as well."""

        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * x * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * g * x * ctx.factor, None

    class Same(Function):
        """x as it came, with a gradient three times as large."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    class Flat(Function):
        """A view of x."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.sizes = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g.reshape(ctx.sizes)

    class Double_(Function):
        """Doubles x in place."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class AddTo_(Function):
        """Adds x to its second input in place, and returns the product with 2 of the first too."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.mark_dirty(y)
            y.add_(x)
            return x * 2, y

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return 2 * g + h, h

    class Into_(Function):
        """Adds x to its second input in place, and returns that alone."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.mark_dirty(y)
            return y.add_(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g

    class Parts(Function):
        """Several outputs, one without a gradient; saves an output."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y, sign = x.exp(), x.sign()
            ctx.mark_non_differentiable(sign)
            ctx.save_for_backward(y)
            return y, sign, x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any, h: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y + h

    class Sparing(Function):
        """Two outputs whose missing gradients stay None."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            if g is None:
                return None if h is None else h * 3
            return g * 2 if h is None else g * 2 + h * 3

    class Once(Function):
        """A square whose backward cannot be differentiated again."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    class Faulty(Function):
        """Computes, but its backward raises."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ValueError("no way back")

    class Nothing(Function):
        """x * 2 whose backward gives no gradient."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    class Cube(Function):
        """x ** 3 by `setup_context`; saves its output, and can be differentiated again."""

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0], output)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * (x * x + 2 * y / x)

    class Halves(Function):
        """Two views of x."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.sizes = x.shape
            flat = x.view(-1)
            ctx.middle = flat.shape[0] // 2
            return flat[:ctx.middle], flat[ctx.middle:]

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return torch.cat([g, h * 2]).view(ctx.sizes)

    class Picky(Function):
        """x * y, whose backward looks at `needs_input_grad`."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return (g * y if ctx.needs_input_grad[0] else None,
                    g * x if ctx.needs_input_grad[1] else None)

    def raising(grad: Any) -> None:
        """A hook that fails."""
        raise KeyError("hook")

    def in_thread(call: Callable[[], Any]) -> Any:
        """Run `call` in a thread of its own, wait, and pass on its result or its error."""
        outcome: list[Any] = []

        def run() -> None:
            try:
                outcome.extend((call(), None))
            except Exception as error:
                outcome.extend((None, error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if outcome[1] is not None:
            raise outcome[1]
        return outcome[0]

    def together(*calls: Callable[[], Any]) -> None:
        """Run calls at once, each in a thread; the first error that one raised is passed on."""
        barrier, errors = threading.Barrier(len(calls)), [None] * len(calls)

        def run(index: int) -> None:
            barrier.wait()
            try:
                calls[index]()
            except Exception as error:
                errors[index] = error

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in errors:
            if error is not None:
                raise error

    return {f.__name__: f for f in (
        Scale, Same, Flat, Double_, AddTo_, Into_, Parts, Sparing, Once, Faulty, Nothing, Cube,
        Halves, Picky, raising, in_thread, together)} | {"seen": seen}
