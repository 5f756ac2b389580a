// What the browser's program makes of designs, words, blocks and answers: node judge.mjs CASES STATIC. Prints a verdict
// each, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [cases, program] = process.argv.slice(2);
const { designs, forms, blocks, design, worded, answers } = JSON.parse(readFileSync(cases, "utf-8"));
const part = (name) => import(pathToFileURL(`${program}/${name}.mjs`));
const { partialOf, verify } = await part("device/verify");
const { readForm } = await part("protocol/form");
const { checkBlock, readBlock } = await part("protocol/fake_blocks");
const { codeOf } = await part("protocol/answer_encoding");
const { readJson } = await part("protocol/messages");
const bytes = (text) => new TextEncoder().encode(text);
const reason = (refusal) => refusal.code ?? String(refusal);
const adaptive = await verify(bytes(design.body), design.hash);

async function use(body) {
  const block = await readBlock(bytes(body));
  checkBlock(block, adaptive);
  return block.id;
}

// A value comes as [type, text], because JSON has no infinities and no difference between 1 and 1.0.
const VALUES = {
  none: () => null,
  text: (text) => text,
  flag: (text) => text === "True",
  whole: (text) => BigInt(text),
  number: (text) => Number({ inf: "Infinity", "-inf": "-Infinity", nan: "NaN" }[text] ?? text),
  typed: (text) => ({ number: text }),
};

async function code([item, [type, text]]) {
  const { name, categories, edges, rules } = item;
  const coder = edges ? { kind: "bins", edges } : { kind: "choice" };
  return codeOf({ name, categories: readJson(categories).value, coder, rules }, VALUES[type](text));
}

// What it costs, how many of a panel are found again, and of which questions reports tell only some sums of the shares: how many.
const text = ({ n, d }) => `${n}/${d}`;
const accepted = ({ ratio, panel, questions }) =>
  [text(ratio), ...(panel ? [text(panel.found)] : []), ...partialOf(questions).map(({ name, sums, all }) => `${name}: ${sums} of ${all}`)].join("; ");

const found = { designs: [], forms: [], blocks: [], answers: [] };
for (const { body, hash } of designs) {
  found.designs.push(await verify(bytes(body), hash).then(accepted, reason));
}
for (const { body, hash } of forms) {
  // As if the design named these words: what else could be wrong with them?
  const named = { ...(await verify(bytes(worded.body), worded.hash)), texts: hash };
  found.forms.push(await readForm(bytes(body), named).then(() => "read", reason));
}
for (const body of blocks) found.blocks.push(await use(body).catch(reason));
for (const each of answers) found.answers.push(await code(each).catch(reason));
console.log(JSON.stringify(found));
