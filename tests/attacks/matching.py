"""Who sent what? The best likelihood matching of one survey's reports to what is known of its respondents."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations
from math import factorial, prod

import numpy as np
from scipy.optimize import linear_sum_assignment


def matched(likelihood, rng):
    """How many of n people the best assignment finds: row i is what is known of person i, column j what person j sent.

    Columns are shuffled first, so that ties are broken by chance and never by order.
    """
    order = rng.permutation(len(likelihood))
    rows, columns = linear_sum_assignment(-np.log(likelihood[:, order]))
    return int((order[columns] == rows).sum())


def beside(known, sent, law):
    """Pr(what j sent | what is known of i), of several questions with a matrix P[report, truth] each."""
    found = np.ones((len(known), len(sent)))
    for question, one in enumerate(law):
        found *= one[sent[:, question]][:, known[:, question]].T
    return found


def through(truths, law, rng):
    """A report a person and question, drawn from the columns of each question's matrix."""
    ends = [np.cumsum(one, axis=0) for one in law]
    draws = rng.random(truths.shape)
    return np.column_stack(
        [(draws[:, q] > ends[q][:-1, truths[:, q]]).sum(axis=0) for q in range(truths.shape[1])]
    ).reshape(truths.shape)


def twice(law):
    """Pr(a second fresh report | the first one), at even shares of truths: what two surveys tell of each other."""
    return [one @ (one / one.sum(axis=1, keepdims=True)).T for one in law]


def expected_of_best(law, kept):
    """The expected number of people found by the best assignment of all, exactly, over every outcome of so few people.

    `law[x, z]` are the chances of a report, `kept` what each person's is made of, known to whoever matches.
    """
    n, total = len(kept), 0.0
    for sent in combinations_with_replacement(range(len(law)), n):
        chance = np.zeros((n, n))
        for order in permutations(range(n)):
            weight = prod(law[sent[order[i]], kept[i]] for i in range(n))
            for i in range(n):
                chance[i, order[i]] += weight
        chance /= prod(factorial(sent.count(x)) for x in set(sent))
        rows, columns = linear_sum_assignment(-chance)
        total += chance[rows, columns].sum()
    return total
