// A few lines of arithmetic, their graph, and every derivative: the course in one picture.

import { active, box, curve, escaped, head, path, picture, pill, shown, text } from "./draw.js";
import { layered, middle } from "./layered.js";
import { formula, paths } from "./program.js";
import { EXAMPLE, RANGE, computed, leafControls, title } from "./program_parts.js";

const HEIGHT = 52, AROUND = 8;

export default {
  name: "live-graph",
  title: "A graph to play with",
  defaults: { ...EXAMPLE, pinned: "b" },
  views: ["wide", "narrow"],

  controls: (state, { cell } = {}) => [
    { name: "program", kind: "lines", label: cell ? "Your program, one step a line" : "Formula, one step a line", rows: 3 },
    ...leafControls(state),
  ],

  model: computed,

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

  /** The sentence: the paths of the leaf in sight, or one edge's formula. */
  say(model, state, view) {
    if (model.error) return `Not yet a formula: ${escaped(model.error)}.`;
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
  },
};

/** Which edges are lit, and what is in sight: what the pointer is on, else the leaf that was chosen. */
function lights({ nodes, edges }, state, view) {
  const [kind, number] = (view.look ?? "").split(":");
  if (kind === "edge" && edges[number]) return { lit: new Set([Number(number)]), focus: null, edge: Number(number) };
  let focus = kind === "node" && nodes[number] ? Number(number)
    : nodes.findIndex((node) => node.kind === "leaf" && node.name === state.pinned);
  if (focus < 0) focus = nodes.findIndex((node) => node.kind === "leaf");
  return { lit: new Set(paths(edges, focus, nodes.length - 1).flat()), focus, edge: null };
}
