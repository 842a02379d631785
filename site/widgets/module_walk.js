// The walk through a tree of modules: in which order, under which names, and who is met twice.

import { active, box, curve, path, picture, text } from "./draw.js";

const ROW = 34;

/** The tree as `Twin` in the lesson makes it: for each module its parameters and its parts, by name. */
function tree({ again, tied, list }) {
  const module = (kind, parameters = {}, parts = {}) => ({ kind, parameters, parts });
  const linear = (id) => module("Linear", { weight: `${id}.weight`, bias: `${id}.bias` });
  const encoder = module("Sequential", {}, { 0: linear("first"), 1: module("ReLU") });
  const decoder = linear("decoder");
  if (tied) decoder.parameters.weight = "first.weight"; // the same object under two names
  return module("Net", {}, { encoder, ...(list ? {} : { decoder }), ...(again ? { again: encoder } : {}) });
}

export default {
  name: "module-walk",
  title: "A walk that meets everybody once",
  defaults: { again: true, tied: false, list: false, once: true, step: 4 },
  views: ["wide", "narrow"],
  controls: (state) => [
    { name: "step", kind: "steps", label: "step", max: walk(state).length - 1 },
    { name: "again", kind: "switch", label: "self.again = self.encoder" },
    { name: "tied", kind: "switch", label: "decoder.weight = encoder[0].weight" },
    { name: "list", kind: "switch", label: "keep the decoder in a plain list" },
    { name: "once", kind: "switch", label: "remove_duplicate" },
  ],
  settle: (state) => ({ step: Math.max(0, Math.min(Math.round(state.step), walk(state).length - 1)) }),

  /** The steps: each `kind` ("module" or "parameter"), its dotted `name`, and whether it was `met` before. */
  model(state) {
    const steps = walk(state), of = (kind) => steps.filter((each) => each.kind === kind && !each.skipped).map(({ name }) => name);
    return { steps, modules: of("module"), parameters: of("parameter") };
  },

  draw({ steps }, { step }, { wide }) {
    const size = wide ? 13 : 12, right = wide ? 330 : 208;
    let inside = text(8, 12, "the walk, from above", "muted", "start", 12) + text(right, 12, "named_parameters() so far", "muted", "start", 12), out = 0;
    steps.forEach(({ kind, name, depth, what, skipped, parent }, i) => {
      const y = 26 + i * ROW, x = 8 + depth * (wide ? 22 : 12), now = i === step, seen = i <= step;
      const shape = kind === "parameter" ? (now ? "on-forward" : "saved") : now ? "on-forward" : "box", width = wide ? 190 : 150;
      if (parent !== null) inside += path(curve([[8 + (depth - 1) * (wide ? 22 : 12) + 10, 26 + parent * ROW + 28], [x + 10, y]], true), "gone");
      const called = name.split(".").at(-1) || "net", note = skipped && seen ? "met before" : kind === "module" ? what : "";
      const label = `${called} ${note}${note && ", "}step ${i + 1}: ${what} ${name || "that is walked through"}`; // begins with what is seen
      inside += `<g${active({ set: { step: i }, key: `step:${i}`, label })}${seen ? "" : ' class="off"'}>` +
        box(x, y, width, 28, shape, kind === "parameter" ? 14 : 6) + text(x + 10, y + 14, called, "code strong", "start", size) + " " +
        text(x + width - 10, y + 14, note, skipped && seen ? "wrong" : "muted", "end", 12) + "</g>";
      if (kind === "parameter" && seen && !skipped) {
        inside += text(right, 40 + out * 24, name, `code${now ? " forward strong" : ""}`, "start", size);
        out += 1;
      }
    });
    return picture(wide ? 600 : 350, 26 + Math.max(steps.length * ROW, 160), "The walk through the modules, and the names that it yields", inside);
  },

  say({ steps, parameters }, { step, list }) {
    const { kind, name, what, skipped, why } = steps[step], called = name ? `<code>${name}</code>` : "the net itself";
    const now = kind === "module" ? (skipped ? `${called} is the same ${what} as <code>${why}</code>, which is in the memo: it is left out, with everything below it.`
      : `${called}, a ${what}: its own parameters come first, then its parts.`)
      : skipped ? `${called} is the same tensor as <code>${why}</code>: an optimizer that met it twice would move it twice.` : `${called} is yielded, under the names along the way.`;
    return `Step ${step + 1}: ${now} In all <b class="forward">${parameters.length}</b> parameters.` + (list ? " The decoder in a plain list is no part of the net: nobody finds it." : "");
  },
};

/** Depth first, with one memo for modules and one for parameters, as named_parameters() goes. */
function walk(state) {
  const steps = [], modules = new Map(), parameters = new Map();
  const visit = (module, name, depth, parent) => {
    const why = state.once ? modules.get(module) : undefined, here = steps.length;
    steps.push({ kind: "module", name, depth, parent, what: module.kind, skipped: why !== undefined, why });
    if (why !== undefined) return;
    modules.set(module, name);
    const below = (part) => (name ? `${name}.${part}` : part);
    for (const [part, id] of Object.entries(module.parameters)) {
      const before = state.once ? parameters.get(id) : undefined;
      steps.push({ kind: "parameter", name: below(part), depth: depth + 1, parent: here, what: part, skipped: before !== undefined, why: before });
      if (before === undefined) parameters.set(id, below(part));
    }
    for (const [part, each] of Object.entries(module.parts)) visit(each, below(part), depth + 1, here);
  };
  visit(tree(state), "", 0, null);
  return steps;
}
