// A lesson: its blocks run in order, in one namespace; each can be edited, run and put back.

import { compared } from "./compare.js";
import { judged } from "./guess.js";
import { Output, notHere } from "./output.js";
import { showExercises } from "./exercises.js";
import { KEYS, button, element, filled, follow, loadEditor } from "./page.js";
import { Stopped } from "./python.js";
import { statusLine } from "./status.js";
import { edited, everything, guess, keepEdit, keepGuess, progress } from "./store.js";

const RUNS = ["run", "draft", "raises"];
const SAME = { same: "as in the lesson", nearly: "as in the lesson, but for the last digits" };
const JUDGED = { right: "✓ as you said", wrong: "✗ not as you said: compare the two",
                 open: "compare it with yours" };

/** A block of the page: its code, its buttons and what it gave. */
class Block {
  constructor(lesson, told, place) {
    this.lesson = lesson;
    this.told = told; // what the page says of it
    this.element = place;
    this.code = told.code;
    this.ranIn = -1; // the round of Python in which it last ran
    this.shown = place.querySelector(".highlight");
    // an output that is to be predicted is folded; what a run gives is not
    this.output = place.querySelector(".mg-predict") ?? place.querySelector(".mg-output");
    this.note = element("span", { className: "mg-result", role: "status" });
    this.runButton = button("Run", () => this.pressed(), {
      title: "Run this block, and those above that have not run yet (Ctrl+Enter in the editor)",
      "data-needs": "python" });
    this.bar = filled(place.querySelector(":scope > .mg-tools"), `Block ${this.number}`,
      this.runButton,
      button("Run all above", () => lesson.runTo(this, true), {
        title: "Begin again with an empty namespace and run every block down to this one" }),
      button("Edit", () => this.edit()),
      button("Reset", () => this.reset(), { title: "The lesson's code and output again" }),
      this.note);
    // there before anything is in it: only then does a screen reader tell what comes
    this.log = element("div", { role: "log", "aria-label": `Output of block ${this.number}` });
    (this.output ?? this.bar).after(this.log);
    if (this.output?.classList.contains("mg-predict")) this.#askToPredict();
    const mine = edited(lesson.key, told.code);
    if (mine !== null) this.edit(mine, "your version, kept in this browser");
  }

  /** A field for what the reader expects, above the folded output; it stays with the progress. */
  #askToPredict() {
    const { key } = this.lesson;
    const field = element("textarea", {
      className: "mg-guess", rows: 2, spellcheck: false, value: guess(key, this.told.code),
      placeholder: "Your guess", "aria-label": `Your guess of the output of block ${this.number}` });
    field.addEventListener("input", () => keepGuess(key, this.told.code, field.value.trim()));
    this.guessed = this.element.querySelector(".mg-guessed");
    this.guessed.append(field);
    this.output.addEventListener("toggle", () => {
      if (this.output.open) this.#judge(this.told.expected ?? "");
    });
  }

  /** Say how the guess was, once the output is seen. */
  #judge(output) {
    const mine = guess(this.lesson.key, this.told.code);
    if (!this.guessed || !mine) return;
    const told = this.guessed.querySelector(".mg-judged") ??
      this.guessed.appendChild(element("span", { className: "mg-judged", role: "status" }));
    told.dataset.how = judged(mine, output, this.told.answers);
    told.textContent = JUDGED[told.dataset.how];
  }

  get number() {
    return this.told.id.split("-")[1];
  }

  pressed() {
    if (this.running) this.lesson.python.stop();
    else this.lesson.runTo(this);
  }

  get running() {
    return this.element.classList.contains("mg-running");
  }

  set running(yes) {
    this.element.classList.toggle("mg-running", yes);
    this.runButton.textContent = yes ? "Stop" : "Run";
    if (yes) this.note.textContent = "runs …";
  }

  /** Open the editor in the place of the code, or of the reader's version of it. */
  async edit(mine = null, said = "") {
    if (!this.editor) {
      const { openEditor } = await loadEditor();
      if (this.editor) return;
      this.code = mine ?? this.code;
      const place = element("div", { className: "mg-code" });
      const keys = element("p", { className: "mg-note" }, KEYS);
      this.shown.before(place);
      this.shown.hidden = true;
      this.editor = openEditor({
        parent: place, text: this.code,
        label: `Code of block ${this.number}; Escape and then Tab leads out of the editor`,
        changed: (text) => this.changed(text), run: () => this.lesson.runTo(this) });
      place.append(keys);
      this.editor.place = place;
    }
    if (mine === null) this.editor.focus();
    else this.note.textContent = said;
  }

  /** The code was edited: keep it. */
  changed(text) {
    this.code = text;
    const { key } = this.lesson;
    if (!keepEdit(key, this.told.code, text === this.told.code ? null : text)) {
      this.note.textContent = "this browser does not keep your version";
    }
  }

  reset() {
    this.code = this.told.code;
    keepEdit(this.lesson.key, this.told.code, null);
    this.editor?.close();
    this.editor?.place.remove();
    this.editor = undefined;
    this.shown.hidden = false;
    this.live?.remove();
    this.live = undefined;
    if (this.output) this.output.hidden = false;
    this.guessed?.querySelector(".mg-judged")?.remove();
    this.note.textContent = "";
  }

  /** Run the block; resolves to whether the next may run. */
  async run() {
    this.running = true;
    const output = new Output();
    let begun = false;
    const begin = () => {
      if (begun) return;
      begun = true;
      this.live?.remove();
      this.live = output.element;
      if (this.output) this.output.hidden = true;
      this.log.append(this.live);
    };
    try {
      const given = await this.lesson.python.ask(
        { do: "run", code: this.code, name: `<${this.told.id.replace("-", " ")}>` },
        (stream, text) => { begin(); output.told(stream, text); });
      const why = notHere(given.error);
      if (why && this.code === this.told.code) {
        this.live?.remove();
        if (this.output) this.output.hidden = false;
        this.note.textContent = `not run here: ${why}`;
        this.element.dataset.result = "not here";
        return true;
      }
      begin();
      output.ended(given);
      this.ranIn = this.lesson.python.round;
      this.say(output.result, given.error);
      return !given.error || this.told.kind === "raises";
    } catch (problem) {
      begin();
      this.note.textContent = problem instanceof Stopped ? "stopped" : `not run: ${problem.message}`;
      this.element.dataset.result = "stopped";
      return false;
    } finally {
      this.running = false;
    }
  }

  /** Mark quietly whether that was what the lesson says. */
  say(got, error) {
    const expected = this.told.expected ?? "";
    const how = compared(got, expected);
    const isMine = this.code !== this.told.code;
    if (!isMine) this.#judge(got);
    this.element.dataset.result = how;
    if (/^KeyboardInterrupt: stopped$/.test(error)) this.note.textContent = "stopped";
    else if (how !== "different") this.note.textContent = expected || error ? SAME[how] : "done";
    else this.note.textContent = isMine
      ? (error ? "your code ended with an error" : "done; it is your code that ran") : "differs from the lesson";
    if (how === "different" && expected && !isMine) {
      this.live.append(element("details", { className: "mg-expected" },
        element("summary", {}, "What the lesson has"), element("pre", {}, expected)));
    }
  }
}

export class Lesson {
  constructor(data, site, python) {
    this.key = data.stage;
    this.python = python;
    this.blocks = data.blocks
      .filter((each) => RUNS.includes(each.kind) && document.getElementById(each.id))
      .map((each) => new Block(this, each, document.getElementById(each.id)));
    this.stopButton = button("Stop", () => python.stop(), { disabled: true });
    follow(python, (state) => {
      this.stopButton.disabled = state !== "busy" && state !== "loading";
      for (const each of this.blocks) {
        each.element.classList.toggle("mg-ran", each.ranIn === python.round);
      }
    });
    if (this.blocks.length) this.#fillBar();
    if (data.holes.length) showExercises(data, site, python);
    document.addEventListener("mg-ask", ({ detail }) => { detail.answer = this.answer(detail); });
  }

  /** What a function of Python's gives on an engine, for a figure (widgets/engine_trace.js). */
  answer({ call, given, mine }) {
    const own = mine ? { stage: this.key, holes: progress().holes, files: everything() } : null;
    return this.python.ask({ do: "answer", call, given, own });
  }

  #fillBar() {
    filled(document.querySelector(".mg-bar"), "All blocks",
      button("Run all", () => this.runTo(this.blocks.at(-1), true), { "data-needs": "python" }),
      this.stopButton,
      button("Reset all", () => this.blocks.forEach((each) => each.reset())),
      statusLine(this.python));
  }

  /**
   * Run the blocks above `last` that did not run yet, then `last`.  With `afresh`, every one of
   * them, in a new namespace.  An error above ends it.
   */
  async runTo(last, afresh = false) {
    if (this.python.state === "busy" || this.going) return;
    this.going = true;
    try {
      await this.python.start();
      if (afresh) {
        await this.python.ask({ do: "reset" });
        for (const each of this.blocks) each.ranIn = -1;
      }
      for (const each of this.blocks) {
        if (each === last || each.ranIn !== this.python.round) {
          const well = await each.run();
          if (each === last) break;
          if (!well) {
            if (each.element.dataset.result !== "stopped") {
              last.note.textContent = "not run: a block above it ended with an error";
            }
            break;
          }
        }
      }
    } catch {
      // Python could not be started: the status line says why
    } finally {
      this.going = false;
    }
  }
}
