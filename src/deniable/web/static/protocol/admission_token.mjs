// @ts-check
/**
 * From an invitation to the id of the one report that it lets in. Which admission there is, and whose key signs, the
 * design says.
 *
 *   open      a random id
 *   invited   a hash of the invitation
 *   blind     a hash of a token that this device made up and had signed without showing it
 *
 * A blind token is made up, blinded and written down before anything is sent: a lost reply costs nothing, because the
 * same bytes get the same signature again. Once it is signed, the invitation and the number that undoes the blinding
 * are forgotten. The token itself travels with the report, and never together with the invitation.
 */

import * as blind from "./blind_signature.mjs";
import { bytes, newId } from "../device/random_draws.mjs";
import { alone } from "../device/device_state.mjs";
import { canonical, decode, fromHex, hashOf, hex, object, one, refuse, sha256, toHex, whole } from "./messages.mjs";

/** @typedef {import("../device/device_state.mjs").Memory} Memory */
/** @typedef {import("./http_transport.mjs").Collector} Collector */
/** @typedef {import("../device/verify.mjs").Design} Design */
/**
 * @typedef {object} Ticket A token on its way: `invitation`, `n`, `blinded` and `inverse` until it is signed.
 * @property {string} issuer the hash of the issuer's key
 * @property {string} token
 * @property {string} [invitation]
 * @property {string} [n]
 * @property {string} [blinded]
 * @property {string} [inverse]
 * @property {string} [signature]
 */
/** @typedef {{id: string, token: string | null, signature: string | null}} Papers What a report shows at the door. */

const MOST_BYTES = 1 << 14;
const TOKEN = 32; // bytes, after a random prefix
const issuer = object({ version: one, n: hex, e: whole });
const signed = object({ version: one, signature: hex });

/** @param {string} invitation The id of the one report that a plain invitation lets in. */
export const invitedId = (invitation) => hashOf(`deniable/1/invitation:${invitation}`);

/** @param {string} token The id of the one report that a blind token lets in. */
export const tokenId = (token) => sha256(fromHex(token));

/** One device's admission to one survey. */
export class Admission {
  /** @param {Design} design @param {Memory} memory @param {Collector} collector */
  constructor(design, memory, collector) {
    this.kind = design.admission;
    this.design = design;
    this.memory = memory;
    this.collector = collector;
    this.name = `${this.kind}:${design.planId}`;
  }

  /** Whether this device needs no invitation any more. */
  async isReady() {
    if (this.kind === "open") return true;
    if (this.kind === "invited") return (await this.invitation()) !== undefined;
    return (await this.ticket())?.signature !== undefined;
  }

  /** @returns {Promise<string | undefined>} an invitation whose exchange for a token was interrupted */
  async pending() {
    return this.kind === "blind" ? (await this.ticket())?.invitation : undefined;
  }

  /** @returns {Promise<string | undefined>} */
  async invitation() {
    return this.memory.noted(this.name);
  }

  /** @returns {Promise<Ticket | undefined>} this device's token, if the design's own issuer signed or is to sign it */
  async ticket() {
    const noted = await this.memory.noted(this.name);
    return noted?.issuer === this.design.issuer ? noted : undefined;
  }

  /** @param {string} invitation Take an invitation: write it down, or exchange it for a blind token. */
  async enter(invitation) {
    if (this.kind === "invited") await this.memory.note(this.name, invitation);
    if (this.kind === "blind") await alone(() => this.exchange(invitation));
  }

  /** @param {string} invitation */
  async exchange(invitation) {
    let ticket = await this.ticket();
    if (ticket?.signature) return;
    if (ticket?.invitation !== invitation) {
      ticket = await this.newTicket(invitation);
      await this.memory.note(this.name, ticket);
    }
    const { n = "", token, blinded = "", inverse = "", issuer: name } = ticket;
    const asked = canonical({ version: 1, invitation, blinded });
    const answer = decode(await this.collector.ask("/v1/tokens", asked, MOST_BYTES), signed, MOST_BYTES);
    const key = { n: BigInt(`0x${n}`), e: 65537n };
    const signature = await blind
      .finalize(key, fromHex(token), fromHex(answer.signature), BigInt(`0x${inverse}`))
      .catch((error) => refuse("wrong-signature", error.message));
    await this.memory.note(this.name, { issuer: name, token, signature: toHex(signature) });
  }

  /** @param {string} invitation @returns {Promise<Ticket>} */
  async newTicket(invitation) {
    const body = await this.collector.get("/v1/issuer", MOST_BYTES);
    const name = await sha256(body);
    if (name !== this.design.issuer) refuse("another-issuer", "the issuer's key is not the one that the design names");
    const { n, e } = decode(body, issuer, MOST_BYTES);
    const key = { n: BigInt(`0x${n}`), e };
    if (!blind.isSound(key)) refuse("unsound-issuer", "the issuer's key is not of 2048 to 8192 bits, exponent 65537");
    const token = blind.prepare(bytes(TOKEN));
    const { message, inverse } = await blind.blind(key, token);
    const blinded = toHex(message);
    return { issuer: name, invitation, n, token: toHex(token), blinded, inverse: inverse.toString(16) };
  }

  /** @returns {Promise<Papers>} the same ones each time, except for an open survey */
  async papers() {
    if (this.kind === "open") return { id: newId(), token: null, signature: null };
    if (this.kind === "invited") {
      const invitation = (await this.invitation()) ?? refuse("uninvited", "there is no invitation");
      return { id: await invitedId(invitation), token: null, signature: null };
    }
    const { token, signature } = (await this.ticket()) ?? refuse("uninvited", "there is no token");
    if (!signature) return refuse("uninvited", "the token is not signed");
    return { id: await tokenId(token), token, signature };
  }

  /** The report is there: a plain invitation is of no more use. A token stays, to be known as used. */
  async forget() {
    if (this.kind === "invited") await this.memory.forget(this.name);
  }
}
