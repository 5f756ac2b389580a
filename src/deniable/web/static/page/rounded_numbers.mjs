// @ts-check
/**
 * Numbers for people, computed exactly: what is at risk is rounded up, and what is left is rounded down. No risk is
 * ever shown smaller than it is, not by the last digit.
 */

import { above, expBelow } from "../device/epsilon.mjs";

/** @typedef {import("../device/epsilon.mjs").Ratio} Ratio */

const LARGEST = 1000; // the largest epsilon that is told apart

/** @param {bigint} hundredths @returns {string} 9933 is "99.33", 6000 is "60" */
function decimal(hundredths) {
  const [whole, rest] = [hundredths / 100n, hundredths % 100n];
  return rest ? `${whole}.${String(rest).padStart(2, "0").replace(/0$/, "")}` : String(whole);
}

/** @param {bigint} n @param {bigint} d @returns {bigint} n / d, rounded up */
const up = (n, d) => (n + d - 1n) / d;

/** @param {Ratio} r How sure somebody can become who was undecided: r / (1 + r), in percent, rounded up. */
export const belief = ({ n, d }) => decimal(up(10000n * n, n + d));

/** @param {Ratio} share @returns {string} so many in 100, rounded up */
export const inHundred = ({ n, d }) => decimal(up(10000n * n, d));

/** @param {Ratio} r @returns {bigint} ln r in hundredths, rounded up */
function hundredthsOf(r) {
  // r = e^whole * rest with 1 <= rest < e, and ln rest <= m / 100 where rest^100 <= e^m. e^x is bounded from below
  // throughout, so that what comes out is never too small.
  let whole = 0;
  for (let step = 512; step >= 1; step /= 2) {
    if (whole + step <= LARGEST && !above(expBelow(whole + step), r)) whole += step;
  }
  const e = whole ? expBelow(whole) : { n: 1n, d: 1n };
  const rest = { n: (r.n * e.d) ** 100n, d: (r.d * e.n) ** 100n };
  let [low, high] = [0, 100];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const fits = middle ? !above(rest, expBelow(middle)) : rest.n <= rest.d;
    if (fits) high = middle;
    else low = middle + 1;
  }
  return BigInt(whole) * 100n + BigInt(low);
}

/** @param {Ratio} r @returns {string} epsilon, rounded up */
export const cost = (r) => decimal(hundredthsOf(r));

/** @param {number} limit a whole number @param {Ratio} spent @returns {string} what is left of it, rounded down */
export function left(limit, spent) {
  const found = BigInt(limit) * 100n - hundredthsOf(spent);
  return decimal(found > 0n ? found : 0n);
}

/** @param {number} share @returns {number} so many of a hundred, as near as a picture of a hundred dots can show it */
export const ofHundred = (share) => Math.round(share * 100);
