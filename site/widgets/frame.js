// Brings the figures of a page to life: the build drew them, this listens. A change of the state
// draws the picture again; the address keeps the state, so that it can be sent to somebody.

import { controls, counted, initial } from "./figure.js";
import { WIDGETS } from "./index.js";

/** How long after the last change the sentence is read aloud, in milliseconds. */
const QUIET = 500;
/** How far the pointer moves for one step of a number, in pixels. */
const A_STEP = 6;

class Figure {
  constructor(widget, element) {
    this.widget = widget;
    this.element = element;
    this.options = JSON.parse(element.dataset.options);
    this.first = initial(widget, this.options);
    this.state = { ...this.first };
    this.take(this.addressed());
    this.look = null;
    this.bar = element.querySelector(".mg-controls");
    this.shape = JSON.stringify(widget.controls(this.first, this.options)); // of what the build drew
    for (const [event, handler] of Object.entries({
      input: this.typed, change: this.settled, click: this.pressed, keydown: this.keyed,
      pointerover: this.seen, pointerleave: this.unseen, focusin: this.seen, focusout: this.unseen,
      pointerdown: this.dragged,
    })) element.addEventListener(event, handler.bind(this));
    if (JSON.stringify(this.state) !== JSON.stringify(this.first)) this.update();
    element.dataset.ready = "yes";
    widget.begin?.(this.options)?.then(() => { // it may offer more now: also what the address asked for
      this.take(this.addressed());
      this.update();
    }, () => {}); // it offers no more than the build drew
  }

  /** What the address says of this figure: `?figure.name=value`. */
  addressed() {
    const found = {};
    for (const [key, value] of new URLSearchParams(location.search)) {
      const [figure, name] = key.split(".");
      if (figure !== this.element.dataset.name || !name) continue;
      found[name] = this.typedAs(name, value);
    }
    return found;
  }

  /** A text as the kind of value that a name has. */
  typedAs(name, text) {
    const known = this.first[name] ?? this.widget.controls({ ...this.first, [name]: text }, this.options)
      .find((each) => each.name === name)?.initial;
    if (typeof known === "boolean") return text === "true";
    return text !== "" && (typeof known === "number" || known === undefined) && Number.isFinite(Number(text))
      ? Number(text) : typeof known === "number" ? known : text;
  }

  shapeNow() {
    return JSON.stringify(this.widget.controls(this.state, this.options));
  }

  /** Take some of the state over, within what the controls allow. */
  take(changes) {
    for (const [name, value] of Object.entries(changes)) {
      const { min = -Infinity, max = Infinity, options = null } = this.widget.controls(this.state, this.options)
        .find((each) => each.name === name) ?? {};
      if (options && value !== this.first[name] && !options.some(([key]) => key === String(value))) continue; // as an address may say
      this.state[name] = typeof value === "number" ? Math.min(Math.max(value, min), max) : value;
    }
    if (this.widget.settle) Object.assign(this.state, this.widget.settle(this.state));
    for (const each of this.widget.controls(this.state, this.options)) this.state[each.name] ??= each.initial;
  }

  /** Change some of the state and show it; `settle` also writes it into the address. */
  set(changes, settle = true) {
    this.take(changes);
    this.update();
    if (settle) this.keep();
  }

  /** What is shown; engines are asked only after the reader pressed or touched what needs Python. */
  model() {
    return this.widget.model(this.state, Boolean(this.asks));
  }

  update() {
    const { widget, state, element } = this, model = this.model();
    element.classList.toggle("mg-stale", Boolean(model.error)); // the picture is of what was there before
    model.pending?.then(() => { if (this.state === state && this.model() !== model) this.set({}, false); });
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.dataset.key;
    this.drawing = true; // a shape that goes while it has the focus tells so
    for (const canvas of element.querySelectorAll(".mg-canvas")) {
      const view = { wide: canvas.dataset.view === "wide", look: this.look };
      const drawn = widget.draw(model, state, view);
      if (drawn !== null) canvas.innerHTML = drawn;
      if (key && focused && !focused.isConnected) {
        [...canvas.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key && each.checkVisibility?.() !== false)
          ?.focus({ preventScroll: true });
      }
    }
    this.drawing = false;
    const says = element.querySelector(".mg-says"), aloud = element.querySelector(".mg-aloud");
    const before = says.textContent;
    says.innerHTML = widget.say(model, state, { wide: true, look: this.look });
    this.beside(model, says);
    if (says.textContent !== before) { // else a figure that fetched something would speak by itself
      aloud.textContent = ""; // an error that is mended is not read again
      clearTimeout(this.timer);
      this.timer = setTimeout(() => { aloud.textContent = says.textContent; }, QUIET);
    }
    const shape = this.shapeNow();
    if (shape !== this.shape) {
      this.shape = shape;
      const active = document.activeElement, name = this.bar.contains(active) ? active.dataset.control : null;
      const value = name && active.dataset.value ? `[data-value="${CSS.escape(active.dataset.value)}"]` : "";
      const caret = name && "selectionStart" in active ? active.selectionStart : null;
      const reset = this.bar.querySelector("[data-reset]");
      this.bar.innerHTML = controls(widget, state, this.options, element.id);
      this.bar.append(reset);
      const again = name && this.bar.querySelector(`[data-control="${CSS.escape(name)}"]${value}`);
      again?.focus({ preventScroll: true });
      if (again && caret !== null && again.type !== "number") again.setSelectionRange?.(caret, caret);
    }
    this.fields();
    if (!model.error && !model.pending) this.mark(model);
    this.bar.querySelector("[data-reset]").hidden = JSON.stringify(state) === JSON.stringify(this.first);
  }

  /** Mark what readers have reached of what they are asked for; it stays marked. */
  mark(model) {
    const places = this.element.querySelectorAll(".mg-goals b");
    this.widget.goals?.forEach(({ reached }, i) => {
      if (reached(model, this.state)) places[i].hidden = false;
    });
  }

  /** Show below the sentence how Python is while it is awaited, or a way to ask again. */
  beside({ line, again }, says) {
    this.line?.remove();
    this.line = line;
    if (again) {
      this.line = Object.assign(document.createElement("button"), { type: "button", textContent: "Try again", className: "mg-engine" });
      this.line.addEventListener("click", () => { again(); this.update(); });
    }
    if (this.line) says.after(this.line);
  }

  /** Bring the controls up to the state, but not the one that is typed in. */
  fields() {
    for (const each of this.bar.querySelectorAll("[data-control]")) {
      const value = this.state[each.dataset.control];
      if (each.tagName === "BUTTON") {
        if ("value" in each.dataset) each.setAttribute("aria-pressed", String(String(value) === each.dataset.value));
      } else if (each.type === "checkbox") each.checked = value;
      else if (each !== document.activeElement || each.type === "range") {
        if (each.value !== String(value)) each.value = value;
      }
      const count = each.parentElement.querySelector("output");
      if (count && each.type === "range") count.textContent = counted(value, each.max);
    }
  }

  typed({ target }) {
    const name = target.dataset.control;
    if (!name || target.tagName === "BUTTON") return;
    const value = target.type === "checkbox" ? target.checked
      : ["range", "number"].includes(target.type) ? target.valueAsNumber : target.value;
    if (Number.isNaN(value)) return;
    this.set({ [name]: value }, false);
    if (target.type === "number") this.limit(target, value);
  }

  /** Say beside a field which limit a number is beyond. */
  limit(field, value) {
    const { min, max } = field, words = max !== "" && value > Number(max) ? `at most ${max}`
      : min !== "" && value < Number(min) ? `at least ${min}` : "";
    let said = field.parentElement.querySelector(".mg-limit");
    if (!said && !words) return;
    if (!said) {
      said = document.createElement("span");
      said.className = "mg-limit";
      said.setAttribute("role", "status");
      field.after(said);
    }
    said.textContent = words.replace("-", "−");
  }

  /** A field was left, or Enter was pressed in it: it shows the number that counts. */
  settled({ target }) {
    if (target.type === "number" && target.dataset.control) target.value = this.state[target.dataset.control];
    this.fields();
    this.keep();
  }

  pressed(event) {
    const target = event.target.closest("[data-set], [data-reset], button[data-control]");
    if (!target || this.moved) return;
    if ("reset" in target.dataset) {
      this.state = { ...this.first };
      this.look = null;
      this.update();
      this.keep();
      this.bar.querySelector("input, textarea, button")?.focus({ preventScroll: true });
    } else if (target.dataset.needs) this.run();
    else if (target.dataset.set) this.set(JSON.parse(target.dataset.set));
    else if (target.dataset.by) {
      const name = target.dataset.control;
      this.set({ [name]: this.state[name] + Number(target.dataset.by) });
    } else this.set({ [target.dataset.control]: this.typedAs(target.dataset.control, target.dataset.value) });
  }

  /** Run the reader's program, once more if it ran before. */
  run() {
    this.asks = true;
    this.widget.run();
    this.update();
  }

  /** Enter and Space press a shape; arrows move what can be dragged; Ctrl+Enter runs a program. */
  keyed(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.dataset.needs) {
      event.preventDefault();
      this.run();
    }
    const shape = event.target.closest("svg [tabindex]");
    if (!shape) return;
    if (["Enter", " "].includes(event.key) && shape.dataset.set) {
      event.preventDefault();
      this.set(JSON.parse(shape.dataset.set));
    }
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const leap = { PageUp: 10, PageDown: -10, End: Infinity, Home: -Infinity }[event.key];
    if (leap && shape.dataset.scrub) {
      event.preventDefault();
      this.leap(shape.dataset.scrub, leap);
    }
    if (!by) return;
    if (shape.dataset.scrub) {
      event.preventDefault();
      this.nudge(shape.dataset.scrub, by[0] + by[1]);
    } else if (shape.dataset.drag && this.widget.nudge) {
      event.preventDefault();
      this.set(this.widget.nudge(shape.dataset.drag, by, this.state));
    }
  }

  /** Move a number by so many of its steps. */
  nudge(name, steps, from = this.state[name]) {
    const { step = 0.1 } = this.widget.controls(this.state, this.options).find((each) => each.name === name) ?? {};
    this.set({ [name]: Number((Math.round(from / step + steps) * step).toPrecision(10)) });
  }

  /** Move a number by ten of its steps, or to the end of its range. */
  leap(name, steps) {
    const { min, max } = this.widget.controls(this.state, this.options).find((each) => each.name === name) ?? {};
    if (Number.isFinite(steps)) this.nudge(name, steps);
    else this.set({ [name]: (steps > 0 ? max : min) ?? this.state[name] });
  }

  seen({ type, target }) {
    if (type === "focusin" && target.matches("textarea[data-needs]") && !this.asks && !navigator.connection?.saveData) {
      this.asks = true;
      this.update();
    }
    const look = target.closest("[data-look]")?.dataset.look ?? null;
    if (look === this.look || this.dragging || this.drawing) return;
    this.look = look;
    this.update();
  }

  unseen({ type, relatedTarget }) {
    if (type === "focusout" && this.element.contains(relatedTarget)) return;
    if (this.look === null || this.dragging || this.drawing) return;
    this.look = null;
    this.update();
  }

  /** Drag a shape to a place (data-drag), or a number sideways (data-scrub). */
  dragged(event) {
    this.moved = false;
    const shape = event.target.closest("[data-drag], [data-scrub]");
    if (!shape || event.button > 0) return;
    const { drag, scrub } = shape.dataset, begun = this.state[scrub], x = event.clientX;
    const canvas = shape.closest(".mg-canvas");
    const move = (at) => {
      const opens = !this.dragging; // the first move since the pointer went down
      if (Math.abs(at.clientX - x) > 3 || drag) this.moved = this.dragging = true;
      if (!this.dragging) return;
      at.preventDefault();
      if (drag) {
        const svg = canvas.querySelector("svg"), point = new DOMPoint(at.clientX, at.clientY)
          .matrixTransform(svg.getScreenCTM().inverse());
        this.set(this.widget.drag(drag, [point.x, point.y], this.state, { wide: canvas.dataset.view === "wide", begun: opens }), false);
      } else this.nudge(scrub, Math.round((at.clientX - x) / A_STEP), begun);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (this.dragging) this.keep();
      this.dragging = false;
      setTimeout(() => { this.moved = false; });
    };
    addEventListener("pointermove", move, { passive: false });
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  /** Write what differs from the beginning into the address. */
  keep() {
    const address = new URL(location), figure = this.element.dataset.name;
    for (const key of [...address.searchParams.keys()]) {
      if (key.startsWith(`${figure}.`)) address.searchParams.delete(key);
    }
    for (const [name, value] of Object.entries(this.state)) {
      if (value !== this.first[name]) address.searchParams.set(`${figure}.${name}`, value);
    }
    history.replaceState(history.state, "", address);
  }
}

for (const element of document.querySelectorAll("figure[data-widget]")) {
  const { default: widget } = await WIDGETS[element.dataset.widget]();
  new Figure(widget, element);
}
document.documentElement.dataset.mgWidgets = "yes"; // all figures listen
