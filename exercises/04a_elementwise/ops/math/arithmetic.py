# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/arithmetic.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# Names of the package's inside are explained in docs/en/glossary.md.

"""Arithmetic, element by element: sums, products, quotients.

An op has no instances: `self` and `other` are its operands.  `Unary` and `Binary` supply the
`forward` that calls the backend's function of the same name, such as `multiply`; see
NOTE [A formula's argument names are its save list] in op/declaration.py.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F, Unary
from ...shapes import broadcast
from ...tensor.tensor import method
from ..overloads import alias, is_number, overloaded
from .exp_log_trig import Above

BOOL_NEGATION = ("Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
                 "to invert a mask, use the `~` or `logical_not()` operator instead.")
BOOL_SUBTRACTION = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead.")


def scaled(xp, other, alpha):
    """Return `other * alpha`; `RuntimeError` where the product would need another dtype."""
    if isinstance(alpha, bool) and other.dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and other.dtype.kind != "f":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating "
                           "point number.")
    if other.dtype.kind == "b":
        return other if alpha else xp.zeros_like(other)
    return other if alpha == 1 else xp.multiply(other, alpha)


def pairs(make):
    """Yield samples of two tensors, and of a tensor and a number."""
    yield from Binary.samples(make)
    yield make(2, 3), 1.5


def pairs_with_alpha(make):
    """Yield the same, and a sample with the argument `alpha`."""
    yield from pairs(make)
    yield make(3, 4), make(4), {"alpha": 2.5}


# -------------------------------------------------------------------- sums and products


class Add(Binary):
    """The sum `self + alpha * other`; the shapes broadcast, the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1, 2]).add(tensor([10, 20]), alpha=2)
    tensor([21, 42])
    """

    node = "AddBackward0"
    numbers = True
    dunder = ("__add__", "__radd__")
    commutative = True
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        return xp.add(self, other if alpha == 1 else scaled(xp, other, alpha))

    def forward_inplace(xp, self, other, *, alpha=1):
        xp.add(self, other if alpha == 1 else scaled(xp, other, alpha), out=self)

    def grad_self(g):
        # 04a.4 Sums and products (about 12 lines)
        # One line each: the gradient of one input of Add (self + alpha * other), Sub (self -
        # alpha * other), Rsub (other - alpha * self), Mul, Neg and Addcmul (self + value *
        # tensor1 * tensor2). The arguments' names say what you get: `g` is the gradient of
        # the result, in the result's shape; the others are inputs and arguments of the
        # forward. Return the gradient in the result's shape: it is summed to the input's
        # shape for you. Use `+ - * /`, unary minus and functions of `F` only, for every
        # argument may be a tensor or a bare array. You may change the list of names: whatever
        # you name is saved.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_other(g, alpha):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")


class Sub(Binary):
    """The difference `self - alpha * other`; the shapes broadcast, the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]) - 1
    tensor([0., 1.])
    """

    node = "SubBackward0"
    numbers = True
    reject_bool = True
    dunder = ("__sub__",)
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        try:
            return xp.subtract(self, other if alpha == 1 else scaled(xp, other, alpha))
        except TypeError:
            raise RuntimeError(BOOL_SUBTRACTION) from None

    def forward_inplace(xp, self, other, *, alpha=1):
        xp.subtract(self, other if alpha == 1 else scaled(xp, other, alpha), out=self)

    def grad_self(g):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_other(g, alpha):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")


class Rsub(Binary):
    """The difference with its operands swapped, `other - alpha * self`.

    >>> from minigrad import rsub, tensor
    >>> rsub(tensor([1.0, 2.0]), tensor(5.0))
    tensor([4., 3.])
    """

    overload = "rsub", 0
    inplace = False
    numbers = ("other",)
    reject_bool = True
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        try:
            return xp.subtract(other, self if alpha == 1 else scaled(xp, self, alpha))
        except TypeError:
            raise RuntimeError(BOOL_SUBTRACTION) from None

    def grad_self(g, alpha):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_other(g):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")


class RsubNumber(Rsub):
    """A number minus a tensor.

    >>> from minigrad import tensor
    >>> 1 - tensor([1.0, 2.0])
    tensor([ 0., -1.])
    """

    overload = "rsub", 1
    grad_other = None  # type: ignore[assignment]  # a number has none
    dunder = ("__rsub__",)

    def samples(make):
        yield make(3, 4), 2.5
        yield make(2), 3, {"alpha": 2}


@overloaded(inplace=False, method_too=False)
def rsub(input, other, *, alpha=1):
    """Return `other - alpha * input`; `other` may be a number. Source: `torch.rsub`.

    >>> from minigrad import rsub, tensor
    >>> rsub(tensor([1.0, 2.0]), 5)
    tensor([4., 3.])
    """
    return RsubNumber if is_number(other) else Rsub, input, other, alpha


class Mul(Binary):
    """The elementwise product; the shapes broadcast, the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) * 1.5
    tensor([1.5000, 3.0000])
    """

    node = "MulBackward0"
    function = "multiply"
    numbers = True
    float32_scalars = ("other",)
    dunder = ("__mul__", "__rmul__")
    commutative = True
    samples = pairs

    def forward_inplace(xp, self, other):
        xp.multiply(self, other, out=self)

    def grad_self(g, other):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_other(g, self):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")


class Neg(Unary):
    """The negative of each element; bool tensors have none.

    >>> from minigrad import tensor
    >>> -tensor([1.0, -2.0])
    tensor([-1.,  2.])
    """

    out = "exact"
    promote = "result"
    dunder = ("__neg__",)

    def forward(xp, self):
        try:
            return xp.negative(self)
        except TypeError:
            raise RuntimeError(BOOL_NEGATION) from None

    def grad_self(g):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")


class Addcmul(Binary):
    """`self + value * tensor1 * tensor2`; the shapes broadcast.

    >>> from minigrad import addcmul, tensor
    >>> addcmul(tensor([1.0]), tensor([2.0]), tensor([3.0]), value=10)
    tensor([61.])
    """

    def forward(xp, self, tensor1, tensor2, *, value=1):
        if self.dtype.kind != "f":
            value = int(value)
        if self.dtype.kind == "b":
            broadcast(self.shape, tensor1.shape, tensor2.shape)
            require(self, "iuf", "addcmul_cpu_out")
        return self + value * tensor1 * tensor2

    def grad_self(g):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_tensor1(g, tensor2, value):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def grad_tensor2(g, tensor1, value):
        # 04a.4 Sums and products: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums and products is yours to write")

    def samples(make):
        yield make(3, 4), make(3, 1), make(4)
        yield make(2), make(2), make(2), {"value": -0.5}
        yield make(), make(), make()


# -------------------------------------------------------------------- quotients


class Div(Binary):
    """The quotient `self / other`, floating even of integers.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) / 2
    tensor([0.5000, 1.0000])
    """

    overload = "div", 0
    function = "divide"
    numbers = True
    float32_scalars = ("other",)
    promote = "float"
    dunder = ("__truediv__",)
    samples = pairs

    def forward_inplace(xp, self, other):
        xp.divide(self, other, out=self)

    def grad_self(g, other):
        # 04a.5 Quotients (about 5 lines)
        # One line each, as in 04a.4: the gradients of Div (self / other) for both inputs, of
        # Reciprocal (1 / self; you get its `result`), and of Addcdiv (self + value * tensor1
        # / tensor2) for tensor1 and tensor2. In Div do not form the square of the divisor:
        # 1e25 squared is infinite in float32, though the gradient of 1e30 / 1e25 is a decent
        # -1e-20. Divide twice.
        raise NotImplementedError("04a.5 Quotients is yours to write")

    def grad_other(g, self, other):
        # 04a.5 Quotients: see the task at `Div.grad_self`.
        raise NotImplementedError("04a.5 Quotients is yours to write")


@method("__rtruediv__")
def reversed_div(self, other):
    """Divide a number by a tensor."""
    return F.mul(F.reciprocal(self), other) if is_number(other) else NotImplemented


class Reciprocal(Above):
    """`1 / self`, floating even of integers.

    >>> from minigrad import reciprocal, tensor
    >>> reciprocal(tensor([2, 4]))
    tensor([0.5000, 0.2500])
    """

    def forward(xp, self):
        return xp.divide(1, self)

    def grad_self(g, result):
        # 04a.5 Quotients: see the task at `Div.grad_self`.
        raise NotImplementedError("04a.5 Quotients is yours to write")


class Addcdiv(Binary):
    """`self + value * tensor1 / tensor2` of floating-point tensors; the shapes broadcast.

    >>> from minigrad import addcdiv, tensor
    >>> addcdiv(tensor([1.0]), tensor([3.0]), tensor([2.0]), value=10)
    tensor([16.])
    """

    def forward(xp, self, tensor1, tensor2, *, value=1):
        if tensor1.dtype.kind != "f":
            raise RuntimeError(
                "Integer division with addcdiv is no longer supported, and in a future  release "
                "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
                "behavior can be implemented as (input + value * torch.trunc(tensor1 / "
                "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
                "tensor2) for float inputs. The future addcdiv behavior is just the latter "
                "implementation: (input + value * tensor1 / tensor2), for all dtypes.")
        return self + value * (tensor1 / tensor2)

    def grad_self(g):
        return g

    def grad_tensor1(g, tensor2, value):
        # 04a.5 Quotients: see the task at `Div.grad_self`.
        raise NotImplementedError("04a.5 Quotients is yours to write")

    def grad_tensor2(g, tensor1, tensor2, value):
        # 04a.5 Quotients: see the task at `Div.grad_self`.
        raise NotImplementedError("04a.5 Quotients is yours to write")

    def samples(make):
        yield make(3, 4), make(3, 1), make(4, low=0.5)
        yield make(2), make(2), make(2, low=0.5), {"value": -0.5}


alias(Sub, "subtract")
alias(Mul, "multiply")
alias(Neg, "negative")
