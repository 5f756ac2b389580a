"""Certificates: exact, refused when anything is bent, and met by a solver that knows nothing of ours."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import clarabel
import numpy as np
import pytest
from scipy import sparse

import deniable as dn
from deniable.device.epsilon import exp_above, exp_below
from deniable.errors import DesignError, InputError
from deniable.optimal.certificate import Certificate, certify
from deniable.optimal.channel_problem import Problem
from deniable.optimal.column_generation import certified


def generic(problem):
    """The least loss by a general convex solver, over all patterns at once.

    min sum (z.pi) |r_z|^2 / theta_z  subject to  sum z r_z' = V',  sum theta_z z = 1: in each pattern s_z theta_z >=
    |r_z|^2, a cone |(2 r_z, s_z - theta_z)| <= s_z + theta_z, and the sum of (z.pi) s_z is minimised.
    """
    t, count = problem.answers, len(problem.wanted)
    z = np.array(list(product([1.0, problem.large], repeat=t)))
    size, width = len(z), count + 2  # variables of a pattern: theta, s, r
    cost = np.zeros((size, width))
    cost[:, 1] = z @ problem.truth
    theta, r = np.zeros((t, size, width)), np.zeros((t, count, size, width))
    for answer in range(t):
        theta[answer, :, 0] = z[:, answer]
        for row in range(count):
            r[answer, row, :, 2 + row] = z[:, answer]
    equal = np.concatenate([theta.reshape(t, -1), r.reshape(t * count, -1)])
    one = np.zeros((width, width))
    one[0, :2], one[1, :2] = [-1, -1], [1, -1]
    one[np.arange(2, width), np.arange(2, width)] = -2
    cones = sparse.kron(sparse.identity(size), sparse.csc_matrix(one))
    rest = np.zeros(size * width)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((size * width, size * width)),
        cost.ravel(),
        sparse.vstack([sparse.csc_matrix(equal), cones]).tocsc(),
        np.concatenate([np.ones(t), problem.centred.T.ravel(), rest]),
        [clarabel.ZeroConeT(len(equal)), *[clarabel.SecondOrderConeT(width)] * size],
        settings,
    ).solve()
    assert "Solved" in str(solution.status)
    return solution.obj_val


def test_a_general_solver_over_all_patterns_finds_the_same(cases):
    for wanted, epsilon, truth in cases(1, 25, 4):
        problem = Problem.of(wanted, epsilon, truth)
        found = certified(wanted, epsilon, truth)
        assert found.bound == pytest.approx(generic(problem), rel=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_proof_written_out_in_fractions(cases, seed):
    # Not the module's arithmetic: every pattern by itself, with both values of e^eps that enclose it.
    ((wanted, epsilon, truth),) = cases(seed + 50, 1, 5)
    proof = certified(wanted, epsilon, truth)
    shares = [Fraction(share) for share in proof.problem.shares.tolist()]
    pi = [share / sum(shares) for share in shares]
    g = [[Fraction(part) for part in row] for row in proof.g.tolist()]
    y = [Fraction(part) for part in proof.y.tolist()]
    for large in (exp_below(epsilon), exp_above(epsilon)):
        for z in product([Fraction(1), large], repeat=len(pi)):
            inner = [sum(a * row[k] for a, row in zip(z, g, strict=True)) for k in range(len(g[0]))]
            mass = sum(a * b for a, b in zip(z, pi, strict=True))
            assert sum(a * b for a, b in zip(z, y, strict=True)) * mass >= sum(part**2 for part in inner)
    rows = [[Fraction(part) for part in row] for row in proof.problem.wanted.tolist()]
    means = [sum(a * b for a, b in zip(row, pi, strict=True)) for row in rows]
    traced = sum(
        (row[v] - mean) * g[v][k] for k, (row, mean) in enumerate(zip(rows, means, strict=True)) for v in range(len(pi))
    )
    exact = traced**2 / sum(y)
    assert Fraction(proof.bound) <= exact
    assert proof.bound == pytest.approx(float(exact), rel=1e-15)


def test_no_random_channel_is_below_a_certificate(cases, random_channel):
    rng = np.random.default_rng(21)
    judged, least = 0, np.inf
    for wanted, epsilon, truth in cases(3, 30, 6):
        problem, bound = Problem.of(wanted, epsilon, truth), certified(wanted, epsilon, truth).bound
        for _ in range(10):
            channel = random_channel(rng, problem.answers, epsilon)
            if np.linalg.matrix_rank(channel, 1e-4) == problem.answers:
                judged += 1
                least = min(least, problem.loss(channel) / bound)
    assert judged > 50
    assert least >= 1


def test_a_bent_certificate_proves_nothing():
    proof = certified(np.tril(np.ones((5, 5)))[:-1], 1.0)
    assert proof.check() == proof.bound
    for g, y in (
        (proof.g * 1.001, proof.y),
        (proof.g, proof.y * 0.999),
        (proof.g, proof.y - 1e-3 * np.eye(5)[2]),
        (proof.g[:, ::-1], proof.y[::-1] - 1),
    ):
        with pytest.raises(DesignError, match="proves nothing"):
            Certificate(proof.problem, g, y).check()
    with pytest.raises(DesignError, match="a row each"):
        Certificate(proof.problem, proof.g[:, :-1], proof.y).check()


def test_it_does_not_hold_for_a_larger_epsilon():
    proof = certified(np.eye(4), 1.0)
    larger = Problem.of(np.eye(4), 1.01)
    with pytest.raises(DesignError, match="proves nothing"):
        Certificate(larger, proof.g, proof.y).check()
    # What was proved for a smaller class still holds there, weaker or not.
    assert Certificate(Problem.of(np.eye(4), 0.99), proof.g, proof.y).check() == proof.bound


def test_any_g_and_y_that_hold_are_a_proof_however_poor():
    problem = Problem.of([0, 1, 2], 1.0)
    poor = certify(problem, np.array([[-1.0], [0.2], [0.7]]), np.array([0.1, 0.1, 0.1]))
    assert 0 < poor.check() < certified([0, 1, 2], 1.0).bound
    nothing = Certificate(problem, np.zeros((3, 1)), np.zeros(3))
    assert nothing.check() == 0
    assert "at even shares" in repr(poor)
    assert "at your guess" in repr(certified([0, 1], 1.0, [0.2, 0.8]))


def test_what_is_no_problem_is_refused():
    for wanted, epsilon, truth, error in (
        ([1], 1.0, None, "at least two"),
        ([[0, np.nan]], 1.0, None, "at least two"),
        ([1, 1, 1], 1.0, None, "nothing to be learned"),
        ([0, 1], 1.0, [0.5, 0.3, 0.2], "must be 2 shares"),
        ([0, 1], 1.0, [1.5, -0.5], "none negative"),
        (np.eye(17), 1.0, None, "16 possible answers"),
    ):
        with pytest.raises(InputError, match=error):
            certified(wanted, epsilon, truth)
    with pytest.raises(DesignError, match="epsilon"):
        certified([0, 1], -1.0)


def test_the_loss_is_that_of_unbiased_estimates():
    # For a square channel there is one unbiased estimator: W P^-1 applied to the shares of reports.
    channel = dn.KRR(4, epsilon=1.3).matrix()
    wanted, truth = np.array([[0.0, 1, 2, 3], [1, 0, 0, 1]]), np.array([0.1, 0.2, 0.3, 0.4])
    weights = wanted @ np.linalg.inv(channel)
    lam = channel @ truth
    variance = (weights**2 @ lam - (weights @ lam) ** 2).sum()
    assert Problem.of(wanted, 1.3, truth).loss(channel) == pytest.approx(variance, rel=1e-12)
