// A few lines of arithmetic become a graph. The grammar is a part of Python's, with its precedence:
// names, numbers, + - * / **, parentheses, and the functions below as exp(x) or x.exp().

const FUNCTIONS = {
  exp: [Math.exp, (x, z) => z, (z) => `the result, ${z}`],
  log: [Math.log, (x) => 1 / x, (z, x) => `1 / ${x}`],
  tanh: [Math.tanh, (x, z) => 1 - z * z, (z) => `1 − ${z}²`],
  sin: [Math.sin, (x) => Math.cos(x), (z, x) => `cos ${x}`],
  cos: [Math.cos, (x) => -Math.sin(x), (z, x) => `−sin ${x}`],
  sqrt: [Math.sqrt, (x, z) => 1 / (2 * z), (z) => `1 / (2 × ${z})`],
  sigmoid: [(x) => 1 / (1 + Math.exp(-x)), (x, z) => z * (1 - z), (z) => `${z} × (1 − ${z})`],
  relu: [(x) => Math.max(x, 0), (x) => (x > 0 ? 1 : 0), (z, x) => `1 where the input is above 0`],
};
const MOST_NODES = 24;
/** A last line that names the result, as in the program that the figure shows. */
const BACKWARD = /^\s*(\w+)\.backward\(\)\s*(?:#.*)?$/;

/** A program whose last line is a value: `f.backward()` becomes `f`. */
export const valued = (source) => source.split("\n").map((line) => line.replace(BACKWARD, "$1")).join("\n");
/** The lines of a program that compute. */
export const computing = (source) => source.split("\n").filter((line) => !BACKWARD.test(line));

/** An error that is told beside the program: its text is for the reader. */
export class ProgramError extends Error {}

/** Cut a line into tokens. */
function tokens(source) {
  const found = [], pattern = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_]\w*)|(\*\*|[-+*/()=.]))/y;
  const text = source.replace(/#.*/, "").trimEnd();
  for (let at = 0; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) throw new ProgramError(`“${text.slice(at).trim()[0]}” is not understood here`);
    found.push(match[1] ? { number: Number(match[1]) } : match[2] ? { name: match[2] } : { sign: match[3] });
  }
  return found;
}

/** Return the nodes of a program: {kind: "leaf" | "op", op, args, name, constant}. */
export function parsed(source) {
  const nodes = [], names = new Map();
  let line = [], place = 0, row = -1;
  const sign = (...signs) => (signs.includes(line[place]?.sign) ? line[place++].sign : null);
  const wanted = (mark) => {
    if (!sign(mark)) throw new ProgramError(`“${mark}” is missing`);
  };
  const add = (op, ...args) => {
    if (args.every((arg) => "constant" in arg)) return { constant: valueOf(op, args.map((arg) => arg.constant)) };
    nodes.push({ kind: "op", op, args, row });
    if (nodes.length > MOST_NODES) throw new ProgramError(`at most ${MOST_NODES} steps can be drawn`);
    return { node: nodes.length - 1 };
  };
  const called = (name, inside) => {
    if (!(name in FUNCTIONS)) {
      throw new ProgramError(`${name} is not among ${Object.keys(FUNCTIONS).join(", ")}`);
    }
    if ("constant" in inside) throw new ProgramError(`${name} takes a tensor, and ${inside.constant} is a number`);
    return add(name, inside);
  };
  function atom() {
    const token = line[place++];
    if (!token) throw new ProgramError("the line ends too early");
    if ("number" in token) return { constant: token.number };
    if (token.sign === "(") {
      const inside = sum();
      wanted(")");
      return inside;
    }
    if (!token.name) throw new ProgramError(`“${token.sign}” stands where a value should`);
    if (line[place]?.sign === "(") {
      place++;
      const inside = sum();
      wanted(")");
      return called(token.name, inside);
    }
    if (!names.has(token.name)) {
      nodes.push({ kind: "leaf", name: token.name, args: [], row });
      names.set(token.name, { node: nodes.length - 1 });
    }
    return names.get(token.name);
  }
  function method() {
    let found = atom();
    while (sign(".")) {
      const { name } = line[place++] ?? {};
      wanted("(");
      wanted(")");
      found = called(name, found);
    }
    return found;
  }
  function power() {
    const base = method();
    return sign("**") ? add("**", base, unary()) : base;
  }
  function unary() {
    if (sign("+")) return unary();
    return sign("-") ? add("neg", unary()) : power();
  }
  function product() {
    let left = unary();
    for (let mark; (mark = sign("*", "/"));) left = add(mark, left, unary());
    return left;
  }
  function sum() {
    let left = product();
    for (let mark; (mark = sign("+", "-"));) left = add(mark, left, product());
    return left;
  }
  let result = null, ended = false;
  for (const source_line of source.split("\n")) {
    row += 1;
    line = tokens(source_line);
    place = 0;
    if (!line.length) continue;
    if (ended) throw new ProgramError("backward() stands in the last line");
    const [, root] = BACKWARD.exec(source_line) ?? [];
    if (root) {
      if (!names.has(root)) throw new ProgramError(`${root} is not computed above its backward()`);
      [result, ended] = [names.get(root), true];
      continue;
    }
    const named = line[0].name && line[1]?.sign === "=" ? line[0].name : null;
    if (named) place = 2;
    result = sum();
    if (place < line.length) throw new ProgramError("two values stand side by side: a sign is missing");
    if (named) {
      if ("node" in result && nodes[result.node].kind === "op") nodes[result.node].name ??= named;
      names.set(named, result);
    }
  }
  if (!result || !("node" in result)) throw new ProgramError("write a formula with at least one name, such as a * b");
  return used(nodes, result.node);
}

/** Keep the nodes that the result depends on, with new numbers; the result is the last. */
function used(nodes, result) {
  const kept = new Set([result]);
  for (let node = result; node >= 0; node--) {
    if (kept.has(node)) for (const arg of nodes[node].args) if ("node" in arg) kept.add(arg.node);
  }
  const order = [...kept].sort((a, b) => a - b), number = new Map(order.map((node, i) => [node, i]));
  return order.map((node) => ({ ...nodes[node], args: nodes[node].args.map((arg) =>
    ("node" in arg ? { node: number.get(arg.node) } : arg)) }));
}

function valueOf(op, [x, y]) {
  switch (op) {
    case "+": return x + y;
    case "-": return x - y;
    case "*": return x * y;
    case "/": return x / y;
    case "**": return x ** y;
    case "neg": return -x;
    default: return FUNCTIONS[op][0](x);
  }
}

/** The slope with respect to each argument. */
function slopesOf(op, [x, y], z) {
  switch (op) {
    case "+": return [1, 1];
    case "-": return [1, -1];
    case "*": return [y, x];
    case "/": return [1 / y, -x / (y * y)];
    case "**": return [y === 0 ? 0 : y * x ** (y - 1), x === 0 && y >= 0 ? 0 : z * Math.log(x)];
    case "neg": return [-1];
    default: return [FUNCTIONS[op][1](x, z)];
  }
}

/** What a gradient becomes at a step; relu, which drops it, drops an infinite one too. */
const passed = ({ op }, adjoint, slope) => (op === "relu" && slope === 0 ? 0 : adjoint * slope);

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/** A power as one writes it: `a` itself, a², or a^(−0.5). */
const powered = (a, y, show) => (y === 1 ? a : Number.isInteger(y) && y > 1 && y < 10 ? `${a}${SUPERSCRIPTS[y]}` : `${a}^(${show(y)})`);

/** How the slope came about, with its numbers: `show` writes a number. */
export function formula(op, [x, y], z, place, show) {
  const [a, b, c] = [x, y, z].map((each) => show(each));
  switch (op) {
    case "+": return "a sum passes the gradient on unchanged";
    case "-": return place ? "what is subtracted gets the gradient with its sign turned" : "a difference passes it on unchanged";
    case "*": return `the other factor, ${place ? a : b}`;
    case "/": return place ? `−${a} / ${b}²` : `1 / ${b}`;
    case "**": return place ? `${c} × log ${a}` : y === 1 ? "1" : `${b} × ${powered(a, y - 1, show)}`;
    case "neg": return "the sign turns";
    default: return FUNCTIONS[op][2](c, a);
  }
}

/**
 * Values forward, derivatives of the result backward. `leaves` gives each name its number. Returns
 * the nodes with `value` and `adjoint`, and the edges with the numbers of both ends and `slope`.
 */
export function run(nodes, leaves) {
  const values = [], edges = [];
  nodes.forEach((node, number) => {
    const args = node.args.map((arg) => ("node" in arg ? values[arg.node] : arg.constant));
    values[number] = node.kind === "leaf" ? leaves[node.name] : valueOf(node.op, args);
    const slopes = node.kind === "leaf" ? [] : slopesOf(node.op, args, values[number]);
    node.args.forEach((arg, place) => {
      if ("node" in arg) edges.push({ from: arg.node, to: number, place, slope: slopes[place], args });
    });
  });
  const adjoints = nodes.map(() => 0);
  adjoints[nodes.length - 1] = 1;
  for (let number = nodes.length - 1; number >= 0; number--) {
    for (const edge of edges) if (edge.to === number) adjoints[edge.from] += passed(nodes[number], adjoints[number], edge.slope);
  }
  return { nodes: nodes.map((node, i) => ({ ...node, value: values[i], adjoint: adjoints[i] })), edges };
}

/** Every way along the edges from a node to the result, as lists of edges' numbers; at most `most`. */
export function paths(edges, from, result, most = 64) {
  const found = [];
  const follow = (node, way) => {
    if (found.length >= most) return;
    if (node === result) found.push(way);
    else edges.forEach((edge, i) => { if (edge.from === node) follow(edge.to, [...way, i]); });
  };
  follow(from, []);
  return found;
}
