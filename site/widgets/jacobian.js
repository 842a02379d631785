// A table of derivatives, filled by rows (backward) or by columns (forward), and what each costs.

import { active, box, picture, shown, text } from "./draw.js";

const CELL = 40, MOST = 8;
const weight = (i, j) => ((5 * i + 3 * j + 2) % 7 - 3) / 4;
const input = (j) => (j % 4) / 2 - 0.5;
const FUNCTIONS = {
  dense: "sin of sums of all x", each: "each yᵢ from xᵢ alone", sum: "running sums",
};

/** The derivative of output i with respect to input j. */
function entry(f, i, j, n) {
  if (f === "each") return i === j ? Math.cos(input(j)) : 0;
  if (f === "sum") return j <= i ? 1 : 0;
  let sum = 0;
  for (let k = 0; k < n; k++) sum += weight(i, k) * input(k);
  return Math.cos(sum) * weight(i, j);
}

export default {
  name: "jacobian",
  title: "A jacobian by rows or by columns",
  defaults: { m: 3, n: 5, f: "dense", rows: "", columns: "", bet: "" },
  controls: () => [
    { name: "m", kind: "number", label: "outputs", min: 1, max: MOST, step: 1 },
    { name: "n", kind: "number", label: "inputs", min: 1, max: MOST, step: 1 },
    { name: "f", kind: "choice", label: "y", options: Object.entries(FUNCTIONS) },
    { name: "bet", kind: "choice", label: "the cheaper way", options: [["rows", "backward, by rows"], ["columns", "forward, by columns"]] },
    { name: "clear", kind: "press", label: "Empty the table", set: { rows: "", columns: "", bet: "" } },
  ],
  settle: ({ m, n, rows, columns }) => ({ m: Math.round(m), n: Math.round(n),
    rows: [...String(rows)].filter((each) => each < m).join(""), columns: [...String(columns)].filter((each) => each < n).join("") }),

  model({ m, n, f, rows, columns }) {
    const table = Array.from({ length: m }, (_, i) => Array.from({ length: n }, (_, j) => entry(f, i, j, n)));
    const known = table.map((row, i) => row.map((_, j) => String(rows).includes(i) || String(columns).includes(j)));
    return { table, known, x: Array.from({ length: n }, (_, j) => input(j)), passes: String(rows).length + String(columns).length,
             full: known.every((row) => row.every(Boolean)) };
  },

  draw({ table, known }, state) {
    const { m, n } = state, left = 96, top = 48;
    let inside = "";
    const header = (words, x, y, set, label, on, kind) => `<g${active({ set, key: label, label })}>` + box(x, y, CELL + 8, 30, on ? `on-${kind}-box` : "box", 4) +
      text(x + CELL / 2 + 4, y + 15, words, `code ${kind}`, "middle", 13) + "</g>";
    for (let j = 0; j < n; j++) {
      const on = String(state.columns).includes(j);
      inside += header(`x${j}`, left + j * (CELL + 8), 10, { columns: on ? String(state.columns).replace(j, "") : `${state.columns}${j}` },
                       `x${j}: one forward run gives this column`, on, "forward");
    }
    for (let i = 0; i < m; i++) {
      const on = String(state.rows).includes(i);
      inside += header(`∂ y${i}`, 20, top + i * 38 + 3, { rows: on ? String(state.rows).replace(i, "") : `${state.rows}${i}` },
                       `∂ y${i}: one backward run gives this row`, on, "gradient");
      for (let j = 0; j < n; j++) {
        const kind = String(state.rows).includes(i) ? "on-gradient" : String(state.columns).includes(j) ? "on-forward" : "cell";
        inside += box(left + j * (CELL + 8), top + i * 38, CELL + 8, 36, known[i][j] ? kind : "cell", 2) +
          (known[i][j] ? text(left + j * (CELL + 8) + CELL / 2 + 4, top + i * 38 + 18, shown(table[i][j], 2), "code", "middle", 12) : "");
      }
    }
    return picture(Math.max(left + n * (CELL + 8) + 16, 340), top + m * 38 + 8, `Jacobian of ${m} outputs and ${n} inputs`, inside);
  },

  say({ passes, full }, { m, n, bet }) {
    const least = Math.min(m, n), better = m < n ? "rows" : n < m ? "columns" : "";
    const count = `${passes} ${passes === 1 ? "run" : "runs"} so far.`;
    if (!bet) return `Press a row (one run backward) or a column (one run forward) until the table is full. First bet: which way needs fewer runs for ${m} outputs and ${n} inputs? ${count}`;
    const verdict = !better ? "Both need the same." : bet === better ? `<span class="right">✓ Right</span>: ${least} instead of ${Math.max(m, n)}.`
      : `<span class="wrong">✗ No</span>: backward needs one run for each output, ${m}; forward one for each input, ${n}.`;
    return `${verdict} ${count}${full ? ` The table is full; ${least} would have been enough.` : ""} A loss has one output, so one run backward gives its whole row.`;
  },
};
