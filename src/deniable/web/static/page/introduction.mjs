// @ts-check
/** What a respondent reads before anything is asked: whose survey it is, what it may tell, what it costs. */

import { shown, shownDelta, statement } from "../protocol/partner.mjs";
import { element, make, reveal } from "./screen.mjs";
import { belief, cost, inHundred, left } from "./rounded_numbers.mjs";
import { partialOf } from "../device/verify.mjs";

/** @typedef {import("../device/client.mjs").Client} Client */
/** @typedef {import("./screen.mjs").Screen} Screen */

/** @param {Screen} screen @param {Client} client Say whose survey this is, where it goes, and how to compare it. */
export function introduce(screen, client) {
  const { speech } = screen;
  const { design, form } = client;
  document.title = speech.theirs(form.title);
  screen.quoteAt("title", speech.theirs(form.title));
  for (const name of ["welcome", "thanks", "contact"]) screen.quoteAt(name, speech.around(name));
  reveal("data-admission", design.admission);
  reveal("data-adaptive", design.isAdaptive ? "" : null);
  explain(design);
  limit(screen, design);
  screen.fill(document, { belief: (said) => said.number(belief(design.ratio)), collector: client.collector.origin });
  element("believed").setAttribute("width", belief(design.ratio));
  screen.fill(document, { clear: String(design.public.length) });
  element("clearly").hidden = !design.public.length;
  const { design: fingerprint, issuer } = client.fingerprint();
  screen.fill(document, { fingerprint, issuer: issuer ?? "" });
  screen.quoteAt("published", design.published ?? "");
  element("somewhere").hidden = design.published === null;
  element("nowhere").hidden = design.published !== null;
  warn(screen, client);
}

/** @param {Client["design"]} design Say how this survey disguises an answer, and nothing that another one does. */
function explain(design) {
  const sets = design.questions.filter(({ channel }) => channel.held).length;
  reveal("data-ballots", design.ballots.length > 1 ? "several" : "one");
  reveal("data-sends", sets === design.questions.length ? "sets" : "answers");
  reveal("data-paired", design.isPaired ? "yes" : "no");
  reveal("data-sets", sets ? "" : null);
}

/** @param {Screen} screen @param {Client["design"]} design Say of which questions nobody can learn everything. */
function limit(screen, design) {
  const partial = partialOf(design.questions);
  element("partial").replaceChildren(
    ...partial.map(({ name, sums, all }) => make("li", {}, screen.quote(name), `: ${sums ?? "?"} / ${all}`)),
  );
  element("partly").hidden = !partial.length;
}

/** @param {Screen} screen @param {Client} client Say where less is promised than elsewhere; the page asks to agree. */
function warn(screen, client) {
  element("weaker").hidden = !client.weaker.length;
  for (const each of document.querySelectorAll("[data-weaker]")) {
    each.toggleAttribute("hidden", !client.weaker.includes(each.getAttribute("data-weaker") ?? ""));
  }
  const { claim, panel, ratio } = client.design;
  if (panel) {
    const { found, people, few, more } = panel;
    const said = { found: inHundred(found), people: String(people), few: String(few), more: inHundred(more) };
    for (const [name, value] of Object.entries(said)) screen.fill(document, { [name]: (speech) => speech.number(value) });
  }
  if (claim) {
    const both = { claimed: shown(claim), claimedsure: belief(claim), told: shown(ratio), toldsure: belief(ratio) };
    for (const [name, value] of Object.entries(both)) screen.fill(document, { [name]: (speech) => speech.number(value) });
  }
  if (!client.design.isPaired) return;
  const { claimed, partner, coin, delta } = statement(client.design);
  const said = { claimed: shown(claimed), partner: shown(partner), coin: shown(coin) };
  const sure = { strangersure: belief(claimed), partnersure: belief(partner), coinsure: belief(coin) };
  for (const [name, value] of Object.entries({ ...said, ...sure })) {
    screen.fill(document, { [name]: (speech) => speech.number(value) });
  }
  if (delta !== null) screen.fill(document, { delta: (speech) => speech.number(shownDelta(delta)) });
  element("failing").hidden = delta === null;
}

/** @param {Screen} screen @param {Client} client Say the cost and what is left; returns whether the account allows it. */
export async function tellAccount(screen, client) {
  const { affordable, spent, dearest, limit } = await client.account();
  screen.fill(document, { cost: (speech) => speech.number(cost(dearest)), limit: String(limit) });
  screen.fill(document, { left: (speech) => speech.number(left(limit, spent)) });
  return affordable;
}
