// The exercises of a stage: an editor for each, graded by the terminal's tests in this page.

import { KEYS, button, element, loadEditor } from "./page.js";
import { Python, Stopped } from "./python.js";
import { statusLine } from "./status.js";
import { keep, known, note, record, work } from "./store.js";
import { cut, located } from "./symbols.js";
import { printedElements, problemElement, verdictElement } from "./verdict.js";
import { exported, imported } from "./workspace.js";

const GIVE_UP = "This exercise is not solved yet. Show an answer all the same?";
const RESET = "Put this file back as it was handed out? What you wrote in it is lost.";

/** One exercise: its section of the page. */
class Exercise {
  constructor(stage, hole, section) {
    this.stage = stage;
    this.hole = hole;
    this.section = section;
    this.heading = section.querySelector("h2, h3");
    [this.path] = hole.symbols[0].split(":");
    this.code = element("div", { className: "mg-code" });
    this.result = element("div", { className: "mg-results", "aria-live": "polite" });
    this.answer = element("div", { className: "mg-solution" });
    this.runButton = button("Run tests", () => this.pressed(), {
      className: "mg-button mg-main", title: "Test this exercise (Ctrl+Enter in the editor)" });
    section.querySelector(".mg-editor").append(
      this.#files(), this.code,
      element("div", { className: "mg-tools", role: "group",
                       "aria-label": `Exercise ${hole.id}` },
        this.runButton,
        button("Show the function", () => this.#back()),
        button("Reset the file", () => this.reset()),
        button("Solution", () => this.solution())),
      this.result, this.answer);
    section.querySelectorAll(".mg-hint").forEach((hint, place) => {
      hint.addEventListener("toggle", () => {
        const taken = known(hole.id).hints ?? 0;
        if (hint.open && place + 1 > taken) note(hole.id, { hints: place + 1 });
      });
    });
    this.mark();
  }

  #files() {
    const paths = Object.keys(this.stage.data.files);
    this.tabs = new Map(paths.map((path) =>
      [path, button(path, () => this.open(path).then(() => this.editor.focus()))]));
    return element("div", { className: "mg-files", role: "group", "aria-label": "Files" },
                   ...this.tabs.values());
  }

  /** Show a file in the editor. */
  async open(path) {
    const { openEditor } = await loadEditor();
    if (path === this.path && this.editor) return;
    this.editor?.close();
    this.code.replaceChildren();
    this.path = path;
    for (const [each, tab] of this.tabs) tab.setAttribute("aria-pressed", String(each === path));
    this.editor = openEditor({
      parent: this.code, text: this.stage.texts[path], twins: this.stage.twins[path],
      label: `${path}, for exercise ${this.hole.id}; Escape and then Tab leads out of the editor`,
      changed: (text) => this.stage.changed(path, text), run: () => this.pressed() });
    this.#showFunction(path);
    if (path === this.wrong?.[0]) this.editor.mark(this.wrong[1]);
  }

  /** Lead to a line of a file, [path, number]. */
  async lead([path, number]) {
    await this.open(path);
    this.editor.showLine(number);
    this.editor.focus();
  }

  /** Mark the line of an error, [path, number], in its file; null marks none. */
  async markLine(line) {
    this.wrong = line;
    if (line) await this.open(line[0]);
    this.editor?.mark(line && line[1]);
    if (line) this.editor.showLine(line[1]);
  }

  /** Lead back to the function that is to be written, in its file. */
  async #back() {
    const [path] = this.hole.symbols[0].split(":");
    if (path !== this.path) await this.open(path);
    this.#showFunction(path, true);
  }

  #showFunction(path, focus = false) {
    const symbols = this.hole.symbols.map((each) => each.split(":"));
    const [, symbol] = symbols.find(([where]) => where === path) ?? [];
    const found = symbol && located(this.stage.texts[path], symbol);
    if (found) this.editor.showLine(found[0]);
    if (focus) this.editor.focus();
  }

  /** Mark in the heading whether the exercise is solved, and what it waits for. */
  mark() {
    const { solved, waits_for: waitsFor } = known(this.hole.id);
    this.heading.classList.toggle("mg-done", Boolean(solved));
    if (solved && waitsFor) this.heading.dataset.waits = waitsFor;
    else delete this.heading.dataset.waits;
  }

  pressed() {
    if (this.running) this.stage.python.stop();
    else this.stage.test(this);
  }

  set busy(yes) {
    this.running = yes;
    this.runButton.textContent = yes ? "Stop" : "Run tests";
  }

  reset() {
    if (!confirm(RESET)) return;
    this.editor.put(this.stage.data.files[this.path]);
    this.markLine(null);
    this.#showFunction(this.path, true);
    this.result.replaceChildren();
  }

  solution() {
    const { solved, gave_up: gaveUp } = known(this.hole.id);
    if (!solved && !gaveUp) {
      if (!confirm(GIVE_UP)) return;
      note(this.hole.id, { gave_up: true });
    }
    this.answer.replaceChildren(element("h3", {}, "The package's answer"));
    for (const each of this.hole.symbols) {
      const [path, symbol] = each.split(":");
      this.answer.append(element("p", {}, element("code", {}, `${path}: ${symbol}`)),
        element("pre", { tabIndex: 0 },
                element("code", {}, cut(this.stage.data.solutions[path], symbol))));
    }
  }
}

export class Exercises {
  constructor(data, site) {
    this.data = data;
    this.site = site;
    this.python = new Python(site, true);
    this.texts = {};
    this.twins = {};
    for (const [path, text] of Object.entries(data.files)) {
      this.texts[path] = work(data.stage, path) ?? text;
      this.twins[path] = new Set();
    }
    const sections = [...document.querySelectorAll(".mg-exercise")];
    this.exercises = sections.map((section) => new Exercise(
      this, data.holes.find((hole) => hole.id === section.dataset.hole), section));
    sections[0]?.before(this.#bar());
    sections.at(-1)?.after(this.#keepPanel());
    this.python.addEventListener("state", () => {
      const { state } = this.python;
      document.documentElement.dataset.mgPython = state;
      document.documentElement.dataset.mgFrom = this.python.from;
      this.stopButton.disabled = state !== "busy" && state !== "loading";
    });
  }

  /** Put the editors into the page. */
  async show() {
    await Promise.all(this.exercises.map((each) => each.open(each.path)));
    for (const each of this.exercises) {
      each.code.addEventListener("focusin", () => this.python.start().catch(() => {}),
                                 { once: true });
    }
  }

  #bar() {
    this.stopButton = button("Stop", () => this.python.stop(), { disabled: true });
    this.points = element("span", { className: "mg-result mg-points", role: "status" });
    return element("div", {},
      element("p", { className: "mg-note" },
        "Write in the page: your code is tested here, by the tests and the diagnosis of the " +
        "terminal's course. This is practice: a grade comes from ",
        element("code", {}, "minigrad run"), ` or from a class. ${KEYS}`),
      element("div", { className: "mg-bar", role: "group", "aria-label": "All exercises" },
        button("Test all", () => this.test()), this.stopButton, this.points,
        statusLine(this.python)));
  }

  #keepPanel() {
    const said = element("span", { className: "mg-result", role: "status" });
    const chosen = element("input", { type: "file", accept: ".zip,.json", hidden: true });
    chosen.addEventListener("change", async () => {
      const [file] = chosen.files;
      chosen.value = "";
      if (!file || !confirm("What is kept in this browser is replaced. Go on?")) return;
      try {
        const taken = await imported(this.site, file);
        said.textContent = `taken over, with ${taken} files`;
        location.reload();
      } catch (problem) {
        said.textContent = `not taken over: ${problem.message}`;
      }
    });
    const save = async () => {
      try {
        const address = URL.createObjectURL(await exported(this.site));
        element("a", { href: address, download: "minigrad-work.zip" }).click();
        setTimeout(() => URL.revokeObjectURL(address), 60_000);
        said.textContent = "saved as minigrad-work.zip";
      } catch (problem) {
        said.textContent = `not saved: ${problem.message}`;
      }
    };
    return element("div", { className: "mg-keep" },
      element("p", {}, "What you write and solve is kept in this browser, and nowhere else. " +
        "Exported, it is a workspace of the terminal's course: unpack the zip and call ",
        element("code", {}, "minigrad learn --dir minigrad-work"),
        ". Imported is a zip of such a folder, or its progress.json alone."),
      element("div", { className: "mg-tools", role: "group", "aria-label": "Your work" },
        button("Export my work", save), button("Import …", () => chosen.click()), chosen, said));
  }

  /** A file was edited: keep it. */
  changed(path, text) {
    this.texts[path] = text;
    keep(this.data.stage, path, text === this.data.files[path] ? null : text);
  }

  /** Test one exercise, or all of them. */
  async test(one) {
    if (this.testing) return;
    this.testing = true;
    const tested = one ? [one] : this.exercises;
    for (const each of tested) {
      each.busy = true;
      each.markLine(null);
      each.result.replaceChildren(element("p", { className: "mg-result" }, "The tests run …"));
    }
    this.points.textContent = "";
    try {
      this.#show(tested, await this.python.ask({
        do: "grade", stage: this.data.stage, files: this.texts,
        holes: tested.map((each) => each.hole.id) }));
    } catch (problem) {
      const why = problem instanceof Stopped ? "Stopped." : `Not tested: ${problem.message}`;
      for (const each of tested) {
        each.result.replaceChildren(element("p", { className: "mg-result" }, why));
      }
    } finally {
      this.testing = false;
      for (const each of tested) {
        each.busy = false;
        each.mark();
      }
    }
  }

  /** Show what came of tests: a verdict for each exercise, or why there is none. */
  #show(tested, { problem, line, verdicts, left_out: leftOut, printed, whole }) {
    for (const each of tested) {
      const verdict = verdicts.find(({ hole }) => hole === each.hole.id);
      if (verdict) {
        record(each.hole.id, verdict.is_right, verdict.state === "right" ? verdict.waits_for : null);
      }
      const lead = (place) => each.lead(place);
      each.result.replaceChildren(...(problem
        ? [problemElement(problem, line, printed, lead)]
        : [...(each === tested[0] ? printedElements(printed) : []),
           verdictElement(verdict, each.hole.points, leftOut[each.hole.id] ?? [], lead)]));
      const wrong = problem ? line : verdict.line;
      // an error that keeps all from being tested opens its file in one editor only
      if (wrong && (!problem || each === tested[0] || each.path === wrong[0])) each.markLine(wrong);
    }
    if (!problem && tested.length > 1) {
      const sum = (points) => points.reduce((one, other) => one + other, 0);
      this.points.textContent = `${sum(verdicts.map((each) => each.points))} of ` +
        `${sum(tested.map((each) => each.hole.points))} points${whole && `. ${whole}`}`;
    }
  }
}
