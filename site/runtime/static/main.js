// Every page of a lesson or of exercises loads this; it hands over to what the page needs.

import { toPlaceAgain } from "./page.js";
import { Python } from "./python.js";

const data = JSON.parse(document.getElementById("mg-data").textContent);
const site = new URL(`${data.root}/`, document.baseURI);
const python = new Python(site);

if (data.page === "lesson") {
  const { Lesson } = await import("./lesson.js");
  new Lesson(data, site, python);
} else {
  const { Exercises } = await import("./exercises.js");
  new Exercises(data, site, python);
}
python.startBeforeAsked();
toPlaceAgain();
document.documentElement.dataset.mgReady = "yes"; // the page's tools are there
