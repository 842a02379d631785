// Shapes as SVG text. Their classes are those of the course's drawings, so light and dark, and the
// meaning of each colour, come from one palette (minigrad_course/pictures/drawing.py).

/** Text as it may stand in markup. */
export const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) =>
  ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

const place = (value) => String(Math.round(value * 10) / 10);

/** A number as people write it: at most four digits that count, and a real minus. */
export function shown(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "−inf";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

/** Attributes: `{data: 1, key: null}` gives ` data="1"`. */
export const attributes = (given) => Object.entries(given)
  .filter(([, value]) => value !== null && value !== undefined && value !== false)
  .map(([key, value]) => ` ${key}="${escaped(value === true ? "" : value)}"`).join("");

/**
 * What makes a shape something to press (`set`), to look at (`look`), or to move: a number sideways
 * (`scrub`, whose value is `now`, between `min` and `max`) or the shape itself (`drag`). The frame finds these attributes.
 */
export function active({ set, look, scrub, now, min, max, drag, label, key }) {
  const role = scrub || drag ? "slider" : set ? "button" : "img";
  return attributes({
    "data-set": set && JSON.stringify(set), "data-look": look, "data-scrub": scrub,
    "data-drag": drag, "data-key": key ?? look ?? drag ?? (set && JSON.stringify(set)),
    tabindex: "0", role, "aria-label": label, ...(role === "slider" ? { "aria-valuenow": now, "aria-valuemin": min, "aria-valuemax": max } : {}) });
}

export const box = (x, y, width, height, kind = "box", radius = 6, more = "") =>
  `<rect class="${kind}" x="${place(x)}" y="${place(y)}" width="${place(width)}" ` +
  `height="${place(height)}" rx="${radius}"${more}/>`;

export const dot = (x, y, radius = 4, kind = "head line", more = "") =>
  `<circle class="${kind}" cx="${place(x)}" cy="${place(y)}" r="${radius}"${more}/>`;

export const text = (x, y, words, kind = "", anchor = "middle", size = 14) =>
  `<text class="${kind}" x="${place(x)}" y="${place(y + 0.35 * size)}" font-size="${size}" ` +
  `text-anchor="${anchor}">${escaped(words)}</text>`;

export const path = (d, kind = "line", more = "") => `<path class="${kind}" d="${d}"${more}/>`;

export const line = (points, kind = "line", more = "") =>
  path(`M${points.map(([x, y]) => `${place(x)} ${place(y)}`).join("L")}`, kind, more);

/** An arrow's head at `tip` that comes from `before`. */
export function head([x0, y0], [x, y], kind = "line") {
  const length = Math.hypot(x - x0, y - y0) || 1, dx = (x - x0) / length, dy = (y - y0) / length;
  const corners = [[x, y], [x - 9 * dx - 4.5 * dy, y - 9 * dy + 4.5 * dx],
                   [x - 9 * dx + 4.5 * dy, y - 9 * dy - 4.5 * dx]];
  return `<polygon class="head ${kind}" points="${corners.map((each) => each.map(place).join(",")).join(" ")}"/>`;
}

/** A pill of text, on a fill, its middle at (x, y). */
export function pill(x, y, words, kind = "gradient", size = 13) {
  const width = 0.6 * size * words.length + 12;
  return box(x - width / 2, y - size / 2 - 4, width, size + 8, `${kind}-fill`, (size + 8) / 2) +
    text(x, y, words, `code ${kind}`, "middle", size);
}

/** A curve through points that leaves and enters each one level (or upright). */
export function curve(points, upright = false) {
  let d = `M${place(points[0][0])} ${place(points[0][1])}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x, y] = points[i];
    const bends = upright ? [x0, (y0 + y) / 2, x, (y0 + y) / 2] : [(x0 + x) / 2, y0, (x0 + x) / 2, y];
    d += `C${[...bends, x, y].map(place).join(" ")}`;
  }
  return d;
}

/** How small a picture's text may be on the screen, in pixels: on a narrow one the figure scrolls instead. */
const SMALLEST = 9.5;

/** The whole picture; `label` is what it is for those who do not see it. */
export function picture(width, height, label, inside) {
  const least = Math.min(...[...inside.matchAll(/font-size="(\d+)"/g)].map(([, size]) => Number(size)));
  const narrowest = Math.ceil(width * Math.min(1, SMALLEST / least));
  return `<svg xmlns="http://www.w3.org/2000/svg" class="mg-drawing" viewBox="0 0 ${place(width)} ${place(height)}" ` +
    `width="${place(width)}" height="${place(height)}" style="min-width: ${narrowest}px" role="group" aria-label="${escaped(label)}">${inside}</svg>`;
}
