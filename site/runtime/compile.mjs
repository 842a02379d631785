// Compiles, while the site is built, what the page's Python would compile at every start.
//
//     node compile.mjs RUNTIME        the built site's folder "runtime", with Pyodide and the archives
//
// Pyodide itself does it, so that what it writes is what it reads: the folder compiled-package for
// every start, compiled-course for what runs the tests.  Each file says by its source's hash what it
// is of; build.py packs them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const runtime = resolve(process.argv[2]);
const manifest = JSON.parse(readFileSync(join(runtime, "manifest.json"), "utf-8"));
const archive = ({ path }) => new Uint8Array(readFileSync(join(runtime, path.split("?")[0])));

const { loadPyodide } = await import(pathToFileURL(join(runtime, "pyodide/pyodide.mjs")));
const pyodide = await loadPyodide({ indexURL: join(runtime, "pyodide/") });
await pyodide.loadPackage("numpy", { messageCallback: () => {} });
for (const each of [manifest.package, manifest.more, manifest.course]) {
  pyodide.unpackArchive(archive(each), "gztar", { extractDir: "/course" });
}
for (const each of manifest.wheels) pyodide.unpackArchive(archive(each), "wheel");

const compiled = pyodide.runPython(`
import io, os, py_compile, sys
sys.path.insert(0, "/course")

def compiled(done):
    """Return what is imported and not yet done, compiled: (path, bytes)."""
    made = []
    for file in sorted({getattr(each, "__file__", None) or "" for each in sys.modules.values()}):
        if not file.endswith(".py") or not os.path.isfile(file) or file in done:
            continue
        done.add(file)
        target = py_compile.compile(
            file, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
        with open(target, "rb") as text:
            made.append((target.lstrip("/"), text.read()))
    return made

def both():
    import blocks, minigrad, numpy
    done = set()
    first = compiled(done)
    import pytest, tempfile
    with tempfile.TemporaryDirectory() as folder:  # with what pytest imports when it runs
        with open(folder + "/test_it.py", "w") as file:
            file.write("def test_it(): assert 1 == 1")
        import contextlib
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "-p", "no:cacheprovider", folder])
    import grading, own
    grading.importlib.import_module("_oracle")
    for name in ("child_process.swap", "content.stages", "learner.own_engine", "running.learner_files",
                 "running.trial", "verdicts.verdict", "verdicts.waiting"):
        grading.importlib.import_module(f"minigrad_course.{name}")
    return first, compiled(done)

sys.path.insert(1, "/course/tests")
both()
`).toJs();

["compiled-package", "compiled-course"].forEach((folder, place) => {
  for (const [name, bytes] of compiled[place]) {
    const file = join(runtime, folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
});
process.exit(0);
