#!/usr/bin/env bash
# node: generated code, worker threads, child processes, zlib and crypto in its thread pool, errors.  node.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs node
cat >"$work/work.js" <<'END'
const { Worker } = require("worker_threads");
const { execFileSync, fork } = require("child_process");
const zlib = require("zlib"), crypto = require("crypto");
if (process.argv[2] === "child") { process.send([1, 2, 3].map((x) => x * 7)); process.disconnect(); return; }
const objects = [];
for (let i = 0; i < 40000; i++) objects.push({ i, text: "x" + (i * 7919) % 1013 });
console.log(JSON.stringify(objects).length, objects.filter((o) => /7$/.test(o.text)).length);
console.log(crypto.createHash("sha256").update(zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(2e6, "abc")))).digest("hex"));
for (let i = 0; i < 4; i++) console.log(execFileSync("sh", ["-c", `echo ${i}; exit 0`]).toString().trim());
const worker = (n) => new Promise((done) => new Worker(
    `const { parentPort } = require("worker_threads");
     parentPort.postMessage(Array.from({ length: ${n} }, (_, i) => Buffer.alloc(i % 500).length).reduce((a, b) => a + b));`,
    { eval: true }).on("message", done));
const derive = (n) => new Promise((done) => crypto.pbkdf2("secret", "salt" + n, 500, 32, "sha256", (_, key) => done(key.toString("hex"))));
(async () => {
    console.log(await Promise.all([1000, 2000, 3000].map(worker)));
    console.log(await Promise.all([1, 2, 3, 4, 5, 6].map(derive)));
    console.log(await new Promise((done) => fork(__filename, ["child"]).on("message", done)));
    try { null.x } catch (error) { console.log(error.message) }
    process.exitCode = 5;
})();
END
same node "$work/work.js"
