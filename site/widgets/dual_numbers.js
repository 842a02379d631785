// The same graph forward alone: each value carries how fast it changes, in a direction that one sets.

import { active, box, curve, escaped, path, picture, pill, shown, text } from "./draw.js";
import { layered, middle } from "./layered.js";
import { EXAMPLE, computed, leafControls, title } from "./program_parts.js";

const HEIGHT = 52;

export default {
  name: "dual-numbers",
  title: "Numbers that carry their slope",
  defaults: { ...EXAMPLE, turn: 0 },
  views: ["wide", "narrow"],
  controls: (state) => [
    { name: "turn", kind: "number", label: "direction, in degrees", min: 0, max: 360, step: 5 },
    { name: "first", kind: "press", label: "along the first leaf", set: { turn: 0 } }, { name: "second", kind: "press", label: "along the second", set: { turn: 90 } },
    ...leafControls(state),
    { name: "program", kind: "lines", label: "Program, one step a line", rows: 3 },
  ],

  /** Values and gradients as in the live graph, and the `tangents` of one forward run. */
  model(state) {
    const model = computed(state);
    if (model.error) return model;
    const leaves = model.nodes.flatMap((node, i) => (node.kind === "leaf" ? [[node.name, i]] : [])).sort(([p], [q]) => (p < q ? -1 : 1));
    const turn = state.turn / 180 * Math.PI, seeds = leaves.map((_, i) => clean([Math.cos(turn), Math.sin(turn)][i] ?? 0));
    const tangents = model.nodes.map(() => 0);
    leaves.forEach(([, node], i) => { tangents[node] = seeds[i]; });
    model.nodes.forEach((node, i) => {
      for (const edge of model.edges) if (edge.to === i) tangents[i] += tangents[edge.from] * edge.slope;
    });
    return { ...model, tangents, leaves: leaves.map(([name, node], i) => ({ name, node, seed: seeds[i] })) };
  },

  draw(model, state, { wide, look }) {
    if (model.error) return null;
    const { nodes, edges, tangents } = model, titles = nodes.map((_, i) => title(nodes, i));
    const sizes = nodes.map((node, i) => [Math.max(104, 8.2 * titles[i].length + 24, 8 * (shown(node.value).length + shown(tangents[i], 3).length) + 52), HEIGHT]);
    const layout = layered(sizes, edges.map(({ from, to }) => [from, to]), { at: [8, 8], ...(wide ? { gap: 46, apart: 24 } : { down: true, gap: 44, apart: 12 }) });
    let under = "", over = "";
    edges.forEach((edge, i) => {
      const route = layout.routes[i];
      under += path(curve(route, !wide), tangents[edge.from] ? "gradient-solid" : "line");
      over += pill(...middle(route), `×${shown(edge.slope, 3)}`, tangents[edge.from] ? "gradient" : "quiet");
    });
    nodes.forEach((node, i) => {
      const [x, y] = layout.corners[i], [w] = sizes[i];
      over += `<g${active({ look: `node:${i}`, label: `${titles[i]} ${shown(node.value)} ${shown(tangents[i], 3)}` })}>` +
        box(x, y, w, HEIGHT, look === `node:${i}` ? "on-forward-box" : "box", node.kind === "leaf" ? 14 : 6) +
        text(x + w / 2, y + 15, titles[i], "strong", "middle", 14) + text(x + 10, y + 37, shown(node.value), "code forward", "start", 14) +
        text(x + w - 10, y + 37, `→ ${shown(tangents[i], 3)}`, "code gradient", "end", 14) + "</g>";
    });
    return picture(layout.width + 16, layout.height + 16, "The graph with a value and a tangent in each node", under + over);
  },

  say(model, state, { look }) {
    if (model.error) return `Not yet a program: ${escaped(model.error)}.`;
    const { nodes, edges, tangents, leaves } = model, node = Number(look?.split(":")[1] ?? NaN);
    if (nodes[node]?.kind === "op") {
      const sum = edges.filter((edge) => edge.to === node).map((edge) => `${shown(edge.slope, 3)}·${shown(tangents[edge.from], 3)}`);
      return `The tangent of <b>${escaped(title(nodes, node))}</b> is ${sum.join(" + ")} = <b class="gradient">${shown(tangents[node], 3)}</b>: each input's tangent times its slope.`;
    }
    const result = tangents.at(-1), sum = leaves.slice(0, 2).map(({ node: leaf, seed }) => `${shown(nodes[leaf].adjoint)}·${shown(seed, 3)}`).join(" + ");
    return `One run forward, in the direction (${leaves.map(({ seed }) => shown(seed, 3)).join(", ")}): the result changes at <b class="gradient">${shown(result)}</b>. ` +
      `Backward gives all ${leaves.length} slopes in one run: ${sum} = ${shown(result)}.`;
  },
};

/** A cosine that ought to be 0 is 0. */
const clean = (value) => (Math.abs(value) < 1e-12 ? 0 : value);
