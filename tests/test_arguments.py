"""Every public function and class answers arguments that it does not take: in our words, and at no other cost."""

from __future__ import annotations

import inspect
import pickle
from functools import cache

import pandas as pd
import pytest

import deniable as dn
from deniable._public import GROUPS, HOMES
from deniable.arguments import answering
from deniable.errors import DeniableError, InputError
from deniable.estimation import estimator

# What is made by us and only handed out holds what it is given: nothing in it fails that could be explained.
RECORDS = {
    *(
        "Amplified",
        "Certificate",
        "Comparison",
        "Convergence",
        "DelsarteCertificate",
        "Density",
        "Distribution",
        "Floor",
        "Forecast",
        "Grouped",
    ),
    *("GroupedTotals", "HypercontractiveCertificate", "Interval", "Measure", "Mix", "Numbers", "Poststratified"),
    *("Labels", "Prevalences", "Question", "Survey", "TestResult", "Totals", "DeniableError"),
    *("compliance.Compliance", "compliance.SumScore", "graphs.EdgeStatement", "graphs.NodeEstimate"),
    *("graphs.NoisyRow", "graphs.Released", "graphs.Total"),
}
OPEN = {"DeniableError"}  # takes whatever there is to say
ABSTRACT = {"Wanted"}  # made by its methods: Python refuses before any constructor of ours is reached


class Strange:
    """Something that nobody expects."""


@cache
def public():
    """Every public function and class, by the name that a user writes."""
    found = {name: getattr(dn, name) for name in HOMES}
    for group in GROUPS:
        room = getattr(dn, group)
        found |= {f"{group}.{name}": getattr(room, name) for name in room.__all__}
    return found


def parameters(name):
    return inspect.signature(public()[name]).parameters.values()


def strange_arguments(name):
    """Something strange for every argument that a function or class must be given."""
    required = [each for each in parameters(name) if each.default is each.empty and each.kind < each.VAR_POSITIONAL]
    return {each.name: Strange() for each in [*required, *parameters(name)][: len(required) or 1]}


NAMES = sorted(public())


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OPEN | ABSTRACT])
def test_a_misspelt_keyword_is_answered_with_the_nearest(name):
    named = [each.name for each in parameters(name) if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)]
    for right in named:
        wrong = f"{right[:-1]}_{right[-1]}"
        with pytest.raises(InputError, match=rf"^{name} takes no {wrong}=: write \w+=. It takes .*{right}") as refused:
            public()[name](**{wrong: 1})
        assert refused.value.argument == wrong
        if len(right) > 3:
            assert f"write {right}=" in str(refused.value)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RECORDS | ABSTRACT])
def test_arguments_of_another_type_are_answered_in_our_words(name):
    with pytest.raises(DeniableError):
        public()[name](**strange_arguments(name))


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_records_hold_what_they_are_given(name):
    assert isinstance(public()[name](**strange_arguments(name)), public()[name])


REPORTS = dn.Joint({"smokes": ["no", "yes"], "sleep": ["bad", "good"]}, 1.0).randomize(
    pd.DataFrame({"smokes": ["no", "yes"] * 50, "sleep": ["bad", "good"] * 50}), source=dn.Seeded(1)
)
CALLS = {
    "missing": (dn.Joint, r"^Joint: missing a required argument: 'domain'. It is called as Joint\(domain, "),
    "one too many": (lambda: dn.KRR(2, 1.0, 3), r"^KRR: too many positional arguments. It is called as KRR\(k, "),
    "twice": (lambda: dn.KRR(2, k=2), "^KRR: multiple values for argument 'k'"),
    "a list of others": (lambda: dn.Kronecker([1, "two"]), r"channels= is to be Sequence\[Channel\].* a list of int"),
    "a word": (lambda: dn.linear(5, REPORTS), r"^linear: formula= is to be str, and this is a int. help\("),
    "types of ours written out": (lambda: dn.goodness_of_fit(1, "smokes", [1, 1]), r"reports= is to be Reports \| Tal"),
    "options that are handed on": (lambda: dn.mean(REPORTS, "sleep", wieghts=[1]), "^mean takes no wieghts=: write"),
    "a bootstrap's": (lambda: dn.chi2(1, method="bootstrap", replicate=9), "^chi2 takes no replicate=: write repli"),
    "in a group": (lambda: dn.graphs.noise(1), "^graphs.noise: channel= is to be KRR, and this is a int"),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_said(call):
    made, told = CALLS[call]
    with pytest.raises(InputError, match=told):
        made()


def test_what_fails_for_another_reason_goes_on_as_it_is():
    def broken(table):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        dn.derived(dn.estimate(REPORTS, "smokes"), broken)


def test_a_function_is_otherwise_the_same():
    inside = estimator.estimate
    assert not hasattr(inside, "__wrapped__")  # whoever calls it from within pays nothing
    assert inspect.unwrap(dn.estimate) is inside
    assert inspect.signature(dn.estimate) == inspect.signature(inside)
    assert inspect.getdoc(dn.estimate) == inspect.getdoc(inside)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_again_by_a_pickle(name):
    value = public()[name]
    assert pickle.loads(pickle.dumps(value)) is value  # noqa: S301 - our own


def test_abstract_classes_are_those_that_are_named():
    assert {name for name, each in public().items() if inspect.isabstract(each)} == ABSTRACT


def test_a_call_that_succeeds_costs_no_look_at_its_arguments(monkeypatch):
    looked = []
    monkeypatch.setattr("deniable.arguments.signature", looked.append)
    assert answering(lambda k: k + 1, "plus")(k=1) == 2
    assert looked == []
