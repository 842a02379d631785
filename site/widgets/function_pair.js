// A Function as two boxes: forward computes and saves, backward answers a gradient with a gradient.

import { active, box, head, line, pill, picture, shown, text } from "./draw.js";

const bell = (x) => Math.exp(-x * x);
const clipped = (g) => Math.min(Math.max(g, -1), 1);

/**
 * `forward` and `backward` as the lesson writes them, `saves` what ctx takes over, by name;
 * `slope` is the derivative, which backward need not return. The exercises ask for other Functions.
 */
const FUNCTIONS = {
  Square: { forward: "x * x", backward: "g * 2 * x", run: (x) => x * x, saves: (x) => ({ x }), back: (g, { x }) => g * 2 * x, slope: (x) => 2 * x },
  Tanh: { forward: "x.tanh()", backward: "g * (1 - t * t)", run: Math.tanh, saves: (x, t) => ({ t }), back: (g, { t }) => g * (1 - t * t), slope: (x) => 1 - Math.tanh(x) ** 2 },
  Bell: { forward: "(-x * x).exp()", backward: "-g * 2 * x * y", run: bell, saves: (x, y) => ({ x, y }), back: (g, { x, y }) => -g * 2 * x * y, slope: (x) => -2 * x * bell(x) },
  GradClip: { forward: "x.view_as(x)", backward: "g.clamp(-1, 1)", run: (x) => x, saves: () => ({}), back: clipped, slope: () => 1 },
};

export default {
  name: "function-pair",
  title: "A step is a pair: forward and backward",
  defaults: { f: "Square", x: 3, g: 1 },
  views: ["wide", "narrow"],
  goals: [
    { words: "Find an x where Bell returns a gradient of 0.", reached: ({ grad }, { f, g }) => f === "Bell" && g !== 0 && Math.abs(grad) < 1e-9 },
    { words: "Let Tanh pass on less than a hundredth of the gradient.", reached: ({ grad }, { f, g }) => f === "Tanh" && Math.abs(grad) < Math.abs(g) / 100 },
    { words: "Make <code>backward</code> return something other than gradient times slope.", reached: ({ grad, honest }) => Math.abs(grad - honest) > 1e-9 },
  ],
  controls: () => [
    { name: "f", kind: "choice", label: "Function", options: Object.keys(FUNCTIONS).map((name) => [name, name]) },
    { name: "x", kind: "number", label: "x", min: -4, max: 4, step: 0.1 },
    { name: "g", kind: "number", label: "gradient that comes back", min: -3, max: 3, step: 0.1 },
  ],

  /** The result, what was saved, the gradient that backward returns, and the honest one. */
  model({ f, x, g }) {
    const pair = FUNCTIONS[f] ?? FUNCTIONS.Square, y = pair.run(x), saved = pair.saves(x, y);
    return { y, saved, grad: pair.back(g, saved), honest: g * pair.slope(x) };
  },

  draw({ y, saved, grad }, { f, x, g }, { wide }) {
    const pair = FUNCTIONS[f] ?? FUNCTIONS.Square, size = wide ? 13 : 11;
    const left = wide ? 170 : 70, width = wide ? 260 : 196, right = left + width, edge = wide ? 600 : 340, half = left + width / 2;
    const block = (y0, name, formula, kind, label) => `<g${active({ look: name, label })}>` + box(left, y0, width, 58, kind) +
      text(half, y0 + 17, name === "forward" ? "forward(ctx, x)" : "backward(ctx, g)", "code muted", "middle", size) + text(half, y0 + 40, formula, "code strong", "middle", size) + "</g>";
    const arrow = (from, to, kind) => line([from, to], kind) + head(from, to, kind === "gradient-line" ? kind : "line");
    const names = Object.entries(saved), words = names.map(([name, value]) => `${name} = ${shown(value)}`).join(", ");
    const inside = block(16, "forward", pair.forward, "on-forward-box", `forward: ${pair.forward}`) +
      block(196, "backward", pair.backward, "on-gradient-box", `backward: ${pair.backward}`) +
      arrow([wide ? 116 : 50, 45], [left, 45], "line") + arrow([right, 45], [edge - (wide ? 112 : 66), 45], "line") +
      pill(wide ? 70 : 27, 45, wide ? `x = ${shown(x)}` : shown(x), "forward", size) + pill(edge - (wide ? 56 : 34), 45, wide ? `y = ${shown(y, 3)}` : shown(y, 3), "forward", size) +
      arrow([edge - (wide ? 112 : 66), 225], [right, 225], "gradient-line") + arrow([left, 225], [wide ? 130 : 60, 225], "gradient-line") +
      pill(edge - (wide ? 56 : 34), 225, `∂ ${shown(g)}`, "gradient", size) + pill(wide ? 64 : 30, 225, `∂ ${shown(grad, 3)}`, "gradient", size) +
      `<g${active({ look: "ctx", label: `ctx holds ${words || "nothing"}` })}>` + box(left + 20, 114, width - 40, 42, "saved") +
      text(half, 135, `ctx: ${words || "nothing"}`, "code", "middle", size) + "</g>" +
      (names.length ? line([[half, 74], [half, 114]], "line") + head([half, 74], [half, 114], "line") + line([[half, 156], [half, 196]], "line") + head([half, 156], [half, 196], "line") : "");
    return picture(edge, 262, `${f}: forward above, backward below, and between them what ctx took over`, inside);
  },

  say({ y, saved, grad, honest }, { f, x, g }, { look }) {
    const pair = FUNCTIONS[f] ?? FUNCTIONS.Square, names = Object.keys(saved).map((name) => `<code>${name}</code>`).join(" and ");
    const now = `<code>forward(ctx, ${shown(x)})</code> gives <b class="forward">${shown(y)}</b>`;
    const later = `<code>backward(ctx, ${shown(g)})</code> computes <code>${pair.backward}</code> = <b class="gradient">${shown(grad)}</b>`;
    if (look === "ctx") return names ? `ctx kept ${names} from the call of forward, and nothing else is left of it. Backward finds it there.` : "Backward needs nothing of the call, so nothing is kept.";
    if (look === "forward") return `${now} and leaves a node. It runs once, unrecorded: how it computes is its own affair.`;
    if (look === "backward") return `${later}. It runs later, when a gradient comes back, and cannot see x unless ctx kept it.`;
    const same = Math.abs(grad - honest) <= 1e-9 * Math.max(1, Math.abs(honest));
    return `${now}; ctx keeps ${names || "nothing"}. Later ${later}. ` + (same ? "That is the gradient times the slope."
      : `The gradient times the slope would be ${shown(honest)}: this Function returns something else on purpose.`);
  },
};
