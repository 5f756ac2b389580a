// @ts-check
/**
 * Channels whose report is a set of categories, in which the truth is more likely to be than any other. A set of up to
 * 53 categories is one number, the sum of 2^v over its members: all of them are exact, and none goes through a 32-bit
 * operator.
 */

import { drawsOf, krr } from "./categories.mjs";
import { below } from "./chance.mjs";
import { larger, ratio } from "./exact.mjs";
import { object, refuse, string, whole } from "./messages.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("./messages.mjs").Reader} Reader */
/** @typedef {import("./exact.mjs").Ratio} Ratio */
/** @typedef {import("./channels.mjs").Draw} Draw */
/** @typedef {import("./channels.mjs").Kind} Kind */

const MOST_MEMBERS = 53n;
const PRIME = 65537;
const LEAST_TURNED = 150; // one bit in so many is turned over, at least, each time a kept set is sent
const MOST_VALUES = 31n; // of a hash: functions and values then fit 53 bits

/** @param {bigint} k @param {string} name */
function fitsOneNumber(k, name) {
  if (k < 2n || k > MOST_MEMBERS) refuse("wrong-cells", `${name}: sets of ${k} categories`);
}

/** @param {bigint} weight @param {bigint} draws @param {string} name A number of draws that is not none and not all. */
function checkShare(weight, draws, name) {
  if (weight < 1n || weight === draws) refuse("zero-weight", `${name}: some report has no draw for some truth`);
  if (weight > draws) refuse("wrong-sum", `${name}: ${weight} draws are more than there are`);
}

/** @param {bigint} a @param {bigint} b @returns {Ratio} Odds, or their inverse. */
const either = (a, b) => larger(ratio(a, b), ratio(b, a));

/** @param {number} k @param {(v: number) => boolean} isMember The set as a number. */
function maskOf(k, isMember) {
  let mask = 0;
  for (let v = 0; v < k; v += 1) if (isMember(v)) mask += 2 ** v;
  return mask;
}

/** @param {number} mask @param {number} v */
const holds = (mask, v) => Math.floor(mask / 2 ** v) % 2 === 1;

/** @param {number} k @returns {(mask: number) => number[]} */
const membersOf = (k) => (mask) => Array.from({ length: k }, (_, v) => v).filter((v) => holds(mask, v));

/** @type {Kind} Every category by its own draw. */
const unary = {
  reader: object({ kind: string, k: whole, own: whole, other: whole, bits: whole }),
  check: ({ k, own, other, bits }, name) => {
    const draws = drawsOf(bits, name);
    fitsOneNumber(k, name);
    checkShare(own, draws, name);
    checkShare(other, draws, name);
    if (own === other) refuse("tells-nothing", `${name}: every category is in the set alike`);
    return k;
  },
  make: (fields) => {
    const [k, own, other, bits] = [Number(fields.k), Number(fields.own), Number(fields.other), Number(fields.bits)];
    const draws = 1n << fields.bits;
    return {
      inputs: k,
      ratio: either(fields.own * (draws - fields.other), fields.other * (draws - fields.own)),
      outcome: (truth, draw) => maskOf(k, (v) => draw(bits) < (v === truth ? own : other)),
      kept: own / 2 ** bits,
      held: { other: other / 2 ** bits, members: membersOf(k) },
      isPseudonym: true,
    };
  },
};

/** @typedef {{k: bigint, d: bigint, own: bigint, bits: bigint}} SubsetFields */

/** @type {Kind} d of k categories. */
const subset = {
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
      isPseudonym: true,
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

/** @type {Reader} k-RR as a part of another channel. */
const part = object(
  {
    kind: (value, path) => {
      if (string(value, path) !== "krr") refuse("unknown-channel", `${path} is ${value}, not krr`);
      return value;
    },
    k: whole,
    other: whole,
    bits: whole,
  },
  { kind: "krr" },
);

/** @param {Anything} fields @param {string} name k-RR that keeps what it is given more often than anything else. */
function mostlyTrue(fields, name) {
  const k = krr.check(fields, name);
  if (k * fields.other > 1n << fields.bits) refuse("tells-nothing", `${name}: what is kept comes less often`);
  return k;
}

/** @type {Kind} A hash function A + B v + C v^2 modulo a prime, cut into g parts, and the disguised part of the truth. */
const hashing = {
  reader: object({ kind: string, k: whole, value: part }),
  check: ({ k, value }, name) => {
    const values = mostlyTrue(value, name);
    if (k < 2n || k > BigInt(PRIME) || values > MOST_VALUES) {
      refuse("wrong-cells", `${name}: ${k} categories hashed to ${values} values`);
    }
    return k;
  },
  make: (fields) => {
    const [k, g, value] = [Number(fields.k), Number(fields.value.k), krr.make(fields.value)];
    /** @param {number} a @param {number} b @param {number} c @param {number} v */
    const hashed = (a, b, c, v) => Math.floor((((a + (b + ((c * v) % PRIME)) * v) % PRIME) * g) / PRIME);
    const sizes = Array.from({ length: g }, (_, y) => Math.ceil(((y + 1) * PRIME) / g) - Math.ceil((y * PRIME) / g));
    const met = sizes.reduce((sum, size) => sum + (size / PRIME) ** 2, 0); // two categories have the same hash
    return {
      inputs: k,
      ratio: value.ratio,
      outcome: (truth, draw) => {
        const [a, b, c] = [below(PRIME, draw), below(PRIME, draw), below(PRIME, draw)];
        return ((a * PRIME + b) * PRIME + c) * g + value.outcome(hashed(a, b, c, truth), draw);
      },
      kept: value.kept,
      held: {
        other: value.kept * met + ((1 - value.kept) * (1 - met)) / (g - 1),
        members: (report) => {
          const y = report % g;
          const c = ((report - y) / g) % PRIME;
          const rest = ((report - y) / g - c) / PRIME;
          const b = rest % PRIME;
          const a = (rest - b) / PRIME;
          return Array.from({ length: k }, (_, v) => v).filter((v) => hashed(a, b, c, v) === y);
        },
      },
      isPseudonym: true,
    };
  },
};

/** @type {Record<string, Kind>} */
const KEPT = { unary, subset };

/** @param {Anything} kind @param {string} path @returns {Kind} */
function keptKind(kind, path) {
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const found = Object.hasOwn(KEPT, kind) ? KEPT[kind] : undefined;
  return found ?? refuse("unknown-channel", `${path} is ${kind}, which is not kept and sent again`);
}

/** @type {Kind} A set that is kept for good, and sent with every bit turned over anew with some chance. */
const twoLevel = {
  reader: object({
    kind: string,
    first: (value, path) => keptKind(value instanceof Map ? value.get("kind") : undefined, path).reader(value, path),
    again: part,
  }),
  check: ({ first, again }, name) => {
    const k = keptKind(first.kind, name).check(first, name);
    if (mostlyTrue(again, name) !== 2n) refuse("wrong-cells", `${name}: a bit of a set has two values`);
    return k;
  },
  make: (fields) => {
    const first = keptKind(fields.first.kind, "first").make(fields.first);
    const [other, bits] = [Number(fields.again.other), Number(fields.again.bits)];
    const turned = other / 2 ** bits;
    /** @param {number} kept @param {Draw} draw */
    const resend = (kept, draw) => maskOf(first.inputs, (v) => holds(kept, v) !== draw(bits) < other);
    /** @param {number} share */
    const after = (share) => turned + (1 - 2 * turned) * share;
    return {
      inputs: first.inputs,
      ratio: first.ratio,
      outcome: (truth, draw) => resend(first.outcome(truth, draw), draw),
      kept: after(first.kept),
      held: { other: after(first.held?.other ?? 0), members: membersOf(first.inputs) },
      levels: { first, resend },
      isPseudonym: other * LEAST_TURNED < 2 ** bits,
    };
  },
};

/** @type {Record<string, Kind>} */
export const SETS = { unary, subset, hashing, two_level: twoLevel };
