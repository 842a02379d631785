// The line that says how Python is, with a bar while it loads.

import { element } from "./page.js";

const WORDS = {
  off: "Python starts when you first run something.",
  ready: "Python is ready.",
  busy: "Python is at work …",
};

/** Return an element that follows `python`; a screen reader tells of its changes. */
export function statusLine(python) {
  const words = element("span", { className: "mg-words" }, WORDS.off);
  const bar = element("progress", { hidden: true, "aria-label": "Python is being loaded" });
  const line = element("div", { className: "mg-status", role: "status" }, words, bar);
  python.addEventListener("state", () => {
    const { state, progress, problem } = python;
    line.dataset.state = state;
    bar.hidden = state !== "loading";
    if (state === "loading" && progress) {
      bar.max = progress.total;
      bar.value = progress.done;
      words.textContent = `Python is being loaded: ${progress.step || "nearly there"} …`;
    } else if (state === "loading") {
      bar.removeAttribute("value");
      words.textContent = "Python is being loaded …";
    } else if (state === "failed") {
      words.textContent = `Python could not be loaded: ${problem}`;
    } else {
      words.textContent = WORDS[state];
    }
  });
  return line;
}
