// @ts-check
/** The languages that a survey has, as buttons: there is no link on the page. */

import { element, make } from "./screen.mjs";

/** @typedef {import("./screen.mjs").Screen} Screen */

/**
 * @param {Screen} screen @param {readonly string[]} languages
 * @param {(language: string) => void} choose what a button does, beside writing its language into the address
 */
export function offerLanguages({ speech }, languages, choose) {
  const buttons = languages.map((each) => {
    const pressed = String(each === speech.language);
    const button = make("button", { type: "button", class: "quiet", lang: each, "aria-pressed": pressed }, each);
    button.addEventListener("click", () => {
      const next = new URL(location.href);
      next.searchParams.set("lang", each);
      history.replaceState(null, "", next);
      choose(each);
    });
    return button;
  });
  element("languages").replaceChildren(...buttons);
  element("languages").setAttribute("aria-label", speech.word("language").text);
  element("languages").hidden = languages.length < 2;
}

/** Bring whoever chose a language back to its button, which was made anew. */
export function returnToLanguage() {
  /** @type {HTMLElement | null} */ (element("languages").querySelector("[aria-pressed=true]"))?.focus();
}
