"""What comes in place of a tensor is refused by the argument's name, as PyTorch does."""

from collections.abc import Iterator
from typing import Any

import pytest

import minigrad
from tests.support import parity
from tests.support.samples import IDS, OPS, samples

torch = pytest.importorskip("torch", reason="held beside PyTorch")

#: Functions that PyTorch writes in Python, where what is wrong is an attribute that is missing.
IN_PYTHON = {"norm", "split"}
#: Ops of which one operand may be a number, either one; PyTorch wants a tensor first in some.
EITHER = {"eq", "ne", "lt", "le", "gt", "ge", "fmod", "rsub"}


def function(library: Any, name: str) -> Any:
    """Return a library's own function of that name, or None."""
    places = (library, library.nn.functional, library.linalg)
    return next((f for place in places if (f := getattr(place, name, None)) is not None), None)


def as_torch(value: Any) -> Any:
    if isinstance(value, minigrad.Tensor):
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_torch, value))
    return value


def outcome(call: Any, args: list[Any], kwargs: dict[str, Any]) -> str:
    try:
        call(*args, **kwargs)
    except Exception as error:
        return type(error).__name__
    return "accepted"


def wrong_calls(op: Any) -> Iterator[tuple[list[Any], list[Any], dict[str, Any], str]]:
    """Yield calls of the first sample with something else in place of each tensor."""
    sample = next(iter(samples(op)))
    ours = [a.detach() if isinstance(a, minigrad.Tensor) else a for a in sample.args]
    theirs = list(map(as_torch, ours))
    both = [(function(library, op.name), args) for library, args in
            ((minigrad, ours), (torch, theirs))]
    if any(f is None or outcome(f, args, sample.kwargs) != "accepted" for f, args in both):
        return
    for place, value in enumerate(ours):
        if isinstance(value, minigrad.Tensor):
            for other in (2.0, "x", [1.0], None):
                if not (op.name in EITHER and place == 0 and other == 2.0):
                    yield (*([*args[:place], other, *args[place + 1 :]] for _, args in both),
                           sample.kwargs, f"{other!r} as argument {place}")


@pytest.mark.parametrize("op", OPS, ids=IDS)
def test_what_is_no_tensor_is_refused_where_pytorch_refuses_it(op):
    for ours, theirs, kwargs, what in wrong_calls(op):
        expected = outcome(function(torch, op.name), theirs, kwargs)
        if op.name in IN_PYTHON and expected == "AttributeError":
            expected = "TypeError"
        assert outcome(function(minigrad, op.name), ours, kwargs) == expected, what


@pytest.mark.parametrize(("call", "message"), [
    (lambda x: minigrad.hypot(x, 2.0),
     r"hypot\(\): argument 'other' \(position 2\) must be Tensor, not float"),
    (lambda x: minigrad.mm(2.0, x),
     r"mm\(\): argument 'input' \(position 1\) must be Tensor, not float"),
    (lambda x: minigrad.erf(None),
     r"erf\(\): argument 'input' \(position 1\) must be Tensor, not NoneType"),
    (lambda x: minigrad.nn.functional.one_hot("y"),
     r"one_hot\(\): argument 'input' \(position 1\) must be Tensor, not str"),
    (lambda x: x.addcmul(x, tensor2=3.0),
     r"addcmul\(\): argument 'tensor2' \(position 3\) must be Tensor, not float"),
    (lambda x: minigrad.cov(x, correction=True),
     r"cov\(\): argument 'correction' must be int, not bool"),
    (lambda x: x.rot90(1.5), r"rot90\(\): argument 'k' \(position 2\) must be int, not float"),
    (lambda x: minigrad.eq(2, x),
     r"eq\(\): argument 'input' \(position 1\) must be Tensor, not int"),
    (lambda x: minigrad.fmod(2.0, x),
     r"fmod\(\): argument 'input' \(position 1\) must be Tensor, not float"),
])
def test_the_error_names_the_argument(call, message):
    with pytest.raises(TypeError, match=message):
        call(minigrad.ones(2, 2))


def test_what_lacks_an_attribute_for_another_reason_says_so():
    with pytest.raises(AttributeError, match="no_such_thing"):
        minigrad.utils.checkpoint.checkpoint(lambda x: x.no_such_thing, minigrad.ones(2),
                                             use_reentrant=False)


REFUSED = [
    "torch.eye(True)", "torch.eye(2, True)", "torch.randperm(True)", "torch.randint(True, (2,))",
    "torch.ones(2, 2).prod((0, 1))", "torch.ones(2, 2).prod(dim=(0,))",
    "torch.movedim(torch.ones(2, 2), (0,), 0)", "torch.movedim(torch.ones(2, 2), 0, (0,))",
    "torch.moveaxis(torch.ones(2, 2), [0], 0)", "torch.tril_indices(True, 2)",
    "torch.triu_indices(2, True)", "torch.narrow(torch.ones(3), 0, True, 1)",
    "torch.repeat_interleave(torch.ones(3), True)", "torch.ones(2).prod(torch.tensor([0]))",
    "torch.ones(2).sum(torch.tensor([0.0]))", "torch.ones(2, 2).sum(torch.tensor([0, 1]))",
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_type_that_is_close_by_is_refused_as_in_pytorch(line):
    with pytest.raises(TypeError):
        eval(line, {"torch": minigrad})
    with pytest.raises(TypeError):
        eval(line, {"torch": torch})


ONE_INT = ["x.sum(i)", "x.sum(i, True)", "x.mean(i)", "x.amax(i)", "x.logsumexp(i)", "x.view(n)",
           "x.reshape(n)", "torch.ones(n)", "x.norm(2, i)", "x.sum(torch.tensor([True]))",
           "x.sum(torch.tensor([[1]]))", "x.argmax(i)"]


@pytest.mark.parametrize("line", ONE_INT)
def test_a_tensor_of_one_integer_stands_for_a_sequence_of_ints(line):
    mine, theirs = (parity.outcome(one, line, x=one.arange(4.0), i=one.tensor([0]),
                                   n=one.tensor([4])) for one in (minigrad, torch))
    assert mine == theirs.replace("(position 1)", "(position 2)")
