// @ts-check
/**
 * Pairs: two devices find each other through the server and share a coin that an honest server does not see.
 *
 * A key is made for one pair and thrown away. Whoever finds no partner in time tosses the coin alone, which is plain
 * randomized response. A server that is not honest can be a partner itself, so the design is charged as if whoever
 * asks knew the coin, and `statement` says how much that is.
 */

import { toss } from "../device/random_draws.mjs";
import { compose, epsilonOf, fits, larger, ratio } from "../device/epsilon.mjs";
import { canonical, decode, fromHex, hash, join, object, one, optional, such, toHex, utf8 } from "./messages.mjs";
import { pause } from "./http_transport.mjs";

/** @typedef {import("../device/epsilon.mjs").Ratio} Ratio */
/** @typedef {import("../channels/registry.mjs").Coins} Coins */
/** @typedef {import("../device/verify.mjs").Design} Design */
/** @typedef {import("./http_transport.mjs").Collector} Collector */

const MOST_BYTES = 1 << 20;
const LONGEST_SEARCH = 60; // seconds for a partner, whatever the collector says
const PAUSE = 0.5; // seconds between two questions for one
const X25519 = { name: "X25519" };
const seconds = such((value) => typeof value === "bigint" && value >= 0n && value < 1n << 32n);
const found = object({ version: one, partner: optional(hash), wait: seconds });

/** Whether this browser can agree on a coin at all. */
export const isSupported = () => makeKeys().then(
  () => true,
  () => false,
);

/** @returns {Promise<CryptoKeyPair>} */
const makeKeys = async () =>
  /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(X25519, false, ["deriveBits"]));

/** A device's half: one key, used for one pair. */
export class Seeker {
  /** @param {Design} design @param {CryptoKey} secret @param {string} key the public one, in hexadecimal */
  constructor(design, secret, key) {
    this.design = design;
    this.secret = secret;
    this.key = key;
  }

  /** @param {Design} design */
  static async make(design) {
    const { privateKey, publicKey } = await makeKeys();
    const key = toHex(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)));
    return new Seeker(design, privateKey, key);
  }

  /** @param {string | null} partner For every question, which way the coin points for this device: 1 or -1. */
  async sides(partner) {
    const alone = () => this.design.questions.map(toss);
    if (partner === null || partner === this.key) return alone();
    let shared;
    try {
      shared = await this.shared(partner);
    } catch {
      return alone(); // a key that shares the same secret with everybody: nobody to share a coin with
    }
    const side = this.key < partner ? 1 : -1;
    return [...shared].map((byte) => (byte & 1 ? -side : side));
  }

  /** @param {string} partner @returns {Promise<Uint8Array>} a byte a question, the same for both */
  async shared(partner) {
    const other = await crypto.subtle.importKey("raw", fromHex(partner), X25519, false, []);
    const secret = await crypto.subtle.deriveBits({ ...X25519, public: other }, this.secret, 256);
    if (new Uint8Array(secret).every((byte) => byte === 0)) throw new Error("the shared secret is nothing");
    const keys = [this.key, partner].sort().map(fromHex);
    const info = join(utf8("deniable/1/pair:"), fromHex(this.design.id), ...keys);
    const stretched = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
    const rule = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
    return new Uint8Array(await crypto.subtle.deriveBits(rule, stretched, 8 * this.design.questions.length));
  }
}

/**
 * Look for a partner, and agree on the coins with them; alone after the wait that the collector states.
 *
 * @param {Collector} collector @param {Design} design
 * @param {(seconds: number) => void} tell is called with how long it may still take
 */
export async function search(collector, design, tell) {
  const seeker = await Seeker.make(design);
  const asked = canonical({ version: 1, design: design.id, key: seeker.key });
  const deadline = performance.now() + LONGEST_SEARCH * 1000;
  for (;;) {
    const { partner, wait } = decode(await collector.ask("/v1/partners", asked, MOST_BYTES), found, MOST_BYTES);
    const left = Math.min(Number(wait), Math.ceil((deadline - performance.now()) / 1000));
    if (partner !== null || left <= 0) return seeker.sides(partner);
    tell(left);
    await pause(PAUSE);
  }
}

// -- what pairing really promises ------------------------------------------------------------------------------------

const MOST_COINS = 8; // delta is a sum over 4^coins outcomes

/** @typedef {{claimed: Ratio, partner: Ratio, coin: Ratio, delta: number | null}} Statement */

/**
 * The four numbers of a paired design, for its dearest ballot: what the theorem claims (an average over the hidden
 * pairing), what the partner learns, what whoever knows the coin learns, and how often the claim fails against those.
 *
 * @param {Design} design @returns {Statement}
 */
export function statement(design) {
  const all = design.ballots.map((ballot) => {
    const coins = ballot.flatMap(({ channel }) => channel.coins ?? []);
    const others = ballot.filter(({ channel }) => !channel.coins).map(({ channel }) => channel.ratio);
    return {
      claimed: compose([...others, ...coins.map(stranger)]),
      partner: compose([...others, ...coins.map(afterLie)]),
      coin: compose(ballot.map(({ channel }) => channel.ratio)),
      delta: coins.length > MOST_COINS ? null : lost(coins),
    };
  });
  return all.reduce((a, b) => (larger(a.coin, b.coin) === a.coin ? a : b));
}

/** @param {Coins} coins p / q */
const stranger = ({ truthful, bits }) => ratio(truthful, (1n << bits) - truthful);

/** @param {Coins} coins p_max / p_min, where p_max = p + d^2 / q is how surely one is truthful whose partner lied */
const afterLie = ({ truthful, shift, bits }) => {
  const lies = (1n << bits) - truthful;
  const surely = truthful * lies + shift * shift;
  return ratio(surely, (lies << bits) - surely);
};

/** @param {Coins[]} coins For who knows them: the sum of max(0, Pr(outcome | x) - e^claimed Pr(outcome | x')). */
function lost(coins) {
  const factor = Math.exp(epsilonOf(compose(coins.map(stranger))));
  /** @type {[number, number][]} */
  let outcomes = [[1, 1]];
  for (const { truthful, shift, bits } of coins) {
    const [p, d] = [Number(truthful) / 2 ** Number(bits), Number(shift) / 2 ** Number(bits)];
    const views = [p + d, p - d].flatMap((sure) => [
      [sure / 2, (1 - sure) / 2],
      [(1 - sure) / 2, sure / 2],
    ]);
    outcomes = outcomes.flatMap(([here, there]) =>
      views.map(([one = 0, other = 0]) => /** @type {[number, number]} */ ([here * one, there * other])),
    );
  }
  const sum = outcomes.reduce((total, [here, there]) => total + Math.max(0, here - factor * there), 0);
  return sum > 1e-12 ? sum : 0; // at the claimed epsilon two equal numbers may differ in their last bit
}

/** @param {Ratio} r Epsilon in four digits behind the point, rounded up. Compared exactly: no last digit is lost. */
export function shown(r) {
  let steps = Math.max(1, Math.floor(epsilonOf(r) * 1e4) - 1);
  // One bit less than the number that is shown, so that no rounding of that one lets a larger r pass.
  while (!fits(r, (steps / 1e4) * (1 - Number.EPSILON))) steps += 1;
  return (steps / 1e4).toFixed(4);
}

/** @param {number} delta */
export const shownDelta = (delta) => (Math.ceil(delta * 1e4) / 1e4).toFixed(4);
