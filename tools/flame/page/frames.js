// What a frame of the graph is called, shows and tells.

import { formatChange, formatCount, formatShare, formatValue } from "./format.js";
import { REST, ROOT } from "./profile.js";

/** From which share of the largest change on a frame is coloured how strongly. */
const changeSteps = [0.005, 0.05, 0.2, 0.5];

export class Frames {
  /** `shown` is { tree, isCallers, type, side }: what the page shows now; it may change at any time. */
  constructor(profile, shown) {
    this.profile = profile;
    this.shown = shown;
  }

  value(node, type = this.shown.type, side = this.shown.side) {
    return this.shown.tree.totals[side][type][node];
  }

  changeOf(node, type = this.shown.type) {
    return this.value(node, type, "now") - this.value(node, type, "before");
  }

  get unit() {
    return this.profile.types[this.shown.type].unit;
  }

  name(node) {
    const number = this.shown.tree.functions[node];
    if (number === ROOT)
      return "Everything";
    if (number === REST)
      return formatCount(this.shown.tree.leftOut[node], "smaller frame");
    return this.profile.functionName(number);
  }

  /** "file.c:12"; "" for what is no function. */
  place(node) {
    const { functions, lines } = this.shown.tree;
    return functions[node] < 0 ? "" : this.profile.functionPlace(functions[node], lines[node]);
  }

  label(node) {
    if (node !== 0)
      return this.name(node);
    return `${this.name(0)}: ${formatValue(this.value(0), this.unit)}`;
  }

  kind(node) {
    const number = this.shown.tree.functions[node];
    return number === ROOT ? "root" : number === REST ? "rest" : "function";
  }

  hue(node) {
    if (this.profile.hasBefore)
      return undefined;
    return this.profile.hues[this.shown.tree.functions[node]];
  }

  /** -4 to 4, by how the change compares with the largest change of any function. */
  change(node) {
    if (!this.profile.hasBefore || this.shown.tree.functions[node] < 0)
      return undefined;
    const change = this.changeOf(node);
    const share = Math.abs(change) / (this.largestChange() || 1);
    const step = changeSteps.filter((least) => share >= least).length;
    return change < 0 ? -step : step;
  }

  largestChange() {
    const { tree, type } = this.shown;
    const cache = this.largest ??= new Map();
    const key = `${this.shown.isCallers} ${type}`;
    if (!cache.has(key)) {
      let most = 0;
      for (let node = 1; node < tree.parents.length; node++)
        most = Math.max(most, Math.abs(this.changeOf(node)));
      cache.set(key, most);
    }
    return cache.get(key);
  }

  /** What is known of a node: [term, text] pairs. */
  facts(node) {
    const { tree, type, side } = this.shown;
    const described = this.profile.types[type];
    const facts = [[described.partner < 0 ? described.label : capitalized(described), this.#text(node, type)]];
    if (described.partner >= 0)
      facts.push([capitalized(this.profile.types[described.partner]), this.#text(node, described.partner)]);
    facts.push(["Of total", formatShare(this.value(node), this.value(0))]);
    if (node !== 0 && !(this.shown.isCallers && tree.parents[node] === 0))
      facts.push([this.shown.isCallers ? "Of callee" : "Of caller",
                  formatShare(this.value(node), this.value(tree.parents[node]))]);
    if (!this.shown.isCallers && node !== 0)
      facts.push(["Itself", formatValue(tree.self[side][type][node], described.unit)]);
    if (this.profile.hasBefore)
      facts.push(["Before", formatValue(this.value(node, type, "before"), described.unit)],
                 ["Change", formatChange(this.changeOf(node), described.unit)]);
    return facts;
  }

  #text(node, type) {
    return formatValue(this.value(node, type), this.profile.types[type].unit);
  }

  /** All of it as a sentence, for a screen reader. */
  spoken(node) {
    const place = this.place(node);
    const facts = this.facts(node).map(([term, text]) => `${term.toLowerCase()} ${text}`);
    return [this.label(node), ...(place === "" ? [] : [place]), ...facts].join(", ");
  }
}

/** "Bytes" or "Objects" of a heap profile's type. */
function capitalized(type) {
  return type.name.endsWith("_space") ? "Bytes" : "Objects";
}
