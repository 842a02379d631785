"""Storages, buffers, ranges and other small names of tensors, beside PyTorch."""

from __future__ import annotations

import pytest

import minigrad
from minigrad.ops.shape import storages
from tests.support.parity import outcome

LINES = [
    "x.storage()",
    "x.untyped_storage()",
    "x.storage().data_ptr()==x.data_ptr()",
    "x[1:].untyped_storage().nbytes()",
    "x[1:].untyped_storage().data_ptr()==x.data_ptr()",
    "x[1:].untyped_storage()==x.untyped_storage()",
    "x.untyped_storage()==x.clone().untyped_storage()",
    "x.untyped_storage()._cdata==x[1:].untyped_storage()._cdata",
    "x.untyped_storage().size()",
    "x[1:].storage().size()",
    "len(x.storage())",
    "x.storage().tolist()",
    "x.storage()[0]",
    "x.storage().dtype",
    "x.storage().nbytes()",
    "x.storage().element_size()",
    "x.untyped_storage()[0]",
    "x.untyped_storage().device",
    "x.untyped_storage().is_cuda",
    "x.untyped_storage().is_shared()",
    "x.untyped_storage().resize_(12).size()",
    "x.untyped_storage().fill_(0).nbytes()",
    "x.storage().fill_(3.) and x",
    "x.storage().untyped().nbytes()",
    "torch.is_storage(x.storage())",
    "torch.is_storage(x)",
    "hash(x.untyped_storage())==1",
    "isinstance(x.untyped_storage(), torch.UntypedStorage)",
    "torch.UntypedStorage(4).size()",
    "x.is_shared()",
    "x.as_subclass(torch.nn.Parameter)",
    "x.as_subclass(int)",
    "type(x.as_subclass(S)).__name__",
    "x.as_subclass(S).data_ptr()==x.data_ptr()",
    "torch.range(1,4)",
    "torch.range(1,2,0.5)",
    "torch.range(4,1)",
    "torch.range(4,1,-1)",
    "torch.range(1,4,dtype=torch.int64)",
    "torch.range(1,4,0)",
    "torch.range(1)",
    "torch.range(0,3,requires_grad=True)",
    'torch.frombuffer(bytearray(b"abcd"),dtype=torch.uint8)',
    'torch.frombuffer(b"abcd",dtype=torch.uint8)',
    'torch.frombuffer(bytearray(b""),dtype=torch.uint8)',
    "torch.frombuffer(bytearray(8),dtype=torch.float32,count=3)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,offset=2)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,offset=8)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,offset=-1)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,count=0)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,count=-2)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,count=1)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,offset=4)",
    "torch.frombuffer(3,dtype=torch.float32)",
    "torch.frombuffer(bytearray(8),dtype=torch.float32,requires_grad=True)",
    "torch.frombuffer(bytearray(8),dtype=torch.int64,requires_grad=True)",
    "torch.frombuffer(bytearray(9),dtype=torch.float32)",
    "torch.frombuffer(np.arange(3.0),dtype=torch.float64)",
    "torch.typename(x)",
    "torch.typename(1)",
    "torch.typename(len)",
    "torch.testing.assert_allclose(x, x+1e-9)",
    "torch.testing.assert_allclose(x, [0.,1.,2.])",
    "torch.testing.assert_allclose(x, x+1)",
    'torch.testing.make_tensor(2,3,device="cpu",dtype=torch.float32)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.int64,low=0,high=5)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.float64,low=0,high=1,noncontiguous=True)',
    'torch.testing.make_tensor((5,),device="cpu",dtype=torch.bool)',
    'torch.testing.make_tensor((5,),device="cpu",dtype=torch.uint8,exclude_zero=True)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.float32,low=5,high=1)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.float16,requires_grad=True)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.int8,requires_grad=True)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.float32,low=float("nan"))',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.int8,low=200,high=300)',
    'torch.testing.make_tensor((2,3),device="cpu",dtype=torch.float32,low=1,high=1)',
    "x.is_conj()",
    "x.real",
    "x.conj()",
    "torch.conj(x)",
    "torch.real(x)",
    "x.resolve_conj()",
    "x.resolve_neg()",
    "x.is_neg()",
    "torch.is_conj(x)",
    "torch.isreal(x)",
    "x.is_signed()",
]


def run(torch, line):
    torch.manual_seed(0)

    class S(torch.Tensor):
        """A class of tensors."""

    return outcome(torch, line, x=torch.arange(3.0), S=S)


@pytest.mark.parametrize("line", LINES)
def test_it_does_what_pytorch_does(line):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    told = [run(one, line) for one in (minigrad, torch)]
    if "storage()" in line:  # each warns once in a process
        told = [each.partition("\nUserWarning: TypedStorage")[0] for each in told]
    assert told[0] == told[1]


def test_the_old_storage_warns_once():
    with pytest.warns(UserWarning, match="TypedStorage is deprecated") as warned:
        minigrad.ones(1).storage(), minigrad.ones(1).storage()
    assert len(warned) == 1


def test_memory_keeps_its_size_and_its_process():
    storage = minigrad.ones(2).untyped_storage()
    assert storage.resize_(8) is storage
    with pytest.raises(NotImplementedError, match="keep their size"):
        storage.resize_(0)
    with pytest.raises(NotImplementedError, match="one process"):
        minigrad.ones(2).share_memory_()


def test_a_storage_is_the_memory_that_tensors_see():
    x = minigrad.arange(4.0)
    y = x[2:].view(1, 2)
    y.untyped_storage()[:4] = 0
    storages.TypedStorage(x.numpy())[1:3] = 7
    assert x.tolist() == [0, 7, 7, 3] and len({x.untyped_storage(), y.untyped_storage()}) == 1
    assert list(minigrad.UntypedStorage(2).fill_(3)) == [3, 3]


def test_a_view_of_another_class_is_in_the_graph():
    class Mine(minigrad.Tensor):
        """A class of tensors."""

    x = minigrad.ones(2, requires_grad=True)
    y = (x * 2).as_subclass(Mine)
    assert type(y) is Mine and y.grad_fn.name().startswith("AliasBackward")
    (y * 3).sum().backward()
    assert x.grad.tolist() == [6, 6]
    with minigrad.no_grad():
        y.mul_(0)
    assert y.tolist() == [0, 0]


def test_a_buffer_that_may_not_be_written_to_stays_as_it_is():
    with pytest.warns(UserWarning, match="not writable"):
        x = minigrad.frombuffer(b"ab", dtype=minigrad.uint8)
    with pytest.raises((ValueError, RuntimeError)):
        x[0] = 1
    buffer = bytearray(2)
    minigrad.frombuffer(buffer, dtype=minigrad.uint8).fill_(3)
    assert buffer == b"\x03\x03"


def test_names_of_types_are_told():
    layer = minigrad.nn.Linear(1, 1)
    for obj in (layer, type(layer)):
        assert minigrad.typename(obj) == "minigrad.nn.modules.linear.Linear"
    assert minigrad.typename(minigrad.float32) == "minigrad.dtype"
