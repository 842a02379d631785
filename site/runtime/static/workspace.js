// Taking the work elsewhere: what is kept here as a workspace of the terminal's course, and back.

import { keep, progress, replaceProgress, work } from "./store.js";
import { unzipped, zipped } from "./zip.js";

/** Fetch what all stages hand out: {version, stages: {key: {path: {file, text}}}}. */
async function course(site) {
  const answer = await fetch(new URL("runtime/course.json", site));
  if (!answer.ok) throw new Error(`course.json could not be fetched (${answer.status})`);
  return answer.json();
}

/** Return a Blob: a zip that `minigrad learn --dir` opens once it is unpacked. */
export async function exported(site) {
  const { version, stages } = await course(site);
  const files = { "progress.json":
    `${JSON.stringify({ ...progress(), minigrad: version }, null, 1)}\n` };
  for (const [stage, modules] of Object.entries(stages)) {
    for (const [path, { file, text }] of Object.entries(modules)) {
      files[`exercises/${file}`] = work(stage, path) ?? text;
      files[`.minigrad/shipped/${file}`] = text;
    }
  }
  const folder = Object.entries(files).map(([path, text]) => [`minigrad-work/${path}`, text]);
  return zipped(Object.fromEntries(folder));
}

/**
 * Take over a workspace: a zip of its folder, or its progress.json alone.  Throws an Error for what
 * is neither, before anything is replaced.  Resolves to how many files were taken.
 */
export async function imported(site, file) {
  const files = file.name.endsWith(".json")
    ? { "progress.json": await file.text() }
    : await unzipped(await file.arrayBuffer());
  const place = Object.keys(files).filter((path) => /(^|\/)progress\.json$/.test(path))
    .sort((one, other) => one.length - other.length)[0];
  if (place === undefined) throw new Error("there is no progress.json in it");
  let found;
  try {
    found = JSON.parse(files[place]);
  } catch {
    throw new Error("its progress.json cannot be read");
  }
  if (found?.form !== progress().form || typeof found.holes !== "object" || !found.holes) {
    throw new Error("its progress.json is of a form that is not known here");
  }
  const folder = place.slice(0, -"progress.json".length);
  const { stages } = await course(site);
  let taken = 0;
  for (const [stage, modules] of Object.entries(stages)) {
    for (const [path, { file: name, text }] of Object.entries(modules)) {
      const mine = files[`${folder}exercises/${name}`];
      if (mine === undefined) continue;
      keep(stage, path, mine === text ? null : mine);
      taken += 1;
    }
  }
  replaceProgress(found);
  return taken;
}
