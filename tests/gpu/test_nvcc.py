"""CUDA's own compiler on every kernel: that they are CUDA, and keep nothing in slow memory.

It needs no GPU, and says nothing of what the kernels compute.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.support.slow import one_in

NVCC = shutil.which("nvcc")

pytestmark = pytest.mark.skipif(NVCC is None, reason="needs CUDA's compiler, nvcc")

DEFINES = {"float16": ["-DMINIGRAD_HALF=1", "-DMINIGRAD_W=unsigned short"],
           "float32": ["-DMINIGRAD_T=float", "-DMINIGRAD_W=unsigned int"],
           "float64": ["-DMINIGRAD_T=double", "-DMINIGRAD_W=unsigned long long"]}


@pytest.mark.parametrize("architecture", one_in(3, ["sm_80", "sm_75", "sm_90"]))
@pytest.mark.parametrize("dtype", DEFINES)
def test_every_kernel_compiles(fake, dtype, architecture, tmp_path):
    from minigrad.backend.cupy import launch
    from minigrad.backend.cupy.sources import HEADER, KERNELS
    from minigrad.backend.formulas import FORMULAS

    text = launch._SHARED + HEADER
    for name, code in KERNELS.items():
        text += f"namespace of_{name} {{\n{code}}}\n"  # for several may share helpers
    source = tmp_path / "kernels.cu"
    source.write_text(text)
    command = [str(NVCC), "-cubin", f"-arch={architecture}", "-std=c++14", "-Xptxas", "-v",
               "-Werror", "all-warnings", *DEFINES[dtype], "-o", str(tmp_path / "kernels.cubin")]
    told = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    used = {name: (int(stack), int(registers)) for name, stack, registers in re.findall(
        r"entry function '(\w+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers", told.stderr,
        re.S)}
    assert used.keys() == KERNELS.keys()
    # A block's threads share 65536 registers.
    for name, (_, registers) in used.items():
        assert registers <= 65536 // launch.most_threads(name), (name, registers)
    assert not any(used[name][0] for name in ("unscale", *FORMULAS)), "the table was copied"
