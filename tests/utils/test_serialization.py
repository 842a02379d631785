"""Saving and loading: what comes back, what is refused, and that damage is noticed."""

import io
import math
from collections import OrderedDict

import numpy as np
import pytest

import minigrad
from minigrad import dtypes, load, save, tensor
from minigrad.tensor.tensor import Parameter, Tensor


def round_trip(value, **options):
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return load(file, **options)


@pytest.mark.parametrize("value", [
    None, True, 3, -(2**80), 2.5, math.inf, "text", "\udcff é", b"\x00\xff", [], (), {}, set(),
    [1, [2, (3, "x")]], {"a": {"b": [None, False]}}, {1: "int key", (2, 3): "tuple key"},
    OrderedDict(z=1, a=2), frozenset({1, 2}), minigrad.Size((2, 3)), minigrad.float64,
    minigrad.device("cpu"), {"kind": "tensor", "index": 0},
])
def test_plain_values_come_back(value):
    back = round_trip(value)
    assert back == value and type(back) is type(value)


def test_nan_and_order_come_back():
    assert math.isnan(round_trip(math.nan))
    assert list(round_trip(OrderedDict(z=1, a=2))) == ["z", "a"]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_come_back(dtype, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype.numpy)
    back = round_trip({"x": minigrad.from_numpy(array)})["x"]
    assert type(back) is Tensor and back.dtype is dtype and tuple(back.shape) == shape
    assert (back.numpy() == array).all() and back.numpy().flags.writeable


def test_layout_requires_grad_and_class_come_back():
    transposed = minigrad.from_numpy(np.arange(6.0).reshape(2, 3).T)
    back = round_trip([transposed, tensor([1.0], requires_grad=True), Parameter(tensor([2.0])),
                       Parameter(tensor([2.0]), requires_grad=False),
                       tensor([1.0], requires_grad=True) * 2])
    assert back[0].stride() == (1, 3) and (back[0].numpy() == transposed.numpy()).all()
    assert back[1].requires_grad and back[1].is_leaf
    assert type(back[2]) is Parameter and back[2].requires_grad
    assert type(back[3]) is Parameter and not back[3].requires_grad
    assert back[4].is_leaf and back[4].tolist() == [2.0]


def test_one_tensor_saved_twice_stays_one():
    weight = Parameter(tensor([1.0, 2.0]))
    back = round_trip({"encoder": weight, "decoder": [weight]})
    assert back["encoder"] is back["decoder"][0]


def test_shared_memory_stays_shared():
    base = np.arange(12.0).reshape(3, 4)
    whole, part = minigrad.from_numpy(base), minigrad.from_numpy(base[1:, ::2])
    whole, part, again = round_trip((whole, part, minigrad.from_numpy(base[0])))
    assert part.tolist() == [[4, 6], [8, 10]] and part.stride() == (4, 2)
    whole.numpy()[1, 0] = 99
    assert part.tolist()[0][0] == 99 and again.tolist() == [0, 1, 2, 3]


def test_a_window_into_other_memory_is_copied():
    window = minigrad.from_numpy(np.frombuffer(bytearray(np.arange(8.0).tobytes()))[1::3])
    assert round_trip(window).tolist() == [1, 4, 7]
    expanded = minigrad.from_numpy(np.lib.stride_tricks.as_strided(np.ones(1), (3,), (0,)))
    assert round_trip(expanded).tolist() == [1, 1, 1]


def test_paths_and_open_files_serve_alike(tmp_path):
    path = tmp_path / "model.pt"
    save({"x": tensor([1])}, path)
    assert load(str(path))["x"].tolist() == [1]
    with open(path, "rb") as file:
        assert load(file, map_location="cpu", weights_only=True)["x"].tolist() == [1]
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


class Model:
    def state_dict(self):
        return {}


class Mine(Tensor):
    pass


@pytest.mark.parametrize(("value", "text"), [
    ({"a": [1, object()]}, r"cannot save obj\['a'\]\[1\], of type object"),
    (Model(), "state_dict"),
    ({"best": np.float32(1)}, "Python number"),
    ([np.ones(2)], "make it a tensor"),
    ([1j], "complex"),
    (lambda: 1, "function"),
    (minigrad.tensor([1.0]).new, "method"),
])
def test_what_is_no_data_is_refused_by_name(value, text):
    file = io.BytesIO()
    with pytest.raises(TypeError, match=text):
        save(value, file)
    assert not file.getvalue()


def test_a_container_in_itself_and_a_subclass_are_refused():
    endless: list = [1]
    endless.append({"again": endless})
    with pytest.raises(TypeError, match=r"obj\[1\]\['again'\]: it contains itself"):
        save(endless, io.BytesIO())
    with pytest.raises(TypeError, match="Mine"):
        save([Mine([1.0])], io.BytesIO())


def saved_bytes():
    file = io.BytesIO()
    save({"x": tensor([[1.0, 2.0], [3.0, 4.0]]), "y": "text"}, file)
    return file.getvalue()


def test_every_truncation_is_noticed():
    data = saved_bytes()
    for length in range(0, len(data), 7):
        with pytest.raises(RuntimeError, match="cannot load"):
            load(io.BytesIO(data[:length]))


def test_a_flipped_byte_is_noticed_or_harmless():
    data = saved_bytes()
    noticed = 0
    for position in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[position] ^= 0xFF
        try:
            back = load(io.BytesIO(bytes(damaged)))
        except RuntimeError:
            noticed += 1
        else:  # a byte that no reader looks at, such as a date
            assert back["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and back["y"] == "text"
    assert noticed > len(data) // 3 * 0.5


def test_a_modules_state_comes_back_with_its_versions():
    module = minigrad.nn.Sequential(minigrad.nn.Linear(2, 3), minigrad.nn.BatchNorm1d(3))
    optimizer = minigrad.optim.Adam(module.parameters())
    module(minigrad.ones(4, 2)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    minigrad.save({"model": module.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    read = minigrad.load(file)
    state = module.state_dict()
    assert type(state) is type(read["model"]) is OrderedDict
    assert read["model"]._metadata == state._metadata
    assert read["model"]._metadata["1"]["version"] == 2
    again = minigrad.nn.Sequential(minigrad.nn.Linear(2, 3), minigrad.nn.BatchNorm1d(3))
    assert str(again.load_state_dict(read["model"])) == "<All keys matched successfully>"
    for name, value in state.items():
        assert minigrad.equal(again.state_dict()[name], value)
    minigrad.optim.Adam(again.parameters()).load_state_dict(read["optimizer"])


def test_map_location_moves_by_name_or_by_a_function():
    seen = []

    def place(storage, name):
        seen.append((storage.tolist(), name))
        return storage

    value = {"x": tensor([1.0, 2.0])}
    for location in ("cpu", minigrad.device("cpu"), {"cuda:0": "cpu"}, place, lambda s, n: None):
        assert round_trip(value, map_location=location)["x"].tolist() == [1.0, 2.0]
    assert seen == [([1.0, 2.0], "cpu")]


def test_a_list_saved_twice_stays_one():
    shared = [1]
    first, second = round_trip((shared, shared))
    assert first is second and first == [1]


def test_what_cannot_be_read_from_is_refused():
    with pytest.raises(AttributeError, match="argument 'f' must be a path or a file"):
        load(3)


def objects(t):
    """Return what models and optimizers keep, made by a package."""
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
    optimizer = t.optim.Adam(model.parameters(), lr=0.1)
    model(t.arange(8.0).reshape(4, 2)).sum().backward()
    optimizer.step()
    whole = t.arange(12.0).reshape(3, 4)
    tied = t.nn.Parameter(t.ones(2))
    return {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "tied": [tied, tied],
        "frozen": t.nn.Parameter(t.ones(2), requires_grad=False),
        "views": (whole, whole[1:, ::2], whole.t()), "leaf": t.ones(2, requires_grad=True),
        "numbers": [t.ones(2, dtype=d) for d in (
            t.float64, t.float16, t.int64, t.int32, t.int16, t.int8, t.uint8, t.bool)],
        "empty": t.zeros(0, 3), "number": t.tensor(2.5),
        "plain": [None, True, 3, -(2**80), 1.5, "é", b"\xff", {1, 2}, (1, (2,)), t.Size([2, 3]),
                  t.float32, t.device("cpu")],
    }


@pytest.mark.parametrize("ours_writes", [True, False])
def test_pytorch_reads_these_files_and_they_are_read_here(ours_writes):
    torch = pytest.importorskip("torch", reason="exchanges files with PyTorch")
    writer, reader = (minigrad, torch) if ours_writes else (torch, minigrad)
    file, sent = io.BytesIO(), objects(writer)
    writer.save(sent, file)
    file.seek(0)
    got = reader.load(file, weights_only=True)
    assert str(got["plain"]) == str(sent["plain"])
    assert repr(got) == repr(sent)
    assert got["tied"][0] is got["tied"][1]
    assert type(got["frozen"]) is reader.nn.Parameter and not got["frozen"].requires_grad
    assert got["leaf"].requires_grad and got["views"][2].stride() == (1, 4)
    assert got["model"]._metadata == sent["model"]._metadata
    got["views"][0][1, 0] = 99
    assert got["views"][1][0, 0] == 99 and got["views"][2][0, 1] == 99
    model = reader.nn.Sequential(reader.nn.Linear(2, 3), reader.nn.BatchNorm1d(3))
    assert str(model.load_state_dict(got["model"])) == "<All keys matched successfully>"
    reader.optim.Adam(model.parameters()).load_state_dict(got["optimizer"])


def test_old_files_and_other_archives_of_pytorchs_are_named(tmp_path):
    torch = pytest.importorskip("torch", reason="writes the files")
    path = tmp_path / "old.pt"
    torch.save({"x": torch.ones(2)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="format of PyTorch before version 1.6"):
        load(path)
    with open(path, "rb") as file, pytest.raises(RuntimeError, match="before version 1.6"):
        load(file)
    torch.save(torch.ones(2, dtype=torch.bfloat16), path)
    with pytest.raises(RuntimeError, match="BFloat16Storage, which NumPy does not have"):
        load(path)
    torch.save(torch.nn.Linear(1, 1), path)
    with pytest.raises(RuntimeError, match=r"names torch.nn.modules.linear.Linear; only tensors"):
        load(path)
