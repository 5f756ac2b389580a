// @ts-check
/** Channels made of integers: how each is written, what its integers must be, and what draws make of a truth. */

import { KINDS } from "./generated_list.mjs";
import { refuse } from "../protocol/messages.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("../protocol/messages.mjs").Reader} Reader */
/** @typedef {import("../device/epsilon.mjs").Ratio} Ratio */

/** @typedef {(bits: number) => number} Draw A uniform draw of so many bits. */
/**
 * @typedef {object} Channel
 * @property {number} inputs how many truths there are
 * @property {Ratio} ratio
 * @property {(truth: number, draw: Draw, side?: number) => number} outcome the report that draws make of a truth
 * @property {number} kept the largest share of draws that report the truth as it is; of sets, that hold it
 * @property {Held} [held] where a report speaks for several categories
 * @property {Levels} [levels] where a panel keeps one report, and others are made of it
 * @property {number} [reports] how many different reports there are, where a report is one category
 * @property {() => number | null} [sums] where reports may tell only some of the inputs - 1 independent sums of the shares,
 * how many they tell, from the integers; null: there are too many to count
 * @property {Limits} [limits] where the integers are published block by block; `outcome` needs a block's then
 * @property {Coins} [coins] where two respondents share a coin; `outcome` needs the side it shows this one then
 */
/** @typedef {{other: number, members: (report: number) => number[]}} Held The share of draws that hold a category which
 * is not the truth, and which categories a report holds. */
/**
 * @typedef {{first: Channel, resend: (kept: number, draw: Draw) => number, singledOut: Ratio}} Levels How many of n people
 * a report tells apart, to whoever knows what all of them keep.
 */
/** @typedef {{cells: number, keep: bigint, floor: bigint}} Limits The most that is kept, the least for every fake. */
/** @typedef {{truthful: bigint, shift: bigint, bits: bigint}} Coins */

/**
 * @typedef {object} Kind
 * @property {Reader} reader
 * @property {(fields: Anything, name: string) => bigint} check the integers; returns how many truths there are
 * @property {(fields: Anything, name: string) => void} [told] refuses integers from which nothing could be learned
 * @property {(fields: Anything) => void} [leftover] refuses what no answer needs
 * @property {(fields: Anything) => Channel} make of integers that were checked
 */

/** @param {Anything} kind @param {string} path @returns {Kind} */
function kindOf(kind, path) {
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const found = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return found ?? refuse("unknown-channel", `${path} is of the unknown kind ${kind}`);
}

/** @type {Reader} */
export const weights = (value, path) =>
  kindOf(value instanceof Map ? value.get("kind") : undefined, path).reader(value, path);

/** @param {Anything} fields @param {string} name Checks a channel's integers; returns how many truths it has. */
export const checkWeights = (fields, name) => kindOf(fields.kind, name).check(fields, name);

/** @param {Anything} fields @param {string} name Refuses sound integers from which the truth cannot be told. */
export const checkTold = (fields, name) => kindOf(fields.kind, name).told?.(fields, name);

/** @param {Anything} fields Refuses what no answer needs: it could be a mark. */
export const checkLeftover = (fields) => kindOf(fields.kind, "channel").leftover?.(fields);

/** @param {Anything} fields a channel that passed `checkWeights` @returns {Channel} */
export const channelOf = (fields) => bounded(kindOf(fields.kind, "channel").make(fields));

/**
 * A channel that disguises nothing but its own truths. Encoding lets no other code come this far; were one to, what a
 * channel made of it could tell more than the channel may, so nothing is made of it.
 *
 * @param {Channel} channel @returns {Channel}
 */
function bounded(channel) {
  const { inputs, outcome, levels } = channel;
  return {
    ...channel,
    outcome: (truth, draw, side) => {
      if (!(Number.isInteger(truth) && truth >= 0 && truth < inputs)) throw new Error("not a truth of this channel");
      return outcome(truth, draw, side);
    },
    ...(levels && { levels: { ...levels, first: bounded(levels.first) } }),
  };
}
