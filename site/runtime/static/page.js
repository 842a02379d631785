// Small things that several modules need to put elements into a page.

/** Make an element: `element("p", {className: "note"}, "text", another)`. */
export function element(name, properties = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside.filter((each) => each !== null && each !== undefined));
  return made;
}

/**
 * Make a button that calls `pressed`.  If that gives a promise, the button shows that it waits for
 * it, and why it failed.
 */
export function button(text, pressed, properties = {}) {
  const made = element("button", { type: "button", className: "mg-button",
                                   onclick: () => awaited(made, pressed()), ...properties }, text);
  return made;
}

async function awaited(pressed, work) {
  if (!work?.then) return;
  if (pressed.nextElementSibling?.matches(".mg-failed")) pressed.nextElementSibling.remove();
  pressed.setAttribute("aria-busy", "true");
  try {
    await work;
  } catch (problem) {
    pressed.after(element("span", { className: "mg-failed", role: "status" }, `not done: ${plainly(problem)}`));
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}

/** The browsers' error texts for a host that does not answer. */
const NO_ANSWER = /failed to fetch|networkerror|load failed|dynamically imported module|network error/i;

/** Return in words what went wrong. */
export function plainly(problem) {
  const text = problem?.message ?? problem;
  return !text || NO_ANSWER.test(text) ? "the site did not answer; is this device online?" : text;
}

/** Fill a place that the page left for buttons, so that nothing moves; it is a group of this name. */
export function filled(place, name, ...inside) {
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", name);
  place.append(...inside);
  return place;
}

/** Return pieces to put into an element: what stands in `backticks` as code. */
export const coded = (text) => text.split("`").map((piece, place) =>
  (place % 2 ? element("code", {}, piece) : piece));

/** Ask which of several things to do, {key: words}; resolves to the key, or to null. */
export function choice(question, options) {
  return new Promise((resolve) => {
    const answer = (key) => () => { resolve(key); dialog.close(); };
    const dialog = element("dialog", { className: "mg-dialog md-typeset", "aria-label": question },
      element("p", {}, question),
      element("div", { className: "mg-tools" },
        ...Object.entries(options).map(([key, words]) => button(words, answer(key))),
        button("Cancel", answer(null))));
    dialog.addEventListener("close", () => { resolve(null); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** What the keyboard does in an editor; it stands on the page wherever there is one. */
export const KEYS = "In the editor Tab indents, Escape and then Tab leads out of it, Ctrl+Enter runs.";

/** Return text without the line ends that stand last. */
export const trimmed = (text) => text.replace(/\n+$/, "");

/** Load the editor; the same promise each time. */
let editors;
export const loadEditor = () => (editors ??= fetchedAgain("editor.js"));

/** Import a module; one that could not be fetched is remembered by its address, so ask by another. */
let tries = 0;
const fetchedAgain = (name) => import(`./${name}${tries ? `?${tries}` : ""}`).catch((problem) => {
  editors = undefined;
  tries += 1;
  throw problem;
});

/** Keep telling how Python is, in the page's root: style sheets and tests look there. */
export function follow(python, told = () => {}) {
  const root = document.documentElement;
  python.addEventListener("state", () => {
    root.dataset.mgPython = python.state;
    root.dataset.mgFrom = python.from;
    told(python.state);
  });
}

/** Go to the place that the address names once more: what stands above it has its height now. */
export function toPlaceAgain() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (place && performance.now() < 10_000) place.scrollIntoView();
}
