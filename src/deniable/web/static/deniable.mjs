// @ts-check
/**
 * deniable: the client that runs in a respondent's browser.
 *
 * This file is served as it lies here: nothing is built, bundled or loaded besides it, so what you read is what runs.
 * Its SHA-256 is published at /static/deniable.mjs.sha256 and in the documentation.
 *
 *   fetch the design -> verify it -> check the lifetime account -> draw a ballot -> charge and write down
 *   -> show the questions -> disguise once and write down -> show what will be sent -> send the same bytes until taken
 *
 * The rules are those of the Python client. Nothing a server says is believed that can be computed. Charge and refusal
 * never depend on an answer. The answer itself is never stored and never sent; what is stored is what was sent, or is
 * about to be. A static question has one permanent disguise for each channel.
 *
 * Parts: exact numbers, JSON, messages, channels, verify, chance, the device's memory, the client, the page.
 */

// -- exact numbers ---------------------------------------------------------------------------------------------------

/** @typedef {{n: bigint, d: bigint}} Ratio A fraction in lowest terms, at least 1. */

/** @param {bigint} n @param {bigint} d @returns {Ratio} */
export function ratio(n, d = 1n) {
  let [a, b] = [n, d];
  while (b) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
}

/** @param {string} text @returns {Ratio} */
export function ratioOfText(text) {
  const [n, d] = text.split("/");
  return ratio(BigInt(n ?? "0"), BigInt(d ?? "1"));
}

/** @param {Ratio[]} ratios @returns {Ratio} The ratio of several reports about one person: the exact product. */
export const compose = (ratios) => ratios.reduce((a, b) => ratio(a.n * b.n, a.d * b.d), ratio(1n));

/** @param {Ratio} a @param {Ratio} b */
const above = (a, b) => a.n * b.d > b.n * a.d;

/** @param {Ratio} a @param {Ratio} b */
const larger = (a, b) => (above(a, b) ? a : b);

/** @param {bigint} a @param {bigint} b */
const most = (a, b) => (a > b ? a : b);

/** @param {bigint} a @param {bigint} b */
const least = (a, b) => (a < b ? a : b);

const LARGEST_EPSILON = 1000;
const FIXED = 320n; // bits behind the point

/**
 * A fraction not above e^epsilon, and within 1e-60 of it relatively. Every step rounds down: the Taylor series of
 * e^(epsilon / 2^10) has positive terms only, and squaring ten times keeps a lower bound a lower bound.
 *
 * @param {number} epsilon @returns {Ratio}
 */
export function expBelow(epsilon) {
  if (!(epsilon > 0 && epsilon <= LARGEST_EPSILON)) throw new Refusal("malformed", `epsilon ${epsilon} is not usable`);
  let [whole, places] = [epsilon, 0n];
  for (; !Number.isInteger(whole); whole *= 2) places += 1n; // doubling a binary number is exact
  const x = (BigInt(whole) << FIXED) >> (places + 10n);
  let [sum, term] = [0n, 1n << FIXED];
  for (let k = 1n; term > 0n; k += 1n) {
    sum += term;
    term = ((term * x) >> FIXED) / k;
  }
  for (let i = 0; i < 10; i += 1) sum = (sum * sum) >> FIXED;
  // e^x >= 1 + x, exactly.
  return larger(ratio(sum, 1n << FIXED), ratio((1n << places) + BigInt(whole), 1n << places));
}

/** @param {Ratio} r @param {number} epsilon Whether r <= e^epsilon, compared exactly. */
export const fits = (r, epsilon) => !above(r, expBelow(epsilon));

/** @param {Ratio} r As a floating-point number, for showing only. */
const approximate = (r) => Number((r.n << 64n) / r.d) / 2 ** 64;

/** @param {Ratio} r ln r, for showing only. */
export const epsilonOf = (r) => Math.log(approximate(r));

// -- JSON ------------------------------------------------------------------------------------------------------------

/** @typedef {any} Anything What came from outside and is not checked yet. */

const DEEPEST = 64;

/**
 * Read JSON strictly. Whole numbers become bigints and everything else with a point or an exponent a number, so that
 * 32 and 32.0 differ; objects become maps; a key that comes twice is noted.
 *
 * @param {string} text @returns {{value: Anything, repeated: boolean}}
 */
export function readJson(text) {
  let at = 0;
  let repeated = false;
  const fail = () => new Refusal("malformed", `not JSON at character ${at}`);
  /** @param {RegExp} pattern */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) throw fail();
    at = pattern.lastIndex;
    return found[0];
  };
  const space = () => take(/[ \t\n\r]*/y);
  /** @param {string} mark */
  const next = (mark) => {
    space();
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };
  const string = () => {
    const read = JSON.parse(take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y));
    if (/\p{Cs}/u.test(read)) throw fail(); // half a character
    return read;
  };
  /** @param {number} depth @returns {Anything} */
  const value = (depth) => {
    if (depth > DEEPEST) throw fail();
    if (next("{")) {
      const found = new Map();
      if (next("}")) return found;
      do {
        space();
        const key = string();
        if (!next(":")) throw fail();
        repeated ||= found.has(key);
        found.set(key, value(depth + 1));
      } while (next(","));
      if (!next("}")) throw fail();
      return found;
    }
    if (next("[")) {
      const found = /** @type {Anything[]} */ ([]);
      if (next("]")) return found;
      do found.push(value(depth + 1));
      while (next(","));
      if (!next("]")) throw fail();
      return found;
    }
    if (text[at] === '"') return string();
    const word = take(/true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    if (/^-?[0-9]+$/.test(word)) return BigInt(word);
    return JSON.parse(word);
  };
  const read = value(0);
  space();
  if (at !== text.length) throw fail();
  return { value: read, repeated };
}

/**
 * Write the canonical form: keys in order, no white space, whole numbers only.
 *
 * @param {Anything} value @returns {string}
 */
export function canonical(value) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    const parts = entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`);
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}

// -- messages --------------------------------------------------------------------------------------------------------

const MOST_DESIGN_BYTES = 1 << 22;

/** Why something is refused: a code that all clients share, and a sentence. */
export class Refusal extends Error {
  /** @param {string} code @param {string} sentence */
  constructor(code, sentence) {
    super(`${sentence} (${code})`);
    this.code = code;
  }
}

/** @param {string} code @param {string} sentence @returns {never} */
function refuse(code, sentence) {
  throw new Refusal(code, sentence);
}

/** @typedef {(value: Anything, path: string) => Anything} Reader Checks one value and returns it in its final form. */

/** @param {(value: Anything) => boolean} test @returns {Reader} */
const such = (test) => (value, path) => (test(value) ? value : refuse("malformed", `${path} is of the wrong type`));

const whole = such((value) => typeof value === "bigint");
const string = such((value) => typeof value === "string");
const short = such((value) => typeof value === "string" && value !== "" && [...value].length <= 1000);
const category = such((value) => ["string", "bigint", "boolean"].includes(typeof value));
const decimal = such((value) => typeof value === "string" && /^(0|[1-9][0-9]{0,3})(\.[0-9]{1,30})?$/.test(value));

/** @type {Reader} */
const one = (value, path) => (value === 1n ? value : refuse("unknown-version", `${path} is not a version known here`));

/** @param {Reader} item @param {number} fewest @returns {Reader} */
const list = (item, fewest = 0) => (value, path) =>
  Array.isArray(value) && value.length >= fewest
    ? value.map((each, index) => item(each, `${path}[${index}]`))
    : refuse("malformed", `${path} is not a list of at least ${fewest}`);

/**
 * An object with exactly these fields; those with a default may be left out.
 *
 * @param {Record<string, Reader>} readers @param {Record<string, Anything>} defaults @returns {Reader}
 */
const object = (readers, defaults = {}) => (value, path) => {
  if (!(value instanceof Map)) refuse("malformed", `${path} is not an object`);
  for (const key of value.keys()) {
    if (!Object.hasOwn(readers, key)) refuse("unknown-field", `${path} has the unknown field ${key}`);
  }
  return Object.fromEntries(
    Object.entries(readers).map(([key, reader]) => {
      if (value.has(key)) return [key, reader(value.get(key), `${path}.${key}`)];
      return Object.hasOwn(defaults, key) ? [key, defaults[key]] : refuse("malformed", `${path}.${key} is missing`);
    }),
  );
};

/** @type {Record<string, Reader>} */
const CHANNELS = {
  krr: object({ kind: string, k: whole, other: whole, bits: whole }),
  mixture: object({ kind: string, keep: whole, fakes: list(whole), bits: whole }),
  dense: object({ kind: string, name: string, columns: list(list(whole)), bits: whole }),
};

/** @type {Reader} */
const weights = (value, path) => {
  const kind = value instanceof Map ? value.get("kind") : undefined;
  if (typeof kind !== "string") refuse("malformed", `${path}.kind is missing`);
  const reader = Object.hasOwn(CHANNELS, kind) ? CHANNELS[kind] : undefined;
  return reader ? reader(value, path) : refuse("unknown-channel", `${path} is of the unknown kind ${kind}`);
};

const attribute = object({ name: short, categories: list(category) });
const design = object(
  {
    version: one,
    survey: short,
    epsilon: decimal,
    plan: object({
      format: one,
      kind: short,
      domain: list(attribute, 1),
      questions: list(object({ attributes: list(string, 1), channel: weights }), 1),
      ballots: list(list(whole), 1),
    }),
    static: list(string),
    public: list(attribute),
  },
  { static: [], public: [] },
);

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} text */
const hashOf = (text) => sha256(new TextEncoder().encode(text));

// -- channels --------------------------------------------------------------------------------------------------------

/**
 * @typedef {object} Channel A channel made of integers: weights[v][u] of 2^bits draws turn truth v into report u.
 * @property {number} bits
 * @property {number} inputs
 * @property {number} outputs
 * @property {Ratio} ratio
 * @property {(truth: number, draw: number) => number} outcome
 * @property {number} kept the largest share of draws that report the truth as it is
 */

/** @param {Anything} fields a channel that passed `checkWeights` @returns {Channel} */
export function channelOf(fields) {
  const bits = Number(fields.bits);
  const draws = 2 ** bits;
  if (fields.kind === "krr") {
    const [k, other] = [Number(fields.k), Number(fields.other)];
    const keep = draws - (k - 1) * other;
    return {
      bits,
      inputs: k,
      outputs: k,
      ratio: larger(ratio(BigInt(keep), fields.other), ratio(fields.other, BigInt(keep))),
      outcome: (truth, draw) => (truth + 1 + Math.min(Math.floor(draw / other), k - 1)) % k,
      kept: keep / draws,
    };
  }
  if (fields.kind === "mixture") {
    const rarest = fields.fakes.reduce(least);
    const fakes = fields.fakes.map(Number);
    const keep = Number(fields.keep);
    return {
      bits,
      inputs: fakes.length,
      outputs: fakes.length,
      ratio: ratio(fields.keep + rarest, rarest),
      outcome: (truth, draw) => (draw < keep ? truth : stretch(fakes, draw - keep)),
      kept: (keep + Math.max(...fakes)) / draws,
    };
  }
  /** @type {bigint[][]} */
  const columns = fields.columns;
  const counts = columns.map((column) => column.map(Number));
  const rows = (columns[0] ?? []).map((_, u) => columns.map((column) => /** @type {bigint} */ (column[u])));
  const ratios = rows.map((row) => ratio(row.reduce(most), row.reduce(least)));
  return {
    bits,
    inputs: counts.length,
    outputs: rows.length,
    ratio: ratios.reduce(larger),
    outcome: (truth, draw) => stretch(/** @type {number[]} */ (counts[truth]), draw),
    kept: Math.max(...counts.map((column, v) => (column[v] ?? 0) / draws)),
  };
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

/** @param {Anything} fields @param {string} name Checks a channel's integers; returns how many truths it has. */
function checkWeights(fields, name) {
  if (fields.bits !== 16n && fields.bits !== 32n) refuse("wrong-bits", `${name} draws ${fields.bits} bits`);
  const total = 1n << fields.bits;
  if (fields.kind === "krr") {
    if (fields.k < 2n) refuse("wrong-cells", `${name} has a channel with ${fields.k} truths`);
    const keep = total - (fields.k - 1n) * fields.other;
    if (fields.other < 1n || keep === 0n) refuse("zero-weight", `${name}: some report has no draw for some truth`);
    if (keep < 0n) refuse("wrong-sum", `${name}: more draws for the other answers than there are`);
    if (keep === fields.other) refuse("tells-nothing", `${name}: every answer is reported alike`);
    return fields.k;
  }
  if (fields.kind === "mixture") {
    checkColumn([fields.keep, ...fields.fakes], total, name);
    return BigInt(fields.fakes.length);
  }
  for (const column of fields.columns) {
    if (column.length !== fields.columns[0].length) refuse("wrong-sum", `${name}: columns of different lengths`);
    checkColumn(column, total, name);
  }
  return BigInt(fields.columns.length);
}

/** @param {bigint[]} column @param {bigint} total @param {string} name */
function checkColumn(column, total, name) {
  if (!column.length || column.some((weight) => weight < 1n)) {
    refuse("zero-weight", `${name}: some report has no draw for some truth`);
  }
  if (column.reduce((a, b) => a + b, 0n) !== total) refuse("wrong-sum", `${name}: weights do not sum to ${total}`);
}

/** Primes so small that products are exact. Full rank modulo either proves full rank. */
const PRIMES = [67108859, 67108837];

/** @param {bigint[][]} columns @param {number} prime Whether the columns are independent modulo a prime. */
function independent(columns, prime) {
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

// -- verify ----------------------------------------------------------------------------------------------------------

/** @typedef {{name: string, categories: (string | bigint | boolean)[]}} Attribute */
/** @typedef {{attributes: Attribute[], channel: Channel, key: string, static: boolean}} Question */
/**
 * @typedef {object} Design A design that keeps its promise.
 * @property {string} id
 * @property {string} epsilon
 * @property {Attribute[]} public
 * @property {Question[][]} ballots
 * @property {Ratio} ratio of the dearest ballot
 */

/**
 * Check a design as it came from a server, against the hash it was asked for by. The first check that fails gives the
 * reason; all clients check in the same order.
 *
 * @param {Uint8Array<ArrayBuffer>} body @param {string} expected @returns {Promise<Design>}
 */
export async function verify(body, expected) {
  if (body.length > MOST_DESIGN_BYTES) refuse("too-large", `the design has ${body.length} bytes`);
  const id = await sha256(body);
  if (id !== expected) refuse("wrong-hash", `the design's bytes have the hash ${id}`);
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    refuse("malformed", "not UTF-8");
  }
  const { value, repeated } = readJson(text);
  const message = design(value, "design");
  if (repeated || canonical(value) !== text) refuse("not-canonical", "the design is not in its canonical form");
  return judge(id, message);
}

/** @param {string} id @param {Anything} message @returns {Promise<Design>} */
async function judge(id, message) {
  const { plan } = message;
  checkAttributes([...plan.domain, ...message.public]);
  /** @type {Map<string, Attribute>} */
  const domain = new Map(plan.domain.map((/** @type {Attribute} */ each) => [each.name, each]));
  for (const name of message.static) {
    if (!domain.has(name)) refuse("unknown-attribute", `the static attribute ${name} is not asked for`);
  }
  /** @type {Question[]} */
  const questions = [];
  for (const asked of plan.questions) {
    const { attributes, channel } = questionOf(asked, domain);
    questions.push({
      attributes,
      channel,
      key: await hashOf(canonical([attributes.map((each) => [each.name, each.categories]), asked.channel])),
      static: asked.attributes.every((/** @type {string} */ name) => message.static.includes(name)),
    });
  }
  /** @type {Question[][]} */
  const ballots = plan.ballots.map((/** @type {bigint[]} */ ballot, /** @type {number} */ number) =>
    ballotOf(number, ballot, questions),
  );
  const dearest = ballots.map(costOf).reduce(larger);
  if (!fits(dearest, Number(message.epsilon))) {
    const found = epsilonOf(dearest).toFixed(6);
    refuse("epsilon-exceeded", `the design promises epsilon ${message.epsilon}, but its integers give ${found}`);
  }
  return { id, epsilon: message.epsilon, public: message.public, ballots, ratio: dearest };
}

/** @param {Question[]} questions */
const costOf = (questions) => compose(questions.map((question) => question.channel.ratio));

/** @param {Attribute[]} attributes */
function checkAttributes(attributes) {
  if (new Set(attributes.map((each) => each.name)).size !== attributes.length) {
    refuse("repeated-name", "two attributes share a name");
  }
  for (const { name, categories } of attributes) {
    if (categories.length < 2) refuse("too-few-categories", `${name} has fewer than two categories`);
    if (new Set(categories.map((each) => typeof each)).size > 1) refuse("malformed", `${name}: categories of two types`);
    if (new Set(categories).size !== categories.length) refuse("repeated-name", `${name} has a category twice`);
  }
}

/** @param {Anything} asked @param {Map<string, Attribute>} domain */
function questionOf(asked, domain) {
  const name = asked.attributes.join("*");
  /** @type {Attribute[]} */
  const attributes = asked.attributes.map(
    (/** @type {string} */ each) => domain.get(each) ?? refuse("unknown-attribute", `${each} is not declared`),
  );
  if (new Set(attributes).size !== attributes.length) refuse("attribute-twice", `${name} asks an attribute twice`);
  const truths = checkWeights(asked.channel, name);
  const cells = attributes.reduce((product, each) => product * BigInt(each.categories.length), 1n);
  if (truths !== cells) refuse("wrong-cells", `${name} has ${cells} possible answers, its channel ${truths} truths`);
  const { kind, columns } = asked.channel;
  if (kind === "dense" && !PRIMES.some((prime) => independent(columns, prime))) {
    refuse("tells-nothing", `${name}: the truth cannot be told from the reports`);
  }
  return { attributes, channel: channelOf(asked.channel) };
}

/** @param {number} number @param {bigint[]} ballot @param {Question[]} questions @returns {Question[]} */
function ballotOf(number, ballot, questions) {
  if (!ballot.length) refuse("empty-ballot", `ballot ${number} asks nothing`);
  const asked = ballot.map(
    (index) => questions[Number(index)] ?? refuse("unknown-question", `ballot ${number} names question ${index}`),
  );
  const names = asked.flatMap((question) => question.attributes.map((each) => each.name));
  if (new Set(names).size !== names.length) refuse("attribute-twice", `ballot ${number} asks an attribute twice`);
  return asked;
}

// -- chance ----------------------------------------------------------------------------------------------------------

/** @param {16 | 32 | number} bits A uniform draw from the operating system. */
const draw = (bits) => crypto.getRandomValues(bits === 16 ? new Uint16Array(1) : new Uint32Array(1))[0] ?? 0;

/** @param {number} n A uniform number below n; draws beyond the last multiple of n are drawn again. */
function below(n) {
  const end = 2 ** 32 - (2 ** 32 % n);
  let found = draw(32);
  while (found >= end) found = draw(32);
  return found % n;
}

const newId = () =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// -- the device's memory ---------------------------------------------------------------------------------------------

const DEFAULT_LIMIT = 5; // the most epsilon that this browser ever gives away to this site
const WAITING = 0;
const DELIVERED = 1;
const REJECTED = 2;

/** @typedef {{design: string, ballot: number, report: string | null, fate: number}} Drawn */
/** @typedef {{question: string, origin: string, answer: number}} Remembered */
/** @typedef {{kind: "asked/1", design: string, ballot: number, ratio: string}} Asked */
/** @typedef {{kind: "replayed/1", design: string, of: string}} Replayed */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Account, drawn ballots, finished reports and permanent disguises, in IndexedDB. No answer is among them. */
export class Memory {
  /** @param {IDBDatabase} db */
  constructor(db) {
    this.db = db;
  }

  static async open(name = "deniable") {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("events", { keyPath: "design" });
      request.result.createObjectStore("drawn", { keyPath: "design" });
      request.result.createObjectStore("remembered", { keyPath: "question" });
    };
    return new Memory(await settled(request));
  }

  /** @param {string} store @param {string} key @returns {Promise<Anything>} */
  get(store, key) {
    return settled(this.db.transaction(store).objectStore(store).get(key));
  }

  /** @param {string} store @returns {Promise<Anything[]>} */
  all(store) {
    return settled(this.db.transaction(store).objectStore(store).getAll());
  }

  /**
   * Write several things, all or none; they are on disk when this returns.
   *
   * @param {Record<string, object[]>} things by store
   */
  async put(things) {
    const transaction = this.db.transaction(Object.keys(things), "readwrite", { durability: "strict" });
    for (const [store, values] of Object.entries(things)) {
      for (const value of values) transaction.objectStore(store).put(value);
    }
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
  }

  /** @returns {Promise<Ratio>} The exact product of everything that was ever charged. */
  async spent() {
    const events = await this.all("events");
    return compose(events.filter((event) => event.kind === "asked/1").map((event) => ratioOfText(event.ratio)));
  }
}

/** @template T @param {() => Promise<T>} action Two tabs take turns. */
const alone = (action) => navigator.locks.request("deniable", action);

// -- the client ------------------------------------------------------------------------------------------------------

const ATTEMPTS = 5;
const LONGEST_WAIT = 30; // seconds
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 507]); // worth another try with the same bytes

/** @param {number} seconds */
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** @param {string} url @param {RequestInit} options Nothing goes along but what the protocol asks for. */
const ask = (url, options = {}) =>
  fetch(url, { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", cache: "no-store", ...options });

/** One respondent's browser and the collector that served this file. */
export class Client {
  /** @param {Memory} memory @param {Design} verified */
  constructor(memory, verified) {
    this.memory = memory;
    this.design = verified;
  }

  /** @param {string} id the design's hash */
  static async open(id) {
    const answer = await ask(`/v1/designs/${encodeURIComponent(id)}`);
    if (!answer.ok) throw new Error(`the design cannot be had: ${answer.status}`);
    const verified = await verify(new Uint8Array(await answer.arrayBuffer()), id);
    return new Client(await Memory.open(), verified);
  }

  /** @returns {Promise<Drawn | undefined>} */
  drawn() {
    return this.memory.get("drawn", this.design.id);
  }

  /** The most that this design can still cost, and whether the account allows it. Decided without any answer. */
  async account() {
    const costs = [];
    for (const ballot of this.design.ballots) costs.push(costOf(await this.fresh(ballot)));
    const dearest = costs.reduce(larger);
    const spent = await this.memory.spent();
    return { limit: DEFAULT_LIMIT, spent, dearest, affordable: fits(compose([spent, dearest]), DEFAULT_LIMIT) };
  }

  /** @param {Question[]} ballot The questions for which a new disguise will be drawn. */
  async fresh(ballot) {
    const found = [];
    for (const question of ballot) if (!(await this.recall(question))) found.push(question);
    return found;
  }

  /** @param {Question} question @returns {Promise<Remembered | undefined>} */
  async recall(question) {
    return question.static ? this.memory.get("remembered", question.key) : undefined;
  }

  /** Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones. */
  async draw() {
    const known = await alone(async () => (await this.drawn()) ?? this.drawAndCharge());
    return this.questions(known);
  }

  /** @param {Drawn} known */
  questions(known) {
    return this.design.ballots[known.ballot] ?? refuse("unknown-question", "the drawn ballot does not exist");
  }

  /** @returns {Promise<Drawn>} */
  async drawAndCharge() {
    const { affordable } = await this.account();
    if (!affordable) refuse("overdrawn", "the account of this browser does not allow it");
    const number = below(this.design.ballots.length);
    const ballot = this.design.ballots[number] ?? [];
    const fresh = await this.fresh(ballot);
    const cost = costOf(fresh);
    const remembered = fresh.length || !ballot[0] ? undefined : await this.recall(ballot[0]);
    /** @type {Asked | Replayed} */
    const event = remembered
      ? { kind: "replayed/1", design: this.design.id, of: remembered.origin }
      : { kind: "asked/1", design: this.design.id, ballot: number, ratio: `${cost.n}/${cost.d}` };
    const known = { design: this.design.id, ballot: number, report: null, fate: WAITING };
    await this.memory.put({ events: [event], drawn: [known] });
    // Asks the browser not to forget this when space is short. It may ask its user, so nothing waits for the answer.
    navigator.storage?.persist?.().catch(() => false);
    return known;
  }

  /**
   * Disguise the answers, once: on disk before this returns; again, the same bytes, whatever the answers are then.
   *
   * @param {Record<string, number>} codes by attribute @returns {Promise<string>}
   */
  async finish(codes) {
    return alone(async () => {
      const known = await this.drawn();
      if (!known) return refuse("unknown-question", "no ballot was drawn");
      if (known.report !== null) return known.report;
      const answers = [];
      const remembered = [];
      for (const question of this.questions(known)) {
        const before = await this.recall(question);
        const answer = before ? before.answer : disguise(question, codes);
        answers.push(answer);
        if (question.static && !before) remembered.push({ question: question.key, origin: known.design, answer });
      }
      const clear = this.design.public.map((each) => codes[each.name]);
      const report = reportOf(known.design, known.ballot, answers, clear);
      await this.memory.put({ drawn: [{ ...known, report }], remembered });
      return report;
    });
  }

  /** Send the finished report until it is taken; the same bytes at every attempt. Returns the problem, if one stays. */
  async send() {
    const known = await this.drawn();
    if (!known || known.report === null) return refuse("unknown-question", "there is nothing to send");
    const answer = await post(known.report);
    const taken = answer?.status === 204;
    if (answer && (taken || !PASSING.has(answer.status))) {
      await this.memory.put({ drawn: [{ ...known, fate: taken ? DELIVERED : REJECTED }] });
    }
    return taken ? null : (answer?.code ?? "unreachable");
  }
}

/** @param {Question} question @param {Record<string, number>} codes */
function disguise({ attributes, channel }, codes) {
  const cell = attributes.reduce((place, each) => {
    const code = codes[each.name];
    if (code === undefined) return refuse("malformed", `there is no answer for ${each.name}`);
    return place * each.categories.length + code;
  }, 0);
  return channel.outcome(cell, draw(channel.bits));
}

/** @param {string} id @param {number} ballot @param {number[]} answers @param {(number | undefined)[]} clear */
export const reportOf = (id, ballot, answers, clear, name = newId()) =>
  canonical({ version: 1, id: name, design: id, ballot, answers, block: null, public: clear });

/** @param {string} report */
async function post(report) {
  for (let attempt = 0; ; attempt += 1) {
    let wait = (0.05 + Math.random() * 0.15) * 2 ** attempt; // spreads retries, hides nothing
    let found = null;
    try {
      const answer = await ask("/v1/reports", {
        method: "POST",
        body: report,
        headers: { "Content-Type": "application/json" },
      });
      const problem = answer.status === 204 ? null : await answer.json().catch(() => null);
      found = { status: answer.status, code: String(problem?.type ?? "").split(":").pop() || String(answer.status) };
      if (!PASSING.has(answer.status)) return found;
      wait = Math.max(wait, Number(answer.headers.get("Retry-After")) || 0);
    } catch {
      // out of reach
    }
    if (attempt + 1 === ATTEMPTS) return found;
    await pause(Math.min(wait, LONGEST_WAIT));
  }
}

// -- the page --------------------------------------------------------------------------------------------------------
// All words stand in the page or come with the survey. Sections of the page are shown one at a time.

const NOT_ASKED = "does not apply";

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * @param {string} tag @param {Record<string, string | boolean>} attributes @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** @param {string} id Show one section and bring its heading to whoever reads or listens. */
function show(id) {
  for (const section of document.querySelectorAll("main > section")) {
    section.toggleAttribute("hidden", section.id !== id);
  }
  element("status").hidden = true;
  element(id).querySelector("h2")?.focus();
}

/** @param {ParentNode} root @param {Record<string, string>} values Put numbers into the places the words leave. */
function fill(root, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const place of root.querySelectorAll(`[data-fill="${name}"]`)) place.textContent = value;
  }
}

/** @param {string} name A piece of the page to be used several times. */
function piece(name) {
  const template = /** @type {HTMLTemplateElement} */ (element(name));
  return /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/** @param {Record<string, string> | undefined} texts */
const inLanguage = (texts) => texts?.[document.documentElement.lang] ?? Object.values(texts ?? {})[0] ?? "";

/** @param {number} share Of a hundred, never better than it is. */
const percent = (share) => String(Math.min(99, Math.ceil(share * 100 - 1e-9)));

/** @param {Ratio} r How sure somebody can become who was undecided. */
const belief = (r) => percent(approximate(r) / (1 + approximate(r)));

/** @param {SVGElement} picture @param {number} share Colour so many of a picture's hundred dots. */
function colour(picture, share) {
  const kept = Math.round(share * 100);
  picture.querySelectorAll("circle").forEach((dot, index) => dot.classList.toggle("kept", index < kept));
}

/**
 * One item of the form: what is asked, and how to read the answer.
 *
 * @typedef {object} Field
 * @property {Attribute} attribute
 * @property {Anything} item
 * @property {HTMLElement} root
 * @property {() => number | undefined} code
 */

/** @param {Attribute} attribute @param {Anything} item @returns {Field} */
function fieldOf(attribute, item) {
  const rules = Object.keys(item?.show_if ?? {}).length > 0;
  const texts = new Map((item?.choices ?? []).map((/** @type {Anything} */ each) => [each.value, inLanguage(each.text)]));
  const bins = item?.kind === "number" ? item.bins : [];
  const legend = make("legend", {}, inLanguage(item?.text) || attribute.name);
  const root = make("fieldset", { "data-attribute": attribute.name }, legend);
  attribute.categories.forEach((value, code) => {
    const known = String(value);
    if ((rules && known === NOT_ASKED) || (bins.length && code <= bins.length)) return;
    const input = make("input", { type: "radio", name: attribute.name, value: String(code) });
    root.append(make("label", { class: "choice" }, input, make("span", {}, String(texts.get(known) ?? known))));
  });
  if (!bins.length) return { attribute, item, root, code: () => checked(root) };
  const name = `number-${attribute.name}`;
  const number = /** @type {HTMLInputElement} */ (
    make("input", { type: "number", step: "any", inputmode: "decimal", id: name, autocomplete: "off" })
  );
  legend.id = `legend-${attribute.name}`;
  number.setAttribute("aria-labelledby", legend.id);
  legend.after(make("div", { class: "number" }, number));
  number.addEventListener("input", () => {
    for (const radio of root.querySelectorAll("input[type=radio]")) /** @type {HTMLInputElement} */ (radio).checked = false;
  });
  root.addEventListener("change", (event) => {
    if (event.target !== number) number.value = "";
  });
  const code = () => {
    if (number.value === "" || !Number.isFinite(number.valueAsNumber)) return checked(root);
    return bins.filter((/** @type {number} */ edge) => edge <= number.valueAsNumber).length;
  };
  return { attribute, item, root, code };
}

/** @param {HTMLElement} root */
function checked(root) {
  const found = root.querySelector("input[type=radio]:checked");
  return found ? Number(/** @type {HTMLInputElement} */ (found).value) : undefined;
}

/** @param {Anything} form @param {Attribute} attribute @param {bigint | string | boolean} value */
function textOf(form, attribute, value) {
  const item = [...form.questions, ...form.public].find((each) => each.name === attribute.name);
  const choice = item?.choices.find((/** @type {Anything} */ each) => each.value === String(value));
  return choice ? inLanguage(choice.text) : String(value);
}

/** The respondent's page, from loading to thanks. */
class Page {
  /** @param {Anything} form @param {Client} client */
  constructor(form, client) {
    this.form = form;
    this.client = client;
    /** @type {Field[]} */
    this.fields = [];
  }

  async start() {
    element("begin").addEventListener("click", () => this.guard(() => this.begin()));
    element("answers").addEventListener("submit", (event) => {
      event.preventDefault();
      this.guard(() => this.disguise());
    });
    element("send").addEventListener("click", () => this.guard(() => this.send()));
    element("again").addEventListener("click", () => this.guard(() => this.send()));
    const { design } = this.client;
    fill(document, { belief: belief(design.ratio), promise: design.epsilon });
    element("believed").setAttribute("width", belief(design.ratio));
    const known = await this.client.drawn();
    if (known) return this.resume(known);
    const { affordable, spent, dearest, limit } = await this.client.account();
    const left = Math.max(0, limit - epsilonOf(spent));
    fill(document, { cost: epsilonOf(dearest).toFixed(2), left: left.toFixed(2), limit: String(limit) });
    return show(affordable ? "intro" : "overdrawn");
  }

  /** @param {Drawn} known After a reload: where this respondent was. */
  async resume(known) {
    if (known.fate === DELIVERED) return show("done");
    if (known.fate === REJECTED) return show("rejected");
    return known.report === null ? this.ask(this.client.questions(known)) : this.review(known.report);
  }

  /** @param {() => Promise<unknown>} action Run an action; a refusal becomes a page of its own. */
  async guard(action) {
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => button.setAttribute("aria-disabled", "true"));
    try {
      if (!this.busy) {
        this.busy = true;
        await action();
      }
    } catch (error) {
      failed(error);
    } finally {
      this.busy = false;
      buttons.forEach((button) => button.removeAttribute("aria-disabled"));
    }
  }

  async begin() {
    this.ask(await this.client.draw());
  }

  /** @param {Question[]} questions */
  ask(questions) {
    const { form, client } = this;
    const clear = client.design.public.map((each) => fieldOf(each, named(form.public, each.name)));
    element("public").replaceChildren(...clear.map((field) => field.root));
    element("clear").hidden = !clear.length;
    this.fields = [...clear];
    const cards = questions.map((question) => {
      const card = piece("question");
      const fields = question.attributes.map((each) => fieldOf(each, named(form.questions, each.name)));
      this.fields.push(...fields);
      card.querySelector(".fields")?.append(...fields.map((field) => field.root));
      const kept = Math.round(question.channel.kept * 100);
      fill(card, { kept: String(kept), changed: String(100 - kept), belief: belief(question.channel.ratio) });
      card.querySelector(".together")?.toggleAttribute("hidden", fields.length < 2);
      const picture = card.querySelector("svg");
      if (picture) colour(picture, question.channel.kept);
      return card;
    });
    element("asked").replaceChildren(...cards);
    element("answers").addEventListener("change", () => this.reveal());
    this.reveal();
    show("questions");
  }

  /** Show and leave out questions by public attributes; whoever is not asked sends a disguised answer all the same. */
  reveal() {
    for (const field of this.fields) field.root.hidden = !this.isShown(field);
    for (const note of document.querySelectorAll("#asked .unasked")) {
      note.toggleAttribute("hidden", !note.parentElement?.querySelector("fieldset[hidden]"));
    }
  }

  /** @param {Field} field */
  isShown({ item }) {
    return Object.entries(item?.show_if ?? {}).every(([name, wanted]) => {
      const other = this.fields.find((each) => each.attribute.name === name);
      const code = other?.code();
      return code !== undefined && wanted.includes(other?.attribute.categories[code]);
    });
  }

  async disguise() {
    /** @type {Record<string, number>} */
    const codes = {};
    /** @type {Field | undefined} */
    let missing;
    for (const field of this.fields) {
      const code = this.isShown(field) ? field.code() : field.attribute.categories.indexOf(NOT_ASKED);
      field.root.classList.toggle("missing", code === undefined);
      if (code === undefined) missing ??= field;
      else codes[field.attribute.name] = code;
    }
    element("unanswered").hidden = !missing;
    if (missing) {
      /** @type {HTMLElement | null} */ (missing.root.querySelector("input"))?.focus();
      return;
    }
    const report = await this.client.finish(codes);
    /** @type {HTMLFormElement} */ (element("answers")).reset(); // from here on, the answer is nowhere
    await this.review(report);
  }

  /** @param {string} report Show exactly what will be sent, in words and to the letter. */
  async review(report) {
    const message = JSON.parse(report);
    const rows = this.client.design.public.map((each, place) => row(this.form, [each], [message.public[place]], "clear"));
    (this.client.design.ballots[message.ballot] ?? []).forEach((question, place) => {
      const sizes = question.attributes.map((each) => each.categories.length);
      rows.push(row(this.form, question.attributes, parts(message.answers[place], sizes), "disguised"));
    });
    element("sent").replaceChildren(...rows);
    element("bytes").textContent = report;
    show("review");
  }

  async send() {
    const problem = await this.client.send();
    if (problem === null) return show("done");
    const known = await this.client.drawn();
    fill(document, { problem });
    return show(known?.fate === REJECTED ? "rejected" : "unsent");
  }
}

/** @param {Anything[]} items @param {string} name */
const named = (items, name) => items.find((item) => item.name === name);

/** @param {number} cell @param {number[]} sizes The codes that a combination is made of. */
function parts(cell, sizes) {
  let left = cell;
  return sizes.reduceRight((codes, size) => {
    codes.unshift(left % size);
    left = Math.floor(left / size);
    return codes;
  }, /** @type {number[]} */ ([]));
}

/** @param {Anything} form @param {Attribute[]} attributes @param {number[]} codes @param {string} how */
function row(form, attributes, codes, how) {
  const made = piece("line");
  const questions = attributes.map((each) => {
    const item = named([...form.questions, ...form.public], each.name);
    return inLanguage(item?.text) || each.name;
  });
  const values = attributes.map((each, place) => textOf(form, each, each.categories[codes[place] ?? 0] ?? ""));
  fill(made, { question: questions.join(" + "), value: values.join(" + ") });
  for (const mark of made.querySelectorAll("[data-how]")) {
    if (mark.getAttribute("data-how") !== how) mark.remove();
  }
  return made;
}

/** @param {unknown} error */
function failed(error) {
  if (error instanceof Refusal) {
    fill(document, { reason: error.message });
    return show(error.code === "overdrawn" ? "overdrawn" : "refused");
  }
  fill(document, { failure: error instanceof Error ? error.message : String(error) });
  return show("failed");
}

async function main() {
  if (!globalThis.isSecureContext || !navigator.locks || !globalThis.indexedDB) return show("insecure");
  try {
    const answer = await ask("/v1/survey");
    if (!answer.ok) throw new Error(`the survey cannot be had: ${answer.status}`);
    const form = await answer.json();
    await new Page(form, await Client.open(String(form.design))).start();
  } catch (error) {
    failed(error);
  }
}

if (globalThis.document?.querySelector("main[data-survey]")) main();
