"""minigrad: PyTorch's autograd in Python on NumPy.

`import minigrad as torch` runs code written for PyTorch's autograd unchanged.

>>> import minigrad as torch
>>> x = torch.tensor(3.0, requires_grad=True)
>>> (x * x).backward()
>>> x.grad
tensor(6.)
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from . import _state, on_demand

if _state.codegen:
    from .codegen import switch_on as _switch_on

    _switch_on()  # before any operation is published

# The compiler belongs to a higher layer than modules, so they reach it through this function.
_compiler = on_demand.later("compiler")
vars(_state)["compile_module"] = lambda *args, **kwargs: _compiler.compile_in_place(*args, **kwargs)

vars(_state)["overrides"] = on_demand.later("op.overrides")

from . import compat, ops
from .device import device
from .dtypes import (
    bfloat16,
    bool,
    can_cast,
    double,
    dtype,
    float,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    set_default_dtype,
    short,
    uint8,
)
from .tensor import repr as tensor_repr
from .tensor.attributes import Size
from .tensor.tensor import Tensor
from .version import __version__

if TYPE_CHECKING:  # everything here is loaded on first use
    from . import (
        _C,
        _functions,
        _six,
        accelerator,
        amp,
        autograd,
        backends,
        compiler,
        cuda,
        distributions,
        func,
        functional,
        futures,
        jit,
        linalg,
        masked,
        nn,
        optim,
        overrides,
        profiler,
        return_types,
        signal,
        special,
        storage,
        testing,
        torch_version,
        types,
        utils,
        version,
    )
    from ._functions import *
    from .amp import autocast, is_autocast_available
    from .amp.switches import (
        autocast_decrement_nesting,
        autocast_increment_nesting,
        clear_autocast_cache,
        get_autocast_cpu_dtype,
        get_autocast_dtype,
        get_autocast_gpu_dtype,
        is_autocast_cache_enabled,
        is_autocast_cpu_enabled,
        is_autocast_enabled,
        set_autocast_cache_enabled,
        set_autocast_cpu_dtype,
        set_autocast_cpu_enabled,
        set_autocast_dtype,
        set_autocast_enabled,
        set_autocast_gpu_dtype,
    )
    from .autograd import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        is_inference_mode_enabled,
        no_grad,
        set_grad_enabled,
    )
    from .autograd.anomaly_mode import (
        is_anomaly_check_nan_enabled,
        is_anomaly_enabled,
        set_anomaly_enabled,
    )
    from .backend.threads import get_num_threads, set_num_threads
    from .compat.as_torch import as_torch
    from .compat.settings import (
        are_deterministic_algorithms_enabled,
        get_deterministic_debug_mode,
        get_float32_matmul_precision,
        get_num_interop_threads,
        is_deterministic_algorithms_warn_only_enabled,
        is_warn_always_enabled,
        set_default_tensor_type,
        set_deterministic_debug_mode,
        set_float32_matmul_precision,
        set_flush_denormal,
        set_num_interop_threads,
        set_warn_always,
        use_deterministic_algorithms,
    )
    from .compiler import compile
    from .default_device import get_default_device, set_default_device
    from .func import vmap
    from .ops.creation.legacy import (
        BoolTensor,
        ByteTensor,
        CharTensor,
        DoubleTensor,
        FloatTensor,
        HalfTensor,
        IntTensor,
        LongTensor,
        ShortTensor,
    )
    from .ops.creation.tensor_options import (
        channels_last,
        channels_last_3d,
        contiguous_format,
        preserve_format,
        strided,
    )
    from .ops.info import finfo, iinfo
    from .ops.random import sampling as random
    from .ops.random.sampling import Generator, default_generator
    from .ops.shape.storages import TypedStorage, UntypedStorage
    from .serialization import load, save
    from .tensor.formatting import set_printoptions
else:
    _find, _listed = on_demand.attributes(__name__)

    def __getattr__(name: str) -> Any:
        if name in ops.FILES:
            found = globals()[name] = ops.function(name)
            return found
        return _find(name)

    def __dir__():  # without operations that have another name or no name in PyTorch
        return sorted(name for name in {*_listed(), *ops.FILES} if not (
            name.startswith(("linalg_", "special_")) or name.endswith("_backward")))

    tensor = ops.function("tensor")  # now, since the folder `tensor` has the same name


for _kind in (Tensor, Size, dtype, device):
    _kind.__module__ = __name__  # as in PyTorch, for pickles
newaxis = None
compat.install()

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "Size",
    "Tensor",
    "__version__",
    "amp",
    "as_torch",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "backends",
    "bfloat16",
    "bool",
    "can_cast",
    "channels_last",
    "channels_last_3d",
    "clear_autocast_cache",
    "compile",
    "contiguous_format",
    "cuda",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "func",
    "get_autocast_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_num_threads",
    "half",
    "iinfo",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "load",
    "long",
    "masked",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "optim",
    "pi",
    "preserve_format",
    "profiler",
    "promote_types",
    "random",
    "save",
    "set_anomaly_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "short",
    "signal",
    "strided",
    "testing",
    "uint8",
    "utils",
    "version",
    "vmap",
]
if TYPE_CHECKING:
    __all__ += _functions.__all__
    __all__ += [  # public, although a star import leaves them out
        "TypedStorage", "UntypedStorage", "are_deterministic_algorithms_enabled",
        "get_deterministic_debug_mode", "get_float32_matmul_precision",
        "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled",
        "is_warn_always_enabled", "set_default_tensor_type", "set_deterministic_debug_mode",
        "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
        "set_warn_always", "use_deterministic_algorithms",
    ]
else:
    __all__ += list(ops.FILES)
