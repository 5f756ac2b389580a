// @ts-check
/** d of the k categories, the truth among them more often than by chance. */

import { below } from "../device/random_draws.mjs";
import { checkShare, drawsOf, either, fitsOneNumber, maskOf, membersOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */
/** @typedef {import("../channels/registry.mjs").Draw} Draw */

/** @typedef {{k: bigint, d: bigint, own: bigint, bits: bigint}} SubsetFields */

/** @type {Kind} d of k categories. */
export const kind = {
  reader: object({ kind: string, k: whole, d: whole, own: whole, bits: whole }),
  check: (/** @type {SubsetFields} */ { k, d, own, bits }, name) => {
    const draws = drawsOf(bits, name);
    fitsOneNumber(k, name);
    if (d < 1n || d >= k) refuse("wrong-cells", `${name}: sets of ${d} out of ${k} categories`);
    checkShare(own, draws, name);
    if (own * k === d * draws) refuse("tells-nothing", `${name}: every category is in the set alike`);
    return k;
  },
  make: (/** @type {SubsetFields} */ fields) => {
    const [k, d, own, bits] = [Number(fields.k), Number(fields.d), Number(fields.own), Number(fields.bits)];
    const kept = own / 2 ** bits;
    return {
      inputs: k,
      ratio: either(fields.own * (fields.k - fields.d), ((1n << fields.bits) - fields.own) * fields.d),
      outcome: (truth, draw) => {
        const isKept = draw(bits) < own;
        const others = floyd(k - 1, d, isKept, draw);
        // The others are numbered past the truth.
        return maskOf(k, (v) => (v === truth ? isKept : others.has(v < truth ? v : v - 1)));
      },
      kept,
      held: { other: (kept * (d - 1) + (1 - kept) * d) / (k - 1), members: membersOf(k) },
    };
  },
};

/**
 * Floyd's way to d of m numbers: for j = m - d to m - 1 draw one up to j, and take it, or j if it is in already. Without
 * its first round it takes d - 1; that round is drawn all the same, so that everybody takes the same steps.
 *
 * @param {number} m @param {number} d @param {boolean} oneLess @param {Draw} draw
 */
function floyd(m, d, oneLess, draw) {
  /** @type {Set<number>} */
  const found = new Set();
  for (let j = m - d; j < m; j += 1) {
    const drawn = below(j + 1, draw);
    if (!(oneLess && j === m - d)) found.add(found.has(drawn) ? j : drawn);
  }
  return found;
}
