// @ts-check
/**
 * What is on the screen: sections that are shown one at a time, words, numbers in them, and the researcher's texts.
 *
 * Everything comes in as text, nothing as markup. The researcher's texts stand in elements of their own (<bdi>), so that
 * no letter in them, not one that turns the direction of writing, reaches what stands around them.
 */

import { direction } from "./language.mjs";

/** @typedef {import("./language.mjs").Speech} Speech */
/** @typedef {string | ((speech: Speech) => string)} Filling what stands in a sentence, in any language or in each */

/** @param {string} id @returns {HTMLElement} */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** @param {string} id @returns {HTMLInputElement} */
export const input = (id) => /** @type {HTMLInputElement} */ (element(id));

/**
 * @param {string} tag @param {Record<string, string | boolean>} attributes @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** @param {ParentNode} root @param {string} mark @param {string} value Of what is marked, leave that with this value. */
export function leave(root, mark, value) {
  for (const each of root.querySelectorAll(`[${mark}]`)) if (each.getAttribute(mark) !== value) each.remove();
}

/** @param {string} mark @param {string | null} value Show what is marked with this value, among others or alone. */
export function reveal(mark, value) {
  for (const each of document.querySelectorAll(`[${mark}]`)) {
    const shown = (each.getAttribute(mark) ?? "").split(" ");
    each.toggleAttribute("hidden", value === null || !shown.includes(value));
  }
}

/**
 * A sentence with places for numbers. Each stands in an element of its own, with the percent sign that belongs to it, so
 * that neither turns round what stands beside it, whichever way the sentence runs.
 *
 * @param {string} text @param {string} dir @returns {(Node | string)[]}
 */
function sentence(text, dir) {
  const parts = text.split(/(%?)\{([a-z]+)\}(%?)/);
  /** @type {(Node | string)[]} */
  const made = [parts[0] ?? ""];
  for (let at = 1; at < parts.length; at += 4) {
    const [before = "", name = "", after = "", rest = ""] = parts.slice(at, at + 4);
    const value = make("b", { "data-fill": name, ...(before || after ? {} : { dir: "auto" }) });
    made.push(before || after ? make("span", { dir }, before, value, after) : value, rest);
  }
  return made;
}

/** The screen, in one language at a time. */
export class Screen {
  /** @param {Speech} speech */
  constructor(speech) {
    this.speech = speech;
    /** @type {Map<string, Filling>} what was put into the page's sentences */
    this.fillings = new Map();
    /** @type {Map<string, string>} which code is explained where */
    this.complaints = new Map();
    this.speakIn(speech);
  }

  /** @param {Speech} speech Say everything that was said so far in this language, and go on in it. */
  speakIn(speech) {
    this.speech = speech;
    document.documentElement.lang = speech.language;
    document.documentElement.dir = direction(speech.language);
    this.speak(document);
    this.fill(document, Object.fromEntries(this.fillings));
    for (const [id, code] of this.complaints) element(id).textContent = speech.sentence(code);
  }

  /** @param {ParentNode} root Say every word that it names. {name} becomes a place for a number. */
  speak(root) {
    for (const place of root.querySelectorAll("[data-word]")) {
      const { text, lang, isTheirs } = this.speech.word(place.getAttribute("data-word") ?? "");
      place.setAttribute("lang", lang);
      place.setAttribute("dir", direction(lang));
      if (isTheirs) {
        place.replaceChildren(make("span", { class: "theirs" }, this.quote(text)));
        continue;
      }
      place.replaceChildren(...sentence(text, direction(lang)));
    }
    for (const frame of root.querySelectorAll(".device")) {
      if (!frame.querySelector(":scope > .says")) frame.prepend(this.piece("says"));
    }
    for (const frame of root.querySelectorAll("[data-their]")) {
      const { text, lang } = this.speech.word(frame.getAttribute("data-their") ?? "");
      if (frame.previousElementSibling?.className !== "writes") {
        frame.before(make("span", { class: "writes", hidden: frame.hasAttribute("hidden") }));
      }
      frame.previousElementSibling?.setAttribute("lang", lang);
      frame.previousElementSibling?.setAttribute("dir", direction(lang));
      frame.previousElementSibling?.replaceChildren(text);
    }
  }

  /** @param {string} name A piece of the page to be used several times. */
  piece(name) {
    const template = /** @type {HTMLTemplateElement} */ (element(name));
    const made = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
    this.speak(made);
    return made;
  }

  /** @param {string} id @param {string} [focus] Show one section and bring its heading to whoever reads or listens. */
  show(id, focus) {
    for (const section of document.querySelectorAll("main > section")) {
      section.toggleAttribute("hidden", section.id !== id);
    }
    element("status").hidden = true;
    const heading = element(id).querySelector("h2");
    // Where no survey's title is known, this is the first heading of the page.
    heading?.setAttribute("aria-level", element("title").textContent ? "2" : "1");
    (focus ? element(focus) : heading)?.focus();
  }

  /** @param {ParentNode} root @param {Record<string, Filling>} values Put numbers into the places the words leave. */
  fill(root, values) {
    for (const [name, value] of Object.entries(values)) {
      if (root === document) this.fillings.set(name, value);
      const said = typeof value === "string" ? value : value(this.speech);
      for (const place of root.querySelectorAll(`[data-fill="${name}"]`)) place.textContent = said;
    }
  }

  /** @param {string} id @param {string} code Say why something went wrong. */
  complain(id, code) {
    this.complaints.set(id, code);
    element(id).textContent = this.speech.sentence(code);
    element(id).hidden = false;
  }

  /** @param {string} text @returns {HTMLElement} the researcher's words */
  quote(text) {
    return make("bdi", { lang: this.speech.language, dir: "auto" }, text);
  }

  /** @param {string} id @param {string} text Put the researcher's words where they belong, or hide the place. */
  quoteAt(id, text) {
    element(id).replaceChildren(this.quote(text));
    const frame = element(id).closest(".theirs");
    frame?.toggleAttribute("hidden", !text);
    frame?.previousElementSibling?.toggleAttribute("hidden", !text);
  }
}
