// @ts-check
/**
 * One attribute on the page: what is asked, in the researcher's words; what becomes of the answer, in ours; and how to
 * read what was chosen. Choices are offered by their place: nothing that a survey calls itself becomes a name here.
 */

import { make } from "./screen.mjs";

/** @typedef {import("./verify.mjs").Attribute} Attribute */
/** @typedef {import("./screen.mjs").Screen} Screen */
/** @typedef {{text: Record<string, string>, choices: Record<string, string>[]}} Item */
/** @typedef {string | bigint | boolean | {number: string}} Value */

const NOT_ASKED = "does not apply";

/**
 * @typedef {object} Field
 * @property {Attribute} attribute
 * @property {HTMLElement} root
 * @property {() => Value | undefined} value
 */

/**
 * @param {Screen} screen @param {Attribute} attribute @param {Item} item @param {number} place
 * @returns {Field}
 */
export function fieldOf(screen, attribute, item, place) {
  const made = screen.piece("field");
  const root = /** @type {HTMLFieldSetElement} */ (made.querySelector("fieldset"));
  const { text, lang } = screen.speech.word(attribute.isPublic ? "tag_clear" : "tag_disguised");
  const tag = made.querySelector(".tag");
  tag?.classList.toggle("clear", attribute.isPublic);
  tag?.setAttribute("lang", lang);
  tag?.append(text);
  made.querySelector(".question")?.append(screen.quote(screen.speech.theirs(item.text)));
  const choices = /** @type {HTMLElement} */ (made.querySelector(".choices"));
  const bins = attribute.coder.kind === "bins" ? attribute.coder.edges.length + 1 : 0;
  attribute.categories.forEach((value, code) => {
    if (code < bins || (attribute.rules.length && value === NOT_ASKED)) return;
    const radio = make("input", { type: "radio", name: `answer-${place}`, value: String(code) });
    const words = make("span", { class: "theirs" }, screen.quote(screen.speech.theirs(item.choices[code])));
    choices.append(make("label", { class: "choice" }, radio, words));
  });
  const chosen = () => {
    const found = root.querySelector("input[type=radio]:checked");
    return found ? attribute.categories[Number(/** @type {HTMLInputElement} */ (found).value)] : undefined;
  };
  if (!bins) return { attribute, root, value: chosen };
  const number = numberOf(root, choices, place);
  return { attribute, root, value: () => (number.value === "" ? chosen() : { number: number.value }) };
}

/** @param {HTMLElement} root @param {HTMLElement} choices @param {number} place A number to be typed, or a choice. */
function numberOf(root, choices, place) {
  const legend = root.querySelector("legend");
  legend?.setAttribute("id", `legend-${place}`);
  const number = /** @type {HTMLInputElement} */ (
    make("input", { type: "number", step: "any", inputmode: "decimal", autocomplete: "off" })
  );
  number.setAttribute("aria-labelledby", `legend-${place}`);
  choices.prepend(make("div", { class: "number" }, number));
  number.addEventListener("input", () => {
    for (const radio of root.querySelectorAll("input")) if (radio.type === "radio") radio.checked = false;
  });
  root.addEventListener("change", (event) => {
    if (event.target !== number) number.value = "";
  });
  return number;
}
