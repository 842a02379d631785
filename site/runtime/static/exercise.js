// One exercise: its function in an editor with the file folded around it, its tests, what they say.

import { button, choice, element, filled, loadEditor } from "./page.js";
import { Scratch } from "./scratch.js";
import { Wait } from "./status.js";
import { known, note } from "./store.js";
import { cut, gone, placed, replaced } from "./symbols.js";
import { goneElements, printedElements, problemElement, solvedElement, verdictElement } from "./verdict.js";

const GIVE_UP = "This exercise is not solved yet. Show an answer all the same?";
const AGAIN = "What is to be put back as it was handed out? What you wrote there is lost.";

export class Exercise {
  constructor(stage, hole, section) {
    Object.assign(this, { stage, hole, section });
    this.heading = section.querySelector("h2, h3, .mg-title");
    [this.path] = hole.symbols[0].split(":");
    this.place = section.querySelector(".mg-editor");
    this.code = this.place.querySelector(".mg-code");
    this.result = element("div", { className: "mg-results", "aria-live": "polite" });
    this.answer = element("div", { className: "mg-solution" });
    this.wait = new Wait(stage.python);
    this.runButton = button("Run tests", () => { this.pressed(); }, {
      className: "mg-button mg-main", title: "Test this exercise (Ctrl+Enter in the editor)",
      "data-needs": "python" });
    this.wholeButton = button("Whole file", () => this.showWhole(!this.whole), {
      title: "Show all of the file, or this exercise alone", "aria-pressed": "false" });
    this.scratch = new Scratch(stage, this);
    this.#fillFiles();
    filled(this.place.querySelector(".mg-tools"), `Exercise ${hole.id}`,
      this.runButton,
      button("Try it", () => this.scratch.open(true), {
        title: "Run a few lines of your own on what you wrote", "data-needs": "python" }),
      this.wholeButton,
      button("Start over", () => this.reset()),
      button("Solution", () => this.solution()));
    this.place.append(this.result, this.scratch.element, this.answer);
    section.querySelectorAll(".mg-hint").forEach((hint, place) => {
      hint.addEventListener("toggle", () => {
        const taken = known(hole.id).hints ?? 0;
        if (hint.open && place + 1 > taken) note(hole.id, { hints: place + 1 });
      });
    });
    this.mark();
    this.#openWhenSeen();
  }

  #openWhenSeen() {
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      this.stage.python.startEarly();
      this.open().catch((problem) => this.say(`The editor could not be opened: ${problem.message}`));
    }, { rootMargin: "800px" });
    seen.observe(this.place);
  }

  #fillFiles() {
    this.tabs = new Map(this.stage.data.files.map((path) =>
      [path, button(path, () => this.open(path).then(() => this.editor.focus()))]));
    const place = this.place.querySelector(".mg-files");
    if (place) filled(place, "Files", ...this.tabs.values());
  }

  /** Show a file in the editor. */
  async open(path = this.path) {
    const [{ openEditor }] = await Promise.all([loadEditor(), this.stage.load()]);
    if (path === this.path && this.editor) return;
    this.editor?.close();
    this.code.replaceChildren();
    this.path = path;
    for (const [each, tab] of this.tabs) tab.setAttribute("aria-pressed", String(each === path));
    const text = this.stage.texts[path];
    this.whole = !this.#lines().length;
    this.editor = openEditor({
      parent: this.code, text, twins: this.stage.twins[path], shown: this.#lines(),
      label: `${path}, for exercise ${this.hole.id}; Escape and then Tab leads out of the editor`,
      changed: (now) => this.stage.changed(path, now), run: () => this.pressed() });
    this.wholeButton.setAttribute("aria-pressed", String(this.whole));
    if (path === this.wrong?.[0]) this.#showMark();
  }

  /** The lines of this exercise's functions in the file that is shown. */
  #lines() {
    const text = this.stage.texts[this.path];
    return this.hole.symbols.map((each) => each.split(":"))
      .filter(([path]) => path === this.path)
      .map(([path, symbol]) => placed(text, symbol, this.stage.files[path])).filter(Boolean)
      .sort(([one], [other]) => one - other);
  }

  /** Show the whole file, or fold all but this exercise. */
  async showWhole(yes) {
    await this.open();
    this.whole = yes || !this.#lines().length;
    this.wholeButton.setAttribute("aria-pressed", String(this.whole));
    this.editor.show(this.whole ? null : this.#lines());
  }

  /** Lead to a line of a file, [path, number]. */
  async lead([path, number]) {
    await this.open(path);
    this.#unfoldFor(number);
    this.editor.showLine(number);
    this.editor.focus();
  }

  /** Mark the line of an error, [path, number], in its file; null marks none. */
  async markLine(line) {
    this.wrong = line;
    if (line) await this.open(line[0]);
    if (line) this.#showMark();
    else this.editor?.mark(null);
  }

  #showMark() {
    const [, number] = this.wrong;
    this.#unfoldFor(number);
    this.editor.mark(number);
    this.editor.showLine(number);
  }

  #unfoldFor(number) {
    if (!this.whole) this.editor.reveal(number);
  }

  /** Mark in the heading whether the exercise is solved, and what it waits for. */
  mark() {
    const { solved, waits_for: waitsFor } = known(this.hole.id);
    this.heading.classList.toggle("mg-done", Boolean(solved));
    if (solved && waitsFor) this.heading.dataset.waits = waitsFor;
    else delete this.heading.dataset.waits;
  }

  pressed() {
    if (!this.turn) {
      this.stage.test([this]);
      return;
    }
    this.turn.abort();
    if (this.since) this.say("Stopping …");
  }

  /** Its tests were asked for, by a press that `turn` stops: say how Python is until they begin. */
  asked(turn) {
    this.turn = turn;
    this.runButton.textContent = "Stop";
    this.markLine(null);
    this.result.replaceChildren(this.wait.element);
    this.wait.begin(() => this.stage.test([this]));
    this.wait.element.scrollIntoView({ block: "nearest" });
  }

  /** Its tests run; after a while, so many seconds. */
  begun() {
    this.since = performance.now();
    this.wait.end();
    const seconds = element("span", { "aria-live": "off" });
    this.say("The tests run …", seconds);
    this.clock = setInterval(() => {
      seconds.textContent = ` ${Math.floor((performance.now() - this.since) / 1000)} s`;
    }, 1000);
  }

  /** Its tests ended, or never began. */
  over() {
    this.turn = this.since = undefined;
    clearInterval(this.clock);
    this.wait.end();
    this.runButton.textContent = "Run tests";
    this.mark();
  }

  say(...words) {
    this.result.replaceChildren(element("p", { className: "mg-result" }, ...words));
  }

  /** Show what grading.py says; what was printed on import stands under the first exercise. */
  show({ problem, line, left_out: leftOut, printed }, verdict, isFirst) {
    const lead = (place) => this.lead(place);
    this.result.replaceChildren(...(problem
      ? [problemElement(problem, line, printed, lead)]
      : [...(isFirst ? printedElements(printed) : []),
         verdictElement(verdict, this.hole.points, leftOut[this.hole.id] ?? [], lead)]));
    if (problem || !verdict.is_right) {
      const { data, texts, files } = this.stage;
      this.result.append(...goneElements(data.files.map((path) => [path, gone(texts[path], files[path])])));
    }
    const wrong = problem ? line : verdict.line;
    // an error that keeps all from being tested opens its file in one editor only
    if (wrong && (!problem || isFirst || this.path === wrong[0])) this.markLine(wrong);
    if (verdict?.is_right) {
      this.result.append(solvedElement(this));
      if (isFirst) this.scratch.celebrate();
    }
  }

  /** Put this exercise's functions, or the whole file, back as handed out. */
  async reset() {
    await this.open();
    const { files, texts, exercises } = this.stage;
    const alone = this.#lines().length ? { exercise: `Exercise ${this.hole.id} alone` } : {};
    const chosen = await choice(AGAIN, { ...alone, file: `The whole file ${this.path}` });
    if (!chosen) return;
    let text = files[this.path];
    if (chosen === "exercise") {
      text = texts[this.path];
      for (const [path, symbol] of this.hole.symbols.map((each) => each.split(":"))) {
        if (path === this.path) text = replaced(text, symbol, files[path]);
      }
    }
    this.editor.put(text);
    this.markLine(null);
    this.showWhole(false);
    if (chosen === "file") { // what others had folded was changed too
      for (const each of exercises) if (each !== this && each.path === this.path && each.editor) each.showWhole(each.whole);
    }
    this.result.replaceChildren();
    this.editor.focus();
  }

  async solution() {
    const { solved, gave_up: gaveUp } = known(this.hole.id);
    if (!solved && !gaveUp) {
      if (!confirm(GIVE_UP)) return;
      note(this.hole.id, { gave_up: true });
    }
    await this.stage.load();
    this.answer.replaceChildren(element("p", {}, element("strong", {}, "The package's answer")));
    for (const each of this.hole.symbols) {
      const [path, symbol] = each.split(":");
      this.answer.append(element("p", {}, element("code", {}, `${path}: ${symbol}`)),
        element("pre", { tabIndex: 0 },
                element("code", {}, cut(this.stage.solutions[path], symbol))));
    }
  }
}
