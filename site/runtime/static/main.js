// Every page of a lesson or of exercises loads this; it hands over to what the page needs.

const data = JSON.parse(document.getElementById("mg-data").textContent);
const site = new URL(`${data.root}/`, document.baseURI);

const style = document.createElement("link");
style.rel = "stylesheet";
style.href = new URL("runtime/runtime.css", site);
document.head.append(style);

if (data.page === "lesson") {
  const { Lesson } = await import("./lesson.js");
  new Lesson(data, site);
} else {
  const { Exercises } = await import("./exercises.js");
  await new Exercises(data, site).show();
}
document.documentElement.dataset.mgReady = "yes"; // the page's tools are there
