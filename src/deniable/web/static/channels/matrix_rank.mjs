// @ts-check
/** How many columns of whole numbers are independent, counted modulo primes: never more than there are. */

/** Primes so small that products are exact. Full rank modulo either proves full rank; the Python client has the same. */
export const PRIMES = [67108859, 67108837];

/**
 * Whether each column adds to what those before it span, modulo a prime.
 *
 * @param {number[][]} columns of numbers below the prime @param {number} prime @returns {Generator<boolean>}
 */
export function* adding(columns, prime) {
  /** @type {{pivot: number, base: number[]}[]} */
  const bases = [];
  for (const column of columns) {
    const left = [...column];
    for (const { pivot, base } of bases) {
      const [factor, scale] = [left[pivot] ?? 0, base[pivot] ?? 0];
      if (factor) base.forEach((entry, u) => (left[u] = ((left[u] ?? 0) * scale + (prime - factor) * entry) % prime));
    }
    const pivot = bases.length < left.length ? left.findIndex((entry) => entry !== 0) : -1;
    yield pivot >= 0;
    if (pivot >= 0) bases.push({ pivot, base: left });
    if (bases.length === left.length) return;
  }
}
