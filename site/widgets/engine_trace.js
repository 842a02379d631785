// Steps that a real engine takes, asked of the page's Python: minigrad's, or the reader's own.
// A page that has Python (runtime/lesson.js) answers the event "mg-steps"; in the build nobody does.

/** How long the program has to stay as it is before it is run, in milliseconds. */
const QUIET = 300;

const kept = new Map();
let latest = null;

/** The engines that this page can ask, with their names: none before `offer`. */
export let offered = [];

/** Find out which engines there are: the reader's own, once this stage's exercises are solved. */
export async function offer() {
  const data = JSON.parse(document.getElementById("mg-data")?.textContent ?? "null");
  if (data?.page !== "lesson") return;
  const { progress, watchProgress } = await import("../runtime/store.js");
  const find = () => {
    const { holes } = progress();
    const solved = data.holes.length > 0 && data.holes.every(({ id }) => holes[id]?.solved);
    offered = [["minigrad", "minigrad’s own"], ...(solved ? [["mine", "yours"]] : [])];
  };
  watchProgress(() => {
    find();
    for (const key of kept.keys()) if (key.startsWith('["mine"')) kept.delete(key);
  });
  find();
}

/**
 * The trace of a program by one of these engines: {nodes, edges, steps}, {error}, or {pending},
 * a promise that is kept when asking again gives more.
 */
export function asked(engine, program, leaves) {
  const key = JSON.stringify([engine, program, leaves]);
  if (!kept.has(key)) {
    latest = key;
    kept.set(key, { pending: fetched(key, engine, program, leaves) });
  }
  return kept.get(key);
}

async function fetched(key, engine, program, leaves) {
  await new Promise((resolve) => { setTimeout(resolve, QUIET); });
  if (latest !== key) {
    kept.delete(key); // the reader types on
    return;
  }
  const question = { program, leaves, mine: engine === "mine", answer: null };
  document.dispatchEvent(new CustomEvent("mg-steps", { detail: question }));
  try {
    kept.set(key, await question.answer ?? { error: "Python is not in this page" });
  } catch (problem) {
    kept.delete(key); // it is asked again with the next change
    kept.set(key, { error: `Python could not run it: ${problem.message || "it was stopped"}` });
  }
}
