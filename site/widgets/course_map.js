// The map of the course: how much is solved, and what a stage builds on.

import { progress } from "../runtime/store.js";

const map = document.querySelector(".mg-map");
const stages = [...map.querySelectorAll("li")].map((element) => ({
  element, key: element.dataset.stage, holes: element.dataset.holes.split(" ").filter(Boolean),
  back: element.dataset.back.split(" ").filter(Boolean), link: element.querySelector("a"),
  number: element.querySelector("b").textContent,
}));
const says = map.querySelector(".mg-map-says");

/** Fill the rings, and say how much is solved; runtime/progress.js leads on. */
function show() {
  const known = progress().holes, solved = (hole) => Boolean(known[hole]?.solved);
  let count = 0;
  for (const { element, holes } of stages) {
    const done = holes.filter(solved).length;
    count += done;
    element.classList.toggle("mg-all", holes.length > 0 && done === holes.length);
    element.querySelector(".mg-solved").setAttribute("stroke-dasharray", `${100 * done / (holes.length || 1)} 100`);
    const facts = element.querySelector("small");
    facts.dataset.plain ??= facts.textContent;
    facts.textContent = done ? facts.dataset.plain.replace(/(\d+) exercises/, `${done} of $1 solved`) : facts.dataset.plain;
  }
  const total = stages.reduce((sum, { holes }) => sum + holes.length, 0);
  says.textContent = count ? `Of your own engine, ${count} of ${total} pieces are written.` : "";
  return says.textContent;
}

let plain = show();
addEventListener("storage", () => { plain = show(); });

/** Light what a stage builds on and what builds on it, and say so. */
function point(stage) {
  for (const each of stages) {
    each.element.classList.toggle("mg-before", Boolean(stage?.back.includes(each.key)));
    each.element.classList.toggle("mg-after", Boolean(stage && each.back.includes(stage.key)));
  }
  const list = (some) => some.map(({ number }) => number).join(", ");
  if (!stage) says.textContent = plain;
  else {
    const before = stages.filter(({ key }) => stage.back.includes(key)), after = stages.filter(({ back }) => back.includes(stage.key));
    says.textContent = `${stage.number}${before.length ? ` builds on ${list(before)}` : " stands alone"}` +
      `${after.length ? `; ${list(after)} ${after.length > 1 ? "lead" : "leads"} back to it` : ""}.`;
  }
}
for (const stage of stages) {
  for (const event of ["pointerenter", "focusin"]) stage.element.addEventListener(event, () => point(stage));
  for (const event of ["pointerleave", "focusout"]) stage.element.addEventListener(event, () => point(null));
}
