// Every page: what the reader solved is marked in navigation, tables and contents, and the way on shown.
// It also asks the browser to keep the site.

import { progress, watchProgress } from "./store.js";

const runtime = new URL("./", import.meta.url);
const capstone = "14_capstone";
let stages;

/** How much of a stage is solved: "all", "3/6", or "" for nothing. */
function done(stage, holes) {
  const count = stage.holes.filter(({ id }) => holes[id]?.solved).length;
  return count === 0 ? "" : count === stage.holes.length ? "all" : `${count}/${stage.holes.length}`;
}

/** The exercise to go on with: the first open one after that solved last, else the first open one. */
function nextOpen(known, holes) {
  const all = known.flatMap((stage) => stage.holes.map((hole) => ({ ...hole, stage })));
  let last = -1;
  all.forEach(({ id }, place) => {
    const when = holes[id]?.solved;
    if (when && (last < 0 || when >= holes[all[last].id].solved)) last = place;
  });
  const isOpen = ({ id }) => !holes[id]?.solved;
  return all.slice(last + 1).find(isOpen) ?? all.find(isOpen) ?? null;
}

const mark = (link, how) => {
  if (how) link.dataset.mgDone = how;
  else delete link.dataset.mgDone;
};

function markLinks(holes) {
  const byKey = new Map(stages.map((stage) => [stage.key, stage]));
  for (const link of document.querySelectorAll(".md-nav a[href], td a[href]")) {
    const { pathname, hash } = new URL(link.href);
    const exercise = /^#ex-(\w+)-(\d+)$/.exec(hash);
    const turn = /^Your turn: (\w+\.\d+)/.exec(link.textContent.trim());
    const lesson = /\/(?:lessons|exercises)\/(\w+)\/$/.exec(pathname);
    if (exercise) mark(link, holes[`${exercise[1]}.${exercise[2]}`]?.solved ? "all" : "");
    else if (turn) mark(link, holes[turn[1]]?.solved ? "all" : "");
    else if (!hash && lesson && byKey.has(lesson[1])) mark(link, done(byKey.get(lesson[1]), holes));
  }
}

function showWayOn(holes) {
  const next = nextOpen(stages, holes);
  // a stage after the capstone is an encore: its exercises are offered once it is begun
  const [text, address] = next && (next.stage.key < capstone || done(next.stage, holes))
    ? [`Continue with ${next.id} ${next.title}`,
       `lessons/${next.stage.key}/#ex-${next.id.replace(".", "-")}`]
    : ["All exercises are solved: the capstone", `lessons/${capstone}/`];
  const href = new URL(`../${address}`, runtime).href;
  const start = document.querySelector("a[data-start]");
  if (start) {
    start.textContent = text;
    start.href = href;
    return;
  }
  const here = location.pathname.slice(new URL("../", runtime).pathname.length);
  if (!["course/", "lessons/", "exercises/"].includes(here)) return;
  const shown = document.querySelector(".mg-continue") ?? document.createElement("p");
  shown.className = "mg-continue";
  shown.innerHTML = '<a class="md-button md-button--primary"></a>';
  Object.assign(shown.firstChild, { textContent: text, href });
  document.querySelector("article h1")?.after(shown);
}

async function show() {
  const { holes } = progress();
  if (!Object.values(holes).some((each) => each.solved) && !stages) return; // a first visit
  stages ??= (await (await fetch(new URL("holes.json", runtime))).json()).stages;
  markLinks(holes);
  if (Object.values(holes).some((each) => each.solved)) showWayOn(holes);
}

watchProgress(show);
addEventListener("pageshow", show);
show();

/** Keep the site for times without a network; when the page has nothing else to fetch. */
async function keepSite() {
  await navigator.serviceWorker?.register(new URL("../service_worker.js", runtime)).catch(() => {});
}
if (document.readyState === "complete") keepSite();
else addEventListener("load", keepSite);
