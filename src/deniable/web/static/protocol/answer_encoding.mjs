// @ts-check
/**
 * From an answer to its code. Every value has a code or is refused, before anything is drawn and whatever is drawn.
 *
 *   null        "prefer not to say", where the survey offers it
 *   a choice    one of the categories, of the same type: the text "1", the whole number 1n and true are three answers
 *   a number    its bin, compared exactly with the edges; a floating-point number counts as the shortest decimal that
 *               reads back as it, and {number: text} is a decimal as it was typed
 *   not asked   "does not apply", where the rules do not hold, whatever was given
 *
 * No message here quotes a value: messages end up in logs.
 */

import { binOf, decimalOf } from "./exact_decimals.mjs";
import { refuse } from "./messages.mjs";
import { NOT_ASKED, SKIPPED } from "../device/design_terms.mjs";

export { NOT_ASKED, SKIPPED };

/** @typedef {import("../device/design_terms.mjs").Attribute} Attribute */
/** @typedef {import("./exact_decimals.mjs").Decimal} Decimal */
/** @typedef {string | bigint | boolean | number | null | undefined | {number: string}} Value */

/** @param {string} name @returns {never} */
const bad = (name) => refuse("bad-answer", `the answer about ${name} is none that it can have`);

/** @param {string} name @param {Value} value @returns {Decimal | undefined} what a number is worth */
function numberOf(name, value) {
  if (value !== null && typeof value === "object") {
    return (typeof value.number === "string" ? decimalOf(value.number.trim()) : undefined) ?? bad(name);
  }
  if (typeof value === "number" && !Number.isFinite(value)) return bad(name);
  return typeof value === "number" || typeof value === "bigint" ? decimalOf(String(value)) : undefined;
}

/** @param {Attribute} attribute @param {Value} value @returns {number} */
export function codeOf({ name, categories, coder, rules }, value) {
  const number = numberOf(name, value);
  if (number && coder.kind === "bins") return binOf(coder.edges, number);
  const answer = value ?? SKIPPED;
  const code = categories.findIndex((each) => each === answer);
  return code < 0 || (rules.length > 0 && answer === NOT_ASKED) ? bad(name) : code;
}

/**
 * Whether a question is put, by the codes of the public answers.
 *
 * @param {Attribute} attribute @param {Record<string, number | undefined>} codes
 */
export const isShown = ({ rules }, codes) =>
  rules.every(({ attribute, codes: wanted }) => wanted.includes(codes[attribute] ?? -1));

/**
 * The codes of the public attributes and of those that are named; without names, of all. Refused before anything is
 * drawn, where an answer is missing or is none that the attribute can have.
 *
 * @param {{public: Attribute[], attributes: Attribute[]}} design @param {Record<string, Value>} values
 * @param {string[]} [names] @returns {Record<string, number>}
 */
export function codesOf(design, values, names) {
  /** @param {Attribute} attribute */
  const code = (attribute) => {
    if (!Object.hasOwn(values, attribute.name)) refuse("bad-answer", `there is no answer about ${attribute.name}`);
    return codeOf(attribute, values[attribute.name]);
  };
  /** @type {Record<string, number>} */
  const codes = Object.create(null); // whatever an attribute is called, it is a field like any other
  for (const each of design.public) codes[each.name] = code(each);
  for (const each of design.attributes) {
    if (names && !names.includes(each.name)) continue;
    codes[each.name] = isShown(each, codes) ? code(each) : each.categories.indexOf(NOT_ASKED);
  }
  return codes;
}
