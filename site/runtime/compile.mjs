// Compiles, while the site is built, what the page's Python would compile at every start.
//
//     node compile.mjs RUNTIME        the built site's folder "runtime", with Pyodide and the archives
//
// Pyodide itself does it, so that what it writes is what it reads: the folder compiled-package for
// every start, compiled-course for what runs the tests.  Each file says by its source's hash what it
// is of; build.py packs them.
//
// imported.json lists the modules of Python's library and of NumPy that the course imports, so that
// build.py can leave out the others: "first" for minigrad and the lessons, "course" for the tests.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const runtime = resolve(process.argv[2]);
const manifest = JSON.parse(readFileSync(join(runtime, "manifest.json"), "utf-8"));
const archive = ({ path }) => new Uint8Array(readFileSync(join(runtime, path.split("?")[0])));

const { loadPyodide } = await import(pathToFileURL(join(runtime, "pyodide/pyodide.mjs")));

/** Python with the archives that a page has when it is ready, or when it runs tests. */
async function python(...archives) {
  const made = await loadPyodide({ indexURL: join(runtime, "pyodide/") });
  await made.loadPackage("numpy", { messageCallback: () => {} });
  for (const each of archives) made.unpackArchive(archive(each), "gztar", { extractDir: "/course" });
  return made;
}

/** How Python lists what it imported from elsewhere than /course, as build.py keeps it. */
const IMPORTED = `
def imported():
    """Return what build.py's _part says of the library's and NumPy's modules."""
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        top, _, rest = name.partition(".")
        if top in ("encodings", "numpy"):
            found.add(top + "." + rest.partition(".")[0])
        elif file.startswith("/lib/python3") and ".zip/" in file:
            found.add(file.partition(".zip/")[2].partition("/")[0].removesuffix(".py"))
    return sorted(found)

def import_each(names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:  # it needs a module that a page lacks
            pass
`;

const first = await python(manifest.package);
first.globals.set("wanted", first.toPy(manifest.imports.lessons));
const imported = { first: JSON.parse(first.runPython(`
import codecs, importlib, json, pkgutil, sys
sys.path.insert(0, "/course")
${IMPORTED}
import blocks, later, minigrad, questions, traceback
import_each(each.name for each in pkgutil.walk_packages(minigrad.__path__, "minigrad.")
            if not each.name.endswith("__main__"))
import_each(wanted)
for coding in ("ascii", "latin-1", "utf-8-sig", "utf-16", "utf-32", "cp1252", "unicode_escape",
               "raw_unicode_escape"):
    codecs.lookup(coding)
try:  # what shows an error
    minigrad.tensor([1.0]).nothing
except AttributeError as problem:
    traceback.format_exception(problem)
json.dumps(imported())
`)) };

const pyodide = await python(manifest.package, manifest.more, manifest.course);
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
    global contextlib, pytest, tempfile
    import contextlib, pytest, tempfile
    with tempfile.TemporaryDirectory() as folder:  # with what pytest imports when it runs
        with open(folder + "/test_it.py", "w") as file:
            file.write("def test_it(): assert 1 == 1")
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

pyodide.globals.set("wanted", pyodide.toPy(manifest.imports.tests));
imported.course = JSON.parse(pyodide.runPython(`
import importlib, json
${IMPORTED}
import_each(wanted)
with tempfile.TemporaryDirectory() as folder:  # with what pytest imports when a test fails
    with open(folder + "/test_that.py", "w") as file:
        file.write("def test_that(): assert {'a': [1]} == {'a': [2]}\\ndef test_more(): 1 / 0")
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-q", "-p", "no:cacheprovider", folder])
json.dumps(imported())
`));
writeFileSync(join(runtime, "imported.json"), JSON.stringify(imported, null, 1));

["compiled-package", "compiled-course"].forEach((folder, place) => {
  for (const [name, bytes] of compiled[place]) {
    const file = join(runtime, folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
});
process.exit(0);
