// Answers what the page's figures ask of an engine (widgets/engine_trace.js).

import { follow } from "./page.js";
import { Python, Stopped } from "./python.js";
import { Wait } from "./status.js";
import { everything, progress } from "./store.js";

/** How long what a figure asks for may run, in seconds, as an exercise's tests. */
const LIMIT = 10;

/** Answer the figures of this page; `stage` is the one that is read. */
export function answerFigures(python, stage = "") {
  document.addEventListener("mg-ask", ({ detail }) => { detail.answer = answer(python, stage, detail); });
}

/** The same on a page that has no Python for anything else. */
export function answerByItself() {
  const python = new Python(new URL("..", import.meta.url));
  follow(python);
  answerFigures(python);
}

/** Return what a function of runtime/python gives; the question's line shows how Python is meanwhile. */
async function answer(python, stage, question) {
  const { call, given, mine } = question, wait = new Wait(python), stop = new AbortController();
  const own = mine ? { stage, holes: progress().holes, files: everything() } : null;
  let clock;
  const begun = () => {
    wait.end();
    clock = setTimeout(() => stop.abort(), 1000 * LIMIT);
  };
  question.line.replaceChildren(wait.element);
  wait.begin(question.again);
  try {
    const answered = await python.ask({ do: "answer", call, given, own }, { begun, stop: stop.signal });
    if (!stop.signal.aborted) return answered;
    throw new Stopped();
  } catch (problem) {
    throw stop.signal.aborted ? new Error(`it was stopped after ${LIMIT} seconds`) : problem;
  } finally {
    clearTimeout(clock);
    wait.end();
  }
}
