"""Charts are the same every time and leave the caller's matplotlib alone."""

from __future__ import annotations

import sys
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from deniable.core.provenance import PEOPLE
from deniable.core.randomness import Seeded
from deniable.core.results import frame_of
from deniable.core.table import Table
from deniable.designs.kinds.joint import Joint
from deniable.errors import MissingExtraError
from deniable.estimation.estimator import estimate
from deniable.reporting.charts import chart, describe


@pytest.fixture(scope="module")
def known():
    design = Joint({"smokes": ["no", "yes"]}, epsilon=1.0)
    people = frame_of({"smokes": ["no", "no", "yes"] * 100})
    return estimate(design.randomize(people, source=Seeded(7)).with_origin(PEOPLE), "smokes"), Table.count(
        people, design.domain
    )


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter() if node.text and node.text.strip()]  # noqa: S314 - our own


def test_text_stays_text(known):
    assert {"no", "yes", "share of respondents", "95% interval", "truth"} <= set(texts(chart(known[0], truth=known[1])))
    assert "truth" not in texts(chart(known[0]))
    assert "80% interval" in texts(chart(known[0], level=0.8))


def test_it_is_the_same_every_time_whatever_the_caller_s_settings(known):
    first = chart(known[0])
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red"}):
        assert chart(known[0]) == first


def test_settings_and_current_figures_are_left_alone(known):
    def figures():  # other tests may have left some
        return sys.modules["matplotlib.pyplot"].get_fignums() if "matplotlib.pyplot" in sys.modules else []

    before, open_before = dict(mpl.rcParams), figures()
    chart(known[0])
    assert dict(mpl.rcParams) == before
    assert figures() == open_before


def test_names_inside_begin_with_the_chart_s(known):
    nodes = ET.fromstring(chart(known[0], name="first")).iter()  # noqa: S314 - our own
    names = [node.attrib["id"] for node in nodes if "id" in node.attrib]
    assert names
    assert all(name.startswith("first-") for name in names)


def test_the_description_says_what_is_shown(known):
    assert describe(known[0]) == "Estimated shares of smokes with 95% intervals."
    assert describe(known[0], known[1], 0.8) == "Estimated shares of smokes with 80% intervals, and the true shares."


def test_without_matplotlib_the_extra_is_named(known, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deniable\[plot\]'"):
        chart(known[0])
