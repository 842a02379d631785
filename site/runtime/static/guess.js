// How a reader's guess was, beside what was printed and what the lesson counts as an answer.

const WORDS_THAT_SAY_NOTHING = new Set(["the", "and", "then", "is", "it", "will", "be", "by"]);
const TOKEN = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[a-z_]\w*/g;
const VALUES = new Set(["true", "false", "none", "nan", "inf"]);

const isNumber = (token) => /^[-+.\d]/.test(token);
const isValue = (token) => isNumber(token) || VALUES.has(token);

/** A text's words and numbers, in order; with `thousands`, 1,000 is one number. */
function tokens(text, thousands) {
  let plain = text.toLowerCase().replaceAll("\u2212", "-");
  if (thousands) plain = plain.replace(/\b\d{1,3}(?:,\d{3})+\b/g, (number) => number.replaceAll(",", ""));
  // a hyphen after a letter or digit joins words: it is no sign
  plain = plain.replace(/(?<=\w)-(?=[a-z])/g, " ");
  return (plain.match(TOKEN) ?? []).filter((token) => !WORDS_THAT_SAY_NOTHING.has(token));
}

/** The digits that a number shows, without zeros before the first. */
const shownDigits = (number) => number.replace(/e.*/, "").replace(/\D/g, "").replace(/^0+/, "").length;

/** Whether two numbers are the same when they are rounded to so many digits. */
function near(a, b, digits) {
  const larger = Math.max(Math.abs(a), Math.abs(b));
  return a === b || Math.abs(a - b) <= 0.5001 * 10 ** (Math.floor(Math.log10(larger)) - digits + 1);
}

/**
 * Whether two numbers agree in the digits that both show, in three at least: 1.36 and 1.3591 do,
 * 1.36 and 1.3491 do not.  A whole number is meant exactly.
 */
function agree(one, other) {
  const digits = [one, other].every((each) => /[.e]/.test(each))
    ? Math.max(3, Math.min(shownDigits(one), shownDigits(other))) : 15;
  return near(Number(one), Number(other), digits);
}

const same = (one, other) => one === other || (isNumber(one) && isNumber(other) && agree(one, other));

/** Whether a guess is a text from which only words were left out: no number, no True or False. */
function saysAll(guess, text) {
  if (!text.some(isValue)) return guess.length === text.length && guess.every((token, i) => same(token, text[i]));
  let place = 0;
  for (const token of text) {
    if (place < guess.length && same(guess[place], token)) place += 1;
    else if (isValue(token)) return false;
  }
  return place === guess.length;
}

/** Whether two rows of numbers are as long and plainly others, in whatever order they stand. */
function differ(...rows) {
  const [ours, theirs] = rows.map((row) => row.map(Number).sort((a, b) => a - b));
  return ours.length === theirs.length && ours.some((number, i) => !near(number, theirs[i], 2));
}

/**
 * "right", "wrong" or "open".  Right is what says all that was printed, its words or its numbers
 * alone, or one of the answers that the lesson lists.  Wrong are other numbers, as many as in an
 * answer.  All else is open: the question need not ask for the print, and words have many forms.
 */
export function judged(guess, printed, answers = []) {
  const [whole, parts] = [true, false].map((thousands) => tokens(guess, thousands));
  const wanted = [printed, ...answers].map((text) => tokens(text, true));
  if (!whole.length) return "open";
  if (wanted.some((text) => saysAll(whole, text) || saysAll(parts, text))) return "right";
  const numeric = wanted.slice(1).filter((text) => text.length && text.every(isNumber));
  const isPlain = whole.every(isNumber) && whole.length === parts.length && !/[/*^]/.test(guess);
  return isPlain && numeric.length > 0 && numeric.every((text) => differ(whole, text)) ? "wrong" : "open";
}
