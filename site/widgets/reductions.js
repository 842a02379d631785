// A reduction: many elements become one; backward the gradient is put back where the dimension was,
// copied, and multiplied by each element's weight.

import { active, box, picture, shown, text } from "./draw.js";
import { written } from "./shapes.js";

const MOST = 3;
const mean = (xs) => xs.reduce((sum, x) => sum + x, 0) / xs.length;
const largest = (xs) => Math.max(...xs);
const zeros = (xs) => xs.map(() => 0);

/** Each reduction of some numbers: its result, what each moves it by, and that in words. */
const REDUCTIONS = {
  sum: { of: (xs) => xs.reduce((sum, x) => sum + x, 0), weights: (xs) => xs.map(() => 1), words: "1: an element moves the sum by as much as itself" },
  mean: { of: mean, weights: (xs) => xs.map(() => 1 / xs.length), words: "1 / n, with n the number that became one" },
  var: { of: (xs) => xs.reduce((sum, x) => sum + (x - mean(xs)) ** 2, 0) / (xs.length - 1),
         weights: (xs) => xs.map((x) => 2 * (x - mean(xs)) / (xs.length - 1)), words: "2 (x − mean) / (n − 1)" },
  norm: { of: (xs) => Math.hypot(...xs), weights: (xs) => (Math.hypot(...xs) ? xs.map((x) => x / Math.hypot(...xs)) : zeros(xs)), words: "x / norm, or 0 where that is 0" },
  logsumexp: { of: (xs) => largest(xs) + Math.log(xs.reduce((sum, x) => sum + Math.exp(x - largest(xs)), 0)),
               weights: (xs) => xs.map((x) => Math.exp(x - REDUCTIONS.logsumexp.of(xs))), words: "the softmax, which adds up to 1" },
  amax: { of: largest, weights: (xs) => xs.map((x) => (x === largest(xs) ? 1 / xs.filter((y) => y === largest(xs)).length : 0)), words: "1, shared by those that tie" },
  max: { of: largest, weights: (xs, all) => (all ? REDUCTIONS.amax.weights(xs) : xs.map((_, i) => (i === xs.indexOf(largest(xs)) ? 1 : 0))),
         words: "1 at the place that <code>max</code> returns too, else 0" },
};

/** "1 2 3; 4 5 6" as rows of numbers; null for what is no small matrix. */
function matrix(words) {
  const rows = String(words).trim().split(";").map((row) => row.trim().split(/[\s,]+/).map((each) => (each === "" ? NaN : Number(each))));
  const fits = rows.length <= MOST && rows[0].length <= MOST && rows.every((row) => row.length === rows[0].length && row.every(Number.isFinite));
  return fits ? rows : null;
}

const asText = (rows) => rows.map((row) => row.join(" ")).join("; ");

export default {
  name: "reductions",
  title: "Many become one; one gradient becomes many",
  defaults: { x: "1 2 3; 4 5 6", op: "sum", dim: "1", keepdim: false, forget: false },
  views: ["wide", "narrow"],
  controls: () => [
    { name: "op", kind: "choice", label: "x.", options: Object.keys(REDUCTIONS).map((key) => [key, key]) },
    { name: "dim", kind: "choice", label: "dim", options: [["0", "0"], ["1", "1"], ["all", "all"]] },
    { name: "keepdim", kind: "switch", label: "keepdim" },
    { name: "forget", kind: "switch", label: "forget to unsqueeze" },
    { name: "x", kind: "text", label: "x", size: 16 },
    ...[["(2, 3)", "1 2 3; 4 5 6"], ["a square", "1 2; 4 5"], ["a tie", "5 1 5; 2 2 2"]].map(([label, x]) => ({ name: label, kind: "press", label, set: { x } })),
  ],

  /** `groups`: for each element the result that reads it; `met`: for each the element of g that it is given. */
  model({ x: words, op, dim, keepdim, forget }) {
    const x = matrix(words), { of, weights: each } = REDUCTIONS[op] ?? REDUCTIONS.sum;
    if (!x) return { error: `x is up to ${MOST} rows of up to ${MOST} numbers, such as 1 2 3; 4 5 6` };
    const all = dim === "all", rows = x.length, columns = x[0].length, group = (i, j) => (all ? 0 : dim === "0" ? j : i);
    const count = all ? 1 : dim === "0" ? columns : rows;
    const parts = Array.from({ length: count }, (_, k) => x.flatMap((row, i) => row.filter((_, j) => group(i, j) === k)));
    if (op === "var" && parts[0].length < 2) return { error: "the variance of one number is 0 / 0" };
    const weighted = parts.map((part) => each(part, all)), taken = parts.map(() => 0);
    const places = (found) => x.map((row, i) => row.map((_, j) => found(i, j)));
    const groups = places(group), weights = places((i, j) => weighted[group(i, j)][taken[group(i, j)]++]);
    const g = parts.map((_, k) => 10 * (k + 1)), kept = all ? [1, 1] : dim === "0" ? [1, columns] : [rows, 1];
    const shape = keepdim ? kept : all ? [] : [count];
    const lost = forget && !keepdim && !all; // then g lines up with the last dimension
    if (lost && count !== columns && count !== 1) {
      return { x, shape, kept, results: parts.map(of), groups, weights, g, refused: true };
    }
    const met = lost ? places((i, j) => (count === 1 ? 0 : j)) : groups;
    const grad = places((i, j) => g[met[i][j]] * weights[i][j]);
    return { x, shape, kept: lost ? [1, count] : kept, results: parts.map(of), groups, weights, g, met, grad, wrong: lost && String(met) !== String(groups) };
  },

  draw(model, state, { wide, look }) {
    if (model.error) return null;
    const { x, shape, kept, results, groups, weights, g, met, grad, refused, wrong } = model, [side, at] = (look ?? "").split(":");
    const [cell, gap, high] = wide ? [50, 30, 34] : [42, 20, 32], rows = x.length, columns = x[0].length, tall = rows * high;
    const one = side === "x" ? groups[Math.floor(at / columns)]?.[at % columns] : side === "r" ? Number(at) : null;
    const lit = (i, j) => (side === "r" ? groups[i][j] === one : side === "x" ? i * columns + j === Number(at) : false);
    const put = (left, top, i, j, words, kind, on, more = {}) => `<g${Object.keys(more).length ? active(more) : ""}>` +
      box(left + j * cell, top + i * high, cell, high, on || "cell", 2) + text(left + (j + 0.5) * cell, top + (i + 0.5) * high, words, `code ${kind}`, "middle", wide ? 13 : 12) + "</g>";
    const sign = (left, top, words) => text(left - gap / 2, top + tall / 2, words, "", "middle", 16);
    const grid = (left, top, numbers, kind, on, more) => numbers.map((row, i) => row.map((value, j) =>
      put(left, top, i, j, shown(value, 3), kind, lit(i, j) && on, more?.(i, j, value))).join("")).join("");

    // forward: x, and each result where its elements stood
    const first = 8, second = first + columns * cell + gap, top = 30;
    const call = `x.${state.op}(${[...(state.dim === "all" ? [] : [state.dim]), ...(state.keepdim && state.dim !== "all" ? ["True"] : [])].join(", ")})`;
    let inside = text(first, 12, `x ${written([rows, columns])}`, "code", "start", 13) +
      grid(first, top, x, "forward", "on-forward", (i, j, value) => ({ drag: `x:${i * columns + j}`, look: `x:${i * columns + j}`, now: value, label: `x[${i}, ${j}], ${shown(value)}` })) +
      sign(second, top, "→") + text(second, 12, `${wide ? call : call.slice(2)} ${written(shape)}`, "code", "start", wide ? 13 : 12);
    results.forEach((value, k) => {
      inside += put(second, top, shape.length === 1 && state.dim === "1" ? 0 : state.dim === "1" ? k : 0, state.dim === "1" && shape.length > 1 ? 0 : k, shown(value, 3), "forward", one === k && "on-forward",
        { look: `r:${k}`, label: `result ${k}: ${shown(value)}` });
    });

    // backward: g as it meets x, each element's weight, and their product
    const low = top + tall + 50, stacked = !wide && kept[1] + 2 * columns > 7, beside = Math.max(kept[1] * cell, wide ? 90 : 0) + gap;
    const third = stacked ? first : first + beside, fourth = third + columns * cell + gap, under = stacked ? low + kept[0] * high + 26 : low;
    inside += text(first, low - 14, wide || kept[1] > 1 ? `∂ g ${written(shape.length === 1 ? kept : shape)}` : "∂ g", "code gradient", "start", 13);
    g.forEach((value, k) => {
      inside += put(first, low, kept[0] > 1 ? k : 0, kept[1] > 1 ? k : 0, value, "gradient", (side === "x" ? met?.[Math.floor(at / columns)]?.[at % columns] : one) === k && "on-gradient");
    });
    if (refused) {
      inside += text(first, low + Math.max(tall, high) + 18, `✗ ${written([g.length])} does not broadcast to ${written([rows, columns])}`, "wrong", "start", 13);
    } else {
      inside += (stacked ? text(first, under - 13, "× weight", "muted", "start", 13) : sign(third, under, "×") + text(third, under - 14, "weight", "muted", "start", 13)) +
        grid(third, under, weights, "", "on-forward") + sign(fourth, under, "=") + text(fourth, under - (stacked ? 13 : 14), wrong ? "✗ x.grad" : "x.grad", `code ${wrong ? "wrong" : "gradient"}`, "start", 13) + grid(fourth, under, grad, wrong ? "wrong" : "gradient", "on-gradient");
    }
    const width = wide ? first + 3 * MOST * cell + 2 * gap + 8 : 344;
    return picture(width, under + tall + (refused ? 40 : 12), `${call} of a ${rows} by ${columns} matrix, and its gradient`, inside);
  },

  say(model, state, { look }) {
    if (model.error) return `Not so: ${model.error}.`;
    const { x, groups, weights, g, met, grad, shape, kept, refused, wrong, results } = model, [side, at] = (look ?? "").split(":");
    const { words } = REDUCTIONS[state.op] ?? REDUCTIONS.sum, i = Math.floor(at / x[0].length), j = at % x[0].length;
    if (refused) {
      return `<span class="wrong">✗ g of shape ${written(shape)} does not fit ${written([x.length, x[0].length])}</span>: broadcasting lines up last dimensions. ` +
        "That is the lucky case. Try a square.";
    }
    if (wrong) {
      return `<span class="wrong">✗ No error, and a wrong gradient</span>: g of shape ${written(shape)} lined up with the columns, so each row gets ${g.slice(0, x[0].length).join(", ")}. ` +
        `Put the lost dimension back first, as ${written([g.length, 1])}.`;
    }
    if (side === "x" && x[i]) {
      return `<b class="forward">x[${i}, ${j}] = ${shown(x[i][j])}</b> is one of ${groups.flat().filter((each) => each === groups[i][j]).length} that became one. Its weight is <b>${shown(weights[i][j])}</b>, ` +
        `so its gradient is <b class="gradient">${g[met[i][j]]} · ${shown(weights[i][j])} = ${shown(grad[i][j])}</b>.`;
    }
    if (side === "r" && results[at] !== undefined) {
      const read = x.flat().filter((_, cell) => groups.flat()[cell] === Number(at));
      return `This result is made of <b class="forward">${read.map((each) => shown(each)).join(", ")}</b>. Backward its gradient, <b class="gradient">${g[at]}</b>, is copied to each of them, times a weight.`;
    }
    const back = shape.length === 1 ? `g is unsqueezed from ${written(shape)} to ${written(kept)}, then copied` : shape.length ? "The dimension is still there, so g is only copied" : "One number expands to any shape";
    return `${back}; then each element has its weight. With <code>${state.op}</code> that is ${words}. Point at a cell, or drag a number of x.`;
  },

  /** A number of x moves by one for every six pixels, from where it was when the drag began. */
  drag(handle, [px], state, { begun }) {
    const rows = matrix(state.x), cell = Number(handle.split(":")[1]), at = [Math.floor(cell / rows[0].length), cell % rows[0].length];
    if (begun) this.from = { px, value: rows[at[0]][at[1]] };
    rows[at[0]][at[1]] = this.from.value + Math.round((px - this.from.px) / 6);
    return { x: asText(rows) };
  },
  nudge(handle, [dx, dy], state) {
    const rows = matrix(state.x), cell = Number(handle.split(":")[1]);
    rows[Math.floor(cell / rows[0].length)][cell % rows[0].length] += dx + dy;
    return { x: asText(rows) };
  },
};
