// A stage's exercises: the reader's files, the tests, and the exercises that show them.

import { everything, keep, known, progress, record, watch, work } from "./store.js";
import { plainly } from "./page.js";
import { Stopped } from "./python.js";
import { failure } from "./status.js";

/** Said where the browser cannot keep what is written. */
const NOT_KEPT = "This browser keeps nothing more for this page: export your work before you leave.";

export class StageWork {
  exercises = []; files = {}; solutions = {}; trials = {}; texts = {}; twins = {};
  #loaded;

  constructor(data, site, python) {
    Object.assign(this, { data, site, python });
    for (const path of data.files) this.twins[path] = new Set();
    watch(data.stage, (path, text) => this.#written(path, text));
  }

  /** Get what was handed out, and what the reader made of it; the same promise each time. */
  load() {
    this.#loaded ??= this.#load();
    this.#loaded.catch(() => { this.#loaded = undefined; }); // it is tried again
    return this.#loaded;
  }

  async #load() {
    const answer = await fetch(new URL(`runtime/stages/${this.data.stage}.json`, this.site));
    if (!answer.ok) throw new Error(`the exercises could not be fetched (${answer.status})`);
    Object.assign(this, await answer.json());
    for (const [path, text] of Object.entries(this.files)) {
      this.texts[path] = work(this.data.stage, path) ?? text;
    }
  }

  /** A file was edited here: keep it. */
  changed(path, text) {
    this.texts[path] = text;
    if (!keep(this.data.stage, path, text === this.files[path] ? null : text)) {
      for (const each of this.exercises) each.say(NOT_KEPT);
    }
  }

  /** A file was edited in another tab: show it here too, so that neither tab loses anything. */
  #written(path, text) {
    if (!(path in this.texts)) return;
    this.texts[path] = text ?? this.files[path];
    for (const each of this.exercises) {
      if (each.path === path) each.editor?.take(this.texts[path]);
    }
  }

  /** What Python needs to run something on the reader's engine, with one exercise as it stands. */
  async own(hole) {
    await this.load();
    const { holes } = progress();
    return { stage: this.data.stage,
             holes: { ...holes, [hole]: { ...holes[hole], solved: "now" } },
             files: { ...everything(), [this.data.stage]: this.texts } };
  }

  /** The exercise that comes next and is not solved, if there is one. */
  after(exercise) {
    const place = this.exercises.indexOf(exercise);
    return [...this.exercises.slice(place + 1), ...this.exercises.slice(0, place)]
      .find((each) => !known(each.hole.id).solved);
  }

  /** Stop all tests, or else what Python does. */
  stop() {
    const turns = new Set(this.exercises.map((each) => each.turn).filter(Boolean));
    if (!turns.size) this.python.stop();
    for (const each of turns) each.abort();
  }

  /** Test some exercises, after all that was asked before; resolves to what is to be said of them. */
  async test(tested) {
    const turn = new AbortController();
    tested = tested.filter((each) => !each.turn); // the others are tested already, or will be
    if (!tested.length) return "";
    for (const each of tested) each.asked(turn);
    this.python.start().catch(() => {}); // told below
    try {
      const stopped = new Promise((resolve, reject) => {
        turn.signal.addEventListener("abort", () => reject(new Stopped()));
      });
      await Promise.race([this.load(), stopped]);
      stopped.catch(() => {}); // from here on, Python tells
      return this.#show(tested, await this.python.ask({
        do: "grade", stage: this.data.stage, files: this.texts,
        holes: tested.map((each) => each.hole.id) },
      { stop: turn.signal, begun: () => { for (const each of tested) each.begun(); } }));
    } catch (problem) {
      const again = () => { this.test(tested); };
      for (const each of tested) {
        each.say(problem instanceof Stopped ? "Stopped."
          : failure(`Not tested: ${plainly(problem)}`, again));
      }
      return "";
    } finally {
      for (const each of tested) each.over();
    }
  }

  /** Show what came of tests: a verdict for each exercise, or why there is none. */
  #show(tested, given) {
    const { problem, verdicts, whole } = given;
    for (const { hole, is_right: right, state, waits_for: waitsFor } of verdicts) {
      record(hole, right, state === "right" ? waitsFor : null);
    }
    for (const each of tested) {
      each.show(given, verdicts.find(({ hole }) => hole === each.hole.id), each === tested[0]);
    }
    if (problem) return "";
    const sum = (points) => points.reduce((one, other) => one + other, 0);
    return `${sum(verdicts.map((each) => each.points))} of ` +
      `${sum(tested.map((each) => each.hole.points))} points${whole && `. ${whole}`}`;
  }
}
