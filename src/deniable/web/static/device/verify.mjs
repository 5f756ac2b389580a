// @ts-check
/** What a device checks before it answers: nothing a server says is believed that can be computed. */

import { channelOf, checkTold, checkWeights, weights } from "../channels/registry.mjs";
import { compose, epsilonOf, fits, larger, ratio } from "./epsilon.mjs";
import {
  between,
  boolean,
  canonical,
  hash,
  hashOf,
  list,
  matching,
  object,
  one,
  oneOf,
  optional,
  parse,
  refuse,
  sha256,
  short,
  string,
  such,
  three,
  whole,
} from "../protocol/messages.mjs";
import { panelOf } from "./panel.mjs";
import { attributesOf, checkBallots, checkBlocks, checkDoor, coder } from "./design_terms.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("./epsilon.mjs").Ratio} Ratio */
/** @typedef {import("../channels/registry.mjs").Channel} Channel */
/** @typedef {import("./panel.mjs").Panel} Panel */
/** @typedef {import("./design_terms.mjs").Attribute} Attribute */
/** @typedef {import("./design_terms.mjs").Category} Category */

const MOST_DESIGN_BYTES = 1 << 22;
const MOST_ASKED = 200; // questions of a ballot, and public attributes
const MOST_CELLS = 1n << 20n; // possible answers to a question

const decimal = matching(/^(0|[1-9][0-9]{0,3})(\.[0-9]{0,3}[1-9])?$/);
/** @type {import("../protocol/messages.mjs").Reader} */
const category = (value, path) =>
  typeof value === "bigint" ? whole(value, path) : such((each) => ["string", "boolean"].includes(typeof each))(value, path);
const positive = between(1n, 1n << 31n);
const together = between(20n, 1n << 31n); // reports a block: among fewer, none would hide
const kind = matching(/^[a-z][a-z0-9_-]{0,31}$/); // what somebody called it: nothing here depends on it
const rule = object({ attribute: short, is: list(category) });
const design = object({
  version: three,
  survey: short,
  epsilon: decimal,
  plan: object({
    format: one,
    kind,
    domain: list(object({ name: short, categories: list(category) }), 1),
    questions: list(object({ attributes: list(string, 1), channel: weights }), 1),
    ballots: list(list(whole), 1),
  }),
  items: list(object({ name: short, kind, coder, show_if: list(rule) })),
  public: list(object({ name: short, kind, coder, categories: list(category) })),
  panel: optional(object({ name: short, people: positive, repeats: list(string, 1) })),
  admission: oneOf("open", "invited", "blind"),
  issuer: optional(hash),
  audience: list(string),
  blocks: optional(object({ size: together, update: oneOf("pooled") })),
  deniability: boolean,
  weights: optional(list(whole)),
  wave: optional(positive),
  replaces: optional(hash),
  published: optional(short),
  texts: hash,
});

/**
 * @typedef {object} Question
 * @property {number} place among the design's questions
 * @property {string} name
 * @property {Attribute[]} attributes
 * @property {Channel} channel
 * @property {string} written its attributes and its channel, in canonical form
 */
/**
 * @typedef {object} Design A design that keeps its promise.
 * @property {string} id
 * @property {string} planId what all designs share that differ in their words alone
 * @property {string} survey
 * @property {string} epsilon
 * @property {"open" | "invited" | "blind"} admission
 * @property {string | null} issuer the hash of the key that signs blind tokens
 * @property {string[]} audience the origins that reports may be sent to
 * @property {string | null} published where its hash can be compared
 * @property {string | null} replaces the design whose words it corrects
 * @property {string} texts the hash of the form
 * @property {number | null} wave
 * @property {{size: number, update: string} | null} blocks
 * @property {Attribute[]} attributes the disguised ones, in order
 * @property {Attribute[]} public
 * @property {Question[]} questions
 * @property {Question[][]} ballots
 * @property {number[] | null} weights how often each ballot is drawn; null for all alike
 * @property {Ratio} ratio of the dearest ballot
 * @property {boolean} isAdaptive channels are published block by block
 * @property {Ratio | null} claim what is claimed for a whole report, where that is less than the true ratio: deniability
 * @property {Panel | null} panel what is repeated for the same people, and how many are found again by it
 * @property {boolean} isPaired respondents share coins two by two
 */

/**
 * Check a design as it came from a server, against the hash it was asked for by. The first check that fails gives the
 * reason; all clients check in the same order.
 *
 * @param {Uint8Array} body @param {string} expected @returns {Promise<Design>}
 */
export async function verify(body, expected) {
  if (body.length > MOST_DESIGN_BYTES) refuse("too-large", `the design has ${body.length} bytes`);
  const id = await sha256(body);
  if (id !== expected) refuse("wrong-hash", `the design's bytes have the hash ${id}`);
  const { value, repeated, text } = parse(body, MOST_DESIGN_BYTES);
  const version = value instanceof Map ? value.get("version") : undefined;
  if (typeof version === "bigint") three(version, "design.version"); // before all else: its fields mean something else
  const message = design(value, "design");
  if (repeated || canonical(message) !== text) refuse("not-canonical", "the design is not in its canonical form");
  return judge(id, message);
}

/** @param {string} id @param {Anything} message @returns {Promise<Design>} */
async function judge(id, message) {
  const { plan } = message;
  const { attributes, clear } = attributesOf(message);
  checkDoor(message);
  const domain = new Map(attributes.map((each) => [each.name, each]));
  /** @type {Question[]} */
  const questions = plan.questions.map((/** @type {Anything} */ asked, /** @type {number} */ place) =>
    questionOf(asked, place, domain),
  );
  const isAdaptive = questions.some(({ channel }) => channel.limits);
  if (isAdaptive && questions.some(({ channel }) => !channel.limits)) {
    refuse("unknown-channel", "either all channels are published block by block, or none");
  }
  checkBlocks(message, isAdaptive);
  /** @type {Question[][]} */
  const ballots = plan.ballots.map((/** @type {bigint[]} */ ballot, /** @type {number} */ number) =>
    ballotOf(number, ballot, questions),
  );
  checkSize(message, ballots);
  checkBallots(message);
  const panel = panelOf(message, questions, ballots);
  const dearest = ballots.map(costOf).reduce(larger);
  if (!fits(dearest, Number(message.epsilon))) {
    const found = epsilonOf(dearest).toFixed(6);
    refuse("epsilon-exceeded", `the design promises epsilon ${message.epsilon}, but its integers give ${found}`);
  }
  const { texts, replaces, ...kept } = message;
  const { survey, epsilon, admission, issuer, audience, published, wave, blocks } = kept;
  return {
    id,
    planId: await hashOf(canonical(kept)),
    survey,
    epsilon,
    admission,
    issuer,
    audience,
    published,
    replaces,
    texts,
    wave: wave && Number(wave),
    blocks: blocks && { size: Number(blocks.size), update: blocks.update },
    attributes,
    public: clear,
    questions,
    ballots,
    weights: message.weights && message.weights.map(Number),
    ratio: dearest,
    isAdaptive,
    claim: message.deniability ? ballots.map(claimOf).reduce(larger) : null,
    panel,
    isPaired: questions.some(({ channel }) => channel.coins),
  };
}

/** @param {Question[]} ballot @returns {Ratio} what deniability claims for an answer, 1 / (1 - p), over all of them */
const claimOf = (ballot) =>
  compose(ballot.flatMap(({ channel: { limits } }) => (limits ? [ratio(1n << 32n, (1n << 32n) - limits.keep)] : [])));

/** @param {Anything} message @param {Question[][]} ballots Check that a report can be held by its message. */
function checkSize(message, ballots) {
  if (message.public.length > MOST_ASKED || ballots.some((ballot) => ballot.length > MOST_ASKED)) {
    refuse("too-many", `a report has at most ${MOST_ASKED} answers, and as many public attributes`);
  }
}

/**
 * The questions whose reports tell only some of the independent sums of the shares: how many of how many.
 *
 * @param {Question[]} questions @returns {{name: string, sums: number | null, all: number}[]} null: too many to count
 */
export const partialOf = (questions) =>
  questions
    .map(({ name, channel }) => ({ name, sums: channel.sums?.() ?? null, all: channel.inputs - 1, channel }))
    .filter(({ sums, all, channel }) => channel.sums && sums !== all)
    .map(({ name, sums, all }) => ({ name, sums, all }));

/** @param {Question[]} questions */
export const costOf = (questions) => compose(questions.map((question) => question.channel.ratio));

/** @param {Anything} asked @param {number} place @param {Map<string, Attribute>} domain @returns {Question} */
function questionOf(asked, place, domain) {
  const name = asked.attributes.join("*");
  /** @type {Attribute[]} */
  const attributes = asked.attributes.map(
    (/** @type {string} */ each) => domain.get(each) ?? refuse("unknown-attribute", `${each} is not declared`),
  );
  if (new Set(attributes).size !== attributes.length) refuse("attribute-twice", `${name} asks an attribute twice`);
  const truths = checkWeights(asked.channel, name);
  const cells = attributes.reduce((product, each) => product * BigInt(each.categories.length), 1n);
  if (cells > MOST_CELLS) refuse("wrong-cells", `${name} has more than ${MOST_CELLS} possible answers`);
  if (truths !== cells) refuse("wrong-cells", `${name} has ${cells} possible answers, its channel ${truths} truths`);
  checkTold(asked.channel, name);
  const channel = channelOf(asked.channel);
  return {
    place,
    name,
    attributes,
    channel,
    written: canonical([attributes.map((each) => [each.name, each.categories]), asked.channel]),
  };
}

/** @param {number} number @param {bigint[]} ballot @param {Question[]} questions @returns {Question[]} */
function ballotOf(number, ballot, questions) {
  if (!ballot.length) refuse("empty-ballot", `ballot ${number} asks nothing`);
  const asked = ballot.map(
    (index) => questions[Number(index)] ?? refuse("unknown-question", `ballot ${number} names question ${index}`),
  );
  const names = asked.flatMap((question) => question.attributes.map((each) => each.name));
  if (new Set(names).size !== names.length) refuse("attribute-twice", `ballot ${number} asks an attribute twice`);
  return asked;
}

// -- what a kept disguise goes by ------------------------------------------------------------------------------------

/**
 * Names a panel at its addresses, a question, its main-language words and its channel, whatever wave they come in: to
 * somebody who is asked something else the old disguise would be no answer.
 *
 * @param {string} panel @param {string[]} audience @param {Question} question @param {string[]} words one text an attribute
 */
export const keyOf = (panel, audience, { written }, words) =>
  hashOf(`[${canonical(panel)},${canonical(audience)},${written.slice(1, -1)},${canonical(words)}]`);
