// Places for the nodes of a small graph: columns by the longest way from the inputs, rows so that
// few edges cross. Edges over several columns are led through empty places of those between.

/** How far two edges between the same nodes bow, each to its side: a label has room on both. */
const BOW = 12;

/**
 * `sizes` is [width, height] of each node, `edges` pairs of numbers [from, to]; `down` lays the
 * columns out as rows, for a narrow screen, and `at` is where the graph begins. Returns the size,
 * the nodes' corners and, for each edge, the points that it goes through: two edges between the
 * same nodes bow away from each other.
 */
export function layered(sizes, edges, { down = false, gap, apart, at: [left, above] }) {
  const column = columns(sizes.length, edges);
  const last = Math.max(0, ...column);
  const layers = Array.from({ length: last + 1 }, () => []);
  column.forEach((each, node) => layers[each].push(node));
  const links = [], ways = [];
  let extra = sizes.length;
  const size = [...sizes.map(([w, h]) => (down ? [h, w] : [w, h]))];
  for (const [from, to] of edges) {
    const way = [from];
    for (let c = column[from] + 1; c < column[to]; c++) {
      layers[c].push(extra);
      size[extra] = [0, 8];
      way.push(extra++);
    }
    way.push(to);
    ways.push(way);
    for (let i = 1; i < way.length; i++) links.push([way[i - 1], way[i]]);
  }
  const before = neighbours(extra, links, 1), after = neighbours(extra, links, 0);
  for (let round = 0; round < 6; round++) {
    const forth = round % 2 === 0, seen = forth ? before : after;
    for (const layer of forth ? layers : [...layers].reverse()) sortByMiddle(layer, seen, rank(layers));
  }
  const y = rows(layers, size, before, after, apart);
  const x = [], widths = layers.map((layer) => Math.max(0, ...layer.map((node) => size[node][0])));
  let at = 0;
  layers.forEach((layer, c) => {
    for (const node of layer) x[node] = at + (widths[c] - size[node][0]) / 2;
    at += widths[c] + gap;
  });
  const top = Math.min(...y.map((each, i) => each - size[i][1] / 2));
  const height = Math.max(...y.map((each, i) => each + size[i][1] / 2)) - top;
  const width = at - gap;
  const turned = ([u, v]) => (down ? [v, u] : [u, v]);
  const placed = (point) => turned(point).map((each, axis) => each + [left, above][axis]);
  const [w, h] = turned([width, height]);
  return {
    width: w, height: h,
    corners: sizes.map((_, node) => placed([x[node], y[node] - top - size[node][1] / 2])),
    routes: ways.map((way, i) => bowed(way.flatMap((node, place) => {
      const across = y[node] - top;
      if (place === 0) return [[x[node] + size[node][0], across]];
      if (place === way.length - 1) return [[x[node], across]];
      return [[x[node] - 8, across], [x[node] + 8, across]];
    }), bow(edges, i)).map(placed)),
  };
}

/** How far an edge bows: as far to the one side as another between the same nodes to the other. */
function bow(edges, i) {
  const [from, to] = edges[i];
  const twins = edges.flatMap((each, j) => (each[0] === from && each[1] === to ? [j] : []));
  return twins.length === 1 ? 0 : twins.indexOf(i) === 0 ? -BOW : BOW;
}

/** Points moved across the way, all but the ends; a way of two points gets one between them. */
function bowed(points, by) {
  if (!by) return points;
  const inner = points.length === 2 ? [middle(points)] : points.slice(1, -1);
  return [points[0], ...inner.map(([u, v]) => [u, v + by]), points.at(-1)];
}

/** The middle of a way of points. */
export function middle(points) {
  const half = (points.length - 1) / 2, [p, q] = [points[Math.floor(half)], points[Math.ceil(half)]];
  return [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
}

/** Each node as far from the inputs as its longest way; an input stands just before its first user. */
function columns(count, edges) {
  const column = Array(count).fill(0);
  for (let changed = true; changed;) {
    changed = false;
    for (const [from, to] of edges) {
      if (column[to] < column[from] + 1) {
        column[to] = column[from] + 1;
        changed = true;
      }
    }
  }
  const entered = new Set(edges.map(([, to]) => to));
  return column.map((each, node) => {
    const users = edges.filter(([from]) => from === node).map(([, to]) => column[to]);
    return entered.has(node) || !users.length ? each : Math.min(...users) - 1;
  });
}

function neighbours(count, links, end) {
  const found = Array.from({ length: count }, () => []);
  for (const link of links) found[link[end]].push(link[1 - end]);
  return found;
}

const rank = (layers) => {
  const found = [];
  for (const layer of layers) layer.forEach((node, i) => { found[node] = i - (layer.length - 1) / 2; });
  return found;
};

function sortByMiddle(layer, seen, ranks) {
  const middle = new Map(layer.map((node) => [node, seen[node].length
    ? seen[node].reduce((sum, each) => sum + ranks[each], 0) / seen[node].length : ranks[node]]));
  layer.sort((a, b) => middle.get(a) - middle.get(b));
}

/** Middles of the nodes across their column: near their neighbours, and never on each other. */
function rows(layers, size, before, after, apart) {
  const y = [];
  for (const layer of layers) {
    let at = 0;
    for (const node of layer) {
      y[node] = at + size[node][1] / 2;
      at += size[node][1] + apart;
    }
    for (const node of layer) y[node] -= (at - apart) / 2;
  }
  const wanted = (node) => {
    const near = [...before[node], ...after[node]];
    return near.length ? near.reduce((sum, each) => sum + y[each], 0) / near.length : y[node];
  };
  for (let round = 0; round < 40; round++) {
    for (const layer of layers) {
      for (const node of layer) y[node] = wanted(node);
      const room = (a, b) => (size[a][1] + size[b][1]) / 2 + apart;
      for (let push = 0; push < 20; push++) { // both neighbours give way by half
        for (let i = 1; i < layer.length; i++) {
          const over = room(layer[i - 1], layer[i]) - (y[layer[i]] - y[layer[i - 1]]);
          if (over > 0) {
            y[layer[i - 1]] -= over / 2;
            y[layer[i]] += over / 2;
          }
        }
      }
      for (let i = 1; i < layer.length; i++) {
        y[layer[i]] = Math.max(y[layer[i]], y[layer[i - 1]] + room(layer[i - 1], layer[i]));
      }
    }
  }
  return y;
}
