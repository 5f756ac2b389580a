// @ts-check
/**
 * One attribute on the page: what is asked, in the researcher's words; what becomes of the answer, in ours; and how to
 * read what was chosen. Choices are offered by their place: nothing that a survey calls itself becomes a name here.
 */

import { isBelow } from "../protocol/exact_decimals.mjs";
import { make } from "./screen.mjs";
import { NOT_ASKED, SKIPPED } from "../device/design_terms.mjs";
import { readNumber } from "./typed_number.mjs";

/** @typedef {import("../device/verify.mjs").Attribute} Attribute */
/** @typedef {import("./screen.mjs").Screen} Screen */
/** @typedef {import("../protocol/form.mjs").Item} Item */
/** @typedef {string | bigint | boolean | {number: string}} Value */

const MOST_ACROSS = 11; // steps of a scale side by side
const LONGEST_ACROSS = 3; // characters of such a step
const MOST_LISTED = 12; // choices without a way to search them

/**
 * @typedef {object} Field
 * @property {Attribute} attribute
 * @property {HTMLElement} root
 * @property {() => Value | undefined} value
 * @property {() => boolean} doubts whether whoever answers is asked once more what was meant, which is said there
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
    const apart = value === SKIPPED ? "choice apart" : "choice";
    choices.append(make("label", { class: apart }, radio, words));
  });
  if (isAcross(screen, attribute, item)) choices.classList.add("across");
  if (choices.childElementCount > MOST_LISTED) addSearch(screen, choices);
  const chosen = () => {
    const found = root.querySelector("input[type=radio]:checked");
    return found ? attribute.categories[Number(/** @type {HTMLInputElement} */ (found).value)] : undefined;
  };
  if (!bins) return { attribute, root, value: chosen, doubts: () => false };
  const { number, doubts } = addNumber(screen, root, choices, item, place);
  const typed = () => {
    const [found, other] = readNumber(number.value);
    return found === undefined || other !== undefined ? undefined : { number: found };
  };
  return { attribute, root, value: () => (number.value === "" ? chosen() : typed()), doubts };
}

/** @param {Screen} screen @param {Attribute} attribute @param {Item} item Whether a scale's steps fit side by side. */
function isAcross({ speech }, { kind, categories }, { choices }) {
  const steps = categories.flatMap((each, code) => (each === SKIPPED || each === NOT_ASKED ? [] : [choices[code]]));
  const isShort = steps.every((step) => [...speech.theirs(step)].length <= LONGEST_ACROSS);
  return kind === "scale" && steps.length <= MOST_ACROSS && isShort;
}

/** @param {string} text As it is compared: "Łódź" is found by "lodz". */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/ł/g, "l").replace(/ø/g, "o");

/** @param {Screen} screen @param {HTMLElement} choices A field that leaves only the choices with what is typed in it. */
function addSearch(screen, choices) {
  const labels = /** @type {HTMLElement[]} */ ([...choices.children]);
  const made = screen.piece("search");
  const box = /** @type {HTMLInputElement} */ (made.querySelector("input"));
  const status = /** @type {HTMLElement} */ (made.querySelector(".found"));
  const listed = make("div", { class: "listed" }, ...labels);
  const search = () => {
    const wanted = plain(box.value.trim());
    for (const label of labels) {
      // What is chosen stays in sight, whatever is searched for afterwards.
      label.hidden = !plain(label.textContent ?? "").includes(wanted) && !label.querySelector("input:checked");
    }
    const found = labels.filter((label) => !label.hidden).length;
    screen.fill(status, { found: String(found), all: String(labels.length) });
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it would send the form
  });
  choices.append(made, listed);
  search();
}

/**
 * A number to be typed, or a choice. How it may be typed is a hint and no more: whatever number is given has a bin.
 *
 * @param {Screen} screen @param {HTMLElement} root @param {HTMLElement} choices @param {Item} item @param {number} place
 * @returns {{number: HTMLInputElement, doubts: () => boolean}}
 */
function addNumber(screen, root, choices, { entry }, place) {
  const legend = root.querySelector("legend");
  legend?.setAttribute("id", `legend-${place}`);
  const isWhole = [entry?.step, entry?.min].every((each) => each && /^[0-9]+$/.test(each)); // a keyboard of digits does
  const hints = { inputmode: isWhole ? "numeric" : "decimal", autocomplete: "off", maxlength: "60" };
  const number = /** @type {HTMLInputElement} */ (make("input", { type: "text", ...hints }));
  number.setAttribute("aria-labelledby", `legend-${place}`);
  const typed = make("div", { class: "number" }, number);
  if (entry?.min && entry.max) {
    const { speech } = screen;
    const { lang } = speech.word("number_hint");
    const said = speech.filled("number_hint", { low: speech.number(entry.min), high: speech.number(entry.max) });
    typed.append(make("span", { class: "hint", id: `hint-${place}`, lang }, said));
    number.setAttribute("aria-describedby", `hint-${place}`);
  }
  const doubt = make("p", { class: "error doubt", role: "alert", hidden: true });
  choices.prepend(typed, doubt);
  number.addEventListener("input", () => {
    for (const radio of root.querySelectorAll("input")) if (radio.type === "radio") radio.checked = false;
    doubt.hidden = true;
  });
  root.addEventListener("change", (event) => {
    if (event.target === number) return;
    number.value = "";
    doubt.hidden = true;
  });
  return { number, doubts: doubting(screen, number, doubt, entry) };
}

/**
 * What is asked about a number: no number again, which of two, and once whether one outside the hints is right.
 *
 * @param {Screen} screen @param {HTMLInputElement} number @param {HTMLElement} doubt @param {Item["entry"]} entry
 */
function doubting(screen, number, doubt, entry) {
  let asked = "";
  /** @param {string} word @param {HTMLElement[]} offers */
  const say = (word, ...offers) => {
    const { text, lang } = screen.speech.word(word);
    doubt.replaceChildren(make("span", { lang }, text), ...offers);
    doubt.hidden = false;
    return true;
  };
  /** @param {string} meant */
  const offer = (meant) => {
    const button = make("button", { type: "button", class: "quiet" }, screen.speech.number(meant));
    button.addEventListener("click", () => {
      number.value = meant;
      doubt.hidden = true;
      number.focus();
    });
    return button;
  };
  return () => {
    doubt.hidden = true;
    if (number.value === "") return false;
    const [found, ...others] = readNumber(number.value);
    if (found === undefined) return say("number_unread");
    if (others.length) return say("number_which", ...[found, ...others].map(offer));
    const isOutside = (entry?.min && isBelow(found, entry.min)) || (entry?.max && isBelow(entry.max, found));
    if (!isOutside || asked === found) return false;
    asked = found;
    return say("number_outside");
  };
}

/** @param {HTMLElement} root @returns {(string | boolean)[]} what was entered into a field */
export const entriesOf = (root) =>
  [...root.querySelectorAll("input")].map((each) => (each.type === "radio" ? each.checked : each.value));

/** @param {HTMLElement} root @param {(string | boolean)[]} entries Enter the same into a field that is made alike. */
export function enterInto(root, entries) {
  root.querySelectorAll("input").forEach((each, at) => {
    const entry = entries[at];
    if (typeof entry === "boolean") each.checked = entry;
    else if (entry) each.value = entry;
    if (each.type === "search") each.dispatchEvent(new Event("input"));
  });
}
