// A flame graph of a profile that one writes: each box as wide as its time, on the box that it is part of.

import { active, box, escaped, picture, shown, text } from "./draw.js";

const ROW = 34, MOST = 24;
const STEP = `step 1
  forward 1
    conv2d 6
    relu 1
  backward 1
    ReluBackward0 2
    ConvolutionBackward0 11
  optimizer 3`;
const LOOP = `step 1
  forward 1
    item 14
    matmul 2
  backward 1
    MmBackward0 4`;

/** Whether one event of the training step takes half its time, the others theirs, and that is enough. */
function quicker(rows, names) {
  const before = parsed(STEP).rows, changed = before.filter(({ name, self }) => names[name]?.self !== self);
  return rows.length === before.length && changed.length === 1 && rows[0].total <= 21
    && (names[changed[0].name]?.self ?? 0) >= changed[0].self / 2;
}

export default {
  name: "flame",
  title: "A flame graph of a profile",
  defaults: { profile: STEP, zoom: 0 },
  views: ["wide", "narrow"],
  goals: [
    { words: "Make one event twice as fast, so that the training step takes 21 ms or less.", reached: ({ rows, names }) => quicker(rows, names) },
    { words: "In the program that waits for <code>.item()</code>, let the event that waits fill the width.", reached: ({ rows }, { zoom }) => rows[zoom].name === "item" },
  ],
  controls: ({ profile }) => [
    { name: "profile", kind: "lines", label: "Events: name, own time in ms; two spaces for each level", rows: 8 },
    { name: "zoom", kind: "steps", label: "The event that fills the width", max: Math.max(0, (parsed(profile).rows?.length ?? 1) - 1) },
    { name: "step", kind: "press", label: "a training step", set: { profile: STEP, zoom: 0 } },
    { name: "loop", kind: "press", label: "one that waits for .item()", set: { profile: LOOP, zoom: 0 } },
  ],
  settle: ({ profile, zoom }) => ({ zoom: Math.max(0, Math.min(zoom, (parsed(profile).rows?.length ?? 1) - 1)) }),

  /** Each event with depth, own time, total, start; and the same summed by name. */
  model({ profile }) {
    const { rows, error } = parsed(profile);
    if (error) return { error };
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i];
      row.total = row.self + rows.filter(({ parent }) => parent === i).reduce((sum, each) => sum + each.total, 0);
    }
    const ends = new Map(); // where the next event inside each one begins
    rows.forEach((row, i) => {
      row.start = ends.get(row.parent) ?? (row.parent < 0 ? 0 : rows[row.parent].start);
      ends.set(row.parent, row.start + row.total);
      ends.set(i, row.start);
    });
    const names = {};
    for (const { name, self, total } of rows) {
      const sum = (names[name] ??= { count: 0, self: 0, total: 0 });
      sum.count += 1;
      sum.self += self;
      sum.total += total;
    }
    return { rows, names };
  },

  draw({ rows, error }, { zoom }, { wide, look }) {
    if (error) return null;
    const width = wide ? 640 : 336, from = rows[zoom], scale = (width - 8) / (from.total || 1);
    const above = ancestors(rows, zoom), deepest = Math.max(...rows.map(({ depth }) => depth));
    const lit = look?.startsWith("row:") ? Number(look.slice(4)) : null;
    let inside = "";
    rows.forEach((row, i) => {
      const isAbove = above.includes(i);
      if (!isAbove && !ancestors(rows, i).includes(zoom) && i !== zoom) return;
      const x = isAbove ? 4 : 4 + (row.start - from.start) * scale, size = isAbove ? width - 8 : row.total * scale;
      const y = 4 + (deepest - row.depth) * ROW, kind = phase(rows, i);
      const fits = Math.floor((size - 10) / 7.4), name = row.name.length <= fits ? row.name : fits > 3 ? `${row.name.slice(0, fits - 1)}…` : "";
      inside += `<g${active({ set: { zoom: i }, look: `row:${i}`, label: `${name && name !== row.name ? `${name}, ` : ""}${row.name}: total ${shown(row.total)} ms, self ${shown(row.self)} ms` })}>` +
        box(x, y, Math.max(1, size - 1), ROW - 4, kind, 3) + (lit === i ? box(x, y, Math.max(1, size - 1), ROW - 4, "ink quiet-mark", 3) : "") +
        text(x + 6, y + (ROW - 4) / 2, name, "code", "start", 12) + "</g>";
    });
    return picture(width, 8 + (deepest + 1) * ROW, `Flame graph of ${rows.length} events`, inside);
  },

  say({ rows, names, error }, { zoom }, { look }) {
    if (error) return `Not yet a profile: ${escaped(error)}.`;
    const i = look?.startsWith("row:") && rows[look.slice(4)] ? Number(look.slice(4)) : zoom, row = rows[i];
    const whole = rows.filter(({ parent }) => parent < 0).reduce((sum, { total }) => sum + total, 0);
    const inner = rows.filter(({ parent }) => parent === i);
    const [hot, { self }] = Object.entries(names).reduce((most, each) => (each[1].self > most[1].self ? each : most));
    return `<b>${escaped(row.name)}</b> takes ${shown(row.total)} ms, ${shown(100 * row.total / whole, 2)} % of all: ` +
      `${shown(row.self)} ms of its own${inner.length ? `, and ${inner.map((each) => `${shown(each.total)} in ${escaped(each.name)}`).join(", ")}` : ", for nothing lies on it"}. ` +
      `Most time of its own has <b>${escaped(hot)}</b>, ${shown(self)} ms: look there first.`;
  },
};

/** The events of a text: {rows} or {error}. */
function parsed(profile) {
  const rows = [], open = [];
  for (const line of profile.split("\n")) {
    if (!line.trim()) continue;
    const [, spaces, name, number] = /^( *)(.*?\S)\s+(\S+)$/.exec(line) ?? [];
    if (!name || !(Number(number) >= 0) || !Number.isFinite(Number(number))) return { error: `“${line.trim()}” is to be a name and a time` };
    const depth = spaces.length / 2;
    if (!Number.isInteger(depth) || depth > open.length) return { error: `“${line.trim()}” lies on nothing: two spaces more than the line above at most` };
    open.length = depth;
    rows.push({ name, self: Number(number), depth, parent: depth ? open[depth - 1] : -1 });
    open.push(rows.length - 1);
    if (rows.length > MOST) return { error: `at most ${MOST} events can be drawn` };
  }
  return rows.length ? { rows } : { error: "write one event a line, such as relu 2" };
}

function ancestors(rows, row) {
  const found = [];
  for (let at = rows[row].parent; at >= 0; at = rows[at].parent) found.push(at);
  return found;
}

/** Forward is blue and backward orange, as everywhere; the rest has no colour. */
function phase(rows, row) {
  const around = [row, ...ancestors(rows, row)].map((each) => rows[each].name);
  return around.includes("forward") ? "on-forward" : around.includes("backward") ? "on-gradient" : "box";
}
