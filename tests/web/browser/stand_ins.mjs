// What a browser gives the program and node does not: IndexedDB in memory and an address; and a collector to talk to.

// -- IndexedDB -------------------------------------------------------------------------------------------------------

const later = (action) => queueMicrotask(action);

class Request {
  constructor(transaction, work) {
    later(() => {
      this.result = work();
      this.onsuccess?.();
      transaction?.settle();
    });
  }
}

class Store {
  constructor(transaction, kept) {
    Object.assign(this, { transaction, kept, keyPath: kept.keyPath });
  }
  ask(work) {
    this.transaction.open += 1;
    return new Request(this.transaction, work);
  }
  get(key) {
    return this.ask(() => structuredClone(this.kept.rows.get(key)));
  }
  getAll() {
    return this.ask(() => structuredClone([...this.kept.rows.values()]));
  }
  put(value) {
    const key = value[this.keyPath];
    if (key === undefined) throw new Error(`no ${this.keyPath}`);
    return this.ask(() => void this.kept.rows.set(key, structuredClone(value)));
  }
  delete(key) {
    return this.ask(() => void this.kept.rows.delete(key));
  }
}

class Transaction {
  constructor(db) {
    Object.assign(this, { db, open: 0 });
  }
  objectStore(name) {
    const kept = this.db.stores.get(name);
    if (!kept) throw new Error(`no store ${name}`);
    return new Store(this, kept);
  }
  settle() {
    this.open -= 1;
    if (this.open === 0) later(() => this.open === 0 && this.oncomplete?.());
  }
}

class Database {
  version = 0;
  stores = new Map();
  createObjectStore(name, { keyPath }) {
    const kept = { keyPath, rows: new Map() };
    this.stores.set(name, kept);
    return new Store(this.upgrade, kept);
  }
  transaction() {
    return new Transaction(this);
  }
  close() {}
}

class Databases {
  kept = new Map();
  open(name, version) {
    const db = this.kept.get(name) ?? new Database();
    this.kept.set(name, db);
    const request = { result: db, transaction: null };
    const done = () => request.onsuccess?.();
    const fail = (name) => {
      request.error = new DOMException("", name);
      request.onerror?.();
    };
    later(() => {
      if (db.version === version) return done();
      if (db.version > version) return fail("VersionError");
      const oldVersion = db.version;
      db.version = version;
      db.upgrade = request.transaction = new Transaction(db);
      db.upgrade.open = 1;
      db.upgrade.oncomplete = done;
      db.upgrade.abort = () => {
        db.version = oldVersion;
        db.upgrade.oncomplete = () => fail("AbortError");
      };
      request.onupgradeneeded?.({ oldVersion });
      return db.upgrade.settle();
    });
    return request;
  }
}

// -- a device and a collector ----------------------------------------------------------------------------------------

export const HERE = "https://survey.example.org";

/** A device that has never seen anything. */
export function newDevice(origin = HERE) {
  globalThis.indexedDB = new Databases();
  globalThis.location = { origin };
}

export const hash = async (text) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex");

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
export const canonical = (value) => JSON.stringify(sorted(value));

export const json = (body, status = 200) =>
  new Response(body, { status, headers: { "Content-Type": "application/json" } });
export const taken = () => new Response(null, { status: 204, headers: { Deniable: "stored" } });
export const problem = (code, status, fields = {}, headers = {}) =>
  new Response(JSON.stringify({ type: `urn:deniable:problem:${code}`, title: "No.", status, ...fields }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });
export const html = (status, headers = {}) =>
  new Response("<h1>Please log in</h1>", { status, headers: { "Content-Type": "text/html", ...headers } });

const word = (text) => ({ en: text, de: `${text} (de)` });

/** A form of two questions and a public one, with a text exchanged or not. */
export const formOf = (texts = {}) => ({
  languages: ["en", "de"],
  public: [{ name: "region", text: word("Where?"), choices: [word("north"), word("south")] }],
  questions: ["smokes", "drinks"].map((name) => ({
    name,
    text: word(texts[name] ?? `Do you? (${name})`),
    choices: [word("no"), word("yes")],
  })),
  survey: "sample",
  texts: {},
  title: word("A survey"),
  version: 2,
});

const krr = (other) => ({ bits: 16, k: 2, kind: "krr", other });

/** A design with those words. */
export const designOf = async (form, fields = {}) => ({
  admission: "open",
  audience: [HERE],
  blocks: null,
  epsilon: "2.1",
  issuer: null,
  items: ["smokes", "drinks"].map((name) => ({ coder: { kind: "choice" }, kind: "yes-no", name, show_if: [] })),
  plan: {
    ballots: [[0, 1]],
    domain: ["smokes", "drinks"].map((name) => ({ categories: ["no", "yes"], name })),
    format: 1,
    kind: "independent",
    questions: ["smokes", "drinks"].map((name) => ({ attributes: [name], channel: krr(17626) })),
  },
  public: [{ categories: ["north", "south"], coder: { kind: "choice" }, kind: "choice", name: "region" }],
  published: null,
  replaces: null,
  deniability: false,
  panel: null,
  survey: "sample",
  texts: await hash(canonical(form)),
  version: 3,
  wave: null,
  weights: null,
  ...fields,
});

/** What makes that design a wave of a panel: both answers are kept, and hardly ever changed on their way (once in 2^32). */
export const PANEL = {
  admission: "invited",
  panel: { name: "the panel", people: 100_000, repeats: ["smokes", "drinks"] },
  plan: {
    ballots: [[0, 1]],
    domain: ["smokes", "drinks"].map((name) => ({ categories: ["no", "yes"], name })),
    format: 1,
    kind: "independent",
    questions: ["smokes", "drinks"].map((name) => ({
      attributes: [name],
      channel: { again: { bits: 32, k: 2, kind: "krr", other: 1 }, first: krr(17626), kind: "two_level_krr" },
    })),
  },
};

/** A collector: what it serves by path, and every request that came. `fetch` goes to it from now on. */
export async function serve(form, design, pages = {}) {
  const bodies = [canonical(form), canonical(design)];
  const [words, id] = await Promise.all(bodies.map(hash));
  const served = {
    "/v1/survey": () => json(canonical({ closes: null, design: id, opens: null, version: 2 })),
    [`/v1/forms/${words}`]: () => json(bodies[0]),
    [`/v1/designs/${id}`]: () => json(bodies[1]),
    "/v1/reports": taken,
    ...pages,
  };
  const requests = [];
  globalThis.fetch = async (address, options) => {
    const { origin, pathname, search } = new URL(address);
    requests.push({ origin, path: pathname + search, body: options.body ?? null, options });
    const page = served[pathname + search] ?? served[pathname];
    if (!page) return problem("not-found", 404);
    const answer = await page(requests.at(-1));
    // What a browser does with `redirect: "error"`.
    if (answer.status >= 300 && answer.status < 400) throw new TypeError("redirected");
    return answer;
  };
  return { id, requests, reports: () => requests.filter(({ path }) => path === "/v1/reports").map(({ body }) => body) };
}

/** Waits pass at once. */
export function withoutWaiting() {
  const waits = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (action, milliseconds, ...rest) => {
    waits.push(milliseconds);
    return real(action, 0, ...rest);
  };
  return waits;
}
