// @ts-check
/**
 * One attribute on the page: what is asked, in the researcher's words; what becomes of the answer, in ours; and how to
 * read what was chosen. Choices are offered by their place: nothing that a survey calls itself becomes a name here.
 */

import { make } from "./screen.mjs";
import { NOT_ASKED, SKIPPED } from "./terms.mjs";

/** @typedef {import("./verify.mjs").Attribute} Attribute */
/** @typedef {import("./screen.mjs").Screen} Screen */
/** @typedef {import("./form.mjs").Item} Item */
/** @typedef {string | bigint | boolean | {number: string}} Value */

const MOST_ACROSS = 11; // steps of a scale side by side
const LONGEST_ACROSS = 3; // characters of such a step
const MOST_LISTED = 12; // choices without a way to search them

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
    const apart = value === SKIPPED ? "choice apart" : "choice";
    choices.append(make("label", { class: apart }, radio, words));
  });
  if (isAcross(screen, attribute, item)) choices.classList.add("across");
  if (choices.childElementCount > MOST_LISTED) addSearch(screen, choices);
  const chosen = () => {
    const found = root.querySelector("input[type=radio]:checked");
    return found ? attribute.categories[Number(/** @type {HTMLInputElement} */ (found).value)] : undefined;
  };
  if (!bins) return { attribute, root, value: chosen };
  const number = addNumber(screen, root, choices, item, place);
  return { attribute, root, value: () => (number.value === "" ? chosen() : { number: number.value }) };
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
 */
function addNumber(screen, root, choices, { entry }, place) {
  const legend = root.querySelector("legend");
  legend?.setAttribute("id", `legend-${place}`);
  const hints = { step: entry?.step ?? "any", min: entry?.min ?? false, max: entry?.max ?? false };
  const number = /** @type {HTMLInputElement} */ (
    make("input", { type: "number", ...hints, inputmode: "decimal", autocomplete: "off" })
  );
  number.setAttribute("aria-labelledby", `legend-${place}`);
  const typed = make("div", { class: "number" }, number);
  if (entry?.min && entry.max) {
    const { speech } = screen;
    const { lang } = speech.word("number_hint");
    const said = speech.filled("number_hint", { low: speech.number(entry.min), high: speech.number(entry.max) });
    typed.append(make("span", { class: "hint", id: `hint-${place}`, lang }, said));
    number.setAttribute("aria-describedby", `hint-${place}`);
  }
  choices.prepend(typed);
  number.addEventListener("input", () => {
    for (const radio of root.querySelectorAll("input")) if (radio.type === "radio") radio.checked = false;
  });
  root.addEventListener("change", (event) => {
    if (event.target !== number) number.value = "";
  });
  return number;
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
