// A cell for a few lines of the reader's own, run on the reader's own engine.

import { Output } from "./output.js";
import { button, element, loadEditor, plainly } from "./page.js";
import { Stopped } from "./python.js";
import { Wait, failure } from "./status.js";

const WHAT = "A scratch cell: it runs on your own engine, with this exercise as it stands and " +
  "all that you solved; the rest comes from the package.";

export class Scratch {
  constructor(stage, exercise) {
    Object.assign(this, { stage, exercise });
    this.element = element("div", { className: "mg-scratch", hidden: true });
    this.note = element("span", { className: "mg-result", role: "status" });
    this.wait = new Wait(stage.python);
    this.log = element("div", { role: "log", "aria-label": `Output of ${exercise.hole.id}'s scratch cell` });
  }

  /** Show the cell. */
  async open(focus = false) {
    this.element.hidden = false;
    if (!this.editor) {
      this.element.replaceChildren(element("p", { className: "mg-note" }, "The editor is being loaded …"));
      const [{ openEditor }] = await Promise.all([loadEditor(), this.stage.load()]).catch((problem) => {
        this.element.replaceChildren(failure(`The editor could not be loaded: ${plainly(problem)}`,
          () => this.open(focus)));
        return [{}];
      });
      if (!openEditor) return;
      if (!this.editor) {
        const place = element("div", { className: "mg-code" });
        this.runButton = button("Run", () => { this.pressed(); }, {
          title: "Run these lines on your engine (Ctrl+Enter in the editor)", "data-needs": "python" });
        this.element.replaceChildren(
          element("p", { className: "mg-note" }, WHAT), place,
          element("div", { className: "mg-tools", role: "group", "aria-label": "Scratch cell" },
            this.runButton, button("Close", () => { this.element.hidden = true; }), this.note,
            this.wait.element),
          this.log);
        this.text = this.stage.trials[this.exercise.hole.id];
        this.editor = openEditor({
          parent: place, text: this.text, run: () => this.pressed(),
          label: "Scratch cell; Escape and then Tab leads out of the editor",
          changed: (text) => { this.text = text; } });
      }
    }
    if (focus) this.editor?.focus();
  }

  /** The exercise was solved: show it at work. */
  async celebrate() {
    await this.open();
    if (this.editor) await this.run();
  }

  pressed() {
    if (this.turn) this.turn.abort();
    else this.run();
  }

  async run() {
    if (this.turn) return;
    this.turn = new AbortController();
    this.runButton.textContent = "Stop";
    this.note.textContent = "";
    this.wait.begin(() => this.run());
    const output = new Output();
    this.log.replaceChildren(output.element);
    try {
      const given = await this.stage.python.ask(
        { do: "own", code: this.text, name: "<scratch cell>",
          own: await this.stage.own(this.exercise.hole.id) },
        { told: (stream, text) => output.told(stream, text), stop: this.turn.signal,
          begun: () => { this.wait.end(); this.note.textContent = "runs …"; } });
      output.ended(given);
      this.note.textContent = given.error ? "" : "ran on your engine";
    } catch (problem) {
      this.note.replaceChildren(problem instanceof Stopped ? "stopped"
        : failure(`not run: ${plainly(problem)}`, () => this.run()));
    } finally {
      this.turn = undefined;
      this.wait.end();
      this.runButton.textContent = "Run";
    }
  }
}
