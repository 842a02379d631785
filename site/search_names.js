// Stands before Material's search worker (see hooks.py). What it answers to a dotted name, such as
// Tensor.backward or torch.nn.Linear, begins with the entry of that name, and holds what has all
// of its words. Of a question in words it gets those that tell what is asked for: it looks for
// all that begins with a word, and much begins with "a", "do" or "i".
{
  const SMALL = new Set(("a an and are be can could did do does for from how i in is it its me my of on or"
    + " should that the this to was what why will with would you your").split(" "));
  let entries = [], asked = "";
  const answer = self.postMessage;

  self.addEventListener("message", ({ data }) => {
    if (data.type === 0) {
      entries = data.data.docs.filter(({ location }) => /^api\/.*#minigrad\.|^ops\/[^#]+$/.test(location))
        .map(({ title, location }) => [nameOf(title).toLowerCase(), location, nameOf(title)]);
    }
    if (data.type === 2) {
      asked = data.data;
      data.data = telling(asked);
    }
  });

  self.postMessage = (message) => {
    const place = message.type === 3 && locationOf(asked);
    if (place) message.data.items = sorted(message.data.items, place);
    answer.call(self, message);
  };

  function telling(question) {
    const words = question.split(/\s+/).filter((word) => !SMALL.has(word.toLowerCase().replace(/[?.,]$/, "")));
    // 0 would find lesson 0, and 1 all that begins with it
    const short = words.length < 3 ? words : words.filter((word) => !/^\W*\d+\W*$/.test(word));
    // a word as it is asked for is worth more than one that begins with it: grad, and gradcheck
    return short.join("") ? short.map((word) => (/^[a-z]\w+$/i.test(word) ? `${word} ${word}^4` : word)).join(" ") : question;
  }

  function nameOf(title) {
    return title.replace(/<[^>]*>/g, "").trim().replace(/[\s(].*/s, "");
  }

  function locationOf(question) {
    const written = nameOf(question), last = written.split(".").at(-1);
    const name = written.toLowerCase().replace(/^(torch|minigrad)\./, "").replace(/^f\./, "nn.functional.");
    if (!/^\w+(\.\w+)+$/.test(written)) return undefined;
    // loss.backward() is a tensor's method, model.eval() a module's
    const owners = /^(model|module|net|layer|self)\./.test(name) ? ["nn.module", "tensor"] : ["tensor", "nn.module"];
    const ends = [name, name.split(".").slice(-2).join("."), ...owners.map((each) => `${each}.${last}`), last];
    for (const end of ends.map((each) => each.toLowerCase())) {
      // torch.no_grad is told in torch.autograd
      const found = entries.filter(([each]) => each === end || (end === name || end.includes(".")) && each.endsWith(`.${end}`));
      // the shortest; of those as long the one with these capitals, the API's, and that of a module's own page
      const far = ([each, place, exact]) => each.length + (exact.endsWith(last) ? 0 : 0.5)
        + (place.startsWith("api/") ? 0 : 0.3) + (place.startsWith("api/minigrad/") ? 0.1 : 0);
      if (found.length) return found.reduce((a, b) => (far(b) < far(a) ? b : a))[1];
    }
    return undefined;
  }

  function sorted(items, place) {
    const named = items.find((sections) => sections.some(({ location }) => location === place));
    if (!named) return items;
    const entry = named.find(({ location }) => location === place);
    const first = { ...entry, terms: {}, score: 1 + Math.max(...named.map(({ score }) => score)) };
    return [[first, ...whole(named).filter(({ location }) => location !== place)],
            ...items.filter((sections) => sections !== named).map(whole).filter((sections) => sections.some(has))];
  }

  function has({ terms }) {
    const found = Object.values(terms);
    return found.length > 0 && found.every(Boolean);
  }

  function whole(sections) { // a page's head stays, and says nothing of words that it lacks
    return sections.filter((each) => has(each) || !each.location.includes("#"))
      .map((each) => (has(each) ? each : { ...each, terms: {} }));
  }
}
