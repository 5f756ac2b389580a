// @ts-check
/** A hyperplane of a finite geometry: one that runs through the truth's point, more often than by chance. */

import { below } from "../device/random_draws.mjs";
import { isField, less, times } from "../channels/finite_field.mjs";
import { checkShare, drawsOf, either } from "../channels/channel_kind.mjs";
import { between, object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

const PLANES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]; // primes
const MOST_POINTS = 2 ** 22;

/** @param {number} k @param {number} q The dimension of the least space, from planes on, that has k points. */
function dimension(k, q) {
  let found = 2;
  while (q ** found < k) found += 1;
  return found;
}

/** @param {number} k @param {number} q Whether k points of a space over q elements are written with the order. */
const isSpace = (k, q) =>
  k >= 3 && k <= MOST_POINTS && isField(q) && q ** dimension(k, q) <= MOST_POINTS && !(PLANES.includes(q) && q * q === k);

/**
 * Categories are the first k points of the space over the field with q elements, numbered by their coordinates as digits,
 * the first the most significant. Hyperplane i q + c holds the points for which direction i gives c. Without an order, q
 * is a prime and k its square. To whoever reads it, a report is the set of points on its hyperplane.
 *
 * @type {Kind}
 */
export const kind = {
  reader: object({ kind: string, k: whole, own: whole, bits: whole, order: between(2n, 1n << 32n) }, { order: undefined }),
  check: ({ k, own, bits, order }, name) => {
    const draws = drawsOf(bits, name);
    const q = order ? Number(order) : (PLANES.find((each) => BigInt(each * each) === k) ?? 0);
    if (order ? !isSpace(Number(k), q) : q === 0) refuse("wrong-cells", `${name}: ${k} points of a space`);
    checkShare(own, draws, name);
    if (own * BigInt(q) === draws) refuse("tells-nothing", `${name}: every line comes alike, whatever the truth`);
    return k;
  },
  make: (fields) => {
    const [k, own, bits] = [Number(fields.k), Number(fields.own), Number(fields.bits)];
    const isPlane = fields.order === undefined;
    const q = isPlane ? Math.round(Math.sqrt(k)) : Number(fields.order);
    const axes = dimension(k, q);
    const directions = (q ** axes - 1) / (q - 1);
    const others = directions * (q - 1);
    /** @param {number} v @param {number} direction */
    const through = (v, direction) => {
      let [at, point, rest] = [axes - 1, v, direction];
      while (rest >= q ** at) {
        rest -= q ** at;
        point = Math.floor(point / q);
        at -= 1;
      }
      let found = point % q;
      for (; at > 0; at -= 1) {
        point = Math.floor(point / q);
        found = less(found, times(rest % q, point % q, q), q);
        rest = Math.floor(rest / q);
      }
      return found;
    };
    const kept = own / 2 ** bits;
    const shared = (q ** (axes - 1) - 1) / (q - 1); // hyperplanes through two points
    return {
      inputs: k,
      reports: q * directions,
      ratio: either(fields.own * BigInt(q - 1), (1n << fields.bits) - fields.own),
      outcome: (truth, draw) => {
        const isKept = draw(bits) < own;
        const even = below(isPlane ? (q + 1) * others : others, draw);
        const beside = even % others;
        const direction = isPlane && isKept ? even % (q + 1) : Math.floor(beside / (q - 1));
        const aside = isKept ? 0 : 1 + (beside % (q - 1));
        return direction * q + ((through(truth, direction) + aside) % q);
      },
      kept,
      held: {
        other: (kept * shared + ((1 - kept) * (directions - shared)) / (q - 1)) / directions,
        members: (report) => {
          const direction = Math.floor(report / q);
          return Array.from({ length: k }, (_, v) => v).filter((v) => through(v, direction) === report % q);
        },
      },
    };
  },
};
