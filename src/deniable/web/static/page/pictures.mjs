// @ts-check
/** What becomes of an answer, in words and in a picture of a hundred dots; and what will be sent, line by line. */

import { direction } from "./language.mjs";
import { leave, make } from "./screen.mjs";
import { belief, ofHundred } from "./rounded_numbers.mjs";

/** @typedef {import("../device/verify.mjs").Attribute} Attribute */
/** @typedef {import("../device/verify.mjs").Question} Question */
/** @typedef {import("./screen.mjs").Screen} Screen */
/** @typedef {import("./form_inputs.mjs").Item} Item */
/** @typedef {(name: string) => Item} Items */

const MOST_LISTED = 100; // members of a set that are shown one by one
const [ROWS, COLUMNS] = [5, 20];

/** @param {Screen} screen @param {ParentNode} card @param {Question} question */
export function tellChances(screen, card, { channel }) {
  const { limits, held, levels } = channel;
  leave(card, "data-chances", limits ? "adaptive" : held ? "set" : "fixed");
  const kept = limits ? Math.ceil(channel.kept * 100) : ofHundred(channel.kept);
  const other = ofHundred(held?.other ?? 0);
  screen.fill(card, { kept: String(kept), changed: String(100 - kept), other: String(other) });
  screen.fill(card, { belief: screen.speech.number(belief(channel.ratio)) });
  card.querySelector(".again")?.toggleAttribute("hidden", !levels);
  drawDots(card.querySelector("svg.own"), ofHundred(channel.kept));
  drawDots(card.querySelector("svg.others"), other);
}

/** @param {Element | null} picture @param {number} kept so many of a hundred dots are filled */
function drawDots(picture, kept) {
  if (!picture) return;
  for (let dot = 0; dot < ROWS * COLUMNS; dot += 1) {
    const made = document.createElementNS(picture.namespaceURI, "circle");
    made.setAttribute("cx", String((dot % COLUMNS) * 10 + 5));
    made.setAttribute("cy", String(Math.floor(dot / COLUMNS) * 10 + 5));
    made.setAttribute("r", "3.6");
    if (dot < kept) made.setAttribute("class", "kept");
    picture.append(made);
  }
}

/** @param {number} cell @param {number[]} sizes The codes that a combination is made of. */
function parts(cell, sizes) {
  let left = cell;
  return sizes.reduceRight((codes, size) => {
    codes.unshift(left % size);
    left = Math.floor(left / size);
    return codes;
  }, /** @type {number[]} */ ([]));
}

/** @param {HTMLElement[]} parts The words of several attributes, with a sign of ours between them. */
const joined = (parts) => parts.flatMap((part, at) => [...(at ? [" + "] : []), part]);

/** @param {Screen} screen @param {Items} items @param {Attribute} attribute @param {number} code @returns {HTMLElement} */
function value(screen, items, { name, coder }, code) {
  const { speech } = screen;
  if (coder.kind !== "bins" || code > coder.edges.length) return screen.quote(speech.theirs(items(name).choices[code]));
  return make("span", { lang: speech.own, dir: direction(speech.own) }, speech.bin(coder.edges, code));
}

/** @param {Screen} screen @param {Items} items @param {Attribute[]} attributes @param {number[]} codes */
const values = (screen, items, attributes, codes) =>
  joined(attributes.map((each, at) => value(screen, items, each, codes[at] ?? 0)));

/** @param {Screen} screen @param {Items} items @param {Attribute[]} attributes @param {string} how */
function line(screen, items, attributes, how) {
  const made = screen.piece("line");
  const texts = attributes.map(({ name }) => screen.quote(screen.speech.theirs(items(name).text)));
  made.querySelector(".question")?.append(...joined(texts));
  leave(made, "data-how", how);
  return made;
}

/** @param {Screen} screen @param {Items} items @param {Attribute} attribute @param {number} code */
export function clearLine(screen, items, attribute, code) {
  const made = line(screen, items, [attribute], "clear");
  made.querySelector(".value")?.append(...values(screen, items, [attribute], [code]));
  return made;
}

/** @param {Screen} screen @param {Items} items @param {Question} question @param {number} report */
export function disguisedLine(screen, items, { attributes, channel }, report) {
  const sizes = attributes.map((each) => each.categories.length);
  const made = line(screen, items, attributes, channel.held ? "set" : "disguised");
  const said = (/** @type {number} */ cell) => values(screen, items, attributes, parts(cell, sizes));
  if (!channel.held) {
    made.querySelector(".value")?.append(...said(report));
    return made;
  }
  const members = channel.held.members(report);
  const listed = members.slice(0, MOST_LISTED);
  made.querySelector(".value")?.remove();
  made.querySelector("ul")?.append(...listed.map((cell) => make("li", { class: "theirs" }, ...said(cell))));
  if (!members.length) made.querySelector("ul")?.remove();
  screen.fill(made, { more: String(members.length - listed.length) });
  made.querySelector(".none")?.toggleAttribute("hidden", members.length > 0);
  made.querySelector(".more")?.toggleAttribute("hidden", members.length === listed.length);
  return made;
}
