// The page: what is shown now, and who is told when that changes.

import { makeCallers } from "./callers.js";
import { showFacts } from "./facts.js";
import { formatCount, formatShare, formatValue } from "./format.js";
import { Frames } from "./frames.js";
import { Graph } from "./graph.js";
import { Profile } from "./profile.js";
import { FunctionTable } from "./table.js";

const $ = (id) => document.getElementById(id);

class Page {
  constructor(profile) {
    this.profile = profile;
    this.shown = { tree: profile.callees, isCallers: false, type: profile.data.shown, side: "now" };
    this.found = null;  // functions that the search found; null: no search
    this.picked = null; // the function that was picked in the table
    this.frames = new Frames(profile, this.shown);
    this.graph = new Graph($("graph"), this.frames, {
      inspect: (node) => this.inspect(node),
      zoom: (node) => this.onZoom(node),
    });
    this.table = new FunctionTable(profile, {
      pick: (number) => this.pick(number),
      sort: (text) => this.say(text),
    });
    this.makeControls();
    showFacts(profile);
    this.showLegend();
    this.showTree();
  }

  get values() {
    return this.shown.tree.totals[this.shown.side][this.shown.type];
  }

  makeControls() {
    const { types, hasBefore } = this.profile;
    for (const place of this.profile.typeOrder()) {
      const { name, label } = types[place];
      const input = Object.assign(document.createElement("input"),
        { type: "radio", name: "type", value: place, checked: place === this.shown.type });
      const text = Object.assign(document.createElement("span"), { textContent: label, title: name });
      const choice = document.createElement("label");
      choice.append(input, text);
      $("types").append(choice);
    }
    $("sides").hidden = !hasBefore;
    $("controls").addEventListener("change", (event) => this.onChange(event.target));
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("search").addEventListener("input", () => this.search());
    $("reset").addEventListener("click", () => this.graph.resetZoom());
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  onChange({ name, value, nextElementSibling }) {
    if (name === "type")
      this.shown.type = Number(value);
    else if (name === "side")
      this.shown.side = value;
    else if (name === "view")
      this.turn(value === "callers");
    else
      return;
    if (name === "view")
      this.showTree();
    else
      this.showValues();
    this.say(`${nextElementSibling.textContent}: ${this.amount(this.values[0])}`);
  }

  onKey(event) {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      $("search").focus();
    } else if (event.key === "Escape" && this.graph.zoomed !== 0) {
      event.preventDefault();
      this.graph.resetZoom();
    } else if (event.key === "Escape" && (this.found !== null || this.picked !== null)) {
      event.preventDefault();
      $("search").value = "";
      this.picked = null;
      this.search();
    }
  }

  turn(isCallers) {
    if (isCallers)
      this.callers ??= makeCallers(this.profile);
    this.shown.isCallers = isCallers;
    this.shown.tree = isCallers ? this.callers : this.profile.callees;
  }

  /** Another tree: drawn anew, zoomed out. */
  showTree() {
    const isEmpty = this.values[0] === 0;
    $("graph").hidden = isEmpty;
    $("graph-empty").hidden = !isEmpty;
    this.graph.show(this.shown.tree, this.values);
    this.afterValues();
    this.onZoomed();
  }

  /** Other values of the same tree: the zoom stays, unless there is nothing in it. */
  showValues() {
    const isEmpty = this.values[this.graph.zoomed] === 0;
    if (isEmpty || !$("graph-empty").hidden)
      return this.showTree();
    this.graph.setValues(this.values);
    this.afterValues();
  }

  afterValues() {
    const { label } = this.profile.types[this.shown.type];
    $("graph-title").textContent = `${label}: ${this.shown.isCallers ? "who allocated, and its callers" : "call tree"}`;
    this.mark();
    this.table.show({ type: this.shown.type, side: this.shown.side, found: this.found });
    this.inspect(this.graph.zoomed);
  }

  onZoom(node) {
    this.onZoomed();
    this.inspect(node);
    this.say(node === 0 ? "Zoom reset" : `Zoomed to ${this.frames.spoken(node)}`);
  }

  onZoomed() {
    $("reset").disabled = this.graph.zoomed === 0;
  }

  inspect(node) {
    $("details-function").textContent = this.frames.name(node);
    $("details-place").textContent = this.frames.place(node);
    $("details-values").replaceChildren(...this.frames.facts(node).map(([term, text]) => {
      const pair = document.createElement("div");
      pair.append(Object.assign(document.createElement("dt"), { textContent: term }),
                  Object.assign(document.createElement("dd"), { textContent: text }));
      return pair;
    }));
  }

  search() {
    this.found = this.profile.search($("search").value);
    this.mark();
    this.table.show({ type: this.shown.type, side: this.shown.side, found: this.found });
    const text = $("matched").textContent;
    this.say(text === "" ? "Search cleared" : text);
  }

  pick(number) {
    this.picked = this.picked === number ? null : number;
    this.mark();
    this.say($("matched").textContent || "Nothing is marked");
  }

  /** In the graph: the function picked in the table, else what the search found. */
  mark() {
    const marked = this.picked !== null ? new Set([this.picked]) : this.found;
    this.graph.mark(marked);
    this.table.pick(this.picked);
    $("matched").textContent = marked === null ? "" : this.matchText(marked);
  }

  matchText(marked) {
    const { type, side } = this.shown;
    const value = this.profile.matchedValue(marked, side, type);
    const subject = this.picked !== null ? this.profile.functionName(this.picked) : formatCount(marked.size, "function");
    return `${subject}: ${this.amount(value)}, ${formatShare(value, this.profile.total(side, type))} of total`;
  }

  amount(value) {
    const { unit } = this.profile.types[this.shown.type];
    return formatValue(value, unit) + (unit === "count" ? " objects" : "");
  }

  showLegend() {
    if (!this.profile.hasBefore)
      return;
    $("legend").hidden = false;
    $("legend").append("shrank");
    for (const change of [-4, -2, 0, 2, 4]) {
      const swatch = document.createElement("i");
      swatch.style.background = `var(--${change === 0 ? "same" : (change < 0 ? "less" : "more") + Math.abs(change)})`;
      $("legend").append(swatch);
    }
    $("legend").append("grew");
  }

  say(text) {
    $("status").textContent = text;
  }
}

new Page(new Profile(JSON.parse($("profile").textContent)));
