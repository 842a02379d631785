// The line that says how Python is, with a bar while it loads.

import { element } from "./page.js";

const WORDS = {
  off: "Python starts when you first run something.",
  ready: "Python is ready.",
  busy: "Python is at work …",
};

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** Bytes take most of the wait; each step after them takes its part of the rest. */
const BYTES = 0.85;

/** What is said while something is loaded: how much of it, and how long it may take. */
function loading({ step, steps, loaded, total, starts }, seconds) {
  if (loaded < total && !starts) {
    const left = loaded ? Math.round(seconds * (total - loaded) / loaded) : 0;
    return `${step}: ${megabytes(loaded)} of ${megabytes(total)} MB` +
      (seconds > 1 && left > 0 ? `, about ${left} s left` : "");
  }
  return steps ? `${step} starts …` : step;
}

/** Whether no bytes are awaited: nothing but time tells that it goes on. */
const startsNow = ({ steps, loaded, total, starts }) => Boolean(steps) && (starts || loaded >= total);

/** Return an element that follows `python`; a screen reader tells of its changes. */
export function statusLine(python) {
  const words = element("span", { className: "mg-words" }, WORDS.off);
  const bar = element("progress", { hidden: true, max: 1, "aria-label": "Loading" });
  // the figures change all the time: they are not read out
  const figures = element("span", { className: "mg-words", "aria-live": "off" });
  const line = element("div", { className: "mg-status", role: "status" }, words, figures, bar);
  let began = 0, since = 0, step = "", clock;
  const tell = () => {
    const now = performance.now(), { progress } = python;
    if (!progress) return;
    const seconds = startsNow(progress) ? Math.floor((now - since) / 1000) : 0;
    figures.textContent = loading(progress, (now - began) / 1000) + (seconds ? ` ${seconds} s` : "");
  };
  python.addEventListener("state", () => {
    const { state, progress, problem } = python;
    line.dataset.state = state;
    bar.hidden = state !== "loading" && !progress;
    if (!progress || !startsNow(progress) || progress.step !== step) since = performance.now();
    step = progress?.step;
    clearInterval(clock);
    clock = progress ? setInterval(tell, 500) : undefined;
    figures.textContent = "";
    if (progress) {
      began ||= performance.now();
      const { loaded, total, done, steps } = progress;
      bar.value = BYTES * (total ? loaded / total : 1) + (1 - BYTES) * (steps ? done / steps : 0);
      const said = state === "loading" ? "Python is being loaded." : "What runs the tests is being loaded.";
      if (words.textContent !== said) words.textContent = said;
      tell();
      return;
    }
    began = 0;
    if (state === "loading") {
      bar.removeAttribute("value");
      words.textContent = "Python is being loaded.";
    } else if (state === "failed") {
      words.textContent = `Python could not be loaded: ${problem}`;
    } else {
      words.textContent = WORDS[state];
    }
  });
  return line;
}
