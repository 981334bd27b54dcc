// Section 10: every published vector against this implementation. What each check holds is told in vectors/README.md.
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { canonical, NotCanonical, numberText, parse, parseCanonical } from "./canonical.mjs";
import { folderName, fromHex, kidOf, sha256, toHex, utf8 } from "./bytes.mjs";
import * as day from "./day.mjs";
import { frontierOf, leaf, rootOf } from "./tree.mjs";
import { headMac, readHead, sealedBytes } from "./head.mjs";
import { verifyJournal } from "./journal.mjs";
import { payloadOf, recordIdOf, seedOf, signatureOf, Walk } from "./line.mjs";
import { described, refusal } from "./writer.mjs";

class Differs extends Error {}

const shown = (value) => (Buffer.isBuffer(value) ? toHex(value) : JSON.stringify(value));

function same(what, mine, theirs) {
  if (shown(mine) !== shown(theirs)) throw new Differs(`${what}: ${shown(mine).slice(0, 300)}, not ${shown(theirs).slice(0, 300)}`);
}

/** Bytes as a vector writes them: hex, with the text beside it where they are UTF-8, or a recipe for long ones. */
export function bytesOf(written) {
  if (written.recipe) return checked(written, Buffer.concat(written.recipe.map(ingredient)));
  const bytes = fromHex(written.hex);
  if (bytes.length * 2 !== written.hex.length) throw new Differs(`no hex: ${written.hex.slice(0, 80)}`);
  if (written.text !== undefined) same("text and hex", utf8(written.text), bytes);
  return bytes;
}

const ingredient = ({ hex, times = 1 }) => Buffer.concat(Array(times).fill(fromHex(hex)));

function checked(written, bytes) {
  same("sha256 of the recipe", toHex(sha256(bytes)), written.sha256);
  same("length of the recipe", bytes.length, written.length);
  return bytes;
}

function orCode(work) {
  try {
    return { value: work(), code: null };
  } catch (error) {
    if (error instanceof NotCanonical) return { value: null, code: "not_canonical" };
    throw error;
  }
}

const keyring = (hexes) => hexes.map(fromHex).map((key) => ({ key, kid: kidOf(key) }));

function filesOf(vector) {
  return new Map(Object.entries(vector.files).map(([name, written]) => [name, bytesOf(written)]));
}

function verdictOf(vector, context, files, locked) {
  const { against, ed25519_seed: seed } = vector;
  return verifyJournal({
    files,
    locked,
    keys: keyring(vector.keys ?? [context.key]),
    agent: vector.agent_id ?? null,
    against: against ? bytesOf(against) : null,
    checkpointKey: seed ? edToolkit(fromHex(seed)).publicKey : null,
  });
}

/** Every fact that the vector states, and no other. */
function states(verdict, expected, what = "verdict") {
  for (const [name, value] of Object.entries(expected)) same(`${what}.${name}`, verdict[name], value);
}

function edToolkit(seed) {
  const der = Buffer.concat([fromHex("302e020100300506032b657004220420"), seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  return { publicKey, sign: (bytes) => sign(null, bytes, key) };
}

const CHECKS = {
  /** One line after the lines before it. */
  line(vector, { key }) {
    const walk = new Walk({ key: fromHex(key), agent: vector.agent_id ?? null });
    for (const [n, line] of (vector.before ?? []).entries()) same(`line ${n + 1} before`, walk.judge(bytesOf(line)).code, null);
    const line = bytesOf(vector.line);
    const { code, record } = walk.judge(line);
    same("code", code, vector.expect.code);
    const facts = {
      seed: () => seedOf(record),
      payload: () => payloadOf(record),
      record_id: () => recordIdOf(record),
      signature: () => signatureOf(fromHex(key), record),
      line_sha256: () => toHex(sha256(line)),
    };
    for (const [name, value] of Object.entries(vector.expect)) {
      if (name !== "code") same(name, facts[name](), value.hex ? bytesOf(value) : value);
    }
  },

  /** JSON bytes: their canonical form, and whether they are it. */
  canonical(vector) {
    const input = bytesOf(vector.input);
    const { value } = orCode(() => canonical(parse(input)));
    same("canonical", value, vector.expect.canonical && bytesOf(vector.expect.canonical));
    same("code", orCode(() => parseCanonical(input)).code, vector.expect.code);
  },

  /** A binary64 value, as a writer spells or refuses it. */
  number(vector) {
    const value = fromHex(vector.binary64).readDoubleBE();
    same("text", orCode(() => numberText(value)).value, vector.expect.text);
  },

  /** A record that a caller asks for, and the line that a writer without the check would have left. */
  write(vector, { key }) {
    same("refused", refusal(described(vector.record)), vector.expect.refused);
    if (!vector.careless_line) return;
    const walk = new Walk({ key: fromHex(key) });
    same("code", walk.judge(bytesOf(vector.careless_line)).code, vector.expect.code);
  },

  journal(vector, context) {
    states(verdictOf(vector, context, filesOf(vector), vector.locked ?? false), vector.expect);
  },

  /** The same journal, its stream cut after every number of bytes from `from` to `to`. */
  torn(vector, context) {
    const whole = filesOf(vector);
    const stream = whole.get("stream.jsonl");
    const { cuts } = vector.expect;
    let next = cuts[0].from;
    for (const { from, to, locked, unlocked } of cuts) {
      same("first byte of the run", from, next);
      for (let at = from; at <= to; at += 1) {
        const files = new Map([...whole, ["stream.jsonl", stream.subarray(0, at)]]);
        states(verdictOf(vector, context, files, true), locked, `cut at ${at}, locked`);
        states(verdictOf(vector, context, files, false), unlocked, `cut at ${at}, unlocked`);
      }
      next = to + 1;
    }
    same("the last run ends", next, stream.length + 1);
  },

  tree(vector) {
    const leaves = vector.lines.map(bytesOf).map(leaf);
    same("leaves", leaves.map(toHex), vector.expect.leaves);
    same("frontier", frontierOf(leaves).map(toHex), vector.expect.frontier);
    same("root", toHex(rootOf(leaves)), vector.expect.root);
  },

  head(vector, { key }) {
    const bytes = bytesOf(vector.head);
    const head = readHead(bytes, fromHex(key));
    same("valid", head !== null, vector.expect.valid);
    if (head === null) return;
    same("mac_input", sealedBytes(head), bytesOf(vector.expect.mac_input));
    same("mac", headMac(fromHex(key), head), vector.expect.mac);
  },

  kid(vector) {
    same("kid", kidOf(fromHex(vector.key)), vector.expect.kid);
  },

  folder(vector) {
    same("folder", folderName(vector.agent_id), vector.expect.folder);
  },

  day(vector) {
    const records = vector.lines.map(bytesOf).map((line) => parseCanonical(line));
    const payload = day.dayPayload(vector.agent_id, vector.date, records);
    same("payload", payload, vector.expect.payload && bytesOf(vector.expect.payload));
    if (payload) same("anchor_payload_hash", toHex(sha256(payload)), vector.expect.anchor_payload_hash);
  },

  checkpoint(vector) {
    const { publicKey, sign: signer } = edToolkit(fromHex(vector.ed25519_seed));
    const origin = day.originOf(vector.agent_id, vector.chain);
    const text = day.checkpointText(origin, vector.size, vector.root);
    const signature = Buffer.concat([day.noteKeyId(origin, publicKey), signer(utf8(text))]).toString("base64");
    same("public_key", toHex(publicKey), vector.expect.public_key);
    same("key_id", toHex(day.noteKeyId(origin, publicKey)), vector.expect.key_id);
    same("text", utf8(text), bytesOf(vector.expect.text));
    same("note", utf8(`${text}\n\u2014 ${origin} ${signature}\n`), bytesOf(vector.expect.note));
    same("signed", day.checkpointSigned(day.readCheckpoint(bytesOf(vector.expect.note)), publicKey), true);
  },

  /** A note as it was received: whether it is a checkpoint, and signed by the key. */
  note(vector) {
    const note = day.readCheckpoint(bytesOf(vector.note));
    same("checkpoint", note !== null, vector.expect.checkpoint);
    if (note) same("signed", day.checkpointSigned(note, edToolkit(fromHex(vector.ed25519_seed)).publicKey), vector.expect.signed);
  },

  app(vector) {
    same("app_id", toHex(day.appId(vector.app_name)), vector.expect.app_id);
  },

  account(vector) {
    same("account_id", toHex(day.accountId(vector.suite, bytesOf(vector.public_key))), vector.expect.account_id);
  },

  operation(vector, context) {
    const [prevHash, sender, app, data] = ["prev_hash", "sender", "app_id", "data_hash"].map((name) => fromHex(vector[name]));
    const scope = day.anchorScope({ prevHash, sender, app, data });
    same("scope", scope, bytesOf(vector.expect.scope));
    same("length of the scope", scope.length, 129);
    same("op_id", toHex(day.opId(scope)), vector.expect.op_id);
    if (vector.signature) this.mlDsa(vector, scope, context);
  },

  mlDsa(vector, scope, context) {
    const signature = bytesOf(vector.signature);
    same("operation", Buffer.concat([scope, signature]), bytesOf(vector.expect.operation));
    const holds = day.mlDsaHolds(bytesOf(vector.public_key), scope, signature);
    if (holds === null) context.notChecked.add("ML-DSA-65 signatures (this Node has no ML-DSA)");
    else same("signature holds", holds, vector.expect.signature_valid);
  },
};

/** The failures of one file's vectors, as texts. */
export function runFile(name, { key, vectors }, notChecked) {
  const names = new Set();
  const failures = [];
  for (const vector of vectors) {
    try {
      if (names.has(vector.name)) throw new Differs("the name is taken");
      names.add(vector.name);
      if (!Object.hasOwn(CHECKS, vector.check)) throw new Differs(`unknown check ${vector.check}`);
      CHECKS[vector.check](vector, { key, notChecked });
    } catch (error) {
      if (!(error instanceof Differs)) throw error;
      failures.push(`${name}: ${vector.name}: ${error.message}`);
    }
  }
  return failures;
}
