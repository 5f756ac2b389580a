// @ts-check
/**
 * One respondent's device and one collector.
 *
 *   fetch the design -> verify it -> check the lifetime account -> be let in -> draw a ballot -> charge and write down
 *   -> show the questions -> disguise once and write down -> show what will be sent -> send the same bytes until taken
 *
 * The rules are those of the Python client. Nothing a server says is believed that can be computed. Charge and refusal
 * never depend on an answer. The answer itself is never stored and never sent. A static question has one permanent
 * disguise for each channel; where that is a set, each report is made of it anew, so that no report is a name.
 */

import { Admission } from "./admission.mjs";
import { followChain, mixtureOf, openBlock } from "./blocks.mjs";
import { below, draw, newId } from "./chance.mjs";
import { compose, fits, larger } from "./exact.mjs";
import { DEFAULT_LIMIT, DELIVERED, Memory, REJECTED, WAITING, alone } from "./memory.mjs";
import { canonical, refuse } from "./messages.mjs";
import { search } from "./pairs.mjs";
import { Problem, get, post } from "./transport.mjs";
import { costOf, verify } from "./verify.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("./memory.mjs").Drawn} Drawn */
/** @typedef {import("./memory.mjs").Remembered} Remembered */
/** @typedef {import("./memory.mjs").Asked} Asked */
/** @typedef {import("./memory.mjs").Replayed} Replayed */
/** @typedef {import("./verify.mjs").Design} Design */
/** @typedef {import("./verify.mjs").Question} Question */
/** @typedef {import("./blocks.mjs").Block} Block */

/** One respondent's browser and the collector that served this file. */
export class Client {
  /** @param {Memory} memory @param {Design} verified @param {Admission} admission */
  constructor(memory, verified, admission) {
    this.memory = memory;
    this.design = verified;
    this.admission = admission;
  }

  /** @param {Anything} form what the survey says of itself */
  static async open(form) {
    const id = String(form.design);
    const verified = await verify(await get(`/v1/designs/${encodeURIComponent(id)}`), id);
    const memory = await Memory.open();
    return new Client(memory, verified, new Admission(String(form.admission), String(form.survey), memory));
  }

  /** @returns {Promise<Drawn | undefined>} */
  drawn() {
    return this.memory.get("drawn", this.design.id);
  }

  /** The most that this design can still cost, and whether the account allows it. Decided without any answer. */
  async account() {
    const costs = [];
    for (const ballot of this.design.ballots) costs.push(costOf(await this.fresh(ballot)));
    const dearest = costs.reduce(larger);
    const spent = await this.memory.spent();
    return { limit: DEFAULT_LIMIT, spent, dearest, affordable: fits(compose([spent, dearest]), DEFAULT_LIMIT) };
  }

  /** @param {Question[]} ballot The questions for which a new disguise will be drawn. */
  async fresh(ballot) {
    const found = [];
    for (const question of ballot) if (!(await this.recall(question))) found.push(question);
    return found;
  }

  /** @param {Question} question @returns {Promise<Remembered | undefined>} */
  async recall(question) {
    return question.static ? this.memory.get("remembered", question.key) : undefined;
  }

  /** Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones. */
  async draw() {
    const known = await alone(async () => (await this.drawn()) ?? this.drawAndCharge());
    return this.questions(known);
  }

  /** @param {Drawn} known */
  questions(known) {
    return this.design.ballots[known.ballot] ?? refuse("unknown-question", "the drawn ballot does not exist");
  }

  /** @returns {Promise<Drawn>} */
  async drawAndCharge() {
    const { affordable } = await this.account();
    if (!affordable) refuse("overdrawn", "the account of this browser does not allow it");
    const number = below(this.design.ballots.length);
    const ballot = this.design.ballots[number] ?? [];
    const fresh = await this.fresh(ballot);
    const cost = costOf(fresh);
    const remembered = fresh.length || !ballot[0] ? undefined : await this.recall(ballot[0]);
    /** @type {Asked | Replayed} */
    const event = remembered
      ? { kind: "replayed/1", design: this.design.id, of: remembered.origin }
      : { kind: "asked/1", design: this.design.id, ballot: number, ratio: `${cost.n}/${cost.d}` };
    const known = { design: this.design.id, ballot: number, report: null, fate: WAITING };
    await this.memory.put({ events: [event], drawn: [known] });
    // Asks the browser not to forget this when space is short. It may ask its user, so nothing waits for the answer.
    navigator.storage?.persist?.().catch(() => false);
    return known;
  }

  /**
   * Disguise the answers, once: on disk before this returns; again, the same bytes, whatever the answers are then.
   *
   * @param {Record<string, number>} codes by attribute
   * @param {(seconds: number) => void} tell is called while a partner is looked for
   * @returns {Promise<string>}
   */
  async finish(codes, tell = () => {}) {
    const before = await this.drawn();
    if (before && before.report !== null) return before.report;
    const block = this.design.isAdaptive ? await openBlock(this.design) : null;
    const sides = this.design.isPaired ? await search(this.design, tell) : [];
    return alone(async () => {
      const known = await this.drawn();
      if (!known) return refuse("unknown-question", "no ballot was drawn");
      if (known.report !== null) return known.report;
      return this.write(known, codes, block, sides);
    });
  }

  /** @param {Drawn} known @param {Record<string, number>} codes @param {Block | null} block @param {number[]} sides */
  async write(known, codes, block, sides) {
    const answers = [];
    const remembered = [];
    for (const question of this.questions(known)) {
      const channel = block ? mixtureOf(block, question.place) : question.channel;
      const cell = cellOf(question, codes);
      if (!question.static) {
        answers.push(channel.outcome(cell, draw, sides[question.place]));
        continue;
      }
      // The disguise that is kept for good; where it is a set, what is sent is made of it anew each time.
      const before = await this.recall(question);
      const { first, resend } = channel.levels ?? { first: channel, resend: (/** @type {number} */ kept) => kept };
      const answer = before ? before.answer : first.outcome(cell, draw);
      if (!before) remembered.push({ question: question.key, origin: known.design, answer });
      answers.push(resend(answer, draw));
    }
    const clear = this.design.public.map((each) => codes[each.name]);
    const id = await this.admission.id();
    const report = reportOf(known.design, known.ballot, answers, clear, id, block?.id);
    const notes = block ? [{ name: `block:${known.design}`, value: block.text }] : [];
    await this.memory.put({ drawn: [{ ...known, report }], remembered, notes });
    return report;
  }

  /**
   * Send the finished report until it is taken; the same bytes at every attempt.
   *
   * @returns {Promise<Problem | null>} the problem, if one stays
   */
  async send() {
    const known = await this.drawn();
    if (!known || known.report === null) return refuse("unknown-question", "there is nothing to send");
    try {
      await this.admission.present();
      await post("/v1/reports", known.report);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.passes) await this.memory.put({ drawn: [{ ...known, fate: REJECTED, problem: error.code }] });
      return error;
    }
    await this.memory.put({ drawn: [{ ...known, fate: DELIVERED }] });
    await this.admission.forget();
    return null;
  }

  /** @param {Drawn} known Whether another invitation could help a report that was not taken. */
  canReturn(known) {
    return this.admission.kind === "invited" && ["not-invited", "conflict"].includes(known.problem ?? "");
  }

  /**
   * Put a report that was not taken under another invitation. What it says stays as it was disguised.
   *
   * @param {string} invitation @returns {Promise<string>}
   */
  async readdress(invitation) {
    await this.admission.enter(invitation);
    return alone(async () => {
      const known = await this.drawn();
      if (!known || known.report === null || !this.canReturn(known)) return refuse("used", "the report is not free");
      const report = canonical({ ...JSON.parse(known.report), id: await this.admission.id() });
      const { design, ballot } = known;
      await this.memory.put({ drawn: [{ design, ballot, report, fate: WAITING }] });
      return report;
    });
  }

  /** Check that the block this device answered in was shown to everybody; returns how many blocks there are. */
  async followBlocks() {
    return followChain(this.design, await this.memory.noted(`block:${this.design.id}`));
  }
}

/** @param {Question} question @param {Record<string, number>} codes The combination of answers, as one number. */
function cellOf({ attributes }, codes) {
  return attributes.reduce((place, each) => {
    const code = codes[each.name];
    if (code === undefined) return refuse("malformed", `there is no answer for ${each.name}`);
    return place * each.categories.length + code;
  }, 0);
}

/**
 * @param {string} design @param {number} ballot @param {number[]} answers @param {(number | undefined)[]} clear
 * @param {string} id @param {string | null} block
 */
export const reportOf = (design, ballot, answers, clear, id = newId(), block = null) =>
  canonical({ version: 1, id, design, ballot, answers, block, public: clear });
