// The worker: Pyodide, NumPy, the package, and what is asked of them.  Everything is fetched from
// the site itself; `manifest.json`, which build.py writes, says what there is.

let pyodide, blocks, loaded, manifest, base, drawing, besideNumpy;

const tell = (message) => self.postMessage(message);

// Freeing a long graph nests as deep as the graph is long.  Where the browser lets WebAssembly
// switch stacks, Python is called on a stack of its own, which is twice as deep as a worker's.
const SWITCHES = "Suspending" in WebAssembly;

async function call(object, method, ...given) {
  const called = object[method];
  try {
    return await (SWITCHES ? called.callPromising(...given) : called(...given));
  } finally {
    called.destroy();
  }
}

/** Fetch a file that the manifest names, and check that it is the one that was built. */
async function file({ path, integrity }) {
  const answer = await fetch(new URL(path, base), { integrity });
  if (!answer.ok) throw new Error(`${path} could not be fetched (${answer.status})`);
  return answer.arrayBuffer();
}

const ENVIRONMENT = { HOME: "/home/pyodide", PYTHONHASHSEED: "0", NO_COLOR: "1", COLUMNS: "100",
                      OMP_NUM_THREADS: "1" };

// --- how far loading is -----------------------------------------------------------------------

let told = { step: "", done: 0, steps: 0, loaded: 0, total: 0, starts: false }, lastTold = 0;
const arrived = new Set();
const awaited = new Set(); // the files whose bytes are counted, by their names in the manifest

function progress(more, now = true) {
  told = { ...told, ...more };
  if (!now && performance.now() - lastTold < 100) return;
  lastTold = performance.now();
  tell({ progress: told });
}

/** Count the bytes of these files from now on. */
function awaitBytes(step, steps, names) {
  for (const name of names) awaited.add(name);
  progress({ step, steps, done: 0, loaded: 0, starts: false,
             total: names.reduce((sum, name) => sum + manifest.sizes[name], 0) });
}

// Once these are there Python starts, which leaves the worker no time to tell of other bytes.
const WASM = "pyodide/pyodide.asm.wasm";
const PYTHON = [`${WASM}.gz`, "pyodide/python_stdlib.zip"];

// Pyodide fetches for itself: its bytes are counted on the way, and its largest file is unpacked here,
// because not every host compresses it.
const plainFetch = self.fetch.bind(self);
const nameIn = (address) => new URL(address, base).pathname.slice(base.pathname.length);
self.fetch = async (asked, options) => {
  if (!base || nameIn(asked.url ?? asked) !== WASM) return counted(asked, options);
  const packed = await counted(new URL(`${WASM}.gz`, base));
  if (!packed.ok) return packed;
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip")),
                      { headers: { "Content-Type": "application/wasm" } });
};

async function counted(asked, options) {
  const answer = await plainFetch(asked, options);
  const name = base && nameIn(asked.url ?? asked);
  if (!answer.ok || !answer.body || !awaited.delete(name)) return answer;
  const body = answer.body.pipeThrough(new TransformStream({
    transform(piece, next) {
      progress({ loaded: told.loaded + piece.byteLength }, false);
      next.enqueue(piece);
    },
    flush() {
      arrived.add(name);
      if (PYTHON.includes(name) && PYTHON.every((each) => arrived.has(each))) progress({ starts: true });
    },
  }));
  return new Response(body, { status: answer.status, headers: answer.headers });
}

const nameOf = ({ path }) => path.split("?")[0];

async function start({ site, interrupt }) {
  base = new URL("runtime/", site);
  manifest = await (await fetch(new URL("manifest.json", base), { cache: "no-cache" })).json();
  const numpyFile = `pyodide/${manifest.numpy}`;
  awaitBytes("Python", 3, [...PYTHON, numpyFile,
                           nameOf(manifest.package), nameOf(manifest.compiled_package)]);
  const [code, compiled] = [manifest.package, manifest.compiled_package].map(file);
  // NumPy is asked for now, so that it is there when loadPackage asks, which checks it
  const numpy = fetch(new URL(numpyFile, base)).then((got) => got.arrayBuffer());
  for (const each of [code, compiled, numpy]) each.catch(() => {}); // told when it is awaited
  const from = await startPython();
  progress({ starts: false });
  await numpy.catch(() => {});
  progress({ step: "NumPy", done: 1 });
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  if (!pyodide.loadedPackages.numpy) throw new Error("NumPy could not be loaded");
  unpack(await code);
  pyodide.unpackArchive(await compiled, "gztar", { extractDir: "/" });
  progress({ step: "minigrad", done: 2, loaded: told.total });
  const later = pyodide.runPython(`
import sys
sys.path.insert(0, "/course")
import blocks, later, minigrad
later
`);
  besideNumpy = later.PLACE;
  later.install(fetchFor);
  blocks = pyodide.runPython("blocks.Blocks()");
  if (interrupt) pyodide.setInterruptBuffer(interrupt);
  tell({ ready: true, from });
  load("more"); // few pages import it: it is fetched now so that it is kept
}

const unpack = (archive) => pyodide.unpackArchive(archive, "gztar", { extractDir: "/course" });

/**
 * The parts that come later: "more" of minigrad, and of Python's library and NumPy what the lessons do
 * not import, "library" (what the tests do) and "rest".
 */
const parts = {}, here = new Set();
const archiveOf = (part) => manifest[part === "more" ? part : `${part}_archive`];
const PARTED = ["encodings", "numpy"]; // as in build.py

function unpackPart(part, archive) {
  if (part === "more") unpack(archive);
  else pyodide.unpackArchive(archive, "gztar", { extractDir: besideNumpy });
  here.add(part);
}

async function load(part) {
  parts[part] ??= file(archiveOf(part)).then((archive) => here.has(part) || unpackPart(part, archive));
  await parts[part].catch(() => { delete parts[part]; }); // the import tells why
}

const namesMore = (code) => new RegExp(`\\b(${manifest.later.join("|")})\\b`).test(code);

/** The modules that a program's text imports: "a" and "a.b" for `import a.b` and for `from a import b`. */
function imported(code) {
  const lines = code.matchAll(/^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t(]+([\w., \t]+)/gm);
  const named = [...lines].flatMap(([, from, names]) => names.split(",")
    .map((each) => [from, each.trim().split(/\s/)[0]].filter(Boolean).join(".").split(".")));
  return new Set(named.flatMap(([top, next]) => [top, `${top}.${next}`]));
}

/** Fetch what a program's text names of what is not here yet. */
async function loadNamed(code) {
  const names = imported(code);
  await Promise.all([namesMore(code) && load("more"),
    ...Object.entries(manifest.rest).map(([part, modules]) =>
      modules.some((each) => names.has(each)) && load(part))]);
}

/**
 * Fetch at once the part in which a module is, for an import that was not foreseen (later.py); false
 * where it is nowhere. A service worker is not asked then.
 */
function fetchFor(module) {
  const [top, next] = module.split("."), name = PARTED.includes(top) ? `${top}.${next}` : top;
  const part = ["minigrad", "minigrad_course"].includes(top) ? "more"
    : Object.keys(manifest.rest).find((each) => manifest.rest[each].includes(name));
  if (!part) return false;
  if (here.has(part)) return true; // of a package, a part may lie where Python did not look
  const asked = new XMLHttpRequest(), archive = archiveOf(part);
  asked.open("GET", new URL(archive.path, base), false);
  asked.responseType = "arraybuffer";
  asked.send();
  if (asked.status !== 200) throw new Error(`${nameOf(archive)} (${asked.status})`);
  unpackPart(part, asked.response);
  return true;
}

/** Load the course: its stages and tests.  Only those who write an exercise need it. */
async function loadCourse() {
  const files = [manifest.library_archive, manifest.more, manifest.course, manifest.compiled_course,
                 ...manifest.wheels];
  awaitBytes("The course", 2, files.map(nameOf));
  const [library, more, code, compiled, ...wheels] = await Promise.all(files.map(file));
  unpackPart("library", library);
  unpackPart("more", more);
  unpack(code);
  for (const wheel of wheels) pyodide.unpackArchive(wheel, "wheel");
  pyodide.unpackArchive(compiled, "gztar", { extractDir: "/" });
  progress({ step: "pytest", done: 1, loaded: told.total });
  const made = pyodide.runPython(`
import grading, own
lambda timer: (grading.Grader(timer), own.OwnEngine())
`)((...timer) => tell({ timer })).toJs({ depth: 1 });
  tell({ progress: null });
  return made;
}

/** The grader and the reader's own engine. */
function course() {
  loaded ??= loadCourse();
  loaded.catch(() => { loaded = undefined; }); // it is tried again
  return loaded;
}

/**
 * Start Python itself.  The first time it begins from nothing, and what its memory then holds is
 * kept in the browser; later it begins with that, which is most of the time saved.  Kept for this
 * Pyodide and this browser only; if anything about it fails, Python begins from nothing.
 */
async function startPython() {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", base));
  const given = { indexURL: String(new URL("pyodide/", base)), env: ENVIRONMENT };
  const named = new URLSearchParams({ python: manifest.python, browser: navigator.userAgent,
                                      environment: JSON.stringify(ENVIRONMENT) });
  const name = new URL(`snapshot?${named}`, base);
  const cache = await self.caches?.open("minigrad-python").catch(() => undefined);
  const kept = await cache?.match(name).catch(() => undefined);
  if (kept) {
    try {
      pyodide = await loadPyodide({ ...given, _loadSnapshot: kept.arrayBuffer() });
      return "memory";
    } catch {
      await cache.delete(name);
    }
  }
  pyodide = await loadPyodide({ ...given, _makeSnapshot: Boolean(cache) });
  if (cache) keep(cache, name, pyodide.makeMemorySnapshot()).catch(() => {}); // as without it
  return "nothing";
}

async function keep(cache, name, snapshot) {
  for (const each of await cache.keys()) await cache.delete(each);
  await cache.put(name, new Response(snapshot));
}

/** Load Graphviz, for code that draws; viz/dot.py calls the function by this name. */
async function loadDrawing() {
  const { instance } = await import(new URL("viz.js", base));
  const viz = await instance();
  self.minigradDrawDot = (dot) => viz.renderString(dot, { format: "svg" });
}

/** So much of a program's text is told at once; a page shows no more than that (output.js). */
const SHOWN = 100_000;

/**
 * Tell what is printed as soon as it is: a loop that follows may never end, and then nothing leaves
 * this worker any more. A flood, of which the page shows the beginning, is told in pieces.
 */
function gathered() {
  let stream = "", text = "", sent = 0, last = performance.now();
  const flush = () => {
    if (text) tell({ stream, text });
    sent += text.length;
    text = "";
    last = performance.now();
  };
  const told = (name, more) => {
    if (name !== stream) flush();
    stream = name;
    text += more;
    if (sent < SHOWN || text.length > 10_000 || performance.now() - last > 50) flush();
  };
  return { told, flush };
}

const work = {
  async run({ code, name }) {
    await loadNamed(code);
    if (/\bgraph|\bviz\b/.test(code)) await (drawing ??= loadDrawing());
    tell({ begun: true });
    const { told, flush } = gathered();
    try {
      return JSON.parse(await call(blocks, "execute", code, name, told));
    } finally {
      flush();
    }
  },
  async own({ code, name, own }) {
    await loadNamed(code);
    if (/\bgraph|\bviz\b/.test(code)) await (drawing ??= loadDrawing());
    const [, engine] = await course();
    tell({ begun: true });
    const { told, flush } = gathered();
    try {
      return JSON.parse(await call(engine, "execute", code, name, told, JSON.stringify(own)));
    } finally {
      flush();
    }
  },
  async answer({ call: name, given, own }) {
    await load("more"); // steps and drawings come from viz
    // JSON's texts are Python's too
    const code = "import questions\nquestions.Text(questions.answered(" +
      `${JSON.stringify(name)}, ${JSON.stringify(JSON.stringify(given))}))`;
    const engine = own && (await course())[1];
    tell({ begun: true });
    if (!own) return JSON.parse(pyodide.runPython(code));
    const answer = JSON.parse(await call(engine, "execute", code, "<figure>", () => {}, JSON.stringify(own)));
    return answer.error ? { error: answer.error } : JSON.parse(answer.value);
  },
  async reset() {
    await call(blocks, "reset");
  },
  async grade({ stage, files, holes }) {
    await loadNamed(Object.values(files).join("\n"));
    const [grader] = await course();
    tell({ begun: true });
    return JSON.parse(await call(grader, "grade", JSON.stringify({ stage, files, holes })));
  },
};

self.onmessage = async ({ data }) => {
  try {
    if (data.do === "start") await start(data);
    else tell({ result: await work[data.do](data) });
  } catch (error) {
    if (data.do === "start") tell({ failed: String(error.message ?? error) });
    else if (/exit/i.test(`${error.name} ${error.message}`)) tell({ broken: "exit" });
    else if (error.pyodide_fatal_error || error instanceof RangeError) tell({ broken: "depth" });
    else tell({ error: String(error.message ?? error) });
  }
};
