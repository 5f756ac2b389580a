// @ts-check
/** Corrected words on the page: what people read who answered earlier, beside what is asked now, and the reason given. */

import { direction } from "./language.mjs";
import { element, make } from "./screen.mjs";

/** @typedef {import("./screen.mjs").Screen} Screen */
/** @typedef {import("../protocol/word_corrections.mjs").Change} Change */
/** @typedef {import("../protocol/word_corrections.mjs").Correction} Correction */

const ASKED = ["question", "choice", "entry"];

/** @param {Screen} screen @param {Correction[]} corrections Say before anything is asked what was corrected, all of it. */
export function tellCorrections(screen, corrections) {
  element("corrected").hidden = !corrections.length;
  element("corrections").replaceChildren(
    ...corrections.map((correction) => told(screen, correction, () => true)).filter((each) => each !== null),
  );
}

/**
 * @param {Screen} screen @param {Correction[]} corrections @param {HTMLFieldSetElement | HTMLElement} root
 * @param {string} name @param {number} place Say it of one attribute where that is asked, in the reader's language.
 */
export function tellCorrectionsOf(screen, corrections, root, name, place) {
  const { language } = screen.speech;
  /** @param {Change} change */
  const isHere = (change) =>
    ASKED.includes(change.part) && change.name === name && ["", language].includes(change.language);
  const parts = corrections.map((correction) => told(screen, correction, isHere)).filter((each) => each !== null);
  if (!parts.length) return;
  const note = make("div", { class: "note corrected", id: `corrected-${place}` }, word(screen, "corrected_here"));
  note.append(...parts);
  root.append(note);
  root.setAttribute("aria-describedby", `corrected-${place}`);
}

/** @param {Screen} screen @param {Correction} correction @param {(change: Change) => boolean} isMeant */
function told(screen, { why, changes }, isMeant) {
  const meant = changes.filter(isMeant);
  if (!meant.length) return null;
  const reason = make("p", {}, word(screen, "corrected_why"), " ", quote(why, screen.speech.language));
  const rows = meant.flatMap(({ before, after, language }) => [
    line(screen, "corrected_before", before, language),
    line(screen, "corrected_now", after, language),
  ]);
  return make("div", {}, make("dl", {}, ...rows.flat()), reason);
}

/** @param {Screen} screen @param {string} name @param {string} text @param {string} language @returns {HTMLElement[]} */
function line(screen, name, text, language) {
  const said = text === "" ? word(screen, "corrected_nothing") : quote(text, language || screen.speech.language);
  return [make("dt", {}, word(screen, name)), make("dd", {}, said)];
}

/** @param {string} text @param {string} language */
const quote = (text, language) => make("span", { class: "theirs" }, make("bdi", { lang: language, dir: "auto" }, text));

/** @param {Screen} screen @param {string} name */
function word(screen, name) {
  const { text, lang } = screen.speech.word(name);
  return make("span", { lang, dir: direction(lang) }, text);
}
