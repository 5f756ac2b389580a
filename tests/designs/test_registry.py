"""Every kind of design comes back from plain data as it was; anything else is refused."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

import deniable as dn
from deniable.designs.registry import design_from_bytes, design_from_dict
from deniable.errors import DesignError

DOMAIN = dn.Domain({"sex": ["F", "M"], "children": [0, 1, 2], "smokes": [True, False], "bmi": [18.5, 25.0]})
BINARY = dn.Domain({"a": ["no", "yes"], "b": ["no", "yes"]})
DESIGNS = [
    dn.Independent(DOMAIN, 1.0),
    dn.Independent(BINARY, channels={"a": dn.Warner(0.8), "b": dn.Mixture(0.5, [0.25, 0.75])}),
    dn.Joint(DOMAIN, 1.0),
    dn.Clusters(DOMAIN, [["sex", "children"], ["smokes", "bmi"]], 2.0),
    dn.Sampled(DOMAIN, 1.0),
    dn.Views(DOMAIN, 2, 1.0),
    dn.Views(DOMAIN, 2, 1.0, answer="all"),
    dn.Blocks(DOMAIN, 2, 1.0),
    dn.Blocks(DOMAIN, mode="deniability", keep=0.5),
    dn.Paired(DOMAIN, 0.75, -0.2, respondents=1000, colluders=3),
    dn.PairedItems(BINARY, 0.75, -0.2),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: d.kind)
def test_a_design_comes_back_as_it_was(design):
    again = design_from_bytes(design.canonical(), design.id)
    assert type(again) is type(design)
    assert again == design
    assert again.id == design.id
    assert again.ratio == design.ratio
    assert again.describe() == design.describe()
    assert {k: v for k, v in vars(again).items() if k in ("k", "answer", "views")} == {
        k: v for k, v in vars(design).items() if k in ("k", "answer", "views")
    }


@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: d.kind)
def test_an_unknown_field_is_refused(design):
    with pytest.raises(DesignError, match=r"colour|something else than its own parameters"):
        design_from_dict({**design.to_dict(), "colour": "red"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 3}, "newer deniable"),
        ({"format": None}, "not a design"),
        ({"format": True}, "not a design"),
        ({"kind": "oracle"}, "unknown kind of design 'oracle'"),
        ({"kind": ["joint"]}, "unknown kind of design"),
        ({"domain": 3}, "cannot be read"),
        ({"questions": []}, "cannot be read"),
        ({"questions": [{"attributes": ["sex"]}]}, "channel"),
        ({"ballots": [[99]]}, "cannot be read"),
        ({"ballots": []}, "at least one ballot"),
    ],
)
def test_what_is_no_design_is_refused(change, told):
    with pytest.raises(DesignError, match=told):
        design_from_dict({**dn.Joint(DOMAIN, 1.0).to_dict(), **change})


def test_a_field_of_a_question_that_is_not_known_is_refused():
    data = dn.Joint(DOMAIN, 1.0).to_dict()
    data["questions"][0]["hidden"] = 1
    with pytest.raises(DesignError, match="contradicts itself"):
        design_from_dict(data)


def test_numbers_that_do_not_follow_from_each_other_are_refused():
    data = msgspec.json.decode(dn.Blocks(DOMAIN, 2, 1.0).canonical())
    data["questions"][0]["most_kept"] += 1
    with pytest.raises(DesignError):
        design_from_dict(data)


def test_an_altered_design_is_refused():
    design = dn.Joint(DOMAIN, 1.0)
    altered = design.canonical().replace(b'"sex"', b'"age"')
    with pytest.raises(DesignError, match="altered"):
        design_from_bytes(altered, design.id)
    assert design_from_bytes(altered, hashlib.sha256(altered).hexdigest()).domain.names[0] == "age"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"3", b"\xff"])
def test_bytes_that_are_no_design_are_refused(data):
    with pytest.raises(DesignError):
        design_from_bytes(data)
