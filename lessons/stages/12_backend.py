"""Symptoms of stage 12: what a wrong answer does, shown by tiny programs."""

import functools
import importlib
import sys
from collections import namedtuple
from contextlib import contextmanager
from types import ModuleType

import numpy as np

from minigrad import backend as backends
from minigrad.backend import strict

#: The module; `minigrad.device` as an attribute is the class.
devices = importlib.import_module("minigrad.device")
NAME = "minigrad.backend.cupy"


class FakeArray:
    """An array of no library."""

    index = 3


class Fake:
    """A backend that writes down what it is asked for."""

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
        yield
        self.log.append(("leave", index))


def clean(symptom):
    """Leave the tables of backends as they were."""

    @functools.wraps(symptom)
    def checked():
        tables = backends.BACKENDS, backends.DEVICES
        kept = [dict(table) for table in tables]
        module = sys.modules.get(NAME, False)
        try:
            return symptom()
        finally:
            for table, before in zip(tables, kept, strict=True):
                table.clear()
                table.update(before)
            sys.modules.pop(NAME, None)
            if module is not False:
                sys.modules[NAME] = module

    return checked


def kind_of_error(call, *args):
    try:
        call(*args)
    except Exception as error:
        return type(error)
    return None


# ------------------------------------------------------------------ 12.1


@clean
def symptom_12_1_device_unknown():
    backends.register(Fake())
    return "fake" not in backends.DEVICES and FakeArray in backends.BACKENDS


@clean
def symptom_12_1_arrays_not_carried():
    fake = Fake()
    backends.register(fake)
    return backends.BACKENDS.get(FakeArray) is not fake and backends.DEVICES.get("fake") is fake


@clean
def symptom_12_1_first_one_stays():
    first, second = Fake(), Fake()
    backends.register(first)
    backends.register(second)
    return backends.DEVICES.get("fake") is first or backends.BACKENDS.get(FakeArray) is first


@clean
def symptom_12_1_another_error():
    return kind_of_error(backends.backend_of, [1.0]) not in (
        None, KeyError, TypeError, AttributeError, NotImplementedError)


@clean
def symptom_12_1_another_name():
    try:
        backends.backend_of([1.0])
    except TypeError as error:
        return "of type list" not in str(error) and "list" in str(error)
    return False


@clean
def symptom_12_1_numpy_takes_the_rest():
    return backends.backend_of([1.0]) is backends.numpy_backend


@clean
def symptom_12_1_none_for_unknown():
    return backends.backend_of([1.0]) is None


@clean
def symptom_12_1_raises_key_error():
    return kind_of_error(backends.backend_of, [1.0]) is KeyError


@clean
def symptom_12_1_takes_subclasses():
    class Own(np.ndarray):
        pass

    return (backends.backend_of(np.zeros(1).view(Own)) is backends.numpy_backend
            and kind_of_error(backends.backend_of, [1.0]) is TypeError)


# ------------------------------------------------------------------ 12.2


def loading(fake):
    """Return what loading CUDA gives or raises, where the CuPy module is that of `fake`."""
    module = None if fake is None else ModuleType(NAME)
    if module is not None:
        module.backend = fake
    sys.modules[NAME] = module
    try:
        return backends.load_cuda()
    except Exception as error:
        return error


def load_works():
    fake = Fake()
    return loading(fake) is fake


@clean
def symptom_12_2_not_registered():
    return load_works() and "fake" not in backends.DEVICES


@clean
def symptom_12_2_load_returns_nothing():
    return loading(Fake()) is None


@clean
def symptom_12_2_no_gpu_passes():
    return load_works() and isinstance(loading(Fake(0)), Fake)


@clean
def symptom_12_2_import_error_comes_out():
    return isinstance(loading(None), ImportError)


@clean
def symptom_12_2_driver_error_comes_out():
    found = loading(Fake(RuntimeError("the driver speaks")))
    return isinstance(found, RuntimeError) and str(found) == "the driver speaks"


@clean
def symptom_12_2_registered_too_early():
    found = loading(Fake(0))
    return isinstance(found, RuntimeError) and "fake" in backends.DEVICES


@clean
def symptom_12_2_no_cause():
    found = [loading(None), loading(Fake(RuntimeError("the driver speaks")))]
    return any(isinstance(each, RuntimeError) and each.__cause__ is None
               and "is not available" in str(each) for each in found)


@clean
def symptom_12_2_its_words_are_lost():
    found = loading(Fake(RuntimeError("the driver speaks")))
    return "is not available" in str(found) and "the driver speaks" not in str(found)


@clean
def symptom_12_2_another_reason():
    found = [str(loading(each)) for each in (None, Fake(0), Fake(RuntimeError("the driver")))]
    wanted = [backends.NO_LIBRARY, backends.NO_GPU, backends.NO_DRIVER]
    return (all("is not available" in each for each in found)
            and not all(each.startswith(text[: -len("({})")])
                        for each, text in zip(found, wanted, strict=True)))


# ------------------------------------------------------------------ 12.3


@clean
def symptom_12_3_another_device():
    entered = [each[1] for each in built_on("fake:2")[0].log if each[0] == "enter"]
    return bool(entered) and entered != [2]


@clean
def symptom_12_3_zero_is_a_number():
    return (("enter", 2) in built_on("fake:2")[0].log
            and ("enter", 0) not in built_on("fake:0")[0].log)


@clean
def symptom_12_3_always_cpu():
    backends.BACKENDS[FakeArray] = Fake()
    backends.DEVICES["fake"] = backends.BACKENDS[FakeArray]
    return devices.device_of(FakeArray()).type == "cpu"


@clean
def symptom_12_3_device_without_index():
    backends.BACKENDS[FakeArray] = Fake()
    backends.DEVICES["fake"] = backends.BACKENDS[FakeArray]
    found = devices.device_of(FakeArray())
    return found.type == "fake" and found.index is None


def built_on(where):
    fake = Fake()
    backends.DEVICES["fake"] = fake
    given = devices.build_on(where, lambda xp: fake.log.append("build") or xp)
    return fake, given


@clean
def symptom_12_3_wrong_backend():
    fake, given = built_on("fake:2")
    return given is not fake and given is not None


@clean
def symptom_12_3_build_returns_nothing():
    return built_on("fake:2")[1] is None


@clean
def symptom_12_3_does_not_enter_the_device():
    return built_on("fake:2")[0].log == ["build"]


@clean
def symptom_12_3_builds_outside_the_device():
    log = built_on("fake:2")[0].log
    return log in (["build", ("enter", 2), ("leave", 2)], [("enter", 2), ("leave", 2), "build"])


@clean
def symptom_12_3_enters_without_number():
    return ("enter", None) in built_on("fake")[0].log


# ------------------------------------------------------------------ 12.4

Pair = namedtuple("Pair", "first second")


def strict_array(*values):
    return strict.StrictArray(np.array(values))


def plain(value):
    return type(value) is np.ndarray


def one_works():
    return plain(strict.unwrap(strict_array(1.0)))


@clean
def symptom_12_4_plain_arrays_pass():
    return one_works() and plain(strict.unwrap(np.ones(1)))


@clean
def symptom_12_4_lists_become_tuples():
    return (isinstance(strict.unwrap([strict_array(1.0)]), tuple)
            or isinstance(strict.wrap([np.ones(1)]), tuple))


@clean
def symptom_12_4_plain_arrays_pass_inside():
    if kind_of_error(strict.unwrap, np.ones(1)) is not TypeError:
        return False
    found = strict.unwrap([strict_array(1.0), np.ones(1)])
    return plain(found[0]) and plain(found[1])


@clean
def symptom_12_4_one_level_only():
    found = strict.unwrap([strict_array(1.0), [strict_array(1.0)]])
    return plain(found[0]) and isinstance(found[1][0], strict.StrictArray)


@clean
def symptom_12_4_another_array():
    array = strict_array(1.0)
    found = strict.unwrap(array)
    return plain(found) and found is not array.host


@clean
def symptom_12_4_scalars_inside():
    found = strict.wrap(np.float64(1.0))
    return isinstance(found, strict.StrictArray) and not plain(found.host)


@clean
def symptom_12_4_sequences_stay_wrapped():
    found = strict.unwrap([strict_array(1.0)])
    return one_works() and isinstance(found[0], strict.StrictArray)


@clean
def symptom_12_4_dictionaries_stay_wrapped():
    found = strict.unwrap({"out": strict_array(1.0)})
    return one_works() and isinstance(found["out"], strict.StrictArray)


@clean
def symptom_12_4_tuples_become_lists():
    return (isinstance(strict.unwrap((strict_array(1.0),)), list)
            or isinstance(strict.wrap((np.ones(1),)), list))


@clean
def symptom_12_4_scalars_stay_plain():
    return (isinstance(strict.wrap(np.float64(1.0)), np.generic)
            and isinstance(strict.wrap(np.ones(1)), strict.StrictArray))


@clean
def symptom_12_4_wrap_copies():
    host = np.zeros(2)
    wrapped = strict.wrap(host)
    return isinstance(wrapped, strict.StrictArray) and not np.shares_memory(wrapped.host, host)


@clean
def symptom_12_4_sequences_stay_plain():
    return plain(strict.wrap([np.ones(1)])[0]) and not plain(strict.wrap(np.ones(1)))


@clean
def symptom_12_4_named_tuples_stay_plain():
    found = strict.wrap(Pair(np.ones(1), np.ones(1)))
    return plain(found[0]) and not plain(strict.wrap([np.ones(1)])[0])


@clean
def symptom_12_4_named_tuples_lose_names():
    found = strict.wrap(Pair(np.ones(1), np.ones(1)))
    return isinstance(found, tuple) and not hasattr(found, "first")


@clean
def symptom_12_4_wraps_everything():
    return isinstance(strict.wrap(3), strict.StrictArray)


# ------------------------------------------------------------------ 12.5


@clean
def symptom_12_5_converts_silently():
    return kind_of_error(np.asarray, strict_array(1.0)) is None


@clean
def symptom_12_5_any_truth_value():
    def gives_it_away(array):
        try:
            return bool(array) is True
        except TypeError:
            return False

    return any(map(gives_it_away, (strict_array(1.0), strict.StrictArray(np.array(2.5)))))


@clean
def symptom_12_5_no_truth_value():
    return kind_of_error(bool, strict_array(True)) is TypeError


@clean
def symptom_12_5_value_read_silently():
    return float(strict.StrictArray(np.array(1.5))) == 1.5


@clean
def symptom_12_5_special_names_show():
    return hasattr(strict_array(1.0), "__array_interface__")


def of_method():
    """An array, and no scalar: what `wrap` makes of scalars is asked in 12.4."""
    return strict_array(1.0, 2.0).cumsum()


@clean
def symptom_12_5_methods_give_plain_arrays():
    function = strict.strict_function(np.add)(strict_array(1.0), 1.0)
    return not isinstance(of_method(), strict.StrictArray) and isinstance(
        function, strict.StrictArray)


@clean
def symptom_12_5_attributes_are_plain():
    return plain(strict_array(1.0, 2.0).T) and isinstance(of_method(), strict.StrictArray)


@clean
def symptom_12_5_attributes_become_functions():
    x = strict_array(1.0, 2.0)
    return any(isinstance(each, strict.strict_function) for each in (x.T, x.size, x.real))


# ------------------------------------------------------------------ 12.6


@clean
def symptom_12_6_elements_are_plain():
    return not isinstance(strict_array(1.0, 2.0)[0:1], strict.StrictArray)


@clean
def symptom_12_6_numbers_are_no_arrays():
    x = strict_array(1.0, 2.0)
    made = (x[0], strict.strict_function(np.sum)(x))
    return any(isinstance(each, strict.StrictArray) and not plain(each.host) for each in made)


@clean
def symptom_12_6_place_stays_wrapped():
    x = strict_array(1.0, 2.0, 3.0)
    return (kind_of_error(x.__setitem__, 0, 5.0) is None
            and kind_of_error(x.__getitem__, np.array([0])) is not None
            and kind_of_error(x.__setitem__, np.array([0, 2]), 9.0) is None)


@clean
def symptom_12_6_index_stays_wrapped():
    x = strict_array(1.0, 2.0)
    return (kind_of_error(lambda: x[0:1]) is None
            and kind_of_error(lambda: x[strict_array(0, 1)]) is not None)


@clean
def symptom_12_6_cannot_be_written():
    x = strict_array(1.0, 2.0)
    return kind_of_error(x.__setitem__, 0, strict_array(5.0)[0]) is not None and kind_of_error(
        x.__getitem__, 0) is None


@clean
def symptom_12_6_writes_get_lost():
    x = strict_array(1.0, 2.0)
    x[0] = 7.0
    return x.host.tolist() == [1.0, 2.0]


@clean
def symptom_12_6_functions_give_plain_arrays():
    return plain(strict.strict_function(np.add)(strict_array(1.0), 1.0))


@clean
def symptom_12_6_keywords_stay_wrapped():
    add = strict.strict_function(np.add)
    if kind_of_error(add, strict_array(1.0), 1.0) is not None:
        return False
    try:
        add(strict_array(1.0), 1.0, out=strict_array(0.0))
    except TypeError:
        return True
    return False


@clean
def symptom_12_6_more_than_a_gpu_has():
    return kind_of_error(getattr, strict.strict_function(np.maximum), "accumulate") is None


@clean
def symptom_12_6_what_is_written_is_lost():
    x = strict_array(1.0, 2.0)
    kept = x.host
    x[0] = 5.0
    return kept.tolist() == [1.0, 2.0]


@clean
def symptom_12_6_attributes_of_functions_are_plain():
    return not isinstance(strict.strict_function(np.add).reduce, strict.strict_function)


# ------------------------------------------------------------------ 12.7

xp = strict.backend


@clean
def symptom_12_7_modules_become_functions():
    return isinstance(strict.strict(np), strict.strict_function)


@clean
def symptom_12_7_from_host_shares():
    host = np.zeros(2)
    return np.shares_memory(xp.from_host(host).host, host)


@clean
def symptom_12_7_to_host_shares():
    array = strict_array(1.0)
    return np.shares_memory(xp.to_host(array), array.host)


@clean
def symptom_12_7_order_is_lost():
    host = np.zeros((2, 3)).T
    array = strict.StrictArray(host)
    cube = np.zeros((2, 3, 4)).transpose(1, 0, 2)
    return (xp.from_host(host).host.strides != host.strides
            or xp.to_host(array).strides != host.strides
            or xp.from_host(cube).host.strides != cube.strides)


@clean
def symptom_12_7_to_host_stays_on_the_device():
    return isinstance(xp.to_host(strict_array(1.0)), strict.StrictArray)


@clean
def symptom_12_7_arrays_are_wrapped_again():
    array = strict_array(1.0)
    try:
        return xp.as_array(array) is not array
    except TypeError:
        return True


@clean
def symptom_12_7_numbers_stay_numbers():
    return not isinstance(xp.as_array(np.float64(1.0)), strict.StrictArray)


@clean
def symptom_12_7_functions_are_numpys():
    return xp.multiply is np.multiply


@clean
def symptom_12_7_modules_are_numpys():
    return xp.linalg is np.linalg and xp.multiply is not np.multiply


@clean
def symptom_12_7_types_become_functions():
    return xp.multiply is not np.multiply and xp.float64 is not np.float64


@clean
def symptom_12_7_constants_become_functions():
    return not isinstance(xp.pi, float)


@clean
def symptom_12_7_has_errstate():
    return hasattr(xp, "errstate")
