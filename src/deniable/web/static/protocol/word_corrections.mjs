// @ts-check
/**
 * Corrections: words that were changed after somebody had answered stand beside those that they replaced.
 *
 * Nothing here is believed that can be computed: going back from the words that are shown now, every correction must name
 * what stood there after it, and none may put a label beside another answer, in whatever language, or take a language
 * away. A further language is a change of every text that differs from the main language's.
 */

import { between, hash, list, object, oneOf, optional, refuse, such } from "./messages.mjs";
import { isPlain, MOST_AROUND, shapes } from "../device/text_safety.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {{part: string, name: string, place: bigint | null, language: string, before: string, after: string}} Change */
/** @typedef {{replaces: string, why: string, changes: Change[]}} Correction */
/** @typedef {Map<string, string>} Texts every text of a form, by where it stands */

const MOST = 20;
const LANGUAGES = placeOf({ part: "languages", name: "", place: null, language: "" });

const brief = such((value) => typeof value === "string" && [...value].length <= 1000);
const text = such((value) => typeof value === "string");
const change = object({
  part: oneOf("languages", "title", "question", "choice", "entry", "text"),
  name: brief,
  place: optional(between(0n, 1n << 32n)),
  language: brief,
  before: text,
  after: text,
});
const some = list(
  object({ replaces: hash, why: such((value) => typeof value === "string" && value !== ""), changes: list(change, 1) }),
  1,
);
/** @type {import("./messages.mjs").Reader} */
export const corrections = (value, path) => {
  const found = some(value, path);
  return found.length > MOST ? refuse("malformed", `${path} are too many`) : found;
};

/** @param {{part: string, name: string, place: bigint | null, language: string}} at Where a text stands, as one text. */
function placeOf({ part, name, place, language }) {
  return JSON.stringify([part, name, place === null ? null : Number(place), language]);
}

/** @param {Anything} form @returns {Texts} */
function textsOf({ languages, title, questions, public: clear, texts }) {
  /** @type {Texts} */
  const found = new Map([[LANGUAGES, languages.join(" ")]]);
  /** @param {string} part @param {string} name @param {number | null} place @param {Map<string, string>} words */
  const add = (part, name, place, words) => {
    for (const [language, said] of words) found.set(JSON.stringify([part, name, place, language]), said);
  };
  add("title", "", null, title);
  for (const { name, text: asked, entry, choices } of [...questions, ...clear]) {
    add("question", name, null, asked);
    if (entry) {
      const step = entry.step === null ? "" : ` / ${entry.step}`;
      found.set(JSON.stringify(["entry", name, null, ""]), `${entry.min ?? ""}..${entry.max ?? ""}${step}`);
    }
    choices.forEach((/** @type {Map<string, string>} */ words, /** @type {number} */ at) => add("choice", name, at, words));
  }
  for (const [name, words] of texts) add("text", name, null, words);
  return found;
}

/** @param {Texts} texts */
const languagesOf = (texts) => (texts.get(LANGUAGES) ?? "").split(" ");

/** @param {string} place @returns {[string, string]} among which texts it must not be another's, and whose it is */
function among(place) {
  const [part, name, choice] = JSON.parse(place);
  return part === "choice" ? [JSON.stringify([part, name]), String(choice)] : [part, name];
}

/** @param {string} place Whether a text there is a question or an answer. */
const isMeant = (place) => place.startsWith('["question"') || place.startsWith('["choice"');

/** @typedef {Map<string, Set<string>>} Shapes what questions and answers look like, in whatever language, and whose it is */

/** @param {Texts} texts @param {Shapes} found what is known already @returns {Shapes} */
function shapesOf(texts, found = new Map()) {
  for (const [place, said] of texts) {
    if (!isMeant(place)) continue;
    const [group, whose] = among(place);
    for (const shape of shapes(said)) {
      const key = JSON.stringify([group, shape]);
      found.set(key, (found.get(key) ?? new Set()).add(whose));
    }
  }
  return found;
}

/** @param {Texts} before @param {Texts} after @param {Shapes} stood Whether a text stands for another afterwards. */
function isTurnedRound(before, after, stood) {
  return [...after].some(([place, said]) => {
    if (!isMeant(place) || before.get(place) === said) return false;
    const [group, whose] = among(place);
    return shapes(said).some((shape) => stood.get(JSON.stringify([group, shape]))?.has(whose) === false);
  });
}

/** @param {Texts} now @param {Correction} correction @param {string[]} own @returns {Texts} the texts before it */
function undone(now, { why, changes }, own) {
  const attributes = [...now.keys()].map((place) => JSON.parse(place)).filter(([part]) => part === "question");
  const names = attributes.map(([, name]) => name);
  /** @type {Map<string, Change>} */
  const given = new Map(changes.map((change) => [placeOf(change), change]));
  for (const [place, { part, name, before, after }] of given) {
    const isKnown = part === "text" ? own.includes(name) : part === "entry" ? names.includes(name) : now.has(place);
    const isTrue = (now.get(place) ?? "") === after && after !== before;
    const isWhole = before !== "" || part === "text" || part === "entry";
    if (!isKnown || !isTrue || !isWhole || !isPlain(before, MOST_AROUND)) unfit("a correction is not one of these words");
  }
  if (given.size < changes.length || !isPlain(why, MOST_AROUND)) unfit("a correction is not one of these words");
  return before(now, given);
}

/** @param {Texts} now @param {Map<string, Change>} given @returns {Texts} the texts before a correction, which must say all of a new language */
function before(now, given) {
  const last = languagesOf(now);
  const spoken = (given.get(LANGUAGES)?.before ?? last.join(" ")).split(" ").filter((each) => each !== "");
  /** @param {string} place @param {string[]} languages */
  const isIn = (place, languages) => ["", ...languages].includes(JSON.parse(place)[3]);
  const isKept = spoken.length > 0 && spoken.every((language) => last.includes(language));
  if (!isKept || ![...given.keys()].every((place) => isIn(place, last))) unfit("a correction took a language away");
  const then = new Map(now);
  for (const [place, change] of given) then.set(place, change.before);
  const left = new Map([...then].filter(([place, said]) => said !== "" && isIn(place, spoken)));
  for (const place of new Set([...now.keys(), ...given.keys()])) {
    if (isIn(place, spoken)) continue;
    const [part, name, choice] = JSON.parse(place);
    const stood = left.get(JSON.stringify([part, name, choice, spoken[0]])) ?? "";
    if (stood !== (given.get(place)?.before ?? now.get(place))) unfit("a correction does not say what a new language stands for");
  }
  return left;
}

/** @param {string} sentence @returns {never} */
const unfit = (sentence) => refuse("form-unfit", sentence);

/** @param {Anything} form @param {string | null} replaces @param {string[]} own Refuse what no correction can have been. */
export function checkCorrections(form, replaces, own) {
  /** @type {Correction[]} */
  const given = form.corrections;
  if ((given.at(-1)?.replaces ?? null) !== replaces) {
    unfit("a design that replaces another must say in its words what was corrected; no other may");
  }
  if (!given.length) return;
  let texts = textsOf(form);
  const places = new Set(given.flatMap(({ changes }) => changes.map(placeOf)));
  const still = new Map([...texts].filter(([place]) => !places.has(place)));
  /** @param {Texts} all What may differ of them: a form may be large. */
  const part = (all) => new Map([...all].filter(([place]) => places.has(place)));
  const every = [part(texts)];
  for (const correction of [...given].reverse()) {
    texts = undone(texts, correction, own);
    const earlier = part(texts);
    const stood = shapesOf(earlier, shapesOf(still));
    if (every.some((after) => isTurnedRound(earlier, after, stood))) {
      unfit("by a correction, words came to stand for something else");
    }
    every.push(earlier);
  }
}
