"""Convolution with cuDNN, through NVIDIA's Python frontend: `pip install nvidia-cudnn-frontend`.

cuDNN's interface is a graph of operations on described tensors.  Here each call is a graph of one
node with three tensors: two inputs and the output.  cuDNN proposes kernels ("heuristics"), and the
first one that can be built becomes the plan. We cache the plan for each shape, dtype and device,
and run it with the arrays' addresses.

NOTE [Convolutions by cuDNN]
    We use cuDNN for float16 and float32 in row-major order, with sums in float32, in one to three
    dimensions; a line is an image of height one.  A weight with fewer channels than the input
    implies groups. All other cases, and those for which cuDNN has no plan, use the kernels of
    `fused`, and so does everything if cuDNN is not installed or not `enabled`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import cupy
import numpy as np

from ...frames import warn_user
from ..dnn import library, switches
from ..kernels_window import conv_output_sizes
from .fused import FusedKernels
from .layout import dense
from .place import capturing

Array = Any
Ints = Sequence[int]
#: A graph with the index of its plan (None: the one it was built with) and its workspace in bytes.
Plan = tuple[Any, int | None, int]

#: Maximum number of cached plans; beyond it, the oldest is dropped.
MOST_PLANS = 1024

#: cuDNN requires addresses with this alignment, but a view may begin anywhere in its memory.
ALIGNMENT = 16

#: The names of the tensors that each node reads; it writes the third.
NODES = {"conv_fprop": ("image", "weight"), "conv_dgrad": ("loss", "filter"),
         "conv_wgrad": ("image", "loss")}

_plans: dict[tuple[Any, ...], Plan | None] = {}


class Handles(dict[int, Any]):
    """A thread's handles by device; when a thread ends, others reuse its handles.

    A handle holds memory of its device, and creating one takes time.
    """

    free: ClassVar[defaultdict[int, list[Any]]] = defaultdict(list)

    def __missing__(self, device: int) -> Any:
        try:
            handle = self.free[device].pop()
        except IndexError:
            handle = new_handle()
        self[device] = handle
        return handle

    def __del__(self) -> None:
        for device, handle in self.items():
            if handle is not None:
                self.free[device].append(handle)


class OfThread(threading.local):
    """Per-thread state."""

    def __init__(self) -> None:
        self.handles = Handles()


_of_thread = OfThread()


class CudnnKernels(FusedKernels):
    """Convolutions that use cuDNN where it supports them."""

    def conv_forward(self, x: Array, weight: Array, bias: Array | None, stride: Ints,
                     padding: Ints, dilation: Ints, groups: int) -> Array:
        """Convolve with cuDNN's node `conv_fprop`, then add the bias."""
        counts = conv_output_sizes(x.shape[2:], weight.shape[2:], stride, padding, dilation)
        shape = (x.shape[0], weight.shape[0], *counts)
        out = convolved("conv_fprop", x, weight, shape, (stride, padding, dilation))
        if out is None:
            return super().conv_forward(x, weight, bias, stride, padding, dilation, groups)
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(counts))
        return out

    def conv_grad_input(self, g: Array, weight: Array, input_sizes: Ints, stride: Ints,
                        padding: Ints, dilation: Ints, groups: int) -> Array:
        """Return the gradient with respect to the input, with cuDNN's node `conv_dgrad`."""
        options = stride, padding, dilation
        grad = None
        if fits(input_sizes, weight.shape, g.shape, options):
            grad = convolved("conv_dgrad", g, weight, tuple(input_sizes), options)
        if grad is None:
            return super().conv_grad_input(g, weight, input_sizes, stride, padding, dilation,
                                           groups)
        return grad

    def conv_grad_weight(self, g: Array, x: Array, weight_sizes: Ints, stride: Ints,
                         padding: Ints, dilation: Ints, groups: int) -> Array:
        """Return the gradient with respect to the weight, with cuDNN's node `conv_wgrad`."""
        options = stride, padding, dilation
        grad = None
        if fits(x.shape, weight_sizes, g.shape, options):
            grad = convolved("conv_wgrad", x, g, tuple(weight_sizes), options)
        if grad is None:
            return super().conv_grad_weight(g, x, weight_sizes, stride, padding, dilation, groups)
        return grad


def fits(x_shape: Ints, w_shape: Ints, g_shape: Ints, options: tuple[Ints, Ints, Ints]) -> bool:
    """Return whether a gradient has all steps of the convolution, as cuDNN assumes."""
    return tuple(conv_output_sizes(x_shape[2:], w_shape[2:], *options)) == tuple(g_shape[2:])


def convolved(node: str, a: Array, b: Array, shape: tuple[int, ...],
              options: tuple[Ints, Ints, Ints]) -> Array | None:
    """Return the result of a node on two arrays, or `None` if cuDNN does not support it."""
    cudnn = library() if switches.enabled else None
    if cudnn is None or a.dtype != b.dtype or a.dtype.char not in "ef":
        return None
    if not 3 <= a.ndim <= 5 or 0 in (*a.shape, *b.shape, *shape):
        return None
    device = cupy.cuda.Device().id
    key = (node, device, a.dtype.char, a.shape, b.shape, shape, *map(tuple, options),
           switches.key())
    if key not in _plans and len(_plans) >= MOST_PLANS:
        _plans.pop(next(iter(_plans)))
    handle = handle_of(cudnn, device)
    if handle is None or _plans.get(key, ()) is None:
        return None
    a, b, out = aligned(a), aligned(b), cupy.empty(shape, a.dtype)
    addresses = {1: a.data.ptr, 2: b.data.ptr, 3: out.data.ptr}  # by the tensors' numbers, `uid`
    if key not in _plans:
        _plans[key] = planned(cudnn, handle, node, a, b, shape, options, addresses)
    plan = _plans[key]
    if plan is None:
        return None
    run(plan, handle, addresses)
    return out


def aligned(array: Array) -> Array:
    """Return an array in row-major order at an address that cuDNN accepts."""
    array = dense(array)
    return array.copy() if array.data.ptr % ALIGNMENT else array


def handle_of(cudnn: Any, device: int) -> Any:
    """Return this thread's handle for a device, if any, after setting its current stream."""
    handle = _of_thread.handles[device]
    if handle is not None:
        cudnn.set_stream(handle, cupy.cuda.get_current_stream().ptr)
    return handle


def new_handle() -> Any:
    """Create a handle for the current device, or return `None` if the driver may be too old."""
    try:
        return library().create_handle()
    except RuntimeError as error:
        warn_user(f"cuDNN is unusable, so convolutions run without it: {error}")
        return None


def run(plan: Plan, handle: Any, addresses: dict[int, int]) -> None:
    """Queue a plan in the handle's stream."""
    graph, index, size = plan
    workspace = cupy.empty(max(size, 1), np.uint8)  # later work of the stream may reuse it
    if index is None:
        graph.execute(addresses, workspace.data.ptr, handle=handle)
    else:
        graph.execute_plan_at_index(addresses, workspace.data.ptr, index, handle=handle)


def planned(cudnn: Any, handle: Any, node: str, a: Array, b: Array, shape: Ints,
            options: tuple[Ints, Ints, Ints], addresses: dict[int, int]) -> Plan | None:
    """Build a plan, or return `None` if cuDNN doesn't support the operation."""
    graph = graph_of(cudnn, handle, node, a, b, shape, options)
    try:
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        if switches.deterministic:
            graph.deselect_numeric_notes([cudnn.numerical_note.NONDETERMINISTIC])
        if not switches.allow_tf32 and a.dtype == np.float32:
            graph.deselect_numeric_notes([cudnn.numerical_note.TENSOR_CORE])
        graph.check_support()
        if switches.benchmark and not capturing():
            graph.build_plans(cudnn.build_plan_policy.ALL)
            return fastest(cudnn, graph, handle, addresses)
        graph.build_plans()
        return graph, None, graph.get_workspace_size()
    except (cudnn.cudnnGraphNotSupportedError, NotImplementedError):
        return None
    except RuntimeError as error:
        warn_user(f"cuDNN failed, so convolutions of {a.shape} and {b.shape} go without it: "
                  f"{error}")
        return None


def graph_of(cudnn: Any, handle: Any, node: str, a: Array, b: Array, shape: Ints,
             options: tuple[Ints, Ints, Ints]) -> Any:
    """Describe one node and its three tensors, numbers 1, 2 and 3."""
    types = {"float16": cudnn.data_type.HALF, "float32": cudnn.data_type.FLOAT}
    data_type, single = types[a.dtype.name], cudnn.data_type.FLOAT
    graph = cudnn.pygraph(name=node, io_data_type=data_type, intermediate_data_type=single,
                          compute_data_type=single, handle=handle)
    read = {}
    for uid, (name, array) in enumerate(zip(NODES[node], (a, b), strict=True), 1):
        dim, stride = described(array.shape)
        read[name] = graph.tensor(dim=dim, stride=stride, data_type=data_type, name=name, uid=uid)
    lines = 1 if len(shape) == 3 else 0  # 1 if this tensor lacks an image's height
    steps, padding, dilation = options
    written = getattr(graph, node)(
        **read, stride=[1] * lines + [*steps], padding=[0] * lines + [*padding],
        dilation=[1] * lines + [*dilation], compute_data_type=single, name=node)
    dim, stride = described(shape)
    written.set_output(True).set_data_type(data_type).set_dim(dim).set_stride(stride).set_uid(3)
    return graph


def described(shape: Ints) -> tuple[list[int], list[int]]:
    """Return sizes and strides, in elements, of a row-major array; lines get height one."""
    dim = [*shape[:2], *[1] * (len(shape) == 3), *shape[2:]]
    stride = [1]
    for size in dim[:0:-1]:
        stride.insert(0, stride[0] * size)
    return dim, stride


def fastest(cudnn: Any, graph: Any, handle: Any, addresses: dict[int, int]) -> Plan | None:
    """Return the fastest of a graph's plans, running each twice; the host waits."""
    times: list[tuple[float, Plan]] = []
    for index in range(graph.get_execution_plan_count()):
        try:
            plan = graph, index, graph.get_workspace_size_plan_at_index(index)
            run(plan, handle, addresses)
            times.append((time_of(plan, handle, addresses), plan))
        except (cudnn.cudnnGraphNotSupportedError, NotImplementedError, RuntimeError, ValueError):
            continue  # this one cannot be built, or is excluded
    return min(times, key=lambda pair: pair[0])[1] if times else None


def time_of(plan: Plan, handle: Any, addresses: dict[int, int]) -> float:
    """Return the time of a plan on the device, in milliseconds."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    run(plan, handle, addresses)
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, end))
