// @ts-check
/**
 * One respondent's device and one collector.
 *
 *   fetch the design -> verify it -> is it for here, and what was expected -> fetch its words -> check the lifetime
 *   account -> be let in -> draw a ballot -> charge and write down -> show the questions -> disguise once and write
 *   down -> show what will be sent -> send the same bytes until taken
 *
 * The rules are those of the Python client. Nothing a server says is believed that can be computed. Charge and refusal
 * never depend on an answer. The answer itself is never stored and never sent. What is asked is drawn and charged anew,
 * but for what a declared panel repeats: of that a disguise is kept, and each report is made of it anew through a second
 * level, so that no report is a name. A plan is answered once, however often its words are corrected.
 */

import { Admission } from "../protocol/admission_token.mjs";
import { followChain, mixtureOf, openBlock } from "../protocol/fake_blocks.mjs";
import { below, draw } from "./random_draws.mjs";
import { compose, fits, larger } from "./epsilon.mjs";
import { readForm } from "../protocol/form.mjs";
import { DEFAULT_LIMIT, DELIVERED, Memory, REJECTED, WAITING, alone } from "./device_state.mjs";
import { canonical, decode, hash, object, optional, refuse, string, two } from "../protocol/messages.mjs";
import { search } from "../protocol/partner.mjs";
import { isFor } from "./design_terms.mjs";
import { Collector, Problem } from "../protocol/http_transport.mjs";
import { costOf, keyOf, verify } from "./verify.mjs";

/** @typedef {import("./device_state.mjs").Drawn} Drawn */
/** @typedef {import("./device_state.mjs").Remembered} Remembered */
/** @typedef {import("./device_state.mjs").Asked} Asked */
/** @typedef {import("./device_state.mjs").Replayed} Replayed */
/** @typedef {import("./verify.mjs").Design} Design */
/** @typedef {import("./verify.mjs").Question} Question */
/** @typedef {import("../protocol/form.mjs").Form} Form */
/** @typedef {import("../protocol/fake_blocks.mjs").Block} Block */
/** @typedef {{design: string, opens: string | null, closes: string | null}} Announcement */
/** @typedef {{design?: string | null, issuer?: string | null, epsilon?: number | null}} Pins What was expected here. */

const MOST_BYTES = 1 << 22;
const announcement = object(
  { version: two, design: hash, opens: optional(string), closes: optional(string) },
  { opens: null, closes: null },
);

/** One respondent's browser and one collector. */
export class Client {
  /**
   * @param {Collector} collector @param {Announcement} announced @param {Design} verified @param {Form} form
   * @param {Memory} memory
   */
  constructor(collector, announced, verified, form, memory) {
    this.collector = collector;
    this.announcement = announced;
    this.design = verified;
    this.form = form;
    this.memory = memory;
    this.admission = new Admission(verified, memory, collector);
  }

  /**
   * Fetch what is asked, and check all of it.
   *
   * @param {string} base the collector's origin; the page's own, if it is empty
   * @param {Pins} pins what a public place or a link says about it
   */
  static async open(base = "", pins = {}) {
    const collector = new Collector(base);
    const announced = decode(await collector.get("/v1/survey", MOST_BYTES), announcement, MOST_BYTES);
    const verified = await verify(await collector.get(`/v1/designs/${announced.design}`, MOST_BYTES), announced.design);
    if (!isFor(verified.audience, collector.origin)) {
      refuse("not-for-here", "the design is for collectors at other addresses");
    }
    checkPins(verified, pins);
    const form = await readForm(await collector.get(`/v1/forms/${verified.texts}`, MOST_BYTES), verified);
    return new Client(collector, announced, verified, form, await Memory.open());
  }

  /** @param {Pins} pins Refuse a design that is not what was expected. */
  pin(pins) {
    checkPins(this.design, pins);
  }

  /** Short names of the design and the issuer's key, to be compared with those in a public place. */
  fingerprint() {
    const { id, issuer } = this.design;
    return { design: fingerprintOf(id), issuer: issuer && fingerprintOf(issuer) };
  }

  /** @returns {Promise<Drawn | undefined>} what was drawn for this plan, under whatever words */
  drawn() {
    return this.memory.get("drawn", this.design.planId);
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

  /** @param {Question} question Names it together with its panel and its words in the main language. */
  async key(question) {
    const { languages, questions } = this.form;
    const { panel, audience } = this.design;
    const words = question.attributes.map(({ name }) => questions.get(name)?.text[languages[0] ?? ""] ?? "");
    return keyOf(panel?.name ?? "", audience, question, words);
  }

  /** @param {Question} question @returns {Promise<Remembered | undefined>} */
  async recall(question) {
    return question.channel.levels && this.memory.get("remembered", await this.key(question));
  }

  // -- consent --------------------------------------------------------------------------------------------------------

  /** @returns {string[]} why less is promised here than elsewhere, which has to be agreed to: "panel", "pairs", "deniability", "blocks" */
  get weaker() {
    const { panel, isPaired, isAdaptive, claim, admission } = this.design;
    // A block that was shown to one respondent only would mark a report, which its blind token does not.
    const reasons = { panel: panel !== null, pairs: isPaired, deniability: claim !== null, blocks: isAdaptive && admission === "blind" };
    return Object.entries(reasons).flatMap(([name, holds]) => (holds ? [name] : []));
  }

  /** Whether the weaker promise is still to be agreed to. */
  async needsConsent() {
    return this.weaker.length > 0 && (await this.memory.noted(`consent:${this.design.planId}`)) === undefined;
  }

  /** The respondent read what less is promised, and agrees. */
  consent() {
    return this.memory.note(`consent:${this.design.planId}`, this.weaker);
  }

  // -- the ballot -----------------------------------------------------------------------------------------------------

  /** Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones. */
  async draw() {
    if (!(await this.drawn())) await this.lookAhead();
    return this.questions(await alone(() => this.drawOnce()));
  }

  /** Whoever is not let in, did not agree, or is shown a block that is not sound is charged nothing. */
  async lookAhead() {
    if (await this.needsConsent()) refuse("no-consent", "the weaker promise was not agreed to");
    if (!(await this.admission.isReady())) refuse("uninvited", "there is no invitation");
    if (this.design.isAdaptive) await this.block();
  }

  /** @param {Drawn} known */
  questions(known) {
    return this.design.ballots[known.ballot] ?? refuse("unknown-question", "the drawn ballot does not exist");
  }

  /** @returns {Promise<Drawn>} the ballot under the words that are shown now */
  async drawOnce() {
    const known = await this.drawn();
    if (!known) return this.drawAndCharge();
    if (known.design === this.design.id) return known;
    if (known.report !== null) return refuse("answered", "this plan was answered; only its words were corrected since");
    return this.goOn(known);
  }

  /** @returns {Promise<Drawn>} */
  async drawAndCharge() {
    const { affordable } = await this.account();
    if (!affordable) refuse("overdrawn", "the account of this browser does not allow it");
    const { id, planId, ballots, weights } = this.design;
    const ballot = weights ? weighted(weights) : below(ballots.length);
    const asked = ballots[ballot] ?? [];
    const fresh = await this.fresh(asked);
    const remembered = fresh.length || !asked[0] ? undefined : await this.recall(asked[0]);
    /** @type {Asked | Replayed} */
    const event = remembered
      ? { kind: "replayed/1", design: id, of: remembered.origin }
      : this.chargeOf(ballot, fresh);
    const charged = fresh.map(({ place }) => place);
    const known = { plan: planId, design: id, ballot, charged, report: null, fate: WAITING };
    await this.memory.put({ events: [event], drawn: [known] });
    // Asks the browser not to forget this when space is short. It may ask its user, so nothing waits for the answer.
    navigator.storage?.persist?.().catch(() => false);
    return known;
  }

  /**
   * Go on with a drawn ballot under corrected words. A panel's question whose words changed is another question, with a
   * disguise of its own to be paid for.
   *
   * @param {Drawn} known @returns {Promise<Drawn>}
   */
  async goOn(known) {
    const more = (await this.fresh(this.questions(known))).filter(({ place }) => !known.charged.includes(place));
    const cost = compose([await this.memory.spent(), costOf(more)]);
    if (more.length && !fits(cost, DEFAULT_LIMIT)) refuse("overdrawn", "the account of this browser does not allow it");
    const next = { ...known, design: this.design.id, charged: [...known.charged, ...more.map(({ place }) => place)] };
    await this.memory.put({ events: more.length ? [this.chargeOf(known.ballot, more)] : [], drawn: [next] });
    return next;
  }

  /** @param {number} ballot @param {Question[]} fresh @returns {Asked} */
  chargeOf(ballot, fresh) {
    const { n, d } = costOf(fresh);
    return { kind: "asked/1", design: this.design.id, ballot, ratio: `${n}/${d}` };
  }

  // -- answering ------------------------------------------------------------------------------------------------------

  /**
   * Disguise the answers, once: on disk before this returns; again, the same bytes, whatever the answers are then.
   *
   * @param {Record<string, number>} codes by attribute, as `codesOf` gives them
   * @param {(seconds: number) => void} tell is called while a partner is looked for
   * @returns {Promise<string>}
   */
  async finish(codes, tell = () => {}) {
    const before = await this.drawn();
    if (before && before.report !== null) return before.report;
    if (!before) return refuse("unknown-question", "no ballot was drawn");
    const cells = this.cellsOf(before, codes); // before the first request that could depend on an answer
    const { design, collector } = this;
    const block = design.isAdaptive ? await this.block() : null;
    const sides = design.isPaired ? await search(collector, design, tell) : [];
    return alone(async () => {
      const known = await this.drawOnce();
      if (known.report === null && known.ballot !== before.ballot) refuse("unknown-question", "another ballot was drawn");
      return known.report ?? this.write(known, cells, codes, block, sides);
    });
  }

  /** @param {Drawn} known @param {Record<string, number>} codes @returns {number[]} a combination a question */
  cellsOf(known, codes) {
    for (const each of this.design.public) inRange(codes, each);
    return this.questions(known).map(({ attributes }) =>
      attributes.reduce((cell, each) => cell * each.categories.length + inRange(codes, each), 0),
    );
  }

  /**
   * @param {Drawn} known @param {number[]} cells @param {Record<string, number>} codes @param {Block | null} block
   * @param {number[]} sides
   */
  async write(known, cells, codes, block, sides) {
    const answers = [];
    const remembered = [];
    for (const [number, question] of this.questions(known).entries()) {
      const channel = block ? mixtureOf(block, question.place) : question.channel;
      const cell = cells[number] ?? -1;
      if (!channel.levels) {
        answers.push(channel.outcome(cell, draw, sides[question.place]));
        continue;
      }
      // The disguise that the panel keeps; what is sent is made of it anew each time.
      const before = await this.recall(question);
      const { first, resend } = channel.levels;
      const answer = before ? before.answer : first.outcome(cell, draw);
      if (!before) remembered.push({ question: await this.key(question), origin: known.design, answer });
      answers.push(resend(answer, draw));
    }
    const clear = this.design.public.map((each) => inRange(codes, each));
    const papers = await this.admission.papers();
    const { design, ballot } = known;
    const report = reportOf({ design, ballot, answers, public: clear, block: block?.id ?? null, ...papers });
    const notes = block ? [{ name: `block:${this.design.planId}`, value: block.text }] : [];
    await this.memory.put({ drawn: [{ ...known, report }], remembered, notes });
    return report;
  }

  // -- sending --------------------------------------------------------------------------------------------------------

  /**
   * Send the finished report until it is taken; the same bytes at every attempt.
   *
   * @returns {Promise<Problem | null>} the problem, if one stays
   */
  async send() {
    const known = await this.drawn();
    if (!known || known.report === null) return refuse("unknown-question", "there is nothing to send");
    try {
      await this.collector.send(known.report);
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
      const report = canonical({ ...JSON.parse(known.report), ...(await this.admission.papers()) });
      const { plan, design, ballot, charged } = known;
      await this.memory.put({ drawn: [{ plan, design, ballot, charged, report, fate: WAITING }] });
      return report;
    });
  }

  // -- blocks ---------------------------------------------------------------------------------------------------------

  /**
   * The open block, checked. A blind token hides nobody who alone was shown a block: then the whole chain is followed,
   * and has to hold both this block and what was its end the last time.
   */
  async block() {
    const { collector, design, memory } = this;
    const found = await openBlock(collector, design);
    if (design.admission === "blind") {
      const name = `chain:${design.planId}`;
      const { last } = await followChain(collector, design, [found.text, await memory.noted(name)]);
      await memory.note(name, last);
    }
    return found;
  }

  /** Check that the block this device answered in was shown to everybody; returns how many blocks there are. */
  async followBlocks() {
    const { collector, design, memory } = this;
    const seen = [await memory.noted(`block:${design.planId}`), await memory.noted(`chain:${design.planId}`)];
    return (await followChain(collector, design, seen)).blocks;
  }
}

/** @param {Design} design @param {Pins} pins */
function checkPins(design, { design: named = null, issuer = null, epsilon = null }) {
  if (named !== null && design.id !== named) refuse("another-design", "this is not the design that was expected");
  if (issuer !== null && design.issuer !== issuer) {
    refuse("another-issuer", "no token of the issuer that was expected is asked for here");
  }
  if (epsilon !== null && !fits(design.ratio, epsilon)) refuse("too-dear", "the design costs more than was expected");
}

/** @param {string} name The first sixteen digits of a hash, in groups of four. */
const fingerprintOf = (name) => (name.slice(0, 16).match(/..../g) ?? []).join("-");

/** @param {number[]} weights Which ballot a uniform draw below their sum falls into. */
export function weighted(weights, source = draw) {
  let left = below(
    weights.reduce((a, b) => a + b, 0),
    source,
  );
  return weights.findIndex((weight) => (left -= weight) < 0);
}

/** @param {Record<string, number>} codes @param {import("./design_terms.mjs").Attribute} attribute @returns {number} */
function inRange(codes, { name, categories }) {
  const code = codes[name];
  if (code === undefined || !Number.isInteger(code) || code < 0 || code >= categories.length) {
    return refuse("bad-answer", `there is no code of ${name}`);
  }
  return code;
}

/**
 * @typedef {object} Content
 * @property {string} design
 * @property {number} ballot
 * @property {number[]} answers
 * @property {number[]} public
 * @property {string | null} block
 * @property {string} id
 * @property {string | null} token
 * @property {string | null} signature
 */

/** @param {Content} content @returns {string} the bytes of a report */
export const reportOf = ({ design, ballot, answers, public: clear, block, id, token, signature }) =>
  canonical({ version: 2, id, design, ballot, answers, block, public: clear, token, signature });
