// @ts-check
/** k-ary randomized response: the truth, or any other category, each of the others alike. */

import { larger, ratio } from "../device/epsilon.mjs";
import { drawsOf } from "../channels/channel_kind.mjs";
import { object, refuse, string, whole } from "../protocol/messages.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("../channels/registry.mjs").Kind} Kind */
/** @typedef {import("../protocol/messages.mjs").Reader} Reader */

/** @type {Kind} `other` draws lead to each other answer. */
export const kind = {
  reader: object({ kind: string, k: whole, other: whole, bits: whole }),
  check: ({ k, other, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (k < 2n) refuse("wrong-cells", `${name} has a channel with ${k} truths`);
    const keep = draws - (k - 1n) * other;
    if (other < 1n || keep === 0n) refuse("zero-weight", `${name}: some report has no draw for some truth`);
    if (keep < 0n) refuse("wrong-sum", `${name}: more draws for the other answers than there are`);
    if (keep === other) refuse("tells-nothing", `${name}: every answer is reported alike`);
    return k;
  },
  make: (fields) => {
    const [k, other, bits] = [Number(fields.k), Number(fields.other), Number(fields.bits)];
    const keep = 2 ** bits - (k - 1) * other;
    return {
      inputs: k,
      reports: k,
      ratio: larger(ratio(BigInt(keep), fields.other), ratio(fields.other, BigInt(keep))),
      outcome: (truth, draw) => (truth + 1 + Math.min(Math.floor(draw(bits) / other), k - 1)) % k,
      kept: keep / 2 ** bits,
    };
  },
};

/** @type {Reader} k-RR as a part of another channel. */
export const part = object(
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
export function mostlyTrue(fields, name) {
  const k = kind.check(fields, name);
  if (k * fields.other > 1n << fields.bits) refuse("tells-nothing", `${name}: what is kept comes less often`);
  return k;
}
