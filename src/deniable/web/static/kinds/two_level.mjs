// @ts-check
/** A set that a panel keeps, and sends with every bit turned over anew with some chance. */

import { ratio } from "../device/epsilon.mjs";
import { holds, maskOf, membersOf } from "../channels/channel_kind.mjs";
import { object, refuse, string } from "../protocol/messages.mjs";
import { mostlyTrue, part } from "./krr.mjs";
import { kind as subset } from "./subset.mjs";
import { kind as unary } from "./unary.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("../device/epsilon.mjs").Ratio} Ratio */
/** @typedef {import("../channels/registry.mjs").Kind} Kind */
/** @typedef {import("../channels/registry.mjs").Draw} Draw */

/** @type {Record<string, Kind>} */
const KEPT = { unary, subset };

/** @param {Anything} kind @param {string} path @returns {Kind} */
function keptKind(kind, path) {
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const found = Object.hasOwn(KEPT, kind) ? KEPT[kind] : undefined;
  return found ?? refuse("unknown-channel", `${path} is ${kind}, which is not kept and sent again`);
}

/**
 * Of a set of s, the likeliest kept one of d turns |s - d| bits over; of any size, none.
 *
 * @param {{first: {k: bigint, d?: bigint}, again: {other: bigint, bits: bigint}}} fields @returns {Ratio}
 */
function singledOut({ first, again: { other, bits } }) {
  const keep = (1n << bits) - other;
  let [ways, sum] = [1n, 0n];
  for (let s = 0n; s <= first.k; s += 1n) {
    const turned = first.d === undefined ? 0n : s > first.d ? s - first.d : first.d - s;
    sum += ways * keep ** (first.k - turned) * other ** turned;
    ways = (ways * (first.k - s)) / (s + 1n);
  }
  return ratio(sum, 1n << (first.k * bits));
}

/** @type {Kind} A set that a panel keeps, and sends with every bit turned over anew with some chance. */
export const kind = {
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
      levels: { first, resend, singledOut: singledOut(fields) },
    };
  },
};
