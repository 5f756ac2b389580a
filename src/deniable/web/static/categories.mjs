// @ts-check
/** Channels whose report is one category: what their integers must be, and what one draw makes of a truth. */

import { larger, least, most, ratio } from "./exact.mjs";
import { list, object, refuse, string, whole } from "./messages.mjs";

/** @typedef {import("./messages.mjs").Anything} Anything */
/** @typedef {import("./channels.mjs").Channel} Channel */
/** @typedef {import("./channels.mjs").Kind} Kind */

/** @param {bigint} bits @param {string} name @returns {bigint} how many different draws there are */
export function drawsOf(bits, name) {
  if (bits !== 16n && bits !== 32n) refuse("wrong-bits", `${name} draws ${bits} bits`);
  return 1n << bits;
}

/** @param {bigint[]} column @param {bigint} total @param {string} name */
function checkColumn(column, total, name) {
  if (!column.length || column.some((weight) => weight < 1n)) {
    refuse("zero-weight", `${name}: some report has no draw for some truth`);
  }
  if (column.reduce((a, b) => a + b, 0n) !== total) refuse("wrong-sum", `${name}: weights do not sum to ${total}`);
}

/** @param {number[]} lengths @param {number} place Which of the stretches, laid end to end, a place falls into. */
function stretch(lengths, place) {
  let [index, end] = [0, lengths[0] ?? 0];
  while (place >= end) {
    index += 1;
    end += lengths[index] ?? Infinity;
  }
  return index;
}

/** @type {Kind} `other` draws lead to each other answer. */
export const krr = {
  reader: object({ kind: string, k: whole, other: whole, bits: whole }),
  check: ({ k, other, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (k < 2n) refuse("wrong-cells", `${name} has a channel with ${k} truths`);
    const keep = draws - (k - 1n) * other;
    if (other < 1n || keep === 0n) refuse("zero-weight", `${name}: some report has no draw for some truth`);
    if (keep < 0n) refuse("wrong-sum", `${name}: more draws for the other answers than there are`);
    if (keep === other) refuse("tells-nothing", `${name}: every answer is reported alike`);
    return k;
  },
  make: (fields) => {
    const [k, other, bits] = [Number(fields.k), Number(fields.other), Number(fields.bits)];
    const keep = 2 ** bits - (k - 1) * other;
    return {
      inputs: k,
      reports: k,
      ratio: larger(ratio(BigInt(keep), fields.other), ratio(fields.other, BigInt(keep))),
      outcome: (truth, draw) => (truth + 1 + Math.min(Math.floor(draw(bits) / other), k - 1)) % k,
      kept: keep / 2 ** bits,
    };
  },
};

/** @type {Kind} `keep` draws keep the truth, the others lead to fakes. */
const mixture = {
  reader: object({ kind: string, keep: whole, fakes: list(whole), bits: whole }),
  check: ({ keep, fakes, bits }, name) => {
    checkColumn([keep, ...fakes], drawsOf(bits, name), name);
    return BigInt(fakes.length);
  },
  make: (fields) => {
    const rarest = fields.fakes.reduce(least);
    const fakes = fields.fakes.map(Number);
    const [keep, bits] = [Number(fields.keep), Number(fields.bits)];
    return {
      inputs: fakes.length,
      reports: fakes.length,
      ratio: ratio(fields.keep + rarest, rarest),
      outcome: (truth, draw) => {
        const drawn = draw(bits);
        return drawn < keep ? truth : stretch(fakes, drawn - keep);
      },
      kept: (keep + fakes.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 0)) / 2 ** bits,
    };
  },
};

/** @type {Kind} columns[v][u] draws turn truth v into report u. */
const dense = {
  reader: object({ kind: string, name: string, columns: list(list(whole)), bits: whole }),
  check: ({ columns, bits }, name) => {
    const draws = drawsOf(bits, name);
    for (const column of columns) {
      if (column.length !== columns[0].length) refuse("wrong-sum", `${name}: columns of different lengths`);
      checkColumn(column, draws, name);
    }
    return BigInt(columns.length);
  },
  make: (fields) => {
    /** @type {bigint[][]} */
    const columns = fields.columns;
    const bits = Number(fields.bits);
    const counts = columns.map((column) => column.map(Number));
    const rows = (columns[0] ?? []).map((_, u) => columns.map((column) => /** @type {bigint} */ (column[u])));
    const ratios = rows.map((row) => ratio(row.reduce(most), row.reduce(least)));
    return {
      inputs: counts.length,
      reports: counts[0]?.length ?? 0,
      ratio: ratios.reduce(larger),
      outcome: (truth, draw) => stretch(/** @type {number[]} */ (counts[truth]), draw(bits)),
      kept: Math.max(...counts.map((column, v) => (column[v] ?? 0) / 2 ** bits)),
    };
  },
};

/** @type {Kind} The worst mixture that a block may publish; a block says which it is. */
const adaptive = {
  reader: object({ kind: string, cells: whole, most_kept: whole, least_fake: whole, bits: whole }),
  check: ({ cells, most_kept: keep, least_fake: floor, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (bits !== 32n) refuse("wrong-bits", `${name}: blocks draw 32 bits`);
    if (keep < 1n || floor < 1n) refuse("zero-weight", `${name}: some report has no draw`);
    if (keep + cells * floor > draws) refuse("wrong-sum", `${name}: its limits ask for more than ${draws} draws`);
    return cells;
  },
  make: (fields) => {
    const limits = { cells: Number(fields.cells), keep: fields.most_kept, floor: fields.least_fake };
    return {
      inputs: limits.cells,
      ratio: ratio(limits.keep + limits.floor, limits.floor),
      outcome: () => refuse("malformed", "these answers are disguised by a block's integers"),
      kept: Number(limits.keep) / 2 ** 32,
      limits,
    };
  },
};

/** @type {Kind} Charged as against whoever knows the coin: the partner, or a server that is not honest. */
const paired = {
  reader: object({ kind: string, truthful: whole, shift: whole, bits: whole }),
  check: ({ truthful, shift, bits }, name) => {
    const lies = drawsOf(bits, name) - truthful;
    if (shift < 0n || lies < shift) refuse("wrong-sum", `${name}: the coin moves more than there is`);
    if (lies === shift) refuse("zero-weight", `${name}: who knows the coin would know some answers`);
    if (truthful <= lies) refuse("tells-nothing", `${name}: at least half of the answers would be lies`);
    return 2n;
  },
  make: (fields) => {
    const [truthful, shift, bits] = [Number(fields.truthful), Number(fields.shift), Number(fields.bits)];
    const known = fields.truthful + fields.shift;
    return {
      inputs: 2,
      ratio: ratio(known, (1n << fields.bits) - known),
      outcome: (truth, draw, side) => {
        if (side !== 1 && side !== -1) return refuse("malformed", "a coin shows 1 or -1");
        return draw(bits) < truthful + side * shift ? truth : 1 - truth;
      },
      kept: truthful / 2 ** bits,
      coins: { truthful: fields.truthful, shift: fields.shift, bits: fields.bits },
    };
  },
};

const MOST_LIKED = 2n ** 20n - 1n; // categories of a Hadamard matrix

/** @param {number} n Whether the number of binary ones is odd. */
function isOdd(n) {
  let odd = false;
  for (let left = n; left; left &= left - 1) odd = !odd;
  return odd;
}

/**
 * A column of a Hadamard matrix: one that the truth's row likes, more often than another. Half of the columns are liked,
 * whatever the row, so to whoever reads it a report is the set of rows that like it.
 *
 * @type {Kind}
 */
const hadamard = {
  reader: object({ kind: string, k: whole, other: whole, bits: whole }),
  check: ({ k, other, bits }, name) => {
    const draws = drawsOf(bits, name);
    if (k < 2n || k > MOST_LIKED) refuse("wrong-cells", `${name}: a Hadamard matrix for ${k} truths`);
    const both = (2n * draws) / columnsOf(k);
    if (other < 1n || other === both) refuse("zero-weight", `${name}: some report has no draw for some truth`);
    if (other > both) refuse("wrong-sum", `${name}: more draws for one column than for two`);
    if (2n * other >= both) refuse("tells-nothing", `${name}: liked columns come no more often than others`);
    return k;
  },
  make: (fields) => {
    const [k, other, bits] = [Number(fields.k), Number(fields.other), Number(fields.bits)];
    const both = 2 ** (bits + 1) / Number(columnsOf(fields.k));
    return {
      inputs: k,
      reports: Number(columnsOf(fields.k)),
      ratio: ratio(BigInt(both) - fields.other, fields.other),
      outcome: (truth, draw) => {
        const drawn = draw(bits);
        const [row, slot] = [truth + 1, Math.floor(drawn / both)];
        const digit = row & -row;
        // The slot-th pair of columns, which differ in the row's lowest digit: one is liked, the other is not.
        const column = ((slot & -digit) << 1) | (slot & (digit - 1));
        return isOdd(column & row) === drawn % both < both - other ? column | digit : column;
      },
      kept: (both - other) / both,
      held: {
        other: 0.5,
        members: (report) => Array.from({ length: k }, (_, v) => v).filter((v) => !isOdd((v + 1) & report)),
      },
    };
  },
};

/** @param {bigint} k The next power of two above a number of categories. */
const columnsOf = (k) => 1n << BigInt(k.toString(2).length);

/** @type {Record<string, Kind>} */
export const CATEGORIES = { krr, mixture, dense, adaptive, paired, hadamard };

/** Primes so small that products are exact. Full rank modulo either proves full rank. */
export const PRIMES = [67108859, 67108837];

/** @param {bigint[][]} columns @param {number} prime Whether the columns are independent modulo a prime. */
export function independent(columns, prime) {
  const left = columns.map((column) => column.map((weight) => Number(weight % BigInt(prime))));
  for (let column = left.pop(); column; column = left.pop()) {
    const pivot = column.findIndex((entry) => entry !== 0);
    if (pivot < 0) return false;
    const base = column;
    const scale = base[pivot] ?? 0;
    for (const other of left) {
      const factor = other[pivot] ?? 0;
      if (factor) other.forEach((entry, u) => (other[u] = (entry * scale + (prime - factor) * (base[u] ?? 0)) % prime));
    }
  }
  return true;
}
