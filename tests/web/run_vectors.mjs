// The shared vectors, through the browser's module: node run_vectors.mjs DIRECTORY MODULE. Prints what differs, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [directory, path] = process.argv.slice(2);
const module = await import(pathToFileURL(path));
const load = (name) => JSON.parse(readFileSync(`${directory}/${name}`, "utf-8"));
const bytes = (text) => new TextEncoder().encode(text);
const text = ({ n, d }) => `${n}/${d}`;
const differences = [];
let checked = 0;

function compare(what, found, wanted) {
  checked += 1;
  if (found !== wanted) differences.push({ what, found, wanted });
}

for (const { name, hash, body, reason, ratio } of load("designs.json")) {
  const found = await module.verify(bytes(body), hash).then(
    (design) => text(design.ratio),
    (refusal) => refusal.code ?? String(refusal),
  );
  compare(`design: ${name}`, found, reason ?? ratio);
}

const long = new Uint8Array((1 << 22) + 1);
compare("design: too large", await module.verify(long, "").catch((refusal) => refusal.code), "too-large");

for (const { channel, ratio, outcomes } of load("outcomes.json")) {
  const fields = Object.fromEntries(module.readJson(JSON.stringify(channel)).value);
  const made = module.channelOf(fields);
  compare(`ratio: ${channel.kind}`, text(made.ratio), ratio);
  for (const [truth, draw, report] of outcomes) {
    compare(`outcome: ${JSON.stringify([channel.kind, truth, draw])}`, made.outcome(truth, draw), report);
  }
}

for (const { epsilon, ratio, fits } of load("accounts.json")) {
  compare(`account: ${ratio} in ${epsilon}`, module.fits(module.ratioOfText(ratio), Number(epsilon)), fits);
}

const [good] = load("reports.json");
const { answers, ballot, design, id, public: clear } = JSON.parse(good.body);
compare("report: bytes", module.reportOf(design, ballot, answers, clear, id), good.body);

console.log(JSON.stringify({ checked, differences }));
