// Memory over a training step: a chain of steps in segments, of which only the inputs are kept.

import { active, box, dot, line, picture, text } from "./draw.js";

const MOST = 64;

/** Where each segment begins, as `in_segments` of examples/checkpoint.py cuts: all of one length but the last. */
function starts(n, k) {
  const length = k ? Math.ceil(n / k) : n;
  return Array.from({ length: Math.ceil(n / length) }, (_, i) => i * length);
}

/** How many results are held at most; without checkpoints (k = 0) all of them. */
const peakOf = (n, k) => (k === 0 ? n : Math.max(...starts(n, k).map((start, i, all) => i + 1 + (all[i + 1] ?? n) - start)));

/** Each call of a step, forward or again, and each step of the backward pass, with what is held then. */
function moments(n, k) {
  const found = [], first = (step) => ({ step, call: step }), last = n - 1;
  const begins = starts(n, k), of = (step) => begins.findLastIndex((start) => start <= step);
  const inputs = (segment) => begins.slice(1, segment + 1).map((start) => first(start - 1));
  const note = (phase, step, held) => found.push({ phase, step, segment: of(step), held });
  for (let step = 0; step < n; step++) {
    const begin = k ? begins[of(step)] : 0, kept = k ? inputs(of(step)) : Array.from({ length: step }, (_, i) => first(i));
    note("forward", step, [...kept, ...(k && step > begin ? [first(step - 1)] : []), first(step)]);
  }
  if (!k) {
    for (let step = last; step >= 0; step--) {
      note("backward", step, [...Array.from({ length: step + 1 }, (_, i) => first(i)), ...(step < last ? [first(last)] : [])]);
    }
    return found;
  }
  let call = n;
  for (let segment = begins.length - 1; segment >= 0; segment--) {
    const start = begins[segment], end = begins[segment + 1] ?? n, kept = [...inputs(segment), first(last)], again = [];
    for (let step = start; step < end; step++) {
      again.push({ step, call: call++ });
      note("again", step, [...kept, ...again]);
    }
    for (let step = end - 1; step >= start; step--) note("backward", step, [...kept, ...again.slice(0, step - start)]);
  }
  return found;
}

/** The first moment at which most is held. */
const fullest = (all) => all.reduce((best, { held }, i) => (held.length > all[best].held.length ? i : best), 0);

export default {
  name: "checkpoints",
  title: "Memory for time: what is held at each moment",
  defaults: { n: 64, k: 8, at: 71 },
  views: ["wide", "narrow"],
  controls: ({ n, k }) => [
    { name: "k", kind: "number", label: "segments (0: no checkpoints)", min: 0, max: n, step: 1 },
    { name: "n", kind: "number", label: "steps", min: 4, max: MOST, step: 1 },
    { name: "at", kind: "steps", label: "moment", max: (k ? 3 : 2) * n - 1 },
    { name: "peak", kind: "press", label: "when most is held", set: { at: fullest(moments(n, k)) } },
  ],
  settle({ n, k, at }) {
    const steps = Math.round(n), segments = Math.min(Math.round(k), steps);
    return { n: steps, k: segments, at: Math.min(Math.max(Math.round(at), 0), (segments ? 3 : 2) * steps - 1) };
  },

  /** `moments`, which is the one that is looked at, and the peak for each number of segments, 0 to n. */
  model({ n, k, at }) {
    const all = moments(n, k), begins = starts(n, k);
    return { moments: all, now: all[at], begins, length: begins[1] ?? n, calls: k ? 2 * n : n,
             peaks: Array.from({ length: n + 1 }, (_, each) => peakOf(n, each)) };
  },

  draw(model, state, { wide, look }) {
    const width = wide ? 620 : 344, strip = drawStrip(model, state, width, wide ? 32 : 16, look);
    const over = overTime(model, state, wide ? 390 : width), curve = overSegments(model, state, wide ? 210 : width);
    const low = strip.height + 14;
    return picture(width, low + (wide ? 168 : 336), `What is held of ${state.n} results, over time, and the most for each number of segments`,
      strip.inside + `<g transform="translate(0 ${low})">${over}</g>` +
      `<g transform="translate(${wide ? 410 : 0} ${low + (wide ? 0 : 168)})">${curve}</g>`);
  },

  say(model, { n, k }, { look }) {
    const { now, begins, length, calls, peaks } = model, [kind, number] = (look ?? "").split(":"), start = begins[number];
    if (kind === "segment" && start !== undefined && k) {
      const end = begins[Number(number) + 1] ?? n;
      return `Segment ${Number(number) + 1}, ${end - start === 1 ? `step ${end}` : `steps ${start + 1} to ${end}`}: ` +
        `${start ? `its input, the result of step ${start}, is kept` : "its input is <code>x</code> itself"}, nothing inside. ` +
        "When the backward pass comes here, the segment is run again.";
    }
    const where = now.phase === "forward" ? `Forward, step ${now.step + 1}`
      : now.phase === "again" ? `Backward: segment ${now.segment + 1} is run again, step ${now.step + 1}`
      : `Backward: the gradient has passed step ${now.step + 1}`;
    const cut = !k ? "No checkpoints" : `${begins.length === 1 ? "1 segment" : `${begins.length} segments`} of ${n % length ? `at most ${length}` : length}`;
    return `${where}; <b class="forward">${now.held.length}</b> held. ${cut}: ` +
      `<b>${peaks[k]}</b> results at most${k ? ` instead of ${n}` : ""}, ${calls} calls${k ? ` instead of ${n}` : ""}. ` +
      (k && peaks[k] === Math.min(...peaks) ? `<span class="right">✓ No number of segments needs less.</span>`
        : `The least is ${Math.min(...peaks)}, with ${peaks.indexOf(Math.min(...peaks))}; √${n} is ${Number(Math.sqrt(n).toFixed(1))}.`);
  },

  /** The moment under the pointer in the picture of time. */
  drag: (handle, [px], { n, k }, { wide }) => ({ at: Math.round((px - 34) / ((wide ? 390 : 344) - 44) * ((k ? 3 : 2) * n - 1)) }),
  nudge: (handle, [dx, dy], { at }) => ({ at: at + dx + dy }),
};

/** A cell for each step: dashed where the first run's result is kept, filled where a result is held to be read. */
function drawStrip({ now, begins }, { n, k }, width, most, look) {
  const across = Math.min(n, most), cell = Math.min(30, Math.floor((width - 4) / across)), rows = Math.ceil(n / across);
  const kept = new Set(), held = new Set(), entry = begins.slice(1).map((start) => start - 1);
  for (const { step, call } of now.held) {
    if (call >= n) held.add(step);
    else (k && (now.phase !== "forward" || entry.includes(step)) ? kept : held).add(step);
  }
  let inside = text(2, 9, "the result of each step", "", "start", 13) + text(width - 2, 9, `${now.held.length} held now`, "code forward", "end", 13);
  begins.forEach((start, segment) => {
    const end = begins[segment + 1] ?? n;
    let cells = "";
    for (let step = start; step < end; step++) {
      const x = 2 + (step % across) * cell, y = 24 + Math.floor(step / across) * (cell + 12);
      cells += box(x + 1, y, cell - 2, cell - 2, held.has(step) ? "on-forward" : kept.has(step) ? "saved" : "plain", 2) +
        (kept.has(step) ? dot(x + cell / 2, y + cell / 2 - 1, 3, "head forward-line") : "") +
        (step === now.step ? box(x + 1, y, cell - 2, cell - 2, now.phase === "backward" ? "on-gradient-box" : "on-forward-box", 2) : "") +
        line([[x + (step === start ? 2 : 0), y + cell + 2], [x + cell - (step === end - 1 ? 2 : 0), y + cell + 2]],
             look === `segment:${segment}` ? "forward-line" : "line");
    }
    inside += k ? `<g${active({ look: `segment:${segment}`, label: `segment ${segment + 1}: ${start + 1} to ${end}` })}>${cells}</g>` : `<g>${cells}</g>`;
  });
  return { inside, height: 24 + rows * (cell + 12) };
}

/** How many results are held, moment by moment, with a handle at the one that is shown above. */
function overTime({ moments: all, now, peaks }, { n, k, at }, width) {
  const high = 118, u = (i) => 34 + i / (all.length - 1) * (width - 44), v = (held) => 20 + high * (1 - held / Math.max(n, peaks[k]));
  const again = all.findIndex(({ phase }) => phase !== "forward");
  return text(34, 6, "results held, over time", "muted", "start", 13) + box(34, 20, width - 44, high, "grid", 0) +
    line([[u(again - 0.5), 20], [u(again - 0.5), 20 + high]], "muted-line") +
    text((u(0) + u(again)) / 2, 20 + high + 12, "forward", "muted", "middle", 12) + text((u(again) + u(all.length - 1)) / 2, 20 + high + 12, "backward", "gradient", "middle", 12) +
    line([[34, v(peaks[k])], [width - 10, v(peaks[k])]], "hair") + text(30, v(peaks[k]), peaks[k], "code", "end", 12) + text(30, 20 + high, 0, "code muted", "end", 12) +
    line(all.map(({ held }, i) => [u(i), v(held.length)]), "forward-line") +
    `<g${active({ drag: "at", now: at, label: `moment ${at + 1} of ${all.length}: ${now.held.length} held` })}>` +
    box(u(at) - 12, 20, 24, high, "touch", 0) + line([[u(at), 20], [u(at), 20 + high]], "ink") + dot(u(at), v(now.held.length), 6, "handle") + "</g>";
}

/** The most that is held, for each number of segments; those that divide the steps can be pressed. */
function overSegments({ peaks }, { n, k }, width) {
  const high = 118, left = 30, step = (width - left - 6) / (n + 1), most = Math.max(...peaks), v = (held) => 20 + high * (1 - held / most);
  const least = Math.min(...peaks);
  return text(left, 6, "at most, by segments", "muted", "start", 13) + box(left, 20, width - left - 6, high, "grid", 0) +
    peaks.map((peak, each) => {
      const bar = box(left + each * step + 0.25, v(peak), Math.max(1, step - 0.5), 20 + high - v(peak), each === k ? "heat" : "bar", 0);
      if (each && n % each) return each === k ? bar : `<g class="off">${bar}</g>`;
      return `<g${active({ set: { k: each, at: fullest(moments(n, each)) }, label: `${each ? (each === 1 ? "1 segment" : `${each} segments`) : "no checkpoints"}: ${peak} at most` })}>` +
        `${bar}${box(left + each * step - 3, 20, step + 6, high, "touch", 0)}</g>`;
    }).join("") +
    line([[left, v(least)], [width - 6, v(least)]], "right-line") + text(left - 4, v(least), least, "code right", "end", 12) +
    text(left - 4, 20, most, "code muted", "end", 12) +
    text(left + (k + 0.5) * step, 20 + high + 12, k || "none", "code forward", k > 0.8 * n ? "end" : "middle", 12);
}
