// Section 2: canonical JSON (RFC 8785) inside the journal's domain. It parses bytes and not a string, because a decoder
// that ran before it could already have repaired them. Objects become Maps: a Map has no `__proto__` and no duplicates.
import { decodeUtf8, utf8 } from "./bytes.mjs";

export const MAX_DEPTH = 32;

export class NotCanonical extends Error {}

const fail = (why) => {
  throw new NotCanonical(why);
};

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const ESCAPES = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\", "/": "/" };
const LITERALS = [["true", true], ["false", false], ["null", null]];

/** The value of a number token; "-0" passes here and fails in the comparison of bytes. */
export function numberOf(token) {
  if (!NUMBER.test(token)) fail(`no number: ${token}`);
  const value = Number(token);
  if (!Number.isFinite(value)) fail("a number beyond binary64");
  if (!/[.eE]/.test(token) && !Number.isSafeInteger(value)) fail("an integer beyond 2^53-1");
  return value;
}

class Parser {
  constructor(bytes, maxDepth) {
    this.bytes = bytes;
    this.at = 0;
    this.maxDepth = maxDepth;
  }

  document() {
    const value = this.value(1);
    this.space();
    if (this.at !== this.bytes.length) fail("something follows the value");
    return value;
  }

  space() {
    while ([0x20, 0x09, 0x0a, 0x0d].includes(this.bytes[this.at])) this.at += 1;
  }

  /** Takes the ASCII character when it comes next. */
  take(char) {
    this.space();
    if (this.bytes[this.at] !== char.charCodeAt(0)) return false;
    this.at += 1;
    return true;
  }

  need(char) {
    if (!this.take(char)) fail(`"${char}" expected at byte ${this.at}`);
  }

  value(depth) {
    this.space();
    if (this.take("{")) return this.object(depth);
    if (this.take("[")) return this.array(depth);
    if (this.take('"')) return this.string();
    for (const [word, value] of LITERALS) if (this.word(word)) return value;
    return this.number();
  }

  word(word) {
    if (this.bytes.toString("latin1", this.at, this.at + word.length) !== word) return false;
    this.at += word.length;
    return true;
  }

  object(depth) {
    if (depth > this.maxDepth) fail(`deeper than ${this.maxDepth}`);
    const object = new Map();
    if (this.take("}")) return object;
    do {
      this.need('"');
      const key = this.string();
      if (object.has(key)) fail(`duplicate key ${JSON.stringify(key)}`);
      this.need(":");
      object.set(key, this.value(depth + 1));
    } while (this.take(","));
    this.need("}");
    return object;
  }

  array(depth) {
    if (depth > this.maxDepth) fail(`deeper than ${this.maxDepth}`);
    const array = [];
    if (this.take("]")) return array;
    do array.push(this.value(depth + 1));
    while (this.take(","));
    this.need("]");
    return array;
  }

  /** The string whose opening quote has been read. */
  string() {
    let text = "";
    let from = this.at;
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === undefined) fail("a string without end");
      if (byte < 0x20) fail("a control character in a string");
      if (byte !== 0x22 && byte !== 0x5c) {
        this.at += 1;
        continue;
      }
      text += this.plain(from, this.at);
      this.at += 1;
      if (byte === 0x22) break;
      text += this.escape();
      from = this.at;
    }
    // Looked at as a whole: two escapes may together be one character.
    if (/\p{Surrogate}/u.test(text)) fail("a lone surrogate");
    return text;
  }

  plain(from, to) {
    try {
      return decodeUtf8(this.bytes.subarray(from, to));
    } catch {
      return fail("not UTF-8");
    }
  }

  escape() {
    const char = String.fromCharCode(this.bytes[this.at]);
    this.at += 1;
    if (Object.hasOwn(ESCAPES, char)) return ESCAPES[char];
    if (char !== "u") fail("an unknown escape");
    const digits = this.bytes.toString("latin1", this.at, this.at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) fail("an unknown escape");
    this.at += 4;
    return String.fromCharCode(parseInt(digits, 16));
  }

  number() {
    const from = this.at;
    while (/[-+.0-9eE]/.test(String.fromCharCode(this.bytes[this.at] ?? 0))) this.at += 1;
    return numberOf(this.bytes.toString("latin1", from, this.at));
  }
}

/** The value of JSON bytes inside the domain, however spelled. */
export const parse = (bytes, maxDepth = MAX_DEPTH) => new Parser(Buffer.from(bytes), maxDepth).document();

function stringText(text) {
  if (/\p{Surrogate}/u.test(text)) fail("a lone surrogate");
  // What RFC 8785 asks of a string is what ECMAScript does.
  return JSON.stringify(text);
}

/** Refuses a number that would be read back as another one, or not at all. */
export function numberText(value) {
  if (!Number.isFinite(value)) fail("NaN or infinity");
  const text = String(value);
  numberOf(text);
  return text;
}

function text(value, depth, maxDepth) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value === "bigint") return String(numberOf(String(value)));
  if (typeof value === "string") return stringText(value);
  if (depth > maxDepth) fail(`deeper than ${maxDepth}`);
  if (Array.isArray(value)) return `[${value.map((one) => text(one, depth + 1, maxDepth)).join(",")}]`;
  if (!(value instanceof Map)) fail("no JSON value");
  // The default order of strings in ECMAScript is by UTF-16 code units.
  const keys = [...value.keys()].sort();
  return `{${keys.map((key) => `${stringText(key)}:${text(value.get(key), depth + 1, maxDepth)}`).join(",")}}`;
}

/** The canonical bytes of a value. */
export const canonical = (value, maxDepth = MAX_DEPTH) => utf8(text(value, 1, maxDepth));

/** The value of bytes that are its canonical form; anything else throws NotCanonical. */
export function parseCanonical(bytes) {
  const value = parse(bytes);
  if (!canonical(value).equals(bytes)) fail("another spelling than the canonical one");
  return value;
}

/** Those of the keys, in a Map of their own. */
export const pick = (map, keys) => new Map(keys.map((key) => [key, map.get(key)]));
