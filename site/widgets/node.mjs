// Runs widgets outside of a browser, one line of JSON in, one line out:
//   {"draw": widget, "options": {...}, "name": "..."}   the figure as markup, by that name in its page
//   {"model": widget, "state": {...}}                   the numbers that it shows

import { createInterface } from "node:readline";
import { figure, initial } from "./figure.js";
import { WIDGETS } from "./index.js";

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line), name = asked.draw ?? asked.model;
  if (!(name in WIDGETS)) throw new Error(`there is no widget ${name}: ${Object.keys(WIDGETS).join(", ")}`);
  const { default: widget } = await WIDGETS[name]();
  const answer = asked.draw ? figure(widget, asked.options, asked.name)
    : widget.model({ ...initial(widget), ...asked.state });
  process.stdout.write(JSON.stringify(answer) + "\n");
}
