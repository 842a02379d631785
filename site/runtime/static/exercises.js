// The page of all exercises of a stage; lessons have the same exercises in their places.

import { Exercise } from "./exercise.js";
import { button, element, filled, follow } from "./page.js";
import { StageWork } from "./stage.js";
import { statusLine } from "./status.js";
import { exported, imported } from "./workspace.js";

/** Put the editors of a stage into the page. */
export function showExercises(data, site, python) {
  const stage = new StageWork(data, site, python);
  stage.exercises = [...document.querySelectorAll(".mg-exercise")].map((section) => new Exercise(
    stage, data.holes.find((hole) => hole.id === section.dataset.hole), section));
  stage.exercises.at(-1)?.section.after(keepPanel(site));
  return stage;
}

/** The page of exercises alone: a bar above them tests them all. */
export class Exercises {
  constructor(data, site, python) {
    this.stage = showExercises(data, site, python);
    const stop = button("Stop", () => { this.stage.stop(); }, { disabled: true });
    const points = element("span", { className: "mg-result mg-points", role: "status" });
    const test = async () => {
      points.textContent = "";
      points.textContent = await this.stage.test(this.stage.exercises);
    };
    const all = button("Test all", async () => {
      all.disabled = true;
      await test();
      all.disabled = false;
    }, { "data-needs": "python" });
    filled(document.querySelector(".mg-bar"), "All exercises", all, stop, points, statusLine(python));
    follow(python, (state) => { stop.disabled = state !== "busy" && state !== "loading"; });
  }
}

function keepPanel(site) {
  const said = element("span", { className: "mg-result", role: "status" });
  const chosen = element("input", { type: "file", accept: ".zip,.json", hidden: true });
  chosen.addEventListener("change", async () => {
    const [file] = chosen.files;
    chosen.value = "";
    if (!file || !confirm("What is kept in this browser is replaced. Go on?")) return;
    try {
      const taken = await imported(site, file);
      said.textContent = `taken over, with ${taken} files`;
      location.reload();
    } catch (problem) {
      said.textContent = `not taken over: ${problem.message}`;
    }
  });
  const save = async () => {
    try {
      const address = URL.createObjectURL(await exported(site));
      element("a", { href: address, download: "minigrad-work.zip" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      said.textContent = "saved as minigrad-work.zip";
    } catch (problem) {
      said.textContent = `not saved: ${problem.message}`;
    }
  };
  return element("div", { className: "mg-keep" },
    element("p", {}, "What you write and solve is kept in this browser, and nowhere else. " +
      "Exported, it is a workspace of the terminal's course: unpack the zip and call ",
      element("code", {}, "minigrad learn --dir minigrad-work"),
      ". Imported is a zip of such a folder, or its progress.json alone."),
    element("div", { className: "mg-tools", role: "group", "aria-label": "Your work" },
      button("Export my work", save), button("Import …", () => chosen.click()), chosen, said));
}
