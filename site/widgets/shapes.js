// Shapes of tensors, as readers type them and as Python writes them.

/** "(3, 1)" or "3, 1" as [3, 1]; what is no number among them is NaN. */
export function sizesIn(words) {
  const inside = String(words).replace(/[()\s]/g, "").replace(/,$/, "");
  return inside === "" ? [] : inside.split(",").map((each) => (each === "" ? NaN : Number(each)));
}

/** [3] as "(3,)". */
export const written = (sizes) => `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})`;
