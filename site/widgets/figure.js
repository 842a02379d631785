// A widget as markup. The build writes it into the page, so the picture and its sentence are there
// without a script; the frame writes the same again while the reader plays.

import { attributes, escaped } from "./draw.js";

/** The state that a widget begins with: its own, with what the page says. */
export function initial(widget, options = {}) {
  const state = { ...widget.defaults };
  for (const [key, value] of Object.entries(options)) {
    state[key] = typeof state[key] === "number" ? Number(value) : String(value).replaceAll("; ", "\n");
  }
  for (const each of widget.controls(state, options)) state[each.name] ??= each.initial;
  return state;
}

/** One control; each drag and slider has a field beside it for a number. */
export function control(each, value, id) {
  const name = attributes({ "data-control": each.name });
  const label = escaped(each.label);
  if (each.kind === "number") {
    const range = attributes({ min: each.min, max: each.max, step: each.step ?? "any", value });
    return `<span class="mg-control mg-number"><label for="${id}">${label}</label>` +
      `<input type="range"${name}${range} aria-label="${label}">` +
      `<input type="number" id="${id}"${name}${attributes({ min: each.min, max: each.max, step: "any", value })}></span>`;
  }
  if (each.kind === "choice") {
    return `<span class="mg-control mg-choice" role="group" aria-label="${label}"><span>${label}</span>` +
      each.options.map(([key, words]) => `<button type="button"${name}${attributes({ "data-value": key,
        "aria-pressed": String(key === String(value)) })}>${escaped(words)}</button>`).join("") + "</span>";
  }
  if (each.kind === "steps") {
    const range = attributes({ min: 0, max: each.max, step: 1, value });
    return `<span class="mg-control mg-steps"><button type="button"${name} data-by="-1" aria-label="One step back">◀</button>` +
      `<input type="range"${name}${range} aria-label="${label}">` +
      `<button type="button"${name} data-by="1" aria-label="One step on">▶</button>` +
      `<output>${counted(value, each.max)}</output></span>`;
  }
  if (each.kind === "switch") {
    return `<span class="mg-control mg-switch"><label><input type="checkbox"${name}${value ? " checked" : ""}> ${label}</label></span>`;
  }
  if (each.kind === "press") {
    return `<span class="mg-control"><button type="button"${attributes({ "data-set": JSON.stringify(each.set), "data-needs": each.needs })}>${label}</button></span>`;
  }
  if (each.kind === "text") {
    return `<span class="mg-control mg-number"><label for="${id}">${label}</label>` +
      `<input type="text" id="${id}"${name} size="${each.size ?? 8}" value="${escaped(value)}" spellcheck="false" autocapitalize="off"></span>`;
  }
  return `<span class="mg-control mg-lines"><label for="${id}">${label}</label>` +
    `<textarea id="${id}"${name}${attributes({ "data-needs": each.needs })} rows="${each.rows}" spellcheck="false" autocapitalize="off">${escaped(value)}</textarea></span>`;
}

/** How far one is, counted from 1; while the steps are not known there is nothing to count. */
export const counted = (step, most) => (step > most ? "" : `${step + 1} / ${Number(most) + 1}`);

/** What readers are asked to bring about, as a list; the frame marks what they have reached. */
const goals = ({ goals: all = [] }) => (all.length ? `<ul class="mg-goals" aria-label="Try this">${
  all.map(({ words }) => `<li>${words} <b hidden>✓ done</b></li>`).join("")}</ul>` : "");

/** All controls; buttons that stand side by side are one group. */
export function controls(widget, state, options, id) {
  const all = widget.controls(state, options);
  return all.map((each, i) => {
    const made = control(each, state[each.name], `${id}-${i}`), [before, after] = [all[i - 1]?.kind, all[i + 1]?.kind];
    if (each.kind !== "press") return made;
    return `${before === "press" ? "" : '<span class="mg-presses">'}${made}${after === "press" ? "" : "</span>"}`;
  }).join("");
}

/** The whole figure, as it begins. */
export function figure(widget, options, name) {
  const id = `figure-${name}`;
  const state = initial(widget, options), model = widget.model(state);
  const views = widget.views ?? ["wide"];
  const canvases = views.map((view) => {
    const drawn = widget.draw(model, state, { wide: view === "wide" });
    return `<div class="mg-canvas" data-view="${view}">${drawn}</div>`;
  }).join("");
  return `<figure class="mg-widget${views.length > 1 ? " mg-two" : ""}" id="${id}" data-name="${name}" data-widget="${widget.name}"` +
    ` data-options="${escaped(JSON.stringify(options))}" role="group" aria-label="${escaped(widget.title)}">` +
    `<div class="mg-stage">${canvases}</div>` +
    `<p class="mg-says">${widget.say(model, state, { wide: true })}</p>` +
    goals(widget) +
    `<div class="mg-controls">${controls(widget, state, options, id)}` +
    `<button type="button" class="mg-reset" data-reset hidden>Reset</button></div>` +
    `<p class="mg-aloud" aria-live="polite"></p></figure>`;
}
