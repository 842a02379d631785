// Two shapes meet: cells are copied forward, and their gradients are summed back into one cell.

import { active, box, line, picture, shown, text } from "./draw.js";
import { sizesIn, written } from "./shapes.js";

const CELL = 30, MOST = 4;

/** "3, 1" as [3, 1]; null for what is no shape of at most two small dimensions. */
function shapeOf(words) {
  const sizes = sizesIn(words);
  return sizes.length <= 2 && sizes.every((size) => Number.isInteger(size) && size >= 1 && size <= MOST) ? sizes : null;
}

/** The shape of the result, or null where two sizes differ and none is 1. */
function together(a, b) {
  const result = [];
  for (let i = 1; i <= Math.max(a.length, b.length); i++) {
    const [one, other] = [a.at(-i) ?? 1, b.at(-i) ?? 1];
    if (one !== other && one !== 1 && other !== 1) return null;
    result.unshift(Math.max(one, other));
  }
  return result;
}

const cells = (shape) => shape.reduce((all, size) => all.flatMap((place) =>
  Array.from({ length: size }, (_, i) => [...place, i])), [[]]);

/** Where a cell of the result reads: dimensions of size 1 (stride 0) and missing ones drop out. */
const source = (place, shape) => shape.map((size, i) => (size === 1 ? 0 : place[place.length - shape.length + i]));
const number = (place, shape) => place.reduce((sum, each, i) => sum * shape[i] + each, 0);

export default {
  name: "broadcast",
  title: "Stretch forward, sum backward",
  defaults: { a: "3, 1", b: "1, 4" },
  controls: () => [
    { name: "a", kind: "text", label: "shape of a", size: 6 }, { name: "b", kind: "text", label: "shape of b", size: 6 },
    ...[["4", "3, 4"], ["1", "3, 4"], ["3, 1", "4"]].map(([a, b]) => ({ name: `${a} ${b}`, kind: "press",
      label: `${written(shapeOf(a))} + ${written(shapeOf(b))}`, set: { a, b } })),
  ],

  /** `reads`: for each cell of the result the cells of a and b; `counts`: the gradient of sum(a + b). */
  model(state) {
    const a = shapeOf(state.a), b = shapeOf(state.b);
    if (!a || !b) return { error: `a shape is up to two sizes from 1 to ${MOST}, such as 3, 1` };
    const result = together(a, b);
    if (!result) return { error: `${written(a)} and ${written(b)} do not fit: two sizes differ, and neither is 1` };
    const reads = cells(result).map((place) => [a, b].map((shape) => number(source(place, shape), shape)));
    const counts = [a, b].map((shape, i) => cells(shape).map((_, cell) => reads.filter((each) => each[i] === cell).length));
    return { a, b, result, reads, counts };
  },

  draw(model, state, { look }) {
    if (model.error) return null;
    const { a, b, result, reads, counts } = model, [side, at] = (look ?? "").split(":");
    const lit = reads.map((each, i) => (side === "r" ? i === Number(at) : side === "a" ? each[0] === Number(at)
      : side === "b" ? each[1] === Number(at) : false));
    const on = (which, cell) => (side === "r" ? reads[at]?.[which] === cell
      : side === "ab"[which] ? Number(at) === cell : false);
    const width = (shape) => (shape.at(-1) ?? 1) * CELL, height = (shape) => (shape.at(-2) ?? 1) * CELL;
    const tall = Math.max(height(a), height(b), height(result));
    let at_x = 10, inside = "";
    const put = (shape, name, draw) => {
      const room = Math.max(width(shape), 64), left = at_x + (room - width(shape)) / 2, top = 34 + (tall - height(shape)) / 2;
      inside += text(at_x + room / 2, 14, `${name} ${written(shape)}`, "code", "middle", 13);
      cells(shape).forEach((place, cell) => {
        inside += draw(cell, left + (place.at(-1) ?? 0) * CELL, top + (place.at(-2) ?? 0) * CELL);
      });
      at_x += room;
    };
    const sign = (mark) => { inside += text(at_x + 19, 34 + tall / 2, mark, "", "middle", 18); at_x += 38; };
    const input = (which, name) => (cell, x, y) =>
      `<g${active({ look: `${name}:${cell}`, label: `cell ${cell} of ${name}: used ${counts[which][cell]} times, gradient ${counts[which][cell]}` })}>` +
      box(x, y, CELL, CELL, on(which, cell) ? "on-gradient" : "cell", 2) +
      text(x + CELL / 2, y + CELL / 2, `${name}${cell}`, "code forward", "middle", 13) + "</g>";
    put(a, "a", input(0, "a"));
    sign("+");
    put(b, "b", input(1, "b"));
    sign("=");
    put(result, "a + b", (cell, x, y) =>
      `<g${active({ look: `r:${cell}`, label: `cell ${cell} of the result: a${reads[cell][0]} + b${reads[cell][1]}` })}>` +
      box(x, y, CELL, CELL, lit[cell] ? "on-forward" : "cell", 2) +
      text(x + CELL / 2, y + CELL / 2 - 7, `a${reads[cell][0]}`, "code forward", "middle", 13) +
      text(x + CELL / 2, y + CELL / 2 + 8, `b${reads[cell][1]}`, "code forward", "middle", 13) + "</g>");
    const right = at_x, down = 34 + tall + 26;
    inside += line([[10, down - 8], [right, down - 8]], "hair") +
      text(10, down + 12, "∂ of the sum, back:", "gradient", "start", 13);
    const grads = ["a", "b"].map((name, i) => `${name}.grad = ${grid([a, b][i], counts[i])}`);
    grads.forEach((words, i) => { inside += text(10, down + 34 + 22 * i, words, "code gradient", "start", 13); });
    return picture(Math.max(right, ...grads.map((words) => 10 + 7.9 * words.length)) + 10, down + 68, `${written(a)} + ${written(b)} = ${written(result)}`, inside);
  },

  say(model, state, { look }) {
    if (model.error) return `Not so: ${model.error}.`;
    const { a, b, result, reads, counts } = model, [side, at] = (look ?? "").split(":");
    if (side === "r" && reads[at]) {
      return `This cell reads <b class="forward">a${reads[at][0]}</b> and <b class="forward">b${reads[at][1]}</b>. ` +
        `Backward it sends its gradient to both.`;
    }
    const which = "ab".indexOf(side);
    if (which >= 0 && side && counts[which][at]) {
      const count = counts[which][at];
      return `<b class="forward">${side}${at}</b> is read by ${count === 1 ? "1 cell" : `${count} cells`} of the result. Their gradients add up: ` +
        `<b class="gradient">∂ ${Array(Math.min(count, 4)).fill(1).join(" + ")}${count > 4 ? " + …" : ""} = ${shown(count)}</b>.`;
    }
    return `${written(a)} and ${written(b)} give ${written(result)}. Each gradient has the shape of its <b>input</b>: ` +
      `what was stretched is summed. Point at a cell to see where it goes.`;
  },
};

/** Counts as Python writes them. */
function grid(shape, counts) {
  if (shape.length < 2) return shape.length ? `[${counts.join(", ")}]` : String(counts[0]);
  const rows = Array.from({ length: shape[0] }, (_, i) => counts.slice(i * shape[1], (i + 1) * shape[1]));
  return `[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
}
