// Paths of optimizers on a valley ½(x² + κy²): the start can be dragged, the settings changed.

import { active, box, dot, escaped, line, picture, shown, text } from "./draw.js";

const STEPS = 60, SIZE = 320, REACH = 3, MAP = 12;
const RULES = { sgd: "SGD", momentum: "momentum", rmsprop: "RMSprop", adam: "Adam" };
const LOWEST = -3, HIGHEST = 0.5; // powers of ten of the learning rate, on the map

/** The path of one rule from a start: points and losses, as torch.optim steps. */
function path({ rule, rate, beta, kappa, x, y }) {
  let at = [x, y], velocity = null, squares = [0, 0], mean = [0, 0];
  const points = [at], lr = 10 ** rate;
  for (let step = 1; step <= STEPS; step++) {
    const grad = [at[0], kappa * at[1]];
    if (rule === "momentum") {
      velocity = velocity ? velocity.map((v, i) => beta * v + grad[i]) : grad;
      at = at.map((each, i) => each - lr * velocity[i]);
    } else if (rule === "rmsprop") {
      squares = squares.map((s, i) => 0.99 * s + 0.01 * grad[i] ** 2);
      at = at.map((each, i) => each - lr * grad[i] / (Math.sqrt(squares[i]) + 1e-8));
    } else if (rule === "adam") {
      mean = mean.map((m, i) => m + (grad[i] - m) * (1 - beta));
      squares = squares.map((s, i) => 0.999 * s + 0.001 * grad[i] ** 2);
      at = at.map((each, i) => each - lr / (1 - beta ** step) * mean[i]
        / (Math.sqrt(squares[i]) / Math.sqrt(1 - 0.999 ** step) + 1e-8));
    } else at = at.map((each, i) => each - lr * grad[i]);
    points.push(at);
  }
  return points;
}

const loss = ([x, y], kappa) => 0.5 * (x * x + kappa * y * y);
const rates = Array.from({ length: MAP }, (_, i) => LOWEST + i * (HIGHEST - LOWEST) / (MAP - 1));
const betas = Array.from({ length: MAP }, (_, i) => Math.round(i * 0.99 / (MAP - 1) * 100) / 100);

export default {
  name: "optimizers",
  title: "Paths of optimizers in a valley",
  defaults: { rule: "sgd", rate: -0.8, beta: 0.9, kappa: 10, x: -2.5, y: 1.5 },
  views: ["wide", "narrow"],
  controls: ({ rule }) => [
    { name: "rule", kind: "choice", label: "rule", options: Object.entries(RULES) },
    { name: "rate", kind: "number", label: "lr = 10 to the power", min: LOWEST, max: HIGHEST, step: 0.05 },
    ...(["momentum", "adam"].includes(rule) ? [{ name: "beta", kind: "number", label: rule === "adam" ? "β₁" : "momentum", min: 0, max: 0.99, step: 0.01 }] : []),
    { name: "kappa", kind: "number", label: "κ, how much steeper y is", min: 1, max: 40, step: 1 },
    { name: "x", kind: "number", label: "start x", min: -REACH, max: REACH, step: 0.1 },
    { name: "y", kind: "number", label: "y", min: -REACH, max: REACH, step: 0.1 },
  ],

  model(state) {
    const points = path(state), losses = points.map((point) => loss(point, state.kappa));
    const map = betas.map((beta) => rates.map((rate) => loss(path({ ...state, beta, rate }).at(-1), state.kappa)));
    return { points, losses, map };
  },

  draw({ points, losses, map }, state, { wide }) {
    const u = (x) => (x + REACH) / (2 * REACH) * SIZE, v = (y) => SIZE - u(y);
    let inside = box(0, 0, SIZE, SIZE, "grid");
    for (const level of [0.05, 0.2, 0.5, 1, 2, 4, 8, 16, 32]) {
      const wideness = Math.sqrt(2 * level), high = wideness / Math.sqrt(state.kappa);
      if (wideness < 3.2 * REACH) {
        inside += `<ellipse class="grid" cx="${SIZE / 2}" cy="${SIZE / 2}" rx="${(wideness / REACH * SIZE / 2).toFixed(1)}" ry="${(high / REACH * SIZE / 2).toFixed(1)}" clip-path="inset(0)"/>`;
      }
    }
    const near = points.map(([x, y]) => [Math.max(-3 * REACH, Math.min(3 * REACH, x)), Math.max(-3 * REACH, Math.min(3 * REACH, y))]);
    inside += line(near.map(([x, y]) => [u(x), v(y)]), "gradient-solid") +
      near.map(([x, y], i) => dot(u(x), v(y), i ? 2.5 : 0, "head gradient-line")).join("");
    inside = `<svg x="0" y="0" width="${SIZE}" height="${SIZE}" viewBox="0 0 ${SIZE} ${SIZE}">${inside}</svg>` + dot(SIZE / 2, SIZE / 2, 4, "head right-line") +
      `<g${active({ drag: "start", now: state.x, label: `start at x ${shown(state.x)}, y ${shown(state.y)}` })}>` +
      dot(u(state.x), v(state.y), 16, "touch") + dot(u(state.x), v(state.y), 7, "handle") + "</g>";
    const side = wide ? SIZE + 34 : 0, top = wide ? 0 : SIZE + 30, cell = 18, across = MAP * cell;
    let more = text(side + across / 2 + 22, top + 10, "loss after 60 steps, for each setting", "muted", "middle", 12);
    map.forEach((row, i) => row.forEach((value, j) => {
      const worth = Number.isFinite(value) ? Math.max(0, Math.min(1, (2 - Math.log10(Math.max(value, 1e-8))) / 10)) : 0;
      const bad = !(value < losses[0]), here = Math.abs(rates[j] - state.rate) < 0.16 && (Math.abs(betas[i] - state.beta) < 0.046 || !usesBeta(state));
      const set = escaped(JSON.stringify({ rate: Math.round(rates[j] * 20) / 20, beta: betas[i] }));
      const [px, py] = [side + 22 + j * cell, top + 22 + (MAP - 1 - i) * cell];
      more += box(px, py, cell, cell, "heat", 0, ` fill-opacity="${worth.toFixed(1)}" data-set="${set}"`) +
        (bad ? text(px + cell / 2, py + cell / 2, "✗", "wrong quiet-mark", "middle", 11) : "") +
        (here ? box(px + 1, py + 1, cell - 2, cell - 2, "ink quiet-mark", 0) : "");
    }));
    more += text(side + 22, top + 34 + across, "lr 0.001", "muted code", "start", 11) + text(side + 22 + across, top + 34 + across, "3", "muted code", "end", 11) +
      text(side + 14, top + 22 + across - 8, "0", "muted code", "end", 11) + text(side + 18, top + 30, "β", "muted code", "end", 12);
    const bottom = top + across + 84, log = (each) => Math.log10(Math.min(1e3, Math.max(each, 1e-9)));
    const w = (each) => bottom - 2 - (log(each) + 9) / 12 * 36;
    more += line(losses.map((each, i) => [side + 22 + i / STEPS * across, w(each)]), "ink") +
      text(side + 22, bottom + 12, "loss, step by step (by powers of ten)", "muted", "start", 11);
    return picture(wide ? side + across + 30 : SIZE, wide ? Math.max(SIZE + 4, bottom + 22) : bottom + 22, `Path of ${RULES[state.rule]}`, inside + more);
  },

  say({ losses, points }, state) {
    const last = losses.at(-1), lr = 10 ** state.rate, edge = 2 / state.kappa;
    const end = `${STEPS} steps of <b>${RULES[state.rule]}</b> with lr ${shown(lr, 3)}: the loss goes from ${shown(losses[0], 3)} to <b>${shown(last, 3)}</b>. `;
    if (state.rule !== "sgd") {
      const most = Math.max(...points.map(([, y]) => Math.abs(y)));
      return end + (last > losses[0] ? `<span class="wrong">✗ It diverges.</span>` : most > Math.abs(state.y) * 1.05 ? "It overshoots, and comes back." : "It goes straight in.");
    }
    return end + (lr > edge ? `<span class="wrong">✗ It diverges</span>: lr is above 2/κ = ${shown(edge, 3)}, so each step jumps farther to the other side.`
      : lr > edge / 2 ? `Above 1/κ = ${shown(edge / 2, 3)} it zigzags across the valley; above 2/κ = ${shown(edge, 3)} it would diverge.`
      : `Below 1/κ = ${shown(edge / 2, 3)} it does not zigzag, but x goes slowly.`);
  },

  drag: (handle, [px, py]) => ({ x: rounded(px / SIZE * 2 * REACH - REACH), y: rounded(REACH - py / SIZE * 2 * REACH) }),
  nudge: (handle, [dx, dy], state) => ({ x: rounded(state.x + 0.1 * dx), y: rounded(state.y + 0.1 * dy) }),
};

const usesBeta = ({ rule }) => rule === "momentum" || rule === "adam";
const rounded = (value) => Math.max(-REACH, Math.min(REACH, Math.round(value * 20) / 20));
