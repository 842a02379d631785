"""Files that lie: nothing is run, no memory is taken on trust, and the error says what is wrong."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections import OrderedDict

import pytest

from minigrad import load, save, tensor
from minigrad.serialization import legacy
from minigrad.serialization.pickling import Memory, Name, Rebuilt, Writer
from minigrad.utils import safetensors

GIB = 1 << 30


def saved() -> bytes:
    file = io.BytesIO()
    save({"x": tensor([1.0, 2.0])}, file)
    return file.getvalue()


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return target.getvalue()


def members() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(saved())) as file:
        return {name: file.read(name) for name in file.namelist()}


def with_pickle(program: bytes) -> bytes:
    """Return an archive whose description is another pickle."""
    return archive(members() | {"archive/data.pkl": program})


def tensor_with(function: str = "torch._utils _rebuild_tensor_v2", shape: object = (2,),
                strides: object = (1,), offset: object = 0, size: int = 2, key: str = "0",
                dtype: str = "FloatStorage", kind: str = "storage") -> bytes:
    """Return an archive of one tensor, described as told."""
    reference = Memory((kind, Name(f"torch {dtype}"), key, "cpu", size))
    described = Rebuilt(Name(function), (reference, offset, shape, strides, False, OrderedDict()))
    return with_pickle(Writer().program(described))


class Call:
    """Pickles as a call of any function."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def calling(function, *args) -> bytes:
    return with_pickle(pickle.dumps(Call(function, *args), protocol=2))


def repeated_entries() -> bytes:
    """Return an archive whose directory names one long member many times."""
    content = bytes(1 << 16)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in members().items():
            file.writestr(name, data)
        file.writestr("archive/data/1", content)
        for i in range(2, 64):
            again = zipfile.ZipInfo(f"archive/data/{i}")
            again.header_offset = file.getinfo("archive/data/1").header_offset
            again.file_size = again.compress_size = len(content)
            again.CRC = file.getinfo("archive/data/1").CRC
            file.filelist.append(again)
            file.NameToInfo[again.filename] = again
    return target.getvalue()


def legacy_file(promised: int, written: int) -> bytes:
    """Return a file in the old format, of one tensor of `promised` float32 numbers."""
    reference = Memory(("storage", Name("torch FloatStorage"), "0", "cpu", promised, None))
    described = Rebuilt(Name("torch._utils _rebuild_tensor_v2"),
                        (reference, 0, (2,), (1,), False, OrderedDict()))
    head = [pickle.dumps(each, protocol=2) for each in (
        legacy.MAGIC, legacy.VERSION, {"little_endian": True})]
    program, keys = Writer(is_legacy=True).program(described), pickle.dumps(["0"], protocol=2)
    return b"".join((*head, program, keys, struct.pack("<q", written), bytes(4 * written)))


HEAD = b"\x80\x02"

LIARS = {
    "a compressed bomb": lambda: archive(
        members() | {"archive/data/0": bytes(1 << 24)}, zipfile.ZIP_DEFLATED),
    "a memory that promises a gibibyte": lambda: tensor_with(size=GIB // 4, shape=(GIB // 4,)),
    "a memory of negative size": lambda: tensor_with(size=-2),
    "a longer shape than the memory": lambda: tensor_with(shape=(3,)),
    "a vast shape in no memory": lambda: tensor_with(shape=(1 << 62, 1 << 62), strides=(1, 1)),
    "a vast step": lambda: tensor_with(strides=(1 << 70,)),
    "a negative step": lambda: tensor_with(strides=(-1,), offset=1),
    "a step too few": lambda: tensor_with(strides=()),
    "a step that is no int": lambda: tensor_with(strides=(1.5,)),
    "a bool for a size": lambda: tensor_with(shape=(True,)),
    "a negative offset": lambda: tensor_with(offset=-1),
    "an offset beyond the end": lambda: tensor_with(offset=1),
    "a shape that is no tuple": lambda: tensor_with(shape=None),
    "another dtype": lambda: tensor_with(dtype="LongStorage"),
    "a dtype that is no storage": lambda: tensor_with(dtype="float32", kind="memory"),
    "a missing memory": lambda: tensor_with(key="7"),
    "a path out of the archive": lambda: tensor_with(key="../../../../etc/passwd"),
    "a reference to something else": lambda: tensor_with(kind="module"),
    "one member under many names": repeated_entries,
    "two descriptions": lambda: archive(members() | {"other/data.pkl": b"N."}),
    "a script": lambda: archive(members() | {"archive/constants.pkl": b"N."}),
    "no description": lambda: archive({"archive/data/0": bytes(8)}),
    "containers within containers": lambda: with_pickle(HEAD + b"](" * 100_000 + b"."),
    "a number of a million digits": lambda: with_pickle(b"I" + b"9" * 1_000_000 + b"\n."),
    "a string of two gibibytes": lambda: with_pickle(HEAD + b"X\xff\xff\xff\x7fa."),
    "bytes of an exbibyte": lambda: with_pickle(b"\x80\x04\x8e" + b"\xff" * 7 + b"\x0fa."),
    "a place of the memo far out": lambda: with_pickle(HEAD + b"j\xff\xff\xff\x7f."),
    "keys that take forever to compare": lambda: with_pickle(
        HEAD + b"})" + b"q\x00h\x00\x86" * 60 + b"Ns."),
    "a list as a key": lambda: with_pickle(HEAD + b"}]Ns."),
    "an empty pickle": lambda: with_pickle(b""),
    "no end": lambda: with_pickle(HEAD + b"N"),
    "nothing on the stack": lambda: with_pickle(HEAD + b"."),
    "no mark": lambda: with_pickle(HEAD + b"Nt."),
    "items of a number": lambda: with_pickle(HEAD + b"K\x01(Ne."),
    "an unknown instruction": lambda: with_pickle(HEAD + b"\xff."),
    "a call of a system function": lambda: calling(os.system, "true"),
    "a call of eval": lambda: calling(eval, "1"),
    "a call of getattr": lambda: calling(getattr, 1, "real"),
    "a call of a number": lambda: with_pickle(HEAD + b"K\x01)R."),
    "a call of a dtype": lambda: with_pickle(HEAD + b"ctorch\nfloat32\n)R."),
    "the function without a call": lambda: with_pickle(HEAD + b"cos\nsystem\n."),
    "an instance": lambda: with_pickle(HEAD + b"(ios\nsystem\n."),
    "a new object": lambda: with_pickle(HEAD + b"ccollections\nOrderedDict\n)\x81."),
    "an extension": lambda: with_pickle(HEAD + b"\x82\x01."),
    "another attribute": lambda: with_pickle(
        HEAD + b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsNsb."),
    "attributes of a dict": lambda: with_pickle(HEAD + b"}}X\x01\x00\x00\x00aNsb."),
    "a shape of text": lambda: with_pickle(
        HEAD + b"ctorch\nSize\nX\x01\x00\x00\x00a\x85R."),
    "an encoding that runs code": lambda: with_pickle(
        HEAD + b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R."),
    "two ends": lambda: saved()[:-22] + saved()[-22:-4] + b"\xff\xff" + b"PK\x05\x06",
    "a class that the caller never declared safe": lambda: with_pickle(
        HEAD + b"cargparse\nNamespace\n)\x81."),
    "a bytearray of an exbibyte": lambda: with_pickle(
        HEAD + b"c__builtin__\nbytearray\n\x8a\x08" + bytes(7) + b"\x10\x85R."),
    "a counter with a list as a key": lambda: with_pickle(
        HEAD + b"ccollections\nCounter\n}]Ns\x85R."),
    "an old file with a name in its head": lambda: b"\x80\x02cos\nsystem\n.",
    "an old file whose memory is longer than the file": lambda: legacy_file(1 << 40, 2),
    "an old file whose memory is truncated": lambda: legacy_file(4, 2),
    "an old file whose memory has another size": lambda: legacy_file(2, 3),
    "no archive": lambda: b"\x80\x04cos\nabort\n.",
}


@pytest.mark.parametrize("liar", LIARS)
def test_a_lying_file_is_refused_with_little_memory(liar, monkeypatch):
    data = io.BytesIO(LIARS[liar]())
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("the file ran a command"))
    tracemalloc.start()
    try:
        with pytest.raises((RuntimeError, pickle.UnpicklingError),
                           match=r"cannot load|Weights only load failed"):
            load(data)
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_the_honest_twin_of_the_liars_is_read():
    assert load(io.BytesIO(legacy_file(2, 2))).tolist() == [0.0, 0.0]
    assert load(io.BytesIO(tensor_with())).tolist() == [1.0, 2.0]


def test_an_expanded_tensor_takes_the_memory_of_one_number():
    file = tensor_with(shape=(1 << 40,), strides=(0,))
    assert load(io.BytesIO(file)).shape == (1 << 40,)


class TestSafetensors:
    """The same of the format that model hubs exchange."""

    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("safetensors", reason="reads the format")

    def file(self, tmp_path, data: bytes):
        path = tmp_path / "weights.safetensors"
        path.write_bytes(data)
        return path

    @staticmethod
    def made(header: object, data: bytes = bytes(16)) -> bytes:
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    def good(self) -> bytes:
        return self.made({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})

    def test_the_good_one_is_read(self, tmp_path):
        assert safetensors.load_file(self.file(tmp_path, self.good()))["a"].tolist() == [0.0] * 4

    @pytest.mark.parametrize("length", range(0, 60, 7))
    def test_a_truncated_one_is_refused(self, tmp_path, length):
        with pytest.raises(RuntimeError, match=r"weights.safetensors'.*damaged"):
            safetensors.load_file(self.file(tmp_path, self.good()[:length]))

    @pytest.mark.parametrize("header", [
        {"a": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [1 << 33, 1 << 33], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 32]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}},
        {name: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]} for name in "ab"},
        {"a": {"dtype": "OBJECT", "shape": [4], "data_offsets": [0, 16]}},
        ["a"], {"a": 3}, {},
    ])
    def test_a_forged_header_is_refused(self, tmp_path, header):
        with pytest.raises(RuntimeError, match="damaged"):
            safetensors.load_file(self.file(tmp_path, self.made(header)))

    @pytest.mark.parametrize("length", [1 << 62, 99_000_000, 0])
    def test_a_header_s_length_is_not_believed(self, tmp_path, length):
        with pytest.raises(RuntimeError, match="damaged"):
            safetensors.load_file(
                self.file(tmp_path, struct.pack("<Q", length) + self.good()[8:]))

    @pytest.mark.parametrize(("dtype", "size"), [("BF16", 2), ("U16", 2), ("C64", 8),
                                                 ("F8_E4M3", 1)])
    def test_a_dtype_that_is_not_here_is_named(self, tmp_path, dtype, size):
        header = {"layer.weight": {"dtype": dtype, "shape": [16 // size], "data_offsets": [0, 16]}}
        with pytest.raises(RuntimeError, match=rf"'layer.weight' has the dtype {dtype}"):
            safetensors.load_file(self.file(tmp_path, self.made(header)))

    def test_a_missing_file_and_a_folder(self, tmp_path):
        for path in (tmp_path, tmp_path / "none"):
            with pytest.raises(FileNotFoundError, match="there is no such file"):
                safetensors.load_file(path)
