"""Stage 12: backends picked by type and device, and an imaginary device that is strict."""

import importlib
import sys
from collections import namedtuple
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import backend as backends
from minigrad.backend import strict
from minigrad.tensor import Tensor

#: The module; `minigrad.device` as an attribute is the class.
devices = importlib.import_module("minigrad.device")
NAME = "minigrad.backend.cupy"


class FakeArray:
    """An array of no library, on the device with the number 3."""

    index = 3


class Fake:
    """A recording backend: it writes down what it is asked for and computes nothing."""

    name, device_type, array_type, run_op = "fake name", "fake", FakeArray, None

    def __init__(self, count=1):
        self.log, self.count = [], count

    def device_count(self):
        if isinstance(self.count, Exception):
            raise self.count
        return self.count

    def device_index(self, array):
        return array.index

    @contextmanager
    def on(self, index):
        self.log.append(("enter", index))
        try:
            yield
        finally:
            self.log.append(("leave", index))


@pytest.fixture(autouse=True)
def tables():
    """Leave the tables of backends and the modules as they were."""
    kept = dict(backends.BACKENDS), dict(backends.DEVICES)
    yield
    for table, before in zip((backends.BACKENDS, backends.DEVICES), kept, strict=True):
        table.clear()
        table.update(before)


def enter(backend):
    """Put a backend into the tables, whoever wrote `register`."""
    backends.BACKENDS[backend.array_type] = backend
    backends.DEVICES[backend.device_type] = backend


# ------------------------------------------------------------------ 12.1


@pytest.mark.hole("12.1")
def test_a_registered_backend_is_found_by_its_arrays_and_its_device():
    fake = Fake()
    backends.register(fake)
    assert backends.backend_of(FakeArray()) is fake
    assert backends.DEVICES["fake"] is fake, "expected the device type in DEVICES"
    assert backends.backend_of(np.zeros(2)) is backends.numpy_backend, "expected NumPy as before"


@pytest.mark.hole("12.1")
def test_the_last_one_registered_counts():
    first, second = Fake(), Fake()
    backends.register(first)
    backends.register(second)
    assert backends.backend_of(FakeArray()) is second
    assert backends.DEVICES["fake"] is second


@pytest.mark.hole("12.1")
@pytest.mark.parametrize("stranger", [[1.0], 1.0, FakeArray(), None],
                         ids=["list", "float", "unregistered", "None"])
def test_strangers_are_refused_by_name(stranger):
    name = type(stranger).__name__
    with pytest.raises(TypeError, match=f"^no backend carries arrays of type {name}$"):
        backends.backend_of(stranger)


@pytest.mark.hole("12.1")
def test_a_subclass_is_a_stranger():
    class Own(np.ndarray):
        pass

    with pytest.raises(TypeError, match="type Own"):
        backends.backend_of(np.zeros(2).view(Own))


# ------------------------------------------------------------------ 12.2


@pytest.fixture
def cupy(monkeypatch):
    """Return a function that puts a backend, or nothing, in the place of CuPy's."""

    def replace(fake):
        module = None
        if fake is not None:
            module = ModuleType(NAME)
            module.backend = fake
        monkeypatch.setitem(sys.modules, NAME, module)

    return replace


@pytest.mark.hole("12.2")
def test_cuda_is_loaded_and_registered(cupy):
    fake = Fake()
    cupy(fake)
    assert backends.load_cuda() is fake
    assert backends.DEVICES["fake"] is fake and backends.BACKENDS[FakeArray] is fake


@pytest.mark.hole("12.2")
@pytest.mark.parametrize("fake", [None, Fake(0), Fake(RuntimeError("the driver speaks"))],
                         ids=["no library", "no GPU", "no driver"])
def test_what_is_missing_is_said_in_one_sentence(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^device 'cuda' is not available: ") as caught:
        backends.load_cuda()
    assert "fake" not in backends.DEVICES, "expected nothing to be registered"
    if fake is None or isinstance(fake.count, Exception):
        assert caught.value.__cause__ is not None, "expected the error that came before as cause"
        assert str(caught.value.__cause__) in str(caught.value), "expected its words in the text"


@pytest.mark.hole("12.2")
def test_the_device_of_an_array():
    enter(Fake())
    assert devices.device_of(np.zeros(2)) == devices.device("cpu")
    got = devices.device_of(FakeArray())
    assert got == devices.device("fake", 3), f"expected fake:3, got {got}"


def built_on(where):
    fake = Fake()
    enter(fake)

    def build(xp):
        fake.log.append("build")
        return "built", xp

    return fake, devices.build_on(where, build)


@pytest.mark.hole("12.2")
@pytest.mark.parametrize("where", ["fake:2", devices.device("cpu")])
def test_something_is_built_by_the_backend_of_the_device(where):
    fake, built = built_on(where)
    expected = fake if where == "fake:2" else backends.numpy_backend
    assert built == ("built", expected), f"expected what build returned, got {built}"


@pytest.mark.hole("12.2")
def test_nothing_said_means_the_cpu():
    assert built_on(None)[1] == ("built", backends.numpy_backend)


@pytest.mark.hole("12.2")
@pytest.mark.parametrize("number", [2, 0])
def test_a_number_is_the_current_device_meanwhile(number):
    got = built_on(f"fake:{number}")[0].log
    expected = [("enter", number), "build", ("leave", number)]
    assert got == expected, f"expected {expected}, got {got}"


@pytest.mark.hole("12.2")
@pytest.mark.parametrize("where", ["fake", None, "cpu", "cpu:0"])
def test_without_a_number_no_device_is_entered(where):
    got = [each for each in built_on(where)[0].log if each != "build"]
    assert got == [], f"expected no device to be entered for {where}, got {got}"


# ------------------------------------------------------------------ 12.3

Pair = namedtuple("Pair", "first second")


def strict_array(*values):
    return strict.StrictArray(np.array(values))


def is_plain(value):
    return type(value) is np.ndarray


@pytest.mark.hole("12.3")
def test_unwrapping_an_array_gives_the_hosts():
    array = strict_array(1.0)
    assert strict.unwrap(array) is array.host


@pytest.mark.hole("12.3")
def test_a_plain_array_is_refused():
    with pytest.raises(TypeError, match="a NumPy array met a device array"):
        strict.unwrap(np.ones(2))
    with pytest.raises(TypeError, match="a NumPy array met a device array"):
        strict.unwrap([strict_array(1.0), np.ones(2)])


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("kind", [tuple, list])
def test_unwrapping_goes_into_sequences_and_dictionaries(kind):
    found = strict.unwrap(kind([strict_array(1.0), kind([strict_array(2.0), 3])]))
    assert type(found) is kind and type(found[1]) is kind, f"expected a {kind}, got {found!r}"
    assert is_plain(found[0]) and is_plain(found[1][0]) and found[1][1] == 3
    found = strict.unwrap({"out": strict_array(1.0), "axis": 0})
    assert is_plain(found["out"]) and found["axis"] == 0


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("value", [1, 2.5, "K", None, slice(1, 2), np.float64])
def test_other_values_are_unwrapped_as_they_are(value):
    assert strict.unwrap(value) is value


@pytest.mark.hole("12.3")
def test_a_named_tuple_is_not_unwrapped():
    value = Pair(strict_array(1.0), 2)
    assert strict.unwrap(value) is value, "expected a named tuple to stay as it is"


@pytest.mark.hole("12.3")
def test_wrapping_shares_the_memory():
    host = np.zeros(2)
    wrapped = strict.wrap(host)
    assert isinstance(wrapped, strict.StrictArray), f"expected a StrictArray, got {wrapped!r}"
    host[0] = 5.0
    assert wrapped.host.tolist() == [5.0, 0.0], "expected a wrapper of the same memory"


@pytest.mark.hole("12.3")
def test_a_scalar_becomes_an_array_without_dimensions():
    wrapped = strict.wrap(np.float32(2.5))
    assert isinstance(wrapped, strict.StrictArray), f"expected a StrictArray, got {wrapped!r}"
    assert is_plain(wrapped.host), f"expected an array as host, got {type(wrapped.host)}"
    assert wrapped.host.shape == () and wrapped.host.dtype == np.float32


@pytest.mark.hole("12.3")
def test_wrapping_goes_into_sequences():
    for kind in (tuple, list):
        found = strict.wrap(kind([np.ones(1), 3]))
        assert type(found) is kind and found[1] == 3
        assert isinstance(found[0], strict.StrictArray)
    found = strict.wrap(Pair(np.ones(1), np.zeros(1)))
    assert isinstance(found, Pair), f"expected a Pair, got {type(found)}"
    assert isinstance(found.first, strict.StrictArray)


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("value", [1, 2.5, "text", None, True])
def test_other_values_are_wrapped_as_they_are(value):
    assert strict.wrap(value) is value


# ------------------------------------------------------------------ 12.4


def expect_strict(value, numbers):
    assert isinstance(value, strict.StrictArray), f"expected a StrictArray, got {value!r}"
    assert value.host.tolist() == numbers, f"expected {numbers}, got {value.host.tolist()}"


@pytest.mark.hole("12.4")
def test_no_silent_conversion():
    x = strict_array(1.0, 2.0)
    with pytest.raises(TypeError, match="^Implicit conversion to a NumPy array is not allowed"):
        np.asarray(x)
    assert not hasattr(x, "__array_interface__"), "expected NumPy's protocols to stay hidden"
    with pytest.raises(AttributeError):
        x.__array_struct__


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("read", [float, int, bool])
def test_no_silent_reading(read):
    with pytest.raises(TypeError, match="hidden transfer"):
        read(strict.StrictArray(np.array(1.0)))


@pytest.mark.hole("12.4")
def test_an_outcome_may_be_asked():
    assert bool(strict.StrictArray(np.array(True))) is True
    assert bool(strict.StrictArray(np.array(False))) is False


@pytest.mark.hole("12.4")
def test_methods_and_attributes():
    x = strict.StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    expect_strict(x.sum(axis=0), [4.0, 6.0])
    expect_strict(x.T, [[1.0, 3.0], [2.0, 4.0]])
    assert x.shape == (2, 2) and x.dtype == np.float64


@pytest.mark.hole("12.4")
def test_indexing():
    x = strict_array(1.0, 2.0, 3.0)
    expect_strict(x[1:], [2.0, 3.0])
    expect_strict(x[0], 1.0)
    expect_strict(x[strict_array(2, 0)], [3.0, 1.0])
    x[1:][0] = 7.0
    expect_strict(x, [1.0, 7.0, 3.0])
    x[strict_array(0)] = strict_array(9.0)
    expect_strict(x, [9.0, 7.0, 3.0])
    with pytest.raises(TypeError, match="met a device array"):
        x[0:1] = np.ones(1)


@pytest.mark.hole("12.4")
def test_functions():
    add = strict.strict_function(np.add)
    x, out = strict_array(1.0, 2.0), strict_array(0.0, 0.0)
    expect_strict(add(x, 1.0), [2.0, 3.0])
    add(x, x, out=out)
    expect_strict(out, [2.0, 4.0])
    expect_strict(strict.strict_function(np.stack)([x, x]), [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="met a device array"):
        add(x, np.ones(2))


@pytest.mark.hole("12.4")
def test_ufuncs_have_what_a_gpu_has():
    x = strict_array(1.0, 2.0, 3.0)
    expect_strict(strict.strict_function(np.add).reduce(x), 6.0)
    expect_strict(strict.strict_function(np.multiply).accumulate(x), [1.0, 2.0, 6.0])
    for name in ("reduce", "accumulate"):
        with pytest.raises(NotImplementedError, match=f"maximum.{name}"):
            getattr(strict.strict_function(np.maximum), name)


# ------------------------------------------------------------------ 12.5

xp = strict.backend


@pytest.mark.hole("12.5")
def test_what_is_in_a_module_is_made_strict_by_its_kind():
    module = strict.strict(np)
    assert module.pi == np.pi and module.float64 is np.float64, "numbers and types stay"
    assert isinstance(module.add, strict.strict_function)
    assert isinstance(module.linalg, strict.StrictModule)


@pytest.mark.hole("12.5")
def test_moving_there_and_back_copies():
    host = np.arange(6.0).reshape(2, 3).T
    there = xp.from_host(host)
    back = xp.to_host(there)
    assert isinstance(there, strict.StrictArray) and is_plain(back)
    assert not np.shares_memory(there.host, host), "expected from_host to copy"
    assert not np.shares_memory(there.host, back), "expected to_host to copy"
    assert there.host.strides == back.strides == host.strides, "expected the strides to stay"
    assert back.tolist() == host.tolist()


@pytest.mark.hole("12.5")
def test_results_become_arrays():
    x = strict_array(1.0)
    assert xp.as_array(x) is x
    found = xp.as_array(np.float64(2.0))
    expect_strict(found, 2.0)
    assert found.host.shape == ()
    expect_strict(xp.as_array(3), 3)


@pytest.mark.hole("12.5")
def test_names_are_numpys_made_strict():
    expect_strict(xp.multiply(strict_array(2.0), 3.0), [6.0])
    expect_strict(xp.zeros(2), [0.0, 0.0])
    expect_strict(xp.linalg.inv(strict.StrictArray(np.array([[2.0]]))), [[0.5]])
    with pytest.raises(TypeError, match="met a device array"):
        xp.linalg.inv(np.eye(2))
    assert xp.float64 is np.float64, "expected types as they are"
    assert xp.pi == np.pi, "expected constants as they are"


@pytest.mark.hole("12.5")
def test_there_is_no_error_state():
    with pytest.raises(AttributeError):
        xp.errstate


@pytest.mark.hole("12.5")
def test_a_small_network_runs_on_the_imaginary_device():
    enter(xp)

    def moved(values):
        return Tensor._plain(xp.from_host(np.array(values))).requires_grad_()

    x, w = moved([[1.0, 2.0], [3.0, -4.0]]), moved([[0.5, -1.0], [2.0, 1.0]])
    loss = ((x @ w).relu() * 2).sum()
    loss.backward()
    assert isinstance(w.grad._array, strict.StrictArray), "expected gradients on the device"
    assert_close(xp.to_host(loss._array), 2 * (4.5 + 1.0), what="loss")
    assert_close(xp.to_host(w.grad._array), [[2.0, 2.0], [4.0, 4.0]], what="gradient of w")
    assert str(w.device) == "strict"
    with pytest.raises(RuntimeError, match="^Expected all tensors to be on the same device"):
        x * torch.ones(2, 2, dtype=torch.float64)
