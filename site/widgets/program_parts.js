// What every figure that shows a program needs: its leaves' fields, its numbers, its nodes' names.

import { shown } from "./draw.js";
import { ProgramError, parsed, run } from "./program.js";

/** What a figure of a program begins with. */
export const EXAMPLE = { program: "d = b**2\nf = a**2 * d + d", a: 3, b: 2 };

const SIGNS = { "+": "+", "-": "−", "*": "×", "/": "÷" };
const SMALL = { 2: "²", 3: "³" };

/** What stands in a node: its name, or the step that made it. */
export function title(nodes, number) {
  const node = nodes[number];
  if (node.kind === "leaf") return node.name;
  const word = (arg) => {
    if ("constant" in arg) return shown(arg.constant);
    if (nodes[arg.node].name) return nodes[arg.node].name;
    const inner = title(nodes, arg.node);
    return inner.length > 9 ? "…" : "+-".includes(nodes[arg.node].op) ? `(${inner})` : inner;
  };
  const [x, y] = node.args.map(word);
  const step = node.op === "**" ? (SMALL[node.args[1].constant] ? `${x}${SMALL[y]}` : `${x}^${y}`)
    : node.op === "neg" ? `−${x}` : node.op in SIGNS ? `${x} ${SIGNS[node.op]} ${y}` : `${node.op} ${x}`;
  return node.name ? `${node.name} = ${step}` : step;
}

/** How far a leaf may be moved. */
export const RANGE = { min: -5, max: 5 };

/** One field per leaf, by name; a leaf that was never set begins at 1. */
export function leafControls({ program }) {
  let names = [];
  try {
    names = parsed(program).filter((node) => node.kind === "leaf").map((node) => node.name).sort();
  } catch {
    // the sentence below the picture says what is wrong
  }
  return names.map((name) => ({ name, kind: "number", label: name, ...RANGE, step: 0.1, initial: 1 }));
}

/** The nodes with values and gradients, and the edges with slopes; {error} for no program. */
export function computed(state) {
  let nodes;
  try {
    nodes = parsed(state.program);
  } catch (error) {
    if (error instanceof ProgramError) return { error: error.message };
    throw error;
  }
  const leaves = Object.fromEntries(nodes.filter((node) => node.kind === "leaf")
    .map(({ name }) => [name, Number(state[name] ?? 1)]));
  return run(nodes, leaves);
}

/** The numbers in a state by name, including the leaves' values. */
export const numbers = (state) => Object.fromEntries(Object.entries(state).filter(([, value]) => typeof value === "number"));
