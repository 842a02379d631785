// What a block gives: text while it is printed, then a value, a picture or an error.

import { element, trimmed } from "./page.js";

/** How much text is shown; a loop that prints for ever must not fill the page. */
const MOST = 100_000;

/** Why a block cannot run in a page, or "" where it went wrong by itself. */
export function notHere(error) {
  if (/can't start new thread/.test(error)) return "a page has no threads";
  const missing = /^ModuleNotFoundError: No module named '(sklearn|torch|PIL|matplotlib)/.exec(error);
  return missing ? `${missing[1]} is not on this page` : "";
}

export class Output {
  #text = { out: "", err: "" }; #size = 0; #last; #waiting = []; #frame;

  constructor() {
    this.element = element("div", { className: "mg-live" });
  }

  /** Add what was printed. */
  told(stream, text) {
    if (this.#size > MOST) return;
    this.#size += text.length;
    if (this.#size > MOST) text = `${text.slice(0, 1000)}\n… and more, which is not shown\n`;
    this.#text[stream] += text;
    if (this.#waiting.at(-1)?.stream === stream) this.#waiting.at(-1).text += text;
    else this.#waiting.push({ stream, text });
    this.#frame ??= requestAnimationFrame(() => this.#show());
  }

  /** Show what has come since the last frame. */
  #show() {
    this.#frame = undefined;
    for (const { stream, text } of this.#waiting.splice(0)) {
      if (this.#last?.dataset.stream !== stream) {
        this.#last = element("pre", { className: `mg-${stream}` });
        this.#last.dataset.stream = stream;
        this.element.append(this.#last);
      }
      this.#last.append(text);
    }
  }

  /** Add what the block ended with. */
  ended({ value, svg, html, error, traceback }) {
    this.#show();
    if (svg) {
      this.element.append(element("img", {
        className: "mg-picture", alt: value || "The graph, drawn",
        src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }));
    }
    if (html) {
      this.element.append(element("iframe", {
        className: "mg-page", title: "What the block draws", srcdoc: html,
        sandbox: "allow-scripts" }));
    }
    if (value && !svg && !html) this.element.append(element("pre", { className: "mg-value" }, value));
    if (error) {
      this.element.append(element("pre", { className: "mg-error" }, error));
      if (traceback) {
        this.element.append(element("details", { className: "mg-trace" },
          element("summary", {}, "Where it came from"), element("pre", {}, traceback)));
      }
    }
    this.result = trimmed(this.#text.out + value + error);
  }
}
