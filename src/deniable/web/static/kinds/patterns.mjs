// @ts-check
/** Reports with two probabilities: a larger one for the truths of the report's pattern, a smaller one for the others. */

import { larger, least, most, ratio } from "../device/epsilon.mjs";
import { drawsOf, stretch } from "../channels/channel_kind.mjs";
import { list, object, refuse, string, whole } from "../protocol/messages.mjs";
import { adding, PRIMES } from "../channels/matrix_rank.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */
/** @typedef {import("../protocol/messages.mjs").Anything} Anything */

const MOST_TRUTHS = 256n;
const MOST_COUNTED = 1024; // patterns

/** @param {string} text @param {bigint} k Whether this is how a number below 2^k is written. */
const isHexadecimal = (text, k) => BigInt(text.length) <= (k + 3n) / 4n && /^[1-9a-f][0-9a-f]*$/.test(text);

/** @param {string} text The truths of a pattern: the binary digits of its number, from the last on. */
const truthsOf = (text) =>
  [...text].reverse().flatMap((digit, place) =>
    [0, 1, 2, 3].filter((bit) => (parseInt(digit, 16) >> bit) & 1).map((bit) => 4 * place + bit),
  );

/** @param {Anything} fields What the patterns leave of the draws of each truth. */
function remainderOf({ k, large, low, high, bits }) {
  const spent = low.reduce((/** @type {bigint} */ a, /** @type {bigint} */ b) => a + b, 0n);
  const left = new Array(Number(k)).fill((1n << bits) - spent);
  large.forEach((/** @type {string} */ text, /** @type {number} */ u) => {
    for (const v of truthsOf(text)) left[v] -= high[u] - low[u];
  });
  return left;
}

/**
 * How many independent sums of the shares the reports of some patterns tell; null where there are too many to count.
 *
 * All reports together have the same weight for every truth, so they span the constant; a report less its smaller weight
 * times that is its pattern. So what reports tell is what patterns span beside the constant.
 *
 * @param {number[][]} patterns @param {number} k
 */
function sumsTold(patterns, k) {
  if (patterns.length > MOST_COUNTED) return null;
  const rows = [Array.from({ length: k }, (_, v) => v), ...patterns].map((truths) => {
    const row = new Array(k).fill(0);
    for (const v of truths) row[v] = 1;
    return row;
  });
  return Math.max(...PRIMES.map((prime) => [...adding(rows, prime)].filter((adds) => adds).length)) - 1;
}

/**
 * Report u has high[u] draws for the truths of its pattern, large[u], and low[u] for the others. The draws that are left
 * of a truth make one more report, unless none is left of any. To whoever reads it, a report is the set of its pattern.
 *
 * @type {Kind}
 */
export const kind = {
  reader: object({ kind: string, k: whole, large: list(string), low: list(whole), high: list(whole), bits: whole }),
  check: (fields, name) => {
    const { k, large, low, high, bits } = fields;
    const draws = drawsOf(bits, name);
    if (k < 2n || k > MOST_TRUTHS) refuse("wrong-cells", `${name}: patterns of ${k} truths`);
    if (large.length === 0 || large.length !== low.length || large.length !== high.length) {
      refuse("wrong-sum", `${name}: patterns and their weights are not as many`);
    }
    let before = 0n;
    for (const text of large) {
      const pattern = isHexadecimal(text, k) ? BigInt(`0x${text}`) : 0n;
      if (pattern <= before || pattern >= (1n << k) - 1n) refuse("wrong-cells", `${name}: no pattern, or out of order`);
      before = pattern;
    }
    if (low.some((/** @type {bigint} */ weight) => weight < 1n)) {
      refuse("zero-weight", `${name}: some report has no draw for some truth`);
    }
    if (high.some((/** @type {bigint} */ weight, /** @type {number} */ u) => weight <= low[u])) {
      refuse("tells-nothing", `${name}: some report comes alike, whatever the truth`);
    }
    const left = remainderOf(fields);
    if (high.some((/** @type {bigint} */ weight) => weight >= draws) || left.some((rest) => rest < 0n)) {
      refuse("wrong-sum", `${name}: the weights are more than ${draws} draws`);
    }
    if (left.some((rest) => rest > 0n) && left.some((rest) => rest === 0n)) {
      refuse("zero-weight", `${name}: the remainder has no draw for some truth`);
    }
    return k;
  },
  make: (fields) => {
    const [k, bits] = [Number(fields.k), Number(fields.bits)];
    /** @type {number[][]} */
    const patterns = fields.large.map(truthsOf);
    const left = remainderOf(fields);
    const isRest = left.some((rest) => rest > 0n);
    const ratios = fields.low.map((/** @type {bigint} */ low, /** @type {number} */ u) => ratio(fields.high[u], low));
    if (isRest) ratios.push(ratio(left.reduce(most), left.reduce(least)));
    const weights = Array.from({ length: k }, () => fields.low.map(Number));
    patterns.forEach((truths, u) => truths.forEach((v) => (weights[v][u] = Number(fields.high[u]))));
    weights.forEach((column, v) => column.push(Number(left[v])));
    /** @param {number} v @param {bigint[]} each Over the reports whose pattern holds a truth, as a share. */
    const holding = (v, each) =>
      patterns.reduce((sum, truths, u) => sum + (truths.includes(v) ? Number(each[u]) : 0), 0) / 2 ** bits;
    const every = weights.map((_, v) => v);
    return {
      inputs: k,
      reports: patterns.length + (isRest ? 1 : 0),
      ratio: ratios.reduce(larger),
      outcome: (truth, draw) => stretch(/** @type {number[]} */ (weights[truth]), draw(bits)),
      kept: Math.max(...every.map((v) => holding(v, fields.high))),
      held: {
        other: Math.min(...every.map((v) => holding(v, fields.low))),
        members: (report) => patterns[report] ?? [],
      },
      sums: () => sumsTold(patterns, k),
    };
  },
};
