// @ts-check
/**
 * What the checks and draws of several kinds of channel share. A set of up to 53 categories is one number, the sum of 2^v
 * over its members: all of them are exact, and none goes through a 32-bit operator.
 */

import { larger, ratio } from "../device/epsilon.mjs";
import { refuse } from "../protocol/messages.mjs";

/** @typedef {import("../device/epsilon.mjs").Ratio} Ratio */

const MOST_MEMBERS = 53n;

/** @param {bigint} bits @param {string} name @returns {bigint} how many different draws there are */
export function drawsOf(bits, name) {
  if (bits !== 16n && bits !== 32n) refuse("wrong-bits", `${name} draws ${bits} bits`);
  return 1n << bits;
}

/** @param {bigint[]} column @param {bigint} total @param {string} name */
export function checkColumn(column, total, name) {
  if (!column.length || column.some((weight) => weight < 1n)) {
    refuse("zero-weight", `${name}: some report has no draw for some truth`);
  }
  if (column.reduce((a, b) => a + b, 0n) !== total) refuse("wrong-sum", `${name}: weights do not sum to ${total}`);
}

/** @param {number[]} lengths @param {number} place Which of the stretches, laid end to end, a place falls into. */
export function stretch(lengths, place) {
  let [index, end] = [0, lengths[0] ?? 0];
  while (place >= end) {
    index += 1;
    end += lengths[index] ?? Infinity;
  }
  return index;
}

/** @param {bigint} k @param {string} name */
export function fitsOneNumber(k, name) {
  if (k < 2n || k > MOST_MEMBERS) refuse("wrong-cells", `${name}: sets of ${k} categories`);
}

/** @param {bigint} weight @param {bigint} draws @param {string} name A number of draws that is not none and not all. */
export function checkShare(weight, draws, name) {
  if (weight < 1n || weight === draws) refuse("zero-weight", `${name}: some report has no draw for some truth`);
  if (weight > draws) refuse("wrong-sum", `${name}: ${weight} draws are more than there are`);
}

/** @param {bigint} a @param {bigint} b @returns {Ratio} Odds, or their inverse. */
export const either = (a, b) => larger(ratio(a, b), ratio(b, a));

/** @param {number} k @param {(v: number) => boolean} isMember The set as a number. */
export function maskOf(k, isMember) {
  let mask = 0;
  for (let v = 0; v < k; v += 1) if (isMember(v)) mask += 2 ** v;
  return mask;
}

/** @param {number} mask @param {number} v */
export const holds = (mask, v) => Math.floor(mask / 2 ** v) % 2 === 1;

/** @param {number} k @returns {(mask: number) => number[]} */
export const membersOf = (k) => (mask) => Array.from({ length: k }, (_, v) => v).filter((v) => holds(mask, v));
