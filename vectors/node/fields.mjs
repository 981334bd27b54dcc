// Sections 1, 4 and 4.1: what a field may hold.

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const KINDS = ["state", "decision", "identity_change", "transfer", "error", "observation"];
const CLASSES = ["routine", "novel", "prediction_error"];

export const isString = (value) => typeof value === "string";
export const isObject = (value) => value instanceof Map;
export const isInteger = (value) => typeof value === "number" && Number.isSafeInteger(value);
export const isCount = (value) => isInteger(value) && value >= 0;
export const isHex = (digits) => (value) => isString(value) && value.length === digits && /^[0-9a-f]*$/.test(value);
export const orNull = (rule) => (value) => value === null || rule(value);
export const isName = (most) => (value) =>
  isString(value) && value !== "" && [...value].length <= most && !CONTROL.test(value);
export const isAgentId = isName(256);
export const isKind = (value) => KINDS.includes(value);
export const isNovelty = (value) => CLASSES.includes(value);

/** Exactly these keys, each by its rule; `optional` may be absent. */
export function hasShape(map, required, optional = {}) {
  if (!isObject(map)) return false;
  const names = Object.keys(required);
  if (!names.every((name) => map.has(name))) return false;
  return [...map].every(([name, value]) => {
    const rule = Object.hasOwn(required, name) ? required[name] : Object.hasOwn(optional, name) && optional[name];
    return Boolean(rule) && rule(value);
  });
}

function daysIn(year, month) {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}

function isRealDate(year, month, day) {
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

export function isDate(value) {
  return isString(value) && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value) && value.length === 10
    && isRealDate(...value.split("-").map(Number));
}

const INSTANT = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

function instant(rule) {
  return (value) => {
    const match = isString(value) && !value.includes("\n") && INSTANT.exec(value);
    if (!match) return false;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
    if (!isRealDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return false;
    return rule((match[7] ?? "").slice(1), match[8]);
  };
}

const isZone = (zone) => zone === "Z" || (Number(zone.slice(1, 3)) <= 23 && Number(zone.slice(4)) <= 59);

/** The form of `timestamp` beside a profile, and of a head's `time`. */
export const isTimestamp = instant((digits, zone) => digits.length === 6 && zone === "Z");
/** Section 4: a zoned instant. */
export const isZoned = instant((digits, zone) => digits.length <= 9 && isZone(zone));
/** Section 4.1: the form of a v1-basic timestamp. */
export const isBasicTimestamp = instant((digits, zone) => digits.length <= 9 && ["Z", "+00:00"].includes(zone));

function isPart(value) {
  return Array.isArray(value) && value.length === 2 && value.every(isInteger) && 1 <= value[0] && value[0] <= value[1];
}

const PROFILE = {
  p: (value) => value === 1,
  chain: isHex(32),
  seq: isCount,
  prev_line: orNull(isHex(64)),
  kid: isHex(16),
  novelty: isNovelty,
  by: isName(200),
  synced: isInteger,
  src: (value) => ["user", "agent", "tool", "system"].includes(value),
};

const PROFILE_OPTIONAL = {
  user: isName(1024),
  session: isName(1024),
  event_time: isZoned,
  origin: isName(1024),
  part: isPart,
  clock: (value) => value === "back",
};

export function isProfile(hc) {
  return hasShape(hc, PROFILE, PROFILE_OPTIONAL) && hc.get("synced") >= -1 && hc.get("synced") < hc.get("seq");
}

const RECORD = {
  agent_id: isAgentId,
  content: isString,
  kind: isKind,
  metadata: isObject,
  novelty: isNovelty,
  prev_id: orNull(isHex(32)),
  record_id: isHex(32),
  signature: isHex(64),
  timestamp: isString,
};

/** Section 4: the first record, and only it, has nothing before it. */
function beginsRightly(record) {
  const hc = record.get("metadata").get("hc");
  const first = hc.get("seq") === 0;
  return (record.get("prev_id") === null) === first && (hc.get("prev_line") === null) === first;
}

/** Step 2 of section 5.2. The record's own `hc` says which form its timestamp has; step 7 says whether it may. */
export function isRecord(record) {
  if (!hasShape(record, RECORD)) return false;
  const metadata = record.get("metadata");
  if (!metadata.has("hc")) return isBasicTimestamp(record.get("timestamp"));
  return isProfile(metadata.get("hc")) && beginsRightly(record) && isTimestamp(record.get("timestamp"));
}
