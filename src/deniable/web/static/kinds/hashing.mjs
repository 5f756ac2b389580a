// @ts-check
/** A random hash function of the categories, and the disguised hash value of the truth. */

import { below } from "../device/random_draws.mjs";
import { between, object, refuse, string, whole } from "../protocol/messages.mjs";
import { kind as krr, mostlyTrue, part } from "./krr.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

const PRIME = 65537;
const MOST_VALUES = 31n; // of a hash: functions and values then fit 53 bits; more take a smaller prime, which is written

/** @param {number} n */
const isPrime = (n) => {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return n >= 2;
};

/** @type {Kind} A hash function A + B v + C v^2 modulo a prime, cut into g parts, and the disguised part of the truth. */
export const kind = {
  reader: object({ kind: string, k: whole, value: part, prime: between(2n, 1n << 32n) }, { prime: undefined }),
  check: ({ k, value, prime }, name) => {
    const values = mostlyTrue(value, name);
    if (k < 2n || k > (prime || BigInt(PRIME)) || values <= MOST_VALUES !== (prime === undefined)) {
      refuse("wrong-cells", `${name}: ${k} categories hashed to ${values} values`);
    }
    if (prime && (prime > BigInt(PRIME) || !isPrime(Number(prime)) || prime ** 3n * values > 1n << 53n)) {
      refuse("wrong-cells", `${name}: functions modulo ${prime} and values do not fit one number`);
    }
    return k;
  },
  make: (fields) => {
    const [k, g, value] = [Number(fields.k), Number(fields.value.k), krr.make(fields.value)];
    const prime = Number(fields.prime) || PRIME;
    /** @param {number} a @param {number} b @param {number} c @param {number} v */
    const hashed = (a, b, c, v) => Math.floor((((a + (b + ((c * v) % prime)) * v) % prime) * g) / prime);
    const sizes = Array.from({ length: g }, (_, y) => Math.ceil(((y + 1) * prime) / g) - Math.ceil((y * prime) / g));
    const met = sizes.reduce((sum, size) => sum + (size / prime) ** 2, 0); // two categories have the same hash
    return {
      inputs: k,
      ratio: value.ratio,
      outcome: (truth, draw) => {
        const [a, b, c] = [below(prime, draw), below(prime, draw), below(prime, draw)];
        return ((a * prime + b) * prime + c) * g + value.outcome(hashed(a, b, c, truth), draw);
      },
      kept: value.kept,
      held: {
        other: value.kept * met + ((1 - value.kept) * (1 - met)) / (g - 1),
        members: (report) => {
          const y = report % g;
          const c = ((report - y) / g) % prime;
          const rest = ((report - y) / g - c) / prime;
          const b = rest % prime;
          const a = (rest - b) / prime;
          return Array.from({ length: k }, (_, v) => v).filter((v) => hashed(a, b, c, v) === y);
        },
      },
    };
  },
};
