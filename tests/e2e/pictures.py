"""The documentation's pictures of pages, taken anew in a real browser: `make pictures`.

A survey of made-up people is collected and looked at. Their disguises are drawn anew each time, as they must be, so
numbers in the pictures differ a little from run to run.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from watching import BROWSER, FLAGS, pictures, shown

from deniable.cli.new import example_text
from deniable.collection.simulate_respondents import Crowd
from deniable.core.randomness import Seeded
from deniable.web.dashboard.login import new_link
from deniable.web.serve import Service, background

PEOPLE = 3000
COLOURS = 64  # of a palette: pages have few
PHONE = {"width": 390, "height": 800}
BETWEEN = 16


def collect(service):
    """Made-up answers to the example: who uses cannabis sleeps worse."""
    crowd, chance = Crowd(service.url, batch=500), Seeded(7).stream().generator()
    for _ in range(PEOPLE):
        uses = chance.random() < 0.25
        sleep = chance.choice(["badly", "fairly", "well"], p=[0.5, 0.3, 0.2] if uses else [0.2, 0.3, 0.5])
        person = {
            "region": str(chance.choice(["town", "country"])),
            "cannabis": "yes" if uses else "no",
            "sleep": str(sleep),
            "drinks": int(chance.poisson(4)),
            "born_abroad": "yes" if chance.random() < 0.15 else "no",
            "well_water": "yes" if chance.random() < 0.3 else "no",
        }
        crowd.answer(person)
    crowd.flush()
    service.store.seal()


def kept(image, path):
    """As a small file."""
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    sys.stdout.write(f"{path}: {image.width} x {image.height}, {path.stat().st_size // 1024} KiB\n")


def beside(shots):
    """Pictures of the same height, side by side."""
    images = [Image.open(io.BytesIO(shot)) for shot in shots]
    whole = Image.new("RGB", (sum(i.width for i in images) + BETWEEN * (len(images) - 1), images[0].height), "#9aa")
    left = 0
    for image in images:
        whole.paste(image, (left, 0))
        left += image.width + BETWEEN
    return whole


def respond(browser, url, folder):
    """What a respondent sees on a phone: before, the questions, and what will be sent."""
    page = browser.new_context(viewport=PHONE, locale="en-GB").new_page()
    page.goto(url)
    shots = []
    shown(page, "intro")
    shots.append(page.screenshot())
    page.locator("#begin").click()
    shown(page, "questions")
    page.get_by_label("In the country").check()
    for field in page.locator("#asked fieldset:visible").all():
        number = field.locator("input[inputmode]")
        number.fill("3") if number.count() else field.locator("input").last.check()
    page.locator("#asked").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.getElementById('asked').getBoundingClientRect().top + scrollY - 8)")
    shots.append(page.screenshot())
    page.locator("#answers button[type=submit]").click()
    shown(page, "review")
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("document.activeElement.blur()")
    shots.append(page.screenshot())
    kept(beside(shots), folder / "respondent.png")


def look(browser, service, folder):
    """What the analyst sees, by day on a desk and by night on a phone."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.goto(service.url + new_link(service.store))
    page.get_by_role("button", name="Open the results").click()
    page.get_by_role("heading", name="Estimates").wait_for()
    assert pictures(page)
    page.locator("article").last.scroll_into_view_if_needed()
    whole = page.screenshot(full_page=True)
    image = Image.open(io.BytesIO(whole))
    kept(image.crop((0, 0, image.width, min(image.height, 1400))), folder / "dashboard.png")
    page.get_by_role("link", name="Cross tables").click()
    page.get_by_role("heading", name="Cross tables").wait_for()
    page.set_viewport_size(PHONE)
    shots = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.get_by_role("button", name="Show").click()
        assert pictures(page)
        page.locator("article").scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, document.querySelector('article').getBoundingClientRect().top + scrollY - 200)")
        shots.append(page.screenshot())
    kept(beside(shots), folder / "cross-table.png")


def main(folder):
    """Serve, collect, look."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        path = Path(place) / "survey.toml"
        path.write_text(example_text(), encoding="utf-8")
        service = Service.open(path, Path(place) / "data")
        with background(service) as url:
            service.url = url
            collect(service)
            browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
            respond(browser, url, folder)
            look(browser, service, folder)
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
