// What is said of an exercise after its tests ran: the same words and order as in the terminal.

import { button, coded, element } from "./page.js";
import { known } from "./store.js";

const SHOWN_LINES = 12;

function details(summary, text) {
  return element("details", { className: "mg-trace" }, element("summary", {}, summary),
                 element("pre", {}, text));
}

/** Return elements that show printed text, of which grading.py sends no more than is shown. */
export function printedElements(printed) {
  if (!printed) return [];
  const { head, lines, more } = printed;
  return [
    element("p", { className: "mg-note" }, head),
    element("pre", { className: "mg-printed", tabIndex: 0 },
            lines.join("\n") + (more ? `\n... and ${more} more lines` : "")),
  ];
}

/** A button with the name of a line, [path, number], of the reader's; `lead` leads there. */
const placeButton = (line, lead) => button(`${line[0]}, line ${line[1]}`, () => lead(line),
  { className: "mg-button mg-place" });

/** Return an element that shows a verdict of grading.py. */
export function verdictElement(verdict, possible, leftOut, lead) {
  const { hole, title, first, diagnosis, failing, tests, line } = verdict;
  // without an outcome the grader says "wrong", but here all tests of 03c may be left out
  const state = !tests && leftOut.length && verdict.state === "wrong" ? "untested" : verdict.state;
  const words = { solved: "Solved", right: "Right", untouched: "Untouched", waiting: "Waiting",
                  wrong: "Wrong", untested: "Not tested" };
  const points = `${verdict.points} of ${possible} point${possible === 1 ? "" : "s"}`;
  const says = {
    solved: ` — all ${tests} tests of ${hole} pass: ${points}.`,
    right: `; it waits for ${verdict.waits_for}: ${points}.`,
    untouched: ` — ${hole} is yours to write.`,
    waiting: ` — its tests come to ${verdict.needed}, which is not written yet.`,
    wrong: ` — ${failing} of ${tests} tests of ${hole} ${title} fail.`,
    untested: ` — type minigrad run ${hole} in a terminal to test it.`,
  };
  const shown = element("div", { className: "mg-verdict" },
    element("p", {}, element("span", { className: "mg-state" }, words[state]), ...coded(says[state])));
  shown.dataset.state = state;
  if (state === "wrong" && first) {
    if (diagnosis) shown.append(element("p", { className: "mg-diagnosis" }, ...coded(diagnosis)));
    const message = first.message.split("\n").slice(0, SHOWN_LINES);
    const place = line ? placeButton(line, lead) : first.where;
    shown.append(
      element("p", {}, element("code", {}, first.test), " failed", place && " at ", place),
      element("pre", { className: "mg-failure", tabIndex: 0 },
              [first.asked, ...message].filter(Boolean).join("\n")),
      details("The whole failure", first.detail));
    if (verdict.also.length) {
      shown.append(element("p", { className: "mg-note" },
        `Also: ${verdict.also.slice(0, 3).join(", ")}`,
        verdict.also.length > 3 ? ` and ${verdict.also.length - 3} more` : null));
    }
  }
  shown.append(...printedElements(verdict.printed));
  if (leftOut.length) {
    shown.append(element("p", { className: "mg-note" },
      `Not run here, because a page has neither threads nor processes: ${leftOut.join(", ")}.`));
  }
  return shown;
}

/** Return an element that says why nothing could be tested, and at which line of the reader's. */
export function problemElement(problem, line, printed, lead) {
  const lines = problem.split("\n");
  const shown = element("div", { className: "mg-verdict" },
    element("p", {}, element("span", { className: "mg-state" }, "Nothing could be tested"),
            `: ${lines.at(-1)}`, ...(line ? [" at ", placeButton(line, lead)] : [])),
    lines.length > 1 ? element("pre", { tabIndex: 0 }, lines.slice(-8, -1).join("\n")) : null,
    lines.length > 8 ? details("The whole error", problem) : null,
    ...printedElements(printed));
  shown.dataset.state = "problem";
  return shown;
}

/** Return elements that say which names are no longer in files: [path, names] for each. */
export function goneElements(found) {
  return found.filter(([, names]) => names.length).map(([path, names]) => {
    const named = names.slice(0, 3).flatMap((name, place) =>
      [place ? ", " : "", element("code", {}, name)]);
    const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
    return element("p", { className: "mg-note mg-gone" }, ...named,
      `${more} ${names.length === 1 ? "is" : "are"} no longer in ${path}: ` +
      "“Start over” brings the rest of the file back.");
  });
}

/** Return an element that leads on from a right answer: how far one is, and what comes next. */
export function solvedElement(exercise) {
  const { stage } = exercise;
  const solved = stage.exercises.map(({ hole }) => Boolean(known(hole.id).solved));
  const count = solved.filter(Boolean).length;
  const next = stage.after(exercise);
  const { number, title, next: later, page } = stage.data;
  const dots = element("span", { className: "mg-dots", "aria-hidden": "true" },
    ...solved.map((yes) => element("span", { className: yes ? "mg-dot mg-full" : "mg-dot" })));
  const way = next
    ? [`${count} of ${solved.length} exercises of stage ${number} are yours. `,
       page === "lesson" ? "Read on, or go to " : "Next: ",
       element("a", { href: `#${next.section.id}` }, `${next.hole.id} ${next.hole.title}`), "."]
    : [`All ${count} exercises of stage ${number}, ${title}, are yours. `,
       ...(later ? ["Next: ", element("a", { href: later.href }, later.title), "."] : [])];
  return element("p", { className: "mg-way" }, dots, element("span", {}, ...way));
}
