"""Names and behavior that programs for PyTorch rely on; what takes `torch` runs on both engines."""

from __future__ import annotations

import copy
import operator
import pickle
import subprocess
import sys
import warnings
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from minigrad.torch_version import TorchVersion
from tests.support.engines import on_each_engine


def test_versions_compare_as_pytorchs_do() -> None:
    real = pytest.importorskip("torch", reason="compares with PyTorch").torch_version.TorchVersion
    texts = ["0.4.1", "1.9", "1.10.0", "1.10.0+cu113", "1.10.0rc1", "2.0.0a0", "2.13.0", "2.13"]
    others = [*texts, (1, 10), (2, 13, 0), [2]]
    for text, other in product(texts, others):
        for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt,
                        operator.ge):
            mine = compare(TorchVersion(text), other)
            assert mine == compare(real(text), other), (text, compare, other)
    assert hash(TorchVersion("2.0")) == hash("2.0")


@pytest.mark.slow
def test_a_program_sees_the_version_that_minigrad_follows() -> None:
    program = (
        "import minigrad; before = minigrad.__version__; minigrad.as_torch()\n"
        "import torch, torch.nn.grad, torch.types, torch.storage, torch.torch_version\n"
        "from torch.nn.parallel.scatter_gather import gather\n"
        "from functorch import make_functional, vmap\n"
        "assert before == '0.1.0' and torch.__version__ >= (2, 0) and torch.__version__ > '1.9'\n"
        "assert torch._dynamo.allow_in_graph(max) is torch._dynamo.disable()(max) is max\n"
        "assert torch.Future is torch.futures.Future\n"
        "assert torch.ops.aten.mul.Tensor(torch.ones(1), torch.ones(1)).item() == 1\n"
        "print(repr(torch.ops.aten.mul.default), torch.version.hip)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "<OpOverload(op='aten.mul', overload='default')> None\n"


@on_each_engine
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nn_grad_returns_the_gradients_of_convolutions(torch: Any, dims: int) -> None:
    module = import_module(torch.__name__ + ".nn.grad")
    sizes = (5, 6, 4)[:dims]
    x = torch.arange(float(4 * _product(sizes))).reshape(2, 2, *sizes).requires_grad_()
    w = torch.arange(float(3 * 2 ** dims)).reshape(3, 1, *(2,) * dims)[:2].clone().requires_grad_()
    options = {"stride": 2, "padding": 1, "groups": 2}
    y = getattr(torch.nn.functional, f"conv{dims}d")(x, w, **options)
    g = torch.arange(float(y.numel())).reshape(y.shape)
    y.backward(g)
    by_input = getattr(module, f"conv{dims}d_input")(x.shape, w, g, **options)
    by_weight = getattr(module, f"conv{dims}d_weight")(x, w.shape, g, **options)
    assert by_input.equal(x.grad)
    torch.testing.assert_close(by_weight, w.grad)


def _product(sizes: tuple[int, ...]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


@on_each_engine
def test_grad_dtype(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert x.grad_dtype is torch.float32
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Float' because there is"):
        x.grad_dtype = torch.float32
    with pytest.raises(RuntimeError, match="tensor with grad_dtype 'Double'"):
        x.grad = torch.ones(2)
    x.grad_dtype = None
    x.grad = torch.ones(2)
    assert x.grad_dtype is None
    with pytest.raises(RuntimeError, match="only be set on leaf tensors"):
        (x * 2).grad_dtype = torch.float64
    with pytest.raises(RuntimeError, match="must be a torch.dtype or None, but got int"):
        x.grad_dtype = 3


@on_each_engine
def test_an_optimizer_may_wrap_another_without_a_call_of_super(torch: Any) -> None:
    class Wrapping(torch.optim.Optimizer):  # type: ignore[misc, name-defined]  # of either engine
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure: Any = None) -> Any:
            return self.inner.step()

    x = torch.ones(1, requires_grad=True)
    optimizer = Wrapping(torch.optim.SGD([x], lr=0.5))
    x.sum().backward()
    optimizer.step()
    assert x.item() == 0.5


@on_each_engine
@pytest.mark.parametrize("name", ["uniform_", "random_"])
def test_from_is_a_keyword_of_random_fills(torch: Any, name: str) -> None:
    torch.manual_seed(0)
    by_name = getattr(torch.zeros(3), name)(**{"from": 1, "to": 9})
    torch.manual_seed(0)
    assert by_name.equal(getattr(torch.zeros(3), name)(1, 9))


@on_each_engine
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("options", [
    {}, {"batch_first": True, "bidirectional": True, "num_layers": 2}], ids=["plain", "deep"])
def test_recurrent_layers_accept_an_empty_batch(torch: Any, kind: str, options: Any) -> None:
    layer = getattr(torch.nn, kind)(2, 3, **options)
    x = torch.zeros((0, 4, 2) if options else (4, 0, 2), requires_grad=True)
    output, state = layer(x)
    output.sum().backward()
    last = state[0] if kind == "LSTM" else state
    assert tuple(output.shape) == ((0, 4, 6) if options else (4, 0, 3))
    assert tuple(last.shape) == ((4, 0, 3) if options else (1, 0, 3))
    assert x.grad.shape == x.shape
    assert not layer.weight_ih_l0.grad.any()


MAPPED = {
    "lambda a, i: a[i]": [0.0, 5.0], "lambda a, i: v[i]": [[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]],
    "lambda a, i: v[:, i]": [[0.0, 3.0, 6.0], [2.0, 5.0, 8.0]],
    "lambda a, i: v[i, :2]": [[0.0, 1.0], [6.0, 7.0]], "lambda a, i: v[i, i]": [0.0, 8.0],
    "lambda a, i: v[1:, i]": [[3.0, 6.0], [5.0, 8.0]], "lambda a, i: a[None, i]": [[0.0], [5.0]],
    "lambda a, i: v[i.int()].sum()": [3.0, 21.0], "lambda a, i: a[-1 - i]": [2.0, 3.0],
    "lambda a, i: written(a.clone(), i)": [[9.0, 1.0, 2.0], [3.0, 4.0, 9.0]],
}


@on_each_engine
@pytest.mark.parametrize("function", MAPPED)
def test_vmap_maps_over_an_index(torch: Any, function: str) -> None:
    def written(a: Any, i: Any) -> Any:
        a[i] = 9.0
        return a

    names = {"v": torch.arange(9.0).reshape(3, 3), "written": written}
    result = torch.vmap(eval(function, names))(names["v"][:2], torch.tensor([0, 2]))
    assert result.tolist() == MAPPED[function]


REFUSED = {
    "a.tolist()": "Cannot access data pointer of Tensor that doesn't have storage",
    "a.numpy()": "Cannot access data pointer of Tensor that doesn't have storage",
    "a.data_ptr()": "Cannot access data pointer of Tensor that doesn't have storage",
    "a[a > 1]": "Attempting to batch over indexing with a boolean mask.",
    "a.nonzero()": "can output dynamic shape. Attempted to vmap over aten::nonzero.",
    "torch.equal(a, a)": "Batching rule not implemented for aten::equal.",
    "torch.add(a, a, out=torch.zeros(3))": "Batching rule not implemented for aten::add.out;",
    "torch.exp(a, out=torch.zeros(3))": "Batching rule not implemented for aten::exp.out;",
    "torch.zeros(3).add_(a)": r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]",
    "torch.zeros(3).mul_(a)": r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible",
    "torch.zeros(3).pow_(a)": r"vmap: aten::pow_\(self, \*extra_args\) is not possible because",
}


@on_each_engine
@pytest.mark.parametrize("expression", REFUSED)
def test_vmap_refuses_in_pytorchs_words(torch: Any, expression: str) -> None:
    with pytest.raises(RuntimeError, match=REFUSED[expression]):
        torch.vmap(lambda a: eval(expression, {"torch": torch, "a": a}))(
            torch.arange(6.0).reshape(2, 3))


def a_hook(grad: Any) -> Any:
    """A hook that a pickle could name."""
    return grad


@on_each_engine
@pytest.mark.parametrize("hook", [a_hook, lambda grad: grad], ids=["named", "local"])
def test_a_pickled_tensor_loses_its_hooks_with_a_warning(torch: Any, hook: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    with pytest.warns(UserWarning, match="on tensor will not be serialized"):
        read = pickle.loads(pickle.dumps(x))
    assert read.equal(x)
    assert not read._backward_hooks
    assert x._backward_hooks
    layer = torch.nn.Linear(1, 1)
    layer.weight.register_hook(hook)
    assert not pickle.loads(pickle.dumps(layer)).weight._backward_hooks


@on_each_engine
def test_python_functions_on_each_element(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.clone().apply_(lambda a: a * 2).tolist() == [[2, 4], [6, 8]]
    assert x.t().clone().map_(x[0], lambda a, b: a - b).tolist() == [[0, 1], [1, 2]]
    assert x.clone().map2_(x, x, lambda a, b, c: a + b * c).tolist() == [[2, 6], [12, 20]]
    assert torch.tensor([1, 2]).apply_(lambda a: 1.5).tolist() == [1, 1]
    assert torch.tensor([True]).apply_(lambda a: not a).tolist() == [False]
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        x.clone().requires_grad_().apply_(abs)
    with pytest.raises(RuntimeError, match=r"Can't call map_\(\) on Variable that requires grad"):
        x.map_(x.clone().requires_grad_(), max)
    with pytest.raises(TypeError, match="map_: expected torch.FloatTensor for 'other'"):
        x.map_(x.double(), max)
    with pytest.raises(TypeError, match="map2_: expected torch.FloatTensor for argument 'y'"):
        x.map2_(x, x.double(), max)


@on_each_engine
def test_resize_is_a_deprecated_reshape(torch: Any) -> None:
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        x.resize(4).sum().backward()
    with pytest.warns(UserWarning, match="non-inplace resize_as is deprecated"):
        assert x.resize_as(torch.ones(1, 4)).shape == (1, 4)
    assert x.grad.tolist() == [[1, 1], [1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated
        with pytest.raises(RuntimeError, match=r"requested resize to 3 \(3 elements in total\)"):
            x.resize(3)


@on_each_engine
@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig", "matrix_rank"])
def test_removed_functions_name_their_replacement(torch: Any, name: str) -> None:
    args = [torch.eye(2)] * (2 if name in ("lstsq", "solve") else 1)
    text = r"removed\.(.|\n)*`?torch\.linalg\."
    with pytest.raises(RuntimeError, match=text):
        getattr(torch, name)(*args)
    if name != "matrix_rank":
        with pytest.raises(RuntimeError, match=text):
            getattr(torch.Tensor, name)(*args)


@on_each_engine
@pytest.mark.parametrize("transpose", [False, True])
def test_fused_layers_compute_the_same(torch: Any, transpose: bool) -> None:
    torch.manual_seed(0)
    kind = torch.nn.ConvTranspose2d if transpose else torch.nn.Conv2d
    for affine, bias in product([True, False], repeat=2):
        conv, bn = kind(2, 3, 2, bias=bias), torch.nn.BatchNorm2d(3, affine=affine)
        linear, bn1 = torch.nn.Linear(4, 3, bias=bias), torch.nn.BatchNorm1d(3)
        x, flat = torch.randn(4, 2, 5, 5), torch.randn(6, 4)
        bn(conv(x)), bn1(linear(flat))
        for each in (conv, bn, linear, bn1):
            each.eval()
        fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
        torch.testing.assert_close(fused(x), bn(conv(x)), rtol=1e-4, atol=1e-5)
        fused = torch.nn.utils.fuse_linear_bn_eval(linear, bn1)
        torch.testing.assert_close(fused(flat), bn1(linear(flat)), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        torch.nn.utils.fuse_conv_bn_eval(conv.train(), bn)


@on_each_engine
def test_skip_init_draws_no_numbers(torch: Any) -> None:
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    layer = torch.nn.utils.skip_init(torch.nn.Linear, 2, 3)
    assert torch.rand(1).equal(expected)
    assert layer.weight.shape == (3, 2)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        torch.nn.utils.skip_init(torch.nn.ReLU)
    with pytest.warns(FutureWarning, match="is now deprecated in favor of"):
        torch.nn.utils.clip_grad_norm(layer.parameters(), 1.0)


@on_each_engine
@pytest.mark.parametrize(("expression", "message"), [
    ("torch.linalg.vecdot(f, f.double())", "same dtype, but found x of type Float and y of type D"),
    ("torch.linalg.vecdot(i, f)", "Expected a floating point or complex tensor as input. Got Long"),
    ("torch.dist(i, i)", r"norm\(\): input dtype should be either floating point or complex."),
    ("torch.cdist(i[None], i[None])", "cdist only supports floating-point dtypes, X1 got: Long"),
    ("i.masked_fill(i > 0, f.sum().requires_grad_())", "Autograd not support dtype: Long"),
    ("float(f)", "only one element tensors can be converted to Python scalars$"),
    ("torch.utils.data.default_collate([np.array(['a'])])", "numbers, dicts or lists; found <U1"),
    ("f.register_hook(max, 1, prepend=1)", r"Tensor\.register_hook\(\) got an unexpected keyword"),
    ("torch.optim.SGD(torch.nn.Parameter(f), lr=1)", "iterable of Tensors or dicts, but got torch"),
])
def test_errors_for_wrong_arguments(torch: Any, expression: str, message: str) -> None:
    import_module(torch.__name__ + ".utils.data")
    names = {"torch": torch, "f": torch.ones(2), "i": torch.ones(2, dtype=torch.int64),
             "np": import_module("numpy")}
    with pytest.raises((RuntimeError, TypeError, ValueError), match=message):
        eval(expression, names)


@on_each_engine
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # PyTorch's own call of it
def test_forward_mode_jacobians_are_lists(torch: Any) -> None:
    jacobian = torch.autograd.functional.jacobian
    x = torch.ones(2)
    options = {"vectorize": True, "strategy": "forward-mode"}
    assert isinstance(jacobian(lambda x, y: x * y, (x, x), **options), list)
    several = jacobian(lambda x, y: (x * y, y.sum()), (x, x), **options)
    assert [type(each) for each in (several, *several)] == [list, list, list]


def declared(x: int) -> int: ...


@on_each_engine
def test_small_things(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    assert torch.histogram(x).hist.shape == x.histogram().hist.shape == (100,)
    assert not any((x.is_xpu, x.is_mps, x.is_xla, x.is_ipu, x.is_maia, x.is_mtia, x.is_vulkan))
    lazy = torch.nn.LazyLinear(2)
    assert lazy.weight.data.normal_().shape == (0,)
    assert lazy(torch.ones(1, 3)).shape == (1, 2)
    assert isinstance(copy.deepcopy(lazy), type(lazy))
    assert torch.jit._overload_method(declared) is declared
    storage = import_module(torch.__name__ + ".storage")
    assert storage.UntypedStorage is torch.UntypedStorage
    types = import_module(torch.__name__ + ".types")
    assert types._size
    assert types.Device
    keys = torch.nn.Linear(1, 1).load_state_dict({}, strict=False)
    assert type(keys).__name__ == "_IncompatibleKeys"


@pytest.mark.filterwarnings("ignore:We've integrated functorch")  # each call says so
def test_functorch_makes_functions_of_models() -> None:
    for name in ("minigrad.compat.functorch", "functorch"):
        functorch = pytest.importorskip(name, reason="compares with PyTorch's functorch")
        torch = import_module(name.partition(".")[0]) if "." in name else import_module("torch")
        torch.manual_seed(0)
        models = [torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()) for _ in range(2)]
        x = torch.ones(4, 2)
        call, params = functorch.make_functional(models[0])
        assert call(params, x).equal(models[0](x))
        with pytest.raises(RuntimeError, match="has buffers"):
            functorch.make_functional(torch.nn.BatchNorm1d(2))
        call, params, buffers = functorch.make_functional_with_buffers(torch.nn.BatchNorm1d(2))
        assert call(params, buffers, x).shape == (4, 2)
        call, params, buffers = functorch.combine_state_for_ensemble(models)
        together = functorch.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
        torch.testing.assert_close(together, torch.stack([model(x) for model in models]))
