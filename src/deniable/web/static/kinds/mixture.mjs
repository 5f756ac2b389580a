// @ts-check
/** The truth, or a fake drawn from a distribution of fakes. */

import { least, ratio } from "../device/epsilon.mjs";
import { checkColumn, drawsOf, stretch } from "../channels/channel_kind.mjs";
import { list, object, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

/** @type {Kind} `keep` draws keep the truth, the others lead to fakes. */
export const kind = {
  reader: object({ kind: string, keep: whole, fakes: list(whole), bits: whole }),
  check: ({ keep, fakes, bits }, name) => {
    checkColumn([keep, ...fakes], drawsOf(bits, name), name);
    return BigInt(fakes.length);
  },
  make: (fields) => {
    const rarest = fields.fakes.reduce(least);
    const fakes = fields.fakes.map(Number);
    const [keep, bits] = [Number(fields.keep), Number(fields.bits)];
    return {
      inputs: fakes.length,
      reports: fakes.length,
      ratio: ratio(fields.keep + rarest, rarest),
      outcome: (truth, draw) => {
        const drawn = draw(bits);
        return drawn < keep ? truth : stretch(fakes, drawn - keep);
      },
      kept: (keep + fakes.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 0)) / 2 ** bits,
    };
  },
};
