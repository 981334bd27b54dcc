#!/usr/bin/env node
// A second implementation of the verifier, written from spec/journal.md alone. Node 18 or later, no packages.
//
//   node vectors/verify.mjs                                          every vector beside this file
//   node vectors/verify.mjs STREAM.jsonl --key KEYFILE [--agent ID]  a journal; exit 0, or 4 where it is broken
//       [--locked]                no writer is at work, so an unterminated tail is torn
//       [--against NOTE]          a checkpoint that left the machine
//       [--checkpoint-key HEX]    the Ed25519 key of checkpoints; without it their signatures are not checked
//   node vectors/verify.mjs --batch FILE                             many journals, one JSON description a line
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { folderName, fromHex, kidOf } from "./node/bytes.mjs";
import { verifyJournal } from "./node/journal.mjs";
import { runFile } from "./node/vectors.mjs";

const BROKEN = 4;
const USAGE = 2;

class Usage extends Error {}

function vectors() {
  const folder = dirname(fileURLToPath(import.meta.url));
  const notChecked = new Set();
  let passed = 0;
  let failed = 0;
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".json")).sort()) {
    const file = JSON.parse(readFileSync(join(folder, name), "utf8"));
    const failures = runFile(name, file, notChecked);
    for (const failure of failures) console.log(`FAILED ${failure}`);
    passed += file.vectors.length - failures.length;
    failed += failures.length;
  }
  for (const what of notChecked) console.log(`NOT CHECKED: ${what}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Section 7.6: what makes a key file one that may be used. */
function readKey(path) {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new Usage(`${path}: not a regular file`);
    if (process.getuid && stat.uid !== process.getuid()) throw new Usage(`${path}: owned by someone else`);
    if (stat.mode & 0o077) throw new Usage(`${path}: others can read or change it`);
    return keyOf(path, readFileSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function keyOf(path, bytes) {
  if (bytes.length === 32) return bytes;
  const text = bytes.toString("latin1").replace(/\n$/, "");
  if (text.length !== 64 || !/^[0-9a-fA-F]*$/.test(text)) throw new Usage(`${path}: neither 32 bytes nor 64 hex digits`);
  return fromHex(text);
}

/** The key in use and, beside it, those of closed chains. */
function keyring(path) {
  const old = new RegExp("^\\.[0-9a-f]{16}$");
  const beside = readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)) && old.test(name.slice(basename(path).length)))
    .map((name) => join(dirname(path), name));
  return [path, ...beside].map(readKey).map((key) => ({ key, kid: kidOf(key) }));
}

/** The bytes of a regular file, or null where there is another thing or none that can be read. */
function regularFile(path) {
  let descriptor;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor) : null;
  } catch (error) {
    if (error.code === undefined) throw error;
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Heads before streams: a writer at work can then only make a stream longer than its head. */
function journalFiles(folder, stem) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = new Map();
  const read = (name) => files.set(name, regularFile(join(folder, name)));
  names.filter((name) => name.startsWith(stem) && /\.head\.[01]$/.test(name)).forEach(read);
  names.filter((name) => name.startsWith(stem) && name.endsWith(".jsonl")).forEach(read);
  for (const date of names.includes("anchors") ? readdirSync(join(folder, "anchors")) : []) {
    if (!statSync(join(folder, "anchors", date), { throwIfNoEntry: false })?.isDirectory()) continue;
    files.set(`anchors/${date}/`, null);
    for (const name of readdirSync(join(folder, "anchors", date))) read(`anchors/${date}/${name}`);
  }
  return files;
}

/** The agent whose folder this is, where it lies in a home; null elsewhere. */
function agentOfFolder(folder) {
  if (basename(dirname(folder)) !== "agents") return null;
  try {
    const agent = decodeURIComponent(basename(folder));
    return folderName(agent) === basename(folder) ? agent : null;
  } catch {
    return null;
  }
}

function journal(path, options) {
  if (!options.key) throw new Usage("--key KEYFILE is needed");
  const folder = dirname(resolve(path));
  const stem = basename(path, ".jsonl");
  const verdict = verifyJournal({
    stem,
    keys: keyring(resolve(options.key)),
    files: journalFiles(folder, stem),
    agent: options.agent ?? agentOfFolder(folder),
    locked: options.locked ?? false,
    against: options.against ? readFileSync(options.against) : null,
    checkpointKey: options["checkpoint-key"] ? fromHex(options["checkpoint-key"]) : null,
  });
  if (!options["checkpoint-key"]) verdict.not_checked = ["signatures of checkpoints (no --checkpoint-key)"];
  console.log(JSON.stringify(verdict, null, 2));
  return verdict.state === "broken" ? BROKEN : 0;
}

/** One line in, one verdict out: { files: {name: hex}, keys: [hex], agent_id?, locked?, checkpoint_key?: hex }. */
function batch(path) {
  for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
    const { files, keys, agent_id: agent = null, locked = false, checkpoint_key: signer } = JSON.parse(line);
    const verdict = verifyJournal({
      agent,
      locked,
      checkpointKey: signer ? fromHex(signer) : null,
      files: new Map(Object.entries(files).map(([name, hex]) => [name, fromHex(hex)])),
      keys: keys.map(fromHex).map((key) => ({ key, kid: kidOf(key) })),
    });
    console.log(JSON.stringify(verdict));
  }
  return 0;
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: "string" },
      agent: { type: "string" },
      locked: { type: "boolean" },
      against: { type: "string" },
      "checkpoint-key": { type: "string" },
      batch: { type: "string" },
    },
  });
  if (values.batch) return batch(values.batch);
  return positionals.length === 0 ? vectors() : journal(positionals[0], values);
}

try {
  process.exitCode = main();
} catch (error) {
  if (!(error instanceof Usage) && error.code === undefined) throw error;
  console.error(error.message);
  process.exitCode = USAGE;
}
