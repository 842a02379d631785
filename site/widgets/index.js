// Every widget by its name, loaded when a page has it.

export const WIDGETS = {
  "anomaly": () => import("./anomaly.js"),
  "asked-gradients": () => import("./asked_gradients.js"),
  "broadcast": () => import("./broadcast.js"),
  "checkpoints": () => import("./checkpoints.js"),
  "convolution": () => import("./convolution.js"),
  "digit": () => import("./digit.js"),
  "dual-numbers": () => import("./dual_numbers.js"),
  "flame": () => import("./flame.js"),
  "function-pair": () => import("./function_pair.js"),
  "hooks": () => import("./hooks.js"),
  "jacobian": () => import("./jacobian.js"),
  "live-graph": () => import("./live_graph.js"),
  "memory": () => import("./memory.js"),
  "modes": () => import("./modes.js"),
  "module-walk": () => import("./module_walk.js"),
  "nudge": () => import("./nudge.js"),
  "optimizers": () => import("./optimizers.js"),
  "recording": () => import("./recording.js"),
  "stepper": () => import("./stepper.js"),
  "waiting": () => import("./waiting.js"),
};
