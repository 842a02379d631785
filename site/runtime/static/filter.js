// A field above long tables: rows without the words in it are hidden, and sections without rows.

import { element } from "./page.js";

const place = document.querySelector(".mg-filter");
const said = element("span", { className: "mg-result", role: "status" });
const field = element("input", { type: "search", className: "mg-guess", autocomplete: "off",
                                 placeholder: "Filter: a name, or what it computes",
                                 "aria-label": "Filter the tables" });

/** The elements from one heading to the next, by heading. */
const sections = [...document.querySelectorAll("article h2")].map((heading) => {
  const inside = [];
  for (let each = heading.nextElementSibling; each && each.tagName !== "H2";
       each = each.nextElementSibling) inside.push(each);
  return { all: [heading, ...inside],
           rows: inside.flatMap((each) => [...each.querySelectorAll("tbody tr")]) };
});

function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { all, rows } of sections) {
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    for (const each of all) each.hidden = words.length > 0 && shown === 0;
    count += shown;
  }
  said.textContent = words.length ? `${count} found` : "";
}

field.addEventListener("input", filter);
place.append(field, said);
