// Counts the texts of o200k.json with gpt-tokenizer, and says where the file differs.
// npm install --prefix DIR gpt-tokenizer && NODE_MODULES=DIR/node_modules node tests/o200k.mjs
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = process.env.NODE_MODULES ?? "node_modules";
const { encode } = await import(pathToFileURL(`${modules}/gpt-tokenizer/esm/encoding/o200k_base.js`).href);
const texts = JSON.parse(readFileSync(new URL("o200k.json", import.meta.url), "utf8"));
let wrong = 0;
for (const { kind, text, tokens } of texts) {
  const counted = encode(text, { disallowedSpecial: new Set() }).length;
  if (counted !== tokens) {
    wrong += 1;
    console.log(`${kind}: ${tokens} in the file, ${counted} counted: ${text.slice(0, 40)}`);
  }
}
console.log(`${texts.length} texts, ${wrong} counted otherwise`);
process.exit(wrong ? 1 : 0);
