// Two modes, one inside the other, and what an operation leaves behind there: a node or a constant.

import { active, box, escaped, picture, text } from "./draw.js";

const MODES = { none: "no mode", no_grad: "no_grad()", enable_grad: "enable_grad()", inference: "inference_mode()" };

export default {
  name: "modes",
  title: "A mode inside a mode",
  defaults: { outer: "no_grad", inner: "enable_grad", x: true },
  views: ["wide", "narrow"],
  goals: [
    { words: "Turn grad mode on inside, and still record nothing there.", reached: ({ inner }, { x }) => x && inner.grad && !inner.requires_grad },
    { words: "Record outside, and get an inference tensor inside.", reached: ({ outer, inner }) => outer.requires_grad && inner.is_inference },
  ],
  controls: () => [
    { name: "outer", kind: "choice", label: "outside", options: Object.entries(MODES) },
    { name: "inner", kind: "choice", label: "inside", options: Object.entries(MODES) },
    { name: "x", kind: "switch", label: "x requires grad" },
  ],

  /** For each place, "before", "outer", "inner": the flags there, and what `x * 2` is when it runs there. */
  model({ outer, inner, x }) {
    let flags = { grad: true, inference: false };
    const place = (mode) => {
      if (mode === "no_grad") flags = { ...flags, grad: false };
      if (mode === "enable_grad") flags = { ...flags, grad: true };
      if (mode === "inference") flags = { grad: false, inference: true };
      const recorded = x && flags.grad && !flags.inference;
      return { ...flags, requires_grad: recorded, is_leaf: !recorded, is_inference: flags.inference };
    };
    return { before: place("none"), outer: place(outer), inner: place(inner) };
  },

  draw(model, { outer, inner }, { wide }) {
    const width = wide ? 600 : 344, size = wide ? 13 : 11;
    const words = { before: "before any mode", outer: outer === "none" ? "still no mode" : `with ${MODES[outer]}:`, inner: inner === "none" ? "nothing more" : `with ${MODES[inner]}:` };
    let inside = "";
    Object.keys(words).forEach((name, depth) => {
      const { grad, requires_grad, is_inference } = model[name], x = 8 + depth * (wide ? 24 : 10), y = 8 + depth * 74;
      const kind = requires_grad ? "on-gradient" : is_inference ? "saved" : "box";
      const left = requires_grad ? "a node is left" : is_inference ? "an inference tensor" : "a constant";
      inside += box(x, y, width - 16 - 2 * (x - 8), 8 + (3 - depth) * 74 - 8 * depth, "cell", 8) +
        text(x + 10, y + 16, words[name], "code strong", "start", size) +
        text(width - x - 10, y + 16, `grad mode ${grad ? "on" : "off"}`, "muted", "end", size) +
        `<g${active({ look: `place:${name}`, label: `x * 2 ${left}: y, computed ${words[name]}` })}>` +
        box(x + 10, y + 30, width - 36 - 2 * (x - 8), 32, kind, 6) + text(x + 20, y + 46, "y = x * 2", "code", "start", size) +
        text(width - x - 20, y + 46, left, requires_grad ? "gradient" : "muted", "end", size) + "</g>";
    });
    return picture(width, 250, "Three places, each inside the one before, and what an operation leaves there", inside);
  },

  say(model, { inner, outer, x }, { look }) {
    const name = look?.startsWith("place:") ? look.slice(6) : "inner", { grad, inference, requires_grad } = model[name];
    const where = { before: "Before any mode", outer: "Outside", inner: "Inside" }[name];
    const result = `${where}, <code>y = x * 2</code> has <code>requires_grad</code> <b>${requires_grad ? "True" : "False"}</b>`;
    if (!x) return `${result}: x asks for no gradient, so no mode records anything.${inference ? " And y is an inference tensor." : ""}`;
    if (requires_grad) return `${result}: grad mode is on${name === "inner" && outer === "no_grad" && inner === "enable_grad" ? " again, and the innermost mode decides" : ""}. A node is left behind.`;
    if (inference) {
      return `${result}: ${grad ? `<code>${escaped(MODES[inner])}</code> turns grad mode on and still nothing is recorded, for inference mode goes on` : "inference mode records nothing and counts no versions"}. A node may not save y later.`;
    }
    return `${result}: grad mode is off. A later graph takes y as a constant.`;
  },
};
