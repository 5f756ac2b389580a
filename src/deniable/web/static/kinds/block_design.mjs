// @ts-check
/** A line of an affine plane: one that runs through the truth's point, more often than by chance. */

import { below } from "../chance.mjs";
import { checkShare, drawsOf, either } from "../integers.mjs";
import { object, refuse, string, whole } from "../messages.mjs";

/** @typedef {import("../channels.mjs").Kind} Kind */

const ORDERS = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]; // primes

/** @param {bigint} k The order of the plane with so many points, if there is one. */
const orderOf = (k) => ORDERS.find((q) => BigInt(q * q) === k);

/**
 * Categories are the points (x, y) modulo the prime q, numbered x q + y. Line i q + c holds the points with y = i x + c
 * where i < q, and those with x = c where i = q. To whoever reads it, a report is the set of points on its line.
 *
 * @type {Kind}
 */
export const kind = {
  reader: object({ kind: string, k: whole, own: whole, bits: whole }),
  check: ({ k, own, bits }, name) => {
    const draws = drawsOf(bits, name);
    const q = orderOf(k) ?? refuse("wrong-cells", `${name}: a plane of ${k} points; it has the square of a prime`);
    checkShare(own, draws, name);
    if (own * BigInt(q) === draws) refuse("tells-nothing", `${name}: every line comes alike, whatever the truth`);
    return k;
  },
  make: (fields) => {
    const [k, own, bits] = [Number(fields.k), Number(fields.own), Number(fields.bits)];
    const q = Math.round(Math.sqrt(k));
    /** @param {number} v @param {number} direction */
    const through = (v, direction) => {
      const [x, y] = [Math.floor(v / q), v % q];
      return direction === q ? x : (y + (q - direction) * x) % q;
    };
    const kept = own / 2 ** bits;
    return {
      inputs: k,
      reports: k + q,
      ratio: either(fields.own * BigInt(q - 1), (1n << fields.bits) - fields.own),
      outcome: (truth, draw) => {
        const isKept = draw(bits) < own;
        const even = below((q + 1) * (k - 1), draw);
        const beside = even % (k - 1);
        const direction = isKept ? even % (q + 1) : Math.floor(beside / (q - 1));
        const aside = isKept ? 0 : 1 + (beside % (q - 1));
        return direction * q + ((through(truth, direction) + aside) % q);
      },
      kept,
      held: {
        other: (kept * (q - 1) + (1 - kept) * q) / (k - 1),
        members: (report) => {
          const direction = Math.floor(report / q);
          return Array.from({ length: k }, (_, v) => v).filter((v) => through(v, direction) === report % q);
        },
      },
    };
  },
};
