// Section 6: the Merkle tree of RFC 6962, section 2.1, over the lines without their LF.
import { fromHex, sha256, toHex } from "./bytes.mjs";

export const leaf = (line) => sha256(Buffer.of(0), line);
export const node = (left, right) => sha256(Buffer.of(1), left, right);

/** The root by the definition, from the top: the left subtree has the largest power of two smaller than n. */
export function rootOf(leaves) {
  if (leaves.length === 0) return sha256("");
  if (leaves.length === 1) return leaves[0];
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  return node(rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)));
}

/** The sizes of the full subtrees, largest first: the bits of `size`. */
export function subtrees(size) {
  const sizes = [];
  // Not with `>>`: a size may be beyond 32 bits.
  for (let rest = size, bit = 2 ** 52; bit >= 1; bit /= 2) {
    if (rest < bit) continue;
    sizes.push(bit);
    rest -= bit;
  }
  return sizes;
}

export function frontierOf(leaves) {
  let from = 0;
  return subtrees(leaves.length).map((size) => rootOf(leaves.slice(from, (from += size))));
}

/** The root that follows from a frontier, or null where the frontier has another length than `size` asks for. */
export function rootOfFrontier(frontier, size) {
  if (frontier.length !== subtrees(size).length) return null;
  if (size === 0) return toHex(sha256(""));
  return toHex(frontier.map(fromHex).reduceRight((right, left) => node(left, right)));
}
