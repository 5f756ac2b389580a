"""Likely mistakes, each answered in our own words: what is wrong, and the line to write. One table."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deniable as dn
from exams import EXAMS, answered

DOMAIN = {"smokes": ["no", "yes"], "sleep": ["bad", "good"]}
PEOPLE = pd.DataFrame({"smokes": ["no", "yes"] * 50, "sleep": ["bad", "good"] * 50})
JOINT = dn.Joint(DOMAIN, 1.0)
REPORTS = JOINT.randomize(PEOPLE, source=dn.Seeded(1))


def survey(was, becomes):
    """The survey file with a mistake in it."""
    assert was in EXAMS
    with TemporaryDirectory() as folder:
        path = Path(folder) / "exams.toml"
        path.write_text(EXAMS.replace("DESIGN", "").replace(was, becomes, 1), encoding="utf-8")
        return dn.read_survey(path)


MISTAKES = {
    # what is handed to randomize
    "a list for two attributes": (lambda: JOINT.randomize(["no", "yes"]), "this is one column.*2 attributes"),
    "an array": (lambda: JOINT.randomize(np.zeros((3, 2), int)), "an array does not say which column"),
    "a file's name": (lambda: JOINT.randomize("people.csv"), r"pandas.read_csv\('people.csv'\)"),
    "a column short": (lambda: JOINT.randomize({"smokes": ["no"]}), "no column 'sleep'"),
    "a strange value": (lambda: JOINT.randomize({"smokes": ["maybe"], "sleep": ["bad"]}), "the first in row 1"),
    "a missing value": (lambda: JOINT.randomize({"smokes": [None], "sleep": ["bad"]}), "prefer not to say"),
    "a bare seed": (lambda: JOINT.randomize(PEOPLE, source=1), r"source=Seeded\(1\)"),
    "a seed by its usual name": (lambda: JOINT.randomize(PEOPLE, seed=1), r"no seed= here: write source=Seeded\(1\)"),
    "a seed for blocks": (lambda: dn.Blocks(DOMAIN, epsilon=1.0).randomize(PEOPLE, seed=1), r"source=Seeded\(1\)"),
    "a seed for a channel": (lambda: dn.KRR(2, 1.0).randomize([0, 1], seed=1), r"source=Seeded\(1\)"),
    "a bare seed for sets": (lambda: dn.SubsetSelection(9, 1.0).randomize([0, 1], source=1), r"source=Seeded\(1\)"),
    "a bare seed for a graph": (lambda: dn.graphs.randomize([(0, 1)], 1.0, source=1), r"source=Seeded\(1\)"),
    "a public column that is not there": (lambda: JOINT.randomize(PEOPLE, keep=["region"]), "no column 'region'"),
    "labels to a channel": (lambda: dn.KRR(2, 1.0).randomize(["no", "yes"]), "Variable.encode"),
    # domains and designs
    "a domain of names": (lambda: dn.Domain(["smokes"]), "attributes with their categories"),
    "a frame for a domain": (lambda: dn.Joint(PEOPLE, 1.0), "Write the categories down"),
    "categories in one text": (lambda: dn.Joint({"smokes": "no,yes"}, 1.0), r"\['no', 'yes'\]"),
    "a number for categories": (lambda: dn.Joint({"smokes": 2}, 1.0), "are a list"),
    "one category": (lambda: dn.Joint({"smokes": ["no"]}, 1.0), "at least two"),
    "epsilon as a text": (lambda: dn.Joint(DOMAIN, "1"), "write epsilon=1, not '1'"),
    "epsilon of a channel as a text": (lambda: dn.KRR(2, "0.5"), "write epsilon=0.5"),
    "epsilon 0": (lambda: dn.Joint(DOMAIN, 0), "must be positive"),
    "views of too many": (lambda: dn.Views(DOMAIN, k=3, epsilon=1.0), "3"),
    # devices
    "a percentage": (lambda: dn.Warner(80), "between 0 and 1"),
    "a fair coin": (lambda: dn.Warner(0.5), "fair coin"),
    "forced answers above 1": (lambda: dn.ForcedResponse(0.6, 0.6), "more than 1"),
    "one forced answer": (lambda: dn.ForcedResponse(1 / 6), r"ForcedResponse\(1/6, 1/6\)"),
    # estimates
    "no attribute": (lambda: dn.estimate(REPORTS), r"estimate\(reports, 'smokes'\)"),
    "a file instead of reports": (lambda: dn.estimate("r.parquet", "smokes"), r"open_reports\('r.parquet'\), 'smokes'"),
    "a frame instead of reports": (lambda: dn.estimate(PEOPLE, "smokes"), r"Reports\(frame, design\), 'smokes'"),
    "answers with a channel": (lambda: dn.estimate(["no", "yes"], dn.KRR(2, 1.0)), r"prevalence\(answers, channel\)"),
    "counts of another length": (lambda: dn.estimate([1, 2, 3], dn.KRR(2, 1.0)), "each of its 2 reports"),
    "negative counts": (lambda: dn.estimate([-1, 5], dn.KRR(2, 1.0)), "not negative"),
    "a wrong name": (lambda: dn.estimate(REPORTS, "smoke"), "there is no attribute 'smoke'; the domain has 'smokes'"),
    "a public name": (lambda: dn.estimate(answered(), ["cheated", "faculty"]), "by='faculty'"),
    "a group that is not there": (lambda: dn.estimate(REPORTS, "smokes", by="region"), "no public column 'region'"),
    "a method that there is not": (lambda: dn.estimate(REPORTS, "smokes", "em"), "choose from 'auto'"),
    "yes without n": (lambda: dn.prevalence(dn.Warner(0.8), yes=5), "go together"),
    "counts for prevalence": (lambda: dn.prevalence(40, 100), "such as Warner"),
    # survey files
    "a kind of question": (
        lambda: survey('"yes-no"', '"yesno"'),
        "choose from 'choice', 'number'.*line 12 of exams",
    ),
    "a name with a space": (
        lambda: survey('"cheated"', '"has cheated"'),
        "letters, digits and .*line 10 of exams",
    ),
    "a key that there is not": (lambda: survey("first = 1", "frist = 1"), "no key 'frist' here.*'first'"),
    "a language": (lambda: survey('["en", "de"]', '["en", "german!"]'), "a code such as 'en'"),
    # what nobody foresaw
    "a set of categories": (lambda: dn.Domain({"a": {"x", "y"}}), "in order, which a set is not"),
    "two names in one text": (
        lambda: dn.estimate(REPORTS, "smokes,sleep"),
        r"a list: \['smokes', 'sleep'\]",
    ),
    "a number for a name": (lambda: dn.estimate(REPORTS, 0), "attributes are named"),
    "groups of a disguised attribute": (lambda: dn.estimate(REPORTS, "smokes", by="sleep"), "'sleep' was disguised"),
    "groups of two columns": (lambda: dn.estimate(answered(), "cheated", by=["a", "b"]), "one public column"),
    "one attribute to test": (lambda: dn.independence(REPORTS, "smokes"), "two attributes"),
    "a public column to test": (lambda: dn.independence(answered(), "cheated", "faculty"), "homogeneity"),
    "a measure of reports": (lambda: dn.odds_ratio(REPORTS), r"odds_ratio\(estimate\(reports"),
    "a dictionary for the truth": (lambda: dn.estimate(REPORTS, "smokes").plot(truth={"no": 1}), r"Table\(domain"),
    "a lazy frame": (lambda: JOINT.randomize(pl.LazyFrame({"smokes": ["no"], "sleep": ["bad"]})), r"\.collect\(\)"),
    "a number for people": (lambda: JOINT.randomize(5), "people are handed in as a data frame"),
    # arguments
    "epsilon cut short": (lambda: dn.KRR(4, eps=1), "KRR takes no eps=: write epsilon="),
    "epsilon of a design cut short": (lambda: dn.Joint(DOMAIN, eps=1), "Joint takes no eps=: write epsilon="),
    "epsilon of a plan cut short": (lambda: dn.plan(DOMAIN, eps=1, n=100), "plan takes no eps=: write epsilon="),
    "epsilon for a spinner": (lambda: dn.Warner(epsilon=1), r"write Warner\(p\).*KRR\(2, epsilon=1\)"),
    "a level for an estimate": (lambda: dn.estimate(REPORTS, "smokes", level=0.9), r"interval\(level=0.9\)"),
    "an argument mistyped": (lambda: dn.Views(DOMAIN, k=1, epsilon=1.0, anwser="one"), "write answer="),
    "an argument from nowhere": (lambda: dn.KRR(4, colour=1), "KRR takes no colour=. It takes k, epsilon"),
    "a frame of reports": (lambda: pd.DataFrame(REPORTS), r"write reports.to_frame\(\)"),
    "an outcome that there is not": (
        lambda: dn.logit("smoke ~ faculty", answered()),
        "disguised, 'cheated', 'stress', in clear 'faculty'",
    ),
    # names
    "another package's interval": (lambda: dn.estimate(REPORTS, "smokes").ci, "write .interval"),
    "another package's frame": (lambda: REPORTS.to_pandas, "write .to_frame"),
    "another package's file": (lambda: REPORTS.to_csv("r.csv"), "write .write"),
    "another package's mechanism": (lambda: dn.GRR, r"KRR\(k, epsilon\)"),
    "small letters": (lambda: dn.warner, "did you mean Warner"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_answered_in_our_words(mistake):
    make, told = MISTAKES[mistake]
    with pytest.raises((dn.DeniableError, AttributeError), match=told) as refused:
        make()
    # Python wants names that are not there to be this; everything else is an error of our own.
    is_name = mistake == "small letters" or mistake.startswith("another package's")
    assert isinstance(refused.value, AttributeError) == is_name


def test_what_is_meant_is_taken():
    assert dn.Domain({"a": np.array([1, 2])})["a"].categories == (1, 2)
    assert JOINT.randomize(PEOPLE.iloc[:0]).n == 0
    listed = dn.independence(REPORTS, ["smokes", "sleep"], replicates=19)
    assert listed.pvalue == dn.independence(REPORTS, "smokes", "sleep", replicates=19).pvalue
    assert list(dn.estimate(answered(), "cheated", by=["faculty"])) == ["arts", "law"]
    assert dn.Table.count({"smokes": ["no"], "sleep": ["bad"]}, dn.Domain(DOMAIN)).total == 1


def test_there_are_enough():
    assert len(MISTAKES) >= 38


# -- rows and columns of what people hand in ---------------------------------------------------------------------------


def test_columns_whose_rows_are_labelled_apart_are_refused_and_frames_are_not():
    frame = pd.DataFrame({"sex": ["F", "M"] * 20, "smokes": ["no", "yes"] * 20})
    domain = dn.Domain({"sex": ["F", "M"], "smokes": ["no", "yes"]})
    apart = {"sex": frame["sex"].sort_values(), "smokes": frame["smokes"]}
    for take in (dn.Joint(domain, 1.0).randomize, lambda people: dn.Table.count(people, domain)):
        with pytest.raises(dn.errors.InputError, match="the rows of 'sex' and 'smokes' have different labels"):
            take(apart)
        take(pd.DataFrame(apart))
        take({"sex": frame["sex"], "smokes": frame["smokes"]})
    assert dn.Table.count(pd.DataFrame(apart), domain).values.tolist() == [[20, 0], [0, 20]]


def test_a_column_that_stands_there_twice_and_a_frame_for_a_column_are_refused():
    frame = pd.DataFrame({"smokes": ["no", "yes"] * 20, "weight": [1.0] * 40})
    design = dn.Joint({"smokes": ["no", "yes"]}, 1.0)
    with pytest.raises(dn.errors.InputError, match=r"every column has a name of its own: .*'smokes' 2 times"):
        design.randomize(pd.concat([frame, frame[["smokes"]]], axis=1))
    reports = design.randomize(frame)
    for given in ("weights", "clusters"):
        with pytest.raises(dn.errors.InputError, match=f"{given}: expected one value a respondent, not a frame"):
            dn.estimate(reports, "smokes", **{given: frame[["weight"]]})
