// What the browser's program makes of designs and blocks: node judge.mjs CASES STATIC. Prints a verdict each, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [cases, program] = process.argv.slice(2);
const { designs, blocks, design } = JSON.parse(readFileSync(cases, "utf-8"));
const { verify } = await import(pathToFileURL(`${program}/verify.mjs`));
const { checkBlock, readBlock } = await import(pathToFileURL(`${program}/blocks.mjs`));
const bytes = (text) => new TextEncoder().encode(text);
const reason = (refusal) => refusal.code ?? String(refusal);
const adaptive = await verify(bytes(design.body), design.hash);

async function use(body) {
  const block = await readBlock(bytes(body));
  checkBlock(block, adaptive);
  return block.id;
}

const found = { designs: [], blocks: [] };
for (const { body, hash } of designs) {
  found.designs.push(await verify(bytes(body), hash).then(({ ratio }) => `${ratio.n}/${ratio.d}`, reason));
}
for (const body of blocks) found.blocks.push(await use(body).catch(reason));
console.log(JSON.stringify(found));
