// Numbers as people read them. The same units as `heapprof top` prints.

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const timeUnits = [["ns", 1e3], ["µs", 1e3], ["ms", 1e3], ["s", Infinity]];
const plainNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function formatBytes(value) {
  let unit = 0;
  // 1023.95 would be shown as 1024.0
  while (Math.abs(value) >= 1023.95 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${byteUnits[unit]}`;
}

function formatTime(value) {
  let unit = 0;
  while (Math.abs(value) >= timeUnits[unit][1]) {
    value /= timeUnits[unit][1];
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${timeUnits[unit][0]}`;
}

/** A value in a pprof unit: bytes as "1.5 MiB", nanoseconds as "3.0 ms", others as "12,345". */
export function formatValue(value, unit) {
  if (unit === "bytes")
    return formatBytes(value);
  return unit === "nanoseconds" ? formatTime(value) : plainNumber.format(value);
}

/** The same with a sign, for what was added or went away. */
export function formatChange(value, unit) {
  if (value === 0)
    return "±0";
  return (value > 0 ? "+" : "−") + formatValue(Math.abs(value), unit);
}

/** Part of whole as "12.3%"; "–" without a whole. */
export function formatShare(part, whole) {
  return whole === 0 ? "–" : `${(100 * part / whole).toFixed(1)}%`;
}

/** "1 stack", "1,234 stacks". */
export function formatCount(count, noun) {
  return `${plainNumber.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The last part of a path. */
export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
