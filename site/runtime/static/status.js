// How Python is, in words and with a bar while it loads: above the page's blocks, and under a button
// that was pressed until what it asks for begins.

import { button, element } from "./page.js";
import { PYTHON_BYTES } from "./sizes.js";

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

const WORDS = {
  off: `Python (${megabytes(PYTHON_BYTES)} MB, kept by your browser) starts when you first run something.`,
  ready: "Python is ready.",
  busy: "Python is at work …",
};
/** The same where something waits for it. */
const AWAITED = { off: "Python is being loaded.", ready: "", busy: "Python runs what was asked before.",
                  fetches: "What it needs is being fetched." };

/** Bytes take most of the wait; each step after them takes its part of the rest. */
const BYTES = 0.85;
/** Loading counts as stalled after so many seconds without a byte. */
const STILL = 6;

/** Whether all bytes are there, so that only the seconds change. */
const startsNow = ({ steps, loaded, total, starts }) => Boolean(steps) && (starts || loaded >= total);

const hasStalled = (progress, now) =>
  Boolean(progress) && !startsNow(progress) && now - progress.came > 1000 * STILL;

/** Return how much is loaded, and how long the rest may take. */
function loading(progress, now) {
  const { step, steps, loaded, total, began, came } = progress, seconds = (now - began) / 1000;
  const still = Math.floor((now - came) / 1000);
  if (startsNow(progress)) return `${step} starts …${still ? ` ${still} s` : ""}`;
  if (!steps) return step;
  const left = loaded ? Math.round(seconds * (total - loaded) / loaded) : 0;
  return `${step}: ${megabytes(loaded)} of ${megabytes(total)} MB` +
    (hasStalled(progress, now) ? `; no data for ${still} s`
      : seconds > 1 && left > 0 ? `, about ${left} s left` : "");
}

/** A line that follows Python while it is in the page. */
class Line {
  #clock;

  constructor(python, words, again, properties) {
    Object.assign(this, { python, words });
    this.said = element("span", { className: "mg-words" }, words.off);
    // the figures change all the time: they are not read out
    this.figures = element("span", { className: "mg-words", "aria-live": "off" });
    this.bar = element("progress", { hidden: true, max: 1, "aria-label": "Loading" });
    this.again = button("Try again", again, { hidden: true });
    this.element = element("div", { className: "mg-status", ...properties },
      this.said, this.figures, this.bar, this.again);
    this.python.addEventListener("state", () => this.update());
  }

  update() {
    const { state, progress, problem } = this.python, loads = state === "loading" || Boolean(progress);
    this.element.dataset.state = state;
    this.bar.hidden = !loads;
    clearInterval(this.#clock);
    this.#clock = loads && !this.element.hidden ? setInterval(() => this.#count(), 500) : undefined;
    const said = state === "loading" ? "Python is being loaded."
      : progress ? "What runs the tests is being loaded."
        : state === "failed" ? `Python could not be loaded: ${problem}`
          : state === "busy" && !this.python.runs ? this.words.fetches ?? this.words.busy
            : this.words[state];
    if (this.said.textContent !== said) this.said.textContent = said;
    if (progress) {
      const { loaded, total, done, steps } = progress;
      this.bar.value = BYTES * (total ? loaded / total : 1) + (1 - BYTES) * (steps ? done / steps : 0);
    } else this.bar.removeAttribute("value");
    this.#count();
  }

  #count() {
    const { state, progress } = this.python, now = performance.now();
    this.figures.textContent = progress ? loading(progress, now) : "";
    this.again.hidden = state !== "failed" && !hasStalled(progress, now);
  }
}

/** Return the line above a page's blocks; screen readers read its changes aloud. */
export function statusLine(python) {
  const again = async () => {
    if (python.state === "loading") await python.stop();
    python.start().catch(() => {}); // the line tells why
  };
  return new Line(python, WORDS, again, { role: "status" }).element;
}

/** A line under a button that was pressed, in sight until what it asked for begins. */
export class Wait {
  #line; #again;

  constructor(python) {
    const again = async () => {
      const press = this.#again;
      if (python.state === "loading") await python.stop();
      press?.();
    };
    // the line above the blocks is read out
    this.#line = new Line(python, AWAITED, again, { "aria-live": "off", hidden: true });
    this.element = this.#line.element;
  }

  /** Show it; "Try again" calls `again` after loading has stalled and was ended. */
  begin(again) {
    this.#again = again;
    this.element.hidden = false;
    this.#line.update();
  }

  end() {
    this.element.hidden = true;
    this.#line.update();
  }
}

/** Return the text of a failure, with a button that tries again. */
export const failure = (text, again) =>
  element("span", { className: "mg-failed" }, text, " ", button("Try again", () => { again(); }));
