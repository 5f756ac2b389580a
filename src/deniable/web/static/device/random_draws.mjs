// @ts-check
/** The only door to random bits, but for those of blind.mjs. */

import { toHex } from "../protocol/messages.mjs";

/** @param {number} length */
export const bytes = (length) => crypto.getRandomValues(new Uint8Array(length));

/** @param {16 | 32 | number} bits A uniform draw from the operating system. */
export const draw = (bits) => crypto.getRandomValues(bits === 16 ? new Uint16Array(1) : new Uint32Array(1))[0] ?? 0;

/**
 * A uniform number below n; draws beyond the last multiple of n are drawn again.
 *
 * @param {number} n @param {(bits: number) => number} source
 */
export function below(n, source = draw) {
  const end = 2 ** 32 - (2 ** 32 % n);
  let found = source(32);
  while (found >= end) found = source(32);
  return found % n;
}

export const newId = () => toHex(bytes(32));

/** @returns {1 | -1} a fair coin */
export const toss = () => ((bytes(1)[0] ?? 0) & 1 ? -1 : 1);
