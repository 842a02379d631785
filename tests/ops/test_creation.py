"""Making tensors: what each function gives, and that PyTorch gives the same."""

import warnings

import numpy as np
import pytest

import minigrad
from minigrad.dtypes import set_default_dtype
from minigrad.op.declaration import F
from minigrad.op.publish import FUNCTIONS
from minigrad.tensor.tensor import Tensor
from tests.support.parity import outcome

# Evaluated with minigrad and with PyTorch; results, errors and warnings must be the same.
DATA = """
torch.tensor(np.float64(1))
torch.tensor(np.float32(1))
torch.tensor(np.int32(1))
torch.linspace(4.3, -3, 7, dtype=torch.int64)
torch.logspace(0.9, 2.9, 4, dtype=torch.int32)
torch.linspace(0, 1, 3, dtype=torch.bool)
torch.arange(0., -8.000001, -4., dtype=torch.int32)
torch.arange(0, 0.9, 0.3, dtype=torch.uint8)
torch.arange(0, 2.5, 0.5, dtype=torch.int64)
torch.tensor(np.bool_(True))
torch.tensor([np.float64(1)])
torch.tensor([np.int32(1), 2])
torch.tensor([np.float16(1), 2])
torch.tensor([1, 2.0])
torch.tensor([[], [1.0]])
torch.tensor([[], [1]])
torch.tensor([[], [1]], dtype=torch.int32)
torch.tensor([[[]], [[1.0], [2.0]]])
torch.tensor([[], 1])
torch.tensor([[1.0], []])
torch.tensor([[], [torch.tensor(1)]])
torch.tensor([(), [None]])
torch.tensor([True, 2])
torch.tensor([True, 2.5])
torch.tensor([])
torch.tensor([[], []])
torch.tensor(())
torch.tensor(range(3))
torch.tensor([[1, 2], [3]])
torch.tensor([1, [2]])
torch.tensor([1.5, [2]])
torch.tensor([[1], 2])
torch.tensor([[1, 2], [3, [4]]])
torch.tensor('a')
torch.tensor(['a'])
torch.tensor(None)
torch.tensor([1, None])
torch.tensor({1: 2})
torch.tensor({1, 2})
torch.tensor(object())
torch.tensor(2**63)
torch.tensor([2**63])
torch.tensor(2**63, dtype=torch.float32)
torch.tensor(300, dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([70000], dtype=torch.int16)
torch.tensor([70000], dtype=torch.float16)
torch.tensor([2.5, 300.0], dtype=torch.uint8)
torch.tensor([1.7, -1.7], dtype=torch.int64)
torch.tensor([float('nan')], dtype=torch.int64)
torch.tensor([1e300])
torch.tensor(2, dtype=torch.bool)
torch.tensor(torch.tensor([1., 2.], requires_grad=True))
torch.tensor([torch.tensor(1.), 2])
torch.tensor([torch.tensor(1), torch.tensor(2., dtype=torch.float64)])
torch.tensor([torch.tensor([1.])])
torch.tensor([torch.tensor([1, 2])])
torch.tensor([torch.tensor([1., 2.])])
torch.tensor([np.array(1.0), 2])
torch.tensor(np.array([1, 2])[::-1])
torch.tensor(np.arange(3, dtype='>i4'))
torch.tensor(np.ones((2, 3)).T)
torch.tensor(1, requires_grad=True)
torch.tensor([1., 2.], dtype=float)
torch.tensor([1., 2.], dtype=int)
torch.tensor([1.], dtype='float32')
torch.tensor([1.], dtype=np.float32)
torch.tensor(data=[1])
torch.tensor(bytearray(b'ab'))
torch.from_numpy(np.arange(3)[::-1])
torch.from_numpy(np.ones((2, 3)).T)
torch.from_numpy([1])
torch.from_numpy(np.float64(1))
torch.from_dlpack(np.arange(3))
torch.as_tensor([1, 2])
torch.as_tensor(np.arange(3), dtype=torch.float32)
torch.as_tensor(torch.ones(1, requires_grad=True))
torch.asarray([1, 2.])
torch.asarray(np.arange(3), copy=True)
torch.scalar_tensor(2)
torch.tensor(1.).new_tensor([1, 2])
torch.tensor(1.).new_tensor(torch.tensor([1, 2]))
"""

FILLED = """
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros(torch.Size([2]))
torch.zeros(())
torch.zeros()
torch.zeros(2.5)
torch.zeros((2.5,))
torch.zeros('a')
torch.zeros(size=(2,))
torch.zeros(torch.tensor(2))
torch.zeros(np.int64(2))
torch.zeros(2, requires_grad=True)
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.zeros(2, foo=1)
torch.zeros(2, dtype=3)
torch.zeros(2, layout=torch.strided, pin_memory=False)
torch.ones(2, -1)
torch.ones(2, dtype=bool)
torch.full((2,), 3)
torch.full((2,), 3.5)
torch.full((2,), True)
torch.full((2,), 3.5, dtype=torch.int64)
torch.full(2, 3)
torch.full((2,), torch.tensor(2.))
torch.full((2,), torch.tensor([2., 3]))
torch.full((1,), 1e300)
torch.full((1,), -1, dtype=torch.uint8)
torch.eye(3)
torch.eye(2, 3)
torch.eye(2, m=1, dtype=torch.int64)
torch.eye(-1)
torch.eye(2, -1)
torch.eye(3.5)
torch.empty(0, 3)
torch.empty_strided((2, 3), (1, 2)).stride()
torch.empty_strided((2, 3), (1,))
torch.zeros(2, out=torch.ones(2))
torch.zeros(3, out=torch.ones(2), dtype=torch.float64)
torch.zeros_like([1])
torch.zeros_like(torch.from_numpy(np.ones((2, 3)).T))
torch.zeros_like(torch.from_numpy(np.ones((2, 4))[:, ::2]))
torch.zeros_like(torch.from_numpy(np.ones((2, 3)).T), memory_format=torch.contiguous_format)
torch.ones_like(torch.ones(2), dtype=torch.int32)
torch.full_like(torch.ones(2, dtype=torch.int64), 3.5)
torch.full_like(torch.ones(2), torch.tensor(3))
torch.zeros(2).new_zeros(2, 3)
torch.zeros(2).new_ones((2, 3), dtype=torch.int32)
torch.zeros(2).new_full((2,), 1)
torch.zeros(2).new_empty((2,)).dtype
torch.zeros(2).new_empty_strided((2, 3), (1, 2)).stride()
"""

STEPS = """
torch.arange(5)
torch.arange(5.)
torch.arange(1, 2, 0.3)
torch.arange(5, 1, -2)
torch.arange(2.5, -3, -0.7)
torch.arange(10**10, 10**10 + 3)
torch.arange(1, 5, -1)
torch.arange(1, 5, 0)
torch.arange(5, dtype=torch.float16)
torch.arange(5, dtype=torch.bool)
torch.arange(0, 10, 2.7, dtype=torch.int64)
torch.arange(torch.tensor(3))
torch.arange(torch.tensor(3.))
torch.arange(np.float64(3))
torch.arange(start=1, end=4)
torch.arange(end=4)
torch.arange(0, 1, 0.1)
torch.arange(float('inf'))
torch.arange(3, requires_grad=True)
torch.arange('a')
torch.linspace(0, 1, 5)
torch.linspace(0, 1, 1)
torch.linspace(0, 1, 0)
torch.linspace(0, 1, -1)
torch.linspace(0, 10, 4, dtype=torch.int64)
torch.linspace(0, 100, 33, dtype=torch.int32)
torch.linspace(-3, 11, 101)
torch.linspace(start=0, end=1, steps=3)
torch.linspace(torch.tensor(0.), torch.tensor(1.), 3)
torch.linspace(torch.tensor([0.]), 1, 3)
torch.logspace(-2, 3, 17)
torch.logspace(0, 2, 3, base=2)
torch.logspace(0, 3, 4, dtype=torch.int64)
"""

OLD = """
torch.zeros(2).new([1, 2])
torch.zeros(2).new(2, 3).shape
torch.zeros(2).new()
torch.zeros(2).new(torch.ones(3))
torch.zeros(2).new(torch.Size([2])).shape
torch.FloatTensor([1, 2])
torch.FloatTensor(2, 3).shape
torch.FloatTensor([[1, 2], [3]])
torch.FloatTensor(np.array([1., 2.]))
torch.FloatTensor('a')
torch.FloatTensor(3.0)
torch.LongTensor([1.5])
torch.LongTensor(2, 3).dtype
torch.ByteTensor([1])
torch.BoolTensor([1, 0])
torch.DoubleTensor([1])
torch.IntTensor([1])
isinstance(torch.ones(2), torch.FloatTensor)
isinstance(torch.ones(2), torch.LongTensor)
torch.Tensor(3.0)
torch.Tensor(True)
torch.Tensor(None)
torch.Tensor('a')
torch.Tensor({1: 2})
torch.Tensor(np.float64(3))
torch.Tensor(np.int64(2)).shape
torch.Tensor(np.array([1, 2]))
torch.Tensor(range(3))
torch.Tensor(2, -1)
"""

EMPTY = """
torch.zeros(0, 3).stride()
torch.zeros(3, 0).stride()
torch.zeros(2, 0, 3).exp().stride()
torch.zeros(2, 0, 3).sum(0, keepdim=True).stride()
torch.zeros(5, 3)[2:2].stride()
torch.zeros(5, 3)[::2, 1:1].stride()
torch.zeros(4, 0, 3)[1].stride()
torch.zeros(0, 3).view(3, 0, 5).stride()
torch.zeros(2, 0, 3).stride(1)
torch.zeros(4, 0).split(2)[1].stride()
torch.zeros(2, 0, 3).as_strided((2, 0, 3), (7, 2, 9)).stride()
"""

INFO = """
torch.is_tensor(3)
torch.is_floating_point(3)
torch.is_floating_point(torch.ones(1))
torch.numel(torch.ones(2, 3))
torch.is_nonzero(torch.tensor(1))
torch.is_nonzero(torch.ones(2))
torch.result_type(torch.ones(2), 1.0)
torch.result_type(1, 1.0)
torch.result_type(torch.ones(2, dtype=torch.int32), 1.0)
torch.can_cast(torch.float32, torch.int32)
torch.can_cast(torch.int64, torch.int8)
torch.finfo(torch.float16)
torch.finfo(torch.float32)
torch.finfo(torch.float64)
torch.finfo()
torch.finfo(torch.float64).resolution
torch.finfo(torch.float32).eps
torch.finfo(torch.int64)
torch.iinfo(torch.uint8)
torch.iinfo(torch.int64)
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.set_default_dtype(torch.int64)
torch.strided
torch.contiguous_format
torch.pi
torch.inf
"""


@pytest.mark.parametrize(
    "expression", [line for block in (DATA, FILLED, STEPS, OLD, EMPTY, INFO)
                   for line in block.split("\n") if line])
def test_agrees_with_torch(expression: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, expression) == outcome(torch, expression)


@pytest.mark.parametrize(("data", "dtype", "shape"), [
    (1, "int64", ()),
    (1.0, "float32", ()),
    (True, "bool", ()),
    ([1, 2.5], "float32", (2,)),
    ([[True], [2]], "int64", (2, 1)),
    ([], "float32", (0,)),
    ([[], []], "float32", (2, 0)),
    (np.ones((2, 3), np.int16), "int16", (2, 3)),
    (np.float64(1), "float64", ()),
    ([np.array([1, 2]), np.array([3, 4])], "int64", (2, 2)),
    (((1, 2), [3, 4]), "int64", (2, 2)),
])
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list")  # slow but right
def test_tensor_infers_dtype_and_shape(data, dtype, shape):
    made = minigrad.tensor(data)
    assert (made.dtype.name, tuple(made.shape)) == (dtype, shape)
    assert made.is_leaf and not made.requires_grad


@pytest.mark.parametrize(("data", "error", "text"), [
    ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
    ([[1], 2], TypeError, "not a sequence"),
    ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
    ([np.ones(2), np.ones(3)], ValueError, "expected sequence of"),
    ("a", TypeError, "new(): invalid data type 'str'"),
    (None, RuntimeError, "Could not infer dtype of NoneType"),
    (2**63, ValueError, "Overflow when unpacking long long"),
    (1j, TypeError, "no complex numbers"),
    ([1, 1j], TypeError, "no complex numbers"),
    (np.ones(2, complex), TypeError, "no complex numbers"),
    (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
])
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list")  # slow but right
def test_tensor_refuses(data, error, text):
    with pytest.raises(error) as caught:
        minigrad.tensor(data)
    assert text in str(caught.value)


def test_a_list_that_contains_itself_is_refused():
    endless: list = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions"):
        minigrad.tensor(endless)


def test_tensor_copies_and_from_numpy_shares():
    array = np.zeros(2)
    copied, shared, viewed = (make(array) for make in (
        minigrad.tensor, minigrad.from_numpy, minigrad.as_tensor))
    array[0] = 5
    assert copied.tolist() == [0, 0]
    assert shared.tolist() == viewed.tolist() == [5, 0]
    shared.numpy()[1] = 7
    assert array[1] == 7


def test_from_numpy_warns_of_an_array_that_must_not_be_written():
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        minigrad.from_numpy(array)


def test_asarray_shares_copies_and_refuses():
    array = np.zeros(2)
    assert np.shares_memory(minigrad.asarray(array).numpy(), array)
    assert not np.shares_memory(minigrad.asarray(array, copy=True).numpy(), array)
    with pytest.raises(ValueError, match="alias"):
        minigrad.asarray([1.0], copy=False)


def test_as_tensor_keeps_the_tensor_and_its_history():
    x = minigrad.ones(2, requires_grad=True)
    assert minigrad.as_tensor(x) is x
    assert minigrad.as_tensor(x, dtype=minigrad.float64).requires_grad


def test_the_default_dtype_decides_floats():
    try:
        set_default_dtype(minigrad.float64)
        for made in (minigrad.tensor(1.0), minigrad.zeros(1), minigrad.arange(1.0),
                     minigrad.full((1,), 2.0), minigrad.linspace(0, 1, 2), minigrad.rand(1)):
            assert made.dtype is minigrad.float64
        assert repr(minigrad.tensor(1.0)) == "tensor(1.)"
        assert minigrad.tensor(1).dtype is minigrad.int64
    finally:
        set_default_dtype(minigrad.float32)


def test_inference_mode_makes_inference_tensors():
    with minigrad.inference_mode():
        assert minigrad.zeros(2).is_inference() and minigrad.tensor([1]).is_inference()
    assert not minigrad.zeros(2).is_inference()


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_like_functions_serve_arrays(name):
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3).T
    made, as_tensor = getattr(F, name)(array), getattr(F, name)(minigrad.from_numpy(array))
    assert type(made) is np.ndarray and type(as_tensor) is Tensor
    assert made.dtype == array.dtype and made.shape == array.shape
    assert made.strides == as_tensor.numpy().strides == array.strides
    if name != "empty_like":
        assert (made == (name == "ones_like")).all()


def test_new_functions_serve_arrays():
    array = np.ones((2, 2), np.float32)
    for made, value in ((F.new_zeros(array, (3,)), 0), (F.new_ones(array, 3), 1),
                        (F.new_full(array, (3,), 7), 7), (F.full_like(array, 7), 7)):
        assert type(made) is np.ndarray and made.dtype == np.float32
        assert (made == value).all()
    assert F.new_empty_strided(array, (2, 3), (1, 2)).strides == (4, 8)


def test_layouts_and_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="strided tensors only"):
        minigrad.zeros(2, layout=minigrad.channels_last)
    with pytest.raises(TypeError, match="no complex"):
        minigrad.zeros(2, dtype=complex)


def test_a_device_that_is_missing_is_named():
    if not minigrad.cuda.is_available():
        with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
            minigrad.zeros(2, device="cuda")
        assert minigrad.cuda.device_count() == 0
        with pytest.raises(RuntimeError, match="cuda"):
            minigrad.cuda.synchronize()


def test_no_published_function_hides_a_name_of_the_package():
    own = {"bool", "float", "int", "long", "half", "double", "short", "device", "dtype", "random",
           "load", "save", "cuda", "testing", "autograd", "e", "pi", "inf", "nan", "strided"}
    assert not own & FUNCTIONS.keys()
    assert all(getattr(minigrad, name) is function for name, function in FUNCTIONS.items())


def test_tensor_of_a_tensor_warns():
    with pytest.warns(UserWarning, match="sourceTensor.detach"):
        minigrad.tensor(minigrad.ones(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minigrad.tensor([minigrad.tensor(1.0), 2.0])
