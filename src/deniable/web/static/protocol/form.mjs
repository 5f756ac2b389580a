// @ts-check
/**
 * The form: the survey's words, in every language. The design names it by its hash, so that nobody is asked something
 * else under the same name. Sentences that state the promise are not in it; they come with the program.
 */

import { checkCorrections, corrections } from "./word_corrections.mjs";
import { EDGE, isBelow } from "./exact_decimals.mjs";
import {
  canonical,
  list,
  matching,
  object,
  optional,
  parse,
  record,
  refuse,
  sha256,
  short,
  such,
  two,
} from "./messages.mjs";
import { hasAlike, isCrossed, isPlain, MOST_AROUND, MOST_CHOICE, MOST_QUESTION } from "../device/text_safety.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("../device/verify.mjs").Design} Design */
/** @typedef {import("../device/design_terms.mjs").Attribute} Attribute */
/** @typedef {Record<string, string>} Words a text by language */
/** @typedef {{min: string | null, max: string | null, step: string | null}} Entry how a number may be typed: a hint */
/** @typedef {{name: string, text: Words, choices: Words[], entry: Entry | null}} Item choices as the categories stand */
/**
 * @typedef {object} Form
 * @property {string[]} languages the main one first
 * @property {Words} title
 * @property {Map<string, Item>} questions by attribute, in the order of the design
 * @property {Map<string, Item>} public
 * @property {Record<string, Words>} texts
 * @property {import("./word_corrections.mjs").Correction[]} corrections the first one first
 */

const MOST_BYTES = 1 << 22;
const MOST_TEXT = 100_000; // characters

/** What a survey may say in its own words: around the questions, and where the page promises nothing. */
export const OWN_WORDS = [
  "welcome",
  "thanks",
  "contact",
  "language",
  "closed_heading",
  "closed",
  "invitation_heading",
  "invitation",
  "invitation_label",
  "enter",
  "another_invitation",
  "begin",
  "questions_heading",
  "unanswered",
  "question_column",
  "unsent_heading",
  "again",
  "done_heading",
];

const language = matching(/^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$/);
const text = such((value) => typeof value === "string" && value !== "" && [...value].length <= MOST_TEXT);
const words = record(language, text);
const decimal = optional(matching(EDGE));
const entry = object({ min: decimal, max: decimal, step: decimal });
const item = object({ name: short, text: words, choices: list(words), entry }, { entry: null });
const form = object(
  {
    version: two,
    survey: short,
    languages: list(language, 1),
    title: words,
    questions: list(item),
    public: list(item),
    texts: record(short, words),
    corrections,
  },
  { corrections: [] },
);

/**
 * Read a form as it came from a server: it must be the one that the design names, and fit it.
 *
 * @param {Uint8Array} body @param {Design} design @returns {Promise<Form>}
 */
export async function readForm(body, design) {
  if ((await sha256(body)) !== design.texts) refuse("wrong-texts", "the words are not those that the design names");
  const { value, repeated, text: written } = parse(body, MOST_BYTES);
  const message = form(value, "form");
  if (repeated) refuse("repeated-key", "the words have a key twice");
  if (canonical(value) !== written) refuse("not-canonical", "the words are not in their canonical form");
  checkItems(message.questions, design.attributes);
  checkItems(message.public, design.public);
  checkLanguages(message);
  checkTexts(message);
  const isKnown = [...message.texts.keys()].every((name) => OWN_WORDS.includes(name));
  if (message.survey !== design.survey || !isKnown) {
    refuse("form-unfit", "the words are for another survey, or some stand where the program's own belong");
  }
  checkCorrections(message, design.replaces, OWN_WORDS);
  return {
    languages: message.languages,
    title: Object.fromEntries(message.title),
    questions: byName(message.questions),
    public: byName(message.public),
    texts: Object.fromEntries([...message.texts].map(([name, said]) => [name, Object.fromEntries(said)])),
    corrections: message.corrections,
  };
}

/** @param {Anything[]} items @param {Attribute[]} attributes */
function checkItems(items, attributes) {
  if (items.length !== attributes.length || !items.every((each, place) => each.name === attributes[place]?.name)) {
    refuse("form-unfit", "the words are not about the design's attributes in their order");
  }
  if (!items.every((each, place) => each.choices.length === attributes[place]?.categories.length)) {
    refuse("form-unfit", "there is not one text for every category");
  }
  items.forEach((each, place) => checkEntry(each.entry, attributes[place]));
}

/** @param {Entry | null} given @param {Attribute | undefined} attribute */
function checkEntry(given, attribute) {
  if (given === null) return;
  const { min, max, step } = given;
  const isInOrder = (min === null || max === null || isBelow(min, max)) && (step === null || isBelow("0", step));
  if (attribute?.coder.kind !== "bins" || !isInOrder) {
    refuse("form-unfit", "what is said of how a number is typed is for no number, or makes no sense");
  }
}

/** @param {Anything} message */
function checkLanguages({ languages, title, texts, questions, public: clear }) {
  const items = [...questions, ...clear].flatMap((each) => [each.text, ...each.choices]);
  const wanted = [...languages].sort().join();
  /** @param {Map<string, string>} said */
  const isWhole = (said) => [...said.keys()].sort().join() === wanted;
  if (new Set(languages).size !== languages.length || ![title, ...texts.values(), ...items].every(isWhole)) {
    refuse("form-unfit", "there is not one text for every language");
  }
}

/** @param {Anything} message */
function checkTexts({ title, texts, questions, public: clear }) {
  const items = [...questions, ...clear];
  /** @type {[Map<string, string>, number][]} */
  const said = [
    [title, MOST_QUESTION],
    ...items.map((each) => [each.text, MOST_QUESTION]),
    ...items.flatMap((each) => each.choices.map((/** @type {Anything} */ choice) => [choice, MOST_CHOICE])),
    ...[...texts.values()].map((each) => [each, MOST_AROUND]),
  ];
  if (!said.every(([words, most]) => [...words.values()].every((each) => isPlain(each, most)))) {
    refuse("form-unfit", "a text is not what it seems, or too long to be read");
  }
  for (const { choices } of items) {
    for (const language of title.keys()) {
      if (hasAlike(choices.map((/** @type {Anything} */ each) => each.get(language)))) {
        refuse("form-unfit", "two answers cannot be told apart");
      }
    }
    if (isCrossed(choices)) refuse("form-unfit", "an answer is called as another one in another language");
  }
}

/** @param {Anything[]} items @returns {Map<string, Item>} */
const byName = (items) =>
  new Map(
    items.map(({ name, text: asked, choices, entry: typed }) => [
      name,
      { name, text: Object.fromEntries(asked), choices: choices.map(Object.fromEntries), entry: typed },
    ]),
  );
