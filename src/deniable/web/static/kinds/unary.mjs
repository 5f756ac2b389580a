// @ts-check
/** Every category is its own yes-or-no question, and the report is the set of yeses. */

import { checkShare, drawsOf, either, fitsOneNumber, maskOf, membersOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

/** @type {Kind} Every category by its own draw. */
export const kind = {
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
    };
  },
};
