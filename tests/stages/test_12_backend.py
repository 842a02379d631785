"""Stage 12: backends picked by type and device, and an imaginary device that is strict."""

import importlib
import operator
import sys
from collections import namedtuple
from types import ModuleType

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import backend as backends
from minigrad.backend import strict
from minigrad.tensor.tensor import Tensor

#: The module; `minigrad.device` as an attribute is the class.
devices = importlib.import_module("minigrad.device")
NAME = "minigrad.backend.cupy"


class FakeArray:
    """An array of no library, on the device with the number 3."""

    index = 3


class Entered:
    """A block on a device; unlike a generator, it isn't left when it's garbage collected."""

    def __init__(self, log, index):
        self.log, self.index = log, index

    def __enter__(self):
        self.log.append(("enter", self.index))

    def __exit__(self, *exc):
        self.log.append(("leave", self.index))


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

    def on(self, index):
        return Entered(self.log, index)


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
def test_a_registered_backend_is_found_by_its_device():
    fake = Fake()
    backends.register(fake)
    assert backends.DEVICES.get("fake") is fake, "expected the device type in DEVICES"


@pytest.mark.hole("12.1")
def test_a_registered_backend_is_found_by_the_type_of_its_arrays():
    fake = Fake()
    backends.register(fake)
    assert backends.BACKENDS.get(FakeArray) is fake, "expected the array type in BACKENDS"


@pytest.mark.hole("12.1")
@pytest.mark.parametrize("kind", ["BACKENDS", "DEVICES"])
def test_the_last_one_registered_counts(kind):
    first, second = Fake(), Fake()
    backends.register(first)
    backends.register(second)
    found = {"BACKENDS": backends.BACKENDS.get(FakeArray), "DEVICES": backends.DEVICES.get("fake")}
    assert found[kind] is second


@pytest.mark.hole("12.1")
def test_registering_leaves_the_others():
    backends.register(Fake())
    assert backends.BACKENDS[np.ndarray] is backends.numpy_backend
    assert backends.DEVICES["cpu"] is backends.numpy_backend
    first, second = Fake(), Fake()
    second.array_type = type("OtherArray", (), {})
    backends.register(first)
    backends.register(second)  # for the same device, but another type
    assert backends.BACKENDS.get(FakeArray) is first, "expected its own arrays to keep the first"


@pytest.mark.hole("12.1")
def test_the_backend_of_an_array():
    fake = Fake()
    enter(fake)
    assert backends.backend_of(FakeArray()) is fake
    assert backends.backend_of(np.zeros(2)) is backends.numpy_backend
    backends.BACKENDS[frozenset] = other = Fake()  # of no device, like the one for batches
    assert backends.backend_of(frozenset()) is other


@pytest.mark.hole("12.1")
@pytest.mark.parametrize("stranger", [[1.0], 1.0, FakeArray(), None],
                         ids=["a list", "a number", "an array that nobody carries", "None"])
def test_strangers_are_refused(stranger):
    with pytest.raises(TypeError):
        backends.backend_of(stranger)


@pytest.mark.hole("12.1")
@pytest.mark.parametrize("stranger", [[1.0], 1.0, FakeArray(), None],
                         ids=["a list", "a number", "an array that nobody carries", "None"])
def test_strangers_are_refused_by_name(stranger):
    name = type(stranger).__name__
    with pytest.raises(TypeError, match=f"^no backend supports arrays of type {name}$"):
        backends.backend_of(stranger)


@pytest.mark.hole("12.1")
def test_a_subclass_is_a_stranger():
    class Own(np.ndarray):
        pass

    with pytest.raises(TypeError, match="type Own"):
        backends.backend_of(np.zeros(2).view(Own))
    with pytest.raises(TypeError, match="type ndarray"):
        backends.backend_of(type("ndarray", (), {})())  # of another library


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
def test_loading_returns_the_backend(cupy):
    fake = Fake()
    cupy(fake)
    assert backends.load_cuda() is fake


@pytest.mark.hole("12.2")
@pytest.mark.parametrize("count", [1, 2])
def test_what_was_loaded_is_registered(cupy, count):
    fake = Fake(count)
    cupy(fake)
    backends.load_cuda()
    assert backends.DEVICES.get("fake") is fake and backends.BACKENDS.get(FakeArray) is fake


MISSING = [None, Fake(0), Fake(RuntimeError("the driver speaks"))]
each_missing = pytest.mark.parametrize(
    "fake", MISSING, ids=["there is no library", "there is no GPU", "the driver complains"])
each_error = pytest.mark.parametrize(
    "fake", MISSING[::2], ids=["there is no library", "the driver complains"])


@pytest.mark.hole("12.2")
@each_missing
def test_what_is_missing_is_a_runtime_error(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^(?!12)"):
        backends.load_cuda()


@pytest.mark.hole("12.2")
@each_missing
def test_what_is_missing_is_said_in_one_sentence(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^device 'cuda' is not available: .+"):
        backends.load_cuda()


@pytest.mark.hole("12.2")
@pytest.mark.parametrize(("fake", "text"), list(zip(
    MISSING, [backends.NO_LIBRARY, backends.NO_GPU, backends.NO_DRIVER], strict=True)),
    ids=["there is no library", "there is no GPU", "the driver complains"])
def test_the_sentence_says_which_of_the_three_is_missing(cupy, fake, text):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^(?!12)") as caught:
        backends.load_cuda()
    assert str(caught.value).startswith(text[: -len("({})")]), f"got {caught.value}"


@pytest.mark.hole("12.2")
def test_a_library_that_cannot_be_imported_is_missing(monkeypatch):
    def broken(name):
        raise ImportError("no libcuda")  # installed, so this is no ModuleNotFoundError

    monkeypatch.setattr(backends, "import_module", broken)
    with pytest.raises(RuntimeError, match="it needs CuPy.*no libcuda"):
        backends.load_cuda()


@pytest.mark.hole("12.2")
@each_missing
def test_what_cannot_be_used_is_not_registered(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^(?!12)"):
        backends.load_cuda()
    assert "fake" not in backends.DEVICES, "expected nothing in DEVICES"
    assert FakeArray not in backends.BACKENDS, "expected nothing in BACKENDS"


@pytest.mark.hole("12.2")
@each_error
def test_the_first_error_is_the_cause(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^(?!12)") as caught:
        backends.load_cuda()
    assert caught.value.__cause__ is not None, "expected the error that came before as cause"


@pytest.mark.hole("12.2")
@each_error
def test_the_first_error_s_words_are_in_the_text(cupy, fake):
    cupy(fake)
    with pytest.raises(RuntimeError, match="^(?!12)") as caught:
        backends.load_cuda()
    first = caught.value.__cause__ or caught.value.__context__
    assert first is not None and str(first) in str(caught.value), "expected its words in the text"


# ------------------------------------------------------------------ 12.3


@pytest.mark.hole("12.3")
def test_arrays_of_the_cpu():
    got = devices.device_of(np.zeros(2))
    assert got is devices.CPU, f"expected the constant CPU, got {got!r}"


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("number", [3, 0])
def test_the_device_of_an_array(number):
    enter(Fake())
    array = FakeArray()
    array.index = number
    got = devices.device_of(array)
    assert got == devices.device("fake", number), f"expected fake:{number}, got {got}"


def built_on(where):
    fake = Fake()
    enter(fake)
    where = where() if callable(where) else where

    def build(xp):
        fake.log.append("build")
        return "built", xp

    return fake, devices.build_on(where, build)


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("where", ["fake:2", devices.device("cpu"), "fake"],
                         ids=["fake:2", "cpu", "fake"])
def test_something_is_built_by_the_backend_of_the_device(where):
    fake, built = built_on(where)
    expected = fake if str(where).startswith("fake") else backends.numpy_backend
    assert built == ("built", expected), f"expected what build returned, got {built}"


@pytest.mark.hole("12.3")
def test_nothing_said_means_the_cpu():
    assert built_on(None)[1] == ("built", backends.numpy_backend)


@pytest.mark.hole("12.3")
def test_a_device_is_left_after_an_exception():
    def failing(xp):
        raise ValueError("inside")

    fake = Fake()
    enter(fake)
    with pytest.raises(ValueError, match="inside"):
        devices.build_on("fake:2", failing)
    assert fake.log == [("enter", 2), ("leave", 2)], f"got {fake.log}"


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("number", [0, 2])
def test_a_number_is_the_current_device_meanwhile(number):
    for where in f"fake:{number}", lambda: devices.device("fake", number):
        got = built_on(where)[0].log
        expected = [("enter", number), "build", ("leave", number)]
        assert got == expected, f"expected {expected}, got {got}"


@pytest.mark.hole("12.3")
@pytest.mark.parametrize("where", ["fake", None, "cpu", "cpu:0"], ids=str)
def test_without_a_number_no_device_is_entered(where):
    got = [each for each in built_on(where)[0].log if each != "build"]
    assert got == [], f"expected no device to be entered for {where}, got {got}"


# ------------------------------------------------------------------ 12.4

Pair = namedtuple("Pair", "first second")


def strict_array(*values):
    return strict.StrictArray(np.array(values))


def is_plain(value):
    return type(value) is np.ndarray


@pytest.mark.hole("12.4")
def test_unwrapping_an_array_gives_the_hosts():
    array = strict_array(1.0)
    assert strict.unwrap(array) is array.host


@pytest.mark.hole("12.4")
def test_a_plain_array_is_refused():
    with pytest.raises(TypeError, match="a NumPy array met a device array$"):
        strict.unwrap(np.ones(2))


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("kind", [tuple, list], ids=["tuple", "list"])
def test_unwrapping_goes_into_sequences(kind):
    found = strict.unwrap(kind([strict_array(1.0), 3]))
    assert is_plain(found[0]) and found[1] == 3, f"got {found!r}"


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("kind", [tuple, list], ids=["tuple", "list"])
def test_a_sequence_keeps_its_type(kind):
    found = strict.unwrap(kind([strict_array(1.0), 3]))
    assert type(found) is kind, f"expected a {kind.__name__}, got {type(found).__name__}"


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("kind", [tuple, list], ids=["tuple", "list"])
def test_unwrapping_goes_into_sequences_in_sequences(kind):
    found = strict.unwrap([kind([strict_array(2.0)])])
    assert type(found[0]) is kind and is_plain(found[0][0]), f"got {found!r}"


@pytest.mark.hole("12.4")
def test_a_plain_array_in_a_sequence_is_refused():
    with pytest.raises(TypeError, match="a NumPy array met a device array$"):
        strict.unwrap([strict_array(1.0), np.ones(2)])


@pytest.mark.hole("12.4")
def test_unwrapping_goes_into_dictionaries():
    found = strict.unwrap({"out": strict_array(1.0), "axis": 0, "many": [strict_array(2.0)]})
    assert is_plain(found["out"]) and found["axis"] == 0, f"got {found!r}"
    assert is_plain(found["many"][0]), "a list in a dictionary is unwrapped too"


@pytest.mark.hole("12.4")
def test_unwrapping_leaves_what_it_received():
    given = {"many": [strict_array(1.0), [strict_array(2.0)]]}
    strict.unwrap(given)
    many = given["many"]
    assert isinstance(many[0], strict.StrictArray) and isinstance(many[1][0], strict.StrictArray)


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("value", [1, 2.5, "K", None, slice(1, 2), np.float64, np.float32(1.0)],
                         ids=["1", "2.5", "a string", "None", "a slice", "a type",
                              "a NumPy scalar"])
def test_other_values_are_unwrapped_as_they_are(value):
    assert strict.unwrap(value) is value


@pytest.mark.hole("12.4")
def test_an_array_is_wrapped():
    wrapped = strict.wrap(np.zeros(2))
    assert isinstance(wrapped, strict.StrictArray), f"expected a StrictArray, got {wrapped!r}"


@pytest.mark.hole("12.4")
def test_wrapping_shares_the_memory():
    host = np.zeros(2)
    wrapped = strict.wrap(host)
    host[0] = 5.0
    assert wrapped.host.tolist() == [5.0, 0.0], "expected a wrapper of the same memory"


@pytest.mark.hole("12.4")
def test_a_scalar_becomes_an_array_without_dimensions():
    wrapped = strict.wrap(np.float32(2.5))
    assert isinstance(wrapped, strict.StrictArray), f"expected a StrictArray, got {wrapped!r}"
    assert is_plain(wrapped.host), f"expected an array as host, got {type(wrapped.host)}"
    assert wrapped.host.shape == () and wrapped.host.dtype == np.float32
    assert isinstance(strict.wrap(np.bool_(True)), strict.StrictArray), "a bool is a scalar too"


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("kind", [tuple, list], ids=["tuple", "list"])
def test_wrapping_goes_into_sequences(kind):
    found = strict.wrap(kind([np.ones(1), 3, kind([np.ones(1)])]))
    assert type(found) is kind and found[1] == 3, f"got {found!r}"
    assert isinstance(found[0], strict.StrictArray)
    assert isinstance(found[2][0], strict.StrictArray), "a sequence in a sequence is wrapped too"


@pytest.mark.hole("12.4")
def test_wrapping_goes_into_named_tuples():
    found = strict.wrap(Pair(np.ones(1), np.zeros(1)))
    assert isinstance(found, Pair), f"expected a Pair, got {type(found)}"
    assert isinstance(found.first, strict.StrictArray)
    assert isinstance(found.second, strict.StrictArray)
    found = strict.wrap(Pair(3, "text"))
    assert type(found[0]) is int and found[1] == "text", f"expected them as they are, got {found}"


@pytest.mark.hole("12.4")
@pytest.mark.parametrize("value", [1, 2.5, "text", None, True, np.float64,
                                   strict.StrictArray(np.ones(1))],
                         ids=["1", "2.5", "a string", "None", "True", "a type", "a StrictArray"])
def test_other_values_are_wrapped_as_they_are(value):
    assert strict.wrap(value) is value


# ------------------------------------------------------------------ 12.5


def expect_strict(value, numbers):
    assert isinstance(value, strict.StrictArray), f"expected a StrictArray, got {value!r}"
    assert is_plain(value.host), f"the host is a {type(value.host).__name__}, not an array"
    assert value.host.tolist() == numbers, f"expected {numbers}, got {value.host.tolist()}"


@pytest.mark.hole("12.5")
def test_no_silent_conversion():
    with pytest.raises(TypeError, match="^Implicit conversion to a NumPy array is not allowed"):
        np.asarray(strict_array(1.0, 2.0))


@pytest.mark.hole("12.5")
@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__", "__complex__",
                                  "__dlpack__"])
def test_names_of_protocols_stay_hidden(name):
    with pytest.raises(AttributeError):
        getattr(strict.StrictArray(np.array(1.0)), name)


@pytest.mark.hole("12.5")
@pytest.mark.parametrize("read", [float, int, operator.index], ids=["float", "int", "index"])
def test_no_silent_reading(read):
    with pytest.raises(TypeError, match="hidden transfer"):
        read(strict.StrictArray(np.array(1)))


@pytest.mark.hole("12.5")
@pytest.mark.parametrize("number", [1.0, 0.0, 1], ids=str)
def test_a_number_has_no_truth_value(number):
    with pytest.raises(TypeError, match="hidden transfer"):
        bool(strict.StrictArray(np.array(number)))


@pytest.mark.hole("12.5")
@pytest.mark.parametrize("outcomes", [[True, True], [False, True]], ids=str)
def test_several_outcomes_have_no_truth_value(outcomes):
    with pytest.raises((TypeError, ValueError)):
        bool(strict_array(*outcomes))


@pytest.mark.hole("12.5")
@pytest.mark.parametrize("outcome", [True, False])
def test_an_outcome_may_be_asked(outcome):
    got = bool(strict.StrictArray(np.array(outcome)))
    assert got is outcome, f"expected {outcome}, got {got}"


@pytest.mark.hole("12.5")
def test_an_attribute_that_is_an_array_is_wrapped():
    x = strict.StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    expect_strict(x.T, [[1.0, 3.0], [2.0, 4.0]])
    assert np.shares_memory(x.T.host, x.host), "expected the same memory"


@pytest.mark.hole("12.5")
def test_other_attributes_come_as_they_are():
    x = strict.StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert x.shape == (2, 2) and x.dtype == np.float64 and x.size == 4
    assert isinstance(x.dtype, np.dtype), f"expected the host's dtype, got {x.dtype!r}"


@pytest.mark.hole("12.5")
def test_an_unknown_attribute():
    with pytest.raises(AttributeError):
        strict_array(1.0).no_such_name


@pytest.mark.hole("12.5")
def test_a_method_is_a_strict_function():
    got = strict_array(1.0, 2.0).sum
    assert isinstance(got, strict.strict_function), f"expected a strict_function, got {got!r}"
    assert got.function() == 3.0, "expected the host's own method in it"


# ------------------------------------------------------------------ 12.6


@pytest.mark.hole("12.6")
def test_what_a_method_gives_is_wrapped():
    x = strict.StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    expect_strict(x.sum(axis=0), [4.0, 6.0])


@pytest.mark.hole("12.6")
@pytest.mark.parametrize(("key", "numbers"), [(slice(1, None), [2.0, 3.0]), (0, 1.0)],
                         ids=["x[1:]", "x[0]"])
def test_what_indexing_gives_is_wrapped(key, numbers):
    expect_strict(strict_array(1.0, 2.0, 3.0)[key], numbers)


@pytest.mark.hole("12.6")
def test_an_index_is_unwrapped():
    expect_strict(strict_array(1.0, 2.0, 3.0)[strict_array(2, 0)], [3.0, 1.0])


@pytest.mark.hole("12.6")
def test_every_part_of_an_index_is_unwrapped():
    x = strict.StrictArray(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    expect_strict(x[:, strict_array(2, 0)], [[3.0, 1.0], [6.0, 4.0]])


@pytest.mark.hole("12.6")
def test_a_plain_array_is_no_index():
    with pytest.raises(TypeError, match="met a device array"):
        strict_array(1.0, 2.0)[np.array([0])]


@pytest.mark.hole("12.6")
def test_an_element_may_be_written():
    x = strict_array(1.0, 2.0, 3.0)
    x[1] = 7.0
    expect_strict(x, [1.0, 7.0, 3.0])


@pytest.mark.hole("12.6")
def test_a_part_that_was_indexed_shares_the_memory():
    x = strict_array(1.0, 2.0, 3.0)
    x[1:][0] = 7.0
    expect_strict(x, [1.0, 7.0, 3.0])


@pytest.mark.hole("12.6")
def test_what_is_written_is_unwrapped():
    x = strict_array(1.0, 2.0, 3.0)
    x[0:1] = strict_array(9.0)
    expect_strict(x, [9.0, 2.0, 3.0])


@pytest.mark.hole("12.6")
def test_the_place_that_is_written_is_unwrapped():
    x = strict_array(1.0, 2.0, 3.0)
    x[strict_array(0, 2)] = 9.0
    expect_strict(x, [9.0, 2.0, 9.0])


@pytest.mark.hole("12.6")
@pytest.mark.parametrize("key", [np.array([0, 2]), (np.array([0, 2]),), np.array(1)],
                         ids=["an array", "a tuple", "a number"])
def test_a_plain_array_is_no_place(key):
    x = strict_array(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="met a device array"):
        x[key] = 9.0
    expect_strict(x, [1.0, 2.0, 3.0])


@pytest.mark.hole("12.6")
def test_a_part_of_the_place_is_unwrapped():
    x = strict.StrictArray(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    x[:, strict_array(2, 0)] = 9.0
    expect_strict(x, [[9.0, 2.0, 9.0], [9.0, 5.0, 9.0]])


@pytest.mark.hole("12.6")
def test_a_number_is_an_array_without_dimensions():
    x = strict.StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    for got, number in ((x[0, 1], 2.0), (strict.strict_function(np.add)(x[0, 1], 1), 3.0),
                        (strict.strict_function(np.sum)(x), 10.0)):
        expect_strict(got, number)
        assert got.host.shape == ()


@pytest.mark.hole("12.6")
def test_a_plain_array_cannot_be_written():
    with pytest.raises(TypeError, match="met a device array"):
        strict_array(1.0, 2.0)[0:1] = np.ones(1)


@pytest.mark.hole("12.6")
def test_what_a_function_gives_is_wrapped():
    expect_strict(strict.strict_function(np.zeros)(2), [0.0, 0.0])


@pytest.mark.hole("12.6")
def test_arguments_of_a_function_are_unwrapped():
    x = strict_array(1.0, 2.0)
    expect_strict(strict.strict_function(np.add)(x, 1.0), [2.0, 3.0])
    expect_strict(strict.strict_function(np.stack)([x, x]), [[1.0, 2.0], [1.0, 2.0]])


@pytest.mark.hole("12.6")
def test_keywords_of_a_function_are_unwrapped():
    x, out = strict_array(1.0, 2.0), strict_array(0.0, 0.0)
    written = out.host
    strict.strict_function(np.add)(x, x, out=out)
    expect_strict(out, [2.0, 4.0])
    assert written.tolist() == [2.0, 4.0], "expected the function to write to the host of out"


@pytest.mark.hole("12.6")
def test_arguments_of_a_method_are_unwrapped():
    expect_strict(strict_array(1.0, 2.0).dot(strict_array(3.0, 4.0)), 11.0)


@pytest.mark.hole("12.6")
def test_a_plain_array_is_no_argument():
    with pytest.raises(TypeError, match="met a device array"):
        strict.strict_function(np.add)(strict_array(1.0, 2.0), np.ones(2))


@pytest.mark.hole("12.6")
def test_what_add_and_multiply_have():
    x = strict_array(1.0, 2.0, 3.0)
    expect_strict(strict.strict_function(np.add).reduce(x), 6.0)
    expect_strict(strict.strict_function(np.multiply).accumulate(x), [1.0, 2.0, 6.0])


@pytest.mark.hole("12.6")
@pytest.mark.parametrize("name", ["reduce", "accumulate"])
def test_what_other_ufuncs_lack(name):
    with pytest.raises(NotImplementedError, match=rf"^`?maximum\.{name}`? is not supported yet"):
        getattr(strict.strict_function(np.maximum), name)


@pytest.mark.hole("12.6")
def test_other_attributes_of_functions():
    x = strict_array(1.0, 2.0)
    expect_strict(strict.strict_function(np.maximum).outer(x, x), [[1.0, 2.0], [2.0, 2.0]])


# ------------------------------------------------------------------ 12.7

xp = strict.backend


@pytest.mark.hole("12.7")
def test_a_module_becomes_a_strict_module():
    assert isinstance(strict.strict(np.linalg), strict.StrictModule)


@pytest.mark.hole("12.7")
def test_a_function_becomes_a_strict_function():
    for function in (np.add, np.stack):
        got = strict.strict(function)
        assert isinstance(got, strict.strict_function), f"got {got!r}"


@pytest.mark.hole("12.7")
@pytest.mark.parametrize("value", [np.float64, np.ndarray], ids=["float64", "ndarray"])
def test_a_type_stays(value):
    assert strict.strict(value) is value


@pytest.mark.hole("12.7")
@pytest.mark.parametrize("value", [np.pi, None, 3], ids=["pi", "None", "3"])
def test_a_constant_stays(value):
    assert strict.strict(value) is value


@pytest.mark.hole("12.7")
def test_names_are_numpys_made_strict():
    expect_strict(xp.zeros(2), [0.0, 0.0])
    expect_strict(xp.multiply(strict_array(2.0), 3.0), [6.0])
    assert xp.float64 is np.float64, "expected types as they are"
    assert xp.pi == np.pi, "expected constants as they are"


@pytest.mark.hole("12.7")
def test_names_of_modules_are_made_strict():
    expect_strict(xp.linalg.inv(strict.StrictArray(np.array([[2.0]]))), [[0.5]])
    with pytest.raises(TypeError, match="met a device array"):
        xp.linalg.inv(np.eye(2))


ROWS = np.arange(6.0).reshape(2, 3)


@pytest.mark.hole("12.7")
def test_from_host_gives_a_strict_array():
    expect_strict(xp.from_host(ROWS), ROWS.tolist())


@pytest.mark.hole("12.7")
def test_from_host_copies():
    assert not np.shares_memory(xp.from_host(ROWS).host, ROWS), "expected from_host to copy"


@pytest.mark.hole("12.7")
def test_to_host_gives_a_numpy_array():
    back = xp.to_host(strict.StrictArray(ROWS))
    assert is_plain(back) and back.tolist() == ROWS.tolist(), f"got {back!r}"


@pytest.mark.hole("12.7")
def test_to_host_copies():
    there = strict.StrictArray(ROWS)
    assert not np.shares_memory(xp.to_host(there), there.host), "expected to_host to copy"


@pytest.mark.hole("12.7")
@pytest.mark.parametrize("name", ["from_host", "to_host"])
def test_copies_keep_the_order_in_memory(name):
    got = (xp.from_host(ROWS.T).host if name == "from_host"
           else xp.to_host(strict.StrictArray(ROWS.T)))
    assert got.strides == ROWS.T.strides, f"expected strides {ROWS.T.strides}, got {got.strides}"
    cube = np.zeros((2, 3, 4)).transpose(1, 0, 2)  # in the order of neither rows nor columns
    got = xp.from_host(cube).host if name == "from_host" else xp.to_host(strict.StrictArray(cube))
    assert got.strides == cube.strides, f"expected strides {cube.strides}, got {got.strides}"


@pytest.mark.hole("12.7")
def test_as_array_leaves_a_strict_array():
    x = strict_array(1.0)
    assert xp.as_array(x) is x


@pytest.mark.hole("12.7")
@pytest.mark.parametrize("value", [np.float64(2.0), 3, True], ids=["a NumPy scalar", "3", "True"])
def test_as_array_of_a_number(value):
    found = xp.as_array(value)
    expect_strict(found, value)
    assert is_plain(found.host) and found.host.shape == ()


@pytest.mark.hole("12.7")
def test_as_array_of_others():
    expect_strict(xp.as_array(np.array([1.0, 2.0])), [1.0, 2.0])


@pytest.mark.hole("12.7")
def test_there_is_no_error_state():
    with pytest.raises(AttributeError):
        xp.errstate


@pytest.mark.hole("12.7")
def test_a_name_that_numpy_lacks():
    with pytest.raises(AttributeError):
        xp.no_such_name


@pytest.mark.hole("12.7")
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
