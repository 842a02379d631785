// Python in a worker: started when it is first needed, given one thing at a time, and stopped.

/** What a request ends with when the reader stopped it. */
export class Stopped extends Error {}

const BROKEN = {
  depth: "the code nested deeper than Python can in a page, and it had to be started anew",
  exit: "the code ended Python itself, and it had to be started anew",
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
 * loaded in `progress` ({step, steps, loaded, total}: bytes) and why it failed in `problem`.
 */
export class Python extends EventTarget {
  state = "off";
  progress = null;
  problem = "";
  /** What Python began from: "nothing", or the "memory" that the browser kept. */
  from = "";
  /** Counts the starts: what ran in an earlier one is gone. */
  round = 0;

  #site; #worker; #started; #giveUp; #interrupt; #current; #queue = Promise.resolve();

  constructor(site) {
    super();
    this.#site = site;
  }

  /** Start Python; resolves when it is there. */
  start() {
    return (this.#started ??= this.#start());
  }

  /**
   * Start Python before it is asked for: when the reader points at a button that needs it, goes
   * into an editor, or, where this browser ran it before, as soon as the page has nothing to do.
   */
  startBeforeAsked() {
    const start = () => this.start().catch(() => {}); // the state tells why
    const near = ({ target }) => {
      if (target.closest?.('[data-needs="python"], .cm-editor')) start();
    };
    document.addEventListener("pointerover", near, { passive: true });
    document.addEventListener("focusin", near);
    if (wasHere() && !navigator.connection?.saveData) {
      (globalThis.requestIdleCallback ?? ((later) => setTimeout(later, 2000)))(start);
    }
  }

  /** Ask for something after all that was asked before; `told(stream, text)` hears what is printed. */
  ask(request, told = () => {}) {
    const round = this.round;
    const asked = this.#queue.then(async () => {
      if (round !== this.round && round !== 0) throw new Stopped();
      await this.start();
      return this.#send(request, told);
    });
    this.#queue = asked.catch(() => {});
    return asked;
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
  #end() {
    this.#worker?.terminate();
    this.#worker = this.#started = undefined;
    this.progress = null;
    this.round += 1;
    this.#giveUp?.(new Stopped());
    this.#current?.reject(new Stopped());
    this.#current = undefined;
    this.#queue = Promise.resolve();
    this.#to("off");
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
        this.problem = text;
        this.progress = null;
        this.#worker?.terminate();
        this.#worker = this.#started = undefined;
        this.#to("failed");
        reject(new Error(text));
        this.#current?.reject(new Error(text));
      };
      worker.onmessage = ({ data }) => {
        if (worker !== this.#worker) return;
        if (data.progress !== undefined) { // also while something runs that needs more
          this.progress = data.progress;
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
          this.#current?.reject(new Error(BROKEN[data.broken]));
          this.#end();
        } else if (data.text !== undefined) {
          this.#current?.told(data.stream, data.text);
        } else {
          const current = this.#current;
          this.#current = undefined;
          this.#to("ready");
          if (current?.stopped && current.whole) current.reject(new Stopped());
          else if (data.error) current?.reject(new Error(data.error));
          else current?.resolve(data.result);
        }
      };
      worker.onerror = (event) => failed(event.message || "the worker could not be started");
      worker.postMessage({ do: "start", site: String(this.#site), interrupt: this.#interrupt });
    });
  }

  #send(request, told) {
    if (this.#interrupt) this.#interrupt[0] = 0;
    const over = new Promise((resolve, reject) => {
      // of tests that were stopped no verdict is taken
      this.#current = { resolve, reject, told, whole: request.do === "grade" };
      this.#to("busy");
      this.#worker.postMessage(request);
    });
    this.#current.over = over.then(() => {}, () => {});
    return over;
  }
}
