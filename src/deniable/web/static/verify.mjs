// @ts-check
/** What a device checks before it answers: nothing a server says is believed that can be computed. */

import { PRIMES, independent } from "./categories.mjs";
import { channelOf, checkWeights, weights } from "./channels.mjs";
import { compose, epsilonOf, fits, larger } from "./exact.mjs";
import {
  canonical,
  hashOf,
  list,
  matching,
  object,
  one,
  parse,
  refuse,
  sha256,
  short,
  string,
  such,
  whole,
} from "./messages.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("./exact.mjs").Ratio} Ratio */
/** @typedef {import("./channels.mjs").Channel} Channel */

const MOST_DESIGN_BYTES = 1 << 22;

const decimal = matching(/^(0|[1-9][0-9]{0,3})(\.[0-9]{1,30})?$/);
const category = such((value) => ["string", "bigint", "boolean"].includes(typeof value));
const attribute = object({ name: short, categories: list(category) });
const design = object(
  {
    version: one,
    survey: short,
    epsilon: decimal,
    plan: object({
      format: one,
      kind: short,
      domain: list(attribute, 1),
      questions: list(object({ attributes: list(string, 1), channel: weights }), 1),
      ballots: list(list(whole), 1),
    }),
    static: list(string),
    public: list(attribute),
  },
  { static: [], public: [] },
);

/** @typedef {{name: string, categories: (string | bigint | boolean)[]}} Attribute */
/**
 * @typedef {object} Question
 * @property {number} place among the design's questions
 * @property {string} name
 * @property {Attribute[]} attributes
 * @property {Channel} channel
 * @property {string} key names the question and its channel, whatever survey they come in
 * @property {boolean} static none of its attributes changes, and its channel stays the same
 */
/**
 * @typedef {object} Design A design that keeps its promise.
 * @property {string} id
 * @property {string} epsilon
 * @property {Attribute[]} public
 * @property {Question[]} questions
 * @property {Question[][]} ballots
 * @property {Ratio} ratio of the dearest ballot
 * @property {boolean} isAdaptive channels are published block by block
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
  const message = design(value, "design");
  if (repeated || canonical(message) !== text) refuse("not-canonical", "the design is not in its canonical form");
  return judge(id, message);
}

/** @param {string} id @param {Anything} message @returns {Promise<Design>} */
async function judge(id, message) {
  const { plan } = message;
  checkAttributes([...plan.domain, ...message.public]);
  /** @type {Map<string, Attribute>} */
  const domain = new Map(plan.domain.map((/** @type {Attribute} */ each) => [each.name, each]));
  for (const name of message.static) {
    if (!domain.has(name)) refuse("unknown-attribute", `the static attribute ${name} is not asked for`);
  }
  /** @type {Question[]} */
  const questions = [];
  for (const asked of plan.questions) {
    const { attributes, channel } = questionOf(asked, domain);
    const stays = !channel.limits && !channel.coins;
    questions.push({
      place: questions.length,
      name: asked.attributes.join("*"),
      attributes,
      channel,
      key: await hashOf(canonical([attributes.map((each) => [each.name, each.categories]), asked.channel])),
      static: stays && asked.attributes.every((/** @type {string} */ name) => message.static.includes(name)),
    });
  }
  const isAdaptive = questions.some(({ channel }) => channel.limits);
  if (isAdaptive && questions.some(({ channel }) => !channel.limits)) {
    refuse("unknown-channel", "either all channels are published block by block, or none");
  }
  for (const { name, channel, static: isStatic } of questions) {
    if (isStatic && channel.isPseudonym) refuse("pseudonym", `${name} is static, and a set sent again is a name`);
  }
  /** @type {Question[][]} */
  const ballots = plan.ballots.map((/** @type {bigint[]} */ ballot, /** @type {number} */ number) =>
    ballotOf(number, ballot, questions),
  );
  const dearest = ballots.map(costOf).reduce(larger);
  if (!fits(dearest, Number(message.epsilon))) {
    const found = epsilonOf(dearest).toFixed(6);
    refuse("epsilon-exceeded", `the design promises epsilon ${message.epsilon}, but its integers give ${found}`);
  }
  const isPaired = questions.some(({ channel }) => channel.coins);
  const { epsilon, public: clear } = message;
  return { id, epsilon, public: clear, questions, ballots, ratio: dearest, isAdaptive, isPaired };
}

/** @param {Question[]} questions */
export const costOf = (questions) => compose(questions.map((question) => question.channel.ratio));

/** @param {Attribute[]} attributes */
function checkAttributes(attributes) {
  if (new Set(attributes.map((each) => each.name)).size !== attributes.length) {
    refuse("repeated-name", "two attributes share a name");
  }
  for (const { name, categories } of attributes) {
    if (categories.length < 2) refuse("too-few-categories", `${name} has fewer than two categories`);
    const types = new Set(categories.map((each) => typeof each));
    if (types.size > 1) refuse("malformed", `${name}: categories of two types`);
    if (new Set(categories).size !== categories.length) refuse("repeated-name", `${name} has a category twice`);
  }
}

/** @param {Anything} asked @param {Map<string, Attribute>} domain */
function questionOf(asked, domain) {
  const name = asked.attributes.join("*");
  /** @type {Attribute[]} */
  const attributes = asked.attributes.map(
    (/** @type {string} */ each) => domain.get(each) ?? refuse("unknown-attribute", `${each} is not declared`),
  );
  if (new Set(attributes).size !== attributes.length) refuse("attribute-twice", `${name} asks an attribute twice`);
  const truths = checkWeights(asked.channel, name);
  const cells = attributes.reduce((product, each) => product * BigInt(each.categories.length), 1n);
  if (truths !== cells) refuse("wrong-cells", `${name} has ${cells} possible answers, its channel ${truths} truths`);
  const { kind, columns } = asked.channel;
  if (kind === "dense" && !PRIMES.some((prime) => independent(columns, prime))) {
    refuse("tells-nothing", `${name}: the truth cannot be told from the reports`);
  }
  return { attributes, channel: channelOf(asked.channel) };
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
