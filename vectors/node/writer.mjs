// Sections 1, 2, 4 and 9: what a writer must refuse. Records come as vectors describe them, since JSON itself cannot
// say NaN, 2^53 or a lone surrogate.
import { canonical, NotCanonical } from "./canonical.mjs";
import { isAgentId, isKind, isObject, isString } from "./fields.mjs";
import { MAX_LINE } from "./line.mjs";

const TAGS = {
  $binary64: (hex) => Buffer.from(hex, "hex").readDoubleBE(),
  $integer: (digits) => BigInt(digits),
  $utf16: (units) => String.fromCharCode(...units.split(" ").map((unit) => parseInt(unit, 16))),
  $repeat: ([text, times]) => text.repeat(times),
  // So many objects, one inside the other.
  $nest: (levels) => (levels === 0 ? null : new Map([["a", TAGS.$nest(levels - 1)]])),
};

/** Section 1: what no caller may set. */
const RESERVED = ["hc", "closing", "opening"];

/** The value of a description: tags become what they stand for, objects Maps. */
export function described(value) {
  if (Array.isArray(value)) return value.map(described);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value);
  const [tag, argument] = entries[0] ?? [];
  if (entries.length === 1 && Object.hasOwn(TAGS, tag)) return TAGS[tag](argument);
  return new Map(entries.map(([key, one]) => [key, described(one)]));
}

/** The profile and the fields that the writer adds, with the least bytes they can have. */
function frame(record) {
  const hash = "0".repeat(64);
  const id = "0".repeat(32);
  const hc = new Map(Object.entries({ by: "words/1", chain: id, kid: "0".repeat(16), novelty: "novel", p: 1,
    prev_line: null, seq: 0, src: "user", synced: -1 }));
  return new Map([...record, ["metadata", new Map([...record.get("metadata"), ["hc", hc]])], ["novelty", "novel"],
    ["prev_id", null], ["record_id", id], ["signature", hash], ["timestamp", "2026-11-30T09:00:00.000000Z"]]);
}

/** Why the record may not be written, or null. */
export function refusal(record) {
  if (!isAgentId(record.get("agent_id"))) return "bad_agent_id";
  if (!isString(record.get("content"))) return "bad_content";
  if (!isKind(record.get("kind"))) return "unknown_kind";
  if (!isObject(record.get("metadata"))) return "bad_metadata";
  if (RESERVED.some((name) => record.get("metadata").has(name))) return "reserved_key";
  try {
    return canonical(frame(record)).length > MAX_LINE ? "line_too_long" : null;
  } catch (error) {
    if (error instanceof NotCanonical) return "not_canonical";
    throw error;
  }
}
