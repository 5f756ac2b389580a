// @ts-check
/** Requests to the collector that served this file: nothing goes along but what the protocol asks for. */

const ATTEMPTS = 5;
const LONGEST_WAIT = 30; // seconds
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 507]); // worth another try with the same bytes

/** What the collector says is wrong, by its code; or that it did not answer in time. */
export class Problem extends Error {
  /** @param {string} code @param {boolean} passes whether the same request may be answered otherwise later */
  constructor(code, passes) {
    super(code);
    this.code = code;
    this.passes = passes;
  }
}

/** @param {number} seconds */
export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** @param {string} path @returns {Promise<Uint8Array>} */
export const get = (path) => persist(path, {});

/** @param {string} path @param {string} body @returns {Promise<Uint8Array>} */
export const post = (path, body) =>
  persist(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });

/**
 * Ask until there is an answer: the same bytes, after a growing, random wait. Throws the problem, if one stays.
 *
 * @param {string} path @param {RequestInit} options @returns {Promise<Uint8Array>}
 */
async function persist(path, options) {
  let problem = new Problem("unreachable", true);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    let wait = (0.05 + Math.random() * 0.15) * 2 ** attempt; // spreads retries, hides nothing
    try {
      const answer = await fetch(path, {
        credentials: "omit",
        referrerPolicy: "no-referrer",
        redirect: "error",
        cache: "no-store",
        ...options,
      });
      const body = new Uint8Array(await answer.arrayBuffer());
      if (answer.ok) return body;
      problem = new Problem(codeOf(body) || String(answer.status), PASSING.has(answer.status));
      wait = Math.max(wait, Number(answer.headers.get("Retry-After")) || 0);
    } catch {
      problem = new Problem("unreachable", true);
    }
    if (!problem.passes) break;
    if (attempt + 1 < ATTEMPTS) await pause(Math.min(wait, LONGEST_WAIT));
  }
  throw problem;
}

/** @param {Uint8Array} body What stands between may answer in any shape. */
function codeOf(body) {
  try {
    const { type } = JSON.parse(new TextDecoder().decode(body));
    return String(type).split(":").pop() ?? "";
  } catch {
    return "";
  }
}
