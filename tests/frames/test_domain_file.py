"""Domain files: what is written is what is read; reading categories off the data says so."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.domain import Domain
from deniable.errors import DesignError, InputError, MissingValueError
from deniable.frames.domain_file import infer_domain, read_domain, write_domain

DOMAIN = Domain({"sex": ["F", "M"], "höhe in m": [1.5, 2.0], "n": [0, 1], "yes?": [True, False], 'q"': ['"', "\\"]})


def test_it_comes_back_as_it_was(tmp_path):
    (tmp_path / "d.toml").write_text(write_domain(DOMAIN), encoding="utf-8")
    assert read_domain(tmp_path / "d.toml") == DOMAIN


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("sex = [", InputError, "not a TOML file"),
        ('sex = "F"', InputError, "needs a list of categories"),
        ('[sex]\na = ["F"]', InputError, "needs a list of categories"),
        ('sex = [["F"], ["M"]]', InputError, "needs a list of categories"),
        ('sex = ["F"]', DesignError, "at least two"),
        ('sex = ["F", "F"]', DesignError, "more than once"),
        ('sex = ["F", 1]', DesignError, "all texts"),
        ("", DesignError, "at least one attribute"),
    ],
)
def test_what_is_no_domain_is_refused_by_file_name(text, kind, told, tmp_path):
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises(kind, match=told) as refused:
        read_domain(tmp_path / "d.toml")
    assert "d.toml" in str(refused.value)


def test_an_absent_or_binary_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no domain file"):
        read_domain(tmp_path / "d.toml")
    (tmp_path / "d.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a TOML file"):
        read_domain(tmp_path / "d.toml")


def test_categories_can_be_read_off_a_table(tmp_path):
    pq.write_table(pa.table({"a": ["y", "x", "y"], "b": [3, 1, 1], "c": [True, False, True]}), tmp_path / "t.parquet")
    assert infer_domain(tmp_path / "t.parquet") == Domain({"a": ["x", "y"], "b": [1, 3], "c": [False, True]})
    assert infer_domain(tmp_path / "t.parquet", ["b"]) == Domain({"b": [1, 3]})
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny,3\n")
    assert infer_domain(tmp_path / "t.csv") == Domain({"a": ["x", "y"], "b": [1, 3]})


def test_what_has_no_categories_is_refused(tmp_path):
    pq.write_table(pa.table({"a": ["y", None], "b": ["x", "y"]}), tmp_path / "t.parquet")
    with pytest.raises(MissingValueError):
        infer_domain(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="no column 'z'"):
        infer_domain(tmp_path / "t.parquet", ["z"])
    pq.write_table(pa.table({"id": range(2000)}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="more than 1000"):
        infer_domain(tmp_path / "t.parquet")
