// Where a nan comes from: the first node of a backward pass that returns one, which anomaly mode names.

import { escaped, shown } from "./draw.js";
import graph from "./live_graph.js";
import { steps } from "./passes.js";
import { computed, leafControls, title } from "./program_parts.js";

const PROGRAM = "s = sqrt(w)\nloss = s * k";

export default {
  name: "anomaly",
  title: "Where does the nan come from?",
  defaults: { program: PROGRAM, w: 0, k: 0 },
  views: ["wide", "narrow"],
  controls: (state) => [
    { name: "program", kind: "lines", label: "Formula, one step a line", rows: 2 },
    { name: "root", kind: "press", label: "a root at 0", set: { program: PROGRAM, w: 0, k: 0 } },
    { name: "log", kind: "press", label: "a log of nothing", set: { program: "d = a - b\nloss = log(d) * k", a: 1, b: 1, k: 0 } },
    { name: "ratio", kind: "press", label: "0 / 0", set: { program: "r = a / b\nloss = r + a", a: 0, b: 0 } },
    { name: "repaired", kind: "press", label: "the root, repaired", set: { program: "s = sqrt(w + 0.001)\nloss = s * k", w: 0, k: 0 } },
    ...leafControls(state),
  ],

  /** The program's numbers, and `culprit`: the first node that returns nan, along which edge, from which gradient. */
  model(state) {
    const model = computed(state);
    if (model.error) return model;
    const all = steps(model, false).steps;
    const at = all.findIndex(({ kind, value }) => kind === "arrive" && Number.isNaN(value));
    if (at < 0) return { ...model, culprit: null };
    const { node, edge } = all[at];
    const got = all.slice(0, at).findLast((step) => step.kind === "run" && step.node === node).value;
    return { ...model, culprit: { node, edge, got } };
  },

  draw: (model, state, view) => graph.draw(model, state, { ...view, look: lookOf(model, view) }),

  say(model, state, view) {
    if (model.error || view.look) return graph.say(model, state, { ...view, look: lookOf(model, view) });
    const { nodes, edges, culprit } = model, value = shown(nodes.at(-1).value);
    const result = `The result is <b class="forward">${value}</b>`;
    if (!culprit) return `${result}, and no node returns nan: anomaly mode says nothing.`;
    const { node, edge, got } = culprit;
    const leaves = nodes.filter(({ kind, adjoint }) => kind === "leaf" && Number.isNaN(adjoint));
    return `${result}${Number.isFinite(nodes.at(-1).value) ? ", a fine number" : ""}. Backward, <b>${escaped(title(nodes, node))}</b> got ∂ ${shown(got)} and has the slope ` +
      `${shown(edges[edge].slope)}: their product is <b class="wrong">nan</b>. It is the first node to return one, so anomaly mode names it. Without that you see only ` +
      `nan in the gradient of ${leaves.map(({ name }) => `<b>${escaped(name)}</b>`).join(" and ")}.`;
  },
};

/** What is in sight: what the pointer is on, else the edge of the culprit. */
const lookOf = ({ culprit }, { look }) => look ?? (culprit ? `edge:${culprit.edge}` : null);
