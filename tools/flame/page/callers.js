// The tree turned around: below each function those that called it. Its first level is what allocated, and a
// frame's width what was allocated there by way of the callers shown so far.

import { REST, ROOT } from "./profile.js";

const mostNodes = 60000;

/** A tree being built; a column for each side and type. */
class Grower {
  constructor(tree, columns, leastShare) {
    this.tree = tree;
    this.columns = columns; // arrays of what each node of the tree holds itself
    this.leastShare = leastShare;
    this.sums = columns.map((values) => values.reduce((sum, value) => sum + value, 0));
    this.parents = [0];
    this.functions = [ROOT];
    this.lines = [0];
    this.leftOut = [0];
    this.totals = columns.map((_, column) => [this.sums[column]]);
  }

  get size() {
    return this.parents.length;
  }

  add(parent, nodeFunction, line, leftOut, values) {
    this.parents.push(parent);
    this.functions.push(nodeFunction);
    this.lines.push(line);
    this.leftOut.push(leftOut);
    values.forEach((value, column) => this.totals[column].push(value));
    return this.size - 1;
  }

  isLarge(values) {
    return values.some((value, column) => value > 0 && value >= this.leastShare * this.sums[column]);
  }
}

/** The paths, one behind the other [at, origin], by the function that they are at. */
function groupPaths(grower, paths) {
  const { functions } = grower.tree;
  const groups = new Map();
  for (let i = 0; i < paths.length; i += 2) {
    const key = functions[paths[i]];
    let group = groups.get(key);
    if (group === undefined)
      groups.set(key, group = { paths: [], values: grower.columns.map(() => 0) });
    group.paths.push(paths[i], paths[i + 1]);
    for (let column = 0; column < grower.columns.length; column++)
      group.values[column] += grower.columns[column][paths[i + 1]];
  }
  return groups;
}

/** One step outwards, for the paths that do not end here. */
function stepOut(grower, paths) {
  const { parents } = grower.tree;
  const outer = [];
  for (let i = 0; i < paths.length; i += 2)
    if (parents[paths[i]] !== 0)
      outer.push(parents[paths[i]], paths[i + 1]);
  return outer;
}

function growNode(grower, parent, paths, queue) {
  const rest = { count: 0, values: grower.columns.map(() => 0) };
  for (const [nodeFunction, group] of groupPaths(grower, paths)) {
    if (!grower.isLarge(group.values)) {
      rest.count++;
      group.values.forEach((value, column) => rest.values[column] += value);
      continue;
    }
    const line = grower.tree.lines[group.paths[0]];
    const leftOut = nodeFunction === REST ? grower.tree.leftOut[group.paths[0]] : 0;
    const node = grower.add(parent, nodeFunction, line, leftOut, group.values);
    queue.push([node, stepOut(grower, group.paths)]);
  }
  if (rest.count > 0)
    grower.add(parent, REST, 0, rest.count, rest.values);
}

function growTree(tree, columns, leastShare) {
  const grower = new Grower(tree, columns, leastShare);
  const origins = [];
  for (let node = 1; node < tree.parents.length; node++)
    if (columns.some((values) => values[node] > 0))
      origins.push(node, node);
  const queue = [[0, origins]];
  for (let next = 0; next < queue.length && grower.size <= mostNodes; next++) {
    const [node, paths] = queue[next];
    queue[next] = undefined;
    if (paths.length > 0)
      growNode(grower, node, paths, queue);
  }
  return grower;
}

/** The callers' tree of the profile, laid out as `profile.callees`, but without `self`. */
export function makeCallers(profile) {
  const tree = profile.callees;
  const typeCount = profile.types.length;
  const columns = [...tree.self.now, ...(profile.hasBefore ? tree.self.before : [])];
  let leastShare = 0;
  let grower = growTree(tree, columns, leastShare);
  while (grower.size > mostNodes) {
    leastShare = Math.max(leastShare * 4, 1e-5);
    grower = growTree(tree, columns, leastShare);
  }
  const totals = { now: grower.totals.slice(0, typeCount) };
  if (profile.hasBefore)
    totals.before = grower.totals.slice(typeCount);
  return { parents: grower.parents, functions: grower.functions, lines: grower.lines,
           leftOut: grower.leftOut, totals };
}
