// Hooks are registered in an order that the reader chooses, and run in the engine's.

import { active, box, head, line, picture, text } from "./draw.js";

const KINDS = {
  T: ["y.register_hook", "a hook of the tensor y: it may change the gradient"],
  R: ["y.retain_grad()", "y.grad is kept, always after all hooks of y"],
  P: ["node.register_prehook", "before the node runs: it sees all its gradients"],
  O: ["node.register_hook", "after the node has run: it sees what went in and what came out"],
  L: ["x.register_hook", "a hook of the leaf x, before anything is added"],
  A: ["x.register_post_acc…_hook", "when x.grad holds its new value"],
};
const RUNS = "TRPOLA"; // one of each: the engine's order

export default {
  name: "hooks",
  title: "In which order do hooks run?",
  defaults: { order: "OAPLRT", seen: false },
  controls: () => [
    { name: "seen", kind: "switch", label: "show the order in which they run" },
    { name: "backwards", kind: "press", label: "as they run", set: { order: RUNS } },
    { name: "mixed", kind: "press", label: "mixed", set: { order: "ALOPRT" } },
  ],
  settle: ({ order }) => ({ order: [...RUNS].every((each) => String(order).includes(each)) && String(order).length === 6 ? order : "OAPLRT" }),

  /** `registered` and `runs`, by letter: T R P O for y = x * 2, L A for its leaf x. */
  model: ({ order }) => ({ registered: [...String(order)], runs: [...RUNS], same: order === RUNS }),

  views: ["wide", "narrow"],

  draw({ registered, runs }, { seen }, { wide }) {
    const left = 10, width = wide ? 216 : 144, right = left + width + (wide ? 150 : 44), row = 40, size = wide ? 12 : 11;
    const label = (kind) => (wide ? KINDS[kind][0] : KINDS[kind][0].replace("register_", ""));
    let inside = text(left, 12, "registered: move them", "", "start", 13) + text(right, 12, seen ? "run" : "run: guess first", seen ? "gradient" : "muted", "start", 13);
    registered.forEach((kind, i) => {
      const y = 30 + i * row, up = i ? [...registered.slice(0, i - 1), kind, registered[i - 1], ...registered.slice(i + 1)].join("") : null;
      inside += `<g${active({ set: up ? { order: up } : { order: [...registered.slice(1), kind].join("") }, key: `hook:${kind}`,
        label: `${label(kind)}${i ? " ↑" : " ↓"}, registered as number ${i + 1}; press to move it ${i ? "up" : "to the end"}` })}>` +
        box(left, y, width, 30) + text(left + 10, y + 15, label(kind), "code", "start", size) +
        text(left + width - 12, y + 15, i ? "↑" : "↓", "muted", "middle", 14) + "</g>";
      if (seen) {
        const to = 30 + runs.indexOf(kind) * row + 15;
        inside += line([[left + width + 4, y + 15], [right - 8, to]], "line") + head([left + width + 4, y + 15], [right - 4, to], "line");
      }
    });
    runs.forEach((kind, i) => {
      const y = 30 + i * row;
      inside += box(right, y, width, 30, seen ? "on-gradient" : "saved") + text(right + 10, y + 15, seen ? `${i + 1}  ${label(kind)}` : "?", seen ? "code" : "muted", "start", size);
    });
    return picture(right + width + 10, 40 + 6 * row, "Hooks as they were registered, and as they run", inside);
  },

  say({ same, runs }, { seen }) {
    if (!seen) return `<code>y = x * 2</code> with six hooks, registered in this order. In which order does <code>y.backward()</code> run them? Move them, then look.`;
    return (same ? `<span class="right">✓ As you had them.</span> ` : `Registration does not decide. `) +
      `The kind does: ${runs.map((kind, i) => `<b>${i + 1}</b> ${KINDS[kind][1]}`).join("; ")}.`;
  },
};
