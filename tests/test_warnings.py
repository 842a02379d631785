"""Warnings: each points at the user's line, and has PyTorch's class and text."""

import ast
import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import minigrad
from tests.support.gathered import check_all

PACKAGE = Path(minigrad.__file__).parent


def test_only_one_place_of_the_package_warns():
    """`warn_user` finds the user's line; a number of stack levels is right for one caller only.

    Anomaly mode, which a lesson teaches, finds the line by itself.
    """
    places = []
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "warn" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                    "warnings.warn", "warnings.warn_explicit"):
                places.append(str(path.relative_to(PACKAGE)))
    assert sorted(places) == [str(Path("autograd", "anomaly_mode.py"))] * 2 + ["frames.py"]


def leaf(t, *values):
    return t.tensor(values or (2.0,), requires_grad=True)


def counting(t, length, number_of_workers=0):
    class Numbers(t.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

        def __len__(self):
            return length

        def __repr__(self):
            return "Numbers"

    loader = t.utils.data.DataLoader(Numbers(), num_workers=number_of_workers)
    assert len(loader) == length
    return loader


def with_backward_hook(t, value):
    module = t.nn.Identity()
    module.register_full_backward_hook(lambda *_: None)
    return module(value)


#: Lines that warn; `t` is the package, and `x` a tensor of one number that requires grad.
LINES = [
    "float(x)", "complex(x)", "t.tensor([x])", "np.float64(x)", "'%f' % x", "t.tensor(x)",
    "(x * 1).grad", "(x * x).sum().backward(create_graph=True)",
    "t.ones(2, 3, 4).T", "t.range(0, 2)", "t.meshgrid(t.ones(2))", "t.ones(1).std()",
    "t.ones(2)[t.tensor([1, 0], dtype=t.uint8)]", "t.qr(t.eye(2))", "t.eye(2).qr()",
    "t.cholesky(t.eye(2))", "t.eye(2).cholesky()", "t.chain_matmul(t.eye(2), t.eye(2))",
    "t.cross(t.eye(3), t.eye(3))", "t.eye(2).triangular_solve(t.eye(2))",
    "t.lu_solve(t.eye(2), *t.linalg.lu_factor(t.eye(2)))",
    "t.set_default_tensor_type(t.FloatTensor)",
    "t.where(t.tensor([1], dtype=t.uint8), 1.0, 0.0)", "t.ones(2).storage()",
    "t.zeros(3).scatter(0, t.tensor([0, 1]), t.ones(2), reduce='add')",
    "t.zeros(3).scatter_(0, t.tensor([0, 1]), t.ones(2), reduce='multiply')",
    "t.zeros(3).index_reduce(0, t.tensor([0, 1]), t.ones(2), 'prod')",
    "t.zeros(3).index_reduce_(0, t.tensor([0, 1]), t.ones(2), 'mean')",
    "t.add(t.ones(3), 1, out=t.ones(2))",
    "F.softmax(t.ones(2, 2))", "t.nn.Softmax()(t.ones(2))", "F.mse_loss(t.ones(2), t.ones(2, 1))",
    "F.l1_loss(t.ones(2), t.ones(2), size_average=False)",
    "F.kl_div(t.ones(2), t.ones(2), reduction='mean')",
    "F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2))", "F.dropout2d(t.ones(1, 2))",
    "F.conv1d(t.ones(1, 1, 8), t.ones(1, 1, 2), padding='same')",
    "F.conv2d(t.ones(1, 1, 8, 8), t.ones(1, 1, 3, 4), padding='same')",
    "t.nn.Conv1d(1, 1, 4, padding='same')(t.ones(1, 1, 8))",
    "t.nn.init.kaiming_uniform_(t.ones(0, 2))", "t.nn.init.xavier_normal(t.ones(2, 2))",
    "t.nn.LSTM(1, 1, 1, dropout=0.5)",
    "t.optim.lr_scheduler.StepLR(t.optim.SGD([x], 0.1), 1).step()",
    "t.optim.SGD([x, x], 0.1)", "list(counting(t, 3))", "list(counting(t, 3, 2))",
    "t.utils.checkpoint.checkpoint(lambda y: y * 2, x)",
    "t.utils.checkpoint.checkpoint(lambda y: y * 2, t.ones(1), use_reentrant=True)",
    "with_backward_hook(t, {'a': x})",
    "t.autograd.gradcheck(lambda y: y * y, t.tensor([1.0], requires_grad=True), eps=1e-2)",
    "t.autograd.detect_anomaly()",
    "t.nn.Identity().state_dict({})", "t.nn.utils.weight_norm(t.nn.Linear(1, 1))",
    "t.distributions.Normal(0.0, 1.0).sample_n(2)", "x.sum().backward(t.ones(()), create_graph=1)",
    "t.autograd.backward(x.sum(), grad_variables=t.ones(()))",
    "t.autograd.grad(x.sum(), x, only_inputs=False)",
    "t.optim.lr_scheduler.StepLR(t.optim.SGD([x], 0.1), 1).step(1)",
]

#: Lines that do not warn, though similar ones do.
QUIET = [
    "int(x)", "bool(x)", "x.item()", "x.tolist()", "float(x.detach())", "t.ones(2, 3).T",
    "F.conv1d(t.ones(1, 1, 8), t.ones(1, 1, 3), padding='same')",
    "F.conv1d(t.ones(1, 1, 8), t.ones(1, 1, 2), padding='same', dilation=2)",
    "F.conv1d(t.ones(1, 1, 8), t.ones(1, 1, 2), padding='valid')",
    "t.nn.Conv1d(1, 1, 4, padding='same', padding_mode='reflect')(t.ones(1, 1, 8))",
    "t.linalg.qr(t.eye(2))", "t.zeros(3).scatter(0, t.tensor([0, 1]), 2.0, reduce='add')",
    "t.zeros(3).scatter_reduce(0, t.tensor([0, 1]), t.ones(2), 'sum')", "list(counting(t, 5))",
    "t.autograd.grad(x.sum(), x, create_graph=True)",
]


def caught(engine, line):
    """Run a line, and return its warnings with their places."""
    names = {"t": engine, "F": engine.nn.functional, "x": leaf(engine), "np": np,
             "counting": counting, "with_backward_hook": with_backward_hook}
    program = compile(line, "users.py", "eval")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        eval(program, names)
    return [(each.category, plain(str(each.message)), Path(each.filename).name) for each in found]


def plain(text):
    """Return a warning without where PyTorch's C++ code gives it."""
    return re.sub(r"\s*\(Triggered internally at .*?\)", "", text, flags=re.S).strip()


def test_warnings_point_at_the_line_of_the_program():
    def check(line):
        minigrad.frames._warned.clear()
        found = caught(minigrad, line)
        assert found, "no warning"
        assert {place for *_, place in found} <= {"users.py", Path(__file__).name}, found

    check_all(check, LINES)
    minigrad.frames._warned.clear()
    assert [caught(minigrad, line) for line in QUIET] == [[]] * len(QUIET)


def test_warnings_have_pytorchs_class_and_text():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def check(line):
        minigrad.frames._warned.clear()
        torch.storage._reset_warn_typed_storage_removal()  # another test may have been warned
        ours, theirs = caught(minigrad, line), caught(torch, line)
        assert [each[:2] for each in ours] == [each[:2] for each in theirs]

    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        check_all(check, itertools.chain(LINES, QUIET))
    finally:
        torch.set_warn_always(before)


def test_a_warning_of_kind_once_is_shown_again_only_if_it_raised():
    x = leaf(minigrad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="Converting a tensor with requires_grad=True"):
                float(x)
    with pytest.warns(UserWarning):
        float(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(x) == 2.0
