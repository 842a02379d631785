"""Pictures of lesson 12."""

from __future__ import annotations

from minigrad_course.pictures import Arrow, Box, Picture, graph


def who_computes() -> Picture:
    """The engine above, the array libraries below."""
    boxes = {
        "engine": Box("Tensor, Node, engine, ops", notes=("know no array library",), code=False),
        "xp": Box("xp = backend_of(array)", notes=("by the array's type",)),
        "numpy": Box("NumPy's", notes=('"cpu"',), code=False),
        "cupy": Box("CuPy's", notes=('"cuda"',), code=False),
        "strict": Box("StrictBackend", notes=('"strict": yours',), kind="on-forward")}
    arrows = [Arrow("engine", "xp"), *(Arrow("xp", name) for name in ("numpy", "cupy", "strict"))]
    return Picture(
        graph(boxes, arrows, down=True), "The engine asks each array who computes",
        "Tensor, Node, engine and ops know no array library. They ask backend_of for the library "
        "of an array's type: NumPy's for the device cpu, CuPy's for cuda, StrictBackend for "
        "strict, which is yours.",
        "One place decides who computes, and the array itself is what it asks.")


def doors() -> Picture:
    """What happens to arrays at the doors of the imaginary device."""
    boxes = {
        "in": Box("StrictArray"), "bare": Box("np.ndarray", kind="on-wrong",
                                              notes=("TypeError",)),
        "unwrap": Box("unwrap", notes=("every argument,", "in lists too")),
        "call": Box("np.exp", kind="on-forward", notes=("on the host",)),
        "wrap": Box("wrap", notes=("every array,", "scalars too")), "out": Box("StrictArray ")}
    arrows = [Arrow("in", "unwrap", kind="forward-line"),
              Arrow("bare", "unwrap", "turned away", "wrong-line"),
              Arrow("unwrap", "call", kind="forward-line"),
              Arrow("call", "wrap", kind="forward-line"), Arrow("wrap", "out", kind="forward-line")]
    return Picture(
        graph(boxes, arrows, down=True), "The doors of the imaginary device",
        "A StrictArray goes through unwrap to a NumPy function, and its result through wrap, and "
        "comes out as a StrictArray again. A bare NumPy array is turned away by unwrap with a "
        "TypeError.",
        "Nothing goes in unwrapped by mistake, and nothing comes out bare.")
