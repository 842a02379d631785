// Python in a worker: started when it is first needed, given one thing at a time, and stopped.

import { plainly } from "./page.js";

/** What a request ends with when the reader stopped it. */
export class Stopped extends Error {}

/** The signal of the timer that comes last (clock.py): code that goes on by then catches everything. */
const SIGALRM = 14;

const BROKEN = {
  depth: "the code nested deeper than Python can in a page, and it had to be started anew",
  exit: "the code ended Python itself, and it had to be started anew",
  late: "the code did not end in time and could not be interrupted, so Python had to be started anew",
};

/** Whether Python ran in this browser before, so that most of it need not be fetched. */
const KEY = "minigrad/python-ran";
const wasHere = () => {
  try {
    return Boolean(localStorage.getItem(KEY));
  } catch {
    return false;
  }
};
const remember = () => {
  try {
    localStorage.setItem(KEY, "yes");
  } catch {
    // then it is started when it is asked for
  }
};

/** How long an interrupted program may take to end before its worker is ended, in milliseconds. */
const PATIENCE = 1500;

/**
 * Events: "state" when `state` changed ("off", "loading", "ready", "busy", "failed"), with what is
 * loaded in `progress` ({step, steps, loaded, total}: bytes; `began` and `came`, when the first and
 * the last of it came) and why it failed in `problem`.
 */
export class Python extends EventTarget {
  state = "off";
  progress = null;
  problem = "";
  /** What Python began from: "nothing", or the "memory" that the browser kept. */
  from = "";
  /** Counts the starts: what ran in an earlier one is gone. */
  round = 0;

  #site; #worker; #started; #giveUp; #interrupt; #current; #timers = new Map(); #queue = Promise.resolve();

  constructor(site) {
    super();
    this.#site = site;
  }

  /** Whether what was sent to Python runs, and no more of Python is fetched for it. */
  get runs() {
    return Boolean(this.#current?.runs);
  }

  /** Start Python; resolves when it is there. */
  start() {
    return (this.#started ??= this.#start());
  }

  /** Start Python before it is asked for, unless the reader saves data: it is 9 MB. */
  startEarly() {
    if (!navigator.connection?.saveData) this.start().catch(() => {}); // the state tells why
  }

  /**
   * Start Python early: when the reader points at a button that needs it or goes into an editor, or,
   * where this browser ran it before, as soon as the page has nothing to do.  An exercise's editor
   * that comes near starts it too (exercise.js).
   */
  startBeforeAsked() {
    const near = ({ target }) => {
      if (target.closest?.('[data-needs="python"], .cm-editor')) this.startEarly();
    };
    document.addEventListener("pointerover", near, { passive: true });
    document.addEventListener("focusin", near);
    if (wasHere()) {
      (globalThis.requestIdleCallback ?? ((later) => setTimeout(later, 2000)))(() => this.startEarly());
    }
  }

  /**
   * Ask for something after all that was asked before; `told(stream, text)` hears what is printed,
   * `begun()` that it runs: until then Python, or more of it, is fetched.  `stop` is an AbortSignal.
   */
  ask(request, { told = () => {}, begun = () => {}, stop = null } = {}) {
    this.start().catch(() => {}); // told below
    const round = this.round;
    let sent = false, over = false;
    const turn = this.#queue.then(async () => {
      if (stop?.aborted) throw new Stopped();
      if (round !== this.round) throw this.state === "failed" ? new Error(this.problem) : new Stopped();
      await this.start();
      if (stop?.aborted) throw new Stopped();
      sent = true;
      return this.#send(request, told, begun);
    });
    this.#queue = turn.catch(() => {});
    if (!stop) return turn;
    const ended = new Promise((resolve, reject) => {
      stop.addEventListener("abort", () => {
        if (!over && (sent || this.state === "loading")) this.stop();
        if (!sent) reject(new Stopped());
      });
    });
    return Promise.race([turn, ended]).finally(() => { over = true; });
  }

  /**
   * Stop what runs.  Where the page is isolated from other origins the program is interrupted and
   * what it had made stays; else, or if it goes on, its worker is ended and a new one started.
   */
  async stop() {
    if (this.state === "busy" && this.#interrupt) {
      this.#interrupt[0] = 2; // SIGINT
      this.#current.stopped = true;
      const over = this.#current.over;
      const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, "late"));
      if (await Promise.race([over, late]) !== "late") return;
    }
    const loading = this.state === "loading";
    this.#end();
    if (!loading) await this.start().catch(() => {}); // the state tells why
  }

  /** End Python, and everything that was asked of it. */
  #end(problem = new Stopped()) {
    this.#endTimers();
    this.#worker?.terminate();
    this.#worker = this.#started = undefined;
    this.progress = null;
    this.round += 1;
    this.#giveUp?.(problem);
    this.#current?.reject(problem);
    this.#current = undefined;
    this.#queue = Promise.resolve();
    this.#to("off");
  }

  /** Set one of the timers that Python lacks: it comes as a signal, by its number. */
  #setTimer([number, seconds, interval]) {
    clearTimeout(this.#timers.get(number));
    this.#timers.delete(number);
    if (!seconds) return;
    const due = () => {
      if (this.#interrupt && number !== SIGALRM) {
        this.#interrupt[0] = number;
        this.#timers.set(number, setTimeout(due, 1000 * interval));
      } else {
        this.#end(new Error(BROKEN.late));
        this.startEarly();
      }
    };
    this.#timers.set(number, setTimeout(due, 1000 * seconds));
  }

  /** Note how far loading is, when it began, and when something last came. */
  #goesOn(progress) {
    const before = this.progress, now = performance.now();
    const same = before && progress && before.total === progress.total;
    this.progress = progress && {
      ...progress, began: same ? before.began : now,
      came: same && before.loaded === progress.loaded && before.step === progress.step
        && before.starts === progress.starts ? before.came : now };
  }

  #endTimers() {
    for (const each of this.#timers.values()) clearTimeout(each);
    this.#timers.clear();
  }

  #to(state) {
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }

  #start() {
    this.round += 1;
    this.#to("loading");
    this.#worker = new Worker(new URL("worker.js", import.meta.url),
                              { type: "module", name: "python" });
    this.#interrupt = globalThis.crossOriginIsolated
      ? new Uint8Array(new SharedArrayBuffer(1)) : undefined;
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      const worker = this.#worker;
      const failed = (text) => {
        this.problem = plainly(text);
        this.progress = null;
        this.#endTimers();
        this.#worker?.terminate();
        this.#worker = this.#started = undefined;
        this.round += 1; // what was asked meanwhile fails with it
        this.#to("failed");
        reject(new Error(this.problem));
        this.#current?.reject(new Error(this.problem));
      };
      worker.onmessage = ({ data }) => {
        if (worker !== this.#worker) return;
        if (data.progress !== undefined) { // also while something runs that needs more
          this.#goesOn(data.progress);
          this.#to(this.state);
        } else if (data.ready) {
          this.from = data.from;
          this.progress = null;
          remember();
          this.#to("ready");
          resolve();
        } else if (data.failed) {
          failed(data.failed);
        } else if (data.broken) {
          this.#end(new Error(BROKEN[data.broken]));
        } else if (data.timer) {
          this.#setTimer(data.timer);
        } else if (data.begun) {
          if (this.#current) this.#current.runs = true;
          this.#current?.begun();
          this.#to(this.state);
        } else if (data.text !== undefined) {
          this.#current?.told(data.stream, data.text);
        } else {
          const current = this.#current;
          this.#current = undefined;
          this.progress = null;
          this.#endTimers();
          this.#to("ready");
          if (current?.stopped && current.whole) current.reject(new Stopped());
          else if (data.error) current?.reject(new Error(plainly(data.error)));
          else current?.resolve(data.result);
        }
      };
      worker.onerror = (event) => failed(event.message); // none where its script did not come
      worker.postMessage({ do: "start", site: String(this.#site), interrupt: this.#interrupt });
    });
  }

  #send(request, told, begun) {
    if (this.#interrupt) this.#interrupt[0] = 0;
    const over = new Promise((resolve, reject) => {
      // of tests that were stopped no verdict is taken
      this.#current = { resolve, reject, told, begun, whole: request.do === "grade" };
      this.#to("busy");
      this.#worker.postMessage(request);
    });
    this.#current.over = over.then(() => {}, () => {});
    return over;
  }
}
