"""Files that lie: nothing is run, no memory is taken on trust, and the error says what is wrong."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from minigrad import load, save, tensor
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


def array_header(shape, dtype="<f4") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def structure_with(**changes) -> bytes:
    structure = json.loads(members()["structure.json"])
    structure["tensors"][0].update(changes)
    return json.dumps(structure).encode()


def nested(depth: int) -> bytes:
    head, tail = b'{"format": "minigrad", "version": 1, "tensors": [], "root": ', b"}"
    return head + b"[" * depth + b"]" * depth + tail


def repeated_entries() -> bytes:
    """Return an archive whose directory names one long member many times."""
    content = bytes(1 << 16)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in members().items():
            file.writestr(name, data)
        file.writestr("memory/1.npy", content)
        for i in range(2, 64):
            again = zipfile.ZipInfo(f"memory/{i}.npy")
            again.header_offset = file.getinfo("memory/1.npy").header_offset
            again.file_size = again.compress_size = len(content)
            again.CRC = file.getinfo("memory/1.npy").CRC
            file.filelist.append(again)
            file.NameToInfo[again.filename] = again
    return target.getvalue()


LIARS = {
    "a compressed bomb": lambda: archive(
        members() | {"memory/0.npy": array_header((GIB // 4,)) + bytes(1 << 24)},
        zipfile.ZIP_DEFLATED),
    "a header that promises a gibibyte": lambda: archive(
        members() | {"memory/0.npy": array_header((GIB // 4,)) + bytes(8)}),
    "a header that promises more than there is": lambda: archive(
        members() | {"memory/0.npy": array_header((1 << 62, 1 << 62)) + bytes(8)}),
    "a negative shape": lambda: archive(
        members() | {"memory/0.npy": array_header((-2, -1)) + bytes(8)}),
    "a header of a mebibyte": lambda: archive(
        members() | {"memory/0.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 20)
                     + b" " * (1 << 20)}),
    "code in a header": lambda: archive(
        members() | {"memory/0.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 64)
                     + b"__import__('os').abort()".ljust(64)}),
    "records of bytes": lambda: archive(
        members() | {"memory/0.npy": array_header((1,), "|V8") + bytes(8)}),
    "one member under many names": repeated_entries,
    "containers within containers": lambda: archive({"structure.json": nested(100_000)}),
    "a number of a million digits": lambda: archive(
        {"structure.json": b'{"format": "minigrad", "version": ' + b"9" * 1_000_000 + b"}"}),
    "a vast shape in no memory": lambda: archive(
        members() | {"structure.json": structure_with(shape=[1 << 62, 1 << 62], strides=[1, 1])}),
    "a vast step": lambda: archive(
        members() | {"structure.json": structure_with(strides=[1 << 70])}),
    "a path out of the archive": lambda: archive(
        members() | {"structure.json": structure_with(memory="../../../etc/passwd")}),
    "two ends": lambda: saved()[:-22] + saved()[-22:-4] + b"\xff\xff" + b"PK\x05\x06",
    "no archive": lambda: b"\x80\x04cos\nabort\n.",
}


@pytest.mark.parametrize("liar", LIARS)
def test_a_lying_file_is_refused_with_little_memory(liar):
    data = io.BytesIO(LIARS[liar]())
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match="cannot load"):
            load(data)
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_an_expanded_tensor_takes_the_memory_of_one_number():
    file = archive(members() | {"structure.json": structure_with(shape=[1 << 40], strides=[0])})
    assert load(io.BytesIO(file))["x"].shape == (1 << 40,)


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
