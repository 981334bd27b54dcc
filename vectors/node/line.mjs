// Sections 3 and 5.2: one line, step by step. The order of the steps is the specification's.
import { canonical, NotCanonical, parseCanonical, pick } from "./canonical.mjs";
import { kidOf, sameHex, seal, sha256, toHex } from "./bytes.mjs";
import { hasShape, isObject, isRecord, isString } from "./fields.mjs";

export const MAX_LINE = 1_048_576;

const PAYLOAD = ["agent_id", "content", "kind", "metadata", "prev_id", "timestamp"];
const SEED = ["agent_id", "content", "metadata", "timestamp"];

export const payloadOf = (record) => canonical(pick(record, PAYLOAD));
export const seedOf = (record) => canonical(pick(record, SEED));
export const recordIdOf = (record) => toHex(sha256(seedOf(record)).subarray(0, 16));
export const signatureOf = (key, record) => seal(key, "montana.agent.hippocampus.v1", payloadOf(record));

/** Section 9: the closing of a record, or null. */
export function closingOf(record) {
  const metadata = record.get("metadata");
  const closing = metadata.get("closing");
  const closes = record.get("kind") === "identity_change" && metadata.has("hc")
    && hasShape(closing, { next_kid: isString, next_chain: isString });
  return closes ? closing : null;
}

/** The record of a line, or null where the line is not canonical (step 1). */
function recordOf(line) {
  if (line.length > MAX_LINE) return null;
  try {
    const value = parseCanonical(line);
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof NotCanonical) return null;
    throw error;
  }
}

/** Where a walk through a chain stands: what the next line is judged against. */
export class Walk {
  /** `agent` is null where the first record is to name it. */
  constructor({ key, agent = null }) {
    this.key = key;
    this.kid = kidOf(key);
    this.chain = null;
    this.agent = agent;
    this.count = 0;
    this.profiled = null;
    this.closing = null;
    this.last = null;
    this.lastLine = null;
  }

  /** { code, record }: code null where the line holds. The record is given as far as it could be read. */
  judge(line) {
    const record = recordOf(line);
    if (record === null) return { code: "not_canonical", record: null };
    if (!isRecord(record)) return { code: "bad_field", record };
    const code = this.alone(record) ?? this.inChain(record);
    if (code === null) this.advance(record, line);
    return { code, record };
  }

  /** Steps 3 to 6: what the record says of itself. */
  alone(record) {
    const hc = record.get("metadata").get("hc");
    if (hc && hc.get("kid") !== this.kid) return "wrong_key";
    if (!sameHex(record.get("signature"), signatureOf(this.key, record))) return "bad_signature";
    if (!sameHex(record.get("record_id"), recordIdOf(record))) return "bad_record_id";
    if (hc && record.get("novelty") !== hc.get("novelty")) return "novelty_mismatch";
    return null;
  }

  /** Steps 7 to 13: what it says of the records before it. */
  inChain(record) {
    const hc = record.get("metadata").get("hc");
    const first = this.last === null;
    if (!first && Boolean(hc) !== this.profiled) return "bad_field";
    if (this.closing) return "after_closing";
    if (hc && this.chain !== null && hc.get("chain") !== this.chain) return "wrong_chain";
    if (this.agent !== null && record.get("agent_id") !== this.agent) return "wrong_chain";
    if (record.get("prev_id") !== (first ? null : this.last.get("record_id"))) return "chain_break";
    if (!hc) return null;
    if (hc.get("seq") !== this.count) return "bad_seq";
    if (hc.get("prev_line") !== (first ? null : toHex(sha256(this.lastLine)))) return "bad_prev_line";
    if (!first && !(record.get("timestamp") > this.last.get("timestamp"))) return "time_not_rising";
    return null;
  }

  advance(record, line) {
    const hc = record.get("metadata").get("hc");
    this.profiled ??= Boolean(hc);
    this.chain ??= hc ? hc.get("chain") : null;
    this.agent ??= record.get("agent_id");
    this.closing = closingOf(record);
    this.last = record;
    this.lastLine = line;
    this.count += 1;
  }
}
