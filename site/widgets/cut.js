// The joint program of a training step: a slider for memory moves the cut between its two halves.

import { active, box, curve, dot, line, path, picture, text } from "./draw.js";
import { BUDGETS, CUTS, FORWARD } from "./cut_choices.js";

const ROW = 30, TOP = 34, MOST = CUTS[0].bytes;
const [LEAST, FULL] = [Math.min(...Object.keys(BUDGETS)), Math.max(...Object.keys(BUDGETS))];
const bytes = (count) => `${count.toLocaleString("en-US")} B`;
const listed = (names) => names.map((name) => `<code>${name}</code>`).join(", ").replace(/, (?=[^,]*$)/, " and ");
const size = Object.fromEntries(FORWARD.map(({ name, bytes: count }) => [name, count]));

export default {
  name: "cut",
  title: "Save it, or compute it again?",
  defaults: { budget: 75, all: false },
  views: ["wide", "narrow"],
  controls: () => [
    { name: "budget", kind: "number", label: "memory, % of saving everything", min: LEAST, max: FULL, step: 5 },
    { name: "all", kind: "switch", label: "save everything" },
  ],
  settle: ({ budget }) => ({ budget: Math.min(FULL, Math.max(LEAST, 5 * Math.round(budget / 5))) }),

  /** The cut for a budget: what is `saved`, its `bytes`, and the steps that matter of the backward half. */
  model({ budget, all }) {
    const cut = CUTS[all ? 0 : BUDGETS[5 * Math.round(budget / 5)] ?? CUTS.length - 1];
    const again = cut.backward.filter((step) => step.again);
    return { ...cut, most: MOST, again: again.map(({ name }) => name), recomputed: again.flatMap(({ gives }) => gives) };
  },

  draw({ saved, bytes: kept, backward }, { budget, all }, { wide, look }) {
    const width = wide ? 600 : 344, [left, right] = wide ? [190, 150] : [118, 124], from = 8 + left, to = width - 34 - right;
    const rows = Math.max(FORWARD.length, backward.length), middle = (from + to) / 2, foot = TOP + rows * ROW;
    const y = (place) => TOP + (place + 0.5) * ROW;
    const high = (place) => y(rows - 1 - place); // the backward half runs upward
    const source = Object.fromEntries(FORWARD.map(({ name }, i) => [name, i]));
    const made = {};
    let arrows = "", boxes = "";
    FORWARD.forEach(({ name, bytes: count }, i) => {
      const is = saved.includes(name);
      boxes += `<g${active({ look: `value:${name}`, label: `${name}, ${count} bytes, ${is ? "saved" : "not saved"}` })}>` +
        box(8, y(i) - 12, left, 24, is ? "on-forward" : "box", 4) + text(16, y(i), name, "code", "start", 13) +
        (wide || is ? text(left, y(i), wide ? bytes(count) : "saved", is ? "code forward" : "code muted", "end", 12) : "") + "</g>";
    });
    backward.forEach(({ name, again, reads, gives, grad }, i) => {
      for (const each of reads) {
        const lit = look === `value:${each}` || look === `step:${i}`, kind = lit ? "gradient-solid" : "forward-line";
        if (each in made) {
          const begin = high(made[each]), end = high(i), bend = width - 34 + 6 + 4 * Math.min(5, i - made[each]);
          arrows += path(`M${width - 34} ${begin}C${bend} ${begin} ${bend} ${end} ${width - 34} ${end}`, kind);
        } else {
          arrows += path(curve([[from, y(source[each])], [to, high(i)]]), kind) + dot(middle, (y(source[each]) + high(i)) / 2, 3, `head ${kind}`);
        }
      }
      for (const each of gives) made[each] = i;
      boxes += `<g${active({ look: `step:${i}`, label: `${name}${again ? ", computed again" : ""}, reads ${reads.join(", ") || "nothing from the forward half"}` })}>` +
        box(to, high(i) - 12, right, 24, again ? "on-forward" : "on-gradient", 4) + text(to + 8, high(i), name, "code", "start", 13) +
        text(to + right - 8, high(i), again ? "again" : grad ? `∂${grad}` : "", again ? "forward" : "code gradient", "end", 12) + "</g>";
    });
    const u = (count) => 8 + count / MOST * (width - 16), mark = u(all ? MOST : budget / 100 * MOST);
    const inside = text(8, 12, "forward ↓", "strong forward", "start", 13) + text(middle, 12, "the cut", "wrong", "middle", 13) +
      text(width - 34, 12, "backward ↑", "strong gradient", "end", 13) + line([[middle, 24], [middle, foot]], "wrong-line") + arrows + boxes +
      text(8, foot + 20, `saved: ${bytes(kept)}`, "forward", "start", 13) + text(width - 8, foot + 20, `everything: ${bytes(MOST)}`, "muted", "end", 13) +
      box(8, foot + 32, width - 16, 18, "plain", 2) + box(8, foot + 32, u(kept) - 8, 18, "on-forward", 2) +
      (all ? "" : `<g${active({ drag: "budget", now: budget, min: LEAST, max: FULL, label: `memory: ${budget} %` })}>` + box(mark - 14, foot + 26, 28, 32, "touch", 0) +
        line([[mark, foot + 28], [mark, foot + 54]], "ink") + dot(mark, foot + 41, 6, "handle") + "</g>");
    return picture(width, foot + 64, `The forward half has ${FORWARD.length} values, of which ${saved.length} are saved; the backward half reads them across the cut`, inside);
  },

  say({ saved, bytes: kept, backward, recomputed }, { budget, all }, { look }) {
    const [kind, which] = (look ?? "").split(":"), step = kind === "step" && backward[which];
    if (kind === "value" && which in size) {
      if (saved.includes(which)) return `<code>${which}</code> is <b class="forward">saved</b>, which takes ${bytes(size[which])}.`;
      return recomputed.includes(which) ? `<code>${which}</code> is not saved: the backward half computes it again and saves ${bytes(size[which])} of memory.`
        : `<code>${which}</code> is not saved, because the backward half never reads it.`;
    }
    if (step) {
      const of = step.reads.length ? `reads ${listed(step.reads)}` : "needs only gradients and inputs";
      return step.again ? `<code>${step.name}</code> is a step of the forward half that <b class="forward">runs again</b>; it ${of}.`
        : `<code>${step.name}</code> ${of}${step.grad ? ` and gives the gradient of <code>${step.grad}</code>` : ""}.`;
    }
    if (all) return `Everything that the backward half reads is saved: <b>${bytes(kept)}</b>. Nothing is computed again.`;
    const fits = kept <= budget / 100 * MOST;
    return `With ${budget}% of the memory, the minimum cut saves ${listed(saved)}: <b class="forward">${bytes(kept)}</b>. ` +
      `The backward half computes ${listed(recomputed)} again.` +
      (fits ? "" : ` It doesn't get smaller, because matrix products are never computed again.`);
  },

  drag(handle, [px], state, { wide }) {
    const width = wide ? 600 : 344;
    return this.settle({ budget: (px - 8) / (width - 16) * 100 });
  },
  nudge: (handle, [dx, dy], state) => ({ budget: Math.min(FULL, Math.max(LEAST, state.budget + 5 * (dx + dy))) }),
};
