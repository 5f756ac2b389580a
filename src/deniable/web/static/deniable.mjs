// @ts-check
/**
 * deniable: the program that runs in a respondent's browser, from loading to thanks. This file is the page; the client
 * behind it is client.mjs.
 *
 * These files are served as they lie here: nothing is built, bundled or loaded besides them, so what you read is what
 * runs. Their SHA-256 are published at /static/programs.sha256 and in the documentation.
 *
 * All words stand in the page or come with the survey. Sections of the page are shown one at a time.
 */

import { Client } from "./client.mjs";
import { approximate, epsilonOf } from "./exact.mjs";
import { DELIVERED, REJECTED } from "./memory.mjs";
import { Refusal } from "./messages.mjs";
import { isSupported, shown, shownDelta, statement } from "./pairs.mjs";
import { Problem, get } from "./transport.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("./exact.mjs").Ratio} Ratio */
/** @typedef {import("./memory.mjs").Drawn} Drawn */
/** @typedef {import("./verify.mjs").Attribute} Attribute */
/** @typedef {import("./verify.mjs").Question} Question */

const NOT_ASKED = "does not apply";

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * @param {string} tag @param {Record<string, string | boolean>} attributes @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** @param {string} id @param {string} [focus] Show one section and bring its heading to whoever reads or listens. */
function show(id, focus) {
  for (const section of document.querySelectorAll("main > section")) {
    section.toggleAttribute("hidden", section.id !== id);
  }
  element("status").hidden = true;
  (focus ? element(focus) : element(id).querySelector("h2"))?.focus();
}

/** @param {ParentNode} root @param {Record<string, string>} values Put numbers into the places the words leave. */
function fill(root, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const place of root.querySelectorAll(`[data-fill="${name}"]`)) place.textContent = value;
  }
}

/** @param {string} name A piece of the page to be used several times. */
function piece(name) {
  const template = /** @type {HTMLTemplateElement} */ (element(name));
  return /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/** @param {Record<string, string> | undefined} texts */
const inLanguage = (texts) => texts?.[document.documentElement.lang] ?? Object.values(texts ?? {})[0] ?? "";

/** @param {number} share Of a hundred, never better than it is. */
const percent = (share) => String(Math.min(99, Math.ceil(share * 100 - 1e-9)));

/** @param {Ratio} r How sure somebody can become who was undecided. */
const belief = (r) => percent(approximate(r) / (1 + approximate(r)));

/** @param {SVGElement} picture @param {number} share Colour so many of a picture's hundred dots. */
function colour(picture, share) {
  const kept = Math.round(share * 100);
  picture.querySelectorAll("circle").forEach((dot, index) => dot.classList.toggle("kept", index < kept));
}

/**
 * One item of the form: what is asked, and how to read the answer.
 *
 * @typedef {object} Field
 * @property {Attribute} attribute
 * @property {Anything} item
 * @property {HTMLElement} root
 * @property {() => number | undefined} code
 */

/** @param {Attribute} attribute @param {Anything} item @returns {Field} */
function fieldOf(attribute, item) {
  const rules = Object.keys(item?.show_if ?? {}).length > 0;
  /** @type {Anything[]} */
  const choices = item?.choices ?? [];
  const texts = new Map(choices.map((each) => [each.value, inLanguage(each.text)]));
  const bins = item?.kind === "number" ? item.bins : [];
  const legend = make("legend", {}, inLanguage(item?.text) || attribute.name);
  const root = make("fieldset", { "data-attribute": attribute.name }, legend);
  attribute.categories.forEach((value, code) => {
    const known = String(value);
    if ((rules && known === NOT_ASKED) || (bins.length && code <= bins.length)) return;
    const input = make("input", { type: "radio", name: attribute.name, value: String(code) });
    root.append(make("label", { class: "choice" }, input, make("span", {}, String(texts.get(known) ?? known))));
  });
  if (!bins.length) return { attribute, item, root, code: () => checked(root) };
  const name = `number-${attribute.name}`;
  const number = /** @type {HTMLInputElement} */ (
    make("input", { type: "number", step: "any", inputmode: "decimal", id: name, autocomplete: "off" })
  );
  legend.id = `legend-${attribute.name}`;
  number.setAttribute("aria-labelledby", legend.id);
  legend.after(make("div", { class: "number" }, number));
  number.addEventListener("input", () => {
    for (const radio of root.querySelectorAll("input")) if (radio.type === "radio") radio.checked = false;
  });
  root.addEventListener("change", (event) => {
    if (event.target !== number) number.value = "";
  });
  const code = () => {
    if (number.value === "" || !Number.isFinite(number.valueAsNumber)) return checked(root);
    return bins.filter((/** @type {number} */ edge) => edge <= number.valueAsNumber).length;
  };
  return { attribute, item, root, code };
}

/** @param {HTMLElement} root */
function checked(root) {
  const found = root.querySelector("input[type=radio]:checked");
  return found ? Number(/** @type {HTMLInputElement} */ (found).value) : undefined;
}

/** @param {Anything} form @param {Attribute} attribute @param {bigint | string | boolean} value */
function textOf(form, attribute, value) {
  const item = [...form.questions, ...form.public].find((each) => each.name === attribute.name);
  const choice = item?.choices.find((/** @type {Anything} */ each) => each.value === String(value));
  return choice ? inLanguage(choice.text) : String(value);
}

/** @param {string} code Why something was not taken or is refused, in the respondent's language. */
function sentence(code) {
  const known = /** @type {HTMLTemplateElement} */ (element("sentences")).content;
  const found = known.querySelector(`[data-codes~="${CSS.escape(code)}"]`) ?? known.querySelector("[data-codes='']");
  return `${found?.textContent ?? ""}${code && ` (${code})`}`;
}

/** @param {string} id @returns {HTMLInputElement} */
const field = (id) => /** @type {HTMLInputElement} */ (element(id));

/** The respondent's page, from loading to thanks. */
class Page {
  /** @param {Anything} form @param {Client} client */
  constructor(form, client) {
    this.form = form;
    this.client = client;
    /** @type {Field[]} */
    this.fields = [];
    /** @type {string | null} the issuer's key that the link names */
    this.issuer = null;
    this.busy = false;
  }

  /** @param {URLSearchParams} link what the address has behind its #, which browsers do not send */
  async start(link) {
    this.listen();
    const { admission, design } = this.client;
    fill(document, { belief: belief(design.ratio), promise: design.epsilon });
    element("believed").setAttribute("width", belief(design.ratio));
    for (const note of document.querySelectorAll("[data-admission]")) {
      note.toggleAttribute("hidden", note.getAttribute("data-admission") !== admission.kind);
    }
    for (const note of document.querySelectorAll("[data-adaptive]")) note.toggleAttribute("hidden", !design.isAdaptive);
    const sets = design.questions.some(({ channel }) => channel.held);
    for (const note of document.querySelectorAll("[data-sets]")) note.toggleAttribute("hidden", !sets);
    const known = await this.client.drawn();
    const invitation = link.get("invitation") ?? (await admission.pending());
    if (known) return this.resume(known, invitation);
    if (design.isPaired) {
      if (!(await isSupported())) return show("unsupported");
      this.warn();
    }
    const { affordable, spent, dearest, limit } = await this.client.account();
    const left = Math.max(0, limit - epsilonOf(spent));
    fill(document, { cost: epsilonOf(dearest).toFixed(2), left: left.toFixed(2), limit: String(limit) });
    if (!affordable) return show("overdrawn");
    this.issuer = link.get("issuer");
    if (invitation && admission.kind !== "open") return this.enter(invitation);
    return (await admission.isReady()) ? this.introduce() : show("invitation");
  }

  listen() {
    addEventListener("hashchange", () => location.reload()); // a link with an invitation, opened in this tab
    /** @type {Record<string, () => Promise<unknown>>} */
    const clicks = {
      begin: () => this.begin(),
      send: () => this.send(),
      again: () => this.send(),
      return: async () => show("invitation"),
      follow: () => this.follow(),
    };
    for (const [id, action] of Object.entries(clicks)) element(id).addEventListener("click", () => this.guard(action));
    /** @type {Record<string, () => Promise<unknown>>} */
    const submits = { answers: () => this.disguise(), invite: () => this.enter(field("code").value.trim()) };
    for (const [id, action] of Object.entries(submits)) {
      element(id).addEventListener("submit", (event) => {
        event.preventDefault();
        this.guard(action);
      });
    }
  }

  /** Say what pairing really promises; nobody begins without having agreed to it. */
  warn() {
    const { claimed, partner, coin, delta } = statement(this.client.design);
    fill(document, { claimed: shown(claimed), partner: shown(partner), coin: shown(coin) });
    fill(document, { strangersure: belief(claimed), partnersure: belief(partner), coinsure: belief(coin) });
    if (delta !== null) fill(document, { delta: shownDelta(delta) });
    element("failing").hidden = delta === null;
    element("weaker").hidden = false;
  }

  /** @param {Drawn} known @param {string | undefined} invitation After a reload: where this respondent was. */
  async resume(known, invitation) {
    if (known.fate === DELIVERED) return show("done");
    if (known.fate === REJECTED && invitation && this.client.canReturn(known)) return this.enter(invitation);
    if (known.fate === REJECTED) return this.rejected(known);
    return known.report === null ? this.ask(this.client.questions(known)) : this.review(known.report);
  }

  /** @param {Drawn} known */
  rejected(known) {
    fill(document, { problem: sentence(known.problem ?? "") });
    element("return").hidden = !this.client.canReturn(known);
    return show("rejected");
  }

  /** @param {string} text An invitation, as it was typed or came with the link; or the whole link. */
  async enter(text) {
    const link = new URLSearchParams(text.slice(text.indexOf("#") + 1));
    const invitation = link.get("invitation") ?? text;
    this.issuer = link.get("issuer") ?? this.issuer;
    const { admission } = this.client;
    field("code").value = invitation;
    /** @param {string} code */
    const fail = (code) => {
      element("uninvited").textContent = sentence(code);
      element("uninvited").hidden = false;
      show("invitation", "code");
    };
    if (!invitation) return fail("uninvited");
    const isDrawn = (await this.client.drawn()) !== undefined;
    let report = "";
    try {
      if (isDrawn) report = await this.client.readdress(invitation);
      else await admission.enter(invitation, this.issuer);
    } catch (error) {
      if (error instanceof Problem) return fail(error.code);
      throw error;
    }
    // It is written down: nobody who looks at the address later needs to see it.
    history.replaceState(null, "", location.pathname + location.search);
    field("code").value = "";
    return isDrawn ? this.review(report) : this.introduce();
  }

  async introduce() {
    fill(document, { issuer: await this.client.admission.issuer() });
    show("intro");
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
      failed(error);
    } finally {
      this.busy = false;
      buttons.forEach((button) => button.removeAttribute("aria-disabled"));
    }
  }

  async begin() {
    const agreed = !this.client.design.isPaired || field("agree").checked;
    element("disagreed").hidden = agreed;
    if (agreed) this.ask(await this.client.draw());
    else field("agree").focus();
  }

  /** @param {Question[]} questions */
  ask(questions) {
    const { form, client } = this;
    const clear = client.design.public.map((each) => fieldOf(each, named(form.public, each.name)));
    element("public").replaceChildren(...clear.map((field) => field.root));
    element("clear").hidden = !clear.length;
    this.fields = [...clear];
    const cards = questions.map((question) => {
      const card = piece("question");
      const fields = question.attributes.map((each) => fieldOf(each, named(form.questions, each.name)));
      this.fields.push(...fields);
      card.querySelector(".fields")?.append(...fields.map((field) => field.root));
      card.querySelector(".together")?.toggleAttribute("hidden", fields.length < 2);
      tellChances(card, question);
      return card;
    });
    element("asked").replaceChildren(...cards);
    element("answers").addEventListener("change", () => this.reveal());
    this.reveal();
    show("questions");
  }

  /** Show and leave out questions by public attributes; whoever is not asked sends a disguised answer all the same. */
  reveal() {
    for (const field of this.fields) field.root.hidden = !this.isShown(field);
    for (const note of document.querySelectorAll("#asked .unasked")) {
      note.toggleAttribute("hidden", !note.parentElement?.querySelector("fieldset[hidden]"));
    }
  }

  /** @param {Field} field */
  isShown({ item }) {
    return Object.entries(item?.show_if ?? {}).every(([name, wanted]) => {
      const other = this.fields.find((each) => each.attribute.name === name);
      const code = other?.code();
      return code !== undefined && wanted.includes(other?.attribute.categories[code]);
    });
  }

  async disguise() {
    /** @type {Record<string, number>} */
    const codes = {};
    /** @type {Field | undefined} */
    let missing;
    for (const field of this.fields) {
      const code = this.isShown(field) ? field.code() : field.attribute.categories.indexOf(NOT_ASKED);
      field.root.classList.toggle("missing", code === undefined);
      if (code === undefined) missing ??= field;
      else codes[field.attribute.name] = code;
    }
    element("unanswered").hidden = !missing;
    if (missing) {
      /** @type {HTMLElement | null} */ (missing.root.querySelector("input"))?.focus();
      return;
    }
    element("unreached").hidden = true;
    let report;
    try {
      report = await this.client.finish(codes, (seconds) => this.wait(seconds));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      element("unreached").textContent = sentence(error.code);
      element("unreached").hidden = false;
      return show("questions");
    }
    /** @type {HTMLFormElement} */ (element("answers")).reset(); // from here on, the answer is nowhere
    await this.review(report);
  }

  /** @param {number} seconds A partner is looked for, so much longer at most. */
  wait(seconds) {
    const bar = /** @type {HTMLProgressElement} */ (element("searched"));
    if (element("waiting").hidden) {
      bar.max = seconds;
      show("waiting");
    }
    bar.value = bar.max - seconds;
    fill(document, { seconds: String(seconds) });
  }

  /** @param {string} report Show exactly what will be sent, in words and to the letter. */
  async review(report) {
    const message = JSON.parse(report);
    const { design } = this.client;
    const rows = design.public.map((each, place) => row(this.form, [each], [message.public[place]], "clear"));
    const asked = design.ballots[message.ballot] ?? [];
    element("speaking").hidden = !asked.some(({ channel }) => channel.held);
    asked.forEach((question, place) => {
      const { attributes, channel } = question;
      const sizes = attributes.map((each) => each.categories.length);
      const report = message.answers[place];
      if (channel.held) rows.push(setRow(this.form, attributes, channel.held.members(report), sizes));
      else rows.push(row(this.form, attributes, parts(report, sizes), "disguised"));
    });
    element("sent").replaceChildren(...rows);
    element("bytes").textContent = report;
    show("review");
  }

  async send() {
    const problem = await this.client.send();
    if (problem === null) return show("done");
    if (!problem.passes) return this.rejected(/** @type {Drawn} */ (await this.client.drawn()));
    return show("unsent");
  }

  /** Check that everybody was shown the same blocks. The report is there already, whatever comes out. */
  async follow() {
    element("misled").hidden = element("followed").hidden = true;
    try {
      fill(document, { blocks: String(await this.client.followBlocks()) });
      element("followed").hidden = false;
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof Problem)) throw error;
      element("misled").textContent = sentence(error.code);
      element("misled").hidden = false;
    }
  }
}

/** @param {Anything[]} items @param {string} name */
const named = (items, name) => items.find((item) => item.name === name);

/** @param {number} cell @param {number[]} sizes The codes that a combination is made of. */
function parts(cell, sizes) {
  let left = cell;
  return sizes.reduceRight((codes, size) => {
    codes.unshift(left % size);
    left = Math.floor(left / size);
    return codes;
  }, /** @type {number[]} */ ([]));
}

/** @param {ParentNode} card @param {Question} question Say in words and in a picture what becomes of an answer. */
function tellChances(card, { channel, static: isStatic }) {
  const { limits, held, levels } = channel;
  const how = limits ? "adaptive" : held ? "set" : "fixed";
  leave(card, "data-chances", how);
  const kept = Math[limits ? "ceil" : "round"](channel.kept * 100);
  fill(card, { kept: String(kept), changed: String(100 - kept), belief: belief(channel.ratio) });
  fill(card, { other: String(Math.round((held?.other ?? 0) * 100)) });
  card.querySelector(".again")?.toggleAttribute("hidden", !(levels && isStatic));
  for (const [name, share] of Object.entries({ own: channel.kept, others: held?.other ?? 0 })) {
    const picture = /** @type {SVGElement | null} */ (card.querySelector(`svg.${name}`));
    if (picture) colour(picture, share);
  }
}

/** @param {ParentNode} root @param {string} mark @param {string} value Of what is marked, leave that with this value. */
function leave(root, mark, value) {
  for (const each of root.querySelectorAll(`[${mark}]`)) if (each.getAttribute(mark) !== value) each.remove();
}

/** @param {Anything} form @param {Attribute[]} attributes */
function askedText(form, attributes) {
  const questions = attributes.map((each) => {
    const item = named([...form.questions, ...form.public], each.name);
    return inLanguage(item?.text) || each.name;
  });
  return questions.join(" + ");
}

/** @param {Anything} form @param {Attribute[]} attributes @param {number[]} codes */
const valueText = (form, attributes, codes) =>
  attributes.map((each, place) => textOf(form, each, each.categories[codes[place] ?? 0] ?? "")).join(" + ");

/** @param {Anything} form @param {Attribute[]} attributes @param {number[]} codes @param {string} how */
function row(form, attributes, codes, how) {
  const made = piece("line");
  fill(made, { question: askedText(form, attributes), value: valueText(form, attributes, codes) });
  leave(made, "data-how", how);
  return made;
}

const MOST_LISTED = 100; // members of a set that are shown one by one

/** @param {Anything} form @param {Attribute[]} attributes @param {number[]} members @param {number[]} sizes */
function setRow(form, attributes, members, sizes) {
  const made = piece("line");
  made.querySelector("[data-fill=value]")?.remove();
  const listed = members.slice(0, MOST_LISTED);
  const texts = listed.map((cell) => make("li", {}, valueText(form, attributes, parts(cell, sizes))));
  made.querySelector("ul")?.append(...texts);
  if (!members.length) made.querySelector("ul")?.remove();
  const more = members.length - listed.length;
  fill(made, { question: askedText(form, attributes), more: String(more) });
  leave(made, "data-how", "set");
  made.querySelector(".none")?.toggleAttribute("hidden", members.length > 0);
  made.querySelector(".more")?.toggleAttribute("hidden", more === 0);
  return made;
}

/** @param {unknown} error */
function failed(error) {
  if (error instanceof Refusal) {
    fill(document, { reason: sentence(error.code), detail: error.message });
    return show(error.code === "overdrawn" ? "overdrawn" : "refused");
  }
  fill(document, { failure: error instanceof Problem ? sentence(error.code) : String(error) });
  return show("failed");
}

async function main() {
  if (!globalThis.isSecureContext || !navigator.locks || !globalThis.indexedDB) return show("insecure");
  try {
    const form = JSON.parse(new TextDecoder().decode(await get("/v1/survey")));
    const link = new URLSearchParams(location.hash.slice(1));
    await new Page(form, await Client.open(form)).start(link);
  } catch (error) {
    failed(error);
  }
}

if (globalThis.document?.querySelector("main[data-survey]")) main();
