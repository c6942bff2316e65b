// Writes pprof files for the tests: stacks with known values, without the code under test.

import { gzipSync } from "node:zlib";

export const typeNames = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"];

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n)
    bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, data) => Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const packed = (field, values) => bytes(field, Buffer.concat(values.map(varint)));

/**
 * A gzipped heap profile. `stacks`: [{ frames: [outermost, …, innermost], values: [four] }], a frame being
 * "name", "name@file" or "name@file:line". `comments`: ["key: value"].
 */
export function makeProfile({ stacks, comments = [], time = Date.UTC(2026, 0, 31, 23, 59, 59) }) {
  const strings = [""], parts = [], functions = new Map(), locations = new Map();
  const stringNumbers = new Map([["", 0]]);
  const string = (text) => {
    if (!stringNumbers.has(text))
      stringNumbers.set(text, strings.push(text) - 1);
    return stringNumbers.get(text);
  };
  const functionFor = (name, file) => {
    const key = `${name}\0${file}`;
    if (!functions.has(key)) {
      functions.set(key, functions.size + 1);
      parts.push(message(5, number(1, functions.get(key)), number(2, string(name)), number(3, string(name)),
                         number(4, string(file))));
    }
    return functions.get(key);
  };
  const locationFor = (frame) => {
    if (!locations.has(frame)) {
      const [, name, file = "", line = 0] = /^([^]*?)(?:@([^@]*?)(?::(\d+))?)?$/.exec(frame);
      locations.set(frame, locations.size + 1);
      parts.push(message(4, number(1, locations.get(frame)), number(2, 1), number(3, 0x1000 + locations.size),
                         message(4, number(1, functionFor(name, file)), number(2, line))));
    }
    return locations.get(frame);
  };
  for (const name of typeNames)
    parts.push(message(1, number(1, string(name)), number(2, string(name.endsWith("space") ? "bytes" : "count"))));
  parts.push(message(3, number(1, 1), number(2, 0x1000), number(3, 0x10000000), number(5, string("/usr/bin/shop")),
                     number(7, 1), number(8, 1), number(9, 1)));
  for (const { frames, values } of stacks)
    parts.push(message(2, packed(1, frames.slice().reverse().map(locationFor)), packed(2, values)));
  for (const comment of comments)
    parts.push(number(13, string(comment)));
  parts.push(number(9, BigInt(time) * 1000000n), message(11, number(1, string("space")), number(2, string("bytes"))),
             number(12, 65536), number(14, string("inuse_space")));
  for (const text of strings)
    parts.push(bytes(6, Buffer.from(text)));
  return gzipSync(Buffer.concat(parts));
}

const nameOf = (frame) => frame.split("@")[0];

/** What the stacks say about each function, for one type: name -> { self, total }; added up by hand. */
export function sumByFunction(stacks, type) {
  const sums = new Map();
  for (const { frames, values } of stacks) {
    if (values.every((value) => value === 0))
      continue;
    for (const name of new Set(frames.map(nameOf))) {
      const sum = sums.get(name) ?? { self: 0, total: 0 };
      sum.total += values[type];
      sum.self += nameOf(frames.at(-1)) === name ? values[type] : 0;
      sums.set(name, sum);
    }
  }
  return sums;
}

/** What lies below a path of function names from the outermost on (or, `inverted`, from the innermost). */
export function sumBelow(stacks, path, type, inverted = false) {
  return stacks.reduce((sum, { frames, values }) => {
    const names = frames.map(nameOf);
    if (inverted)
      names.reverse();
    return sum + (path.every((name, place) => names[place] === name) ? values[type] : 0);
  }, 0);
}
