// A curve, a point and a second one at a distance h: the slope of the line through them, and how
// far it is from the derivative for every h. Rounding is real: float32 by Math.fround.

import { active, box, dot, line, picture, shown, text } from "./draw.js";

const FUNCTIONS = {
  square: { words: "x²", f: (x, r) => r(x * x), slope: (x) => 2 * x, ends: [-2.5, 2.5] },
  cube: { words: "x³", f: (x, r) => r(r(x * x) * x), slope: (x) => 3 * x * x, ends: [-2, 2] },
  exp: { words: "exp x", f: (x, r) => r(Math.exp(x)), slope: (x) => Math.exp(x), ends: [-2, 2] },
  wave: { words: "exp(sin x)", f: (x, r) => r(Math.exp(r(Math.sin(x)))), ends: [-4, 4],
          slope: (x) => Math.cos(x) * Math.exp(Math.sin(x)) },
};
const ROUNDING = { float64: (x) => x, float32: Math.fround };
const STEPS = Array.from({ length: 57 }, (_, i) => -14 + i * 0.25); // exponents of h
const LEAST = 1e-16;

/** The measured slope, each step rounded as the type rounds it. */
function measured({ f }, rule, r, x0, h0) {
  const x = r(x0), h = r(h0), above = f(r(x + h), r);
  return rule === "central" ? r(r(above - f(r(x - h), r)) / r(2 * h)) : r(r(above - f(x, r)) / h);
}

const WIDTH = 340, HEIGHT = 240;

export default {
  name: "nudge",
  title: "Nudge a number and measure the slope",
  defaults: { f: "wave", x: 1, h: -0.25, rule: "forward", dtype: "float64" },
  views: ["wide", "narrow"],

  controls: () => [
    { name: "h", kind: "number", label: "h = 10 to the power", min: -14, max: 0, step: 0.25 },
    { name: "x", kind: "number", label: "x", min: -2, max: 2, step: 0.1 },
    { name: "f", kind: "choice", label: "f(x)", options: Object.entries(FUNCTIONS).map(([key, { words }]) => [key, words]) },
    { name: "rule", kind: "choice", label: "to", options: [["forward", "one side"], ["central", "both sides"]] },
    { name: "dtype", kind: "choice", label: "in", options: [["float64", "float64"], ["float32", "float32"]] },
  ],

  model({ f, x, h, rule, dtype }) {
    const which = FUNCTIONS[f] ?? FUNCTIONS.wave, r = ROUNDING[dtype] ?? ROUNDING.float64;
    const exact = which.slope(x);
    const at = (power) => {
      const found = measured(which, rule, r, x, 10 ** power);
      return { power, h: 10 ** power, slope: found, error: Math.abs(found - exact) };
    };
    const valley = STEPS.map(at);
    const least = valley.reduce((best, each) => (each.error < best.error && each.slope !== 0 ? each : best));
    return { exact, now: at(h), valley, least, x, far: rule === "central" ? x - 10 ** h : x };
  },

  draw(model, state, { wide }) {
    const curve = panel(model, state), errors = valley(model, state);
    const shift = wide ? `translate(${WIDTH + 30} 0)` : `translate(0 ${HEIGHT + 34})`;
    return picture(wide ? 2 * WIDTH + 30 : WIDTH, wide ? HEIGHT + 24 : 2 * HEIGHT + 58,
                   "The curve with a line through two points, and the error for each h",
                   `<g>${curve}</g><g transform="${shift}">${errors}</g>`);
  },

  say({ exact, now, least }, { rule, h }) {
    const words = now.slope === 0 && exact !== 0 ? "x + h is rounded to x itself, so no change is seen"
      : h > least.power + 0.4 ? "the curve bends between the two points"
      : h < least.power - 0.4 ? "the two values are so alike that their difference keeps few digits"
      : "about the best that can be measured";
    return `With h = ${shown(now.h)} the measured slope is <b class="forward">${shown(now.slope, 8)}</b>; the derivative is ` +
      `<b class="gradient">${shown(exact, 8)}</b>, so the error is <b>${shown(now.error, 2)}</b>: ${words}. The least error ` +
      `${rule === "central" ? "to both sides" : "to one side"}, ${shown(least.error, 2)}, is near h = ${shown(least.h, 1)}.`;
  },

  /** A place of the picture as a state: the point on the curve, or h in the valley. */
  drag(handle, [px], state, { wide }) {
    if (handle === "h") {
      const left = wide ? WIDTH + 30 : 0;
      return { h: Math.min(0, Math.max(-14, Math.round((-14 + (px - left - 44) / (WIDTH - 60) * 14) * 4) / 4)) };
    }
    const [low, high] = (FUNCTIONS[state.f] ?? FUNCTIONS.wave).ends;
    return { x: Math.round((low + (px - 20) / (WIDTH - 40) * (high - low)) * 20) / 20 };
  },

  nudge: (handle, [dx, dy], state) => (handle === "h" ? { h: state.h + 0.25 * (dx + dy) } : { x: state.x + 0.1 * (dx + dy) }),
};

/** The curve, the point, the second point, and the line through both. */
function panel({ now, exact, far }, state) {
  const { f, ends: [low, high], words } = FUNCTIONS[state.f] ?? FUNCTIONS.wave, same = (x) => x;
  const xs = Array.from({ length: 121 }, (_, i) => low + (high - low) * i / 120);
  const ys = xs.map((x) => f(x, same)), bottom = Math.min(...ys), top = Math.max(...ys);
  const u = (x) => 20 + (x - low) / (high - low) * (WIDTH - 40);
  const v = (y) => HEIGHT - 20 - (y - bottom) / (top - bottom) * (HEIGHT - 50);
  const y = f(state.x, same), slant = (at, slope) => line([[u(at - 1.1), v(y - 1.1 * slope)], [u(at + 1.1), v(y + 1.1 * slope)]],
    slope === exact ? "gradient-line" : "forward-line");
  const second = state.x + now.h;
  return box(0, 0, WIDTH, HEIGHT, "grid") + line(xs.map((x, i) => [u(x), v(ys[i])]), "ink") +
    slant(state.x, exact) + slant(state.x, now.slope) +
    (far !== state.x ? dot(u(far), v(f(far, same)), 5, "head forward-line") : "") +
    dot(u(second), v(f(second, same)), 5, "head forward-line") +
    `<g${active({ drag: "x", now: state.x, label: `point at x = ${shown(state.x)}` })}>` +
    dot(u(state.x), v(y), 14, "touch") + dot(u(state.x), v(y), 7, "handle") + "</g>" +
    text(10, 16, `f(x) = ${words}`, "code", "start", 13) +
    text(10, HEIGHT + 14, "blue: measured", "forward", "start", 13) + text(130, HEIGHT + 14, "∂ dashed: the derivative", "gradient", "start", 13);
}

/** The error against h, both by their powers of ten. */
function valley({ valley: points, now, least }) {
  const u = (power) => 44 + (power + 14) / 14 * (WIDTH - 60);
  const log = (error) => Math.log10(Math.max(error, LEAST));
  const v = (error) => 14 + (1 - Math.min(log(error), 1)) / 17 * (HEIGHT - 44);
  let marks = "";
  for (let power = -12; power <= 0; power += 4) {
    marks += line([[u(power), 10], [u(power), HEIGHT - 26]], "grid") + text(u(power), HEIGHT - 14, shown(10 ** power), "muted code", "middle", 12);
  }
  for (let power = -15; power <= 0; power += 5) {
    marks += line([[44, v(10 ** power)], [WIDTH - 16, v(10 ** power)]], "grid") + text(38, v(10 ** power), shown(10 ** power), "muted code", "end", 12);
  }
  return box(0, 0, WIDTH, HEIGHT, "grid") + marks +
    line(points.filter(({ power }) => power <= 0).map(({ power, error }) => [u(power), v(error)]), "ink") +
    dot(u(least.power), v(least.error), 6, "ring") +
    `<g${active({ drag: "h", now: now.power, label: `h = ${shown(now.h)}, error ${shown(now.error, 2)}` })}>` +
    line([[u(now.power), 10], [u(now.power), HEIGHT - 26]], "forward-line") + dot(u(now.power), v(now.error), 14, "touch") +
    dot(u(now.power), v(now.error), 7, "handle") + "</g>" + text(10, HEIGHT + 14, "error of the slope, for each h", "muted", "start", 13);
}
