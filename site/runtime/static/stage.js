// A stage's exercises: the reader's files, the tests, and the exercises that show them.

import { everything, keep, known, progress, record, watch, work } from "./store.js";
import { Stopped } from "./python.js";

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
    return (this.#loaded ??= this.#load());
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

  /** Test some exercises; resolves to what is to be said of all of them. */
  async test(tested) {
    if (this.testing) return "";
    this.testing = true;
    for (const each of tested) each.begin();
    try {
      await this.load();
      return this.#show(tested, await this.python.ask({
        do: "grade", stage: this.data.stage, files: this.texts,
        holes: tested.map((each) => each.hole.id) }));
    } catch (problem) {
      const why = problem instanceof Stopped ? "Stopped." : `Not tested: ${problem.message}`;
      for (const each of tested) each.say(why);
      return "";
    } finally {
      this.testing = false;
      for (const each of tested) each.end();
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
