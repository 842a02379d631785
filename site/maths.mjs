// Draws formulas: one JSON list of [formula, on a line of its own] a line in, one list of HTML out.
import katex from "katex";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const drawn = JSON.parse(line).map(([text, display]) =>
    katex.renderToString(text, { displayMode: display, output: "htmlAndMathml", strict: "error" }));
  process.stdout.write(JSON.stringify(drawn) + "\n");
}
