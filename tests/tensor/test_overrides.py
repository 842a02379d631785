"""`__torch_function__`: subclasses that ops keep, objects that take calls over, and modes.

Tests that take `torch` run on PyTorch, too.
"""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
import warnings
from importlib import import_module
from typing import Any

import pytest

import minigrad
from minigrad import Tensor
from minigrad.op.publish import FUNCTIONS
from tests.support.engines import on_each_engine
from tests.support.gathered import check_all
from tests.support.samples import OPS, samples


class Kept(Tensor):
    """A subclass that adds no attributes."""


class Stated(Tensor):
    """A subclass with state for pickles."""


def keeps(result: Any) -> bool:
    """Return whether all tensors of a result are of the subclass."""
    if isinstance(result, tuple | list):
        return all(map(keeps, result))
    return type(result) is Kept if isinstance(result, Tensor) else True


def converted(sample: Any, chosen: int | None) -> Any:
    """Return the sample with one tensor, or all of them, as `Kept`."""
    turn = iter(range(1000))

    def change(tensor: Tensor) -> Tensor:
        mine = chosen is None or next(turn) == chosen
        return tensor.detach().as_subclass(Kept) if mine else tensor.detach()

    return sample.replaced(change)


@pytest.mark.parametrize("which", ["one of", "all"])
def test_each_op_keeps_a_subclass(which: str) -> None:
    def check(op: Any) -> None:
        for sample in samples(op):
            count = len(sample.tensors())
            for chosen in range(count) if which == "one of" else [None]:
                call = converted(sample, chosen)
                forms = [FUNCTIONS[op.name]] + ([vars(Tensor)[op.name]] if op.method else [])
                for form in forms:
                    result = form(*call.args, **call.kwargs)
                    assert keeps(result), f"{sample.label}, tensor {chosen}: {type(result)}"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated ops warn
        check_all(check, [op for op in OPS if op.public])


@pytest.mark.parametrize("op", [op for op in OPS if op.inplace and op.public and op.method],
                         ids=lambda op: op.__name__)
def test_each_in_place_op_returns_the_subclass_itself(op: Any) -> None:
    sample = converted(samples(op)[0], 0)
    target = sample.args[0]
    try:
        result = getattr(target, op.name + "_")(*sample.args[1:], **sample.kwargs)
    except RuntimeError as error:
        assert "dtype" in str(error) or "type" in str(error)
        return
    assert result is target
    assert type(target) is Kept


def made(torch: Any, **body: Any) -> Any:
    """Return a subclass of the engine's tensor."""
    return type("Mine", (torch.Tensor,), body)


EXPRESSIONS = [
    "x + 1", "1 + x", "1 - x", "2 / x", "2 ** x", "-x", "plain + x", "x @ x", "x == 1", "x[0]",
    "x[x > 0]", "x.T", "x.mT", "x.data", "x.real", "x.clone()", "x.detach()", "x.sum()",
    "x.max(0).values", "x.new_zeros(2)", "x.new_tensor([1.0])", "x.to(torch.float64)", "x.double()",
    "x.view(-1)", "x.split(1)[0]", "x.unbind()[0]", "[*x][0]", "torch.zeros_like(x)",
    "torch.rand_like(x)", "torch.cat([plain, x])", "torch.stack([x, plain])", "torch.exp(x)",
    "torch.where(x > 0, x, plain)", "torch.einsum('ij,ij->', x, plain)", "torch.linalg.norm(x)",
    "torch.special.expit(x)", "F.relu(x)", "F.mse_loss(x, plain)", "F.mse_loss(plain, x)",
    "F.linear(x, plain)", "F.dropout(x)", "torch.nn.Linear(2, 2)(x)", "torch.tensor(x)",
    "torch.as_tensor(x)", "x.as_subclass(torch.Tensor)", "torch.nn.Parameter(x)", "x.add_(1)",
    "x.requires_grad_()", "x.grad", "plain.mul(x)", "plain.gather(0, (x * 0).long())",
    "x.as_subclass(Opted) + 1", "Parameter(plain) * 2", "Below(plain) + x", "x + Below(plain)",
    "copy.copy(x)", "torch.utils.data.default_collate([x, x])", "x.bernoulli(0.5)",
]


@on_each_engine
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore:To copy construct:UserWarning")  # tensor(x) does warn
def test_expressions_have_the_class_that_they_have_in_pytorch(torch: Any, expression: str) -> None:
    import_module(torch.__name__ + ".utils.data")
    mine = made(torch)
    impl = import_module(torch.__name__ + "._C")._disabled_torch_function_impl
    names = {"torch": torch, "F": torch.nn.functional, "copy": copy,
             "Opted": made(torch, __torch_function__=impl),
             "Parameter": type("P", (torch.nn.Parameter,), {}), "Below": type("B", (mine,), {}),
             "x": torch.ones(2, 2).as_subclass(mine), "plain": torch.ones(2, 2)}
    found = type(eval(expression, names)).__name__
    plain = ("torch.tensor(x)", "x.as_subclass(torch.Tensor)", "x.as_subclass(Opted) + 1",
             "Parameter(plain) * 2")
    expected = ("Tensor" if expression in plain else "NoneType" if expression == "x.grad"
                else "B" if "Below" in expression else "Mine")
    assert found == expected


def recording(torch: Any) -> tuple[Any, list[tuple[str, tuple[Any, ...], Any]]]:
    """Return a subclass that records what it is told, and the list."""
    calls: list[tuple[str, tuple[Any, ...], Any]] = []

    def __torch_function__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
                           ) -> Any:
        calls.append((torch.overrides.resolve_name(func), types, kwargs))
        return super(mine, cls).__torch_function__(func, types, args, kwargs)

    mine = made(torch, __torch_function__=classmethod(__torch_function__))
    return mine, calls


CALLS = {
    "x + 1": ["torch.Tensor.add"], "1 + x": ["torch.Tensor.add"],
    "1 - x": ["torch.Tensor.__rsub__"],
    "x.add(1)": ["torch.Tensor.add"], "torch.add(x, 1)": ["torch.add"],
    "plain * x": ["torch.Tensor.mul"], "torch.cat([plain, x])": ["torch.cat"],
    "x.sum(0)": ["torch.Tensor.sum"], "torch.sum(x, dim=0)": ["torch.sum"],
    "x.shape": ["torch.Tensor.shape.__get__"], "x.size()": ["torch.Tensor.size"],
    "x.dtype": ["torch.Tensor.dtype.__get__"], "x.tolist()": ["torch.Tensor.tolist"],
    "len(x)": ["torch.Tensor.__len__"], "x[0]": ["torch.Tensor.__getitem__"],
    "x.backward": [], "torch.is_tensor(x)": [], "x.numel()": ["torch.Tensor.numel"],
    "torch.nn.functional.relu(x)": ["torch.nn.functional.relu"],
    "torch.nn.functional.mse_loss(x, plain)": ["torch.nn.functional.mse_loss"],
    "torch.linalg.norm(x)": ["torch.linalg.norm"], "x.add_(1)": ["torch.Tensor.add_"],
    "x.new_zeros(1)": ["torch.Tensor.new_zeros"], "torch.zeros_like(x)": ["torch.zeros_like"],
    "x.type()": ["torch.Tensor.type"], "x.bool()": ["torch.Tensor.bool"],
    "x.requires_grad": ["torch.Tensor.requires_grad.__get__"],
    "x.sum().backward": ["torch.Tensor.sum"], "hash(x)": [],
    "x.as_subclass(torch.Tensor)": [], "x.__class__": [],
}


@on_each_engine
@pytest.mark.parametrize("expression", CALLS)
def test_a_class_is_told_of_the_call_that_its_user_made(torch: Any, expression: str) -> None:
    mine, calls = recording(torch)
    x, plain = torch.ones(2).as_subclass(mine), torch.ones(2)
    calls.clear()
    result = eval(expression, {"torch": torch, "x": x, "plain": plain})
    assert [name for name, _, _ in calls if not name.endswith("grad_fn.__get__")] == CALLS[
        expression], result is None
    assert all(types[0] is mine for _, types, _ in calls)


@on_each_engine
def test_properties_can_be_set_and_methods_can_be_replaced(torch: Any) -> None:
    mine = made(torch, shape=property(lambda self: "mine"), add=lambda self, other: "added")
    x = torch.ones(2).as_subclass(mine)
    assert (x.shape, x.add(1), x.size()) == ("mine", "added", (2,))
    x.requires_grad = True
    x.grad = torch.ones(2)
    assert x.requires_grad
    assert x.grad.tolist() == [1, 1]
    del x.grad
    assert x.grad is None
    x.mine = 3
    assert x.mine == 3


SCALAR = '''
import torch, functools
HANDLED = {}
class ScalarTensor:
    def __init__(self, n, value):
        self._n, self._value = n, value
    def __repr__(self):
        return f"ScalarTensor(N={self._n}, value={self._value})"
    def tensor(self):
        return self._value * torch.eye(self._n)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, ScalarTensor))
                                          for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))
def implements(function):
    def decorator(own):
        HANDLED[function] = own
        return own
    return decorator
def ensure(data):
    return data if isinstance(data, torch.Tensor) else data.tensor()
@implements(torch.mean)
def mean(input):
    return float(input._value) / input._n
@implements(torch.add)
def add(input, other):
    try:
        return ScalarTensor(input._n, input._value + other._value)
    except AttributeError:
        return torch.add(ensure(input), ensure(other))
implements(torch.nn.functional.relu)(lambda input, **options: "relu")
implements(torch.Tensor.mul)(lambda self, other: "mul")
d = ScalarTensor(2, 3)
print(FIRST)
print(torch.mean(d), torch.add(d, d), torch.add(torch.ones(2, 2), d).tolist())
print(torch.nn.functional.relu(d), torch.ones(1).mul(d))
try:
    torch.mul(d, 3)
except TypeError as error:
    print(str(error).splitlines()[0])
'''


@pytest.mark.slow
@pytest.mark.parametrize("first", ["torch.mean(d)", "torch.add(torch.ones(2, 2), d)",
                                   "torch.ones(1).mul(d)", "torch.nn.functional.relu(d)"])
def test_an_object_that_is_no_tensor_takes_calls_over_from_its_first_one(first: str) -> None:
    program = "import minigrad; minigrad.as_torch()\n" + SCALAR.replace("FIRST", first)
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                             check=True).stdout.splitlines()
    assert printed[-3:] == [
        "1.5 ScalarTensor(N=2, value=6) [[4.0, 1.0], [1.0, 4.0]]", "relu mul",
        "Multiple dispatch failed for 'torch.mul'; all __torch_function__ handlers returned "
        "NotImplemented:"]


@on_each_engine
def test_an_object_with_metadata_takes_part_in_ops(torch: Any) -> None:
    class WithMetadata:
        def __init__(self, data: Any, metadata: Any) -> None:
            self.data, self.metadata = data, metadata

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            metadata = next(each.metadata for each in args if isinstance(each, cls))
            plain = [each.data if isinstance(each, cls) else each for each in args]
            return cls(func(*plain, **(kwargs or {})), metadata)

    result = torch.mul(torch.tensor([1.0, 2.0]), WithMetadata(torch.tensor([3.0, 4.0]), "owner"))
    assert (result.data.tolist(), result.metadata) == ([3, 8], "owner")


@on_each_engine
def test_classes_answer_in_order_and_the_call_fails_if_none_does(torch: Any) -> None:
    asked = []

    def asking(name: str, *bases: Any) -> Any:
        def __torch_function__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            asked.append(name)
            return NotImplemented

        return type(name, bases, {"__torch_function__": classmethod(__torch_function__)})

    first = asking("First", torch.Tensor)
    second, below = asking("Second", torch.Tensor), asking("Below", first)
    x, y, z = (torch.ones(1).as_subclass(each) for each in (first, second, below))
    with pytest.raises(TypeError, match=r"(?s)failed for 'torch\.cat'.*Below.*First.*Second"):
        torch.cat([x, y, z, x])
    assert asked == ["Below", "First", "Second"]


@on_each_engine
def test_plain_methods_are_deprecated(torch: Any) -> None:
    class Old:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            return 3

    with pytest.warns(UserWarning, match="as a plain method is deprecated"):
        assert torch.add(Old(), 1) == 3


@on_each_engine
def test_blocks_disable_the_protocol(torch: Any) -> None:
    internal = import_module(torch.__name__ + "._C")
    x = torch.ones(1).as_subclass(made(torch))
    with internal.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
        assert not internal._is_torch_function_enabled()
    with internal.DisableTorchFunction():
        assert type(torch.exp(x)) is torch.Tensor
    assert type(x + 1) is type(x)


@on_each_engine
def test_modes_see_calls_with_plain_tensors_and_nest(torch: Any) -> None:
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            seen.append((self.name, torch.overrides.resolve_name(func)))
            return func(*args, **(kwargs or {}))

    with Mode("outer"):
        a = torch.ones(2)
        torch.cat([a, a + 1])
        with Mode("inner"):
            a.mul_(2)
    assert a.tolist() == [2, 2]
    assert seen == [("outer", "torch.ones"), ("outer", "torch.Tensor.add"), ("outer", "torch.cat"),
                    ("inner", "torch.Tensor.mul_"), ("outer", "torch.Tensor.mul_")]
    assert torch.overrides._get_current_function_mode() is None


@on_each_engine
def test_a_mode_may_decline(torch: Any) -> None:
    class Declining(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            return NotImplemented

    mine = made(torch)
    x = torch.ones(1).as_subclass(mine)
    with Declining():
        with pytest.raises(TypeError):
            x * 2
        with pytest.raises(TypeError, match="mode object"):
            torch.ones(1)
    with torch.overrides.BaseTorchFunctionMode():
        assert torch.ones(1).item() == 1


@on_each_engine
def test_functions_of_users_take_part(torch: Any) -> None:
    overrides = torch.overrides

    def double(x: Any) -> Any:
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(double, (x,), x)
        return x * 2

    mine, calls = recording(torch)
    x = torch.ones(1).as_subclass(mine)
    calls.clear()
    assert type(double(x)) is mine
    assert calls[0][0] is None
    assert type(double(torch.ones(1))) is torch.Tensor
    assert overrides.has_torch_function_unary(x)
    assert overrides.has_torch_function_variadic(1, x)
    assert not overrides.has_torch_function((torch.ones(1), torch.nn.Parameter(torch.ones(1)), 2))
    assert overrides.is_tensor_like(x)
    assert not overrides.is_tensor_like([1])


@on_each_engine
def test_redispatch_skips_one_level(torch: Any, capsys: Any) -> None:
    overrides = torch.overrides

    def scaled(a: Any, b: Any) -> Any:
        if overrides.has_torch_function((a, b)):
            return overrides.handle_torch_function(scaled, (a, b), a, b)
        return a * b + 1

    def __torch_function__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
                           ) -> Any:
        print(func.__name__)
        return overrides.redispatch_function(func, types, args, kwargs)

    mine = made(torch, __torch_function__=classmethod(__torch_function__))
    result = scaled(*(torch.tensor([each]).as_subclass(mine) for each in (3.0, 4.0)))
    assert result.tolist() == [13]
    assert capsys.readouterr().out.split() == ["scaled", "mul"]


@on_each_engine
def test_the_overridable_functions_are_listed(torch: Any) -> None:
    overrides = torch.overrides
    listed = overrides.get_overridable_functions()
    assert torch.add in listed[torch]
    assert torch.Tensor.add in listed[torch.Tensor]
    assert torch.nn.functional.relu in listed[torch.nn.functional]
    assert torch.is_tensor not in listed[torch]
    assert torch.is_tensor in overrides.get_ignored_functions()
    assert overrides.get_testing_overrides()[torch.add](1, 2) == -1
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert not overrides.is_tensor_method_or_property(torch.add)


def test_each_overridable_function_asks_its_first_argument() -> None:
    class Answering:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            return func

    def check(function: Any) -> None:
        assert function(Answering()) is function

    listed = minigrad.overrides.get_overridable_functions()
    minigrad.add(Answering(), 1)
    check_all(check, [each for module in (
        minigrad, minigrad.nn.functional, minigrad.linalg, minigrad.special)
        for each in listed[module]])


@on_each_engine
def test_parameters_keep_a_subclass_and_train(torch: Any) -> None:
    mine = made(torch)
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]).as_subclass(mine))
    module.register_buffer("state", torch.ones(1).as_subclass(mine))
    assert isinstance(module.weight, torch.nn.Parameter)
    assert not isinstance(module.state, torch.nn.Parameter)
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    for optimizer in (torch.optim.SGD(module.parameters(), lr=0.5),
                      torch.optim.Adam(module.parameters(), lr=0.5)):
        optimizer.zero_grad()
        (module.weight * 2).sum().backward()
        optimizer.step()
        assert type(module.weight) is mine
    assert type(module.weight.grad) is torch.Tensor
    assert repr(module.weight) == "Parameter(Mine([-0.5000,  0.5000], requires_grad=True))"


def test_copies_and_pickles_keep_class_and_attributes() -> None:
    x = minigrad.ones(2).as_subclass(Stated)
    x.tag = "mine"
    for copied in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(copied) is Stated
        assert (copied.tag, copied.tolist()) == ("mine", [1, 1])


@on_each_engine
def test_a_tensor_made_of_a_class_keeps_its_attributes(torch: Any) -> None:
    class Tagged(torch.Tensor):
        def __new__(cls, data: Any, tag: str, requires_grad: bool = False) -> Any:
            made = torch.Tensor._make_subclass(cls, torch.as_tensor(data), requires_grad)
            made.tag = tag
            return made

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            result = super().__torch_function__(func, types, args, kwargs)
            if isinstance(result, cls) and not hasattr(result, "tag"):
                result.tag = next(each.tag for each in args if isinstance(each, cls))
            return result

    x = Tagged([1.0, 2.0], "a", True)
    y = (x * x).sum()
    assert (y.tag, y.item(), x.is_leaf) == ("a", 5, True)
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_gradients_flow_through_a_subclass() -> None:
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = x.as_subclass(Kept)
    functools.reduce(lambda a, b: a + b, [(y * y).sum(), minigrad.exp(y)[0]]).backward()
    assert x.grad is not None
    minigrad.testing.assert_close(x.grad, minigrad.tensor([2 + 2.718282, 4.0]))
