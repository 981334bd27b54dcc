// Bytes, digests and texts that the rest needs.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const utf8 = (text) => Buffer.from(text, "utf8");
export const fromHex = (hex) => Buffer.from(hex, "hex");
export const toHex = (bytes) => Buffer.from(bytes).toString("hex");

/** The text of UTF-8 bytes. Throws on overlong forms, encoded surrogates and cut sequences; a BOM stays a character. */
export const decodeUtf8 = (bytes) => UTF8.decode(bytes);

export function sha256(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Section 3: a seal is HMAC-SHA-256 over the domain, the two bytes "||", and what is sealed. */
export function seal(key, domain, bytes) {
  return createHmac("sha256", key).update(`${domain}||`).update(bytes).digest("hex");
}

/** Both are hex of one length by the time they come here. */
export const sameHex = (a, b) => a.length === b.length && timingSafeEqual(utf8(a), utf8(b));

/** Section 3: the name of a key. */
export const kidOf = (key) => sha256("alveus.key\0", key).toString("hex", 0, 8);

/** Section 7.6: the folder name of an agent. */
export function folderName(agentId) {
  let name = "";
  for (const byte of utf8(agentId)) {
    const plain = /[A-Za-z0-9\-_~.]/.test(String.fromCharCode(byte)) && !(name === "" && byte === 0x2e);
    name += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return name;
}
