// @ts-check
/**
 * Finite fields: whole numbers below a prime, or below a prime power q = p^r, that can be subtracted and multiplied. The
 * digits of an element to the base p are the coefficients of a polynomial; products are taken modulo x^r + ..., whose lower
 * coefficients are the digits of the number below.
 */

const MOST = 512;

/** @type {Record<number, [number, number]>} The prime, and the polynomial. */
const MODULI = {
  4: [2, 3],
  8: [2, 3],
  9: [3, 1],
  16: [2, 3],
  25: [5, 2],
  27: [3, 7],
  32: [2, 5],
  49: [7, 1],
  64: [2, 3],
  81: [3, 5],
  121: [11, 1],
  125: [5, 6],
  128: [2, 3],
  169: [13, 2],
  243: [3, 7],
  256: [2, 27],
  289: [17, 3],
  343: [7, 2],
  361: [19, 1],
  512: [2, 3],
};

/** @param {number} q */
const isPrime = (q) => q >= 2 && Array.from({ length: Math.floor(Math.sqrt(q)) }, (_, d) => d + 1).every((d) => d < 2 || q % d);

/** @param {number} q Whether there is a field with so many elements here. */
export const isField = (q) => q <= MOST && (Object.hasOwn(MODULI, q) || isPrime(q));

/** @param {number} n @param {number} p @param {number} count The digits, the least first. */
const digits = (n, p, count) => Array.from({ length: count }, (_, i) => Math.floor(n / p ** i) % p);

/** @param {number[]} values @param {number} p */
const number = (values, p) => values.reduce((sum, value, i) => sum + (((value % p) + p) % p) * p ** i, 0);

/** @param {number} q @param {number} p */
const power = (q, p) => Math.round(Math.log(q) / Math.log(p));

/** @param {number} a @param {number} b @param {number} q The difference in the field: digit by digit. */
export function less(a, b, q) {
  const p = MODULI[q]?.[0] ?? q;
  const r = power(q, p);
  const other = digits(b, p, r);
  return number(
    digits(a, p, r).map((digit, i) => digit - (other[i] ?? 0)),
    p,
  );
}

/** @param {number} a @param {number} b @param {number} q The product in the field. */
export function times(a, b, q) {
  const modulus = MODULI[q];
  if (!modulus) return (a * b) % q;
  const [p, polynomial] = modulus;
  const r = power(q, p);
  const [one, other, lower] = [digits(a, p, r), digits(b, p, r), digits(polynomial, p, r)];
  const product = new Array(2 * r - 1).fill(0);
  one.forEach((x, i) => other.forEach((y, j) => (product[i + j] += x * y)));
  for (let top = 2 * r - 2; top >= r; top -= 1) {
    lower.forEach((coefficient, i) => (product[top - r + i] -= product[top] * coefficient));
  }
  return number(product.slice(0, r), p);
}
