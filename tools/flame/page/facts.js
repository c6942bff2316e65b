// The head of the page: whose memory, why and when it was written down, and how close the limit was.

import { baseName, formatCount, formatShare, formatValue } from "./format.js";

const reasons = {
  nomem: "written when memory was refused",
  request: "written on request",
  signal: "written on a signal",
  exit: "written at the end",
};

function reasonText(reason) {
  const share = /^limit(\d+)$/.exec(reason);
  if (share !== null)
    return `written at ${share[1]}% of the limit`;
  return reasons[reason] ?? reason;
}

/** Milliseconds since the epoch as "2026-01-31 23:59:59 UTC". */
function timeText(milliseconds) {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function titleOf(profile) {
  const { files } = profile.data;
  return profile.fact("service") || (files[0] === "-" ? "Heap profile" : baseName(files[0]));
}

function occasionOf(profile) {
  const { data } = profile;
  const pid = profile.fact("pid"), host = profile.fact("host");
  const parts = [];
  if (data.files.length > 1)
    parts.push(`sum of ${data.files.length} profiles`);
  if (profile.fact("reason") !== undefined)
    parts.push(reasonText(profile.fact("reason")));
  if (data.time > 0)
    parts.push(timeText(data.time));
  if (pid !== undefined)
    parts.push(`pid ${pid}${host === undefined ? "" : ` on ${host}`}`);
  parts.push(formatCount(data.stacks, "stack"));
  if (data.period > 1)
    parts.push(`a sample every ${formatValue(data.period, data.periodUnit).replace(" ", "\u00a0")}`);
  if (data.base !== undefined)
    parts.push(`compared with ${baseName(data.base)}`);
  const text = parts.join(" · ");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What the reader must know to trust the numbers. */
function noticesOf(profile) {
  const { data } = profile;
  const lost = profile.number("samples lost") ?? 0, truncated = profile.number("stacks truncated") ?? 0;
  const notices = [];
  if (lost > 0)
    notices.push(`${formatCount(lost, "sample")} lost: the numbers are too low`);
  if (truncated > 0)
    notices.push(`${formatCount(truncated, "stack")} too deep: outer frames are missing`);
  if (data.cut > 0)
    notices.push(`${formatCount(data.cut, "stack")} deeper than a page can show`);
  if (data.nodesLeftOut > 0)
    notices.push(`${formatCount(data.nodesLeftOut, "frame")} of the smallest are summed up, not shown`);
  if (profile.hasBefore && data.base === undefined)
    notices.push("This profile holds changes: what shrank counts as before");
  return notices;
}

function showUsage(profile) {
  const usage = profile.number("usage"), limit = profile.number("limit"), source = profile.fact("limit source");
  if (usage === undefined)
    return;
  document.getElementById("usage").hidden = false;
  document.getElementById("usage-now").textContent = `${formatValue(usage, "bytes")} in use`;
  if (limit > 0) {
    document.getElementById("usage-limit").textContent =
      `${formatShare(usage, limit)} of ${formatValue(limit, "bytes")}`;
    document.getElementById("usage-bar").style.width = `${Math.min(100 * usage / limit, 100)}%`;
  }
  if (source !== undefined)
    document.getElementById("usage-source").textContent = `Limit from ${source}`;
}

/** "key: value" comments, and the files, as a list. */
function showComments(profile) {
  const list = document.getElementById("comments");
  const add = (term, text) => {
    list.append(Object.assign(document.createElement("dt"), { textContent: term }),
                Object.assign(document.createElement("dd"), { textContent: text }));
  };
  for (const file of profile.data.files)
    add("file", file);
  if (profile.data.base !== undefined)
    add("compared with", profile.data.base);
  for (const comment of profile.data.comments) {
    const colon = comment.indexOf(": ");
    add(colon < 0 ? "comment" : comment.slice(0, colon), colon < 0 ? comment : comment.slice(colon + 2));
  }
}

export function showFacts(profile) {
  const title = titleOf(profile);
  document.title = `${title} – heap profile`;
  document.getElementById("service").textContent = title;
  document.getElementById("occasion").textContent = occasionOf(profile);
  document.getElementById("program").textContent = profile.data.program;
  document.getElementById("notices").append(...noticesOf(profile).map((text) =>
    Object.assign(document.createElement("li"), { textContent: text })));
  showUsage(profile);
  showComments(profile);
}
