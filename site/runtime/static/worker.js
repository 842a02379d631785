// The worker: Pyodide, NumPy, the package, and what is asked of them.  Everything is fetched from
// the site itself; `manifest.json`, which build.py writes, says what there is.

let pyodide, blocks, grader, manifest, base, drawing;

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

async function start({ site, grading, interrupt }) {
  base = new URL("runtime/", site);
  const total = grading ? 5 : 4;
  let done = 0;
  const step = (name) => tell({ progress: { step: name, done: done++, total } });
  step("Python");
  manifest = await (await fetch(new URL("manifest.json", base), { cache: "no-cache" })).json();
  const wanted = [manifest.course, manifest.compiled];
  if (grading) wanted.push(manifest.compiled_tests, ...manifest.wheels);
  const [course, ...packed] = wanted.map(file);
  // NumPy is asked for now, so that it is there when loadPackage asks, which checks it
  const numpy = fetch(new URL(`pyodide/${manifest.numpy}`, base)).then((got) => got.arrayBuffer());
  for (const each of [course, numpy, ...packed]) each.catch(() => {}); // told when it is awaited
  const from = await startPython();
  step("NumPy");
  await numpy.catch(() => {});
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  if (!pyodide.loadedPackages.numpy) throw new Error("NumPy could not be loaded");
  step("the package");
  pyodide.unpackArchive(await course, "zip", { extractDir: "/course" });
  pyodide.unpackArchive(await packed[0], "zip", { extractDir: "/" });
  step("minigrad");
  blocks = pyodide.runPython(`
import sys
sys.path.insert(0, "/course")
import blocks, minigrad
blocks.Blocks()
`);
  if (grading) {
    step("what runs the tests");
    const [, compiled, ...wheels] = packed;
    for (const wheel of wheels) pyodide.unpackArchive(await wheel, "wheel");
    pyodide.unpackArchive(await compiled, "zip", { extractDir: "/" });
    grader = pyodide.runPython("import grading; grading.Grader()");
  }
  step("");
  if (interrupt) pyodide.setInterruptBuffer(interrupt);
  tell({ ready: true, from });
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

/** Tell what is printed in pieces, not letter by letter. */
function gathered() {
  let stream = "", text = "", last = performance.now();
  const flush = () => {
    if (text) tell({ stream, text });
    text = "";
    last = performance.now();
  };
  const told = (name, more) => {
    if (name !== stream) flush();
    stream = name;
    text += more;
    if (text.length > 10_000 || performance.now() - last > 50) flush();
  };
  return { told, flush };
}

const work = {
  async run({ code, name, steps }) {
    if (/\bgraph|\bviz\b/.test(code)) await (drawing ??= loadDrawing());
    const { told, flush } = gathered();
    try {
      return JSON.parse(await call(blocks, "execute", code, name, told, Boolean(steps)));
    } finally {
      flush();
    }
  },
  async reset() {
    await call(blocks, "reset");
  },
  async grade({ stage, files, holes }) {
    return JSON.parse(await call(grader, "grade", JSON.stringify({ stage, files, holes })));
  },
};

self.onmessage = async ({ data }) => {
  try {
    if (data.do === "start") await start(data);
    else tell({ result: await work[data.do](data) });
  } catch (error) {
    if (data.do === "start") tell({ failed: String(error.message ?? error) });
    else if (error.pyodide_fatal_error || error instanceof RangeError) tell({ broken: true });
    else tell({ error: String(error.message ?? error) });
  }
};
