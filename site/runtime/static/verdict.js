// What is said of an exercise after its tests ran: the same words and order as in the terminal.

import { element } from "./page.js";

const SHOWN_LINES = 12;

function details(summary, text) {
  return element("details", { className: "mg-trace" }, element("summary", {}, summary),
                 element("pre", {}, text));
}

/** Return an element that shows a verdict of grading.py. */
export function verdictElement(verdict, leftOut) {
  const { hole, title, state, first, diagnosis, failing, tests } = verdict;
  const words = { solved: "Solved", untouched: "Untouched", waiting: "Waiting", wrong: "Wrong" };
  const says = {
    solved: ` — all ${tests} tests of ${hole} pass.`,
    untouched: ` — ${hole} is yours to write.`,
    waiting: ` — its tests come to ${verdict.waits_for}, which is not written yet.`,
    wrong: ` — ${failing} of ${tests} tests of ${hole} ${title} fail.`,
  };
  const shown = element("div", { className: "mg-verdict" },
    element("p", {}, element("span", { className: "mg-state" }, words[state]), says[state]));
  shown.dataset.state = state;
  if (state === "wrong") {
    if (diagnosis) shown.append(element("p", { className: "mg-diagnosis" }, diagnosis));
    const lines = first.message.split("\n");
    shown.append(
      element("p", {}, element("code", {}, first.test), " failed", first.where && ` at ${first.where}`),
      element("pre", { className: "mg-failure", tabIndex: 0 },
              lines.slice(0, SHOWN_LINES).join("\n")),
      details("The whole failure", first.detail));
  }
  if (leftOut.length) {
    shown.append(element("p", { className: "mg-note" },
      `Not run here, because a page has neither threads nor processes: ${leftOut.join(", ")}.`));
  }
  return shown;
}

/** Return an element that says why nothing could be tested. */
export function problemElement(problem) {
  const lines = problem.split("\n");
  const shown = element("div", { className: "mg-verdict" },
    element("p", {}, element("span", { className: "mg-state" }, "Nothing could be tested"),
            `: ${lines.at(-1)}`),
    lines.length > 1 ? element("pre", { tabIndex: 0 }, lines.slice(-8, -1).join("\n")) : null,
    lines.length > 8 ? details("The whole error", problem) : null);
  shown.dataset.state = "problem";
  return shown;
}
