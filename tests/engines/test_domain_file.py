"""Domain files: what is written is what is read; reading categories off the data says so."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.core.domain import Domain
from deniable.designs.kinds.independent import Independent
from deniable.engines.domain_file import infer_domain, read_domain, write_domain
from deniable.engines.randomize_job import randomize_table
from deniable.errors import DesignError, InputError, MissingColumnError, MissingValueError, UnknownCategoryError

DOMAIN = Domain({"sex": ["F", "M"], "höhe in m": [1.5, 2.0], "n": [0, 1], "yes?": [True, False], 'q"': ['"', "\\"]})


def test_it_comes_back_as_it_was(tmp_path):
    (tmp_path / "d.toml").write_text(write_domain(DOMAIN), encoding="utf-8")
    assert read_domain(tmp_path / "d.toml") == DOMAIN


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("sex = [", InputError, "not TOML"),
        ('sex = "F"', InputError, "needs a list of categories"),
        ('[sex]\na = ["F"]', InputError, "needs a list of categories"),
        ('sex = [["F"], ["M"]]', InputError, "needs a list of categories"),
        ('sex = ["F"]', DesignError, "at least two"),
        ('sex = ["F", "F"]', DesignError, "more than once"),
        ('sex = ["F", 1]', DesignError, "all texts"),
        ("", DesignError, "at least one attribute"),
        ("age = { bins = [65, 18] }", DesignError, "rising order.*found \\[65, 18\\]"),
        ("age = { bins = [] }", DesignError, "edges between them"),
        ("age = { bins = 18 }", DesignError, "edges between them"),
        ("age = { bins = [18, nan] }", DesignError, "edges between them"),
        ("age = { bins = [18], max = 99 }", DesignError, "beside bins there is 'max'"),
        ("age = { edges = [18] }", InputError, "age = { bins = "),
    ],
)
def test_what_is_no_domain_is_refused_by_file_name(text, kind, told, tmp_path):
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises(kind, match=told) as refused:
        read_domain(tmp_path / "d.toml")
    assert "d.toml" in str(refused.value)


def test_numbers_are_disguised_in_bins(tmp_path):
    (tmp_path / "d.toml").write_text("age = { bins = [18, 65.5] }\nn = { bins = [0] }\n", encoding="utf-8")
    domain = read_domain(tmp_path / "d.toml")
    assert domain == Domain({"age": ["< 18", "18 to < 65.5", ">= 65.5"], "n": ["< 0", ">= 0"]})
    (tmp_path / "again.toml").write_text(write_domain(domain), encoding="utf-8")
    assert read_domain(tmp_path / "again.toml") == domain
    people = pa.table({"age": [17, 18, 65, 66, 2], "n": [-0.5, 0.0, 1.0, 2.0, -3.0]})
    assert domain.encode(people).tolist() == [[0, 0], [1, 1], [1, 1], [2, 1], [0, 0]]
    # From a CSV file, too, where the first rows look like whole numbers; and bins by their names.
    csv = "age,n\n" + "17,-1\n" * 5 + "65.25,0\n"
    (tmp_path / "p.csv").write_text(csv, encoding="utf-8")
    named = csv.replace("17", "< 18").replace("65.25", "18 to < 65.5")
    (tmp_path / "named.csv").write_text(named, encoding="utf-8")
    # An epsilon of 20 disguises one answer in 2^28; a bin taken for another would show in all of these.
    for place in ("p.csv", "named.csv"):
        goal = tmp_path / f"{place}.parquet"
        assert randomize_table(tmp_path / place, goal, Independent(domain, 40.0), again=place == "named.csv") == 6
        assert pq.read_table(goal).to_pylist() == [dict.fromkeys(("dn_answer_age", "dn_answer_n"), 0)] * 5 + [
            dict.fromkeys(("dn_answer_age", "dn_answer_n"), 1)
        ]
    (tmp_path / "p.csv").write_text("age\n17\n", encoding="utf-8")
    with pytest.raises(MissingColumnError, match="no column 'n'"):
        randomize_table(tmp_path / "p.csv", tmp_path / "less.parquet", Independent(domain, 40.0))


def test_what_is_in_no_bin_is_refused():
    between = Domain({"age": ["18 to < 30", "30 to < 65", "no answer"]})
    assert between.encode({"age": [18, 64.9]}).tolist() == [[0], [1]]
    assert between.encode({"age": ["no answer", "30 to < 65"]}).tolist() == [[2], [1]]
    with pytest.raises(UnknownCategoryError, match="in 2 of 3 rows, the first in row 1"):
        between.encode({"age": [17, 40, 65]})
    with pytest.raises(MissingValueError, match="1 missing values"):
        between.encode({"age": [18.0, float("nan")]})


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
