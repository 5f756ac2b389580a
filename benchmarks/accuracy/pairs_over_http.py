"""Paired respondents collected over HTTP: the variance of their estimates beside the stated one, and beside plain RR's.

Surveys of many yes/no questions are served over loopback, one after the other. Respondents look for partners at the
collector's matcher, toss coins that the collector does not see, and send their reports; everything else is what an
analyst has: the stored reports and the number of completed pairs. Questions have coins of their own, so each is a
repetition. The respondents are a fixed population whose truth is known, so the squared errors of estimates are compared
with the variances that are stated, and with those of as many respondents under plain randomized response at the same p.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from deniable import Coins, PairedReports, estimate
from deniable.collection.load_reports import stored_reports
from deniable.collection.simulate_respondents import Crowd
from deniable.web.serve import Service, background

P, RHO = 0.75, -0.3
QUESTIONS = 40
SHARE = 0.1  # of the respondents, who would say yes
WITHIN = 0.05  # of the stated variance
MOST_OF_PLAIN = 0.95
_HEAD = """
format = 1
name = "pairs"
title = "Pairs"
epsilon = {epsilon}
design = {{ kind = "paired", p = {p}, rho = {rho}, accept = "a partner who knows the coin" }}
"""
_QUESTION = """
[[questions]]
name = "q{number}"
text = "?"
kind = "yes-no"
"""


def survey(questions: int) -> str:
    """A survey file of so many questions."""
    coins = Coins.of(P, RHO)
    known = float((coins.p + coins.d) / (1 - coins.p - coins.d))
    epsilon = np.ceil(questions * np.log(known) * 100 + 1) / 100
    head = _HEAD.format(epsilon=epsilon, p=P, rho=RHO)
    return head + "".join(_QUESTION.format(number=number) for number in range(questions))


@dataclass
class Errors:
    """What estimates of the share of yes came to: their errors, and the variances stated."""

    made: list[float] = field(default_factory=list)
    stated: list[float] = field(default_factory=list)
    pairs: int = 0
    respondents: int = 0

    @property
    def variance(self) -> float:
        """The mean squared error."""
        return float(np.mean(np.square(self.made)))


def collect(questions: int, respondents: int, into: Errors) -> None:
    """Serve a survey, let everybody answer, and estimate every question."""
    yes = round(SHARE * respondents)
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        file = Path(folder) / "survey.toml"
        file.write_text(survey(questions), encoding="utf-8")
        service = Service.open(file, Path(folder) / "data")
        with background(service) as url:
            crowd = Crowd(url, batch=100)
            for person in range(respondents):
                says = {q: (person + q) % respondents < yes for q in range(questions)}
                crowd.answer({f"q{q}": "yes" if said else "no" for q, said in says.items()})
            crowd.flush()
            crowd.close()
            service.collector.session.close()
            reports = stored_reports(service.store, service.collector.design_id)
    assert isinstance(reports, PairedReports)
    into.pairs += int(reports.pairs)
    into.respondents += reports.n
    for number in range(questions):
        found = estimate(reports, [f"q{number}"], population="fixed")
        into.made.append(float(found.unbiased.values[1]) - yes / respondents)
        into.stated.append(float(found.std_error[1]) ** 2)


def measure(surveys: int = 200, respondents: int = 100, questions: int = QUESTIONS) -> Measurement:
    """Collect so many surveys."""
    errors, start = Errors(), process_time()
    for _ in range(surveys):
        collect(questions, respondents, errors)
    coins = Coins.of(P, RHO)
    p = float(coins.p)
    plain = p * (1 - p) / ((2 * p - 1) ** 2 * respondents)
    stated = float(np.mean(errors.stated))
    rows: dict[str, list[object]] = {
        "variance": ["made, over HTTP", "stated", "plain randomized response, the same p"],
        "of the share of yes": [f"{value:.5f}" for value in (errors.variance, stated, plain)],
    }
    claims = [
        Claim("made over stated: off by", abs(errors.variance / stated - 1), WITHIN, "", at_most=True),
        Claim("stated over plain", stated / plain, MOST_OF_PLAIN, at_most=True),
        Claim("made over plain", errors.variance / plain, MOST_OF_PLAIN, at_most=True),
    ]
    chance = (2 / (surveys * questions)) ** 0.5
    told = f"{surveys} surveys of {respondents} respondents and {questions} questions: {errors.respondents} reports, "
    notes = [
        f"{told}{errors.pairs} completed pairs, {process_time() - start:.0f} CPU-seconds.",
        f"The ratio of made to stated has a standard error of {chance:.3f} by chance.",
    ]
    return Measurement("errors of paired respondents, collected over HTTP", rows, claims, notes)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
