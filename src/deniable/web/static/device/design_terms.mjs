// @ts-check
/**
 * The terms of a design: what stands around its plan. How an answer becomes a category, whom a question is put to, who
 * may answer, whom a report may be sent to. Chosen by somebody who is not honest, each of them could make a report say
 * more than its channel does; so each is inside the design's hash, and checked before the first answer is seen.
 */

import { checkLeftover } from "../channels/registry.mjs";
import { isBelow, isEdge } from "../protocol/exact_decimals.mjs";
import { object, list, refuse, string } from "../protocol/messages.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("../protocol/messages.mjs").Reader} Reader */
/** @typedef {string | bigint | boolean} Category */
/** @typedef {{kind: "choice"} | {kind: "bins", edges: string[]}} Coder */
/**
 * @typedef {object} Rule Shown to those whose public attribute is one of these.
 * @property {string} attribute
 * @property {Category[]} is
 * @property {number[]} codes the same, as codes
 */
/**
 * @typedef {object} Attribute
 * @property {string} name
 * @property {Category[]} categories a category's code is its place here
 * @property {string} kind what the survey calls such a question
 * @property {Coder} coder how an answer becomes a category
 * @property {Rule[]} rules all of them hold for whoever is asked
 * @property {boolean} isPublic travels in clear
 */

export const SKIPPED = "prefer not to say";
export const NOT_ASKED = "does not apply";
const MOST_EDGES = 999;
const MOST_ORIGINS = 16;
const ORIGIN = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:([1-9][0-9]{0,4}))?$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const DEFAULT_PORTS = new Map([
  ["http", "80"],
  ["https", "443"],
]);

/** @type {Record<string, Reader>} */
const CODERS = {
  choice: object({ kind: string }),
  bins: object({
    kind: string,
    edges: (value, path) => {
      const read = list(string, 1)(value, path);
      return read.length <= MOST_EDGES ? read : refuse("malformed", `${path} has more than ${MOST_EDGES} edges`);
    },
  }),
};

/** @type {Reader} */
export const coder = (value, path) => {
  const kind = value instanceof Map ? value.get("kind") : undefined;
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const reader = Object.hasOwn(CODERS, kind) ? CODERS[kind] : undefined;
  return reader ? reader(value, path) : refuse("unknown-coder", `${path} is of the unknown kind ${kind}`);
};

/**
 * Check attributes, items, coders and rules; returns the disguised attributes and those that travel in clear.
 *
 * @param {Anything} message a design @returns {{attributes: Attribute[], clear: Attribute[]}}
 */
export function attributesOf(message) {
  const { plan, items } = message;
  checkCategories([...plan.domain, ...message.public]);
  const isSame = (/** @type {Anything} */ item, /** @type {number} */ place) => item.name === plan.domain[place]?.name;
  if (items.length !== plan.domain.length || !items.every(isSame)) {
    refuse("wrong-items", "the items are not the plan's attributes in their order");
  }
  /** @type {Attribute[]} */
  const clear = message.public.map((/** @type {Anything} */ item) => ({ ...item, rules: [], isPublic: true }));
  /** @type {Attribute[]} */
  const attributes = items.map((/** @type {Anything} */ item, /** @type {number} */ place) => {
    const { name, kind, coder, show_if } = item;
    const rules = show_if.map((/** @type {Anything} */ each) => ({ ...each, codes: codesIn(each, clear) }));
    return { name, categories: plan.domain[place].categories, kind, coder, rules, isPublic: false };
  });
  [...attributes, ...clear].forEach(checkCoder);
  for (const each of attributes) checkRules(each, clear);
  return { attributes, clear };
}

/** @param {{name: string, categories: Category[]}[]} attributes */
function checkCategories(attributes) {
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

/** @param {Attribute} attribute */
function checkCoder({ name, categories, coder: { kind, ...rest } }) {
  if (kind !== "bins") return;
  const { edges } = /** @type {{edges: string[]}} */ (rest);
  if (!edges.every(isEdge)) refuse("wrong-coder", `the edges of ${name} are not plain decimals`);
  if (!edges.every((edge, place) => place === 0 || isBelow(edges[place - 1] ?? "", edge))) {
    refuse("wrong-coder", `the edges of ${name} do not rise`);
  }
  const isWord = (/** @type {Category} */ each) => each === SKIPPED || each === NOT_ASKED;
  const [bins, more] = [categories.slice(0, edges.length + 1), categories.slice(edges.length + 1)];
  if (bins.length !== edges.length + 1 || bins.some(isWord) || !more.every(isWord)) {
    refuse("wrong-coder", `${edges.length} edges do not make the ${categories.length} categories of ${name}`);
  }
}

/** @param {Attribute} attribute @param {Attribute[]} clear */
function checkRules({ name, categories, rules }, clear) {
  if (!rules.length) return;
  if (!categories.includes(NOT_ASKED)) refuse("wrong-rule", `${name} is not put to everybody, and cannot say so`);
  if (new Set(rules.map((each) => each.attribute)).size !== rules.length) {
    refuse("wrong-rule", `${name} has two rules about one attribute`);
  }
  for (const { attribute, codes } of rules) {
    if (!clear.some((each) => each.name === attribute)) {
      refuse("wrong-rule", `who is asked ${name} would tell about ${attribute}, which is not public`);
    }
    if (!codes.length || !codes.every((code, n) => code > (codes[n - 1] ?? -1))) {
      refuse("wrong-rule", `the rule of ${name} does not list categories of ${attribute} in their order`);
    }
  }
}

/** @param {{attribute: string, is: Category[]}} rule @param {Attribute[]} clear Where the categories stand, or -1. */
function codesIn({ attribute, is }, clear) {
  const known = clear.find((each) => each.name === attribute)?.categories ?? [];
  return is.map((each) => known.indexOf(each));
}

/** @param {Anything} message Check who may answer, and whom a report may be sent to. */
export function checkDoor({ admission, issuer, audience }) {
  if ((admission === "blind") !== (issuer !== null)) {
    refuse("wrong-admission", "blind tokens have an issuer, and nothing else has");
  }
  const sorted = audience.every((/** @type {string} */ each, /** @type {number} */ n) => !n || each > audience[n - 1]);
  if (!audience.length || audience.length > MOST_ORIGINS || !sorted) {
    refuse("wrong-audience", `the audience is not a list of 1 to ${MOST_ORIGINS} different origins in order`);
  }
  if (!audience.every(isOrigin)) refuse("wrong-audience", "the audience holds something that is not an origin");
}

/** @param {string} text Whether it is an origin as browsers write it: lower case, no default port, no path. */
export function isOrigin(text) {
  const [, scheme = "", , , port] = ORIGIN.exec(text) ?? [];
  return scheme !== "" && port !== DEFAULT_PORTS.get(scheme) && Number(port ?? 1) < 1 << 16;
}

/**
 * Whether reports may be sent to an origin. On loopback neither port nor name is told apart: whoever listens there is
 * on the respondent's own machine.
 *
 * @param {string[]} audience @param {string} origin
 */
export const isFor = (audience, origin) =>
  audience.includes(origin) || (isLoopback(origin) && audience.some(isLoopback));

/** @param {string} origin */
const isLoopback = (origin) => LOOPBACK.includes(ORIGIN.exec(origin)?.[2] ?? "");

/** @param {Anything} message @param {boolean} isAdaptive */
export function checkBlocks({ blocks, deniability }, isAdaptive) {
  if (deniability && !isAdaptive) {
    refuse("wrong-blocks", "a design that claims deniability is published block by block");
  }
  if (isAdaptive !== (blocks !== null)) {
    refuse("wrong-blocks", "channels are published block by block exactly where blocks have a size");
  }
}

/** @param {bigint} a @param {bigint} b @returns {bigint} */
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** @param {Anything} message Check how often each ballot is drawn, and that nothing is left over. */
export function checkBallots({ plan, weights }) {
  if (weights !== null) checkWeighting(weights, plan.ballots.length);
  if (new Set(plan.ballots.flat()).size !== plan.questions.length) refuse("leftover", "some question is on no ballot");
  const asked = new Set(plan.questions.flatMap((/** @type {Anything} */ each) => each.attributes));
  if (asked.size !== plan.domain.length) refuse("leftover", "some attribute is in no question");
  for (const { channel } of plan.questions) checkLeftover(channel);
}

/** @param {bigint[]} weights @param {number} ballots */
function checkWeighting(weights, ballots) {
  const sum = weights.reduce((a, b) => a + b, 0n);
  if (weights.length !== ballots || weights.some((each) => each < 1n) || sum >= 1n << 32n) {
    refuse("wrong-weights", "the ballots' weights are not whole numbers, one a ballot, below 2^32 in all");
  }
  if (weights.reduce(gcd) !== 1n || new Set(weights).size === 1) {
    refuse("wrong-weights", "the ballots' weights are not in their lowest terms");
  }
}
