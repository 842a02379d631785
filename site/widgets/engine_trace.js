// What a real engine makes of something, asked of the page's Python: minigrad's, or the reader's own.
// A page that has Python answers the event "mg-ask" (runtime/answers.js); in the build nobody does.

/** How long a question that follows another has to stay as it is before it is put, in milliseconds. */
const QUIET = 300;

/** What is awaited, or could not be done, in the figure. */
const line = () => Object.assign(document.createElement("div"), { className: "mg-engine" });

const kept = new Map();
let latest = null, last = -Infinity;

/** The engines that this page can ask, with their names: none before `offer`. */
export let offered = [];

/**
 * Find out which engines there are: the reader's own, once this stage's exercises are solved. A stage
 * without exercises, the capstone, runs on the stages that are solved whole.
 */
export async function offer() {
  const data = JSON.parse(document.getElementById("mg-data")?.textContent ?? "null");
  if (data?.page !== "lesson") return;
  const { progress, watchProgress } = await import("../runtime/store.js");
  const stages = data.holes.length ? [data]
    : (await (await fetch(new URL("../runtime/holes.json", import.meta.url))).json()).stages;
  const find = () => {
    const { holes } = progress();
    const whole = stages.filter((stage) => stage.holes.length && stage.holes.every(({ id }) => holes[id]?.solved)).length;
    const words = stages.length === 1 ? "yours" : `yours, ${whole} ${whole === 1 ? "stage" : "stages"}`;
    offered = [["minigrad", "minigrad’s own"], ...(whole ? [["mine", words]] : [])];
  };
  watchProgress(() => {
    find();
    for (const key of kept.keys()) if (key.startsWith('["mine"')) kept.delete(key);
  });
  find();
}

/**
 * What a function of runtime/python, such as "stepping.traced", gives for these arguments on one of
 * these engines: its answer, {error}, or {pending}, a promise that is kept when asking again gives more.
 * {line} is an element that says how Python is meanwhile; {again()} forgets an error, to ask again.
 */
export function asked(engine, call, ...given) {
  const key = JSON.stringify([engine, call, given]);
  if (!kept.has(key)) {
    latest = key;
    const shown = line();
    kept.set(key, { pending: fetched(key, shown, engine, call, given), line: shown });
  }
  return kept.get(key);
}

/** Forget what this function gave, so that it is asked again. */
export function forget(call) {
  for (const key of kept.keys()) if (JSON.parse(key)[1] === call) kept.delete(key);
}

async function fetched(key, shown, engine, call, given) {
  const follows = performance.now() - last < QUIET;
  last = performance.now();
  if (follows) await new Promise((resolve) => { setTimeout(resolve, QUIET); });
  if (latest !== key) {
    kept.delete(key); // the reader goes on
    return;
  }
  const question = { call, given, mine: engine === "mine", answer: null, line: shown, again: null };
  document.dispatchEvent(new CustomEvent("mg-ask", { detail: question }));
  try {
    kept.set(key, await question.answer ?? { error: "this page was loaded without Python; load it again" });
  } catch (problem) {
    kept.set(key, { error: `Python could not run it: ${problem.message || "it was stopped"}`,
                    again: () => kept.delete(key) });
  }
}
