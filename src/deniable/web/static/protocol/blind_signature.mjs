// @ts-check
/**
 * The device's half of blind RSA signatures, RFC 9474: RSABSSA-SHA384-PSS-Randomized.
 *
 * The same integers and bytes as deniable/device/protocol/blind_signature.py; both run the vectors of the RFC. Times may depend on the
 * numbers here: they are the device's own, drawn once, and nobody else can have them computed again.
 */

import { fromHex, join, toHex } from "./messages.mjs";

const DIGEST = 48; // bytes of SHA-384
export const SALT = 48;
export const PREFIX = 32;
const LEAST_BITS = 2048;
const MOST_BITS = 8192;

/** @typedef {{ n: bigint, e: bigint }} PublicKey */
/** @typedef {{ message: Uint8Array, inverse: bigint }} Blinded */

/**
 * Whether a device should use a key: long enough, and with the exponent that everybody uses.
 * @param {PublicKey} key
 * @returns {boolean}
 */
export function isSound(key) {
  const bits = bitLength(key.n);
  return LEAST_BITS <= bits && bits <= MOST_BITS && (key.n & 1n) === 1n && key.e === 65537n;
}

/**
 * Put random bytes before a message.
 * @param {Uint8Array} message
 * @returns {Uint8Array}
 */
export function prepare(message) {
  return join(random(PREFIX), message);
}

/**
 * Blind a prepared message. The salt and the inverse are given in tests only.
 * @param {PublicKey} key
 * @param {Uint8Array} message
 * @param {{ salt?: Uint8Array, inverse?: bigint }} [given]
 * @returns {Promise<Blinded>}
 */
export async function blind(key, message, given = {}) {
  const number = toNumber(await encode(message, key, given.salt ?? random(SALT)));
  const inverse = given.inverse ?? invert(below(key.n), key.n);
  const factor = invert(inverse, key.n);
  invert(number, key.n); // throws where the key shares a factor with it
  return { message: toBytes((number * power(factor, key.e, key.n)) % key.n, size(key)), inverse };
}

/**
 * Turn the signature of the blinded message into one of the message, and check it.
 * @param {PublicKey} key
 * @param {Uint8Array} message
 * @param {Uint8Array} signed
 * @param {bigint} inverse
 * @param {number} [salt]
 * @returns {Promise<Uint8Array>}
 */
export async function finalize(key, message, signed, inverse, salt = SALT) {
  const signature = toBytes((toNumber(signed) * inverse) % key.n, size(key));
  if (signed.length !== size(key) || !(await verify(key, message, signature, salt))) {
    throw new Error("the issuer's signature is not one of what it was sent");
  }
  return signature;
}

/**
 * Tell whether this is a signature of the prepared message: EMSA-PSS-VERIFY of RFC 8017.
 * @param {PublicKey} key
 * @param {Uint8Array} message
 * @param {Uint8Array} signature
 * @param {number} [salt]
 * @returns {Promise<boolean>}
 */
export async function verify(key, message, signature, salt = SALT) {
  const number = toNumber(signature);
  if (signature.length !== size(key) || number >= key.n) {
    return false;
  }
  const bits = bitLength(key.n) - 1;
  const found = power(number, key.e, key.n);
  if (bitLength(found) > bits) {
    return false;
  }
  // The salt stands in the encoded message; with it, there is one right encoding.
  const encoded = toBytes(found, Math.ceil(bits / 8));
  const length = encoded.length - DIGEST - 1;
  const mask = await stretch(encoded.slice(length, length + DIGEST), length);
  const block = encoded.slice(0, length).map((byte, index) => byte ^ (mask[index] ?? 0));
  const expected = await encode(message, key, block.slice(length - salt));
  return expected.length === encoded.length && expected.every((byte, index) => byte === encoded[index]);
}

/**
 * EMSA-PSS-ENCODE of RFC 8017 with SHA-384, for n's length less one bit.
 * @param {Uint8Array} message
 * @param {PublicKey} key
 * @param {Uint8Array} salt
 * @returns {Promise<Uint8Array>}
 */
export async function encode(message, key, salt) {
  const bits = bitLength(key.n) - 1;
  const whole = Math.ceil(bits / 8);
  const digest = await hash(join(new Uint8Array(8), await hash(message), salt));
  const block = new Uint8Array(whole - DIGEST - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  const mask = await stretch(digest, block.length);
  block.forEach((byte, index) => (block[index] = byte ^ (mask[index] ?? 0)));
  block[0] = (block[0] ?? 0) & (0xff >> (8 * whole - bits));
  return join(block, digest, Uint8Array.of(0xbc));
}

/**
 * MGF1.
 * @param {Uint8Array} seed
 * @param {number} length
 * @returns {Promise<Uint8Array>}
 */
async function stretch(seed, length) {
  const parts = [];
  for (let count = 0; count * DIGEST < length; count += 1) {
    parts.push(await hash(join(seed, toBytes(BigInt(count), 4))));
  }
  return join(...parts).slice(0, length);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
async function hash(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", /** @type {BufferSource} */ (bytes)));
}

// -- numbers ----------------------------------------------------------------------------------------------------------

/**
 * @param {bigint} base
 * @param {bigint} exponent
 * @param {bigint} modulus
 * @returns {bigint}
 */
function power(base, exponent, modulus) {
  let result = 1n;
  for (let square = base % modulus, left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) {
      result = (result * square) % modulus;
    }
    square = (square * square) % modulus;
  }
  return result;
}

/**
 * The number that makes 1 of another; throws where there is none.
 * @param {bigint} number
 * @param {bigint} modulus
 * @returns {bigint}
 */
function invert(number, modulus) {
  let [before, after] = [modulus, number % modulus];
  let [x, y] = [0n, 1n];
  while (after > 0n) {
    const times = before / after;
    [before, after] = [after, before - times * after];
    [x, y] = [y, x - times * y];
  }
  if (before !== 1n) {
    throw new Error("the issuer's key is broken: it shares a factor with a random number");
  }
  return ((x % modulus) + modulus) % modulus;
}

/**
 * A random number from 1 to n - 1, each as likely.
 * @param {bigint} n
 * @returns {bigint}
 */
function below(n) {
  const bytes = Math.ceil(bitLength(n) / 8);
  for (;;) {
    const drawn = toNumber(random(bytes)) & ((1n << BigInt(bitLength(n))) - 1n);
    if (0n < drawn && drawn < n) {
      return drawn;
    }
  }
}

/**
 * @param {number} length
 * @returns {Uint8Array}
 */
function random(length) {
  return crypto.getRandomValues(new Uint8Array(length));
}

/**
 * @param {bigint} n
 * @returns {number}
 */
function bitLength(n) {
  return n === 0n ? 0 : n.toString(2).length;
}

/**
 * @param {PublicKey} key
 * @returns {number}
 */
function size(key) {
  return Math.ceil(bitLength(key.n) / 8);
}

/**
 * @param {Uint8Array} bytes
 * @returns {bigint}
 */
export function toNumber(bytes) {
  return bytes.length === 0 ? 0n : BigInt("0x" + toHex(bytes));
}

/**
 * @param {bigint} number
 * @param {number} length
 * @returns {Uint8Array}
 */
export function toBytes(number, length) {
  return fromHex(number.toString(16).padStart(2 * length, "0"));
}
