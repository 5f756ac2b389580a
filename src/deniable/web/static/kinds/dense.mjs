// @ts-check
/** Any channel, given column by column. */

import { larger, least, most, ratio } from "../device/epsilon.mjs";
import { checkColumn, drawsOf, stretch } from "../channels/channel_kind.mjs";
import { list, object, refuse, string, whole } from "../protocol/messages.mjs";
import { adding, PRIMES } from "../channels/matrix_rank.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

const MOST_NAME = 100; // characters

/** @type {Kind} columns[v][u] draws turn truth v into report u. */
export const kind = {
  reader: object({ kind: string, name: string, columns: list(list(whole)), bits: whole }),
  check: ({ columns, bits }, name) => {
    const draws = drawsOf(bits, name);
    for (const column of columns) {
      if (column.length !== columns[0].length) refuse("wrong-sum", `${name}: columns of different lengths`);
      checkColumn(column, draws, name);
    }
    return BigInt(columns.length);
  },
  told: ({ columns }, name) => {
    if (!PRIMES.some((prime) => independent(columns, prime))) {
      refuse("tells-nothing", `${name}: the truth cannot be told from the reports`);
    }
  },
  leftover: ({ name }) => {
    if ([...name].length > MOST_NAME) refuse("leftover", "the name of a channel is longer than names are");
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

/** @param {bigint[][]} columns @param {number} prime Whether the columns are independent modulo a prime. */
function independent(columns, prime) {
  if (columns.length > (columns[0]?.length ?? 0)) return false;
  for (const adds of adding(columns.map((column) => column.map((weight) => Number(weight % BigInt(prime)))), prime)) {
    if (!adds) return false;
  }
  return true;
}
