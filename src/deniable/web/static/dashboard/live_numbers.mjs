// @ts-check
// Keeps an open dashboard up to date: when the number of reports has changed, the page is loaded anew and what differs in
// the parts marked data-live is put in place. What is alike stays as it is, so nothing flickers, nothing that was opened
// closes, and a picture is shown only once it is there.

const EVERY = 5; // seconds
const box = /** @type {HTMLInputElement | null} */ (document.querySelector("#live"));
let seen = "";

async function look() {
  const answer = await fetch("/analyst/progress", { cache: "no-store" });
  if (!answer.ok) return;
  const { reports, open } = await answer.json();
  const now = `${reports} ${open}`;
  if (now === seen) return;
  if (seen === "" && document.body.dataset.reports === String(reports)) {
    seen = now; // the page was made of these
    return;
  }
  const page = await fetch(location.href, { cache: "no-store" });
  if (!page.ok) return; // asked for again in a moment
  const fresh = new DOMParser().parseFromString(await page.text(), "text/html");
  for (const place of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(place.id);
    if (next) become(place, next);
  }
  seen = now;
  await Promise.all([...document.querySelectorAll("img[data-chart]")].map((each) => redraw(each, reports)));
}

/** @param {Element} picture @param {number} reports A new address, and shown when it has come. */
async function redraw(picture, reports) {
  const shown = /** @type {HTMLImageElement} */ (picture);
  const url = new URL(shown.src);
  url.searchParams.set("n", String(reports));
  const next = new Image();
  next.src = url.href;
  await next.decode();
  shown.src = url.href;
}

/** @param {Element} old @param {Element} next Make an element like another, and leave alone what is alike. */
function become(old, next) {
  if (old.isEqualNode(next) || old instanceof HTMLImageElement) return;
  for (const { name, value } of next.attributes) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [mine, theirs] = [[...old.childNodes], [...next.childNodes]];
  theirs.forEach((each, at) => {
    const there = mine[at];
    if (!there) old.append(document.adoptNode(each));
    else if (there instanceof Element && each instanceof Element && there.tagName === each.tagName) become(there, each);
    else if (!there.isEqualNode(each)) there.replaceWith(document.adoptNode(each));
  });
  for (const more of mine.slice(theirs.length)) more.remove();
}

setInterval(() => {
  if (box?.checked && document.visibilityState === "visible") look().catch(() => undefined);
}, EVERY * 1000);
