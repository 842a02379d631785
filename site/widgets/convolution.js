// A window slides over a grid: forward it gathers, backward the same window scatters.

import { active, box, picture, shown, text } from "./draw.js";

const CELL = 30, SIZE = 5, KERNEL = 3;
const WEIGHTS = [1, 2, 1, 0, 1, 0, -1, 2, -1];
const number = (row, column) => row * SIZE + column;

/** The input: small whole numbers, always the same. */
const INPUT = Array.from({ length: SIZE * SIZE }, (_, i) => (3 * i + 1) % 7 - 2);

export default {
  name: "convolution",
  title: "A window gathers, and scatters back",
  defaults: { stride: 1, padding: 0, at: 0, all: false },
  controls: (state) => [
    { name: "at", kind: "steps", label: "Position of the window", max: stepsOf(state) ** 2 - 1 },
    { name: "stride", kind: "choice", label: "stride", options: [["1", "1"], ["2", "2"]] },
    { name: "padding", kind: "choice", label: "padding", options: [["0", "0"], ["1", "1"]] },
    { name: "all", kind: "switch", label: "all positions" },
  ],
  settle: (state) => ({ at: Math.min(state.at, stepsOf(state) ** 2 - 1) }),

  /** `triples`: which output reads which input with which weight; the gradients of the output's sum. */
  model(state) {
    const { stride, padding } = state, steps = stepsOf(state), triples = [];
    for (let row = 0; row < steps; row++) {
      for (let column = 0; column < steps; column++) {
        for (let k = 0; k < KERNEL * KERNEL; k++) {
          const [i, j] = [row * stride - padding + Math.floor(k / KERNEL), column * stride - padding + k % KERNEL];
          if (i >= 0 && i < SIZE && j >= 0 && j < SIZE) triples.push([row * steps + column, number(i, j), k]);
        }
      }
    }
    const output = Array(steps * steps).fill(0), grad_input = Array(SIZE * SIZE).fill(0);
    const grad_weight = Array(KERNEL * KERNEL).fill(0), counts = Array(SIZE * SIZE).fill(0);
    for (const [out, cell, k] of triples) {
      output[out] += INPUT[cell] * WEIGHTS[k];
      grad_input[cell] += WEIGHTS[k];
      grad_weight[k] += INPUT[cell];
      counts[cell] += 1;
    }
    return { steps, triples, input: INPUT, weight: WEIGHTS, output, grad_input, grad_weight, counts };
  },

  views: ["wide", "narrow"],

  draw({ steps, triples, output, grad_input }, { stride, padding, at, all }, { wide }) {
    const mine = triples.filter(([out]) => out === at), read = new Map(mine.map(([, cell, k]) => [cell, k]));
    const off = padding * CELL, left = wide ? 10 + CELL : 8 + off, top = 34 + (wide ? CELL : off);
    let inside = text(left + 2.5 * CELL, 14, "input, forward", "forward", "middle", 13);
    const place = (cell) => [(cell % SIZE) * CELL, Math.floor(cell / SIZE) * CELL];
    for (let cell = 0; cell < SIZE * SIZE; cell++) {
      const [x, y] = place(cell);
      inside += box(left + x, top + y, CELL, CELL, read.has(cell) ? "on-forward" : "cell", 2) +
        text(left + x + CELL / 2, top + y + CELL / 2, INPUT[cell], "code forward", "middle", 13);
    }
    const row = Math.floor(at / steps), column = at % steps;
    inside += box(left + column * stride * CELL - off - 2, top + row * stride * CELL - off - 2, KERNEL * CELL + 4, KERNEL * CELL + 4, "ink", 4);
    const middle = wide ? left + 6 * CELL + 30 : 30, third = wide ? middle + 3 * CELL + 66 : left + 5 * CELL + 16;
    const second = wide ? top : top + 5 * CELL + 50, beside = wide ? 0 : 5 * CELL; // a phone has the weights below
    inside += text(middle + 1.5 * CELL, wide ? 14 : second - 20, "weights", "", "middle", 13);
    WEIGHTS.forEach((weight, k) => {
      const [x, y] = [middle + (k % 3) * CELL, second + Math.floor(k / 3) * CELL];
      inside += box(x, y, CELL, CELL, "plain", 2) + text(x + CELL / 2, y + CELL / 2, shown(weight), "code", "middle", 13);
    });
    inside += text(middle + 1.5 * CELL + beside, wide ? top + 3.8 * CELL : second - 20, "output", "forward", "middle", 13);
    output.forEach((value, out) => {
      const size = Math.min(CELL, 3.4 * CELL / steps), x = middle + beside + 1.5 * CELL - steps * size / 2 + (out % steps) * size;
      const y = (wide ? top + 4.3 * CELL : second) + Math.floor(out / steps) * size;
      inside += `<g${active({ set: { at: out, all: false }, key: `out:${out}`, label: `${value}, output ${out}` })}>` +
        box(x, y, size, size, out === at ? "on-forward" : "cell", 2) +
        text(x + size / 2, y + size / 2, shown(value), "code forward", "middle", 12) + "</g>";
    });
    inside += text(third + 2.5 * CELL, 14, all || !wide ? "∂ of the input" : "∂ of the input, from this window", "gradient", "middle", 13);
    for (let cell = 0; cell < SIZE * SIZE; cell++) {
      const [x, y] = place(cell), k = read.get(cell), here = all || k !== undefined;
      const value = all ? grad_input[cell] : k === undefined ? 0 : WEIGHTS[k];
      inside += box(third + x, top + y, CELL, CELL, here && !all ? "on-gradient" : "cell", 2) +
        (here ? text(third + x + CELL / 2, top + y + CELL / 2, shown(value), "code gradient", "middle", 13) : "");
    }
    const bottom = wide ? top + 4.4 * CELL + Math.max(3.6 * CELL, steps * 20) : second + 3.6 * CELL;
    return picture(third + 5 * CELL + (wide ? 40 : 8), bottom + 4, `Convolution of 5 × 5 numbers, window ${at + 1}`, inside);
  },

  say({ steps, triples, output, counts }, { at, all }) {
    if (all) {
      return `All ${steps * steps} windows have scattered. A cell was read by up to ${Math.max(...counts)} windows, and its gradient is the sum of ` +
        `the weights that it met: in the first row ${counts.slice(0, SIZE).join(", ")} windows.`;
    }
    const mine = triples.filter(([out]) => out === at);
    const products = mine.map(([, cell, k]) => `${signed(INPUT[cell])}·${signed(WEIGHTS[k])}`).filter((each) => !each.endsWith("·0"));
    return `Forward, window ${at + 1} <b class="forward">gathers</b>: ${products.join(" + ")} = <b class="forward">${shown(output[at])}</b>. ` +
      `Backward it <b class="gradient">scatters</b>: each cell that it read gets the gradient times the same weight.`;
  },
};

const signed = (value) => (value < 0 ? `(−${-value})` : String(value));

function stepsOf({ stride, padding }) {
  return Math.floor((SIZE + 2 * padding - KERNEL) / stride) + 1;
}
