// @ts-check
/**
 * Requests to a collector: nothing goes along but what the protocol asks for, and nothing but an answer of the protocol
 * counts as one. Whatever stands between (a portal that wants to be logged in to, a proxy, another page) may answer in
 * any shape with any status; then the collector was not reached, and what was to be sent is kept.
 */

import { Refusal, decode, object, refuse, string, whole } from "./messages.mjs";

const ATTEMPTS = 5;
const LONGEST_WAIT = 30; // seconds before another attempt
const LONGEST_ANSWER = 60; // seconds
const MOST_PROBLEM = 1 << 16; // bytes
const PREFIX = "urn:deniable:problem:";

/** What a collector can find wrong, with the status that goes with it. The codes are part of the protocol. */
export const PROBLEMS = new Map([
  ["malformed", 400],
  ["unknown-field", 400],
  ["unknown-version", 400],
  ["repeated-key", 400],
  ["unknown-parameter", 400],
  ["unauthorized", 401],
  ["not-invited", 403],
  ["closed", 403],
  ["not-found", 404],
  ["unknown-design", 404],
  ["method-not-allowed", 405],
  ["too-slow", 408],
  ["conflict", 409],
  ["reworded", 409],
  ["used", 409],
  ["too-large", 413],
  ["unfit", 422],
  ["unknown-block", 422],
  ["busy", 429],
  ["failed", 500],
  ["unavailable", 503],
  ["full", 507],
]);

/** What settles a report: the same bytes would never be taken. Everything else may pass. */
export const FINAL = new Set([
  "malformed",
  "unknown-field",
  "unknown-version",
  "repeated-key",
  "not-invited",
  "unknown-design",
  "conflict",
  "reworded",
  "unfit",
  "unknown-block",
  "too-large",
]);

const UNREACHABLE = "unreachable";
const AT_ONCE = new Set([UNREACHABLE, "busy", "too-slow", "failed", "unavailable", "full"]); // worth another try within seconds
const problem = object({ type: string, title: string, status: whole, detail: string }, { detail: "" });

/** What a collector says is wrong, by a code of the list; or that it was not reached. Its own words go nowhere. */
export class Problem extends Error {
  /** @param {string} code */
  constructor(code) {
    super(code);
    this.code = code;
    /** Whether the same request may be answered otherwise later. */
    this.passes = !FINAL.has(code);
  }
}

/** @param {number} seconds */
export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** @typedef {{status: number, type: string, said: string, body: Uint8Array, wait: number}} Answer */

/** One collector, by its origin. */
export class Collector {
  /** @param {string} base its origin; the page's own, if it is empty */
  constructor(base = "") {
    const origin = base === "" ? location.origin : originOf(base);
    if (base !== "" && origin !== base) refuse("not-for-here", "the collector's address is not an origin");
    this.origin = origin;
  }

  /** @param {string} path @param {number} most bytes @returns {Promise<Uint8Array>} */
  get(path, most) {
    return this.persist(path, {}, most, isDocument);
  }

  /** @param {string} path @param {string} body @param {number} most bytes @returns {Promise<Uint8Array>} */
  ask(path, body, most) {
    return this.persist(path, posting(body), most, isDocument);
  }

  /** @param {string} report Returns when it is taken, and is on disk there. */
  async send(report) {
    await this.persist("/v1/reports", posting(report), 0, isTaken);
  }

  /**
   * Ask until there is an answer: the same bytes, after a growing, random wait. Throws the problem, if one stays.
   *
   * @param {string} path @param {RequestInit} options @param {number} most @param {(answer: Answer) => boolean} isGood
   * @returns {Promise<Uint8Array>}
   */
  async persist(path, options, most, isGood) {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.attempt(path, options, most);
      if (answer && isGood(answer)) return answer.body;
      const code = answer ? codeOf(answer) : UNREACHABLE;
      if (attempt === ATTEMPTS || !AT_ONCE.has(code)) throw new Problem(code);
      const wait = (0.05 + Math.random() * 0.15) * 2 ** (attempt - 1); // spreads retries, hides nothing
      await pause(Math.min(Math.max(wait, answer?.wait ?? 0), LONGEST_WAIT));
    }
  }

  /** @param {string} path @param {RequestInit} options @param {number} most @returns {Promise<Answer | undefined>} */
  async attempt(path, options, most) {
    try {
      const answer = await fetch(this.origin + path, {
        credentials: "omit",
        referrerPolicy: "no-referrer",
        redirect: "error",
        cache: "no-store",
        signal: AbortSignal.timeout(LONGEST_ANSWER * 1000),
        ...options,
      });
      const type = (answer.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
      const said = answer.headers.get("Deniable") ?? "";
      const wait = waitOf(answer.headers.get("Retry-After"));
      return { status: answer.status, type, said, wait, body: await bodyOf(answer, Math.max(most, MOST_PROBLEM)) };
    } catch {
      return undefined; // not sent, not answered, or not answered within bounds
    }
  }
}

/** @param {string} body @returns {RequestInit} */
const posting = (body) => ({ method: "POST", body, headers: { "Content-Type": "application/json" } });

/** @param {Answer} answer */
const isDocument = ({ status, type }) => status === 200 && type === "application/json";

/** @param {Answer} answer Whether a collector says so, in a header of its own: anybody may answer 204 to anything. */
const isTaken = ({ status, said, body }) => status === 204 && said === "stored" && body.length === 0;

/** @param {string} base */
function originOf(base) {
  try {
    return new URL(base).origin;
  } catch {
    return "";
  }
}

/** @param {string | null} header Seconds to wait; whatever is no plain number of them counts as none. */
const waitOf = (header) => (/^[0-9]{1,9}$/.test(header ?? "") ? Number(header) : 0);

/** @param {Response} answer @param {number} most Reads no more than so many bytes. @returns {Promise<Uint8Array>} */
async function bodyOf(answer, most) {
  if (!answer.body) return new Uint8Array();
  const reader = answer.body.getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("the answer is longer than it can be");
    }
    parts.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

/** @param {Answer} answer The code of a problem that is on the list; whatever else came is not from a collector. */
function codeOf({ status, type, body }) {
  if (type !== "application/problem+json") return UNREACHABLE;
  try {
    const read = decode(body, problem, MOST_PROBLEM);
    const code = read.type.startsWith(PREFIX) ? read.type.slice(PREFIX.length) : "";
    return read.status === BigInt(status) && PROBLEMS.get(code) === status ? code : UNREACHABLE;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return UNREACHABLE;
  }
}
