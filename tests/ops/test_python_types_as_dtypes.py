"""Python's `float`, `int` and `bool` stand for dtypes where PyTorch takes them, and only there."""

import pytest

import minigrad

#: Calls with the dtype `D`; `x` has three elements, `m` is a matrix, `F` is nn.functional.
CALLS = """
torch.tensor([1], dtype=D)
torch.as_tensor([1], dtype=D)
torch.asarray([1], dtype=D)
torch.zeros(2, dtype=D)
torch.ones(2, dtype=D)
torch.empty(2, dtype=D)
torch.full((2,), 1, dtype=D)
torch.zeros_like(x, dtype=D)
torch.ones_like(x, dtype=D)
torch.empty_like(x, dtype=D)
torch.full_like(x, 1, dtype=D)
torch.rand_like(x, dtype=D)
torch.randn_like(x, dtype=D)
torch.randint_like(x, 2, dtype=D)
torch.rand(2, dtype=D)
torch.randn(2, dtype=D)
torch.randint(2, (2,), dtype=D)
torch.randperm(2, dtype=D)
torch.normal(0.0, 1.0, (2,), dtype=D)
torch.arange(2, dtype=D)
torch.linspace(0, 1, 2, dtype=D)
torch.logspace(0, 1, 2, dtype=D)
torch.eye(2, dtype=D)
torch.tril_indices(2, 2, dtype=D)
torch.triu_indices(2, 2, dtype=D)
torch.empty_strided((2,), (1,), dtype=D)
torch.scalar_tensor(1, dtype=D)
x.new_zeros(2, dtype=D)
x.new_ones(2, dtype=D)
x.new_empty(2, dtype=D)
x.new_full((2,), 1, dtype=D)
x.new_tensor([1], dtype=D)
torch.hann_window(3, dtype=D)
torch.hamming_window(3, dtype=D)
torch.blackman_window(3, dtype=D)
torch.bartlett_window(3, dtype=D)
torch.kaiser_window(3, dtype=D)
torch.signal.windows.hann(3, dtype=D)
torch.sum(x, dtype=D)
torch.sum(x, 0, dtype=D)
torch.nansum(x, dtype=D)
torch.mean(x, dtype=D)
torch.nanmean(x, dtype=D)
torch.prod(x, dtype=D)
torch.prod(x, 0, dtype=D)
torch.cumsum(x, 0, dtype=D)
torch.cumsum(x[:0], 0, dtype=D)
torch.cumprod(x, 0, dtype=D)
x.cumsum_(0, dtype=D)
x.cumprod_(0, dtype=D)
x.norm(dtype=D)
torch.norm(x, 2, 0, dtype=D)
torch.norm(m, 'nuc', dtype=D)
torch.norm(m.double(), 1, dtype=torch.float32)
torch.linalg.norm(x, dtype=D)
torch.linalg.vector_norm(x, dtype=D)
torch.linalg.matrix_norm(m, dtype=D)
torch.linalg.matrix_norm(m.double(), 2, dtype=torch.float32)
torch.softmax(x, 0, dtype=D)
torch.log_softmax(x, 0, dtype=D)
F.softmin(x, 0, dtype=D)
torch.masked.sum(x, dtype=D)
torch.masked.prod(x, 0, dtype=D)
torch.masked.amax(x, 0, dtype=D)
torch.masked.cumsum(x, 0, dtype=D)
torch.masked.norm(x, 2, 0, dtype=D)
x.to(D)
x.to(dtype=D)
x.to('cpu', D)
x.to('cpu', dtype=D)
x.type(D)
x.view(D)
x.view(dtype=D)
x[:2].view(D)
m.t().view(D)
x.sum().view(D)
torch.promote_types(D, torch.float32)
torch.promote_types(torch.float16, D)
torch.can_cast(D, torch.float32)
torch.can_cast(torch.float32, D)
torch.finfo(D).dtype
torch.iinfo(D).dtype
torch.set_default_dtype(D)
torch.nn.Linear(2, 2, dtype=D).weight
torch.nn.Linear(2, 2).to(D).weight
torch.nn.Linear(2, 2).to(dtype=D).weight
torch.nn.Linear(2, 2).type(D).weight
torch.nn.LayerNorm(2, dtype=D).weight
""".strip().splitlines()

#: PyTorch names another kernel for the last dimension, and the complex numbers it has.
SAME = {"_lastdim": "",
        "Only Tensors of floating point and complex": "only Tensors of floating point"}


def outcome(torch, call, given):
    """Return the dtype of the result, or else the class and the words of the error."""
    x, m = torch.tensor([1.0, 2.0, 0.0]), torch.ones(4, 2)
    try:
        result = eval(call, {"torch": torch, "F": torch.nn.functional, "x": x, "m": m, "D": given})
    except Exception as error:
        words = str(error).partition("\n")[0]
        for pytorchs, ours in SAME.items():
            words = words.replace(pytorchs, ours)
        return type(error).__name__, words
    return str(getattr(result, "dtype", result))


@pytest.mark.parametrize("given", [float, int, bool], ids=lambda t: t.__name__)
@pytest.mark.parametrize("call", CALLS)
def test_one_of_pythons_types_as_dtype_is_as_in_pytorch(call, given):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, call, given) == outcome(torch, call, given)


@pytest.mark.parametrize("given", [str, 3, "float32"], ids=str)
@pytest.mark.parametrize("call", [
    "torch.zeros(2, dtype=D)", "torch.sum(x, dtype=D)", "x.to(dtype=D)", "x.type(D)",
    "torch.promote_types(D, torch.float32)", "torch.can_cast(torch.float32, D)",
    "torch.set_default_dtype(D)", "torch.nn.Linear(2, 2).to(dtype=D)", "torch.finfo(D)",
    "torch.tril_indices(2, 2, dtype=D)", "torch.linalg.vector_norm(x, dtype=D)",
])
def test_anything_else_as_dtype_is_refused_as_in_pytorch(call, given):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(torch, call, given)[0] == "TypeError" or call == "x.type(D)"
    assert outcome(minigrad, call, given)[0] == outcome(torch, call, given)[0]
