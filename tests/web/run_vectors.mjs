// The shared vectors, through the browser's program: node run_vectors.mjs VECTORS STATIC. Prints what differs, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [directory, program] = process.argv.slice(2);
const load = (name) => JSON.parse(readFileSync(`${directory}/${name}`, "utf-8"));
const part = (name) => import(pathToFileURL(`${program}/${name}.mjs`));
const [exact, messages, channels, verifying, forms, encoding, blocks, pairs, client] = await Promise.all(
  [
    ...["device/epsilon", "protocol/messages", "channels/registry", "device/verify", "protocol/form"],
    ...["protocol/answer_encoding", "protocol/fake_blocks", "protocol/partner", "device/client"],
  ].map(part),
);
const bytes = (text) => new TextEncoder().encode(text);
const text = ({ n, d }) => `${n}/${d}`;
const reason = (refusal) => refusal.code ?? String(refusal);
const attempt = async (action) => action();
const differences = [];
let checked = 0;

function compare(what, found, wanted) {
  checked += 1;
  if (JSON.stringify(found) !== JSON.stringify(wanted)) differences.push({ what, found, wanted });
}

// -- designs, channels, the account, reports -------------------------------------------------------------------------

for (const { name, hash, body, reason: refused, ratio, claim, found: again, answers, codes } of load("designs.json")) {
  const both = (/** @type {any} */ design) => [design.ratio, design.claim, design.panel?.found].filter(Boolean).map(text).join(" ");
  const found = await verifying.verify(bytes(body), hash).then(both, reason);
  compare(`design: ${name}`, found, refused ?? [ratio, claim, again].filter(Boolean).join(" "));
  if (answers) {
    const given = Object.fromEntries(messages.readJson(answers).value);
    const made = encoding.codesOf(await verifying.verify(bytes(body), hash), given);
    compare(`answers: ${name}`, Object.fromEntries(Object.entries(made).sort()), codes);
  }
}

const long = new Uint8Array((1 << 22) + 1);
compare("design: too large", await verifying.verify(long, "").catch(reason), "too-large");

// Draws that are given, in order; all of them must be used.
function drawing(given) {
  const left = [...given];
  const draw = () => left.shift() ?? refused("out of draws");
  return [draw, left];
}
const refused = (why) => {
  throw new Error(why);
};

for (const { channel, ratio, outcomes, sums, resent = [], members = [] } of load("outcomes.json")) {
  const fields = channels.weights(messages.readJson(JSON.stringify(channel)).value, "channel");
  channels.checkWeights(fields, "channel");
  const made = channels.channelOf(fields);
  compare(`ratio: ${channel.kind}`, text(made.ratio), ratio);
  compare(`sums: ${channel.kind}`, made.sums?.(), sums);
  for (const [truth, draws, report] of outcomes) {
    const [draw, left] = drawing(draws);
    compare(`outcome: ${JSON.stringify([channel, truth, draws])}`, [made.outcome(truth, draw), left], [report, []]);
  }
  for (const [kept, draws, report] of resent) {
    const [draw, left] = drawing(draws);
    compare(`resent: ${JSON.stringify([channel, kept])}`, [made.levels.resend(kept, draw), left], [report, []]);
  }
  for (const [report, held] of members) {
    compare(`members: ${JSON.stringify([channel, report])}`, made.held.members(report).slice(0, 100), held);
  }
}

for (const { epsilon, ratio, fits } of load("accounts.json")) {
  compare(`account: ${ratio} in ${epsilon}`, exact.fits(exact.ratioOfText(ratio), Number(epsilon)), fits);
}

const [good] = load("reports.json");
compare("report: bytes", client.reportOf(JSON.parse(good.body)), good.body);
const papers = { block: "b", token: "t", signature: "s" };
compare("report: in a block", JSON.parse(client.reportOf({ ...JSON.parse(good.body), ...papers })), {
  ...JSON.parse(good.body),
  ...papers,
});

// -- words and answers -----------------------------------------------------------------------------------------------

for (const { name, body, design, reason: refused } of load("forms.json")) {
  const made = await verifying.verify(bytes(design), await messages.hashOf(design));
  compare(`form: ${name}`, await forms.readForm(bytes(body), made).then(() => null, reason), refused);
}

const codes = messages.readJson(readFileSync(`${directory}/encodings.json`, "utf-8")).value;
for (const vector of codes) {
  const { name, categories, coder, ruled } = Object.fromEntries(vector.get("attribute"));
  const rules = ruled ? [{ attribute: "public", is: ["a"], codes: [0] }] : [];
  const attribute = { name, categories, coder: Object.fromEntries(coder), rules };
  const [value, wanted] = [vector.get("value"), vector.get("code")];
  const number = value instanceof Map ? value.get("number") : undefined;
  // A number that was typed, and one that was computed.
  for (const given of number === undefined ? [value] : [{ number }, Number(number)]) {
    const found = await attempt(() => encoding.codeOf(attribute, given)).catch(reason);
    compare(`code: ${name} ${String(number ?? value)}`, found, wanted === null ? "bad-answer" : Number(wanted));
  }
}

// -- blocks ----------------------------------------------------------------------------------------------------------

const chain = load("blocks.json");
const adaptive = await verifying.verify(bytes(chain.design.body), chain.design.hash);
const use = async (body) => {
  const block = await blocks.readBlock(bytes(body));
  blocks.checkBlock(block, adaptive);
  return block.id;
};
for (const { name, body, reason: refused, id: named } of chain.blocks) {
  compare(`block: ${name}`, await use(body).catch(reason), refused ?? named);
}
for (const { name, blocks: bodies, reason: refused } of chain.chains) {
  const read = await Promise.all(bodies.map((body) => blocks.readBlock(bytes(body))));
  compare(`chain: ${name}`, await attempt(() => blocks.checkChain(read, adaptive) && null).catch(reason), refused);
}
const block = await blocks.readBlock(bytes(chain.outcomes.block));
for (const [place, truth, draw, report] of chain.outcomes.rows) {
  compare(`block: ${[place, truth, draw]}`, blocks.mixtureOf(block, place).outcome(truth, () => draw), report);
}
const unpublished = () => adaptive.questions[0].channel.outcome(0, () => 0);
compare("block: none", await attempt(unpublished).catch(reason), "malformed");

// -- pairs -----------------------------------------------------------------------------------------------------------

const told = load("pairs.json");
const paired = await verifying.verify(bytes(told.design.body), told.design.hash);
const PKCS8 = "302e020100300506032b656e04220420"; // what stands before a private key of X25519
const seekerOf = async ({ secret, key }) => {
  const held = messages.fromHex(PKCS8 + secret);
  return new pairs.Seeker(paired, await crypto.subtle.importKey("pkcs8", held, "X25519", false, ["deriveBits"]), key);
};
for (const vector of told.sides) {
  compare(`sides: ${vector.key}`, await (await seekerOf(vector)).sides(vector.partner), vector.sides);
}
for (const vector of told.alone) {
  const seeker = await seekerOf(vector);
  const seen = new Set();
  for (let times = 0; times < 200; times += 1) seen.add(String(await seeker.sides(vector.partner)));
  // 200 tosses of two coins: each of the four outcomes is missing with probability (3/4)^200 < 1e-24.
  compare(`alone: ${vector.partner}`, [...seen].sort(), ["-1,-1", "-1,1", "1,-1", "1,1"]);
}
const made = await Promise.all([pairs.Seeker.make(paired), pairs.Seeker.make(paired)]);
const both = [await made[0].sides(made[1].key), await made[1].sides(made[0].key)];
compare("sides: of two new keys", both[0], both[1].map((side) => -side));
for (const [truth, draw, side, report] of told.outcomes) {
  compare(`coin: ${[truth, draw, side]}`, paired.questions[0].channel.outcome(truth, () => draw, side), report);
}
for (const { body, claimed, partner, coin, delta } of told.statements) {
  const made = await verifying.verify(bytes(body), await messages.sha256(bytes(body)));
  const found = pairs.statement(made);
  const words = [pairs.shown(found.claimed), pairs.shown(found.partner), pairs.shown(found.coin)];
  compare(`statement: ${body}`, [...words, pairs.shownDelta(found.delta)], [claimed, partner, coin, delta]);
}

console.log(JSON.stringify({ checked, differences }));
