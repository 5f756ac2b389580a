// @ts-check
/**
 * Texts that people read must be what they seem: nothing hidden in them, no two that look the same.
 *
 * The program that reads a survey refuses by the same tables; what passes here is what passes there.
 */

import { TABLE } from "./text_safety_table.mjs";

/** @typedef {readonly (readonly number[])[]} Ranges characters, as ranges of their numbers */

export const MOST_QUESTION = 3000;
export const MOST_CHOICE = 500;
export const MOST_AROUND = 30_000;
const BLANK = /[\t\n \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u061c\u200c-\u200f\ufe0e\ufe0f]/g;
const PUNCTUATION = /[.,;:!?"'()[\]\u2026\u00b7\u00a1\u00bf\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u060c\u061b\u061f\u3002\u3001\uff0c\uff01\uff1f]/g;

const SEEN = new Set([9, 10, 0x61c, 0x200e, 0x200f]);
const WITHIN = /[\p{M}\u061c\u200c-\u200f]/u; // what ends no word: accents, marks of direction, joiners

/** @param {Ranges} ranges @param {number | undefined} code */
const holds = (ranges, code) => code !== undefined && ranges.some(([first = 0, last = -1]) => code >= first && code <= last);

const alikes = [...TABLE.alike];
/** Where each alphabet begins, and its short name: see the program that reads surveys. */
const ALPHABETS = TABLE.alphabets.split(" ").map((step, number) => {
  const [, by = "", name = ""] = /^([0-9a-z]+)(.?)$/.exec(step) ?? [];
  return { by: Number.parseInt(by, 36), name: name || String(number) };
});
const BEGIN = ALPHABETS.reduce((/** @type {number[]} */ starts, { by }) => [...starts, (starts.at(-1) ?? 0) + by], []);

/** @type {Map<string, string>} */
const ALIKE = new Map();
for (let at = 0; at < alikes.length; at += 2) ALIKE.set(alikes[at] ?? "", alikes[at + 1] ?? "");

/** @param {number | undefined} before @param {number} code @param {number | undefined} after */
function isHidden(before, code, after) {
  if (code === 0x200c || code === 0x200d) {
    const joins = holds(TABLE.joining, before) && holds(TABLE.joining, after);
    return !joins && !(code === 0x200d && holds(TABLE.emoji, before) && holds(TABLE.emoji, after));
  }
  if (code === 0xfe0e || code === 0xfe0f) {
    const isKey = before !== undefined && "#*0123456789".includes(String.fromCodePoint(before)) && after === 0x20e3;
    return !holds(TABLE.emoji, before) && !isKey;
  }
  if (code >= 0xe0100 && code <= 0xe01ef) return !holds(TABLE.ideographs, before);
  if (code >= 0xe0020 && code <= 0xe007f) return !holds(TABLE.tags, before);
  return !SEEN.has(code) && (/\p{C}/u.test(String.fromCodePoint(code)) || holds(TABLE.hidden, code));
}

/** @param {number} code A short name for the script of a letter. */
function alphabetOf(code) {
  let [low, high] = [0, BEGIN.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((BEGIN[middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return ALPHABETS[low - 1]?.name ?? "-";
}

/** @param {string} text @param {number} most @returns {boolean} whether a text is what it seems */
export function isPlain(text, most) {
  const codes = [...text].map((letter) => letter.codePointAt(0) ?? 0);
  if (codes.length > most || codes.some((code, at) => isHidden(codes[at - 1], code, codes[at + 1]))) return false;
  /** @type {string | null} the alphabet of the word so far */
  let seen = null;
  for (const letter of text) {
    if (WITHIN.test(letter)) continue;
    const found = /\p{L}/u.test(letter) ? alphabetOf(letter.codePointAt(0) ?? 0) : ".";
    if (found === ".") seen = null;
    else if (found !== "-") {
      if (seen !== null && seen !== found) return false;
      seen = found;
    }
  }
  return true;
}

/** @param {string} text */
const normal = (text) => text.normalize("NFKD").replace(BLANK, "");
/** @param {string} text */
const looks = (text) => [...text].map((letter) => ALIKE.get(letter) ?? letter).join("");

/** @param {string} text */
const shape = (text) => normal(looks(normal(text)).toLowerCase());
/** @param {string} text */
const shapeOfLower = (text) => looks(normal(normal(text).toLowerCase()));

/** @param {string} text What it looks like, in two ways; punctuation does not count, unless there is nothing else. */
export function shapes(text) {
  const plain = text.replace(PUNCTUATION, "") || text;
  return [shape(plain), shapeOfLower(plain)];
}

/**
 * Whether a text of one choice in some language is another choice's in another: who reads both would mistake them.
 * Punctuation does not tell them apart, unless it does so within a language.
 *
 * @param {Map<string, string>[]} choices @returns {boolean}
 */
export function isCrossed(choices) {
  /** @type {Map<string, Map<number, Set<string>>>} the languages in which each choice has a shape */
  const seen = new Map();
  choices.forEach((words, place) => {
    for (const [language, text] of words) {
      for (const shape of shapes(text)) {
        const alikes = seen.get(shape) ?? new Map();
        seen.set(shape, alikes.set(place, (alikes.get(place) ?? new Set()).add(language)));
      }
    }
  });
  return [...seen.values()].some((alikes) => {
    const all = [...alikes.values()];
    return all.some((one, at) => all.slice(at + 1).some((other) => ![...one].some((language) => other.has(language))));
  });
}

/** @param {string[]} texts @returns {boolean} whether two of them cannot be told apart */
export function hasAlike(texts) {
  return [shape, shapeOfLower].some((look) => new Set(texts.map(look)).size < texts.length);
}
