// Sections 8, 8.1 and 8.2: a closed day, the checkpoint beside it, and the bytes of a Montana anchor.
import { createPublicKey, verify } from "node:crypto";
import { canonical } from "./canonical.mjs";
import { decodeUtf8, folderName, fromHex, sha256, toHex, utf8 } from "./bytes.mjs";

/** The payload of a day over the agent's records, in file order; null for a day without any. */
export function dayPayload(agentId, date, records) {
  const ofDay = records.filter((record) => record.get("timestamp").startsWith(date));
  if (ofDay.length === 0) return null;
  const ids = ofDay.map((record) => record.get("record_id"));
  const distribution = new Map([["novel", 0], ["prediction_error", 0], ["routine", 0]]);
  for (const record of ofDay) distribution.set(record.get("novelty"), distribution.get(record.get("novelty")) + 1);
  return canonical(new Map(Object.entries({
    agent_id: agentId,
    date,
    count: ids.length,
    dna_hash: toHex(sha256([...ids].sort().join("|"))),
    novelty_distribution: distribution,
    first_id: ids[0],
    last_id: ids.at(-1),
  })));
}

export const originOf = (agentId, chain) => `alveus/${folderName(agentId)}/${chain}`;

export const checkpointText = (origin, size, root) => `${origin}\n${size}\n${fromHex(root).toString("base64")}\n`;

/** The bytes of base64 with its padding, in the one form that encodes to the same text; null for anything else. */
function base64(text) {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

/** C2SP signed-note: em dash, space, key name, space, base64 of four bytes that name the key and the signature. */
function signatureOf(line) {
  const match = /^\u2014 ([^\p{White_Space}+]+) (\S+)$/u.exec(line);
  const bytes = match && base64(match[2]);
  return bytes && bytes.length > 4 ? { name: match[1], keyId: bytes.subarray(0, 4), signature: bytes.subarray(4) } : null;
}

/** Origin, size, root, any extension lines; a blank line; signatures. Lines end at LF alone, and none of them is empty. */
const NOTE = /^((\S+)\n(0|[1-9][0-9]*)\n(\S+)\n(?:[^\n]+\n)*)\n((?:[^\n]+\n)+)$/;
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/** { origin, size, root, text, signatures } of a checkpoint note, or null where it is none. */
export function readCheckpoint(bytes) {
  const note = utf8OrNull(bytes);
  const match = note === null || CONTROL.test(note) ? null : NOTE.exec(note);
  if (match === null) return null;
  const [, text, origin, size, root, signed] = match;
  const hash = base64(root);
  if (hash?.length !== 32 || !Number.isSafeInteger(Number(size))) return null;
  const signatures = signed.slice(0, -1).split("\n").map(signatureOf);
  if (signatures.includes(null) || !signatures.some(({ name }) => name === origin)) return null;
  return { origin, size: Number(size), root: toHex(hash), text: utf8(text), signatures };
}

function utf8OrNull(bytes) {
  try {
    return decodeUtf8(bytes);
  } catch {
    return null;
  }
}

/** C2SP signed-note: the four bytes that name an Ed25519 key beside its name. */
export const noteKeyId = (name, publicKey) => sha256(name, "\n", Buffer.of(1), publicKey).subarray(0, 4);

const SPKI_ED25519 = fromHex("302a300506032b6570032100");

/** Whether the note is signed by this Ed25519 key under the name of its origin. One bad signature of it is enough. */
export function checkpointSigned(note, publicKey) {
  const key = createPublicKey({ key: Buffer.concat([SPKI_ED25519, publicKey]), format: "der", type: "spki" });
  const keyId = noteKeyId(note.origin, publicKey);
  const claimed = note.signatures.filter((one) => one.name === note.origin && one.keyId.equals(keyId));
  return claimed.length > 0 && claimed.every(({ signature }) => verify(null, note.text, key, signature));
}

function u16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export const accountId = (suite, publicKey) => sha256("mt-account\0", u16(suite), publicKey);
export const appId = (name) => sha256("mt-app\0", name);
export const opId = (scope) => sha256("mt-op\0", scope);

/** The 129 bytes that ML-DSA-65 signs. */
export const anchorScope = ({ prevHash, sender, app, data }) =>
  Buffer.concat([Buffer.of(0x04), prevHash, sender, app, data]);

/** True or false where this Node can tell, null where it has no ML-DSA. */
export function mlDsaHolds(publicKey, message, signature) {
  const spki = fromHex("308207b2300b0609608648016503040312038207a100");
  let key;
  try {
    key = createPublicKey({ key: Buffer.concat([spki, publicKey]), format: "der", type: "spki" });
  } catch {
    return null;
  }
  return verify(null, message, key, signature);
}
