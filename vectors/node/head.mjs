// Section 6: the head.
import { canonical, NotCanonical, parseCanonical, pick } from "./canonical.mjs";
import { sameHex, seal, utf8 } from "./bytes.mjs";
import { hasShape, isCount, isDate, isHex, isTimestamp, orNull } from "./fields.mjs";
import { rootOfFrontier } from "./tree.mjs";

const HEAD = {
  bytes: isCount,
  chain: isHex(32),
  closed_through: orNull(isDate),
  frontier: (value) => Array.isArray(value) && value.every(isHex(64)),
  last_line_sha256: orNull(isHex(64)),
  last_record_id: orNull(isHex(32)),
  mac: isHex(64),
  root: isHex(64),
  size: isCount,
  time: isTimestamp,
};

const withoutMac = (head) => canonical(pick(head, Object.keys(HEAD).filter((name) => name !== "mac")));

export const headMac = (key, head) => seal(key, "alveus.head.v1", withoutMac(head));

/** What the MAC is over, whole. */
export const sealedBytes = (head) => Buffer.concat([utf8("alveus.head.v1||"), withoutMac(head)]);

/** The head in these bytes, or null where they are no valid one. */
export function readHead(bytes, key) {
  const head = parseOrNull(bytes);
  if (head === null || !hasShape(head, HEAD)) return null;
  if (!sameHex(head.get("mac"), headMac(key, head))) return null;
  const size = head.get("size");
  const nothing = size === 0;
  if (nothing !== (head.get("bytes") === 0)) return null;
  if (nothing !== (head.get("last_line_sha256") === null)) return null;
  if (nothing !== (head.get("last_record_id") === null)) return null;
  return rootOfFrontier(head.get("frontier"), size) === head.get("root") ? head : null;
}

function parseOrNull(bytes) {
  try {
    return parseCanonical(bytes);
  } catch (error) {
    if (error instanceof NotCanonical) return null;
    throw error;
  }
}

const isLarger = (one, other) => one.get("size") > other.get("size")
  || (one.get("size") === other.get("size") && one.get("time") > other.get("time"));

/** Of the valid ones the larger; of equal sizes the later; of equal times the first. */
export function largerHead(heads) {
  return heads.filter((head) => head !== null).reduce((best, head) => (best && !isLarger(head, best) ? best : head), null);
}
