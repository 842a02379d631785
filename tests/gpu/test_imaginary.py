"""The imaginary GPU (`tests/gpu/imaginary`) shows what a GPU would: who does not wait sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent / "imaginary"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif("imaginary_gpu" not in sys.modules,
                       reason="`make imaginary-gpu` runs these"),
]

PROGRAM = """
import imaginary_gpu
import cupy
import numpy as np
from cupy.cuda import runtime

quick = cupy.cuda.Stream(non_blocking=True)
slow = cupy.cuda.Stream(non_blocking=True)
"""


def run(program: str, lazy: bool = True) -> str:
    """Return what a program prints, in a process of its own, whose work runs late or at once."""
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    env.pop("MACHINE_LAZY", None)
    if lazy:
        env["MACHINE_LAZY"] = "1"
    done = subprocess.run([sys.executable, "-c", PROGRAM + program], env=env, capture_output=True,
                          text=True, check=False)
    return (done.stdout + done.stderr.strip()[-300:]).strip()


@pytest.mark.parametrize("waiting", ["", "slow.synchronize()", "quick.wait_event(slow.record())"],
                         ids=["nothing", "the host", "the stream"])
def test_who_does_not_wait_sees_what_was_before(waiting):
    program = f"""
x = cupy.zeros(3)
cupy.cuda.Device().synchronize()
with slow:
    x += 1
{waiting}
with quick:
    print(x.get().tolist())
"""
    assert run(program) == ("[1.0, 1.0, 1.0]" if waiting else "[0.0, 0.0, 0.0]")
    assert run(program, lazy=False) == "[1.0, 1.0, 1.0]"


@pytest.mark.parametrize(("pinned", "expected"), [(True, "[2.0, 2.0]"), (False, "[1.0, 1.0]")])
def test_pinned_memory_is_read_when_the_copy_is_made(pinned, expected):
    make = "cupyx.empty_pinned" if pinned else "np.empty"
    assert run(f"""
import cupyx
host, x = {make}(2), cupy.zeros(2)
cupy.cuda.Device().synchronize()
host[:] = 1
x.data.copy_from_host_async(host.ctypes.data, host.nbytes, slow)
host[:] = 2
slow.synchronize()
print(x.tolist())
""") == expected


def test_new_memory_holds_no_zeros():
    import cupy

    assert cupy.empty(1000).any()


@pytest.mark.parametrize("count", [1, 31, 32, 33, 1024])
def test_threads_wait_for_each_other(count):
    import cupy

    kernel = cupy.RawKernel(r"""
extern "C" __global__ void rotate(const int* x, int* up, int* round) {
    __shared__ int all[1024];
    all[threadIdx.x] = x[threadIdx.x];
    up[threadIdx.x] = __shfl_up_sync(0xffffffff, x[threadIdx.x], 1);
    __syncthreads();
    round[threadIdx.x] = all[(threadIdx.x + 1) % blockDim.x];
}""", "rotate")
    x = cupy.arange(count, dtype=np.int32)
    up, around = cupy.empty_like(x), cupy.empty_like(x)
    kernel((1,), (count,), (x, up, around))
    lanes = np.arange(count)
    assert up.tolist() == np.where(lanes % 32, lanes - 1, lanes).tolist()
    assert around.tolist() == np.roll(lanes, -1).tolist()


def test_a_block_has_at_most_1024_threads():
    import cupy

    kernel = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    with pytest.raises(RuntimeError, match="CUDA_ERROR_INVALID_VALUE"):
        kernel((1,), (1025,), ())


def test_what_nvidias_compiler_refuses_is_an_error():
    import cupy

    with pytest.raises(cupy.cuda.compiler.CompileException, match="nowhere"):
        cupy.RawKernel('extern "C" __global__ void f(int* x) { *x = nowhere; }', "f").compile()


def test_a_graph_repeats_its_work_and_a_capture_waits_for_nothing():
    import cupy

    x, y = cupy.zeros(2), cupy.zeros(2)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        x += 1
        y[...] = x * 2
        with pytest.raises(RuntimeError, match="StreamCapture"):
            stream.synchronize()
        with pytest.raises(RuntimeError, match="StreamCaptureInvalidated"):
            stream.end_capture()
        stream.begin_capture()
        x += 1
        graph = stream.end_capture()
        assert x.tolist() == [0.0, 0.0]
        for _ in range(3):
            graph.launch()
        assert x.tolist() == [3.0, 3.0]


def test_memory_runs_out_and_comes_back():
    import cupy

    with pytest.raises(cupy.cuda.memory.OutOfMemoryError):
        cupy.cuda.alloc(cupy.cuda.runtime.memGetInfo()[1] + 1)
    free = cupy.cuda.runtime.memGetInfo()[0]
    memory = cupy.cuda.Memory(1 << 20)
    assert cupy.cuda.runtime.memGetInfo()[0] == free - (1 << 20)
    del memory
    assert cupy.cuda.runtime.memGetInfo()[0] == free


CUDNN = """
import minigrad as torch
from minigrad.backend.cupy import dnn

x, w = torch.randn(1, 8, 4, 4, device="cuda"), torch.randn(8, 8, 3, 3, device="cuda")
host, execute = np.zeros(100), dnn.run
"""


@pytest.mark.parametrize(("change", "error"), [
    ("addresses[1] += 4", "misaligned pointer"),
    ("addresses[3] = host.ctypes.data", "no memory of the device"),
    ("del addresses[2]", ""),  # NVIDIA's frontend says so
    ("cupy.cuda.Device(1).use()", "belong to a device, which has to be current"),
], ids=["a view", "the host", "nothing", "another device"])
def test_cudnn_refuses_addresses(change, error):
    program = f"""{CUDNN}
def run(plan, handle, addresses):
    {change}
    execute(plan, handle, addresses)

dnn.run = run
torch.conv2d(x, w)
"""
    printed = run(program)
    assert "Error" in printed and error in printed


def test_tensor_cores_of_cudnn_round_float32():
    assert run(CUDNN + """
exact = torch.conv2d(x.cpu(), w.cpu())
for allow_tf32 in (True, False):
    with torch.backends.cudnn.flags(True, allow_tf32=allow_tf32):
        print(bool((torch.conv2d(x, w).cpu() - exact).abs().max() < 1e-4))
""") == "False\nTrue"
