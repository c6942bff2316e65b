// Makes the page of `heapprof flame` of the files beside this one and of what npm installed:
//
//   node build.mjs NODE_MODULES OUTPUT_FOLDER
//
// writes page.head and page.tail there; the profile's JSON belongs between the two. The page may run the scripts
// and styles that are in it now, known by their hashes, and nothing else; it may fetch nothing.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output] = process.argv.slice(2);

// In the order of their imports.
const ownScripts = ["format.js", "profile.js", "callers.js", "frames.js", "graph.js", "table.js", "facts.js", "page.js"];
const libraries = ["d3-selection/dist/d3-selection.min.js", "d3-flame-graph/dist/d3-flamegraph.min.js"];

const read = (name) => readFileSync(join(here, name), "utf8");

/** The modules as one script: its scope is theirs. */
function bundle(names) {
  const parts = names.map((name) => read(name)
    .replace(/^import [^;]+ from "\.\/[a-z]+\.js";\n/gm, "")
    .replace(/^export /gm, ""));
  const script = `(() => {\n"use strict";\n${parts.join("\n")}})();\n`;
  new vm.Script(script, { filename: "page" }); // two modules that use the same name are an error here
  return script;
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function escape(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** What the page holds of others, with its licence: everything that npm installed. */
function licences() {
  return readdirSync(modules).filter((name) => !name.startsWith(".")).sort().map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    const file = join(modules, name, "LICENSE");
    if (!existsSync(file))
      throw new Error(`${name} has no LICENSE file`);
    return `<h3>${escape(`${name} ${version} (${license})`)}</h3>\n<pre>${escape(readFileSync(file, "utf8").trim())}</pre>`;
  }).join("\n");
}

const style = read("style.css");
const scripts = [...libraries.map((name) => readFileSync(join(modules, name), "utf8").replace(/^\/\/# sourceMappingURL=.*$/gm, "")),
                 bundle(ownScripts)];
if (scripts.some((script) => /<\/script|<!--/i.test(script)))
  throw new Error("a script holds what ends a script element");

const policy = ["default-src 'none'", `script-src ${scripts.map(hash).join(" ")}`, `style-src ${hash(style)}`,
                "img-src data:", "base-uri 'none'", "form-action 'none'"].join("; ");
const page = read("page.html")
  .replace("@policy@", () => policy)
  .replace("@style@", () => style)
  .replace("@licences@", licences)
  .replace("@scripts@", () => scripts.map((script) => `<script>${script}</script>`).join("\n"));
const [head, tail, ...more] = page.split("@profile@");
if (tail === undefined || more.length > 0)
  throw new Error("the page must have one place for the profile");
writeFileSync(join(output, "page.head"), head);
writeFileSync(join(output, "page.tail"), tail);
