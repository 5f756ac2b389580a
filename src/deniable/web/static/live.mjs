// @ts-check
// Keeps an open dashboard up to date: when the number of reports has changed, what is marked data-live is loaded anew.

const EVERY = 5; // seconds
const box = /** @type {HTMLInputElement | null} */ (document.querySelector("#live"));
let seen = document.body.dataset.reports ?? "";

async function look() {
  const answer = await fetch("/analyst/progress", { cache: "no-store" });
  if (!answer.ok) return;
  const { reports, open } = await answer.json();
  const now = `${reports} ${open}`;
  if (now === seen) return;
  seen = now;
  const text = await (await fetch(location.href, { cache: "no-store" })).text();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const place of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(place.id);
    if (next) place.replaceWith(document.adoptNode(next));
  }
  for (const picture of document.querySelectorAll("img[data-chart]")) {
    const image = /** @type {HTMLImageElement} */ (picture);
    const url = new URL(image.src);
    url.searchParams.set("n", String(reports)); // a new address, so that the picture is drawn anew
    image.src = url.href;
  }
}

setInterval(() => {
  if (box?.checked && document.visibilityState === "visible") look().catch(() => undefined);
}, EVERY * 1000);
