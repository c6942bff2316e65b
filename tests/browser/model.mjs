// The parts of the page that need no browser, on random trees: beside sums over the stacks, made the plain way.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { makeCallers } from "../../tools/flame/page/callers.js";
import { formatChange, formatCount, formatShare, formatValue } from "../../tools/flame/page/format.js";
import { Profile, REST, ROOT } from "../../tools/flame/page/profile.js";
import { makeProfile, sumByFunction } from "./pprof.mjs";

const { HP_COMMAND: command } = process.env;

/** The same numbers each time: a generator of Lehmer's kind. */
function randomSource(seed) {
  return (below) => {
    seed = seed * 48271 % 2147483647;
    return seed % below;
  };
}

function randomStacks(seed, count, names) {
  const random = randomSource(seed);
  return Array.from({ length: count }, () => ({
    frames: Array.from({ length: 1 + random(12) }, () => `f${random(names)}@src/a.c:${1 + random(3)}`),
    values: [random(50), random(50000), random(50), random(50000)],
  }));
}

/** The data in the page of these stacks, through the command. */
function dataOf(stacks, ...options) {
  const page = execFileSync(command, ["flame", "-o", "-", ...options, "-"],
                            { input: makeProfile({ stacks }), encoding: "utf8", maxBuffer: 1 << 28 });
  return JSON.parse(/<script type="application\/json" id="profile">([^<]*)</.exec(page)[1]);
}

/** A tree as a map: "outermost;…;innermost" of each node to its values. */
function pathsOf(profile, tree) {
  const paths = new Map(), texts = [""];
  for (let node = 1; node < tree.parents.length; node++) {
    assert.ok(tree.parents[node] < node);
    assert.notEqual(tree.functions[node], REST);
    texts[node] = `${texts[tree.parents[node]]};${profile.functionName(tree.functions[node])}`;
    assert.ok(!paths.has(texts[node]), `twice: ${texts[node]}`);
    paths.set(texts[node], profile.types.map((_, type) => tree.totals.now[type][node]));
  }
  return paths;
}

/** What pathsOf must give, added up from the stacks. */
function sumPaths(stacks, inverted) {
  const paths = new Map();
  for (const { frames, values } of stacks) {
    const names = frames.map((text) => text.split("@")[0]);
    if (values.every((value) => value === 0))
      continue;
    let path = "";
    for (const name of inverted ? names.reverse() : names) {
      path += `;${name}`;
      paths.set(path, (paths.get(path) ?? [0, 0, 0, 0]).map((sum, type) => sum + values[type]));
    }
  }
  return paths;
}

const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

for (const [seed, count, names] of [[1, 1, 3], [2, 40, 3], [3, 500, 8], [4, 2000, 200]])
  test(`${count} stacks of ${names} functions: call tree, callers, functions`, () => {
    const stacks = randomStacks(seed, count, names);
    const profile = new Profile(dataOf(stacks));
    assert.deepEqual(sorted(pathsOf(profile, profile.callees)), sorted(sumPaths(stacks, false)));
    const callers = makeCallers(profile);
    assert.equal(callers.functions[0], ROOT);
    assert.deepEqual(sorted(pathsOf(profile, callers)), sorted(sumPaths(stacks, true)));
    for (let type = 0; type < 4; type++) {
      const sums = sumByFunction(stacks, type);
      assert.equal(profile.functionCount, sums.size);
      for (let number = 0; number < profile.functionCount; number++) {
        const { self, total } = sums.get(profile.functionName(number));
        assert.equal(profile.functionSelf(number, "now", type), self);
        assert.equal(profile.functionTotal(number, "now", type), total);
      }
    }
  });

test("what a search matches counts each stack once", () => {
  const stacks = randomStacks(5, 500, 30);
  const profile = new Profile(dataOf(stacks));
  for (const text of ["f1", "F2", "f7", "src/a", "none"]) {
    const found = profile.search(text);
    const matches = (frame) => frame.toLowerCase().includes(text.toLowerCase());
    for (let type = 0; type < 4; type++)
      assert.equal(profile.matchedValue(found, "now", type),
                   stacks.filter(({ frames }) => frames.some(matches)).reduce((sum, { values }) => sum + values[type], 0), text);
  }
  assert.equal(profile.search("  "), null);
});

test("a tree too large for a page keeps its sums, also by callers", () => {
  const random = randomSource(6);
  const stacks = Array.from({ length: 60000 }, (_, i) => ({
    frames: ["main", `a${i % 300}`, `b${random(5000)}`, `c${i}`, `leaf${i % 7}`], values: [1, 1 + random(1000), 1, 1 + random(1000)] }));
  const profile = new Profile(dataOf(stacks));
  assert.ok(profile.data.nodesLeftOut > 0);
  const { functions, parents, totals, leftOut } = profile.callees;
  assert.ok(parents.length <= 100000, `${parents.length} nodes`);
  const callers = makeCallers(profile);
  assert.ok(callers.parents.length <= 70000, `${callers.parents.length} nodes`);
  for (let type = 0; type < 4; type++) {
    const whole = stacks.reduce((sum, { values }) => sum + values[type], 0);
    assert.equal(totals.now[type][0], whole);
    assert.equal(callers.totals.now[type][0], whole);
    let first = 0;
    callers.parents.forEach((parent, node) => first += node > 0 && parent === 0 ? callers.totals.now[type][node] : 0);
    assert.equal(first, whole);
  }
  assert.equal(leftOut.reduce((sum, count) => sum + count, 0), profile.data.nodesLeftOut);
  // The table does not depend on what the graph leaves out.
  const sums = sumByFunction(stacks, 3);
  for (let leaf = 0; leaf < 7; leaf++) {
    const number = profile.data.functions.name.indexOf(`leaf${leaf}`);
    assert.equal(profile.functionSelf(number, "now", 3), sums.get(`leaf${leaf}`).self);
  }
  assert.ok(functions.includes(REST));
});

test("functions are shown at the lines where heapprof top shows them", () => {
  const stacks = randomStacks(7, 300, 20);
  // A line that calls itself weighs once: the other one is heavier.
  stacks.push({ frames: ["f90@src/a.c:1", "f90@src/a.c:1", "f91@src/a.c:1"], values: [1, 10, 1, 10] },
              { frames: ["f90@src/a.c:2", "f91@src/a.c:1"], values: [1, 15, 1, 15] });
  const profile = new Profile(dataOf(stacks));
  const top = execFileSync(command, ["top", "-n", "0", "-"], { input: makeProfile({ stacks }), encoding: "utf8" });
  const printed = [...top.matchAll(/ (f\d+) +(src\/a\.c:\d+)$/gm)];
  assert.equal(printed.length, profile.functionCount);
  for (const [, name, place] of printed)
    assert.equal(profile.functionPlace(profile.data.functions.name.indexOf(name)), place, name);
});

test("the same sizes as heapprof top prints", () => {
  const values = [0, 1, 1023, 1024, 1048524, 1048525, 1073741823, 5e12];
  const stacks = values.map((value, i) => ({ frames: [`f${i}`], values: [1, value, 1, value] }));
  const top = execFileSync(command, ["top", "-n", "0", "-"], { input: makeProfile({ stacks }), encoding: "utf8" });
  const printed = new Map([...top.matchAll(/^ *(\S+ \S+) +\S+% .*% +(f\d+)/gm)].map(([, size, name]) => [name, size]));
  values.forEach((value, i) => {
    if (value > 0)
      assert.equal(formatValue(value, "bytes"), printed.get(`f${i}`));
  });
});

test("numbers for people", () => {
  assert.equal(formatValue(0, "bytes"), "0 B");
  assert.equal(formatValue(1234567, "count"), "1,234,567");
  assert.equal(formatValue(999, "nanoseconds"), "999 ns");
  assert.equal(formatValue(1500000, "nanoseconds"), "1.5 ms");
  assert.equal(formatValue(90e9, "nanoseconds"), "90.0 s");
  assert.equal(formatChange(2048, "bytes"), "+2.0 KiB");
  assert.equal(formatChange(-5, "count"), "−5");
  assert.equal(formatChange(0, "bytes"), "±0");
  assert.equal(formatShare(1, 3), "33.3%");
  assert.equal(formatShare(0, 0), "–");
  assert.equal(formatCount(1, "stack"), "1 stack");
  assert.equal(formatCount(12345, "stack"), "12,345 stacks");
});
