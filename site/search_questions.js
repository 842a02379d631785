// Stands before Material's search worker (see hooks.py). A pasted error text or a question in words
// is answered by the section that is about it: one whose heading is that error, or one that
// questions.toml names for such a question. Lunr would look for any of the words, and rank by how
// rare they are.
{
  const SMALL = new Set(("a an and are as at be been being but by can could did do does for from have how i if in is it its"
    + " me my of on or should so that the their then there they this to use used vs was we were what when which why will with"
    + " would you your pytorch torch minigrad python").split(" "));
  let phrases = [], docs = [], question = "";
  const answer = self.postMessage;

  self.addEventListener("message", ({ data }) => {
    if (data.type === 0) {
      docs = data.data.docs;
      phrases = docs.flatMap((entry) => (entry.asked ?? []).map((words) => [telling(words), entry.location]));
    }
    if (data.type === 2) question = data.data;
  });

  self.postMessage = (message) => {
    const isQuestion = message.type === 3 && /\S\s+\S/.test(question); // one word is looked up as a name
    const location = isQuestion && answering(telling(question));
    if (location) message.data.items = led(message.data.items, location);
    answer.call(self, message);
  };

  function telling(text) {
    const plain = text.replace(/<[^>]*>/g, "").replace(/&#39;|&rsquo;|’/g, "'").toLowerCase()
      .replace(/^.*\b\w*(error|warning|exception)\s*:/, "")
      .replace(/\bcan('t| not)\b/g, "cannot").replace(/n't\b/g, " not").replace(/\bin[- ]place\b/g, "inplace");
    return (plain.match(/[a-z_]+\d*[a-z_]*/g) ?? []).filter((word) => !SMALL.has(word)).map(stem);
  }

  function stem(word) {
    if (/^gradients?$|^grads$/.test(word)) return "grad";
    return word.length > 3 && !word.endsWith("ss") ? word.replace(/s$/, "") : word;
  }

  // The location whose phrase is nearest to these words: a long phrase is one that they hold, in its
  // order, or that holds them; a short one has to say the same.
  function answering(words) {
    let best = 0, found;
    for (const [phrase, location] of phrases) {
      const inOrder = ordered(phrase, words), common = new Set(phrase.filter((each) => words.includes(each))).size;
      const quoted = phrase.length > 3 && inOrder >= 0.85 * phrase.length;
      const part = inOrder > 2 && inOrder >= 0.9 * words.length;
      const same = common > 0.65 * new Set(phrase).size && common > 0.65 * new Set(words).size;
      if (!quoted && !part && !same) continue;
      const near = inOrder + common + common / (phrase.length + words.length);
      if (near > best) [best, found] = [near, location];
    }
    return found;
  }

  function ordered(a, b) { // the length of the longest common subsequence
    let row = new Array(b.length + 1).fill(0);
    for (const each of a) {
      const next = [0];
      b.forEach((other, place) => next.push(each === other ? row[place] + 1 : Math.max(row[place + 1], next[place])));
      row = next;
    }
    return row.at(-1);
  }

  function led(items, location) {
    const [page] = location.split("#"), best = 1 + Math.max(0, ...items.flat().map(({ score }) => score));
    const named = items.find((sections) => sections[0].location.split("#")[0] === page) ?? [];
    const entry = (place) => named.find((each) => each.location === place)
      ?? { ...docs.find((each) => each.location === place), text: "" };
    const first = { ...entry(location), terms: {}, score: best };
    const head = location === page ? [] : [{ ...entry(page), terms: {}, score: 0 }];
    const others = named.filter(({ location: place, terms }) => place !== location && place !== page
      && Object.values(terms).every(Boolean));
    return [[first, ...head, ...others], ...items.filter((sections) => sections !== named)];
  }
}
