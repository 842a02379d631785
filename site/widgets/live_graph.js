// A few lines of arithmetic, their graph, and every derivative: the course in one picture.

import { asked, forget } from "./engine_trace.js";
import { active, box, curve, escaped, head, path, picture, pill, shown, text } from "./draw.js";
import { layered, middle } from "./layered.js";
import { formula, paths } from "./program.js";
import { EXAMPLE, RANGE, computed, leafControls, numbers, title } from "./program_parts.js";

const HEIGHT = 52, AROUND = 8;

export default {
  name: "live-graph",
  title: "A graph to play with",
  defaults: { ...EXAMPLE, pinned: "b" },
  views: ["wide", "narrow"],

  controls: (state, { cell } = {}) => [
    { name: "program", kind: "lines", label: cell ? "Your program, in Python" : "Formula, one step a line", rows: 3, needs: cell && "python" },
    ...(cell ? [{ name: "run", kind: "press", label: "Run", set: {}, needs: "python" }] : []),
    ...leafControls(state),
  ],

  /** The picture's own numbers at once; in a cell, beside them what the program gives in Python. */
  model(state, asks) {
    const model = computed(state);
    if (!state.cell || !asks) return model;
    const python = asked("minigrad", "cell.ran", state.program, numbers(state)), { pending, line, again } = python;
    const error = python.error && !again ? `The program ends with ${python.error}` : model.error;
    return { ...model, python, pending, line, again, error };
  },
  begin({ cell }) {
    if (cell) import("../runtime/answers.js").then((answers) => answers.answerByItself()).catch(() => {}); // asking tells
  },
  run: () => forget("cell.ran"),

  draw(model, state, view) {
    if (model.error) return null; // the last good picture stays
    const { nodes, edges } = model, last = nodes.length - 1, down = view.wide === false;
    const titles = nodes.map((_, i) => title(nodes, i));
    const sizes = nodes.map((node, i) => [Math.max(92, 8.2 * titles[i].length + 24,
      8 * (shown(node.value).length + shown(node.adjoint).length) + 48), HEIGHT]);
    const layout = layered(sizes, edges.map(({ from, to }) => [from, to]),
                           { at: [AROUND, AROUND], ...(down ? { down, gap: 46, apart: 12 } : { gap: 62, apart: 26 }) });
    const { lit, focus } = lights(model, state, view);
    let under = "", over = "";
    edges.forEach((edge, i) => {
      const route = layout.routes[i], on = lit.has(i), [begin] = route, half = middle(route);
      under += path(curve(route, down), on ? "gradient-line" : "line");
      if (on) under += head(down ? [begin[0], begin[1] + 9] : [begin[0] + 9, begin[1]], begin, "gradient-line");
      over += `<g${active({ look: `edge:${i}`, label: `edge from ${titles[edge.from]} to ${titles[edge.to]}, slope ${shown(edge.slope)}` })}>` +
        pill(half[0], half[1], `×${shown(edge.slope)}`, on ? "gradient" : "quiet") + "</g>";
    });
    nodes.forEach((node, i) => {
      const [x, y] = layout.corners[i], [w] = sizes[i];
      const on = focus === i || [...lit].some((e) => edges[e].from === i || edges[e].to === i);
      const leaf = node.kind === "leaf";
      over += `<g${active({ look: `node:${i}`, set: leaf ? { pinned: node.name } : null, scrub: leaf ? node.name : null, now: node.value, ...RANGE,
                            label: `${titles[i]}, value ${shown(node.value)}, gradient ${shown(node.adjoint)}` })}>` +
        box(x, y, w, HEIGHT, on ? "on-gradient-box" : "box", leaf ? 14 : 6) +
        text(x + w / 2, y + 15, titles[i], "strong", "middle", 14) +
        text(x + 10, y + 37, shown(node.value), `code forward${leaf ? " scrub" : ""}`, "start", 14) +
        text(x + w - 10, y + 37, `∂ ${shown(node.adjoint)}`, "code gradient", "end", 14) + "</g>";
    });
    return picture(layout.width + 2 * AROUND, layout.height + 2 * AROUND,
                   `Graph of ${nodes.length} steps that ends in ${titles[last]}`, under + over);
  },

  say(model, state, view) {
    const ran = printed(model.python ?? {});
    if (!model.error) return sentence(model, state, view) + ran;
    if (model.python?.error && !model.again) return `${escaped(model.error)}.`;
    return `${ran ? "The picture shows arithmetic alone" : "Not yet a formula"}: ${escaped(model.error)}.${ran}`;
  },
};

/** What a program gave in Python, or how far it is. */
function printed({ printed: text, values, pending, error }) {
  if (pending) return '<samp class="mg-ran">Python is asked to run it.</samp>';
  if (error || !values) return error ? `<samp class="mg-ran">${escaped(error)}.</samp>` : "";
  const lines = values.map(([name, value]) => `${name} = ${typeof value === "number" ? shown(value) : value}`);
  return `<samp class="mg-ran">${escaped(text)}${escaped(lines.join(", ")) || (text ? "" : "It printed nothing.")}</samp>`;
}

/** The sentence: the paths of the leaf in sight, or one edge's formula. */
function sentence(model, state, view) {
  const { nodes, edges } = model, last = nodes.length - 1, { focus, edge } = lights(model, state, view);
  if (edge !== null) {
    const { from, to, slope, args, place } = edges[edge];
    const words = formula(nodes[to].op, args, nodes[to].value, place, shown);
    return `From <b>${escaped(title(nodes, from))}</b> to <b>${escaped(title(nodes, to))}</b> the slope is ` +
      `<b class="gradient">×${shown(slope)}</b>: ${escaped(words)}.`;
  }
  if (focus === null) return "";
  if (focus === last) return `<b>${escaped(title(nodes, last))}</b> is the result: its slope with respect to itself is 1.`;
  const ways = paths(edges, focus, last), sum = nodes[focus].adjoint;
  const name = nodes[focus].name ?? title(nodes, focus);
  if (!ways.length) return `The result does not depend on <b>${escaped(name)}</b>: its gradient is 0.`;
  const products = ways.slice(0, 6).map((way) => `<code>${way.map((i) => shown(edges[i].slope)).join("×")}</code>`);
  const isOne = ways.length === 1 && ways[0].length === 1; // its one factor is the gradient
  return `${ways.length === 1 ? "1 path" : `${ways.length} paths`} from <b>${escaped(name)}</b>: ` +
    `${isOne ? "" : `${products.join(" + ")}${ways.length > 6 ? " + …" : ""} = `}<b class="gradient">${shown(sum)}</b>` +
    (nodes[focus].kind === "leaf" ? `, and that is <code>${escaped(name)}.grad</code>` : "");
}

/** Which edges are lit, and what is in sight: what the pointer is on, else the leaf that was chosen. */
function lights({ nodes, edges }, state, view) {
  const [kind, number] = (view.look ?? "").split(":");
  if (kind === "edge" && edges[number]) return { lit: new Set([Number(number)]), focus: null, edge: Number(number) };
  let focus = kind === "node" && nodes[number] ? Number(number)
    : nodes.findIndex((node) => node.kind === "leaf" && node.name === state.pinned);
  if (focus < 0) focus = nodes.findIndex((node) => node.kind === "leaf");
  return { lit: new Set(paths(edges, focus, nodes.length - 1).flat()), focus, edge: null };
}
