// The browser's client against collectors of every kind, run by node: node --test client.test.mjs
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { beforeEach, test } from "node:test";
import { tokenId } from "../../../src/deniable/web/static/protocol/admission_token.mjs";
import { Client, weighted } from "../../../src/deniable/web/static/device/client.mjs";
import { codesOf } from "../../../src/deniable/web/static/protocol/answer_encoding.mjs";
import { epsilonOf } from "../../../src/deniable/web/static/device/epsilon.mjs";
import { DELIVERED, REJECTED, WAITING } from "../../../src/deniable/web/static/device/device_state.mjs";
import {
  PANEL,
  HERE,
  canonical,
  designOf,
  formOf,
  hash,
  html,
  json,
  newDevice,
  problem,
  serve,
  withoutWaiting,
} from "./stand_ins.mjs";

const ANSWERS = { smokes: "yes", drinks: "no", region: "south" };
const waits = withoutWaiting();
beforeEach(() => newDevice());

const code = (wanted) => (error) => error.code === wanted;

async function answer(client, values = ANSWERS) {
  await client.draw();
  return client.finish(codesOf(client.design, values));
}

async function amendments(first = {}, second = {}, title = formOf().title.en, fields = {}) {
  const before = formOf(first);
  const after = formOf(second);
  after.title.en = title;
  const old = await designOf(before, fields);
  const replaces = await hash(canonical(old));
  const changes = [{ part: "title", name: "", before: before.title.en, after: title }];
  before.questions.forEach(({ name, text }, at) => {
    changes.push({ part: "question", name, before: text.en, after: after.questions[at].text.en });
  });
  const changed = changes.filter((each) => each.before !== each.after);
  const all = changed.map((each) => ({ ...each, place: null, language: "en" }));
  after.corrections = [{ replaces, why: "a misprint", changes: all }];
  return { before, old, after, corrected: await designOf(after, { ...fields, replaces }) };
}

// -- from the survey to a report -------------------------------------------------------------------------------------

test("a survey is answered, and its report taken", async () => {
  const form = formOf();
  const { id, reports, requests } = await serve(form, await designOf(form));
  const client = await Client.open();
  const report = JSON.parse(await answer(client));
  assert.deepEqual(Object.keys(report), "answers ballot block design id public signature token version".split(" "));
  assert.deepEqual([report.design, report.public, report.version, report.token], [id, [1], 2, null]);
  assert.equal(await client.send(), null);
  assert.deepEqual(reports().map(JSON.parse), [report]);
  assert.equal((await client.drawn()).fate, DELIVERED);
  for (const { origin, options } of requests) {
    assert.equal(origin, HERE);
    assert.deepEqual([options.credentials, options.referrerPolicy, options.redirect], ["omit", "no-referrer", "error"]);
  }
});

test("the form has the words by name, and the fingerprint is short", async () => {
  const form = formOf();
  const { id } = await serve(form, await designOf(form));
  const client = await Client.open();
  assert.equal(client.form.questions.get("smokes").choices[1].de, "yes (de)");
  assert.deepEqual(client.fingerprint(), {
    design: [0, 4, 8, 12].map((at) => id.slice(at, at + 4)).join("-"),
    issuer: null,
  });
});

test("ballots are drawn by their weights", () => {
  const given = (...draws) => () => draws.shift();
  const found = [0, 1, 2, 3, 4, 5].map((draw) => weighted([1, 3, 2], given(draw)));
  assert.deepEqual(found, [0, 1, 1, 1, 2, 2]);
  assert.equal(weighted([2 ** 31, 2 ** 31 - 1], given(2 ** 32 - 1, 2 ** 31)), 1); // the largest draw is drawn again
});

// -- whom it is for --------------------------------------------------------------------------------------------------

test("another collector's design is refused, wherever the page lies", async () => {
  const form = formOf();
  await serve(form, await designOf(form));
  newDevice("https://copycat.example.org");
  await assert.rejects(Client.open(), code("not-for-here"));
  newDevice("https://shell.example.org");
  assert.equal((await Client.open(HERE)).collector.origin, HERE);
  await assert.rejects(Client.open(`${HERE}/path`), code("not-for-here"));
  await assert.rejects(Client.open("javascript:alert(1)"), code("not-for-here"));
});

test("on loopback neither port nor name matters, and loopback is nowhere else", async () => {
  const form = formOf();
  await serve(form, await designOf(form, { audience: ["http://localhost"] }));
  for (const here of ["http://localhost", "http://localhost:8000", "http://127.0.0.1:80", "http://[::1]:9"]) {
    newDevice(new URL(here).origin);
    assert.equal((await Client.open()).collector.origin, new URL(here).origin);
  }
  for (const elsewhere of [HERE, "http://localhost.example.org", "http://127.0.0.1.example.org:8000", "null"]) {
    newDevice(elsewhere);
    await assert.rejects(Client.open(), code(elsewhere === "null" ? "unreachable" : "not-for-here"));
  }
});

test("pins refuse whatever else is served", async () => {
  const form = formOf();
  const issuer = "ab".repeat(32);
  const { id } = await serve(form, await designOf(form, { admission: "blind", issuer }));
  await Client.open("", { design: id, issuer, epsilon: 2.1 });
  await assert.rejects(Client.open("", { design: "0".repeat(64) }), code("another-design"));
  await assert.rejects(Client.open("", { issuer: "0".repeat(64) }), code("another-issuer"));
  await assert.rejects(Client.open("", { epsilon: 1.5 }), code("too-dear"));
  for (const admission of ["open", "invited"]) {
    await serve(form, await designOf(form, { admission }));
    await assert.rejects(Client.open("", { issuer }), code("another-issuer"));
  }
});

test("a key that the design does not name signs nothing", async () => {
  const form = formOf();
  const pages = { "/v1/issuer": () => json('{"e":65537,"n":"ff","version":1}') };
  const { requests } = await serve(form, await designOf(form, { admission: "blind", issuer: "ab".repeat(32) }), pages);
  const client = await Client.open();
  await assert.rejects(client.admission.enter("invitation"), code("another-issuer"));
  assert.ok(!requests.some(({ path }) => path === "/v1/tokens"));
});

test("words that the design does not name are refused", async () => {
  const [form, other] = [formOf(), formOf({ smokes: "Are you ill?" })];
  const design = await designOf(form);
  const pages = { [`/v1/forms/${design.texts}`]: () => json(JSON.stringify(other)) };
  await serve(form, design, pages);
  await assert.rejects(Client.open(), code("wrong-texts"));
});

test("words that do not fit the design are refused", async () => {
  const changes = [
    (form) => form.questions.reverse(),
    (form) => form.questions[0].choices.pop(),
    (form) => delete form.questions[0].choices[1].de,
    (form) => delete form.title.en,
    (form) => (form.title.fr = "Enquête"),
    (form) => (form.survey = "another"),
    (form) => (form.texts.belief = { en: "Nobody learns anything.", de: "Niemand." }),
    (form) => form.languages.push("en"),
    (form) => form.public.pop(),
  ];
  for (const change of changes) {
    const form = formOf();
    change(form);
    await serve(form, await designOf(form));
    await assert.rejects(Client.open(), code("form-unfit"));
  }
  const form = formOf();
  form.promise = "none";
  await serve(form, await designOf(form));
  await assert.rejects(Client.open(), code("unknown-field"));
});

// -- answers are total -----------------------------------------------------------------------------------------------

test("a code that is none is refused before anything is asked for", async () => {
  const form = formOf();
  const { requests } = await serve(form, await designOf(form));
  const client = await Client.open();
  await client.draw();
  const before = requests.length;
  const good = codesOf(client.design, ANSWERS);
  for (const bad of [-1, 2, 0.5, NaN, undefined, "1"]) {
    await assert.rejects(client.finish({ ...good, smokes: bad }), code("bad-answer"));
    await assert.rejects(client.finish({ ...good, region: bad }), code("bad-answer"));
  }
  assert.equal(requests.length, before);
  assert.equal((await client.drawn()).report, null);
});

test("no channel disguises what is not one of its truths", async () => {
  const form = formOf();
  await serve(form, await designOf(form));
  const [question] = (await Client.open()).design.questions;
  for (const bad of [-1, 2, 0.5, NaN, undefined]) assert.throws(() => question.channel.outcome(bad, () => 0), Error);
});

// -- only an answer of the protocol settles a report -----------------------------------------------------------------

const PASSING = {
  "a portal": () => html(200),
  "a portal that redirects": () => html(302, { Location: "https://portal.example.org" }),
  "a portal that forbids": () => html(403),
  "nothing there": () => html(404),
  "a proxy's limit": () => html(413),
  "anybody's 204": () => new Response(null, { status: 204 }),
  "an empty 200": () => new Response(""),
  "JSON from somebody else": () => json('{"ok":true}'),
  "a receipt for a batch": () => json('{"accepted":1,"failures":[],"version":1}'),
  "another status than it says": () => problem("conflict", 403),
  "another status than the code's": () => problem("conflict", 400, { status: 400 }),
  "an unknown code": () => problem("forget-it", 400),
  "another kind of problem": () => problem("conflict", 409, { type: "about:blank" }),
  "a problem with a field more": () => problem("conflict", 409, { instance: "x" }),
  "a problem that is called something else": async () => json(await problem("conflict", 409).text(), 409),
  "a problem without a status": () => problem("conflict", 409, { status: undefined }),
  "a problem with its status as a text": () => problem("conflict", 409, { status: "409" }),
  "an endless answer": () => new Response(endless(), { headers: { "Content-Type": "application/problem+json" } }),
  "nothing at all": () => Promise.reject(new TypeError("offline")),
};

function endless() {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 12).fill(32)) });
}

for (const [name, answered] of Object.entries(PASSING)) {
  test(`${name} does not settle a report`, async () => {
    const form = formOf();
    const pages = { "/v1/reports": answered };
    const { reports } = await serve(form, await designOf(form), pages);
    const client = await Client.open();
    const report = await answer(client);
    const { code: found, passes } = await client.send();
    assert.deepEqual([found, passes], ["unreachable", true]);
    assert.equal((await client.drawn()).fate, WAITING);
    await serve(form, await designOf(form));
    assert.equal(await (await Client.open()).send(), null);
    assert.deepEqual(new Set(reports()), new Set([report]));
  });
}

for (const [name, status] of Object.entries({ closed: 403, busy: 429, unavailable: 503, full: 507, failed: 500 })) {
  test(`${name} keeps a report`, async () => {
    const form = formOf();
    await serve(form, await designOf(form), { "/v1/reports": () => problem(name, status) });
    const client = await Client.open();
    await answer(client);
    assert.equal((await client.send()).code, name);
    assert.equal((await client.drawn()).fate, WAITING);
  });
}

for (const [name, status] of Object.entries({ conflict: 409, unfit: 422, "not-invited": 403, "too-large": 413 })) {
  test(`${name} settles a report`, async () => {
    const form = formOf();
    const { reports } = await serve(form, await designOf(form), {
      "/v1/reports": () => problem(name, status, { detail: "words of the server" }),
    });
    const client = await Client.open();
    await answer(client);
    const found = await client.send();
    assert.deepEqual([found.code, found.passes, found.message], [name, false, name]);
    assert.equal(reports().length, 1);
    assert.deepEqual([(await client.drawn()).fate, (await client.drawn()).problem], [REJECTED, name]);
  });
}

test("no wait is longer than it may be, whatever is asked for", async () => {
  const form = formOf();
  for (const wait of ["-5", "soon", "1e9", "99999999999999999999", "999999999", "Wed, 21 Oct 2065 07:28:00 GMT", ""]) {
    newDevice();
    await serve(form, await designOf(form), { "/v1/reports": () => problem("busy", 429, {}, { "Retry-After": wait }) });
    const client = await Client.open();
    await answer(client);
    waits.length = 0;
    assert.equal((await client.send()).code, "busy");
    assert.equal(waits.length, 4);
    const most = /^9{9}$/.test(wait) ? 30_000 : 2_000;
    assert.ok(waits.every((each) => each > 0 && each <= most), `${wait}: ${waits}`);
  }
});

test("a portal instead of a survey is no survey", async () => {
  const form = formOf();
  for (const path of ["/v1/survey", `/v1/forms/${(await designOf(form)).texts}`]) {
    await serve(form, await designOf(form), { [path]: () => html(200) });
    await assert.rejects(Client.open(), code("unreachable"));
  }
});

// -- corrected words -------------------------------------------------------------------------------------------------

test("a device that answered one amendment is refused the other", async () => {
  const { before, old, after, corrected } = await amendments({}, { smokes: "Do you smoke?" });
  await serve(before, old);
  const first = await Client.open();
  const report = await answer(first);
  await first.send();
  await serve(after, corrected);
  const second = await Client.open();
  assert.equal(second.design.planId, first.design.planId);
  assert.notEqual(second.design.id, first.design.id);
  await assert.rejects(second.draw(), code("answered"));
  assert.equal(await second.finish(codesOf(second.design, { ...ANSWERS, smokes: "no" })), report);
  assert.equal((await second.drawn()).fate, DELIVERED);
});

test("a drawn ballot goes on under the corrected words", async () => {
  const { before, old, after, corrected } = await amendments({}, {}, "A corrected survey");
  await serve(before, old);
  const first = await Client.open();
  await first.draw();
  const { spent } = await first.account();
  const { id } = await serve(after, corrected);
  const second = await Client.open();
  const report = JSON.parse(await answer(second));
  assert.equal(report.design, id);
  assert.deepEqual((await second.account()).spent, spent); // nothing was reworded: nothing more is charged
});

// -- what is repeated ------------------------------------------------------------------------------------------------

/** Answer a survey of its own with these words, and tell what was sent and what it cost in all. */
async function asked(texts, number, fields = PANEL) {
  const form = formOf(texts);
  form.survey = `wave ${number}`;
  const design = await designOf(form, { ...fields, survey: form.survey, texts: await hash(canonical(form)) });
  await serve(form, design);
  const client = await Client.open();
  if (client.weaker.length) await client.consent();
  if (design.admission === "invited") await client.admission.enter(`invitation ${number}`);
  const report = JSON.parse(await answer(client));
  const kept = await client.memory.all("remembered");
  return { answers: report.answers, spent: epsilonOf((await client.account()).spent), kept };
}

test("outside of a panel everything is drawn and charged anew, and nothing is kept", async () => {
  const first = await asked({}, 0, {});
  const second = await asked({}, 1, {});
  assert.ok(Math.abs(second.spent - 2 * first.spent) < 1e-9);
  assert.deepEqual(second.kept, []);
  await assert.rejects(asked({}, 2, {}), code("overdrawn")); // six epsilons of about 1 are more than 5
});

test("a panel's answers are made of the same disguise, however often they are asked", async () => {
  const first = await asked({}, 0);
  assert.equal(first.kept.length, 2);
  for (let number = 1; number < 30; number += 1) assert.deepEqual(await asked({}, number), first);
});

test("another panel, and the same at other addresses, keep disguises of their own", async () => {
  const first = await asked({}, 0);
  const another = await asked({}, 1, { ...PANEL, panel: { ...PANEL.panel, name: "another" } });
  assert.ok(Math.abs(another.spent - 2 * first.spent) < 1e-9);
  assert.equal(another.kept.length, 4);
  const moved = { ...PANEL, audience: [HERE, "https://zz.example"].sort() };
  await assert.rejects(asked({}, 2, moved), code("overdrawn"));
});

test("a panel is answered by nobody who did not agree to be found again", async () => {
  const form = formOf();
  await serve(form, await designOf(form, PANEL));
  const client = await Client.open();
  await client.admission.enter("invitation");
  assert.deepEqual(client.weaker, ["panel"]);
  await assert.rejects(client.draw(), code("no-consent"));
});

test("a panel that repeats a disguise under open admission, or as it is, is refused", async () => {
  const form = formOf();
  const plain = await designOf(form);
  const bad = [{ ...PANEL, admission: "open" }, { panel: PANEL.panel, admission: "invited" }, { plan: PANEL.plan }];
  for (const fields of bad) {
    await serve(form, { ...plain, ...fields });
    await assert.rejects(Client.open(), code("wrong-panel"));
  }
  await serve(form, { ...plain, ...PANEL, panel: { ...PANEL.panel, people: 100 } });
  await assert.rejects(Client.open(), code("pseudonym"));
});

test("a reworded question is another question: drawn anew, and charged", async () => {
  const first = await asked({}, 0);
  const second = await asked({ smokes: "Are you ill?" }, 1);
  assert.ok(Math.abs(second.spent - 1.5 * first.spent) < 1e-9);
  assert.equal(second.answers[1], first.answers[1]);
  await asked({ smokes: "Were you ill?" }, 2);
  await asked({ smokes: "Will you be ill?" }, 3);
  // Four epsilons of about 1 for smoking and one for drinking are spent: the account of 5 ends here.
  await assert.rejects(asked({ smokes: "Is anybody ill?" }, 4), code("overdrawn"));
  assert.deepEqual((await asked({}, 5)).answers, first.answers);
});

test("words that change between drawing and answering are charged too", async () => {
  const { before, old, after, corrected } = await amendments({}, { smokes: "Are you ill?" }, undefined, PANEL);
  await asked({}, 0);
  await serve(before, old);
  const first = await Client.open();
  await first.consent();
  await first.admission.enter("another invitation");
  await first.draw();
  const spent = epsilonOf((await first.account()).spent);
  await serve(after, corrected);
  const second = await Client.open();
  await answer(second);
  assert.ok(Math.abs(epsilonOf((await second.account()).spent) - 1.5 * spent) < 1e-9);
});

// -- what another program kept ---------------------------------------------------------------------------------------

for (const [format, told] of [
  [2, "is of format 2, and this program reads format 3"],
  [4, "is of a later format, and this program reads format 3"],
]) {
  test(`what a program of format ${format} kept is refused and left as it is`, async () => {
    const row = { design: "d1".repeat(32), ballot: 0, report: null, fate: WAITING };
    await new Promise((resolve) => {
      const request = indexedDB.open("deniable", format);
      request.onupgradeneeded = () => request.result.createObjectStore("drawn", { keyPath: "design" }).put(row);
      request.onsuccess = resolve;
    });
    const form = formOf();
    const { reports } = await serve(form, await designOf(form));
    await assert.rejects(Client.open(), (error) => error.message.includes(told));
    const kept = indexedDB.kept.get("deniable");
    assert.deepEqual([kept.version, [...kept.stores.keys()]], [format, ["drawn"]]);
    assert.deepEqual([...kept.stores.get("drawn").rows.values()], [row]);
    assert.deepEqual(reports(), []);
  });
}

// -- blind tokens ----------------------------------------------------------------------------------------------------

const power = (base, exponent, modulus) => {
  let [found, square] = [1n, base % modulus];
  for (let left = exponent; left; left >>= 1n) {
    if (left & 1n) found = (found * square) % modulus;
    square = (square * square) % modulus;
  }
  return found;
};

/** An issuer: its message, that message's hash, and what it answers to an application. */
async function newIssuer() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 65537 });
  const jwk = privateKey.export({ format: "jwk" });
  const [n, d] = [jwk.n, jwk.d].map((part) => BigInt(`0x${Buffer.from(part, "base64url").toString("hex")}`));
  const body = canonical({ e: 65537, n: n.toString(16), version: 1 });
  const sign = ({ body: asked }) => {
    const { blinded } = JSON.parse(asked);
    const signature = power(BigInt(`0x${blinded}`), d, n).toString(16).padStart(512, "0");
    return json(canonical({ signature, version: 1 }));
  };
  return { issuer: await hash(body), pages: { "/v1/issuer": () => json(body), "/v1/tokens": sign } };
}

test("a blind token travels with its report, and never with the invitation", async () => {
  const { issuer, pages } = await newIssuer();
  const form = formOf();
  const { requests } = await serve(form, await designOf(form, { admission: "blind", issuer }), pages);
  const client = await Client.open("", { issuer });
  assert.ok(!(await client.admission.isReady()));
  await client.admission.enter("Mmmm");
  await client.admission.enter("another"); // it has a token already
  assert.ok(await client.admission.isReady());
  const report = JSON.parse(await answer(client));
  const { token, signature } = report;
  assert.equal(report.id, await tokenId(token));
  assert.equal(signature.length, 512);
  assert.equal(await client.send(), null);
  const posted = requests.filter(({ body }) => body);
  const told = posted.map(({ path, body }) => [path, body.includes("Mmmm"), body.includes(token)]);
  assert.deepEqual(told, [["/v1/tokens", true, false], ["/v1/reports", false, true]]);
  assert.ok(!JSON.stringify(await client.memory.all("notes")).includes("Mmmm"));
  assert.equal(client.fingerprint().issuer.replaceAll("-", ""), issuer.slice(0, 16));
});

test("a lost reply costs no invitation: the same bytes are asked for again", async () => {
  const { issuer, pages } = await newIssuer();
  const form = formOf();
  const design = await designOf(form, { admission: "blind", issuer });
  const lost = await serve(form, design, { ...pages, "/v1/tokens": () => html(200) });
  const client = await Client.open();
  await assert.rejects(client.admission.enter("Mmmm"), code("unreachable"));
  const { requests } = await serve(form, design, pages);
  const again = await Client.open();
  assert.equal(await again.admission.pending(), "Mmmm");
  await again.admission.enter("Mmmm");
  const asked = ({ requests: all }) => new Set(all.filter(({ path }) => path === "/v1/tokens").map(({ body }) => body));
  assert.deepEqual(asked({ requests }), asked(lost));
});

test("a signature of another key is none", async () => {
  const [one, other] = [await newIssuer(), await newIssuer()];
  const form = formOf();
  const pages = { ...one.pages, "/v1/tokens": other.pages["/v1/tokens"] };
  await serve(form, await designOf(form, { admission: "blind", issuer: one.issuer }), pages);
  const client = await Client.open();
  await assert.rejects(client.admission.enter("Mmmm"), code("wrong-signature"));
  assert.ok(!(await client.admission.isReady()));
});

test("an invitation belongs to one plan", async () => {
  const form = formOf();
  await serve(form, await designOf(form, { admission: "invited" }));
  await (await Client.open()).admission.enter("Mmmm");
  assert.ok(await (await Client.open()).admission.isReady());
  await serve(form, await designOf(form, { admission: "invited", wave: 2 }));
  const other = await Client.open();
  assert.ok(!(await other.admission.isReady()));
  await assert.rejects(other.draw(), code("uninvited"));
  assert.deepEqual(await other.memory.all("events"), []); // whoever is not let in is charged nothing
});

// -- blocks and pairs ------------------------------------------------------------------------------------------------

const LIMITS = { keep: 2 ** 30, floor: 2 ** 30 };

async function inBlocks(fields = {}) {
  const form = formOf();
  const plain = await designOf(form);
  const channel = { bits: 32, cells: 2, kind: "adaptive", least_fake: LIMITS.floor, most_kept: LIMITS.keep };
  const questions = plain.plan.questions.map(({ attributes }) => ({ attributes, channel }));
  const plan = { ...plain.plan, kind: "blocks", questions };
  const design = { ...plain, plan, blocks: { size: 100, update: "pooled" }, ...fields };
  const { texts, replaces, ...kept } = design;
  return { form, design, planId: await hash(canonical(kept)), id: await hash(canonical(design)) };
}

/** Blocks that follow each other: of each, how many draws more lead to the first fake. */
async function chainOf(planId, ...more) {
  const found = [];
  let previous = planId;
  for (const [index, extra] of more.entries()) {
    const fakes = [2 ** 30 + extra, 2 ** 31 - extra];
    const block = { design: planId, index, previous, keep: [2 ** 30, 2 ** 30], fakes: [fakes, fakes], format: 1 };
    found.push(JSON.stringify(block));
    previous = await hash(found.at(-1));
  }
  return found;
}

const blockPages = (id, chain, open = chain.at(-1)) => ({
  [`/v1/designs/${id}/block`]: () => json(open),
  [`/v1/designs/${id}/blocks`]: ({ path }) => json(`[${chain.slice(Number(path.split("=")[1]) + 1)}]`),
});

test("a report is made in the open block, and names it", async () => {
  const { form, design, planId, id } = await inBlocks();
  const chain = await chainOf(planId, 0, 5);
  await serve(form, design, blockPages(id, chain));
  const client = await Client.open();
  assert.deepEqual([client.weaker, await client.needsConsent()], [[], false]);
  assert.equal(JSON.parse(await answer(client)).block, await hash(chain[1]));
  assert.equal(await client.followBlocks(), 2);
  await serve(form, design, blockPages(id, await chainOf(planId, 0, 6)));
  await assert.rejects((await Client.open()).followBlocks(), code("chain"));
});

test("a block that keeps less than was promised costs nothing", async () => {
  const { form, design, planId, id } = await inBlocks();
  await serve(form, design, blockPages(id, await chainOf(planId, -5)));
  const client = await Client.open();
  await assert.rejects(client.draw(), code("floor"));
  assert.deepEqual(await client.memory.all("events"), []);
});

test("blind tokens and blocks: the whole chain is followed first, and the weaker promise accepted", async () => {
  const { issuer, pages } = await newIssuer();
  const { form, design, planId, id } = await inBlocks({ admission: "blind", issuer });
  const chain = await chainOf(planId, 0, 5, 7);
  const own = (await chainOf(planId, 0, 5, 8)).at(-1); // shown to one device alone
  const { requests } = await serve(form, design, { ...pages, ...blockPages(id, chain, own) });
  const client = await Client.open();
  assert.deepEqual([client.weaker, await client.needsConsent()], [["blocks"], true]);
  await assert.rejects(client.draw(), code("no-consent"));
  await client.consent();
  await client.admission.enter("Mmmm");
  await assert.rejects(client.draw(), code("chain"));
  assert.deepEqual(await client.memory.all("events"), []);
  await serve(form, design, { ...pages, ...blockPages(id, chain.slice(0, 2)) });
  const second = await Client.open();
  assert.ok(!(await second.needsConsent()));
  await second.draw();
  // From now on, whoever shows another chain is caught.
  await serve(form, design, { ...pages, ...blockPages(id, await chainOf(planId, 0, 6, 7)) });
  const third = await Client.open();
  await assert.rejects(third.finish(codesOf(third.design, ANSWERS)), code("chain"));
  await serve(form, design, { ...pages, ...blockPages(id, chain) });
  const last = await Client.open();
  assert.equal(JSON.parse(await last.finish(codesOf(last.design, ANSWERS))).block, await hash(chain[2]));
  assert.ok(requests.some(({ path }) => path.endsWith("blocks?after=-1")));
});

test("a survey that claims deniability is drawn by nobody who did not agree to the true number", async () => {
  const { form, design: plain } = await inBlocks();
  const design = { ...plain, deniability: true };
  const { texts, replaces, ...kept } = design;
  const planId = await hash(canonical(kept));
  const id = await hash(canonical(design));
  await serve(form, design, blockPages(id, await chainOf(planId, 0)));
  const client = await Client.open();
  assert.deepEqual([client.weaker, await client.needsConsent()], [["deniability"], true]);
  const { claim, ratio } = client.design;
  assert.ok(claim && claim.n * ratio.d < ratio.n * claim.d); // less is claimed than is told, and charged
  await assert.rejects(client.draw(), code("no-consent"));
  assert.deepEqual(await client.memory.all("events"), []);
  await client.consent();
  assert.equal(JSON.parse(await answer(client)).design, id);
});

test("pairs are drawn by nobody who did not agree to what they promise", async () => {
  const form = formOf();
  const plain = await designOf(form, { epsilon: "4" });
  const channel = { bits: 16, kind: "paired", shift: 4000, truthful: 46000 };
  const questions = plain.plan.questions.map(({ attributes }) => ({ attributes, channel }));
  const pages = { "/v1/partners": () => json('{"partner":null,"version":1,"wait":0}') };
  await serve(form, { ...plain, plan: { ...plain.plan, kind: "paired", questions } }, pages);
  const client = await Client.open();
  assert.deepEqual(client.weaker, ["pairs"]);
  await assert.rejects(client.draw(), code("no-consent"));
  await client.consent();
  assert.equal(JSON.parse(await answer(client)).answers.length, 2);
});

// -- the law of reports ----------------------------------------------------------------------------------------------

/** Many reports of one answer: how often each came, of the first question. */
async function counted(client, values, reports) {
  await client.draw();
  const codes = codesOf(client.design, values);
  const known = await client.drawn();
  const found = new Map();
  for (let number = 0; number < reports; number += 1) {
    const { answers } = JSON.parse(await client.write(known, client.cellsOf(known, codes), codes, null, []));
    found.set(answers[0], (found.get(answers[0]) ?? 0) + 1);
  }
  return found;
}

/** The chi-square statistic of counts against shares. */
function statistic(found, shares, reports) {
  const parts = shares.map(([report, share]) => ((found.get(report) ?? 0) - reports * share) ** 2 / (reports * share));
  return parts.reduce((sum, part) => sum + part, 0);
}

const REPORTS = 20_000;

test("reports of k-RR have the design's own law", async () => {
  const form = formOf();
  await serve(form, await designOf(form));
  const found = await counted(await Client.open(), ANSWERS, REPORTS);
  const lie = 17626 / 2 ** 16;
  // One degree of freedom: above 25 with a probability below 6e-7.
  assert.ok(statistic(found, [[0, lie], [1, 1 - lie]], REPORTS) < 25);
});

test("reports of sets have the design's own law", async () => {
  const form = formOf();
  const plain = await designOf(form, { epsilon: "3" });
  const channel = { bits: 16, k: 2, kind: "unary", other: 20000, own: 40000 };
  const [first, second] = plain.plan.questions;
  const plan = { ...plain.plan, kind: "design", questions: [{ ...first, channel }, second] };
  await serve(form, { ...plain, plan });
  const found = await counted(await Client.open(), ANSWERS, REPORTS);
  const [own, other] = [40000 / 2 ** 16, 20000 / 2 ** 16];
  const shares = [
    [0, (1 - other) * (1 - own)],
    [1, other * (1 - own)],
    [2, (1 - other) * own],
    [3, other * own],
  ];
  // Three degrees of freedom: above 32 with a probability below 6e-7.
  assert.ok(statistic(found, shares, REPORTS) < 32);
});
