// Every widget by its name, loaded when a page has it.

export const WIDGETS = {
  "live-graph": () => import("./live_graph.js"),
};
