// @ts-check
/** A column of a Hadamard matrix that the truth's row likes, more often than another. */

import { ratio } from "../device/epsilon.mjs";
import { drawsOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

const MOST_LIKED = 2n ** 20n - 1n; // categories of a Hadamard matrix

/** @param {number} n Whether the number of binary ones is odd. */
function isOdd(n) {
  let odd = false;
  for (let left = n; left; left &= left - 1) odd = !odd;
  return odd;
}

/**
 * A column of a Hadamard matrix: one that the truth's row likes, more often than another. Half of the columns are liked,
 * whatever the row, so to whoever reads it a report is the set of rows that like it.
 *
 * @type {Kind}
 */
export const kind = {
  reader: object({ kind: string, k: whole, other: whole, bits: whole }),
  check: ({ k, other, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (k < 2n || k > MOST_LIKED) refuse("wrong-cells", `${name}: a Hadamard matrix for ${k} truths`);
    const both = (2n * draws) / columnsOf(k);
    if (other < 1n || other === both) refuse("zero-weight", `${name}: some report has no draw for some truth`);
    if (other > both) refuse("wrong-sum", `${name}: more draws for one column than for two`);
    if (2n * other >= both) refuse("tells-nothing", `${name}: liked columns come no more often than others`);
    return k;
  },
  make: (fields) => {
    const [k, other, bits] = [Number(fields.k), Number(fields.other), Number(fields.bits)];
    const both = 2 ** (bits + 1) / Number(columnsOf(fields.k));
    return {
      inputs: k,
      reports: Number(columnsOf(fields.k)),
      ratio: ratio(BigInt(both) - fields.other, fields.other),
      outcome: (truth, draw) => {
        const drawn = draw(bits);
        const [row, slot] = [truth + 1, Math.floor(drawn / both)];
        const digit = row & -row;
        // The slot-th pair of columns, which differ in the row's lowest digit: one is liked, the other is not.
        const column = ((slot & -digit) << 1) | (slot & (digit - 1));
        return isOdd(column & row) === drawn % both < both - other ? column | digit : column;
      },
      kept: (both - other) / both,
      held: {
        other: 0.5,
        members: (report) => Array.from({ length: k }, (_, v) => v).filter((v) => !isOdd((v + 1) & report)),
      },
    };
  },
};

/** @param {bigint} k The next power of two above a number of categories. */
const columnsOf = (k) => 1n << BigInt(k.toString(2).length);
