"""Multi-tensor CUDA kernels: optimizer steps, and the work of a `GradScaler`.

See `sources` for their conventions.  The optimizers' kernels are generated from `formulas`. For
example, `adam` moves the elements by numbers that all arrays share (`given`), or by one row of
numbers for each array (`rows`), which `adam_numbers` has computed there.  If `found` is given and
not zero, a gradient has an infinity or NaN, and a step is a no-op.
"""

from __future__ import annotations

from ..formulas import FORMULAS, OPTIONS, SHARED

__all__ = ["KERNELS", "MOST_NUMBERS"]

#: Maximum number of values passed to a launch by value.
MOST_NUMBERS = 12

HEADER = rf"""
struct Numbers {{ double of[{MOST_NUMBERS}]; }};

__device__ inline double single(double x) {{ return (float)x; }}

// The larger of two; NaN where one is NaN.
__device__ inline A greater(A a, A b) {{ return a > b || a != a ? a : b; }}
"""


def step_kernel(name: str) -> str:
    """Return the kernel that updates the elements of parameters."""
    formula = FORMULAS[name]
    numbers = [*SHARED.split(), *formula.numbers.split()]
    states = formula.states.values()
    lines = [f"T* {state}_at = (T*)many.at[{place}][k];" for place, state in enumerate(states, 2)]
    lines += [f"A {number} = rows ? rows[{len(numbers)} * k + {place}] : given.of[{place}];"
              for place, number in enumerate(numbers)]
    before = [f"A {state} = {state}_at ? up({state}_at[i]) : (A)0;" for state in states]
    after = [f"if ({state}_at) {state}_at[i] = down({state});" for state in states]
    return HEADER + f"""
extern "C" __global__ void {name}(Many many, const double* rows, const float* found,
                                  Numbers given) {{
    if (found && *found != 0) return;
    for (i64 chunk = blockIdx.x; chunk < many.ends[many.count - 1]; chunk += gridDim.x) {{
        Piece piece = piece_of(many, chunk);
        int k = piece.k;
        T* p = (T*)many.at[0][k];
        const T* g = (const T*)many.at[1][k];
        {spaced(lines, 8)}
        for (i64 i = piece.start + threadIdx.x; i < piece.stop; i += blockDim.x) {{
            A own = up(p[i]) * left, slope = up(g[i]) * sign;
            if (decay != 0) slope += own * decay;
            {spaced(before, 12)}
            {formula.element}
            {spaced(after, 12)}
            p[i] = down(own);
        }}
    }}
}}
"""


def numbers_kernel(name: str) -> str:
    """Return the kernel that counts steps and computes a row of numbers for each array."""
    formula = FORMULAS[name]
    numbers = [*SHARED.split(), *formula.numbers.split()]
    options = [*OPTIONS.split(), *formula.options.split()]
    counted = formula.counted.values()
    before = [f"double {option} = given.of[{place}];" for place, option in enumerate(options)]
    before.append("if (rates) lr = *rates;")
    for place, count in enumerate(counted):
        before.append(f"float* {count}_at = (float*)many.at[{place}][k];")
        before.append(f"double {count} = *{count}_at;")
    known, lines = {*options, *counted}, []
    for line in formula.lines:
        target = line.split(" = ")[0]
        lines.append(f"{'' if target in known else 'double '}{line};")
        known.add(target)
    after = [f"*{count}_at = {count};" for count in counted]
    after += [f"rows[{len(numbers)} * k + {place}] = {number};"
              for place, number in enumerate(numbers)]
    return HEADER + f"""
extern "C" __global__ void {name}_numbers(Many many, const double* rates, const float* found,
                                          double* rows, Numbers given) {{
    if (found && *found != 0) return;
    for (EACH(k, many.count)) {{
        {spaced([*before, *lines, *after], 8)}
    }}
}}
"""


def spaced(lines: list[str], depth: int) -> str:
    """Join lines of text, indented by `depth`."""
    return ("\n" + " " * depth).join(lines)


KERNELS = {
    "unscale": r"""
// Multiplies the arrays of the one column with 1 / scale, and tells whether there was an infinity
// or NaN.
extern "C" __global__ void unscale(Many many, const float* scale, float* found) {
    A factor = (float)(1.0 / (double)*scale);
    for (i64 chunk = blockIdx.x; chunk < many.ends[many.count - 1]; chunk += gridDim.x) {
        Piece piece = piece_of(many, chunk);
        int k = piece.k;
        T* g = (T*)many.at[0][k];
        for (i64 i = piece.start + threadIdx.x; i < piece.stop; i += blockDim.x) {
            A own = up(g[i]);
            if (own - own != 0) *found = 1;  // all who write write the same
            g[i] = down(own * factor);
        }
    }
}
""",
    "update_scale": r"""
// What a scale becomes after a step: one thread.
extern "C" __global__ void update_scale(float* scale, int* tracker, const float* found,
                                        double growth, double backoff, i64 interval) {
    if (blockIdx.x || threadIdx.x) return;
    if (*found != 0) {
        *scale = (float)(*scale * backoff);
        *tracker = 0;
    } else if (++*tracker == interval) {
        float grown = (float)(*scale * growth);
        if (grown - grown == 0) *scale = grown;  // it stays finite
        *tracker = 0;
    }
}
""",
}
KERNELS.update({name: step_kernel(name) for name in FORMULAS})
KERNELS.update({f"{name}_numbers": numbers_kernel(name) for name in FORMULAS})
