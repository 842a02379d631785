// What the reader wrote, guessed and solved, kept in this browser, in the form of the terminal's course.

const PREFIX = "minigrad/";
const FORM = 1; // of progress.json, as in minigrad_course/learner/workspace.py

const read = (key) => {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null; // the browser keeps nothing for this page
  }
};

/** Keep a text under a key; null forgets it.  Whether that could be done. */
function write(key, text) {
  try {
    if (text === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, text);
    return true;
  } catch {
    return false; // it is full, or the browser keeps nothing for this page
  }
}

/** The text of a file of a stage, or null where the reader did not change it. */
export const work = (stage, path) => read(`work/${stage}/${path}`);

/** Keep the text of a file; null forgets it.  Whether that could be done. */
export const keep = (stage, path, text) => write(`work/${stage}/${path}`, text);

/** All files that the reader changed: {stage: {path: text}}. */
export function everything() {
  const found = {};
  for (const key of Object.keys(globalThis.localStorage ?? {})) {
    const [, stage, path] = /^minigrad\/work\/([^/]+)\/(.+)$/.exec(key) ?? [];
    if (stage) (found[stage] ??= {})[path] = work(stage, path);
  }
  return found;
}

/** Call `told(path, text or null)` when another tab changes a file of a stage. */
export function watch(stage, told) {
  const begins = `${PREFIX}work/${stage}/`;
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(begins)) told(key.slice(begins.length), newValue);
  });
}

/** Call `told()` when the progress changes, here or in another tab. */
export function watchProgress(told) {
  addEventListener("storage", ({ key }) => { if (!key || key === `${PREFIX}progress`) told(); });
  addEventListener("mg-progress", told);
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

export function replaceProgress(found) {
  write("progress", JSON.stringify(found));
  dispatchEvent(new Event("mg-progress"));
}

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

// --- blocks of lessons ------------------------------------------------------------------------

/** A short name for a block's code: what was kept for another version of it is not used. */
function named(code) {
  let hash = 5381;
  for (const letter of code) hash = (hash * 33 + letter.codePointAt(0)) % 2 ** 32;
  return hash.toString(36);
}

/** The reader's version of a lesson's block, or null. */
export const edited = (stage, code) => read(`block/${stage}/${named(code)}`);

/** Keep the reader's version of a block; null forgets it. */
export const keepEdit = (stage, code, text) => write(`block/${stage}/${named(code)}`, text);

/** What the reader guessed that a block prints, or "". */
export const guess = (stage, code) => progress().guesses?.[stage]?.[named(code)] ?? "";

/** Keep a guess; it is part of progress.json. */
export function keepGuess(stage, code, text) {
  const found = progress();
  const mine = { ...found.guesses?.[stage], [named(code)]: text };
  if (!text) delete mine[named(code)];
  replaceProgress({ ...found, guesses: { ...found.guesses, [stage]: mine } });
}
