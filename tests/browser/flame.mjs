// The page of `heapprof flame` in a real Chromium: everything a person does with it, compared with numbers that
// pprof.mjs adds up from the stacks that it wrote.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axeSource, details, frames, launch, makePage, open, rows, saveProfile, settle, work } from "./browser.mjs";
import { sumBelow, sumByFunction, typeNames } from "./pprof.mjs";

const [ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE] = [0, 1, 2, 3];
const typeTexts = ["Allocated, objects", "Allocated, bytes", "In use, objects", "In use, bytes"];

const comments = ["heapprof: 0.1.0", "service: shop", "host: node7", "pid: 4711", "reason: limit95", "usage: 127506842",
                  "limit: 134217728", "limit source: cgroup v2 /sys/fs/cgroup/shop", "samples lost: 3"];
const stacks = [
  { frames: ["main@src/main.c:9", "serve@src/server.c:40", "handle@src/server.c:77", "cache_put@src/cache.c:73", "entry_new@src/cache.c:59"],
    values: [100, 4096000, 60, 2457600] },
  { frames: ["main@src/main.c:9", "serve@src/server.c:40", "handle@src/server.c:81", "session_new@src/sessions.c:54"],
    values: [300, 3072000, 100, 1024000] },
  { frames: ["main@src/main.c:9", "serve@src/server.c:40", "handle@src/server.c:85", "render@src/render.c:12", "text_grow@src/text.c:17"],
    values: [5000, 5120000, 0, 0] },
  { frames: ["main@src/main.c:12", "load_config@src/config.c:30", "text_grow@src/text.c:17"], values: [10, 204800, 10, 204800] },
  { frames: ["main@src/main.c:9", "serve@src/server.c:41", "walk@src/tree.c:5", "walk@src/tree.c:5", "walk@src/tree.c:6", "node_new@src/tree.c:2"],
    values: [64, 655360, 64, 655360] },
];

function bytes(value) {
  return value >= 1023.95 * 1024 ? `${(value / 1048576).toFixed(1)} MiB` : value >= 1023.95 ? `${(value / 1024).toFixed(1)} KiB` : `${value} B`;
}
const amount = (value, type) => (typeNames[type].endsWith("space") ? bytes(value) : value.toLocaleString("en"));
const share = (part, whole) => `${(100 * part / whole).toFixed(1)}%`;
const sum = (type, of = stacks) => of.reduce((total, { values }) => total + values[type], 0);

let browser, shop;

before(async () => {
  browser = await launch();
  saveProfile("shop", { stacks, comments });
  shop = makePage("shop", "shop.pb.gz");
});
after(() => browser?.close());

/** A test with a page of its own, which must have had nothing to complain about in the end. */
function pageTest(name, pageOf, work, options) {
  test(name, async () => {
    const page = await open(browser, pageOf(), options);
    await work(page);
    assert.deepEqual(page.faults, []);
  });
}
const onShop = (name, work, options) => pageTest(name, () => shop, work, options);

const frame = (page, name) => page.locator(`g.frame[name="${name}"]`).first();
const choose = (page, text) => page.locator("label", { hasText: text }).locator("input").check();
const status = (page) => page.textContent("#status");

onShop("the dump's own facts stand on top", async (page) => {
  assert.equal(await page.textContent("h1"), "shop");
  assert.equal(await page.title(), "shop – heap profile");
  const occasion = (await page.textContent("#occasion")).replaceAll("\u00a0", " ");
  for (const part of ["Written at 95% of the limit", "2026-01-31 23:59:59 UTC", "pid 4711 on node7", "5 stacks", "a sample every 64.0 KiB"])
    assert.ok(occasion.includes(part), `${part} in ${occasion}`);
  assert.equal(await page.textContent("#usage-now"), "121.6 MiB in use");
  assert.equal(await page.textContent("#usage-limit"), "95.0% of 128.0 MiB");
  assert.equal(await page.textContent("#usage-source"), "Limit from cgroup v2 /sys/fs/cgroup/shop");
  assert.equal(await page.textContent("#notices"), "3 samples lost: the numbers are too low");
  assert.match(await page.textContent("#comments"), /reason.*limit95.*limit source.*cgroup v2/s);
});

/** Every path of function names in the stacks, from the outermost on (or the innermost). */
function allPaths(inverted) {
  const paths = new Set();
  for (const { frames: path } of stacks) {
    const names = path.map((text) => text.split("@")[0]);
    if (inverted)
      names.reverse();
    names.forEach((_, end) => paths.add(names.slice(0, end + 1).join(";")));
  }
  return [...paths].map((path) => path.split(";"));
}

/** What the graph must show of each path: as "level name value width". */
function expectedFrames(type, inverted, width) {
  const whole = sum(type);
  return allPaths(inverted).map((path) => {
    const value = sumBelow(stacks, path, type, inverted);
    return { level: path.length + 1, name: path.at(-1), value, width: value / whole * width };
  }).filter((one) => one.width > 1);
}

async function checkFrames(page, type, inverted) {
  const drawn = await frames(page);
  const root = drawn.find(({ kind }) => kind === "root");
  assert.equal(root.name, `Everything: ${amount(sum(type), type)}`);
  const expected = expectedFrames(type, inverted, root.width);
  assert.equal(drawn.length - 1, expected.length, `${typeNames[type]}, number of frames`);
  for (const one of expected) {
    const found = drawn.find(({ level, name, width }) => level === one.level && name === one.name && Math.abs(width - one.width) < 0.5);
    assert.ok(found, `${typeNames[type]}: ${JSON.stringify(one)} in ${JSON.stringify(drawn)}`);
    const unit = typeNames[type].endsWith("space") ? "bytes" : "objects";
    assert.ok(found.spoken.includes(`, ${unit} ${amount(one.value, type)}`), found.spoken);
    assert.ok(found.spoken.includes(`, of total ${share(one.value, sum(type))}`), found.spoken);
  }
}

onShop("every frame has its value, for each type, as a call tree and by callers", async (page) => {
  for (const view of ["Call tree", "Callers"]) {
    await choose(page, view);
    for (const type of [INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE, ALLOC_OBJECTS]) {
      const isChosen = await page.getByRole("radio", { name: typeTexts[type] }).isChecked();
      await choose(page, typeTexts[type]);
      await checkFrames(page, type, view === "Callers");
      const spoken = `${isChosen ? view : typeTexts[type]}: ${amount(sum(type), type)}`;
      assert.ok(await status(page) === "" || (await status(page)).startsWith(spoken), await status(page));
    }
  }
});

onShop("the pointer on a frame shows what is known of it", async (page) => {
  await frame(page, "cache_put").hover();
  const handle = sumBelow(stacks, ["main", "serve", "handle"], INUSE_SPACE);
  assert.deepEqual(await details(page), {
    name: "cache_put", place: "src/cache.c:73", "Bytes": "2.3 MiB", "Objects": "60", "Of total": share(2457600, sum(INUSE_SPACE)),
    "Of caller": share(2457600, handle), "Itself": "0 B",
  });
  await page.mouse.move(5, 5);
  assert.equal((await details(page)).name, "Everything");
});

onShop("by callers, the share is that of the function called", async (page) => {
  await choose(page, "Callers");
  await frame(page, "load_config").hover();
  const told = await details(page);
  assert.equal(told.Bytes, "200.0 KiB");
  assert.equal(told["Of callee"], "100.0%");
  await choose(page, typeTexts[ALLOC_SPACE]);
  await frame(page, "load_config").hover();
  assert.equal((await details(page))["Of callee"], share(204800, 5120000 + 204800));
  await frame(page, "text_grow").hover();
  assert.equal((await details(page))["Of callee"], undefined);
  assert.equal((await details(page))["Of total"], share(5120000 + 204800, sum(ALLOC_SPACE)));
});

onShop("the graph is as wide as its place, in every view", async (page) => {
  for (const [view, width] of [["Callers", 400], ["Call tree", 400], ["Callers", 1280], ["Call tree", 1280]]) {
    await page.setViewportSize({ width, height: 900 });
    await choose(page, view);
    await page.waitForTimeout(50);
    const [{ width: drawn }] = await frames(page);
    const room = await page.evaluate(() => document.getElementById("graph").clientWidth);
    assert.ok(drawn > 0.9 * room && drawn <= room, `${view} at ${width}: ${drawn} of ${room} px`);
  }
});

onShop("a click zooms in; the button, or Escape, out again", async (page) => {
  const full = (await frames(page)).find(({ kind }) => kind === "root").width;
  assert.ok(await page.isDisabled("#reset"));
  for (const reset of [() => page.click("#reset"), () => page.keyboard.press("Escape")]) {
    await frame(page, "session_new").click();
    const zoomed = await frames(page);
    assert.equal(Math.round(zoomed.find(({ name }) => name === "session_new").width), Math.round(full));
    assert.ok(!zoomed.some(({ name }) => name === "cache_put"));
    assert.match(await status(page), /^Zoomed to session_new, src\/sessions\.c:54, bytes 1000\.0 KiB/);
    await reset();
    await checkFrames(page, INUSE_SPACE, false);
    assert.ok(await page.isDisabled("#reset"));
    assert.equal(await status(page), "Zoom reset");
  }
});

onShop("a click on a caller of what is zoomed to zooms out to it", async (page) => {
  const full = (await frames(page)).find(({ kind }) => kind === "root").width;
  await frame(page, "entry_new").click();
  await frame(page, "handle").click();
  const zoomed = await frames(page);
  assert.equal(Math.round(zoomed.find(({ name }) => name === "handle").width), Math.round(full));
  assert.ok(zoomed.some(({ name }) => name === "session_new"));
});

/** The name of what has the focus: a frame's, a control's. */
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("name") ?? document.activeElement.id ?? "");

onShop("the keyboard reaches and does everything", async (page) => {
  const reached = [];
  for (let i = 0; i < 9; i++) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => {
      const { id, name, className, textContent } = document.activeElement;
      return id || name || (className.baseVal ?? className) || textContent;
    }));
  }
  assert.deepEqual(reached, ["skip", "type", "view", "search", "frame", "Function", "Self", "Total", await page.textContent("#table-body button")]);
  for (let i = 0; i < 4; i++)
    await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(page), `Everything: ${bytes(sum(INUSE_SPACE))}`);
  const moves = [["ArrowDown", "main"], ["ArrowDown", "serve"], ["ArrowDown", "handle"], ["ArrowDown", "cache_put"], ["ArrowRight", "session_new"],
                 ["ArrowRight", "walk"], ["ArrowLeft", "session_new"], ["ArrowUp", "handle"], ["ArrowRight", "walk"], ["Home", `Everything: ${bytes(sum(INUSE_SPACE))}`],
                 ["ArrowUp", `Everything: ${bytes(sum(INUSE_SPACE))}`], ["ArrowDown", "main"], ["ArrowDown", "serve"]];
  for (const [key, name] of moves) {
    await page.keyboard.press(key);
    assert.equal(await focused(page), name, key);
    assert.equal((await details(page)).name, name.split(":")[0]);
  }
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "serve");
  assert.match(await status(page), /^Zoomed to serve, src\/server\.c:40/);
  assert.ok(!(await frames(page)).some(({ name }) => name === "load_config"));
  await page.keyboard.press("Escape");
  assert.equal(await status(page), "Zoom reset");
  assert.equal(await focused(page), "serve");
  await page.keyboard.press("/");
  await page.keyboard.type("cache");
  assert.equal(await focused(page), "search");
  assert.match(await status(page), /^2 functions: /);
});

onShop("the focus is seen", async (page) => {
  await page.focus('g.frame[tabindex="0"]');
  await page.keyboard.press("ArrowDown");
  await settle(page);
  const [ring, rect] = await page.evaluate(() => [document.querySelector(".focus-ring"), document.activeElement.querySelector("rect")].map((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { left, top, width, height, visible: getComputedStyle(element).visibility };
  }));
  assert.equal(ring.visible, "visible");
  for (const side of ["left", "top", "width", "height"])
    assert.ok(Math.abs(ring[side] - rect[side]) <= 3, `${side}: ${ring[side]} ${rect[side]}`);
  for (const control of ["#search", "#table-head button", "#table-body button"]) {
    await page.focus(control);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", control);
  }
});

onShop("the search marks what it finds and says its share", async (page) => {
  await page.fill("#search", "SRC/CACHE");
  const found = (await frames(page)).filter(({ match }) => match === "yes").map(({ name }) => name);
  assert.deepEqual(found.sort(), ["cache_put", "entry_new"]);
  assert.equal(await page.textContent("#matched"), `2 functions: 2.3 MiB, ${share(2457600, sum(INUSE_SPACE))} of total`);
  assert.deepEqual((await rows(page)).map(({ name }) => name).sort(), ["cache_put", "entry_new"]);
  // A stack counts once, however many of its frames match.
  await page.fill("#search", "walk");
  assert.equal(await page.textContent("#matched"), `1 function: 640.0 KiB, ${share(655360, sum(INUSE_SPACE))} of total`);
  await page.fill("#search", "text_grow");
  await choose(page, typeTexts[ALLOC_SPACE]);
  assert.equal(await page.textContent("#matched"), `1 function: 5.1 MiB, ${share(5120000 + 204800, sum(ALLOC_SPACE))} of total`);
  await page.fill("#search", "nothing.like this");
  assert.equal(await page.textContent("#matched"), `0 functions: 0 B, 0.0% of total`);
  assert.equal((await rows(page)).length, 0);
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#search"), "");
  assert.ok((await frames(page)).every(({ match }) => match === undefined));
  assert.equal(await status(page), "Search cleared");
});

/** As `go tool pprof -top` has them, by function: name -> { self, total }; undefined without go. */
function pprofTable(path, type) {
  try {
    const text = execFileSync("go", ["tool", "pprof", "-top", "-filefunctions", "-nodefraction=0", "-edgefraction=0", "-nodecount=100000", "-unit=B",
                                     "-symbolize=none", `-sample_index=${typeNames[type]}`, path],
                              { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, PPROF_TMPDIR: work } });
    const table = new Map();
    for (const line of text.split("\n").slice(text.split("\n").findIndex((one) => /flat +flat%/.test(one)) + 1)) {
      const [flat, , , cum, , name] = line.trim().split(/\s+/);
      if (name !== undefined)
        table.set(name, { self: parseFloat(flat), total: parseFloat(cum) });
    }
    return table;
  } catch (error) {
    if (error.code === "ENOENT")
      return undefined;
    throw error;
  }
}

onShop("the table has the numbers of all functions, those of pprof", async (page) => {
  for (const type of [INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE, ALLOC_OBJECTS]) {
    await choose(page, typeTexts[type]);
    const expected = [...sumByFunction(stacks, type)].filter(([, { total }]) => total > 0);
    const shown = await rows(page);
    assert.equal(shown.length, expected.length);
    for (const [name, { self, total }] of expected) {
      const row = shown.find((one) => one.name === name);
      assert.deepEqual(row.cells, [self, total].map((value) => `${amount(value, type)} ${share(value, sum(type))}`), name);
    }
    const theirs = pprofTable(join(work, "shop.pb.gz"), type);
    if (theirs !== undefined)
      assert.deepEqual(theirs, new Map(expected.sort(([a], [b]) => [...theirs.keys()].indexOf(a) - [...theirs.keys()].indexOf(b))));
  }
  assert.equal((await rows(page)).find(({ name }) => name === "handle").place, "src/server.c:77");
});

onShop("the table is sorted by any column, either way", async (page) => {
  const sums = sumByFunction(stacks, INUSE_SPACE);
  const names = async () => (await rows(page)).map(({ name }) => name);
  const sortedBy = (key) => (list) => list.every((name, i) => i === 0 || sums.get(list[i - 1])[key] >= sums.get(name)[key]);
  assert.ok(sortedBy("self")(await names()));
  const header = (text) => page.getByRole("columnheader", { name: text });
  await header("Total").getByRole("button").click();
  assert.ok(sortedBy("total")(await names()));
  assert.equal(await header("Total").getAttribute("aria-sort"), "descending");
  assert.equal(await header("Self").getAttribute("aria-sort"), null);
  assert.equal(await status(page), "Functions sorted by total, descending");
  await header("Total").getByRole("button").click();
  assert.ok(sortedBy("total")((await names()).reverse()));
  assert.equal(await header("Total").getAttribute("aria-sort"), "ascending");
  await header("Function").getByRole("button").click();
  assert.deepEqual(await names(), (await names()).slice().sort());
});

onShop("a function picked in the table is marked in the graph", async (page) => {
  const button = page.getByRole("button", { name: "walk" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const drawn = await frames(page);
  assert.deepEqual(drawn.filter(({ match }) => match === "yes").map(({ name }) => name), ["walk", "walk", "walk"]);
  assert.equal(drawn.filter(({ match }) => match === "no").length, drawn.length - 3);
  assert.equal(await page.textContent("#matched"), `walk: 640.0 KiB, ${share(655360, sum(INUSE_SPACE))} of total`);
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  assert.ok((await frames(page)).every(({ match }) => match === undefined));
});

onShop("the zoom stays when the type changes, unless there is nothing in it", async (page) => {
  const full = (await frames(page)).find(({ kind }) => kind === "root").width;
  await frame(page, "handle").click();
  await choose(page, typeTexts[ALLOC_SPACE]);
  assert.equal(Math.round((await frames(page)).find(({ name }) => name === "handle").width), Math.round(full));
  await frame(page, "render").click();
  await choose(page, typeTexts[INUSE_SPACE]);
  await checkFrames(page, INUSE_SPACE, false);
});

test("several files are summed, a base is compared with", async () => {
  const later = stacks.map(({ frames: path, values }, i) => ({ frames: path, values: i === 0 ? values.map((value) => value * 3) : i === 1 ? [310, 3174400, 0, 0] : values }));
  saveProfile("later", { stacks: later, comments });
  const page = await open(browser, makePage("growth", "--base", "shop.pb.gz", "later.pb.gz"));
  assert.match(await page.textContent("#occasion"), /compared with shop\.pb\.gz/);
  const by = new Map((await rows(page)).map((row) => [row.name, row.cells]));
  assert.deepEqual(by.get("entry_new"), [`7.0 MiB ${share(2457600 * 3, sum(INUSE_SPACE, later))}`, "+4.7 MiB", `7.0 MiB ${share(2457600 * 3, sum(INUSE_SPACE, later))}`, "+4.7 MiB"]);
  assert.deepEqual(by.get("session_new"), ["0 B 0.0%", "−1000.0 KiB", "0 B 0.0%", "−1000.0 KiB"]);
  assert.deepEqual(by.get("node_new").slice(1, 2), ["±0"]);
  const drawn = await frames(page);
  assert.equal(drawn.find(({ name }) => name === "entry_new").change, "4");
  assert.equal(drawn.find(({ name }) => name === "node_new").change, "0");
  await frame(page, "entry_new").hover();
  const shown = await details(page);
  assert.equal(shown.Before, "2.3 MiB");
  assert.equal(shown.Change, "+4.7 MiB");
  await choose(page, "Before");
  assert.equal((await frames(page)).find(({ name }) => name === "session_new").change, "-3");
  await checkFrames(page, INUSE_SPACE, false);
  assert.deepEqual(page.faults, []);

  await open(browser, makePage("both", "shop.pb.gz", "later.pb.gz"));
  assert.match(await page.textContent("#occasion"), /Sum of 2 profiles/);
  assert.equal((await frames(page)).find(({ kind }) => kind === "root").name, `Everything: ${bytes(sum(INUSE_SPACE) + sum(INUSE_SPACE, later))}`);
  assert.deepEqual(page.faults, []);
});

const hostile = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<!--<script>", "\"'`${alert(3)}&amp;&lt;", "a\u2028b\u2029c",
                 "]]><svg onload=alert(4)>", "javascript:alert(5)", "__proto__", "constructor", "\\u003c/script\\u003e", "\u202egnp.exe", "x".repeat(20000)];

test("hostile names are shown, and do nothing", async () => {
  const nasty = hostile.map((name, i) => ({ frames: ["main", name, `${name}@${name}:${i + 1}`], values: [1, 1000 + i, 1, 1000 + i] }));
  saveProfile("hostile", { stacks: nasty, comments: [...hostile.map((name) => `service: ${name}`), ...hostile.map((name) => `${name}: ${name}`)] });
  for (const theme of ["light", "dark"]) {
    const page = await open(browser, makePage("hostile", "hostile.pb.gz"), { theme, width: 400 });
    assert.equal(await page.textContent("h1"), hostile[0]);
    const sums = sumByFunction(nasty, INUSE_SPACE);
    const shown = new Set((await rows(page)).map(({ name }) => name));
    for (const name of sums.keys())
      assert.ok(shown.has(name), `${name.slice(0, 40)} in the table`);
    for (const name of hostile)
      assert.ok((await frames(page)).some((one) => one.name === name), `${name.slice(0, 40)} in the graph`);
    await choose(page, "Callers");
    await page.fill("#search", hostile[1]);
    assert.match(await page.textContent("#matched"), /^[12] functions?: /);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "no wider than the window");
    assert.deepEqual(page.faults, []);
  }
});

test("the page may run nothing that was not built into it, and fetch nothing", async () => {
  const page = await open(browser, shop);
  await page.evaluate(() => {
    window.broken = [];
    document.addEventListener("securitypolicyviolation", (event) => window.broken.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    const image = new Image();
    image.src = "http://127.0.0.1:9/x.png";
    return fetch("http://127.0.0.1:9/").catch(() => 0);
  });
  await page.waitForFunction(() => window.broken.length >= 3);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.deepEqual((await page.evaluate(() => window.broken)).sort(), ["connect-src", "img-src", "script-src-elem"]);
});

// Pages, each with what is searched for, at a width and in a theme.
const looks = [["shop", "", 1280, "light"], ["shop", "", 1280, "dark"], ["shop", "cache", 400, "light"], ["shop", "cache", 400, "dark"],
               ["growth", "", 1280, "light"], ["growth", "", 400, "dark"], ["hostile", "", 320, "light"]];

/** In the page: what is side by side, or one above the other, and shares more than a pixel. */
function overlaps() {
  const groups = [".facts > *", ".controls > *", ".panel-head > *", ".panel", "#details-values > *", "#types label", "#table-head > *",
                  "#table-body tr:first-child > *", "#table-body tr", "#table-body tr:first-child .function, #table-body tr:first-child .place"];
  const found = [];
  for (const group of groups) {
    const boxes = Array.from(document.querySelectorAll(group)).filter((element) => element.offsetParent !== null)
      .map((element) => [element, element.getBoundingClientRect()]);
    boxes.forEach(([element, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1.5 && high > 1.5 && !element.contains(other))
        found.push(`${element.outerHTML.slice(0, 60)} and ${other.outerHTML.slice(0, 60)}`);
    }));
  }
  return found;
}

for (const [name, search, width, theme] of looks)
  test(`${name} at ${width} px, ${theme}: accessible, nothing cut off, nothing overlaps`, async () => {
    const page = await open(browser, join(work, `${name}.html`), { width, theme });
    await page.fill("#search", search);
    await page.screenshot({ path: join(work, `${name}-${width}-${theme}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    const clipped = await page.$$eval("h1, h2, p, legend, label span, th button, td, dt, dd, .table-frame, .controls, .details", (elements) => elements
      .filter((element) => element.offsetParent !== null && !element.closest(".visually-hidden, details:not([open])"))
      .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
      .map((element) => element.textContent));
    assert.deepEqual(clipped, []);
    assert.deepEqual(await page.evaluate(overlaps), []);
    for (const summary of await page.$$("summary"))
      await summary.click();
    await page.evaluate(axeSource);
    const { violations, passes } = await page.evaluate(() =>
      axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html, nodes[0].failureSummary]), []);
    assert.ok(passes.length > 20, `${passes.length} rules passed`);
  });

/** A wide and deep tree of this many frames. */
function manyStacks(count) {
  const made = [];
  for (let i = 0; made.length * 5 < count; i++)
    made.push({ frames: ["main", `part${i % 40}@src/p${i % 40}.c`, `unit${i % 400}@src/u.c`, ...Array.from({ length: 5 }, (_, depth) => `f${i}_${depth}@src/f${i % 97}.c:${depth + 1}`)],
                values: [i + 1, 1000 * (i + 1), i + 1, 1000 * (i + 1)] });
  return made;
}

test("20,000 frames open in no time", async () => {
  saveProfile("many", { stacks: manyStacks(20000), comments });
  const path = makePage("many", "many.pb.gz");
  const times = [];
  for (let i = 0; i < 3; i++) {
    const page = await open(browser, path);
    times.push(await settle(page));
    const count = await page.evaluate(() => JSON.parse(document.getElementById("profile").textContent).nodes.parent.length);
    assert.ok(count > 20000, `${count} frames`);
    assert.deepEqual(page.faults, []);
  }
  const best = Math.min(...times);
  console.log(`20,000 frames: ${times.map((time) => time.toFixed(0)).join(", ")} ms from the navigation until all is drawn`);
  // A second is the aim; a machine that runs other tests meanwhile may take longer.
  assert.ok(best < 3000, `${best} ms`);
});
