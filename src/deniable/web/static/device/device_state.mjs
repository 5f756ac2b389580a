// @ts-check
/**
 * What this browser keeps for this site: its account, drawn ballots, finished reports, kept disguises, and notes. No
 * answer is among them: what is stored is what was sent, or is about to be, and the disguises that panels keep, which tell
 * no more than was charged.
 */

import { compose, ratioOfText } from "./epsilon.mjs";

/** @typedef {import("../protocol/messages.mjs").Anything} Anything */
/** @typedef {import("./epsilon.mjs").Ratio} Ratio */

export const DEFAULT_LIMIT = 5; // the most epsilon that this browser ever gives away to this site
const FORMAT = 3; // of what is kept: another one is refused, and nothing in it is changed
const STORES = { events: "design", drawn: "plan", remembered: "question", notes: "name" };
export const WAITING = 0;
export const DELIVERED = 1;
export const REJECTED = 2;

/**
 * @typedef {object} Drawn A ballot that was drawn, and what became of it. One a plan, whatever its words.
 * @property {string} plan
 * @property {string} design the one that was answered, or is shown
 * @property {number} ballot
 * @property {number[]} charged the places of the questions that were paid for
 * @property {string | null} report
 * @property {number} fate
 * @property {string} [problem] why it was not taken
 */
/** @typedef {{question: string, origin: string, answer: number}} Remembered */
/** @typedef {{kind: "asked/1", design: string, ballot: number, ratio: string}} Asked */
/** @typedef {{kind: "replayed/1", design: string, of: string}} Replayed */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** The memory, in IndexedDB. */
export class Memory {
  /** @param {IDBDatabase} db */
  constructor(db) {
    this.db = db;
  }

  static async open(name = "deniable") {
    let found = "a later format";
    const request = indexedDB.open(name, FORMAT);
    request.onupgradeneeded = ({ oldVersion }) => {
      found = `format ${oldVersion}`;
      if (oldVersion !== 0) return request.transaction?.abort();
      for (const [store, keyPath] of Object.entries(STORES)) request.result.createObjectStore(store, { keyPath });
    };
    const db = await settled(request).catch((error) => {
      if (!["AbortError", "VersionError"].includes(error.name)) throw error;
      throw new Error(
        `What this browser keeps for this site is of ${found}, and this program reads format ${FORMAT}. Nothing was ` +
          "changed or sent. Reload the page; if that does not help, answer in another browser.",
      );
    });
    db.onversionchange = () => db.close(); // another program in another tab goes first
    return new Memory(db);
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

  /** @param {string} name @returns {Promise<Anything>} What was noted under a name, if anything. */
  async noted(name) {
    return (await this.get("notes", name))?.value;
  }

  /** @param {string} name @param {Anything} value */
  note(name, value) {
    return this.put({ notes: [{ name, value }] });
  }

  /** @param {string} name */
  forget(name) {
    return settled(this.db.transaction("notes", "readwrite").objectStore("notes").delete(name));
  }

  /** @returns {Promise<Ratio>} The exact product of everything that was ever charged. */
  async spent() {
    const events = await this.all("events");
    return compose(events.filter((event) => event.kind === "asked/1").map((event) => ratioOfText(event.ratio)));
  }
}

/** @template T @param {() => Promise<T>} action Two tabs take turns. */
export const alone = (action) => navigator.locks.request("deniable", action);
