// @ts-check
/** A mixture whose integers are published block by block, within limits. */

import { ratio } from "../device/epsilon.mjs";
import { drawsOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

/** @type {Kind} The worst mixture that a block may publish; a block says which it is. */
export const kind = {
  reader: object({ kind: string, cells: whole, most_kept: whole, least_fake: whole, bits: whole }),
  check: ({ cells, most_kept: keep, least_fake: floor, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (bits !== 32n) refuse("wrong-bits", `${name}: blocks draw 32 bits`);
    if (keep < 1n || floor < 1n) refuse("zero-weight", `${name}: some report has no draw`);
    if (keep + cells * floor > draws) refuse("wrong-sum", `${name}: its limits ask for more than ${draws} draws`);
    return cells;
  },
  make: (fields) => {
    const limits = { cells: Number(fields.cells), keep: fields.most_kept, floor: fields.least_fake };
    return {
      inputs: limits.cells,
      ratio: ratio(limits.keep + limits.floor, limits.floor),
      outcome: () => refuse("malformed", "these answers are disguised by a block's integers"),
      kept: Number(limits.keep) / 2 ** 32,
      limits,
    };
  },
};
