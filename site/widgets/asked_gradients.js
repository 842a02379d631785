// backward or grad, and for which tensors: the nodes that have to run, and where the results land.

import { active, box, curve, escaped, head, path, picture, pill, shown, text } from "./draw.js";
import { layered, middle } from "./layered.js";
import { computed, title } from "./program_parts.js";

const PROGRAM = "u = a * b\nv = exp(c)\nloss = u * v + a", HEIGHT = 52;

/** The names that can be asked for: the leaves, then the steps that have a name, but the result. */
const namesIn = (nodes) => [...nodes.keys()].filter((i) => nodes[i].name && i < nodes.length - 1)
  .sort((p, q) => (nodes[p].kind === nodes[q].kind ? p - q : nodes[p].kind === "leaf" ? -1 : 1)).map((i) => nodes[i].name);
const wantedOf = (state) => String(state.want).split(" ").filter(Boolean);

export default {
  name: "asked-gradients",
  title: "backward or grad: who has to run?",
  defaults: { call: "grad", want: "a", program: PROGRAM, a: 2, b: 3, c: 1 },
  views: ["wide", "narrow"],
  controls: (state) => {
    const model = computed(state), names = model.error ? [] : namesIn(model.nodes);
    return [
      { name: "call", kind: "choice", label: "call", options: [["grad", "grad(loss, inputs)"], ["some", "backward(inputs=…)"], ["all", "backward()"]] },
      ...(state.call === "all" ? [] : names.map((name) => {
        const want = wantedOf(state), on = want.includes(name);
        const after = on ? want.filter((each) => each !== name) : names.filter((each) => each === name || want.includes(each));
        return { name: `want ${name}`, kind: "press", label: `${on ? "✓ " : ""}${name}`, set: { want: after.join(" ") } };
      })),
      { name: "program", kind: "lines", label: "Formula, one step a line", rows: 3 },
    ];
  },

  /** `wanted`: nodes whose gradient is asked for; `runs`: operations that execute; `unused`: asked for in vain. */
  model(state) {
    const model = computed(state);
    if (model.error) return model;
    const { nodes, edges } = model, last = nodes.length - 1, names = state.call === "all" ? null : wantedOf(state).filter((name) => namesIn(nodes).includes(name));
    const reached = nodes.map((_, i) => i === last);
    for (let i = last; i >= 0; i--) if (reached[i]) for (const edge of edges) if (edge.to === i) reached[edge.from] = true;
    const wanted = nodes.flatMap((node, i) => ((names ? names.includes(node.name) : node.kind === "leaf") ? [i] : []));
    const leads = nodes.map(() => false); // to a node that is asked for, along one input or more
    nodes.forEach((_, i) => { leads[i] = edges.some(({ from, to }) => to === i && (leads[from] || wanted.includes(from))); });
    // as in PyTorch, backward(inputs=[u]) runs the node of u as well: grad catches the gradient before it
    const own = (i) => state.call === "some" && wanted.includes(i);
    return { ...model, wanted, runs: nodes.flatMap((node, i) => (node.kind === "op" && reached[i] && (leads[i] || own(i)) ? [i] : [])),
             unused: wanted.filter((i) => !reached[i]), empty: names !== null && wanted.length === 0 };
  },

  draw(model, state, { wide, look }) {
    if (model.error) return null;
    const { nodes, edges, wanted, runs } = model, titles = nodes.map((_, i) => title(nodes, i)), down = wide === false;
    const sizes = titles.map((words) => [Math.max(84, 8.2 * words.length + 24), HEIGHT]);
    const layout = layered(sizes, edges.map(({ from, to }) => [from, to]), { at: [8, 8], ...(down ? { down, gap: 44, apart: 12 } : { gap: 62, apart: 26 }) });
    let under = "", over = "";
    edges.forEach(({ from, to, slope }, i) => {
      const on = runs.includes(to) && (runs.includes(from) || wanted.includes(from)), route = layout.routes[i], [begin] = route;
      under += path(curve(route, down), on ? "gradient-line" : "gone") + (on ? head(down ? [begin[0], begin[1] + 9] : [begin[0] + 9, begin[1]], begin, "gradient-line") : "");
      if (on) over += pill(...middle(route), `×${shown(slope, 3)}`, "gradient");
    });
    nodes.forEach((node, i) => {
      const [x, y] = layout.corners[i], [w] = sizes[i], asked = wanted.includes(i), on = runs.includes(i);
      const below = asked ? `∂ ${shown(node.adjoint)}` : on ? "runs" : node.kind === "leaf" ? "not asked" : "does not run";
      over += `<g${active({ look: `node:${i}`, label: `${titles[i]}: ${asked ? `asked for, gradient ${shown(node.adjoint)}` : below}` })}>` +
        box(x, y, w, HEIGHT, asked ? "on-gradient" : on || look === `node:${i}` ? "on-gradient-box" : "cell", node.kind === "leaf" ? 14 : 6) +
        text(x + w / 2, y + 16, titles[i], on || asked ? "strong" : "muted", "middle", 14) + text(x + w / 2, y + 37, below, asked ? "code gradient" : "muted", "middle", 12) + "</g>";
    });
    return picture(layout.width + 16, layout.height + 16, "The graph with the nodes that have to run", under + over);
  },

  say(model, state, { look }) {
    if (model.error) return `Not yet a formula: ${escaped(model.error)}.`;
    const { nodes, wanted, runs, unused, empty } = model, result = nodes.at(-1).name ?? "loss", at = Number(look?.split(":")[1] ?? NaN);
    const list = wanted.map((i) => nodes[i].name), called = escaped(state.call === "all" ? `${result}.backward()` : state.call === "some" ? `${result}.backward(inputs=[${list.join(", ")}])` : `grad(${result}, [${list.join(", ")}])`);
    if (empty) return `<span class="wrong">✗</span> <code>${called}</code> raises: the inputs cannot be empty. Choose a tensor.`;
    if (state.call === "grad" && unused.length) {
      return `<span class="wrong">✗</span> <code>${called}</code> raises: ${escaped(nodes[unused[0]].name)} was not used in the graph. With <code>allow_unused=True</code> None is returned for it.`;
    }
    if (nodes[at]?.kind === "op" && !wanted.includes(at)) {
      return `<b>${escaped(title(nodes, at))}</b> ${runs.includes(at) ? "runs: something that is asked for lies behind it" : "does not run: nothing behind it is asked for"}.`;
    }
    const ops = nodes.filter(({ kind }) => kind === "op").length, values = wanted.filter((i) => !unused.includes(i))
      .map((i) => (state.call === "grad" ? `<b class="gradient">${shown(nodes[i].adjoint)}</b>` : `${escaped(nodes[i].name)}.grad = <b class="gradient">${shown(nodes[i].adjoint)}</b>`));
    return `<code>${called}</code> runs ${runs.length} of ${ops} ${ops === 1 ? "operation" : "operations"}. ` + (state.call === "grad" ? `It returns (${values.join(", ")}${values.length === 1 ? "," : ""}), and every <code>.grad</code> stays as it was.`
      : `It returns nothing; it adds to ${values.join(", ") || "no .grad"}${unused.length ? `, and no gradient reaches ${unused.map((i) => escaped(nodes[i].name)).join(", ")}` : ""}.`);
  },
};
