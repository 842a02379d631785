"""Pictures of lesson 12."""

from __future__ import annotations

from minigrad_course.pictures import Arrow, Box, Picture, graph


def who_computes() -> Picture:
    """The engine above, the array libraries below."""
    boxes = {
        "engine": Box("Tensor, Node, engine, ops", notes=("independent of the array library",),
                      code=False),
        "xp": Box("xp = backend_of(array)", notes=("by the array's type",)),
        "numpy": Box("NumPy", notes=('"cpu"',), code=False),
        "cupy": Box("CuPy", notes=('"cuda"',), code=False),
        "strict": Box("StrictBackend", notes=('"strict", by you',), kind="on-forward")}
    arrows = [Arrow("engine", "xp"), *(Arrow("xp", name) for name in ("numpy", "cupy", "strict"))]
    return Picture(
        graph(boxes, arrows, down=True), "The type of an array selects its library",
        "Tensor, Node, engine and ops don't depend on an array library. backend_of returns the "
        "library for an array's type: NumPy for the device cpu, CuPy for cuda, and "
        "StrictBackend, which you write, for strict.",
        "A single function selects the library, and it looks only at the type of the array.")


def doors() -> Picture:
    """What happens to arrays at the border of the imaginary device."""
    boxes = {
        "in": Box("StrictArray"), "bare": Box("np.ndarray", kind="on-wrong",
                                              notes=("TypeError",)),
        "unwrap": Box("unwrap", notes=("every argument,", "in lists too")),
        "call": Box("np.exp", kind="on-forward", notes=("on the host",)),
        "wrap": Box("wrap", notes=("every array,", "scalars too")), "out": Box("StrictArray ")}
    arrows = [Arrow("in", "unwrap", kind="forward-line"),
              Arrow("bare", "unwrap", "rejected", "wrong-line"),
              Arrow("unwrap", "call", kind="forward-line"),
              Arrow("call", "wrap", kind="forward-line"), Arrow("wrap", "out", kind="forward-line")]
    return Picture(
        graph(boxes, arrows, down=True), "The border of the imaginary device",
        "unwrap turns a StrictArray into a NumPy array for a NumPy function, and wrap turns the "
        "result into a StrictArray again. If unwrap receives a bare NumPy array, it raises a "
        "TypeError.",
        "Every argument is unwrapped on the way in, and every result is wrapped on the way out.")
