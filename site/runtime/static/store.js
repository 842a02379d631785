// What the reader wrote and solved, kept in this browser, in the form of the terminal's course.

const PREFIX = "minigrad/";
const FORM = 1; // of progress.json, as in minigrad_course/workspace.py

const read = (key) => localStorage.getItem(PREFIX + key);
const write = (key, text) => localStorage.setItem(PREFIX + key, text);

/** The text of a file of a stage, or null where the reader did not change it. */
export const work = (stage, path) => read(`work/${stage}/${path}`);

/** Keep the text of a file; null forgets it. */
export function keep(stage, path, text) {
  if (text === null) localStorage.removeItem(`${PREFIX}work/${stage}/${path}`);
  else write(`work/${stage}/${path}`, text);
}

/** What progress.json holds. */
export function progress() {
  try {
    const found = JSON.parse(read("progress") ?? "");
    if (found?.form === FORM && found.holes) return found;
  } catch {
    // nothing was kept yet
  }
  return { form: FORM, minigrad: "", holes: {} };
}

export const replaceProgress = (found) => write("progress", JSON.stringify(found));

/** What is known of a hole: {solved, hints, gave_up}. */
export const known = (hole) => progress().holes[hole] ?? {};

/** Note facts about a hole. */
export function note(hole, facts) {
  const found = progress();
  found.holes[hole] = { ...found.holes[hole], ...facts };
  replaceProgress(found);
}

/**
 * Note whether a hole is solved now, with the time at which it first was, and which exercises a
 * right answer waits for.
 */
export function record(hole, solved, waitsFor = null) {
  const { solved: before, waits_for: waited = null } = known(hole);
  if (waitsFor !== waited) note(hole, { waits_for: waitsFor });
  if (solved && !before) {
    note(hole, { solved: `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC` });
  } else if (!solved && before) {
    note(hole, { solved: null });
  }
}
