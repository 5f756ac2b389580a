// @ts-check
/**
 * A number as people type it: with a comma or a point, groups of thousands, the digits of their script.
 *
 * A number input of the browser would decide by the language of the browser what "1,000" is, and give nothing at all
 * for "19,5" where that has points. Here what can be two numbers is two numbers, and whoever typed it is asked.
 */

import { decimalOf } from "../protocol/exact_decimals.mjs";

const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10]; // Arabic, Persian, Devanagari, Bengali, Thai, wide
const MARKS = /[\u200e\u200f\u061c\u2066-\u2069]/g; // of the direction of writing: keyboards add them
const GROUPED = /^([+-]?[0-9]{1,3})((?:[\s'\u2019\u066c][0-9]{3})+)(?=$|[.,\u066b])/;

/** @param {string} letter */
function western(letter) {
  const code = letter.codePointAt(0) ?? 0;
  const zero = ZEROS.find((each) => code >= each && code < each + 10);
  return zero === undefined ? letter : String(code - zero);
}

/**
 * The numbers that a text may mean, as decimals with a point: none, one, or two ("1,000" and "1.000").
 *
 * @param {string} typed @returns {string[]}
 */
export function readNumber(typed) {
  const said = [...typed.replace(MARKS, "").trim()].map(western).join("").replace(/^[\u2212\u2013]/, "-");
  const text = said.replace(GROUPED, (_, first, groups) => first + groups.replace(/[^0-9]/g, ""));
  const separators = text.match(/[.,\u066b]/g) ?? [];
  const last = separators.at(-1) ?? ".";
  const [whole = "", ...parts] = text.split(/[.,\u066b]/);
  const part = parts.pop() ?? "";
  const joined = [whole, ...parts].join("");
  const isGroup = /^[+-]?[1-9][0-9]{0,2}$/.test(whole) && parts.every((each) => /^[0-9]{3}$/.test(each));
  const isThousand = isGroup && /^[0-9]{3}$/.test(part) && last !== "\u066b";
  if (separators.length < 2) {
    const decimal = decimalOf(`${whole}.${part}`) && /^[+-]?[0-9]*$/.test(whole) ? `${whole}.${part}` : text;
    const isSure = separators.length === 0 || !isThousand || text !== said;
    return (isSure ? [decimal] : [decimal, whole + part]).filter(decimalOf).map(trimmed);
  }
  const isOne = new Set(separators).size === 1;
  if (isOne && isThousand) return [joined + part];
  const isLastAlone = separators.filter((each) => each === last).length === 1;
  const areAlike = new Set(separators.slice(0, -1)).size === 1;
  return !isOne && isLastAlone && areAlike && isGroup && /^[0-9]*$/.test(part) ? [trimmed(`${joined}.${part}`)] : [];
}

/** @param {string} decimal Without zeros at its end that say nothing. */
const trimmed = (decimal) => (/^[^eE]*\.[^eE]*$/.test(decimal) ? decimal.replace(/\.?0*$/, "") : decimal);
