// A digit that the reader draws, and what a small network makes of it: trained by minigrad, read here,
// by minigrad in this page, or by the reader's own engine.

import { active, box, dot, line, picture, shown, text } from "./draw.js";
import { asked, offer, offered } from "./engine_trace.js";
import { HIDDEN, OUTPUT } from "./digit_weights.js";

const SIZE = 32, CELL = 20, PEN = 2.4, WIDE = 22, LETTERS = "0123456789abcdefghijklmnopqrstuv", MOST = 400;
/** Examples: strokes are parted by ".", a point is two letters, each a number to the base 32. */
const EXAMPLES = { 3: "87d4j4n8ldff.fflhomksds8p", 4: "h47kpk.jcjt", 7: "75o5igdt", 8: "gfabb5g3l5mbgfak9pgtnpmkgf" };

/** "0a1b.2c" as strokes of [x, y]; whatever else is in the text counts for nothing. */
const strokesOf = (ink) => String(ink).split(".").map((stroke) => (stroke.match(/[0-9a-v]{2}/g) ?? []).map(([x, y]) => [LETTERS.indexOf(x), LETTERS.indexOf(y)])).filter((stroke) => stroke.length);
/** How large a pixel of the sheet is drawn. */
const sized = ({ wide }) => (wide ? 7 : 10);
const point = ([x, y]) => LETTERS[x] + LETTERS[y];
const within = (value) => Math.max(0, Math.min(SIZE - 1, Math.round(value)));

/** The squared distance of a point from a piece of a stroke. */
function away([px, py], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay], long = dx * dx + dy * dy;
  const t = long ? Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / long)) : 0;
  return (px - ax - t * dx) ** 2 + (py - ay - t * dy) ** 2;
}

/**
 * The drawing as an image of 8 x 8, as the digits were made: fitted into 32 x 32 (rather tall than
 * wide, as most are), then the dark pixels of each 4 x 4 are counted.
 */
function image(strokes) {
  const all = strokes.flat(), pixels = Array.from({ length: 64 }, () => 0);
  if (!all.length) return pixels;
  const ends = [0, 1].map((i) => [Math.min(...all.map((each) => each[i])), Math.max(...all.map((each) => each[i]))]);
  const [width, height] = ends.map(([low, high]) => high - low), tall = (SIZE - 2 * PEN) / Math.max(8, height);
  const scales = [Math.min(tall, (WIDE - 2 * PEN) / Math.max(width, 1e-6)), tall];
  const fitted = strokes.map((stroke) => stroke.map((each) => each.map((value, i) => SIZE / 2 + (value - (ends[i][0] + ends[i][1]) / 2) * scales[i])));
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const dark = fitted.some((stroke) => stroke.some((each, i) => away([x + 0.5, y + 0.5], stroke[Math.max(0, i - 1)], each) <= PEN * PEN));
      if (dark) pixels[8 * Math.floor(y / 4) + Math.floor(x / 4)] += 1;
    }
  }
  return pixels;
}

const layer = ({ weight, bias }, input) => weight.map((row, i) => row.reduce((sum, each, j) => sum + each * input[j], bias[i]));

/** The shares of the ten digits, and the slope of the loss for the one that is read, pixel by pixel. */
function read(pixels) {
  const input = pixels.map((each) => each / 16), before = layer(HIDDEN, input), scores = layer(OUTPUT, before.map((each) => Math.max(0, each)));
  const highest = Math.max(...scores), powers = scores.map((each) => Math.exp(each - highest)), sum = powers.reduce((all, each) => all + each);
  const shares = powers.map((each) => each / sum), found = scores.indexOf(highest);
  const back = shares.map((each, k) => each - (k === found ? 1 : 0));
  const hidden = before.map((each, j) => (each > 0 ? back.reduce((all, slope, k) => all + slope * OUTPUT.weight[k][j], 0) : 0));
  return { shares, slope: input.map((_, i) => hidden.reduce((all, slope, j) => all + slope * HIDDEN.weight[j][i], 0)) };
}

export default {
  name: "digit",
  title: "Draw a digit, and let an engine read it",
  defaults: { ink: EXAMPLES[3], x: 16, y: 16, pen: false, slopes: false, engine: "page" },
  views: ["wide", "narrow"],
  controls: ({ ink }) => [
    ...Object.keys(EXAMPLES).map((digit) => ({ name: digit, kind: "press", label: `a ${digit}`, set: { ink: EXAMPLES[digit], pen: false } })),
    { name: "undo", kind: "press", label: "without the last stroke", set: { ink: String(ink).split(".").slice(0, -1).join("."), pen: false } },
    { name: "clear", kind: "press", label: "Empty", set: { ink: "", pen: false } },
    { name: "pen", kind: "switch", label: "pen down, for the arrow keys" },
    { name: "slopes", kind: "switch", label: "∂ of the loss, for each pixel" },
    ...(offered.length ? [{ name: "engine", kind: "choice", label: "read by", options: [["page", "this picture"], ...offered] }] : []),
  ],
  begin: offer,
  settle: ({ x, y }) => ({ x: within(x), y: within(y) }),

  /** The image of 8 x 8, the ten `shares`, what is read (null for an empty sheet), and each pixel's `slope`. */
  model({ ink, engine }) {
    const strokes = strokesOf(ink), pixels = image(strokes), blank = !strokes.length;
    if (engine === "page" || blank) return { strokes, pixels, ...told(read(pixels), blank) };
    const answer = asked(engine, "digit.read", pixels, HIDDEN, OUTPUT);
    return answer.shares ? { strokes, pixels, ...told(answer, blank) } : answer;
  },

  draw(model, { x, y, pen, slopes }, { wide }) {
    if (model.error || model.pending) return null;
    const { strokes, pixels, shares, slope, digit } = model, pixel = sized({ wide }), top = 24, side = SIZE * pixel, at = wide ? [side + 34, top] : [10, top + side + 34];
    const bars = wide ? [at[0] + 8 * CELL + 34, top] : [at[0] + 8 * CELL + 22, at[1]], u = (value) => 10 + (value + 0.5) * pixel, v = (value) => top + (value + 0.5) * pixel;
    let inside = text(10, 10, "draw here", "muted", "start", 13) + text(at[0], at[1] - 14, "what the network sees", "muted", "start", 13) + text(bars[0], bars[1] - 14, "its answer", "muted", "start", 13);
    inside += `<g${active({ drag: "pen", now: x, label: `sheet to draw on; the pen is at column ${x}, row ${y}, ${pen ? "down" : "up"}` })}>` + box(10, top, side, side, "cell", 2) +
      strokes.map((stroke) => line([...stroke, stroke.at(-1)].map(([px, py]) => [u(px), v(py)]), "stroke", ` stroke-width="${2.3 * pixel}"`)).join("") +
      dot(u(x), v(y), pen ? 6 : 5, "handle quiet-mark") + "</g>";
    const most = Math.max(1e-12, ...slope.map(Math.abs));
    pixels.forEach((each, i) => {
      const px = at[0] + (i % 8) * CELL, py = at[1] + Math.floor(i / 8) * CELL, size = Math.abs(slope[i]) / most;
      inside += box(px, py, CELL, CELL, "cell", 0) + box(px, py, CELL, CELL, "heat", 0, ` fill-opacity="${(each / (slopes ? 40 : 16)).toFixed(2)}"`) +
        (slopes && digit !== null && size > 0.12 ? text(px + CELL / 2, py + CELL / 2, slope[i] > 0 ? "+" : "−", "code gradient strong", "middle", Math.round(10 + 10 * size)) : "");
    });
    shares.forEach((share, k) => {
      const py = bars[1] + k * 16, room = wide ? 110 : 84;
      inside += text(bars[0], py + 8, k, k === digit ? "code forward strong" : "code", "start", 13) + box(bars[0] + 16, py + 2, room, 12, "grid", 2) +
        (digit === null ? "" : box(bars[0] + 16, py + 2, Math.max(1, share * room), 12, k === digit ? "on-forward" : "plain bar", 2)) +
        (k === digit ? text(bars[0] + room + 22, py + 8, shown(share, 2), "code forward", "start", 12) : "");
    });
    return picture(wide ? bars[0] + 176 : 340, wide ? top + side + 6 : at[1] + 8 * CELL + 8, "A sheet to draw on, its image of 8 by 8, and ten shares", inside);
  },

  say(model, { x, y, pen, slopes, engine }) {
    if (model.error) return `${model.again ? "" : "The engine gave an error: "}${model.error.replaceAll("<", "&lt;")}.`;
    if (model.pending) return "Python is asked to read it; where it has not run yet, it has to be loaded first.";
    const { digit, shares } = model, place = `The pen is at column ${x}, row ${y}, ${pen ? "down" : "up"}.`;
    if (digit === null) return `The sheet is empty. Draw with the pointer, or with the arrow keys: Tab leads to the sheet. ${place}`;
    const second = shares.indexOf(Math.max(...shares.filter((_, k) => k !== digit)));
    const who = { page: "The network reads", minigrad: "minigrad reads", mine: "Your engine reads" }[engine] ?? "The network reads";
    return `${who} <b class="forward">${digit}</b>, with a share of <b>${shown(shares[digit], 3)}</b>; next comes ${second}, with ${shown(shares[second], 2)}. ` +
      (slopes ? `<b class="gradient">∂</b>: where + stands, ink makes it less sure; where − stands, surer. ` : "") + place;
  },

  /** A pointer that moves draws; each time it is put down begins a stroke. */
  drag(_, [px, py], { ink }, view) {
    const pixel = sized(view), at = [within((px - 10) / pixel - 0.5), within((py - 24) / pixel - 0.5)], [x, y] = at;
    return { x, y, pen: false, ...added(ink, at, view.begun) };
  },

  /** Arrow keys move the pen; when it is down they draw. */
  nudge(_, [dx, dy], { ink, x, y, pen }) {
    const at = [within(x + dx), within(y - dy)], last = strokesOf(ink).at(-1)?.at(-1) ?? [-1, -1];
    if (!pen) return { x: at[0], y: at[1] };
    const from = last[0] === x && last[1] === y ? ink : added(ink, [x, y], true).ink;
    return { x: at[0], y: at[1], ...added(from, at, false) };
  },
};

/** One point more, in a stroke of its own or in the last, unless it is the last point again. */
const added = (ink, at, begun) => (String(ink).length / 2 >= MOST || (!begun && ink.endsWith(point(at))) ? {}
  : { ink: `${ink}${begun && ink ? "." : ""}${point(at)}` });

function told({ shares, slope }, blank) {
  return { shares, slope, digit: blank ? null : shares.indexOf(Math.max(...shares)) };
}
