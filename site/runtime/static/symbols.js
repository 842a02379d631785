// Where a function stands in a module's text.

const indent = (line) => line.length - line.trimStart().length;

/** The line (from 0) that defines `name` at least so deep, from `start` to `end`, or -1. */
function definition(lines, name, depth, start, end) {
  const begins = new RegExp(`^(async def|def|class) ${name}\\b`);
  let found = -1; // of several, the one that is indented least: it is no method of another class
  for (let i = start; i < end; i++) {
    const deep = indent(lines[i]);
    if (deep >= depth && (found < 0 || deep < indent(lines[found]))
        && begins.test(lines[i].trimStart())) found = i;
  }
  return found;
}

/** The line after the body of a definition: the next that is indented no deeper. */
function after(lines, first) {
  const depth = indent(lines[first]);
  let open = 0; // brackets: a signature may go on over lines that are indented like the first
  let closed = false;
  let quoted = false; // in a text of several lines, which may be indented as it likes
  let last = first;
  for (let i = first; i < lines.length; i++) {
    if (!lines[i].trim()) continue;
    if (closed && !quoted && indent(lines[i]) <= depth) break;
    if ((lines[i].match(/"""/g)?.length ?? 0) % 2) quoted = !quoted;
    if (!closed) {
      open += lines[i].match(/[([{]/g)?.length ?? 0;
      open -= lines[i].match(/[)\]}]/g)?.length ?? 0;
      closed = open === 0;
    }
    last = i;
  }
  return last + 1;
}

/**
 * Return the lines [first, last] (from 1) of "name" or "Class.method" with its decorators, or null
 * where the text has no such thing.
 */
export function located(text, symbol) {
  const lines = text.split("\n");
  let [start, end, depth] = [0, lines.length, 0];
  let first = -1;
  for (const name of symbol.split(".")) {
    first = definition(lines, name, depth, start, end);
    if (first < 0) return null;
    [start, end, depth] = [first + 1, after(lines, first), indent(lines[first]) + 1];
  }
  while (first > 0 && lines[first - 1].trimStart().startsWith("@")) first--;
  return [first + 1, end];
}

/**
 * Return what `located` does, and with it lines that lost their indentation: those that follow up
 * to the next definition, or up to the line that follows in `other`.
 */
export function placed(text, symbol, other) {
  const found = located(text, symbol);
  const theirs = located(other, symbol);
  if (!found || !theirs) return found;
  const lines = text.split("\n");
  const next = other.split("\n").slice(theirs[1]).find((line) => line.trim());
  let last = found[1];
  for (let i = found[1]; i < lines.length; i++) {
    if (lines[i] === next || /^\s*(async def|def|class)\b|^\s*@/.test(lines[i])) break;
    if (lines[i].trim()) last = i + 1;
  }
  return [found[0], last];
}

/** Return the functions and classes that a module has in `other`, and in `text` no more. */
export function gone(text, other) {
  const defined = (each) => [...each.matchAll(/^(?:async def|def|class) (\w+)/gm)].map(([, name]) => name);
  const here = new Set(defined(text));
  return [...new Set(defined(other))].filter((name) => !here.has(name));
}

/** Return the lines of a symbol, indented as little as can be. */
export function cut(text, symbol) {
  const found = located(text, symbol);
  if (found === null) return "";
  const lines = text.split("\n").slice(found[0] - 1, found[1]);
  const depth = indent(lines[0]);
  return lines.map((line) => (line.trim() ? line.slice(depth) : "")).join("\n");
}

/** Return `text` with a symbol's lines as they are in `other`; as it is where one of them lacks it. */
export function replaced(text, symbol, other) {
  const [mine, theirs] = [placed(text, symbol, other), located(other, symbol)];
  if (!mine || !theirs) return text;
  const lines = text.split("\n");
  lines.splice(mine[0] - 1, mine[1] - mine[0] + 1,
               ...other.split("\n").slice(theirs[0] - 1, theirs[1]));
  return lines.join("\n");
}
