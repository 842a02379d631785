"""`minigrad bench`: the documents' measurements as commands, and what they are made of."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.utils.memory import peak_memory, process_peak, reset_process_peak
from tests.support.slow import slow_but

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str, cwd: Path = ROOT, blocked: tuple[str, ...] = ()):
    """Run `minigrad bench` in a process of its own, as if `blocked` were not installed."""
    for name in ("rich", "typer"):
        pytest.importorskip(name, reason="the extra 'tour' is not installed")
    code = (f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n"
            "sys.argv[0] = 'minigrad'\nfrom minigrad_course.cli import main\nmain()\n")
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", "-c", code, "bench", *arguments], cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80"}, capture_output=True,
        encoding="utf-8",
    )


# --- bench resnet18 ------------------------------------------------------------------------------


def calls(table: str) -> dict[str, int]:
    """Return the number of calls by name from a printed table."""
    return {name: int(count) for name, count in re.findall(r"^ *(\S+) .* (\d+) *$", table, re.M)}


@pytest.mark.slow
def test_resnet18_prints_the_table_and_writes_the_files(tmp_path):
    done = command("resnet18", "--iterations", "2", "--size", "64", "--rows", "-1", "--sort",
                   "count", "--trace", "trace.json", "--html", "flames.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and "\x1b" not in done.stdout
    counted = calls(done.stdout)
    assert counted["torch::autograd::AccumulateGrad"] == 126
    assert counted["NativeBatchNormBackward"] == 40 and counted["AddBackward0"] == 16
    assert counted["MaxPool2DWithIndicesBackward"] == counted["torch::autograd::GraphRoot"] == 2
    order = [count for name, count in counted.items() if "::" in name or "Backward" in name]
    assert order == sorted(order, reverse=True)
    assert done.stdout.startswith("ResNet-18, 2 × forward and backward of ")
    assert "Self CPU time total" in done.stdout
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert "<canvas" in (tmp_path / "flames.html").read_text()


@pytest.mark.slow
def test_without_photographs_it_says_so():
    done = command("resnet18", "--iterations", "1", "--size", "64", blocked=("sklearn",))
    assert done.returncode == 0, done.stderr
    assert "random numbers, because scikit-learn is not installed" in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    slow_but(1, [
        (("resnet18", "--trace", "nowhere/trace.json"), "does not exist"),
        (("resnet18", "--sort", "beauty"), "self_cpu_time_total"),
        (("resnet18", "--iterations", "0"), "--iterations"),
        (("resnet18", "--size", "1000"), "--size"),
        (("no-grad", "--model", "vgg"), "resnet50"),
        (("no-grad", "--batch", "0"), "--batch"),
    ]),
)
def test_a_wrong_option_is_an_error_before_anything_is_measured(arguments, said):
    done = command(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert said in " ".join(done.stderr.split())


@pytest.mark.slow
def test_help_shows_examples():
    for arguments in ((), ("resnet18",), ("no-grad",)):
        done = command(*arguments, "--help")
        assert done.returncode == 0 and "minigrad bench " in done.stdout


# --- bench no-grad -------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_grad_shows_what_is_saved():
    done = command("no-grad", "--model", "resnet18", "--batch", "1", "--size", "64")
    assert done.returncode == 0, done.stderr
    graph, bare = re.search(r"^minigrad, arrays of the run +([\d.]+) MB +([\d.]+) MB",
                            done.stdout, re.M).groups()
    assert float(bare) < float(graph)
    assert re.search(r"^minigrad, whole process +[\d.]+ MB +[\d.]+ MB", done.stdout, re.M)
    assert "resnet18, inference in eval mode of" in done.stdout
    assert ("PyTorch, arrays" in done.stdout) != ("PyTorch is not installed" in done.stdout)


def test_a_process_that_fails_is_named(tmp_path):
    from minigrad_course.bench.peak_memory import peak

    with pytest.raises(RuntimeError, match="could not measure resnet18 with minigrad: .*Error"):
        peak("minigrad", "resnet18", tmp_path / "missing.npy", True)


# --- the network for any library ------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(1, ["resnet18", "resnet50"]))
def test_the_network_for_any_library_is_the_packages(name):
    from minigrad_course.demos.resnet import residual_network

    ours, again = getattr(nn.models, name)(10), residual_network(torch, name, 10)
    weights, same = ours.state_dict(), again.state_dict()
    assert set(weights) == set(same)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in again.named_parameters()]
    again.load_state_dict(weights)
    x = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        np.testing.assert_array_equal(ours.eval()(x).numpy(), again.eval()(x).numpy())


# --- photographs ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_photographs_are_cut_out_and_normalised():
    pytest.importorskip("sklearn", reason="the extra 'tour' is not installed")
    pytest.importorskip("PIL", reason="the extra 'tour' is not installed")
    from minigrad_course.demos import photographs

    images, about = photographs.load(4, 96)
    assert tuple(images.shape) == (4, 3, 96, 96) and images.dtype is torch.float32
    assert about == "4 pieces of scikit-learn's photographs, 96 × 96"
    array = images.numpy()
    assert all(np.abs(array[i] - array[j]).max() > 0.1 for i in range(4) for j in range(i))
    assert np.abs(array).max() < 3 and array.std() > 0.3


def test_a_piece_takes_every_so_many_pixels():
    from minigrad_course.demos import photographs

    picture = np.zeros((10, 20, 3), np.uint8)
    picture[...] = np.arange(20)[None, :, None]
    rows = photographs.piece(picture, 4, 0) * photographs.SPREAD[:, None, None]
    columns = ((rows + photographs.MEAN[:, None, None]) * 255).round()[0, 0]
    assert columns.tolist() == [6, 8, 10, 12]  # the middle: 12 left over, steps of 2
    with pytest.raises(ValueError, match="at most 10, not 11"):
        photographs.piece(picture, 11, 0)


# --- minigrad.utils.memory ------------------------------------------------------------------------


def test_peak_memory_counts_arrays_to_the_byte():
    with peak_memory() as memory:
        x = torch.zeros(1 << 20)
        y = x + 1
        del x
    assert memory.peak - 8 * (1 << 20) in range(20_000)
    assert memory.kept - 4 * (1 << 20) in range(20_000)
    del y
    with peak_memory() as memory:
        pass
    assert memory.peak < 10_000


def test_peaks_may_nest():
    for before in (0, 4):  # the outer one's peak comes within the inner one, or before it
        with peak_memory() as outer:
            x = torch.zeros(1 << 20)
            torch.zeros(before << 20)
            with peak_memory() as inner:
                y = x * 2
        assert inner.peak - 4 * (1 << 20) in range(20_000)
        assert outer.peak - 4 * (max(2, 1 + before) << 20) in range(40_000)
        assert y.numel() == x.numel()
        del x, y


@pytest.mark.slow
def test_the_peak_of_the_process_grows_and_can_be_reset():
    before = process_peak()
    x = np.ones(50_000_000, np.uint8)
    grown = process_peak()
    assert grown >= before and x[-1] == 1
    del x
    if reset_process_peak():
        assert process_peak() < grown


# --- the path that is taught ---------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--generic"]])
def test_the_path_from_a_product_to_its_gradient_is_counted(options):
    told = subprocess.run([sys.executable, "benchmarks/path_length.py", *options], cwd=ROOT,
                          env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
                          encoding="utf-8", check=True).stdout
    counts = re.fullmatch(r"(\d+) calls in (\d+) files; (\d+) lines in (\d+) functions\n", told)
    calls, files, lines, functions = map(int, counts.groups())
    assert files < functions <= calls and functions < lines
