// One call of an operation, and what it leaves behind: a node, its edges, and what it saved.

import { box, curve, head, path, picture, text } from "./draw.js";

/** Each formula's names decide what is saved: the second item, by input, is what its slope needs. */
const OPS = {
  mul: { call: "p * q", node: "MulBackward0", inputs: ["p", "q"], formulas: { p: "grad * q", q: "grad * p" }, needs: { p: ["q"], q: ["p"] } },
  div: { call: "p / q", node: "DivBackward0", inputs: ["p", "q"], formulas: { p: "grad / q", q: "-grad * p / q**2" }, needs: { p: ["q"], q: ["p", "q"] } },
  add: { call: "p + q", node: "AddBackward0", inputs: ["p", "q"], formulas: { p: "grad", q: "grad" }, needs: { p: [], q: [] } },
  exp: { call: "p.exp()", node: "ExpBackward", inputs: ["p"], formulas: { p: "grad * result" }, needs: { p: ["result"] } },
  sin: { call: "p.sin()", node: "SinBackward", inputs: ["p"], formulas: { p: "grad * p.cos()" }, needs: { p: ["p"] } },
};

export default {
  name: "recording",
  title: "What one call leaves behind",
  defaults: { op: "mul", p: true, q: false, grad: true },
  views: ["wide", "narrow"],
  goals: [
    { words: "Record a call that saves nothing.", reached: ({ recorded, saved }) => recorded && !saved.length },
    { words: "Let <code>p / q</code> save <code>q</code> alone.", reached: ({ saved }, { op }) => op === "div" && saved.join() === "q" },
    { words: "Leave no node behind, although p requires grad.", reached: ({ recorded }, { p }) => p && !recorded },
  ],
  controls: ({ op }) => [
    { name: "op", kind: "choice", label: "call", options: Object.entries(OPS).map(([key, { call }]) => [key, call]) },
    { name: "p", kind: "switch", label: "p requires grad" },
    ...((OPS[op] ?? OPS.mul).inputs.includes("q") ? [{ name: "q", kind: "switch", label: "q requires grad" }] : []),
    { name: "grad", kind: "switch", label: "grad mode is on" },
  ],

  model(state) {
    const op = OPS[state.op] ?? OPS.mul, live = op.inputs.filter((name) => state[name]);
    const recorded = state.grad && live.length > 0;
    const saved = recorded ? ["p", "q", "result"].filter((name) => live.some((each) => op.needs[each].includes(name))) : [];
    return { recorded, node: recorded ? op.node : null, saved, edges: recorded ? op.inputs.map((name) => Boolean(state[name])) : [] };
  },

  draw({ recorded, node, saved, edges }, state, { wide }) {
    const op = OPS[state.op] ?? OPS.mul, width = wide ? 600 : 340, w = wide ? 178 : 150;
    const nodeX = wide ? 230 : 176, nodeY = 40, savedX = wide ? 440 : 10, savedY = wide ? 40 : 196;
    let inside = text(10, 12, "the declaration", "muted", "start", 13);
    op.inputs.forEach((name, i) => {
      const y = 30 + i * 56, live = recorded && state[name];
      inside += box(10, y, w, 46, live ? "on-gradient-box" : "box") + text(20, y + 14, `∂ ${name}`, live ? "gradient strong" : "muted", "start", 13) +
        text(20, y + 33, op.formulas[name], "code", "start", wide ? 13 : 12);
    });
    inside += text(nodeX, nodeY - 28, "the node", "muted", "start", 13);
    if (recorded) {
      inside += box(nodeX, nodeY - 10, w - 20, 40, "box") + text(nodeX + (w - 20) / 2, nodeY + 10, node, "code strong", "middle", 13);
      op.inputs.forEach((name, i) => {
        const x = nodeX + 28 + i * (wide ? 84 : 80), y = nodeY + 88, from = [x + 10, nodeY + 30], to = [x + 10, y];
        inside += path(curve([from, to], true), edges[i] ? "gradient-line" : "gone") + (edges[i] ? head([to[0], to[1] - 12], to, "gradient-line") : "") +
          box(x - 26, y, 74, 30, edges[i] ? "box" : "saved", 14) + text(x + 11, y + 15, edges[i] ? `leaf ${name}` : "None", edges[i] ? "code" : "muted", "middle", 13);
      });
    } else inside += text(nodeX, nodeY + 10, "nothing is recorded", "muted", "start", 13);
    inside += text(savedX, savedY - 28, "saved for backward", "muted", "start", 13);
    (saved.length ? saved : ["nothing"]).forEach((name, i) => {
      const y = savedY - 10 + (wide ? i * 40 : 0), x = savedX + (wide ? 0 : i * 120);
      inside += name === "nothing" ? text(x, y + 16, "nothing", "muted", "start", 13) : box(x, y, 110, 32, "saved") + text(x + 55, y + 16, name, "code forward", "middle", 13);
    });
    return picture(width, wide ? 172 : 226, "The declaration, the node and its saved values", inside);
  },

  say({ recorded, node, saved }, state) {
    const op = OPS[state.op] ?? OPS.mul, live = op.inputs.filter((name) => state[name]);
    if (!recorded) {
      return `<code>${op.call}</code> is computed and nothing more: ${state.grad ? "no input requires grad" : "grad mode is off"}. The result's <code>grad_fn</code> is <b>None</b>.`;
    }
    const why = live.map((name) => `∂${name} = <code>${op.formulas[name]}</code>`).join(" and ");
    return `<b>${node}</b> is left behind. It will be asked for ${why}, so it saves <b class="forward">${saved.length ? saved.join(" and ") : "nothing"}</b>. ` +
      (live.length < op.inputs.length ? "The other input requires no grad: its edge leads nowhere, and its formula is never asked." : "");
  },
};
