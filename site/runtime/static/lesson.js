// A lesson: its blocks run in order, in one namespace; each can be edited, run and put back.

import { answerFigures } from "./answers.js";
import { compared } from "./compare.js";
import { judged } from "./guess.js";
import { Output, notHere } from "./output.js";
import { showExercises } from "./exercises.js";
import { KEYS, button, element, filled, follow, loadEditor } from "./page.js";
import { Stopped } from "./python.js";
import { Wait, failure, statusLine } from "./status.js";
import { edited, guess, keepEdit, keepGuess } from "./store.js";

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
    this.wait = new Wait(lesson.python);
    this.runButton = button("Run", () => { this.pressed(); }, {
      title: "Run this block, and those above that have not run yet (Ctrl+Enter in the editor)",
      "data-needs": "python" });
    this.bar = filled(place.querySelector(":scope > .mg-tools"), `Block ${this.number}`,
      this.runButton,
      button("Run all above", () => { lesson.runTo(this, true); }, {
        title: "Begin again with an empty namespace and run every block down to this one" }),
      button("Edit", () => this.edit(), { "data-needs": "python" }),
      button("Reset", () => this.reset(), { title: "The lesson's code and output again" }),
      this.note, this.wait.element);
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
    if (this.turn) this.lesson.stop(this.turn);
    else this.lesson.runTo(this);
  }

  /** It was asked for, by a press that `turn` stops: say how Python is until it begins. */
  asked(turn) {
    this.turn = turn;
    this.element.classList.add("mg-running");
    this.runButton.textContent = "Stop";
    this.note.textContent = "";
    this.wait.begin(() => this.lesson.runTo(this));
  }

  /** It ended, or never began; `said` is why. */
  over(said = null) {
    this.turn = undefined;
    this.element.classList.remove("mg-running");
    this.runButton.textContent = "Run";
    this.wait.end();
    if (said !== null) this.note.replaceChildren(said);
  }

  /** Say why it could not run: it was stopped, or Python or the site failed. */
  failed(problem) {
    this.element.dataset.result = "stopped";
    this.over(problem instanceof Stopped ? "stopped"
      : failure(`not run: ${problem.message}`, () => this.lesson.runTo(this)));
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
  async run(turn) {
    this.asked(turn);
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
        { told: (stream, text) => { begin(); output.told(stream, text); }, stop: turn.signal,
          begun: () => { this.wait.end(); this.note.textContent = "runs …"; } });
      this.over();
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
      if (this.note.textContent) begin(); // it ran
      this.failed(problem);
      return false;
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
  /** What was asked for and is not over, each with a signal that stops it. */
  turns = new Set();
  #last = Promise.resolve();

  constructor(data, site, python) {
    this.key = data.stage;
    this.python = python;
    this.blocks = data.blocks
      .filter((each) => RUNS.includes(each.kind) && document.getElementById(each.id))
      .map((each) => new Block(this, each, document.getElementById(each.id)));
    this.stopButton = button("Stop", () => { this.stop(); }, { disabled: true });
    this.allButton = button("Run all", () => { this.runTo(this.blocks.at(-1), true, null); },
      { "data-needs": "python" });
    follow(python, (state) => {
      this.stopButton.disabled = state !== "busy" && state !== "loading";
      for (const each of this.blocks) {
        each.element.classList.toggle("mg-ran", each.ranIn === python.round);
      }
    });
    if (this.blocks.length) this.#fillBar();
    if (data.holes.length) showExercises(data, site, python);
    answerFigures(python, this.key);
  }

  #fillBar() {
    filled(document.querySelector(".mg-bar"), "All blocks",
      this.allButton, this.stopButton,
      button("Reset all", () => this.blocks.forEach((each) => each.reset())),
      statusLine(this.python));
  }

  /** Stop what runs and all that waits for it, or `turn` alone if it still waits. */
  stop(turn = null) {
    const [running] = this.turns;
    if (turn && turn !== running) turn.abort();
    else for (const each of this.turns) each.abort();
    if (!running || this.python.state === "loading") this.python.stop();
  }

  /**
   * Run the blocks above `last` that did not run yet, then `last`, after all that was asked before.
   * With `afresh`, every one of them, in a new namespace.  An error above ends it.  `pressed` is the
   * block that says meanwhile what is awaited.
   */
  async runTo(last, afresh = false, pressed = last) {
    if (pressed?.turn) return; // it waits or runs already: its button stops it
    const turn = new AbortController(), before = this.#last;
    let over;
    const ended = new Promise((resolve) => { over = resolve; });
    this.#last = before.then(() => ended);
    const stopped = new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    this.turns.add(turn);
    this.allButton.disabled = true;
    pressed?.asked(turn);
    this.python.start().catch(() => {}); // told below
    const started = () => this.python.ask({ do: "reset" }, { stop: turn.signal });
    try {
      await Promise.race([before, stopped]);
      if (turn.signal.aborted) throw new Stopped();
      if (afresh) {
        await started();
        for (const each of this.blocks) each.ranIn = -1;
      } else await this.python.start();
      for (const each of this.blocks) {
        if (each !== last && each.ranIn === this.python.round) continue;
        const well = await each.run(turn);
        if (each === last) break;
        if (!well) {
          if (each.element.dataset.result === "stopped") pressed?.over("");
          else last.over("not run: a block above it ended with an error");
          break;
        }
      }
    } catch (problem) {
      pressed?.failed(problem); // without one, the line above the blocks says why
    } finally {
      this.turns.delete(turn);
      this.allButton.disabled = this.turns.size > 0;
      over();
    }
  }
}
