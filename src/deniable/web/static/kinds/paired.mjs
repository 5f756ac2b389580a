// @ts-check
/** A yes-or-no answer of one of two respondents who share a coin. */

import { ratio } from "../device/epsilon.mjs";
import { drawsOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

/** @type {Kind} Charged as against whoever knows the coin: the partner, or a server that is not honest. */
export const kind = {
  reader: object({ kind: string, truthful: whole, shift: whole, bits: whole }),
  check: ({ truthful, shift, bits }, name) => {
    const lies = drawsOf(bits, name) - truthful;
    if (shift < 0n || lies < shift) refuse("wrong-sum", `${name}: the coin moves more than there is`);
    if (lies === shift) refuse("zero-weight", `${name}: who knows the coin would know some answers`);
    if (truthful <= lies) refuse("tells-nothing", `${name}: at least half of the answers would be lies`);
    return 2n;
  },
  make: (fields) => {
    const [truthful, shift, bits] = [Number(fields.truthful), Number(fields.shift), Number(fields.bits)];
    const known = fields.truthful + fields.shift;
    return {
      inputs: 2,
      ratio: ratio(known, (1n << fields.bits) - known),
      outcome: (truth, draw, side) => {
        if (side !== 1 && side !== -1) return refuse("malformed", "a coin shows 1 or -1");
        return draw(bits) < truthful + side * shift ? truth : 1 - truth;
      },
      kept: truthful / 2 ** bits,
      coins: { truthful: fields.truthful, shift: fields.shift, bits: fields.bits },
    };
  },
};
