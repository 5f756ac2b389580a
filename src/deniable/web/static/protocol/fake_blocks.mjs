// @ts-check
/**
 * Blocks: the fakes of an adaptive design, published block by block and chained by hashes.
 *
 * Nobody needs to trust what is published. A block that passes `checkBlock` cannot break the design's epsilon, however
 * cunningly its fakes were chosen, and `checkChain` tells whether everybody was shown the same ones. The chain belongs
 * to the plan: designs that differ in their words alone share it.
 */

import { channelOf } from "../channels/registry.mjs";
import { compose, fits, least } from "../device/epsilon.mjs";
import { hashOf, list, object, parse, refuse, string, such, whole } from "./messages.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("../device/verify.mjs").Design} Design */
/** @typedef {import("./http_transport.mjs").Collector} Collector */
/** @typedef {{design: string, index: bigint, previous: string, keep: bigint[], fakes: bigint[][]}} Fields */
/** @typedef {Fields & {id: string, text: string}} Block A block, its canonical bytes and their hash. */

const MOST_BYTES = 1 << 22;
const MOST_PAGE = 1 << 26; // bytes of a hundred blocks
const MOST_BLOCKS = 100_000;
const BITS = 32n;
const block = object(
  {
    design: string,
    index: whole,
    previous: string,
    keep: list(whole),
    fakes: list(list(whole)),
    format: such((value) => value === 1n),
  },
  { format: 1n },
);

/** @param {Uint8Array} body @returns {Promise<Block>} */
export async function readBlock(body) {
  try {
    return await blockOf(parse(body, MOST_BYTES).value);
  } catch (error) {
    const { sentence } = /** @type {import("./messages.mjs").Refusal} */ (error);
    return refuse("malformed", `this is not a block: ${sentence}`);
  }
}

/** @param {Anything} value @returns {Promise<Block>} */
async function blockOf(value) {
  /** @type {Fields} */
  const { design, index, previous, keep, fakes } = block(value, "block");
  // The fields of a block stand in this order.
  const parts = [
    `"design":${JSON.stringify(design)},"index":${index},"previous":${JSON.stringify(previous)}`,
    `"keep":[${keep}],"fakes":[${fakes.map((row) => `[${row}]`)}],"format":1`,
  ];
  const text = `{${parts.join(",")}}`;
  return { design, index, previous, keep, fakes, text, id: await hashOf(text) };
}

/**
 * Refuse a block that does not keep what the design promises.
 *
 * @param {Block} found @param {Design} design
 */
export function checkBlock(found, design) {
  const { keep, fakes } = found;
  if (found.design !== design.planId) refuse("design", "the block was published for another design");
  if (keep.length !== design.questions.length || fakes.length !== design.questions.length) {
    refuse("questions", "the block has fakes for another number of questions");
  }
  design.questions.forEach((_, place) => checkQuestion(found, design, place));
  for (const ballot of design.ballots) {
    // What was checked above implies it; checked all the same.
    const spent = compose(ballot.map(({ place }) => mixtureOf(found, place).ratio));
    if (!fits(spent, Number(design.epsilon))) refuse("epsilon", "the block lets a ballot spend more than was promised");
  }
}

/** @param {Block} found @param {Design} design @param {number} place */
function checkQuestion(found, design, place) {
  const { name, channel } = /** @type {import("../device/verify.mjs").Question} */ (design.questions[place]);
  const { cells, keep: mostKept, floor } = channel.limits ?? refuse("design", "the design has no blocks");
  const [keep, fakes] = [found.keep[place] ?? 0n, found.fakes[place] ?? []];
  if (fakes.length !== cells) refuse("questions", `the block has ${fakes.length} fakes for ${name}, not ${cells}`);
  const rarest = fakes.reduce(least);
  if (rarest < 1n) refuse("zero", `a fake for ${name} never comes: who reported it would be known to mean it`);
  const draws = fakes.reduce((sum, weight) => sum + weight, keep);
  if (keep < 1n || draws !== 1n << BITS) refuse("sum", `the draws for ${name} do not sum to 2^${BITS}`);
  if (keep > mostKept) refuse("keep", `the block keeps the truth of ${name} more often than the design allows`);
  if (rarest < floor) refuse("floor", `a fake for ${name} is rarer than the design allows`);
}

/**
 * Check blocks that follow each other, the first of them behind `last` (or the first of all); returns the last.
 *
 * @param {Block[]} blocks @param {Design} design @param {Block | undefined} last
 */
export function checkChain(blocks, design, last = undefined) {
  return blocks.reduce((before, next) => {
    const [index, previous] = before ? [before.index + 1n, before.id] : [0n, design.planId];
    if (next.index !== index) refuse("chain", `block ${next.index} came where block ${index} was due`);
    if (next.previous !== previous) refuse("chain", "somebody was shown another block than the one before this");
    checkBlock(next, design);
    return next;
  }, last);
}

/** @param {Block} found @param {number} place The channel of a question in this block. */
export function mixtureOf(found, place) {
  const [keep, fakes] = [found.keep[place], found.fakes[place] ?? []];
  return channelOf({ kind: "mixture", keep, fakes, bits: BITS });
}

/** @param {Collector} collector @param {Design} design @returns {Promise<Block>} The open block, checked. */
export async function openBlock(collector, design) {
  const found = await readBlock(await collector.get(`/v1/designs/${design.id}/block`, MOST_BYTES));
  checkBlock(found, design);
  return found;
}

/**
 * Follow the published chain from its first block on; returns how many blocks there are, and the last. Refuses, if a
 * block does not follow from the one before it, or if one that this device was shown is not among them.
 *
 * @param {Collector} collector @param {Design} design @param {(string | undefined)[]} seen texts of blocks
 * @returns {Promise<{blocks: number, last: string | undefined}>}
 */
export async function followChain(collector, design, seen) {
  const missing = new Set(seen);
  missing.delete(undefined);
  /** @type {Block | undefined} */
  let last;
  for (let blocks = 0; ; ) {
    const body = await collector.get(`/v1/designs/${design.id}/blocks?after=${blocks - 1}`, MOST_PAGE);
    const page = await Promise.all(list(blockOf)(parse(body, MOST_PAGE).value, "blocks"));
    if (!page.length) {
      if (missing.size) refuse("chain", "this device was shown a block that was not published to everybody");
      return { blocks, last: last?.text };
    }
    last = checkChain(page, design, last);
    for (const { text } of page) missing.delete(text);
    blocks += page.length;
    if (blocks > MOST_BLOCKS) refuse("chain", `the collector shows more than ${MOST_BLOCKS} blocks`);
  }
}
