// @ts-check
/**
 * A panel: the only one whose answers are repeated; how many of its people can be found again by what they send, at most.
 * The bound and why it holds are those of the Python client.
 */

import { above, compose, ratio } from "./epsilon.mjs";
import { refuse } from "../protocol/messages.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("./epsilon.mjs").Ratio} Ratio */
/** @typedef {import("../channels/registry.mjs").Channel} Channel */
/** @typedef {import("./verify.mjs").Question} Question */
/** @typedef {{name: string, people: number, few: number, repeats: string[], found: Ratio, more: Ratio}} Panel */

const PARTS = 1n << 32n;
const MOST_FOUND = ratio(1n, 20n); // of a panel's people
const MOST_COUNTED = 1000n; // people that a share is of, however many are said to take part

/**
 * How many of n people one answer can tell apart: of k truths and ratio R, k R / (R + k - 1). Rounded up to a multiple of
 * 2^-32, so that sums over a million ballots have small denominators, in every client the same.
 *
 * @param {Channel} channel @returns {Ratio}
 */
function singledOut({ inputs, ratio: { n, d }, levels }) {
  const k = BigInt(inputs);
  const exact = levels ? levels.singledOut : ratio(k * n, n + (k - 1n) * d);
  return ratio((exact.n * PARTS + exact.d - 1n) / exact.d, PARTS);
}

/** @param {Ratio} a @param {Ratio} b */
const sum = (a, b) => ratio(a.n * b.d + b.n * a.d, a.d * b.d);

/** @param {Ratio} share */
const atMostAll = (share) => (above(share, ratio(1n)) ? ratio(1n) : share);

/**
 * The share of a panel's people that is found again, at most.
 *
 * @param {Question[][]} ballots @param {bigint[] | null} weights @param {Anything[]} clear what travels in clear
 * @param {bigint} people @returns {Ratio}
 */
function foundAgain(ballots, weights, clear, people) {
  const often = weights ?? ballots.map(() => 1n);
  const each = new Map(ballots.flat().map((question) => [question, singledOut(question.channel)]));
  const told = ballots
    .map((ballot, at) => compose([ratio(often[at] ?? 0n), ...ballot.map((question) => each.get(question) ?? ratio(0n))]))
    .reduce(sum);
  const all = often.reduce((a, b) => a + b, 0n);
  const cells = clear.reduce((product, { categories }) => product * BigInt(categories.length), 1n);
  return atMostAll(ratio(told.n * cells, told.d * all * people));
}

/**
 * Check that what is repeated was declared, has a second level, and is shared by enough people.
 *
 * @param {Anything} message a design @param {Question[]} questions @param {Question[][]} ballots
 * @returns {Panel | null}
 */
export function panelOf({ panel, plan, admission, weights, public: clear }, questions, ballots) {
  if (panel === null) {
    if (questions.some(({ channel }) => channel.levels)) refuse("wrong-panel", "a second level is for panels");
    return null;
  }
  if (admission !== "invited") refuse("wrong-panel", `${admission} admission is for answers that nobody can connect`);
  /** @type {{name: string, people: bigint, repeats: string[]}} */
  const { name, people, repeats } = panel;
  /** @type {string[]} */
  const known = plan.domain.map((/** @type {Anything} */ each) => each.name);
  const ordered = known.filter((each) => repeats.includes(each));
  if (ordered.length !== repeats.length || !ordered.every((each, at) => each === repeats[at])) {
    refuse("wrong-panel", "what the panel repeats does not stand once each in the order of the plan");
  }
  for (const { name: asked, attributes, channel } of questions) {
    const inside = attributes.filter((each) => repeats.includes(each.name)).length;
    if (inside && inside !== attributes.length) refuse("wrong-panel", `${asked} is repeated in part`);
    if (inside > 0 !== Boolean(channel.levels)) refuse("wrong-panel", `${asked}: what is repeated has two levels`);
    if (channel.limits || channel.coins) refuse("wrong-panel", "a panel has no blocks and no partners");
  }
  const counted = people < MOST_COUNTED ? people : MOST_COUNTED;
  const found = foundAgain(ballots, weights, clear, counted);
  if (above(found, MOST_FOUND)) refuse("pseudonym", `too many of ${counted} people could be found again`);
  const few = counted < 10n ? 1n : counted / 10n; // how the share gets worse where fewer take part than is said
  const more = atMostAll(ratio(found.n * counted, found.d * few));
  return { name, people: Number(counted), few: Number(few), repeats, found, more };
}
