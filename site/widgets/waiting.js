// A loop on a device: Python queues work and goes on, until a line asks for a value and waits.

import { active, box, line, picture, shown, text } from "./draw.js";

const STEPS = 8, COPY = 1;
/** What a step may ask of `x`, an array of one element on the device; `waits`: a value crosses over. */
const LINES = {
  none: { code: "y = x * 2", waits: false, strict: "allowed" },
  item: { code: "x.item()", waits: true, strict: "allowed" },
  float: { code: "float(x)", waits: true, strict: "refused" },
  if: { code: "if x > 0:", waits: true, strict: "allowed" },
  numpy: { code: "np.exp(x)", waits: true, strict: "refused" },
};

export default {
  name: "waiting",
  title: "Which line makes Python wait?",
  defaults: { line: "float", every: 1, work: 4 },
  views: ["wide", "narrow"],
  controls: () => [
    { name: "line", kind: "choice", label: "in the loop", options: Object.entries(LINES).map(([key, { code }]) => [key, code]) },
    { name: "every", kind: "number", label: "in every n-th step, n", min: 1, max: STEPS, step: 1 },
    { name: "work", kind: "number", label: "work of a step on the device", min: 1, max: 8, step: 1 },
  ],
  settle: ({ every, work }) => ({ every: Math.round(every), work: Math.round(work) }),

  /** Each step: when Python `queues` it, when the device `begins` and `ends`, and from when to when Python waits. */
  model({ line: asked, every, work }) {
    const { waits, strict } = LINES[asked] ?? LINES.none, steps = [];
    let host = 0, device = 0;
    for (let i = 0; i < STEPS; i++) {
      const queued = host + 1, begins = Math.max(queued, device);
      device = begins + work;
      const asks = waits && (i + 1) % every === 0;
      steps.push({ from: host, queued, begins, ends: device, wait: asks ? [queued, device + COPY] : null });
      host = asks ? device + COPY : queued;
    }
    const total = Math.max(host, device);
    return { steps, total, idle: total - STEPS * work, least: 1 + STEPS * work, strict, transfers: steps.filter(({ wait }) => wait).length };
  },

  draw({ steps, total }, { line: asked }, { wide }) {
    const width = wide ? 600 : 344, left = wide ? 70 : 8, top = wide ? 30 : 46, scale = (width - left - 10) / total, u = (time) => left + time * scale;
    const { code, strict } = LINES[asked] ?? LINES.none;
    const label = (words, y) => text(wide ? 8 : left, wide ? y + 18 : y - 10, words, "muted", "start", 13);
    let inside = label("Python", top) + label("device", top + (wide ? 70 : 90)) + text(width - 10, 14, `${shown(total)} units of time`, "code", "end", 13);
    const low = top + (wide ? 70 : 90);
    steps.forEach(({ from, queued, begins, ends, wait }, i) => {
      inside += `<g${active({ look: `step:${i}`, label: `step ${i + 1}: queued at ${queued}, on the device from ${begins} to ${ends}${wait ? `, Python waits until ${wait[1]}` : ""}` })}>` +
        box(u(from), top, Math.max(2, (queued - from) * scale - 1), 36, "on-forward", 2) +
        box(u(begins), low, Math.max(2, (ends - begins) * scale - 1), 36, "on-forward", 2) +
        ((ends - begins) * scale > 16 ? text(u((begins + ends) / 2), low + 18, i + 1, "code forward", "middle", 12) : "") + "</g>" +
        line([[u(queued), top + 36], [u(begins), low]], "gone") +
        (wait ? box(u(wait[0]), top + 6, Math.max(2, (wait[1] - wait[0]) * scale - 1), 24, "saved", 2) + line([[u(wait[1] - COPY), low], [u(wait[1]), top + 30]], "wrong-line") : "");
    });
    inside += text(left, low + 56, `${code} on the strict device: ${strict === "allowed" ? "✓ allowed" : "✗ refused"}`, strict === "allowed" ? "right" : "wrong", "start", 13);
    return picture(width, low + 70, "Two rows of time: Python above, the device below", inside);
  },

  say({ total, idle, least, strict, transfers, steps }, { line: asked, every }, { look }) {
    const { code, waits } = LINES[asked] ?? LINES.none, step = steps[look?.split(":")[1]];
    if (step) return `Python queues this step at ${step.queued}; the device computes it from <b class="forward">${step.begins}</b> to <b class="forward">${step.ends}</b>.${step.wait ? ` <code>${code}</code> lets Python wait until ${step.wait[1]}: all that is queued first, then the copy.` : " Python has gone on."}`;
    if (!waits) return `<code>${code}</code> only queues work: Python runs ahead, and the device is never without work. ${STEPS} steps take <b>${total}</b>.`;
    const how = strict === "refused" ? `It looks like nothing, so the strict device refuses it: <span class="wrong">✗ a hidden transfer</span>.`
      : asked === "if" ? `One bool crosses over, on purpose, so the strict device allows it.` : `Whoever writes it knows: it is allowed by name.`;
    return `<code>${code}</code> in every ${every === 1 ? "" : `${every}. `}step waits ${transfers} ${transfers === 1 ? "time" : "times"}: <b>${total}</b> instead of ${least}, and the device stands still for ${idle}. ${how}`;
  },
};
