// A backward pass over a small program, step by step: the engine that counts, and the naive one.
// The order of the counted engine is minigrad's: of the ready nodes, the latest made runs first.

/** At most so many steps are written down; a pass that is longer is cut, and says so. */
const MOST = 400;

/**
 * The steps of a whole run. Each has `phase` ("forward" or "backward"), the `node` that it is about,
 * the `edge` along which something went, how many nodes are there (`made`), the ready `queue`, what
 * each node still `waits` for, the `buffers`, the `grads` of leaves, which nodes are `done`, and how
 * many calls there were (`visits`).
 */
export function steps({ nodes, edges }, naive) {
  const found = [], last = nodes.length - 1;
  const state = { made: 0, queue: [], waits: {}, buffers: {}, grads: {}, done: [], visits: 0 };
  const note = (kind, node = null, edge = null, value = null) => {
    if (found.length < MOST) found.push({ kind, node, edge, value, ...structuredClone(state) });
  };
  nodes.forEach((node, number) => {
    state.made = number + 1;
    note("made", number);
  });
  const inputs = nodes.map((_, number) => edges.flatMap((edge, i) => (edge.to === number ? [i] : [])));
  if (naive) send(last, 1);
  else counted();
  note("end");
  return { steps: found, cut: found.length >= MOST, visits: state.visits };

  function counted() {
    nodes.forEach((_, number) => { state.waits[number] = edges.filter((edge) => edge.from === number).length; });
    state.buffers[last] = 1;
    state.queue = [last];
    note("count");
    while (state.queue.length) {
      const node = state.queue.shift(), gradient = state.buffers[node];
      delete state.buffers[node];
      state.visits += nodes[node].kind === "leaf" ? 0 : 1;
      if (nodes[node].kind === "leaf") state.grads[node] = gradient;
      note(nodes[node].kind === "leaf" ? "write" : "run", node, null, gradient);
      for (const edge of inputs[node]) {
        const { from, slope } = edges[edge], value = gradient * slope;
        state.buffers[from] = (state.buffers[from] ?? 0) + value;
        state.waits[from] -= 1;
        if (state.waits[from] === 0) {
          state.queue.push(from);
          state.queue.sort(first);
        }
        note("arrive", node, edge, value);
      }
      state.done.push(node);
    }
  }

  /** Leaves come first, as in the engine, where they have the highest number; then the latest made. */
  function first(a, b) {
    const leaf = (node) => (nodes[node].kind === "leaf" ? 1 : 0);
    return leaf(b) - leaf(a) || (leaf(a) ? a - b : b - a);
  }

  function send(node, gradient) {
    if (nodes[node].kind === "leaf") {
      state.grads[node] = (state.grads[node] ?? 0) + gradient;
      note("write", node, null, gradient);
      return;
    }
    state.visits += 1;
    note("run", node, null, gradient);
    for (const edge of inputs[node]) {
      note("arrive", node, edge, gradient * edges[edge].slope);
      send(edges[edge].from, gradient * edges[edge].slope);
    }
  }
}

/** How many calls of operations each engine makes: counted without running the passes. */
export function visits({ nodes, edges }) {
  const calls = nodes.map(() => 0);
  calls[nodes.length - 1] = 1;
  for (let node = nodes.length - 1; node >= 0; node--) {
    for (const edge of edges) if (edge.to === node) calls[edge.from] += calls[node];
  }
  const ops = nodes.flatMap((node, number) => (node.kind === "op" ? [number] : []));
  return { counted: ops.length, naive: ops.reduce((sum, number) => sum + calls[number], 0) };
}
