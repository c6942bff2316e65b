// The profile in the page, as tools/flame_json.c wrote it, and what is asked of it.
//
// A node is a call path, known by its number; a parent's is smaller than its children's. Node 0 is the root.
// Values are asked for by side ("now", or "before" of a profile to compare with) and sample type.

import { baseName } from "./format.js";

/** What a node stands for when it is no function. */
export const ROOT = -1;
export const REST = -2; // of so many others that are too small to be shown

const hueCount = 8;
const familyLabels = { inuse: "In use", alloc: "Allocated" };
const aspectLabels = { space: "bytes", objects: "objects" };

/** "inuse_space" as { name, unit, label: "In use, bytes", partner: the place of inuse_objects }. */
function describeType([name, unit], _index, types) {
  const [family, aspect] = name.split("_");
  const known = familyLabels[family] !== undefined && aspectLabels[aspect] !== undefined;
  const other = aspect === "space" ? "objects" : "space";
  const partner = known ? types.findIndex(([type]) => type === `${family}_${other}`) : -1;
  return { name, unit, partner, label: known ? `${familyLabels[family]}, ${aspectLabels[aspect]}` : name };
}

/** Adds each node's value to its parent's: what a node holds with all that it called. */
function sumUp(parents, self) {
  const totals = Float64Array.from(self);
  for (let node = totals.length - 1; node > 0; node--)
    totals[parents[node]] += totals[node];
  return totals;
}

function splitNodeFunctions(numbers) {
  return { functions: Int32Array.from(numbers, (number) => Math.max(number, REST)),
           leftOut: Int32Array.from(numbers, (number) => (number < ROOT ? ROOT - number : 0)) };
}

export class Profile {
  constructor(data) {
    this.data = data;
    this.types = data.types.map(describeType);
    this.hasBefore = data.nodes.selfBefore !== undefined;
    this.functionCount = data.functions.name.length;
    this.callees = this.#readTree(data.nodes);
    this.hues = this.#chooseHues();
  }

  #readTree(nodes) {
    const parents = Int32Array.from(nodes.parent);
    const self = { now: nodes.self, before: nodes.selfBefore };
    const totals = { now: nodes.self.map((values) => sumUp(parents, values)) };
    if (this.hasBefore)
      totals.before = nodes.selfBefore.map((values) => sumUp(parents, values));
    return { parents, self, totals, lines: nodes.line, ...splitNodeFunctions(nodes.function) };
  }

  /** All there is of this type. */
  total(side, type) {
    return this.callees.totals[side][type][0];
  }

  functionName(number) {
    return this.data.functions.name[number];
  }

  functionFile(number) {
    return this.data.strings[this.data.functions.file[number]];
  }

  functionBinary(number) {
    return this.data.strings[this.data.functions.binary[number]];
  }

  /** "src/cache.c:59", or the binary when there is no source. */
  functionPlace(number, line = this.data.functions.line[number]) {
    const file = this.functionFile(number);
    if (file === "")
      return this.functionBinary(number);
    return line > 0 ? `${file}:${line}` : file;
  }

  /** The same with the last two parts of the path: what tells files apart in a list. */
  functionShortPlace(number) {
    return this.functionPlace(number).split("/").slice(-2).join("/");
  }

  functionSelf(number, side, type) {
    return this.data.functions[side === "now" ? "self" : "selfBefore"][type][number];
  }

  functionTotal(number, side, type) {
    return this.data.functions[side === "now" ? "total" : "totalBefore"][type][number];
  }

  /**
   * The source files that hold most have a hue each, 0 to 7, which their functions share: colour is where memory
   * was asked for, grey what only called it. The functions of all other files: undefined.
   */
  #chooseHues() {
    const weights = new Map(); // by file: of the type shown first, and of all
    for (let number = 0; number < this.functionCount; number++) {
      const file = this.functionFile(number);
      const [first, all] = weights.get(file) ?? [0, 0];
      const shares = this.types.map((_, type) => this.functionSelf(number, "now", type) / (this.total("now", type) || 1));
      weights.set(file, [first + shares[this.data.shown], all + shares.reduce((sum, share) => sum + share, 0)]);
    }
    weights.delete("");
    const files = [...weights].filter(([, [, all]]) => all > 0).sort(([fileA, [firstA, allA]], [fileB, [firstB, allB]]) =>
      firstB - firstA || allB - allA || (fileA < fileB ? -1 : 1)).slice(0, hueCount);
    const hueOf = new Map(files.map(([file], hue) => [file, hue]));
    return Array.from({ length: this.functionCount }, (_, number) => hueOf.get(this.functionFile(number)));
  }

  /** The places of the types in the order of the controls: the one shown first, its partner, the others. */
  typeOrder() {
    const { shown } = this.data;
    const first = [shown, this.types[shown].partner].filter((place) => place >= 0);
    const rank = (place) => (first.includes(place) ? first.indexOf(place) : this.types.length - place);
    return this.types.map((_, place) => place).sort((a, b) => rank(a) - rank(b));
  }

  /** The functions, by number, whose name or source file holds the text, in any case. null for no text. */
  search(text) {
    const wanted = text.trim().toLowerCase();
    if (wanted === "")
      return null;
    const found = new Set();
    for (let number = 0; number < this.functionCount; number++) {
      const place = `${this.functionFile(number)}\n${baseName(this.functionBinary(number))}`;
      if (this.functionName(number).toLowerCase().includes(wanted) || place.toLowerCase().includes(wanted))
        found.add(number);
    }
    return found;
  }

  /** What is held by stacks that have any of these functions on them, each stack once. */
  matchedValue(found, side, type) {
    const { parents, functions, totals } = this.callees;
    const within = new Uint8Array(parents.length);
    let sum = 0;
    for (let node = 1; node < parents.length; node++) {
      const isMatch = found.has(functions[node]);
      if (isMatch && !within[parents[node]])
        sum += totals[side][type][node];
      within[node] = isMatch || within[parents[node]] ? 1 : 0;
    }
    return sum;
  }

  /** The facts that the dump's comments hold ("key: value"); undefined for what it does not say. */
  fact(key) {
    const comment = this.data.comments.find((text) => text.startsWith(`${key}:`));
    return comment?.slice(key.length + 1).trim();
  }

  /** The same as a number. */
  number(key) {
    const text = this.fact(key);
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  }
}
