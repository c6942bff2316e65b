// A real Chromium, and pages in it that report what must not happen. From the environment:
//
//   HP_COMMAND   the command heapprof
//   HP_MODULES   a folder in whose node_modules playwright-core and axe-core are
//   HP_WORK      a folder for pages and screenshots

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeProfile } from "./pprof.mjs";

export const { HP_COMMAND: command, HP_MODULES: modules, HP_WORK: work } = process.env;
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// A test machine has neither a sandbox for root, nor a GPU, nor a network.
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-sync"];

export function launch() {
  return chromium.launch({ executablePath: process.env.HP_CHROMIUM, args: flags });
}

/** Runs heapprof; returns what it wrote to standard output. */
export function heapprof(...args) {
  return execFileSync(command, args, { cwd: work, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** The profile in a file; returns its path. */
export function saveProfile(name, description) {
  const path = join(work, `${name}.pb.gz`);
  writeFileSync(path, makeProfile(description));
  return path;
}

/** The path of the page that heapprof flame makes. */
export function makePage(name, ...args) {
  const path = join(work, `${name}.html`);
  heapprof("flame", "-o", path, ...args);
  return path;
}

let page; // one for all: a renderer process for each would take most of the time

function watch() {
  page.on("pageerror", (error) => page.faults.push(`error: ${error.stack}`));
  page.on("console", (text) => page.faults.push(`console: ${text.text()}`));
  page.on("dialog", (dialog) => { page.faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== page.wanted && !request.url().startsWith("data:"))
      page.faults.push(`request: ${request.url()}`);
  });
}

/**
 * Opens the page and waits until it is drawn. `page.faults` collects errors, messages on the console, dialogs,
 * and requests for anything but the page itself: each test ends with it empty.
 */
export async function open(browser, path, { width = 1280, height = 900, theme = "light", motion = "reduce" } = {}) {
  if (page === undefined) {
    page = await browser.newPage();
    watch();
  }
  page.faults = [];
  page.wanted = pathToFileURL(path).href;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: motion });
  await page.mouse.move(1, 1);
  await page.goto(page.wanted);
  await page.locator("#details-function").filter({ hasText: /./ }).waitFor();
  return page;
}

/** Waits until d3 has nothing left to move; when that was, in ms after the navigation began. */
export async function settle(page) {
  const end = await page.waitForFunction(() =>
    Array.from(document.querySelectorAll("#graph *")).every((element) => element.__transition === undefined) && performance.now());
  return end.jsonValue();
}

/** The frames that are drawn: what each shows and tells, and where it is. */
export async function frames(page) {
  await settle(page);
  return page.$$eval("g.frame", (elements) => elements.map((element) => {
    const box = element.querySelector("rect").getBoundingClientRect();
    return { spoken: element.getAttribute("aria-label"), name: element.getAttribute("name"),
             level: Number(element.getAttribute("aria-level")), match: element.dataset.match,
             change: element.dataset.change, kind: element.dataset.kind, left: box.left, width: box.width };
  }));
}

/** The rows of the table: { name, place, cells: [text] }. */
export function rows(page) {
  return page.$$eval("#table-body tr", (elements) => elements.map((element) => ({
    name: element.querySelector(".function").textContent,
    place: element.querySelector(".place").title,
    cells: Array.from(element.querySelectorAll("td"), (cell) => cell.innerText.replace(/\s+/g, " ").trim()),
  })));
}

/** What stands below the graph: { name, place, "Bytes": "1.0 MiB", … }. */
export async function details(page) {
  const pairs = await page.$$eval("#details-values div", (elements) =>
    elements.map((element) => [element.querySelector("dt").textContent, element.querySelector("dd").textContent]));
  return { name: await page.textContent("#details-function"), place: await page.textContent("#details-place"),
           ...Object.fromEntries(pairs) };
}
