// @ts-check
/** A random hash function of the categories, and the disguised hash value of the truth. */

import { below } from "../chance.mjs";
import { object, refuse, string, whole } from "../messages.mjs";
import { kind as krr, mostlyTrue, part } from "./krr.mjs";

/** @typedef {import("../channels.mjs").Kind} Kind */

const PRIME = 65537;
const MOST_VALUES = 31n; // of a hash: functions and values then fit 53 bits

/** @type {Kind} A hash function A + B v + C v^2 modulo a prime, cut into g parts, and the disguised part of the truth. */
export const kind = {
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
