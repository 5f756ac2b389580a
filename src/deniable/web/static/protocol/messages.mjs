// @ts-check
/** Messages: strict JSON, canonical bytes, and readers that take nothing but what they name. */

/** Why something is refused: a code that all clients share, and a sentence. */
export class Refusal extends Error {
  /** @param {string} code @param {string} sentence */
  constructor(code, sentence) {
    super(`${sentence} (${code})`);
    this.code = code;
    this.sentence = sentence;
  }
}

/** @param {string} code @param {string} sentence @returns {never} */
export function refuse(code, sentence) {
  throw new Refusal(code, sentence);
}


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
    const all = value instanceof Map ? [...value] : Object.entries(value);
    const entries = all.filter(([, each]) => each !== undefined); // a field that may be left out was
    const parts = entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`);
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * Read a message strictly: bounded, UTF-8, JSON, and of the shape that the reader asks for.
 *
 * @param {Uint8Array} body @param {Reader} reader @param {number} most bytes @returns {Anything}
 */
export function decode(body, reader, most) {
  const { value, repeated } = parse(body, most);
  const message = reader(value, "message");
  return repeated ? refuse("repeated-key", "a key stands twice in the same object") : message;
}

/** @param {Uint8Array} body @param {number} most @returns {{value: Anything, repeated: boolean, text: string}} */
export function parse(body, most) {
  if (body.length > most) refuse("too-large", `${body.length} bytes are more than the ${most} that are read`);
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    refuse("malformed", "not UTF-8");
  }
  return { ...readJson(text), text };
}

// -- readers ---------------------------------------------------------------------------------------------------------

/** @typedef {(value: Anything, path: string) => Anything} Reader Checks one value and returns it in its final form. */

/** @param {(value: Anything) => boolean} test @returns {Reader} */
export const such = (test) => (value, path) =>
  test(value) ? value : refuse("malformed", `${path} is of the wrong type`);

export const whole = such((value) => typeof value === "bigint" && BigInt.asIntN(64, value) === value);
export const string = such((value) => typeof value === "string");
export const boolean = such((value) => typeof value === "boolean");
export const short = such((value) => typeof value === "string" && value !== "" && [...value].length <= 1000);

/** @param {RegExp} pattern @returns {Reader} */
export const matching = (pattern) => such((value) => typeof value === "string" && pattern.test(value));

export const hash = matching(/^[0-9a-f]{64}$/);
export const hex = such((value) => typeof value === "string" && value.length <= 2048 && /^([0-9a-f]{2})+$/.test(value));

/** @param {Reader} reader @returns {Reader} */
export const optional = (reader) => (value, path) => (value === null ? null : reader(value, path));

/** @param {bigint} known @returns {Reader} */
const version = (known) => (value, path) =>
  value === known ? value : refuse("unknown-version", `${path} is ${value}, and this program reads version ${known}`);

export const one = version(1n);
export const two = version(2n);
export const three = version(3n);

/** @param {...string} known @returns {Reader} */
export const oneOf = (...known) => such((value) => known.includes(value));

/** @param {bigint} first @param {bigint} end @returns {Reader} A whole number from the first on, before the end. */
export const between = (first, end) => such((value) => typeof value === "bigint" && value >= first && value < end);

/** @param {Reader} item @param {number} fewest @returns {Reader} */
export const list = (item, fewest = 0) => (value, path) =>
  Array.isArray(value) && value.length >= fewest
    ? value.map((each, index) => item(each, `${path}[${index}]`))
    : refuse("malformed", `${path} is not a list of at least ${fewest}`);

/**
 * An object with exactly these fields; those with a default may be left out. Fields are read in the order in which they
 * stand, so that of several faults every client names the first one.
 *
 * @param {Record<string, Reader>} readers @param {Record<string, Anything>} defaults @returns {Reader}
 */
export const object = (readers, defaults = {}) => (value, path) => {
  if (!(value instanceof Map)) refuse("malformed", `${path} is not an object`);
  /** @type {Record<string, Anything>} */
  const found = { ...defaults };
  for (const [key, each] of value) {
    const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
    found[key] = reader ? reader(each, `${path}.${key}`) : refuse("unknown-field", `${path} has the field ${key}`);
  }
  for (const key of Object.keys(readers)) {
    if (!Object.hasOwn(found, key)) refuse("malformed", `${path}.${key} is missing`);
  }
  return found;
};

/** @param {Reader} name @param {Reader} item @returns {Reader} An object whose fields are named by whoever wrote it. */
export const record = (name, item) => (value, path) => {
  if (!(value instanceof Map)) refuse("malformed", `${path} is not an object`);
  const found = /** @type {[string, Anything][]} */ ([]);
  for (const [key, each] of value) found.push([name(key, path), item(each, `${path}.${key}`)]);
  return new Map(found);
};

// -- bytes and hashes ------------------------------------------------------------------------------------------------

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {...Uint8Array} parts @returns {Uint8Array<ArrayBuffer>} */
export const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array} bytes */
export const sha256 = async (bytes) =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes))));

/** @param {string} text */
export const hashOf = (text) => sha256(utf8(text));
