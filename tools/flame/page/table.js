// The table of functions: sorted by any column, filtered by the search, marking a function in the graph.

import { formatChange, formatCount, formatShare, formatValue } from "./format.js";

const rowsAtFirst = 50;
const rowsMore = 500;

const plainColumns = [
  { key: "name", title: "Function" },
  { key: "self", title: "Self" },
  { key: "total", title: "Total" },
];
const changeColumns = [
  { key: "name", title: "Function" },
  { key: "self", title: "Self" },
  { key: "selfChange", title: "Change" },
  { key: "total", title: "Total" },
  { key: "totalChange", title: "Change in total" },
];

function makeElement(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined)
      element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export class FunctionTable {
  /** `on.pick(number)` when a function is chosen (again: given up), `on.sort(text)` after a sort. */
  constructor(profile, on) {
    this.profile = profile;
    this.on = on;
    this.columns = profile.hasBefore ? changeColumns : plainColumns;
    this.sort = { key: profile.hasBefore ? "selfChange" : "self", descending: true };
    this.limit = rowsAtFirst;
    this.found = null;
    this.picked = null;
    this.head = document.getElementById("table-head");
    this.body = document.getElementById("table-body");
    this.more = document.getElementById("table-more");
    this.count = document.getElementById("table-count");
    this.body.addEventListener("click", (event) => this.#onClick(event));
    this.more.addEventListener("click", () => this.#showMore());
    document.getElementById("table").classList.toggle("is-compared", profile.hasBefore);
    this.#makeHead();
  }

  #makeHead() {
    for (const column of this.columns) {
      const button = makeElement("button", { type: "button" }, column.title);
      button.addEventListener("click", () => this.#sortBy(column));
      column.head = makeElement("th", { scope: "col", role: "columnheader" }, button);
      this.head.append(column.head);
    }
  }

  #sortBy({ key, title }) {
    const isSame = this.sort.key === key;
    this.sort = { key, descending: isSame ? !this.sort.descending : key !== "name" };
    this.limit = rowsAtFirst;
    this.#draw();
    this.on.sort(`Functions sorted by ${title.toLowerCase()}, ${this.sort.descending ? "descending" : "ascending"}`);
  }

  #showMore() {
    const first = this.body.rows.length;
    this.limit += rowsMore;
    this.#draw();
    this.body.rows[first]?.querySelector("button").focus();
  }

  #onClick(event) {
    const row = event.target.closest("tr");
    if (row !== null)
      this.on.pick(Number(row.dataset.function));
  }

  /** What the page shows now: type, side, functions found by a search or null. */
  show({ type, side, found }) {
    this.type = type;
    this.side = side;
    this.found = found;
    this.rows = this.#makeRows();
    this.limit = rowsAtFirst;
    this.#draw();
  }

  /** The function that is marked in the graph; null for none. */
  pick(number) {
    this.picked = number;
    for (const row of this.body.rows)
      row.querySelector("button").setAttribute("aria-pressed", Number(row.dataset.function) === number);
  }

  #makeRows() {
    const { profile, type, side } = this;
    const rows = [];
    for (let number = 0; number < profile.functionCount; number++) {
      const row = { number, name: profile.functionName(number), self: profile.functionSelf(number, side, type),
                    total: profile.functionTotal(number, side, type), selfChange: 0, totalChange: 0 };
      if (profile.hasBefore) {
        row.selfChange = profile.functionSelf(number, "now", type) - profile.functionSelf(number, "before", type);
        row.totalChange = profile.functionTotal(number, "now", type) - profile.functionTotal(number, "before", type);
      }
      const isEmpty = row.total === 0 && row.totalChange === 0;
      if (!isEmpty && (this.found === null || this.found.has(number)))
        rows.push(row);
    }
    return rows;
  }

  #compare(a, b) {
    const { key, descending } = this.sort;
    const byName = a.name < b.name ? -1 : a.name > b.name ? 1 : a.number - b.number;
    if (key === "name")
      return descending ? -byName : byName;
    const difference = descending ? b[key] - a[key] : a[key] - b[key];
    return difference || b.self - a.self || b.total - a.total || byName;
  }

  #draw() {
    this.rows.sort((a, b) => this.#compare(a, b));
    const shown = this.rows.slice(0, this.limit);
    this.body.replaceChildren(...shown.map((row) => this.#makeRow(row)));
    for (const { key, head } of this.columns) {
      if (key === this.sort.key)
        head.setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
      else
        head.removeAttribute("aria-sort");
    }
    const left = this.rows.length - shown.length;
    this.more.hidden = left === 0;
    this.more.textContent = `Show ${formatCount(Math.min(left, rowsMore), "more function")}`;
    this.count.textContent = this.#countText(shown.length);
  }

  #countText(shown) {
    const all = formatCount(this.rows.length, "function");
    const kind = this.found === null ? all : `${all} found`;
    return shown < this.rows.length ? `${kind}, ${shown} shown` : kind;
  }

  #makeRow(row) {
    const { profile } = this;
    const button = makeElement("button", { type: "button", "aria-pressed": row.number === this.picked },
      makeElement("span", { class: "swatch", "data-hue": profile.hues[row.number] }),
      makeElement("span", { class: "function", title: row.name.length > 100 ? row.name : undefined }, row.name),
      makeElement("span", { class: "place", title: profile.functionPlace(row.number) },
                  profile.functionShortPlace(row.number)));
    const cells = this.columns.slice(1).map(({ key }) => this.#makeCell(key, row[key]));
    return makeElement("tr", { role: "row", "data-function": row.number },
                       makeElement("th", { scope: "row", role: "rowheader" }, button), ...cells);
  }

  #makeCell(key, value) {
    const { unit } = this.profile.types[this.type];
    if (key.endsWith("Change"))
      return makeElement("td", { role: "cell" }, formatChange(value, unit));
    const all = this.profile.total(this.side, this.type);
    const bar = makeElement("span", { class: "bar" });
    bar.style.setProperty("--share", `${all > 0 ? Math.min(100 * value / all, 100) : 0}%`);
    return makeElement("td", { role: "cell" }, `${formatValue(value, unit)} `,
                       makeElement("span", { class: "share" }, formatShare(value, all)), bar);
  }
}
