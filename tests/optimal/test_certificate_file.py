"""Certificates of every kind, written to a file and verified by whoever has nothing but the file."""

import json

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.errors import DeniableError, DesignError, InputError
from deniable.optimal.certificate_file import _HOMES, verified

FOUR = {name: ["no", "yes"] for name in "abcd"}
MANY = [f"x{i}" for i in range(24)]
UNLIKE = {"sex": ["F", "M"], "age": [20, 30, 40], "smokes": ["no", "yes"]}
CERTIFICATES = {
    "patterns": lambda: dn.floor(UNLIKE, [dn.Wanted.mean("age"), "smokes"], 2.0, certify=True).certificate,
    "patterns at a guess": lambda: dn.optimal_channel([[1, 0, 0], [0, 1, 0]], 1.0, [0.7, 0.2, 0.1]).certificate,
    "delsarte": lambda: dn.floor(FOUR, list(FOUR), 4.0).certificate,
    "delsarte, unlike": lambda: dn.floor(UNLIKE, [*UNLIKE, ["sex", "smokes"]], 4.0).certificate,
    "hypercontractive": lambda: dn.floor(dict.fromkeys(MANY, range(3)), list(MANY), 6.0).certificate,
    "hypercontractive of others": lambda: (
        dn.floor(
            {f"x{i}": range(2 + i % 3) for i in range(14)},
            [*(f"x{i}" for i in range(12)), dn.Wanted.difference("x13", "x12"), dn.Wanted.ranges("x11", [(0, 1)])],
            6.0,
        ).certificate
    ),
}


def verify(path):
    done = CliRunner().invoke(app, ["verify", str(path)], prog_name="deniable")
    return done.exit_code, done.output


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_of_every_kind_is_verified_from_its_file_alone(name, tmp_path):
    made = CERTIFICATES[name]()
    assert made.kind == name.split()[0].rstrip(",")
    path = made.write(tmp_path / "certificate.json")
    again = verified(path.read_bytes())
    assert type(again) is type(made)
    assert again.check() == made.bound
    assert again.to_dict() == made.to_dict()
    code, told = verify(path)
    assert code == 0
    assert f"at least {made.bound:.6g} {made.where}" in told
    # What claims more than it proves, or proves for less privacy than it claims, is found out.
    known = json.loads(path.read_text())
    path.write_text(json.dumps(known | {"loss": known["loss"] * (1 + 1e-9)}))
    assert verify(path)[0] == 1
    path.write_text(json.dumps(known | {"epsilon": known["epsilon"] * 2}))
    assert verify(path)[0] == 1


def test_there_is_one_of_every_kind():
    assert {name.split()[0].rstrip(",") for name in CERTIFICATES} == set(_HOMES)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("patterns", {"y": [0.0] * 12}),
        ("patterns", {"g": [[1e300]]}),
        ("patterns", {"shares": [-1.0] * 12}),
        ("delsarte", {"weights": [1.0] * 5}),
        ("delsarte", {"pieces": []}),
        ("delsarte", {"groups": [["a", "b"]]}),
        ("delsarte", {"groups": [["a"]] * 40}),
        ("hypercontractive", {"p": 2.5}),
        ("hypercontractive", {"epsilon": -1.0}),
        ("hypercontractive", {"wanted": [{"kind": "magic", "attributes": ["x1"], "weight": 1, "options": []}]}),
        ("hypercontractive", {"domain": 7}),
        ("delsarte", {"loss": float("nan")}),
        ("delsarte", {"certificate": "of a school"}),
        ("delsarte", {"certificate": ["delsarte"]}),
    ],
)
def test_what_proves_nothing_is_refused_in_our_words(name, changes, tmp_path):
    path = CERTIFICATES[name]().write(tmp_path / "certificate.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(DeniableError):
        verified(path.read_bytes())
    code, told = verify(path)
    assert code == 1
    assert "no certificate that proves anything" in told


def test_weights_that_were_found_for_something_else_prove_less(tmp_path):
    path = CERTIFICATES["delsarte"]().write(tmp_path / "certificate.json")
    known = json.loads(path.read_text())
    known["weights"] = [0.0, 1e-3, 0.0, 0.0, 1.0]  # for what all four attributes do together
    with pytest.raises(DesignError, match="proves a loss of"):
        verified(json.dumps(known).encode())
    with pytest.raises(InputError, match="certificates are"):
        verified(b'{"certificate": "none"}')
