// Made by site/cut_choices.py: do not edit. The joint program of a step with attention, which
// minigrad recorded, and its cuts; BUDGETS has the number of the cut for each percentage.

export const BUDGETS = {"100": 1, "95": 1, "90": 1, "85": 2, "80": 2, "75": 2, "70": 3, "65": 3, "60": 3, "55": 3, "50": 3, "45": 3, "40": 3, "35": 3, "30": 3};

export const FORWARD = [
  {"name": "q", "bytes": 2048, "op": "mm"},
  {"name": "k", "bytes": 2048, "op": "mm"},
  {"name": "attention", "bytes": 2048, "op": "scaled_dot_product"},
  {"name": "weights", "bytes": 4096, "op": "scaled_dot_product"},
  {"name": "add", "bytes": 2048, "op": "add"},
  {"name": "silu", "bytes": 2048, "op": "silu"},
  {"name": "result", "bytes": 2048, "op": "mm"},
  {"name": "loss", "bytes": 4, "op": "mse_loss"},
];

export const CUTS = [
  {"saved": ["q", "k", "attention", "weights", "add", "silu", "result"], "bytes": 16384, "backward": [{"name": "sub", "again": false, "reads": ["result"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": ["silu"], "gives": [], "grad": "w"}, {"name": "sigmoid", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "mul", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "attention ∂", "again": false, "reads": ["q", "k", "attention", "weights"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wk"}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wq"}]},
  {"saved": ["q", "k", "attention", "weights", "silu", "result"], "bytes": 14336, "backward": [{"name": "sub", "again": false, "reads": ["result"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": ["silu"], "gives": [], "grad": "w"}, {"name": "add", "again": true, "reads": ["attention"], "gives": ["add"], "grad": ""}, {"name": "sigmoid", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "mul", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "attention ∂", "again": false, "reads": ["q", "k", "attention", "weights"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wk"}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wq"}]},
  {"saved": ["q", "k", "attention", "weights", "result"], "bytes": 12288, "backward": [{"name": "sub", "again": false, "reads": ["result"], "gives": [], "grad": ""}, {"name": "add", "again": true, "reads": ["attention"], "gives": ["add"], "grad": ""}, {"name": "silu", "again": true, "reads": ["add"], "gives": ["silu"], "grad": ""}, {"name": "mm", "again": false, "reads": ["silu"], "gives": [], "grad": "w"}, {"name": "sigmoid", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "mul", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "attention ∂", "again": false, "reads": ["q", "k", "attention", "weights"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wk"}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wq"}]},
  {"saved": ["q", "k", "result"], "bytes": 6144, "backward": [{"name": "sub", "again": false, "reads": ["result"], "gives": [], "grad": ""}, {"name": "attention", "again": true, "reads": ["q", "k"], "gives": ["attention", "weights"], "grad": ""}, {"name": "add", "again": true, "reads": ["attention"], "gives": ["add"], "grad": ""}, {"name": "silu", "again": true, "reads": ["add"], "gives": ["silu"], "grad": ""}, {"name": "mm", "again": false, "reads": ["silu"], "gives": [], "grad": "w"}, {"name": "sigmoid", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "mul", "again": false, "reads": ["add"], "gives": [], "grad": ""}, {"name": "attention ∂", "again": false, "reads": ["q", "k", "attention", "weights"], "gives": [], "grad": ""}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wk"}, {"name": "mm", "again": false, "reads": [], "gives": [], "grad": "wq"}]},
];
