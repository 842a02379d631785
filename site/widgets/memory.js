// One memory of twelve cells, a window on it by shape, strides and offset, and the version counter
// that all windows share: what a node has saved pins the version at which it saved.

import { active, box, picture, text } from "./draw.js";
import { sizesIn, written } from "./shapes.js";

const CELLS = 12, CELL = 40;

export default {
  name: "memory",
  title: "A window on memory, and its version",
  defaults: { shape: "3, 4", strides: "4, 1", offset: 0, log: "" },
  controls: ({ log }) => [
    { name: "shape", kind: "text", label: "shape", size: 6 }, { name: "strides", kind: "text", label: "strides", size: 6 },
    { name: "offset", kind: "number", label: "offset", min: 0, max: CELLS - 1, step: 1 },
    ...[["x", "3, 4", "4, 1", 0], ["x.T", "4, 3", "1, 4", 0], ["x[1]", "4", "1", 4], ["x[:, 1]", "3", "4", 1], ["x[::2, ::2]", "2, 2", "8, 2", 0]]
      .map(([label, shape, strides, start]) => ({ name: label, kind: "press", label, set: { shape, strides, offset: start } })),
    { name: "save", kind: "press", label: "sin(window): a node saves it", set: { log: `${log}s` } },
    { name: "write", kind: "press", label: "window.add_(1): a write", set: { log: `${log}w` } },
  ],
  settle: (state) => ({ log: String(state.log).slice(0, 48), offset: Math.round(state.offset) }),

  /** The cells of the window, the memory after the log's writes, the version, and what nodes saved. */
  model(state) {
    const shape = sizesIn(state.shape), strides = sizesIn(state.strides);
    if (shape.length > 2 || shape.some((size) => !Number.isInteger(size) || size < 1 || size > 6)) return { error: "a shape is up to two sizes from 1 to 6" };
    if (strides.length !== shape.length || strides.some((each) => !Number.isInteger(each) || each < 0)) {
      return { error: `${written(shape)} wants ${shape.length} strides, whole numbers from 0 on` };
    }
    const places = shape.reduce((all, size, i) => all.flatMap((at) => Array.from({ length: size }, (_, k) => at + k * strides[i])), [state.offset]);
    if (Math.max(...places) >= CELLS) return { error: `the window would end at cell ${Math.max(...places)}, and the last is ${CELLS - 1}` };
    let version = 0;
    const pins = [];
    for (const kind of String(state.log)) {
      if (kind === "w") version += 1;
      if (kind === "s") pins.push(version);
    }
    let run = 1;
    const dense = [...shape].map((_, i) => shape.length - 1 - i).every((i) => {
      const fits = shape[i] === 1 || strides[i] === run;
      run *= shape[i];
      return fits;
    });
    return { shape, strides, places, version, contiguous: dense, overlaps: new Set(places).size < places.length,
             pins: pins.map((saved) => ({ saved, broken: saved !== version })) };
  },

  views: ["wide", "narrow"],

  /** Twelve cells in one row, or in two on a phone; the window below them; what was saved beside it. */
  draw(model, state, { wide, look }) {
    if (model.error) return null;
    const { shape, strides, places, version, pins } = model, [kind, number] = (look ?? "").split(":");
    const lit = kind === "cell" ? Number(number) : kind === "item" ? places[number] : null;
    const across = wide ? CELLS : CELLS / 2, width = 24 + across * CELL + (wide ? 0 : 60), top = 28 + CELLS / across * CELL + 42;
    let inside = text(12, 14, "one memory", "", "start", 13) + text(12 + across * CELL, 14, `version ${version}`, "code strong", "end", 14);
    for (let cell = 0; cell < CELLS; cell++) {
      const seen = places.includes(cell), x = 12 + (cell % across) * CELL, y = 28 + Math.floor(cell / across) * CELL;
      inside += `<g${active({ look: `cell:${cell}`, label: `${cell}, cell of the memory${seen ? ", in the window" : ""}` })}>` +
        box(x, y, CELL, CELL, lit === cell ? "on-gradient" : seen ? "on-forward" : "cell", 2) + text(x + CELL / 2, y + CELL / 2, cell, "code", "middle", 14) + "</g>";
    }
    const rows = shape.length === 2 ? shape[0] : 1, columns = shape.at(-1) ?? 1;
    const place = [state.offset, ...strides.map((each, i) => `${each}·${"ij"[i + 2 - strides.length]}`)].join(" + ");
    inside += text(12, top - 16, wide ? `the window: item (i, j) is cell ${place}` : `item (i, j) is cell ${place}`, "code", "start", 13);
    places.forEach((cell, i) => {
      const x = 12 + (i % columns) * CELL, y = top + Math.floor(i / columns) * CELL;
      inside += `<g${active({ look: `item:${i}`, label: `${cell}, the cell that item ${i} of the window reads` })}>` +
        box(x, y, CELL, CELL, lit === cell ? "on-gradient" : "on-forward", 2) + text(x + CELL / 2, y + CELL / 2, cell, "code", "middle", 14) + "</g>";
    });
    const left = wide ? 12 + 6 * CELL + 24 : 12, below = wide ? top : top + rows * CELL + 16;
    pins.slice(-4).forEach(({ saved, broken }, i) => {
      inside += box(left, below + i * 38, 226, 30, broken ? "on-wrong" : "saved") +
        text(left + 10, below + i * 38 + 15, broken ? `✗ saved at version ${saved}, now ${version}` : `✓ saved at version ${saved}`, broken ? "wrong" : "right", "start", 13);
    });
    if (!pins.length) inside += text(left, below + 14, "no node has saved anything", "muted", "start", 13);
    const pinned = Math.min(4, pins.length || 1) * 38;
    return picture(width, (wide ? top + Math.max(rows * CELL, pinned, 120) : below + pinned) + 8, "Twelve cells of memory and a window on them", inside);
  },

  say(model, state) {
    if (model.error) return `No such window: ${model.error}.`;
    const broken = model.pins.find((each) => each.broken);
    if (broken) {
      return `<span class="wrong">✗ backward() would fail</span>: one of the variables needed for gradient computation has been modified by an ` +
        `inplace operation … is at version ${model.version}; expected version ${broken.saved} instead.`;
    }
    const order = model.overlaps ? "Some items share a cell: a write would not know which counts."
      : model.contiguous ? "Its items lie in order, one after the other: it is contiguous." : "Its items do not lie in order: it is not contiguous, and nothing was copied.";
    return `${written(model.shape)} with strides ${written(model.strides)} from cell ${state.offset}. ${order} ` +
      (model.pins.length ? `<span class="right">✓ Every saved value is as it was.</span> Now write.` : "Let a node save the window, then write to it, or to another window.");
  },
};
