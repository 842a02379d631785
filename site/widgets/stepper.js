// A run of a small program, step by step: the graph grows, then the engine goes back through it.

import { active, box, curve, escaped, head, path, picture, pill, shown, text } from "./draw.js";
import { layered, middle } from "./layered.js";
import { computing, valued } from "./program.js";
import { EXAMPLE, computed, leafControls, numbers, title } from "./program_parts.js";
import { asked, offer, offered } from "./engine_trace.js";
import { steps, visits } from "./passes.js";

const HEIGHT = 54;
/** The room that a wide figure has for its graph, for the choice of a direction. */
const ROOM = [620, 560];
const DOUBLINGS = ["x", ..."abcdefg"].slice(1).map((name, i, all) => `${name} = ${all[i - 1] ?? "x"} + ${all[i - 1] ?? "x"}`);

export default {
  name: "stepper",
  title: "A backward pass, step by step",
  defaults: { ...EXAMPLE, x: 1, engine: "counted", step: 3, guess: "", ask: true },
  views: ["wide", "narrow"],

  controls: (state) => [
    { name: "step", kind: "steps", label: "Step", max: Math.max(0, (trace(state).steps?.length ?? 1) - 1) },
    { name: "engine", kind: "choice", label: "engine", options: [["counted", "counts first"], ["naive", "sends at once"], ...offered] },
    { name: "ask", kind: "switch", label: "ask me which node is next" },
    { name: "program", kind: "lines", label: "Program, one step a line", rows: 3 },
    { name: "two", kind: "press", label: "two paths", set: { program: "d = b**2\nf = a**2 * d + d", step: 0, guess: "" } },
    { name: "doublings", kind: "press", label: "five doublings", set: { program: DOUBLINGS.slice(0, 5).join("\n"), step: 0, guess: "" } },
    ...leafControls(state),
  ],
  begin: offer,
  settle(state) {
    const { steps: all, pending } = trace(state);
    return pending ? {} : { step: Math.max(0, Math.min(state.step, (all?.length ?? 1) - 1)) };
  },

  model: (state) => trace(state),

  draw(model, state, { wide }) {
    if (model.error || model.pending) return null; // the last good picture stays
    const now = model.steps[Math.min(state.step, model.steps.length - 1)];
    return `<div class="mg-step">${listing(model, state, now)}` +
      `<div class="mg-graph">${graph(model, state, now, wide)}</div>${panel(model, state, now)}</div>`;
  },

  say(model, state) {
    if (model.error) return `${model.again ? "" : "Not yet a program: "}${escaped(model.error)}.`;
    if (model.pending) return "Python is asked for the steps; where it has not run yet, it has to be loaded first.";
    return sentence(model, state, model.steps[Math.min(state.step, model.steps.length - 1)]) + verdict(model, state);
  },
};

/** The program's numbers, with the steps of a run by the chosen engine. */
function trace(state) {
  if (isReal(state)) {
    const { step, ...leaves } = numbers(state);
    return asked(state.engine, "stepping.traced", valued(state.program), leaves);
  }
  const model = computed(state);
  return model.error ? model : { ...model, ...steps(model, state.engine === "naive"), both: visits(model) };
}

/** Whether steps are those of a real engine, which knows all of Python. */
const isReal = ({ engine }) => engine === "minigrad" || engine === "mine";
/** A node's words: what a real engine calls it, or the step that made it. */
const words = (nodes, node) => nodes[node].title ?? title(nodes, node);
/** A number, or the text that stands for a tensor's. */
const told = (value) => (typeof value === "number" ? shown(value) : String(value ?? "").replaceAll("-", "−"));
const named = (model, node) => `<b>${escaped(model.nodes[node].name ?? words(model.nodes, node))}</b>`;
/** Whether the next step is another node's turn, and which that is may be asked: all was sent. */
const between = ({ steps: all }, { step, ask }) => ask && ["arrive", "write"].includes(all[step]?.kind)
  && ["run", "write"].includes(all[step + 1]?.kind);
/** The node that was guessed at this step, or null. */
const guessed = ({ nodes }, { guess, step }) => {
  const [at, node] = String(guess).split(":").map(Number);
  return at === step && node in nodes ? node : null;
};
/** Whether the question is open: until it is answered, nothing beside it may tell. */
const isAsking = (model, state) => between(model, state) && guessed(model, state) === null;

/** The program, its running line lit, with the line of backward below. */
function listing({ nodes }, { program }, { kind, node }) {
  const at = kind === "made" ? nodes[node].row : null;
  const lines = computing(program).map((line, i) => `<span${i === at ? ' class="now"' : ""}>${escaped(line) || " "}</span>`);
  const last = nodes.at(-1).name ?? "result";
  return `<pre class="mg-listing">${lines.join("\n")}\n<span${at === null ? ' class="now"' : ""}>${escaped(last)}.backward()</span></pre>`;
}

/** The graph as far as it is made; what runs, what waits, and what has just moved. */
function graph(model, state, now, wide) {
  const { nodes, edges } = model, titles = nodes.map((_, i) => words(nodes, i));
  const sizes = nodes.map((node, i) => [Math.max(96, 8.2 * titles[i].length + 24, 8 * (told(node.value).length + (isReal(state) ? 9 : 0)) + 24), HEIGHT]);
  const [layout, down] = laid(sizes, edges.map(({ from, to }) => [from, to]), wide);
  const asks = between(model, state), hides = isAsking(model, state), backward = now.kind !== "made";
  let under = "", over = "";
  edges.forEach((edge, i) => {
    const route = layout.routes[i], on = now.edge === i, gone = backward && now.done.includes(edge.to);
    under += path(curve(route, down), edge.to >= now.made ? "ghost" : on ? "gradient-line" : gone ? "gone" : "line");
    if (on) {
      const [end] = route;
      under += head(down ? [end[0], end[1] + 9] : [end[0] + 9, end[1]], end, "gradient-line");
      over += pill(...middle(route), `∂ ${told(now.value)}`);
    }
  });
  nodes.forEach((node, i) => {
    const [x, y] = layout.corners[i], [w] = sizes[i];
    if (i >= now.made) {
      under += box(x, y, w, HEIGHT, "ghost", node.kind === "leaf" ? 14 : 6);
      return;
    }
    const kind = now.node === i ? (backward ? "on-gradient" : "on-forward") : now.queue.includes(i) && !hides ? "on-right" : "box";
    const gradient = now.grads[i] ?? now.buffers[i];
    const waits = now.waits[i] > 0 && backward && !hides;
    over += `<g${active({ set: asks ? { guess: `${state.step}:${i}` } : null, key: `node:${i}`, look: `node:${i}`,
      label: `${titles[i]} ${told(node.value)}${gradient !== undefined ? ` ∂ ${told(gradient)}` : ""}${waits ? `, waits for ${now.waits[i]}` : ""}` })}` +
      `${now.done.includes(i) && now.node !== i ? ' class="done"' : ""}>` +
      box(x, y, w, HEIGHT, kind, node.kind === "leaf" ? 14 : 6) + text(x + w / 2, y + 16, titles[i], "strong", "middle", 14) +
      text(x + 10, y + 38, told(node.value), "code forward", "start", 14) +
      (gradient === undefined ? "" : text(x + w - 10, y + 38, `∂ ${told(gradient)}`, "code gradient", "end", 14)) + "</g>" +
      (waits ? pill(x + w / 2, y - 3, `waits for ${now.waits[i]}`, "quiet", 11) : "");
  });
  return picture(layout.width + 16, layout.height + 26, `The graph at step ${state.step + 1}`, under + over);
}

/** Where the nodes stand: from left to right, or downwards where that leaves the text larger. */
function laid(sizes, pairs, wide) {
  const [across, down] = [{ gap: 36, apart: 28 }, { down: true, gap: wide ? 30 : 44, apart: 14 }]
    .map((way) => layered(sizes, pairs, { at: [8, 16], ...way }));
  const scale = ({ width, height }) => Math.min(1, ROOM[0] / (width + 16), ROOM[1] / (height + 26));
  return wide && scale(across) >= scale(down) ? [across, false] : [down, true];
}

/** Queue, buffers, leaves and calls. */
function panel(model, state, now) {
  const list = (nodes, tell) => (nodes.length ? nodes.map(tell).join(", ") : "–");
  const rows = [
    ["next", isAsking(model, state) ? "?" : list(now.queue, (node) => named(model, node))],
    ["buffers", list(Object.entries(now.buffers), ([node, value]) => `${named(model, node)} <span class="gradient">∂ ${told(value)}</span>`)],
    [".grad", list(Object.entries(now.grads), ([node, value]) => `${named(model, node)} <span class="gradient">${told(value)}</span>`)],
    ["calls", String(now.visits)],
  ];
  return `<dl class="mg-panel">${rows.map(([name, text]) => `<div><dt>${name}</dt><dd>${text}</dd></div>`).join("")}</dl>`;
}

/** One step in words, with its numbers. */
function sentence(model, state, now) {
  const { nodes, edges, both, cut } = model, naive = state.engine === "naive";
  const asking = isAsking(model, state);
  if (now.text) return escaped(asking ? now.text.split(/(?<=\.) /)[0] : now.text); // the engine's own words
  switch (now.kind) {
    case "made": {
      const node = nodes[now.node];
      return node.kind === "leaf" ? `Forward. ${named(model, now.node)} is a leaf, with the value <b class="forward">${told(node.value)}</b>.`
        : `Forward. <b>${escaped(words(nodes, now.node))}</b>${isReal(state) ? " is left behind by a step that" : ""} gives <b class="forward">${told(node.value)}</b>${isReal(state) ? "" : ", and a node is left behind"}.`;
    }
    case "count": return `Backward. First the engine counts: each node <b>waits</b> for as many gradients as it was used. The result waits for none, so it is ready.`;
    case "run": return `${named(model, now.node)} runs with <b class="gradient">∂ ${shown(now.value)}</b>` +
      (naive ? ` (call ${now.visits}).` : now.queue.length ? `: of the ready nodes it was made last.` : ": no other node is ready.");
    case "arrive": {
      const { from, slope } = edges[now.edge], total = now.buffers[from] ?? now.value, before = total - now.value;
      const sent = `The slope of this edge is ${shown(slope)}, so <b class="gradient">∂ ${shown(now.value)}</b> goes to ${named(model, from)}`;
      if (naive) return `${sent}, which is called <b>at once</b>.`;
      const added = Math.abs(before) > 1e-12 && now.buffers[from] !== now.value ? ` and is added: ${shown(before)} + ${shown(now.value)} = <b class="gradient">${shown(total)}</b>` : "";
      return `${sent}${added}.${asking ? "" : now.waits[from] ? ` It still waits for ${now.waits[from]} more.` : " It waits for nothing more and joins the queue."}`;
    }
    case "write": return `${named(model, now.node)} is a leaf: its <code>.grad</code> is now <b class="gradient">${shown(now.grads[now.node])}</b>.`;
    default: return `${cut ? "The rest is left out. " : ""}Calls of nodes: <b>${both.counted}</b> by the engine that counts, <b>${both.naive}</b> by the one that sends at once.`;
  }
}

/** Whether the node that the reader chose is the next to run, and why. */
function verdict(model, state) {
  if (!between(model, state)) return "";
  const next = state.step + 1, now = model.steps[state.step], node = guessed(model, state);
  if (node === null) return " <i>Which node is next? Choose it in the graph, or go on a step.</i>";
  if (model.steps[next].node === node) return ` <span class="right">✓ Right: ${named(model, node)} is next.</span>`;
  const waits = now.waits[node];
  return ` <span class="wrong">✗ Not ${named(model, node)}</span>${waits > 0 ? `: it still waits for ${waits}.`
    : now.done.includes(node) ? ": it has run."
    : now.queue.includes(node) ? `: it is ready too, but ${named(model, model.steps[next].node)} ${
      model.nodes[model.steps[next].node].kind === "leaf" ? "is a leaf, and leaves go first" : "was made later"}.`
    : `: the engine goes on with ${named(model, model.steps[next].node)}.`}`;
}
