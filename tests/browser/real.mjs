// A real service under the real library, its real dumps, and their page in a real Chromium: the same numbers that
// `go tool pprof -raw` and addr2line give for the same files.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { details, frames, heapprof, launch, makePage, open, rows, work } from "./browser.mjs";

const service = process.env.HP_SERVICE;
const INUSE_SPACE = 3;
const has = (tool) => spawnSync(tool, ["--help"], { stdio: "ignore" }).error === undefined;
const missing = service === undefined ? "the library is not built here" : ["go", "addr2line"].find((tool) => !has(tool));
let browser, folder, dumps;

before(async () => {
  if (missing !== undefined)
    return;
  browser = await launch();
  folder = mkdtempSync(join(work, "dumps-"));
  heapprof("run", "--sample", "16K", "--dump-dir", folder, "--limit", "16M", "--", service, "--requests", "15000");
  dumps = Object.fromEntries(readdirSync(folder).map((name) => [/\.([a-z]+\d*)\.pb\.gz$/.exec(name)[1], join(folder, name)]));
});
after(async () => {
  await browser?.close();
  if (folder !== undefined)
    rmSync(folder, { recursive: true });
});

function pprof(...args) {
  return execFileSync("go", ["tool", "pprof", ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
                                                          env: { ...process.env, PPROF_TMPDIR: work } });
}

/** The dump's samples, as pprof reads them: [{ values, leaf: its address in the service, undefined elsewhere }]. */
function readSamples(dump) {
  const text = pprof("-raw", "-symbolize=none", dump);
  const [samples, rest] = text.split("\nLocations\n"), [locations, mappings] = rest.split("\nMappings\n");
  const found = /^(\d+): (0x\w+)\/0x\w+\/(0x\w+) (\S+)/m.exec(mappings.split("\n").find((line) => line.includes(service)));
  const [, mapping, start, offset] = found;
  const addresses = new Map([...locations.matchAll(/^ *(\d+): (0x\w+) M=(\d+)/gm)].map(([, id, address, of]) =>
    [id, of === mapping ? BigInt(address) - BigInt(start) + BigInt(offset) : undefined]));
  return [...samples.matchAll(/^ *((?:\d+ +){3}\d+): (\d+)/gm)].map(([, values, leaf]) =>
    ({ values: values.trim().split(/ +/).map(Number), leaf: addresses.get(leaf) }));
}

/** What each function of the service holds itself, by what addr2line calls its addresses. */
function sumByLeaf(samples, type) {
  const sums = new Map();
  for (const { values, leaf } of samples.filter((sample) => sample.leaf !== undefined && sample.values[type] > 0)) {
    const [name] = execFileSync("addr2line", ["-f", "-i", "-e", service, `0x${leaf.toString(16)}`], { encoding: "utf8" }).split("\n");
    sums.set(name, (sums.get(name) ?? 0) + values[type]);
  }
  return sums;
}

function bytes(value) {
  return value >= 1023.95 * 1024 ? `${(value / 1048576).toFixed(1)} MiB` : value >= 1023.95 ? `${(value / 1024).toFixed(1)} KiB` : `${value} B`;
}
const sum = (samples) => samples.reduce((total, { values }) => total + values[INUSE_SPACE], 0);

test("a dump that was written before the limit", { skip: missing }, async () => {
  const samples = readSamples(dumps.limit95);
  const page = await open(browser, makePage("real", dumps.limit95));
  const comments = pprof("-comments", dumps.limit95);
  assert.match(await page.textContent("#occasion"), /^Written at 95% of the limit/);
  assert.equal(await page.textContent("#usage-now"), `${bytes(Number(/^ *usage: (\d+)/m.exec(comments)[1]))} in use`);
  assert.equal((await frames(page))[0].name, `Everything: ${bytes(sum(samples))}`);
  const expected = sumByLeaf(samples, INUSE_SPACE), shown = await rows(page);
  assert.ok(expected.size >= 3, [...expected.keys()].join());
  for (const [name, self] of expected) {
    const row = shown.find((one) => one.name === name);
    assert.ok(row, `${name} in ${shown.map((one) => one.name)}`);
    assert.equal(row.cells[0].split(" ").slice(0, 2).join(" "), bytes(self), name);
  }
  // Turned around, who holds it comes first.
  await page.locator("label", { hasText: "Callers" }).locator("input").check();
  const first = (await frames(page)).filter(({ level }) => level === 2);
  const whole = (await frames(page))[0].width;
  for (const { name, width } of first.filter((frame) => expected.has(frame.name)))
    assert.ok(Math.abs(width / whole - expected.get(name) / sum(samples)) < 0.001, `${name}: ${width} of ${whole}`);
  const [largest] = [...expected].sort(([, a], [, b]) => b - a);
  await page.locator(`g.frame[name="${largest[0]}"]`).first().hover();
  const told = await details(page);
  assert.equal(told.Bytes, bytes(largest[1]));
  assert.match(told.place, /\/edge_service\/\w+\.c:\d+$/);
  assert.deepEqual(page.faults, []);
});

test("what grew between two dumps", { skip: missing }, async () => {
  const [before80, now] = [readSamples(dumps.limit80), readSamples(dumps.limit95)];
  const page = await open(browser, makePage("real-growth", "--base", dumps.limit80, dumps.limit95));
  const told = await details(page);
  const change = sum(now) - sum(before80);
  assert.equal(told.Before, bytes(sum(before80)));
  assert.equal(told.Change, change === 0 ? "±0" : `${change > 0 ? "+" : "−"}${bytes(Math.abs(change))}`);
  assert.deepEqual(page.faults, []);
});
