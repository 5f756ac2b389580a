"""The drawings of the devices say what their channels do, and lie in the docs as the command makes them."""

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from deniable.reporting import devices

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("drawing", devices.DRAWINGS, ids=lambda drawing: drawing.name)
def test_a_drawing_multiplies_to_its_channel(drawing):
    tree = [[devices.chances(drawing.root, truth)[report] for truth in (0, 1)] for report in (0, 1)]
    np.testing.assert_allclose(tree, drawing.device.matrix(), atol=1e-12)


@pytest.mark.parametrize("drawing", devices.DRAWINGS, ids=lambda drawing: drawing.name)
def test_a_drawing_can_be_read_aloud_and_stands_in_the_docs(drawing):
    text = devices.svg(drawing)
    svg = ET.fromstring(text.split("\n", 1)[1])  # noqa: S314 - our own text
    named = {element.get("id"): element.text for element in svg.iter() if element.get("id")}
    assert [named[name] for name in svg.get("aria-labelledby").split()] == [drawing.device.name, drawing.words]
    page = (DOCS / "explanation" / "devices.md").read_text(encoding="utf-8")
    assert f"](../images/device-{drawing.name}.svg)" in page


def test_the_command_makes_what_lies_in_the_docs(tmp_path):
    devices.main(str(tmp_path))
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "images").glob("device-*.svg")}
    assert made == kept
    assert len(made) == 7
