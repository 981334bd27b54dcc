// Sections 5 and 9: a whole journal, given as its files: every chain in succession, heads, tails, closed days.
import { NotCanonical, parse } from "./canonical.mjs";
import { sha256, toHex } from "./bytes.mjs";
import { dayPayload, checkpointSigned, originOf, readCheckpoint } from "./day.mjs";
import { hasShape, isDate, isHex, isObject } from "./fields.mjs";
import { largerHead, readHead } from "./head.mjs";
import { closingOf, MAX_LINE, Walk } from "./line.mjs";
import { leaf, rootOf } from "./tree.mjs";

const LF = 0x0a;

/** Section 4.1, by their names. */
const BASIC_PROMISES = ["order_of_twins", "novelty_signed", "gapless_sequence", "previous_line_bound", "one_chain",
  "time_rising", "head", "tail_cut_visible"];

class Broken extends Error {
  constructor(code, where = {}) {
    super(code);
    this.verdict = { state: "broken", code, ...where };
  }
}

/** Section 1: split at LF and nowhere else. */
export function splitLines(stream) {
  const lines = [];
  let from = 0;
  for (let at = stream.indexOf(LF); at !== -1; at = stream.indexOf(LF, from)) {
    lines.push({ bytes: stream.subarray(from, at), offset: from });
    from = at + 1;
  }
  return { lines, tail: { bytes: stream.subarray(from), offset: from } };
}

/** A record that orders the files only; nothing in it is believed. */
function glance(line) {
  try {
    const record = parse(line);
    const metadata = isObject(record) && record.get("metadata");
    return isObject(metadata) ? record : null;
  } catch (error) {
    if (error instanceof NotCanonical) return null;
    throw error;
  }
}

/** What the first and the last record of a closed stream say of its place among the others. */
function glanceAt(files, name) {
  const { lines } = splitLines(files.get(`${name}.jsonl`) ?? Buffer.alloc(0));
  const first = lines.length > 0 ? glance(lines[0].bytes) : null;
  const last = lines.length > 0 ? glance(lines.at(-1).bytes) : null;
  const metadata = first?.get("metadata");
  const hc = metadata?.get("hc");
  const opening = metadata?.get("opening");
  return {
    name,
    chain: isObject(hc) ? hc.get("chain") : undefined,
    before: isObject(opening) ? opening.get("prev_chain") : undefined,
    next: last ? closingOf(last)?.get("next_chain") : undefined,
  };
}

const follows = (one, other) => (other.chain !== undefined && other.chain === one.before)
  || (other.next !== undefined && other.next === one.chain);

/** The stems of all streams from the first chain to the last; the one in use is the last. */
export function succession(files, stem = "stream") {
  const plain = stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const name = new RegExp(`^${plain}-[0-9a-f]{32}\\.jsonl$`);
  const closed = [...files.keys()].filter((one) => name.test(one)).sort().map((one) => glanceAt(files, one.slice(0, -6)));
  const before = (one) => closed.find((other) => other !== one && follows(one, other));
  const depth = (one) => {
    let steps = 0;
    for (let at = before(one); at && steps <= closed.length; at = before(at)) steps += 1;
    return steps;
  };
  const ordered = closed.map((one) => [depth(one), one.name]).sort(([a], [b]) => a - b);
  return [...ordered.map(([, one]) => one), stem];
}

const asFarAsKnown = (record) => {
  const known = {};
  const hc = isObject(record?.get("metadata")) ? record.get("metadata").get("hc") : null;
  if (isObject(hc) && Number.isSafeInteger(hc.get("seq"))) known.seq = hc.get("seq");
  if (isHex(32)(record?.get("record_id"))) known.record_id = record.get("record_id");
  return known;
};

/** Section 9: `opening` is an object with exactly these keys, or the record opens nothing. */
function openingOf(record) {
  const opening = record.get("metadata").get("opening");
  const any = () => true;
  return hasShape(opening, { prev_chain: any, prev_root: any, prev_size: any, prev_last_id: any }) ? opening : null;
}

/** Whether `opening` says what the chain before it is. */
function opens(opening, { walk, leaves }) {
  return opening !== null && opening.get("prev_chain") === walk.chain && opening.get("prev_root") === toHex(rootOf(leaves))
    && opening.get("prev_size") === walk.count && opening.get("prev_last_id") === walk.last.get("record_id");
}

/** Walks one stream and judges it against the head that was read before it. */
class Chain {
  constructor(journal, name, previous) {
    this.journal = journal;
    this.name = name;
    this.previous = previous;
    this.heads = [0, 1].map((n) => journal.files.get(`${name}.head.${n}`)).filter((bytes) => bytes !== undefined);
    this.stream = journal.files.get(`${name}.jsonl`);
    this.leaves = [];
    this.records = [];
  }

  verify() {
    if (this.stream === undefined) throw this.broken("stream_missing");
    if (this.stream === null) throw this.broken("stream_unreadable");
    const { lines, tail } = splitLines(this.stream);
    this.key = this.keyInHand(lines[0]);
    this.walk = new Walk({ key: this.key, agent: this.journal.agent });
    lines.forEach((line, index) => this.line(line, index + 1));
    this.tail(tail, lines.length + 1);
    this.head();
    this.handedOver();
    return this;
  }

  /** Section 7.6: the stream in use is under the key in use; a closed one under the key that its first record names. */
  keyInHand(first) {
    const [current, ...old] = this.journal.keys;
    const hc = first && glance(first.bytes)?.get("metadata").get("hc");
    const named = this.name !== this.journal.stem && isObject(hc) && old.find(({ kid }) => kid === hc.get("kid"));
    return (named || current).key;
  }

  broken(code, where = {}) {
    return new Broken(code, { stream: `${this.name}.jsonl`, ...where });
  }

  line({ bytes, offset }, number) {
    const { code, record } = this.walk.judge(bytes);
    const where = { line: number, offset, ...asFarAsKnown(record) };
    if (code !== null) throw this.broken(code, where);
    this.leaves.push(leaf(bytes));
    this.records.push(record);
    // Shared with the next chain: all chains are one agent's.
    this.journal.agent ??= record.get("agent_id");
  }

  /** Section 5.3. */
  tail({ bytes, offset }, number) {
    if (bytes.length > MAX_LINE) throw this.broken("not_canonical", { line: number, offset });
    if (bytes.length > 0 && this.journal.locked) throw this.broken("torn_tail", { line: number, offset });
    this.ignored = bytes.length;
  }

  /** Section 5.4; section 4.1 for a stream without profiles. */
  head() {
    if (this.walk.profiled === false) {
      if (this.heads.length > 0) throw this.broken("bad_head");
      return;
    }
    if (this.heads.length === 0) throw this.broken("head_missing");
    this.floor = largerHead(this.heads.map((bytes) => bytes && readHead(bytes, this.key)));
    if (this.floor === null) throw this.broken("bad_head");
    if (this.walk.chain !== null && this.floor.get("chain") !== this.walk.chain) throw this.broken("bad_head");
    const size = this.floor.get("size");
    if (this.leaves.length < size) throw this.broken("short_of_head");
    if (toHex(rootOf(this.leaves.slice(0, size))) !== this.floor.get("root")) throw this.broken("fork_of_head");
  }

  /** Section 9, once the chain itself has been judged. */
  handedOver() {
    const [first] = this.records;
    const where = first ? { line: 1, offset: 0, ...asFarAsKnown(first) } : {};
    const opening = first && this.walk.profiled ? openingOf(first) : null;
    if (this.previous === null) {
      if (opening !== null) throw this.broken("chain_break", where);
      return;
    }
    const { closing } = this.previous.walk;
    if (closing === null) throw this.broken("chain_break", where);
    if (closing.get("next_kid") !== this.walk.kid) throw this.broken("wrong_key", where);
    if (closing.get("next_chain") !== this.chain) throw this.broken("wrong_chain", where);
    if (first && !opens(opening, this.previous)) throw this.broken("chain_break", where);
  }

  /** By its records or, before there is one, by its head. */
  get chain() {
    return this.walk.chain ?? this.floor?.get("chain") ?? null;
  }

  get state() {
    if (this.walk.profiled === false) return "ok_open_end";
    if (this.leaves.length > this.floor.get("size")) return "ok_open_end";
    return this.leaves.length === 0 ? "empty" : "ok_to_head";
  }

  get verdict() {
    const basic = this.walk.profiled === false;
    return {
      chain: this.chain,
      state: this.state,
      records: this.leaves.length,
      after_head: this.leaves.length - (this.floor?.get("size") ?? 0),
      root: toHex(rootOf(this.leaves)),
      ...(this.ignored ? { tail_ignored: this.ignored } : {}),
      ...(basic ? { promises_missing: BASIC_PROMISES } : {}),
    };
  }
}

/** Section 5.5: the days in `anchors/` and what the caller holds, against what the streams say. */
class Evidence {
  constructor(journal, chains) {
    this.journal = journal;
    this.chains = chains;
    this.records = chains.flatMap((chain) => chain.records);
  }

  days() {
    for (const date of this.closedDays()) if (!this.dayHolds(date)) throw new Broken("anchor_mismatch", { date });
  }

  /** Those that have a folder, and the one that the head names. A day before it may have been left out. */
  closedDays() {
    const folders = [...this.journal.files.keys()].flatMap((name) => /^anchors\/([^/]+)\//.exec(name)?.[1] ?? []);
    const through = this.chains.at(-1).floor?.get("closed_through");
    return [...new Set(through ? [...folders, through] : folders)].filter(isDate).sort();
  }

  dayHolds(date) {
    const file = (name) => this.journal.files.get(`anchors/${date}/${name}`);
    const payload = dayPayload(this.journal.agent, date, this.records);
    if (payload === null || !file("payload.json")?.equals(payload)) return false;
    if (file("payload.sha256")?.toString("latin1") !== `${toHex(sha256(payload))}\n`) return false;
    return Boolean(file("checkpoint.note")) && this.checkpointHolds(file("checkpoint.note"));
  }

  checkpointHolds(bytes) {
    const note = readCheckpoint(bytes);
    const chain = note && this.chains.find(({ verdict }) => originOf(this.journal.agent, verdict.chain) === note.origin);
    if (!chain || note.size > chain.leaves.length) return false;
    const signer = this.journal.checkpointKey;
    if (signer && !checkpointSigned(note, signer)) return false;
    return toHex(rootOf(chain.leaves.slice(0, note.size))) === note.root;
  }

  against() {
    const { against } = this.journal;
    if (against && !this.checkpointHolds(against)) throw new Broken("against_mismatch");
  }
}

/**
 * The verdict on a journal.
 *
 * files          Map of name to bytes, as the agent's folder holds them ("stream.jsonl", "anchors/2026-11-30/payload.json");
 *                null for what is there and is no regular file that can be read; a folder's name ends in "/"
 * keys           [{ kid, key }], the one in use first
 * agent          agent_id, or null: then the first record names it
 * locked         whether no writer can be at work, so that an unterminated tail is a torn one
 * against        the bytes of a checkpoint that the caller holds
 * checkpointKey  the Ed25519 key of checkpoints, where it is known; without it their signatures are not checked
 */
export function verifyJournal({ files, keys, agent = null, stem = "stream", locked = false, against = null, checkpointKey = null }) {
  const journal = { files, keys, stem, agent, locked, against, checkpointKey };
  const chains = [];
  try {
    for (const name of succession(files, stem)) {
      chains.push(new Chain(journal, name, chains.at(-1) ?? null).verify());
    }
    const evidence = new Evidence(journal, chains);
    evidence.days();
    evidence.against();
  } catch (error) {
    if (error instanceof Broken) return error.verdict;
    throw error;
  }
  const verdicts = chains.map(({ verdict }) => verdict);
  const closed = verdicts.slice(0, -1);
  const last = verdicts.at(-1);
  // Right after a succession the journal in use has no record yet, but the agent has.
  const state = last.state === "empty" && closed.length > 0 ? "ok_to_head" : last.state;
  const records = verdicts.reduce((sum, one) => sum + one.records, 0);
  return { code: null, ...last, state, records, ...(closed.length > 0 ? { closed } : {}) };
}
