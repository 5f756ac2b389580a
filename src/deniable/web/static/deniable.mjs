// @ts-check
/**
 * deniable: the program that runs in a respondent's browser, from loading to thanks. This file is the page; the client
 * behind it is client.mjs.
 *
 * The page holds all of the program: these files, one behind the other, and nothing is loaded besides. The page is the
 * same for every survey; its SHA-256 and those of the files are published at static/programs.sha256 and in the
 * documentation.
 *
 * Sentences that state the promise are the program's own (words.mjs), in a frame of their own. What a survey says is
 * quoted, as text. There is nothing on the page that could be followed or loaded: no link, no picture from elsewhere.
 */

import { Client } from "./device/client.mjs";
import { codeOf, codesOf, isShown } from "./protocol/answer_encoding.mjs";
import { enterInto, entriesOf, fieldOf } from "./page/form_inputs.mjs";
import { introduce, tellAccount } from "./page/introduction.mjs";
import { Speech } from "./page/language.mjs";
import { offerLanguages, returnToLanguage } from "./page/languages.mjs";
import { DELIVERED, REJECTED } from "./device/device_state.mjs";
import { Refusal } from "./protocol/messages.mjs";
import { isSupported } from "./protocol/partner.mjs";
import { tellCorrections, tellCorrectionsOf } from "./page/old_and_new.mjs";
import { clearLine, disguisedLine, tellChances } from "./page/pictures.mjs";
import { Screen, element, input, make } from "./page/screen.mjs";
import { Problem } from "./protocol/http_transport.mjs";

/** @typedef {import("./device/device_state.mjs").Drawn} Drawn */
/** @typedef {import("./device/verify.mjs").Question} Question */
/** @typedef {import("./page/form_inputs.mjs").Field} Field */
/** @typedef {import("./page/form_inputs.mjs").Value} Value */

/** The respondent's page, from loading to thanks. */
class Page {
  /** @param {Screen} screen @param {Client} client */
  constructor(screen, client) {
    this.screen = screen;
    this.client = client;
    /** @type {Question[]} what is asked now */
    this.asked = [];
    /** @type {Field[]} */
    this.fields = [];
    /** the report that is shown before it is sent */
    this.reviewed = "";
    this.busy = false;
  }

  /** @param {URLSearchParams} link what the address has behind its #, which browsers do not send */
  async start(link) {
    this.listen();
    this.introduce();
    const { admission } = this.client;
    const known = await this.client.drawn();
    const invitation = link.get("invitation") ?? (await admission.pending());
    if (known && known.report !== null) return this.resume(known, invitation);
    if (isClosed(this.client.announcement)) return this.screen.show("closed");
    if (known) return this.ask(await this.client.draw());
    if (this.client.design.isPaired && !(await isSupported())) return this.screen.show("unsupported");
    if (!(await tellAccount(this.screen, this.client))) return this.screen.show("overdrawn");
    if (invitation && admission.kind !== "open") return this.enter(invitation);
    return this.screen.show((await admission.isReady()) ? "intro" : "invitation");
  }

  listen() {
    addEventListener("hashchange", () => location.reload()); // a link with an invitation, opened in this tab
    /** @type {Record<string, () => Promise<unknown>>} */
    const clicks = {
      begin: () => this.begin(),
      send: () => this.send(),
      again: () => this.send(),
      return: async () => this.screen.show("invitation"),
      follow: () => this.follow(),
    };
    for (const [id, action] of Object.entries(clicks)) element(id).addEventListener("click", () => this.guard(action));
    /** @type {Record<string, () => Promise<unknown>>} */
    const submits = { answers: () => this.disguise(), invite: () => this.enter(input("code").value.trim()) };
    for (const [id, action] of Object.entries(submits)) {
      element(id).addEventListener("submit", (event) => {
        event.preventDefault();
        this.guard(action);
      });
    }
    element("answers").addEventListener("change", () => this.reveal());
  }

  /** Say what this survey is, with the languages that it has as buttons. */
  introduce() {
    const { screen, client } = this;
    introduce(screen, client);
    tellCorrections(screen, client.form.corrections);
    offerLanguages(screen, client.form.languages, (language) => this.guard(() => this.speakIn(language)));
  }

  /** @param {string} language Say everything in another language. Whatever was answered stays as it is. */
  async speakIn(language) {
    const { screen, client } = this;
    const entered = this.fields.map(({ root }) => entriesOf(root));
    screen.speakIn(new Speech([language], client.form));
    this.introduce();
    if (this.asked.length) this.layOut();
    this.fields.forEach(({ root }, at) => enterInto(root, entered[at] ?? []));
    this.reveal();
    if (this.reviewed) this.lineUp(this.reviewed);
    returnToLanguage();
  }

  /** @param {Drawn} known @param {string | undefined} invitation After a reload: where this respondent was. */
  async resume(known, invitation) {
    if (known.fate === DELIVERED) return this.screen.show("done");
    if (known.fate === REJECTED && invitation && this.client.canReturn(known)) return this.enter(invitation);
    if (known.fate === REJECTED) return this.rejected(known);
    return this.review(known.report ?? "");
  }

  /** @param {Drawn} known */
  rejected(known) {
    this.screen.fill(document, { problem: (speech) => speech.sentence(known.problem ?? "") });
    element("return").hidden = !this.client.canReturn(known);
    return this.screen.show("rejected");
  }

  /** @param {string} text An invitation, as it was typed or came with the link; or the whole link. */
  async enter(text) {
    const link = new URLSearchParams(text.slice(text.indexOf("#") + 1));
    const invitation = link.get("invitation") ?? text;
    this.client.pin(pinsOf(link));
    input("code").value = invitation;
    /** @param {string} code */
    const fail = (code) => {
      this.screen.complain("uninvited", code);
      this.screen.show("invitation", "code");
    };
    if (!invitation) return fail("uninvited");
    const isDrawn = (await this.client.drawn()) !== undefined;
    let report = "";
    try {
      if (isDrawn) report = await this.client.readdress(invitation);
      else await this.client.admission.enter(invitation);
    } catch (error) {
      if (error instanceof Problem) return fail(error.code);
      throw error;
    }
    // It is written down: nobody who looks at the address later needs to see it.
    const kept = new URLSearchParams(location.hash.slice(1)).get("collector");
    const hash = kept === null ? "" : `#${new URLSearchParams({ collector: kept })}`;
    history.replaceState(null, "", location.pathname + location.search + hash);
    input("code").value = "";
    return isDrawn ? this.review(report) : this.screen.show("intro");
  }

  /** @param {() => Promise<unknown>} action Run an action; a refusal becomes a page of its own. */
  async guard(action) {
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => button.setAttribute("aria-disabled", "true"));
    try {
      if (!this.busy) {
        this.busy = true;
        await action();
      }
    } catch (error) {
      failed(this.screen, error);
    } finally {
      this.busy = false;
      buttons.forEach((button) => button.removeAttribute("aria-disabled"));
    }
  }

  async begin() {
    const agreed = !this.client.weaker.length || input("agree").checked;
    element("disagreed").hidden = agreed;
    if (!agreed) return input("agree").focus();
    if (await this.client.needsConsent()) await this.client.consent();
    return this.ask(await this.client.draw());
  }

  /** @param {string} name The words of an attribute. The form was checked against the design: there are some. */
  item(name) {
    const { questions, public: clear } = this.client.form;
    const found = questions.get(name) ?? clear.get(name);
    if (!found) throw new Error(`there are no words for ${name}`);
    return found;
  }

  /** @param {Question[]} questions */
  ask(questions) {
    this.asked = questions;
    this.layOut();
    this.reveal();
    this.screen.show("questions");
  }

  /** Put what is asked on the page. */
  layOut() {
    const { screen, client } = this;
    this.fields = [];
    /** @param {import("./device/verify.mjs").Attribute} attribute */
    const add = (attribute) => {
      const field = fieldOf(screen, attribute, this.item(attribute.name), this.fields.length);
      tellCorrectionsOf(screen, client.form.corrections, field.root, attribute.name, this.fields.length);
      this.fields.push(field);
      return field.root;
    };
    element("public").replaceChildren(...client.design.public.map(add));
    element("clear").hidden = !client.design.public.length;
    const cards = this.asked.map((question) => {
      const card = screen.piece("question");
      card.querySelector(".fields")?.append(...question.attributes.map(add));
      card.querySelector(".together")?.toggleAttribute("hidden", question.attributes.length < 2);
      tellChances(screen, card, question);
      return card;
    });
    element("asked").replaceChildren(...cards);
  }

  /** Show and leave out questions by public attributes; whoever is not asked sends a disguised answer all the same. */
  reveal() {
    const codes = this.publicCodes();
    for (const { attribute, root } of this.fields) root.hidden = !isShown(attribute, codes);
    for (const note of document.querySelectorAll("#asked .unasked")) {
      note.toggleAttribute("hidden", !note.parentElement?.querySelector("fieldset[hidden]"));
    }
  }

  /** @returns {Record<string, number | undefined>} the codes of what travels in clear, as far as it is answered */
  publicCodes() {
    const clear = this.fields.filter(({ attribute }) => attribute.isPublic);
    return Object.fromEntries(clear.map((field) => [field.attribute.name, codeOrNot(field)]));
  }

  async disguise() {
    const codes = this.publicCodes();
    /** @type {Record<string, Value>} */
    const values = Object.create(null);
    /** @type {Field | undefined} */
    let first;
    let isUnanswered = false;
    for (const field of this.fields) {
      const asks = isShown(field.attribute, codes);
      const isDoubtful = asks && field.doubts();
      const isMissing = asks && !isDoubtful && codeOrNot(field) === undefined;
      field.root.classList.toggle("missing", isMissing || isDoubtful);
      isUnanswered ||= isMissing;
      if (isMissing || isDoubtful) first ??= field;
      else values[field.attribute.name] = /** @type {Value} */ (field.value());
    }
    element("unanswered").hidden = !isUnanswered;
    if (first) {
      /** @type {HTMLElement | null} */ (first.root.querySelector("input"))?.focus();
      return;
    }
    element("unreached").hidden = true;
    let report;
    try {
      const answers = codesOf(this.client.design, values, Object.keys(values));
      report = await this.client.finish(answers, (seconds) => this.wait(seconds));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.screen.complain("unreached", error.code);
      return this.screen.show("questions");
    }
    /** @type {HTMLFormElement} */ (element("answers")).reset(); // from here on, the answer is nowhere
    return this.review(report);
  }

  /** @param {number} seconds A partner is looked for, so much longer at most. */
  wait(seconds) {
    const bar = /** @type {HTMLProgressElement} */ (element("searched"));
    if (element("waiting").hidden) {
      bar.max = seconds;
      this.screen.show("waiting");
    }
    bar.value = bar.max - seconds;
    this.screen.fill(document, { seconds: String(seconds) });
  }

  /** @param {string} report Show exactly what will be sent, in words and to the letter. */
  review(report) {
    this.asked = this.fields = [];
    this.reviewed = report;
    this.lineUp(report);
    this.screen.show("review");
  }

  /** @param {string} report A line for everything that it says. */
  lineUp(report) {
    const message = JSON.parse(report);
    const { design } = this.client;
    const items = (/** @type {string} */ name) => this.item(name);
    const asked = design.ballots[message.ballot] ?? [];
    element("speaking").hidden = !asked.some(({ channel }) => channel.held);
    element("sent").replaceChildren(
      ...design.public.map((each, place) => clearLine(this.screen, items, each, message.public[place])),
      ...asked.map((question, place) => disguisedLine(this.screen, items, question, message.answers[place])),
    );
    element("bytes").textContent = report;
  }

  async send() {
    const problem = await this.client.send();
    if (problem === null) return this.screen.show("done");
    if (!problem.passes) return this.rejected(/** @type {Drawn} */ (await this.client.drawn()));
    this.screen.complain("ended", problem.code);
    return this.screen.show("unsent");
  }

  /** Check that everybody was shown the same blocks. The report is there already, whatever comes out. */
  async follow() {
    element("misled").hidden = element("followed").hidden = true;
    try {
      this.screen.fill(document, { blocks: String(await this.client.followBlocks()) });
      element("followed").hidden = false;
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof Problem)) throw error;
      this.screen.complain("misled", error.code);
    }
  }
}

/** @param {Field} field @returns {number | undefined} the code of what was answered, if it is an answer */
function codeOrNot({ attribute, value }) {
  const given = value();
  if (given === undefined) return undefined;
  try {
    return codeOf(attribute, given);
  } catch (error) {
    if (error instanceof Refusal) return undefined; // what was typed is no number
    throw error;
  }
}

/** @param {{opens: string | null, closes: string | null}} announcement Whether answers are not taken now. */
export function isClosed({ opens, closes }, now = Date.now()) {
  return (opens !== null && now < Date.parse(opens)) || (closes !== null && now >= Date.parse(closes));
}

/** @param {URLSearchParams} link What it says the survey should be. It proves something if everybody got the same. */
const pinsOf = (link) => ({ design: link.get("design"), issuer: link.get("issuer") });

/** @param {Screen} screen @param {unknown} error */
function failed(screen, error) {
  if (error instanceof Refusal) {
    screen.fill(document, { reason: (speech) => speech.sentence(error.code), detail: error.code });
    return screen.show(error.code === "overdrawn" ? "overdrawn" : "refused");
  }
  if (error instanceof Problem && error.code === "closed") return screen.show("closed");
  const { code } = error instanceof Problem ? error : { code: undefined };
  screen.fill(document, { failure: (speech) => (code === undefined ? String(error) : speech.sentence(code)) });
  return screen.show("failed");
}

/** @param {string} base From here on this page speaks to its collector, and to nobody else. */
function reachOnly(base) {
  const content = `connect-src ${base || "'self'"}`;
  document.head.append(make("meta", { "http-equiv": "Content-Security-Policy", content }));
}

/** @returns {string} the section to show instead of the survey, where the page is not safe to answer in */
function obstacle() {
  if (window.top !== window) return "framed";
  if (!globalThis.isSecureContext || !navigator.locks || !globalThis.indexedDB) return "insecure";
  // Servers can attach a style sheet by a header, before the page's own policy is read. Such a sheet has no element.
  return [...document.styleSheets].every((sheet) => sheet.ownerNode) ? "" : "restyled";
}

/** @param {string | null} named @returns {string | undefined} an origin, empty for the page's own; nothing, if it is none */
function baseOf(named) {
  if (named === null || named === location.origin) return "";
  try {
    return new URL(named).origin === named ? named : undefined;
  } catch {
    return undefined;
  }
}

async function main() {
  const [query, link] = [new URLSearchParams(location.search), new URLSearchParams(location.hash.slice(1))];
  const wanted = [query.get("lang") ?? "", ...navigator.languages];
  const screen = new Screen(new Speech(wanted));
  element("verifying").textContent = `deniable verify-page ${location.origin}${location.pathname}`;
  try {
    const base = baseOf(link.get("collector") ?? query.get("collector"));
    const wrong = obstacle() || (base === undefined ? "unaddressed" : "");
    if (wrong || base === undefined) return screen.show(wrong);
    reachOnly(base);
    const client = await Client.open(base, pinsOf(link));
    screen.speakIn(new Speech(wanted, client.form));
    await new Page(screen, client).start(link);
  } catch (error) {
    failed(screen, error);
  }
}

if (globalThis.document?.querySelector("main[data-survey]")) main();
