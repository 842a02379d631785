// Keeps the site usable without a network, and sends the headers by which Stop is quick.
// offline.py writes three constants above: BUILD, a name for what was built; FILES, what is kept at
// once; PYTHON, what is kept as soon as the reader has run something. Everything else is kept when
// it is read. The network is asked first, so a page is never older than the site.

const OF_SITE = `minigrad-site ${registration.scope} `; // other sites may share this origin
const CACHE = OF_SITE + BUILD;
const HEADERS = { "Cross-Origin-Opener-Policy": "same-origin",
                  "Cross-Origin-Embedder-Policy": "require-corp",
                  "Cross-Origin-Resource-Policy": "same-origin" };

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(registration.scope)) event.respondWith(answer(event));
});

const older = async () => (await caches.keys())
  .filter((name) => name.startsWith(OF_SITE) && name !== CACHE);

async function install() {
  const cache = await caches.open(CACHE), ran = await hasPython();
  const wanted = navigator.connection?.saveData ? ["503.html"]
    : [...FILES, ...(ran ? PYTHON : [])];
  await cache.addAll(wanted.map((file) => new Request(file, { cache: "no-cache" })));
  await self.skipWaiting();
}

/** Whether an earlier edition of the site kept Python: then it is kept again. */
async function hasPython() {
  for (const name of await older()) {
    const files = await (await caches.open(name)).keys();
    if (files.some(({ url }) => url.includes("/runtime/pyodide/"))) return true;
  }
  return false;
}

async function activate() {
  for (const name of await older()) await caches.delete(name);
  await self.clients.claim();
}

async function answer(event) {
  const { request } = event, { mode, url } = request;
  const key = mode === "navigate" ? url.replace(/[?#].*/s, "") : url; // a figure's state is no page
  const cache = await caches.open(CACHE), kept = await cache.match(key);
  let found;
  try {
    // Without this, what the browser itself remembers of a page would do for a while.
    found = await fetch(request, mode === "navigate" ? { cache: "no-cache" } : {});
  } catch (problem) {
    const shown = kept ?? (mode === "navigate" && await cache.match("503.html"));
    if (!shown) throw problem;
    return isolated(shown);
  }
  if (found.status === 200 && !same(found, kept)) {
    event.waitUntil(cache.put(key, found.clone()).catch(() => {})); // else there is no room for it
  }
  return isolated(found);
}

/** Whether a server says that an answer is the one that was kept. */
const same = (found, kept) => ["ETag", "Last-Modified"].some((name) =>
  found.headers.has(name) && found.headers.get(name) === kept?.headers.get(name));

/** The same answer with the headers that isolate a page; a redirection goes on as it came. */
function isolated(found) {
  if (found.type === "opaqueredirect") return found;
  const headers = new Headers(found.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(found.body, { status: found.status, statusText: found.statusText, headers });
}
