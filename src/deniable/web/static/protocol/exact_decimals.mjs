// @ts-check
/** Decimals as they are written, compared exactly: no digit is lost, and no exponent is too large. */

const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;
/** A decimal in the one way that there is to write it. */
export const EDGE = /^(?!-0$)-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?$/;

/** @typedef {{sign: number, digits: string, places: number}} Decimal sign * 0.digits * 10^places; no zeros around. */

/** @param {string} text @returns {Decimal | undefined} nothing, if it is not a decimal */
export function decimalOf(text) {
  const [, minus, whole = "", part = "", power = "0"] = DECIMAL.exec(text) ?? [];
  if (whole === "" && part === "") return undefined;
  const written = whole + part;
  const digits = written.replace(/^0+/, "").replace(/0+$/, "");
  if (digits === "") return { sign: 0, digits, places: 0 };
  const zeros = written.length - written.replace(/^0+/, "").length;
  return { sign: minus === "-" ? -1 : 1, digits, places: whole.length - zeros + Number(power) };
}

/** @param {Decimal} a @param {Decimal} b @returns {number} below, at or above 0 as a is below, at or above b */
export function compare(a, b) {
  if (a.sign !== b.sign) return a.sign - b.sign;
  if (a.places !== b.places) return a.places > b.places ? a.sign : -a.sign;
  if (a.digits === b.digits) return 0;
  return a.digits > b.digits ? a.sign : -a.sign;
}

/** @param {string} text Whether an edge is written in the one way that there is. */
export const isEdge = (text) => EDGE.test(text);

/** @param {string} low @param {string} high two edges */
export function isBelow(low, high) {
  const [a, b] = [decimalOf(low), decimalOf(high)];
  return a !== undefined && b !== undefined && compare(a, b) < 0;
}

/** @param {string[]} edges @param {Decimal} number How many edges are not above a number. */
export const binOf = (edges, number) =>
  edges.filter((edge) => compare(/** @type {Decimal} */ (decimalOf(edge)), number) <= 0).length;
