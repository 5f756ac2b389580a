// @ts-check
/**
 * The page's words. Those that state the promise are the program's own, always; a survey can say only the plain ones
 * otherwise. Where the program does not know a survey's language it speaks English, and says so to whoever listens.
 */

import { PLAIN, SENTENCES, WORDS } from "./page_words.mjs";

/** @typedef {Record<string, string>} Texts by language */
/** @typedef {{languages: string[], texts: Record<string, Texts>}} Said what a survey says around its questions */

const SPOKEN = Object.keys(WORDS["loading"] ?? {});

/** @param {string} code */
const main = (code) => code.toLowerCase().split("-")[0];

/**
 * The first wanted language that is offered, if only its main part; else the first of those that are offered.
 *
 * @param {readonly string[]} offered @param {readonly string[]} wanted @returns {string}
 */
export function choose(offered, wanted) {
  for (const each of wanted) {
    const found =
      offered.find((known) => known.toLowerCase() === each.toLowerCase()) ??
      offered.find((known) => main(known) === main(each));
    if (found) return found;
  }
  return offered[0] ?? "en";
}

/** Languages that are written from right to left, by their main part. */
const LEFTWARD = ["ar", "arc", "ckb", "dv", "fa", "he", "khw", "ks", "ps", "sd", "syr", "ug", "ur", "yi"];

/** @param {string} language @returns {"rtl" | "ltr"} */
export const direction = (language) => (LEFTWARD.includes(main(language) ?? "") ? "rtl" : "ltr");

/** What the page says, in one language. */
export class Speech {
  /** @param {readonly string[]} wanted @param {Said | null} said the survey's own words, once they are verified */
  constructor(wanted, said = null) {
    this.said = said;
    this.language = choose(said?.languages ?? SPOKEN, wanted);
    this.own = SPOKEN.find((each) => each === main(this.language)) ?? "en";
    // In Swiss German numbers are written otherwise than in German; in French, the sentences around them are English.
    const place = main(this.language) === this.own ? this.language : this.own;
    this.numerals = new Intl.NumberFormat(place, { maximumFractionDigits: 15 });
  }

  /** @param {string} name @returns {{text: string, lang: string, isTheirs: boolean}} */
  word(name) {
    const theirs = PLAIN.includes(name) ? this.said?.texts[name]?.[this.language] : undefined;
    if (theirs) return { text: theirs, lang: this.language, isTheirs: true };
    const said = WORDS[name];
    if (said === undefined) throw new Error(`there is no word ${name}`);
    const lang = said[this.own] === undefined ? "en" : this.own;
    return { text: said[lang] ?? "", lang, isTheirs: false };
  }

  /** @param {Texts | undefined} texts @returns {string} one of the survey's texts */
  theirs(texts) {
    return texts?.[this.language] ?? "";
  }

  /** @param {string} name @returns {string} what the survey says around its questions, if it says anything */
  around(name) {
    return this.theirs(this.said?.texts[name]);
  }

  /** @param {string} text a decimal with a point @returns {string} as it is written here, to the last digit */
  number(text) {
    return this.numerals.format(/** @type {any} */ (text)); // a text keeps all of its digits
  }

  /** @param {string} name @param {Record<string, string>} values @returns {string} one of our words, filled */
  filled(name, values) {
    const { text, lang } = this.word(name);
    // Among letters that run leftwards a value keeps its own order: a minus, a decimal point, a range.
    const [open, close] = direction(lang) === "rtl" ? ["\u2068", "\u2069"] : ["", ""];
    return text.replace(/\{([a-z]+)\}/g, (_, place) => `${open}${values[place] ?? ""}${close}`);
  }

  /**
   * What a bin holds. Its words are ours, whatever the survey calls it: they follow from the edges.
   *
   * @param {readonly string[]} edges @param {number} bin @returns {string}
   */
  bin(edges, bin) {
    const [low, high] = [edges[bin - 1], edges[bin]].map((edge) => (edge === undefined ? "" : this.number(edge)));
    const name = bin === 0 ? "bin_first" : bin === edges.length ? "bin_last" : "bin_between";
    return this.filled(name, { low: low ?? "", high: high ?? "" });
  }

  /** @param {string} code Why something was not taken or is refused: a sentence, and the code itself. */
  sentence(code) {
    const { text } = this.word(SENTENCES[code] ?? "problem_other");
    return code ? `${text} (${code})` : text;
  }
}
