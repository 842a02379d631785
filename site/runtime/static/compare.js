// Whether what a block printed is what the lesson says.

const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;

/** How this error ends depends on Python's version. */
const TOO_DEEP = /(RecursionError: maximum recursion depth exceeded).*/g;

/**
 * "same", "nearly" (only the last digits of numbers differ, as they do between processors) or
 * "different".
 */
export function compared(got, expected) {
  [got, expected] = [got, expected].map((text) => text.replace(TOO_DEEP, "$1"));
  if (got === expected) return "same";
  if (got.replace(NUMBER, "0") !== expected.replace(NUMBER, "0")) return "different";
  const [ours, theirs] = [got, expected].map((text) => (text.match(NUMBER) ?? []).map(Number));
  const close = ours.every((value, i) =>
    Math.abs(value - theirs[i]) <= 1e-5 * Math.max(Math.abs(value), Math.abs(theirs[i])));
  return close ? "nearly" : "different";
}
