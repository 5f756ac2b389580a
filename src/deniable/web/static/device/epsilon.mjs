// @ts-check
/** Exact numbers: ratios as fractions, and bounds on e^epsilon that are rounded against whoever asks. */

import { Refusal } from "../protocol/messages.mjs";

/** @typedef {{n: bigint, d: bigint}} Ratio A fraction in lowest terms, at least 1. */

/** @param {bigint} n @param {bigint} d @returns {Ratio} */
export function ratio(n, d = 1n) {
  let [a, b] = [n, d];
  while (b) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
}

/** @param {string} text @returns {Ratio} */
export function ratioOfText(text) {
  const [n, d] = text.split("/");
  return ratio(BigInt(n ?? "0"), BigInt(d ?? "1"));
}

/** @param {Ratio[]} ratios @returns {Ratio} The ratio of several reports about one person: the exact product. */
export const compose = (ratios) => ratios.reduce((a, b) => ratio(a.n * b.n, a.d * b.d), ratio(1n));

/** @param {Ratio} a @param {Ratio} b */
export const above = (a, b) => a.n * b.d > b.n * a.d;

/** @param {Ratio} a @param {Ratio} b */
export const larger = (a, b) => (above(a, b) ? a : b);

/** @param {bigint} a @param {bigint} b */
export const most = (a, b) => (a > b ? a : b);

/** @param {bigint} a @param {bigint} b */
export const least = (a, b) => (a < b ? a : b);

const LARGEST_EPSILON = 1000;
const FIXED = 320n; // bits behind the point

/**
 * A fraction not above e^epsilon, and within 1e-60 of it relatively. Every step rounds down: the Taylor series of
 * e^(epsilon / 2^10) has positive terms only, and squaring ten times keeps a lower bound a lower bound.
 *
 * @param {number} epsilon @returns {Ratio}
 */
export function expBelow(epsilon) {
  if (!(epsilon > 0 && epsilon <= LARGEST_EPSILON)) throw new Refusal("malformed", `epsilon ${epsilon} is not usable`);
  let [whole, places] = [epsilon, 0n];
  for (; !Number.isInteger(whole); whole *= 2) places += 1n; // doubling a binary number is exact
  const x = (BigInt(whole) << FIXED) >> (places + 10n);
  let [sum, term] = [0n, 1n << FIXED];
  for (let k = 1n; term > 0n; k += 1n) {
    sum += term;
    term = ((term * x) >> FIXED) / k;
  }
  for (let i = 0; i < 10; i += 1) sum = (sum * sum) >> FIXED;
  // e^x >= 1 + x, exactly.
  return larger(ratio(sum, 1n << FIXED), ratio((1n << places) + BigInt(whole), 1n << places));
}

/** @param {Ratio} r @param {number} epsilon Whether r <= e^epsilon, compared exactly. */
export const fits = (r, epsilon) => !above(r, expBelow(epsilon));

/** @param {Ratio} r As a floating-point number, for showing only. */
export const approximate = (r) => Number((r.n << 64n) / r.d) / 2 ** 64;

/** @param {Ratio} r ln r, for showing only. */
export const epsilonOf = (r) => Math.log(approximate(r));
