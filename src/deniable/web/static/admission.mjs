// @ts-check
/**
 * From an invitation to the id of the one report that it lets in.
 *
 *   open      a random id
 *   invited   a hash of the invitation
 *   blind     a hash of a token that this device made up and had signed without showing it
 *
 * A blind token is made up, blinded and written down before anything is sent: a lost reply costs nothing, because the
 * same bytes get the same signature again. Once it is signed, the invitation and the number that undoes the blinding
 * are forgotten. The token itself is shown together with the report, and never together with the invitation.
 */

import * as blind from "./blind.mjs";
import { bytes, newId } from "./chance.mjs";
import { alone } from "./memory.mjs";
import { canonical, decode, fromHex, hashOf, hex, object, one, refuse, sha256, toHex, whole } from "./messages.mjs";
import { get, post } from "./transport.mjs";

/** @typedef {import("./memory.mjs").Memory} Memory */
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
  /** @param {string} kind open, invited or blind @param {string} survey its name @param {Memory} memory */
  constructor(kind, survey, memory) {
    if (!["open", "invited", "blind"].includes(kind)) refuse("unknown-admission", `there is no admission ${kind} here`);
    this.kind = kind;
    this.memory = memory;
    this.name = `${kind}:${survey}`;
  }

  /** Whether this device needs no invitation any more. */
  async isReady() {
    if (this.kind === "open") return true;
    const noted = await this.memory.noted(this.name);
    return this.kind === "invited" ? noted !== undefined : noted?.signature !== undefined;
  }

  /** @returns {Promise<string | undefined>} an invitation whose exchange for a token was interrupted */
  async pending() {
    return this.kind === "blind" ? (await this.memory.noted(this.name))?.invitation : undefined;
  }

  /**
   * Take an invitation: write it down, or exchange it for a blind token.
   *
   * @param {string} invitation
   * @param {string | null} expected the hash of the issuer's key, as it was published elsewhere: a key shown to one
   *   respondent only would mark them
   */
  async enter(invitation, expected = null) {
    if (this.kind === "invited") await this.memory.note(this.name, invitation);
    if (this.kind === "blind") await alone(() => this.exchange(invitation, expected));
  }

  /** @param {string} invitation @param {string | null} expected */
  async exchange(invitation, expected) {
    /** @type {Ticket | undefined} */
    let ticket = await this.memory.noted(this.name);
    const isExpected = !expected || ticket?.issuer === expected;
    if (ticket?.signature) return isExpected ? undefined : refuse("another-issuer", "another key signed this token");
    if (ticket?.invitation !== invitation || !isExpected) {
      ticket = await newTicket(invitation, expected);
      await this.memory.note(this.name, ticket);
    }
    const { n = "", token = "", blinded = "", inverse = "", issuer: name = "" } = ticket ?? {};
    const body = await post("/v1/tokens", canonical({ version: 1, invitation, blinded }));
    const answer = decode(body, signed, MOST_BYTES);
    const key = { n: BigInt(`0x${n}`), e: 65537n };
    const signature = await blind
      .finalize(key, fromHex(token), fromHex(answer.signature), BigInt(`0x${inverse}`))
      .catch((error) => refuse("wrong-signature", error.message));
    await this.memory.note(this.name, { issuer: name, token, signature: toHex(signature) });
  }

  /** The id of this device's report; the same one each time, except for an open survey. */
  async id() {
    if (this.kind === "open") return newId();
    const noted = (await this.memory.noted(this.name)) ?? refuse("uninvited", "there is no invitation");
    return this.kind === "invited" ? invitedId(noted) : tokenId(noted.token);
  }

  /** Have the report admitted that is about to be sent: show the signed token. */
  async present() {
    if (this.kind !== "blind") return;
    /** @type {Ticket} */
    const { token, signature } = await this.memory.noted(this.name);
    await post("/v1/entries", canonical({ version: 1, token, signature }));
  }

  /** @returns {Promise<string>} the hash of the key that signed this device's token */
  async issuer() {
    return (await this.memory.noted(this.name))?.issuer ?? "";
  }

  /** The report is there: a plain invitation is of no more use. A token stays, to be known as used. */
  async forget() {
    if (this.kind === "invited") await this.memory.forget(this.name);
  }
}

/** @param {string} invitation @param {string | null} expected @returns {Promise<Ticket>} */
async function newTicket(invitation, expected) {
  const body = await get("/v1/issuer");
  const name = await sha256(body);
  if (expected && name !== expected) refuse("another-issuer", `the issuer's key is ${name}, not ${expected}`);
  const { n, e } = decode(body, issuer, MOST_BYTES);
  const key = { n: BigInt(`0x${n}`), e };
  if (!blind.isSound(key)) refuse("unsound-issuer", "the issuer's key is not one of 2048 to 8192 bits, exponent 65537");
  const token = blind.prepare(bytes(TOKEN));
  const { message, inverse } = await blind.blind(key, token);
  const blinded = toHex(message);
  return { issuer: name, invitation, n, token: toHex(token), blinded, inverse: inverse.toString(16) };
}
