"""Forty plain questions: the word that whoever asks would look for is in the name of the file that answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "deniable"
FILES = sorted(f"/{path.relative_to(PACKAGE).as_posix().lower()}" for path in PACKAGE.rglob("*.*") if path.is_file())

# A question, the word to look for, and how the path ends that is looked for.
QUESTIONS = [
    ("Where is the dashboard's cache?", "cache", "dashboard/cache.py"),
    ("Where do Wilson intervals come from?", "interval", "/intervals.py"),
    ("After how long does a request time out?", "timeout", "timeouts.py"),
    ("What happens to reports on shutdown?", "shutdown", "graceful_shutdown.py"),
    ("What keeps formulas out of CSV files?", "csv", "csv_injection.py"),
    ("Where is the posterior of a hidden predictor?", "posterior", "/posterior.py"),
    ("Where are Newton steps taken?", "newton", "/newton.py"),
    ("What is done about label switching?", "label_switching", "/label_switching.py"),
    ("How is it checked that a model is identifiable?", "identifiab", "/identifiability.py"),
    ("Where is iterative proportional fitting?", "proportional_fitting", "/proportional_fitting.py"),
    ("What projects onto the simplex?", "simplex", "/simplex.py"),
    ("How are messages written as canonical JSON?", "canonical_json", "/canonical_json.py"),
    ("Where are blind signatures made?", "blind_signature", "/blind_signature.py"),
    ("Where is column generation?", "column_generation", "/column_generation.py"),
    ("Where is the ledger of what was spent?", "ledger", "device/ledger.py"),
    ("What writes SPSS files?", "spss", "/spss.py"),
    ("What writes Stata files?", "stata", "files/stata.py"),
    ("What talks to PostgreSQL?", "postgres", "/postgres.py"),
    ("What talks to SQLite?", "sqlite", "/sqlite.py"),
    ("How many requests may one client make?", "limit", "limits_and_timeouts.py"),
    ("Where is the OpenAPI document?", "openapi", "/openapi.py"),
    ("Where are the dashboard's pages?", "dashboard", "dashboard.py"),
    ("Where is raking?", "raking", "/raking.py"),
    ("Where is the parametric bootstrap?", "bootstrap", "/parametric_bootstrap.py"),
    ("What reads replicate weights?", "replicate", "/replicate_weights.py"),
    ("Where are odds ratios, Cramer's V and entropy?", "measure", "measures/association_measures.py"),
    ("Where are standard errors by the delta method?", "delta_method", "/delta_method.py"),
    ("Where is logistic regression?", "logit", "regression/logit.py"),
    ("Where is the EM algorithm?", "em", "/em.py"),
    ("Where is Fisher scoring?", "fisher_scoring", "/fisher_scoring_loglinear.py"),
    ("Where is the Rao-Scott correction?", "rao_scott", "/rao_scott.py"),
    ("Where is Jeffreys' prior?", "jeffreys", "/jeffreys_prior.py"),
    ("What does Prometheus read?", "prometheus", "/prometheus_metrics.py"),
    ("Where are bearer tokens checked?", "bearer", "/bearer_tokens.py"),
    ("What commits many reports at once?", "commit", "/group_commit.py"),
    ("Where is a mixed model with a random intercept?", "random_intercept", "/random_intercept.py"),
    ("How large a sample is needed?", "sample_size", "planning/sample_size.py"),
    ("Where are the citations of a report?", "citation", "/citations.py"),
    ("Where is dark mode?", "dark", "dashboard/dark_mode.py"),
    ("What reads a questionnaire of SurveyJS?", "surveyjs", "/surveyjs.py"),
]


def found(word: str) -> list[str]:
    """The files in whose name, or folder, a word begins with it, as `git ls-files | grep -i` shows them."""
    return [path for path in FILES if re.search(rf"[/_.-]{word}", path)]


@pytest.mark.parametrize(("question", "word", "answer"), QUESTIONS, ids=[word for _, word, _ in QUESTIONS])
def test_the_obvious_word_finds_the_file(question, word, answer):
    assert word in answer, "the word must lead to the answer"
    is_found = any(path.endswith(answer) for path in found(word))
    assert is_found, f"{question} {word!r} leads to {found(word)}, not to {answer}"


def test_there_are_forty_questions_each_with_a_word_of_its_own():
    assert len({question for question, _, _ in QUESTIONS}) == len({word for _, word, _ in QUESTIONS}) == 40


def test_a_word_is_found_where_it_begins():
    assert "/device/ledger.py" in found("ledger")
    assert "/device/ledger.py" not in found("edger")
