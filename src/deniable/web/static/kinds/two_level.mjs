// @ts-check
/** A set that is kept for good, and sent with every bit turned over anew with some chance. */

import { holds, maskOf, membersOf } from "../integers.mjs";
import { object, refuse, string } from "../messages.mjs";
import { mostlyTrue, part } from "./krr.mjs";
import { kind as subset } from "./subset.mjs";
import { kind as unary } from "./unary.mjs";

/** @typedef {import("../messages.mjs").Anything} Anything */
/** @typedef {import("../channels.mjs").Kind} Kind */
/** @typedef {import("../channels.mjs").Draw} Draw */

const LEAST_TURNED = 150; // one bit in so many is turned over, at least, each time a kept set is sent

/** @type {Record<string, Kind>} */
const KEPT = { unary, subset };

/** @param {Anything} kind @param {string} path @returns {Kind} */
function keptKind(kind, path) {
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const found = Object.hasOwn(KEPT, kind) ? KEPT[kind] : undefined;
  return found ?? refuse("unknown-channel", `${path} is ${kind}, which is not kept and sent again`);
}

/** @type {Kind} A set that is kept for good, and sent with every bit turned over anew with some chance. */
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
      levels: { first, resend },
      isPseudonym: other * LEAST_TURNED < 2 ** bits,
    };
  },
};
