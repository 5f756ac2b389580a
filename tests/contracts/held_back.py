"""The matrix of designs and analyses on surveys that nobody has seen: other domains, skews, epsilons and sizes.

    make matrix MATRIX="--seed 7 --surveys 61"

The contract (`test_analyses`) has one population. Here each survey draws its own: two to four attributes of two to five
categories, shares from even to 90/8.5/1.5 and below, public regions of which one holds two in a hundred, epsilon 0.5, 1
or 3, and 50 to 100,000 respondents; designs come in turn, with every option that changes a report, and every analysis
is made of each. Interrupted, it goes on where it stopped. A cell is

    right      every number lies within 4.5 of its standard errors of what the same people say undisguised, or, where
               no error can be stated, which is said, in its interval of that level; a test of something true has
               p > 0.01
    refused    with the reason and a way out
    wrong      off, in three surveys of the same kind in a row, each with people and disguise drawn afresh; or refused
               without a way out, or because nobody was asked together although somebody was
    slow       more than a minute of processor time
    crashed    anything else

and the program fails if any is wrong or crashed. The threshold is one of families: were the errors right and the
numbers normal, 7e-6 of them would be off, and 3e-16 three times; were tails so heavy, or a test so discrete, that a
hundredth of all cells is off by chance, a millionth would be wrong: one run in a thousand, of a thousand cells each.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import test_analyses as contract
from scipy.stats import norm

import deniable as dn
from deniable.errors import DeniableError, NotCoveredError
from every_design import answered, every_option

OFF, LIKELY, TIMES = 4.5, 0.01, 3  # standard errors, a p-value, and how often in a row
SECONDS = 60
EPSILONS, SIZES = (0.5, 1.0, 3.0), (50, 400, 30_000, 100_000)
SKEWS = (None, (0.9, 0.085, 0.015), (0.6, 0.3, 0.1), (0.97, 0.02, 0.01))
RATIOS = ("odds_ratio", "risk_ratio")  # whose logarithm is normal, if anything is
# What is asked here besides: public groups, of which one is rare; numbers on numbers, of so many respondents.
REGIONS = {
    "logit with regions": (dn.logit, {"formula": "c ~ a + C(region)"}, "Regression"),
    "linear with regions": (dn.linear, {"formula": "b ~ a + C(region)"}, "Regression"),
}
OF = {f"{name}, n {n}": n for n in (1_000, 4_000, 20_000) for name in ("linear of numbers", "correlate numbers")}
NUMBERS = {
    name: (dn.linear, {"formula": "b ~ a + z"}, "Regression")
    if name.startswith("linear")
    else (dn.correlate, {"x": "b", "y": "a"}, "Regression")
    for name in OF
}
NAMES = list(every_option(contract.DOMAIN, contract.DRAWN))
LEADS_ON = (
    r"[Uu]se |[Aa]sk |[Tt]ry |Join groups|[Gg]ive |[Dd]rop |Independent|Joint|fewer|[Mm]ore respondents"
    r"|the domain has|they have|columns are|reports speak of"  # what there is instead of a name that there is not
)


class SlowError(Exception):
    """More than a minute."""


class UndefinedError(Exception):
    """A measure that the estimate leaves without a value."""


def kinds(seed, number):
    """What survey `number` is like: its domain, the shares that stand behind it, epsilon, size and design."""
    rng = np.random.default_rng([seed, number])
    domain = {"a": ["no", "yes"], "b": list(range(rng.integers(2, 6))), "c": ["no", "yes"]}
    if rng.random() < 0.5:
        domain["d"] = list(range(rng.integers(2, 6)))
    name = NAMES[number % len(NAMES)]
    return dn.Domain(domain), rng, EPSILONS[rng.integers(3)], SIZES[rng.integers(len(SIZES))], name


def shares(rng, size):
    """Of a few categories: even, or skewed, in any order."""
    skew = SKEWS[rng.integers(len(SKEWS))]
    if skew is None or size == 2:
        lean = rng.choice([0.5, 0.7, 0.9, 0.97])
        return rng.permutation([lean, 1 - lean]) if size == 2 else np.full(size, 1 / size)
    return rng.permutation(
        np.append(np.array(skew) * (0.9 if size > 3 else 1), np.full(size - 3, 0.1 / max(size - 3, 1)))
    )


class Kind:
    """A population to draw people from: as the contract's, the models of all regressions are true of it."""

    def __init__(self, domain, rng):
        self.domain = domain
        self.a, self.b, self.c, self.d = (shares(rng, len(domain[x])) if x in domain else None for x in "abcd")
        self.moves = rng.normal(size=(3, max(len(v) for v in domain.values())))
        self.slope, self.lean = rng.choice([-1, 1]) * rng.uniform(0.5, 2), rng.uniform(0.5, 1.5)

    def people(self, n, rng, related):
        """Truths and public columns of n people."""
        z = rng.integers(-1, 2, n)
        moved = float(related)
        a = rng.random(n) < _logistic(np.log(self.a[1] / self.a[0]) + 0.4 * z * moved)
        c = rng.random(n) < _logistic(np.log(self.c[1] / self.c[0]) + moved * (self.slope * (a - self.a[1]) + 0.5 * z))
        found = {"a": np.array(["no", "yes"])[a.astype(int)], "c": np.array(["no", "yes"])[c.astype(int)], "z": z}
        power = np.log(self.b) + moved * self.moves[0, : len(self.b)] * a[:, None]
        found["b"] = np.asarray(self.domain["b"].categories)[
            _drawn(power + moved * self.moves[1, : len(self.b)] * c[:, None], rng)
        ]
        if self.d is not None:
            of_d = np.log(self.d) + moved * self.moves[2, : len(self.d)] * a[:, None]
            found["d"] = np.asarray(self.domain["d"].categories)[_drawn(of_d, rng)]
        found["high"] = (rng.random(n) < 0.2 + 0.5 * (a if related else 0.5)).astype(int)
        found["region"] = np.where(rng.random(n) < 0.02, "rare", np.char.add("r", rng.integers(0, 9, n).astype(str)))
        found["w"] = np.round(self.lean * moved * a + rng.normal(size=n), 1)
        return pd.DataFrame(found)

    def table(self, *names):
        """Shares where nothing is related."""
        found = np.ones(())
        for name in names:
            found = np.multiply.outer(found, getattr(self, name))
        return found


def _logistic(x):
    return 1 / (1 + np.exp(-x))


def _drawn(logs, rng):
    return (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)


def given(name, kind, design):
    """What a call is given here instead of what the contract gives it: b in the place of a, where there is one."""
    has_b, has_d = ("b" in design.domain), ("d" in design.domain)
    first = "b" if has_b else "a"
    return {
        "estimate a": {"attributes": first},
        "estimate a*c": {"attributes": [first, "c"]},
        "goodness_of_fit a": {"attributes": first, "expected": kind.table(first)},
        "goodness_of_fit a*c": {"attributes": [first, "c"], "expected": kind.table(first, "c")},
        "independence": {"a": first, "b": "c"},
        "conditional_independence": {"a": "b", "b": "c", "given": "a"},
        "all_pairs": {"attributes": list(design.domain)},
        "poststratify": {
            "population": pd.DataFrame({"z": [-1, 0, 1] * 2, "a": ["no", "yes"] * 3, "size": [1, 2, 3, 4, 2, 1]})
        },
        **{one: {"formula": "b ~ d + c"} if "linear" in one else {"x": "b", "y": "d"} for one in OF if has_d},
        **{link: {"formula": "c ~ C(z)"} for link in ("probit", "cloglog", "cauchit")},  # true whatever the link
        "logit open": {"formula": "c ~ C(z)"},
    }.get(name, {})


def off(name, group, reports, direct, kind):
    """How far an answer is from the truth, over what is allowed; with the reason where it is more."""
    if group == "Tests":
        result = contract.ask(name, reports, **given(name, kind, reports.design))
        least = min(
            (len(getattr(result, "tests", [])) or 1) * test.pvalue for test in getattr(result, "tests", [result])
        )
        return LIKELY / max(least, 1e-12), f"p = {least:.3g} of something true"
    result, truth = (contract.ask(name, each, **given(name, kind, reports.design)) for each in (reports, direct))
    if isinstance(result, dn.Measure) and not np.isfinite(result.std_error) and np.isfinite(truth.value):
        return outside(result, truth.value)
    (values, errors), (true, _) = contract.numbers(result, reports), contract.numbers(truth, direct)
    if isinstance(result, dn.Numbers) and len(values) < len(true):  # nobody is estimated to be in the other groups
        there = np.isfinite(result.values.ravel())
        true = truth.values.ravel()[there]
    if (np.isnan(values).all() and np.isnan(errors).all()) or not np.isfinite(true).all():
        raise UndefinedError
    if len(values) != len(true) or not (np.isfinite(values) & np.isfinite(errors) & (errors > 0)).all():
        return np.inf, f"values {values}, errors {errors}, in truth {true}"
    if name in RATIOS and (np.append(values, true) > 0).all():
        values, true, errors = np.log(values), np.log(true), errors / values
    away = np.abs(values - true) / errors
    worst = int(away.argmax())
    return away[worst] / OFF, f"{values[worst]:.4g} +- {errors[worst]:.3g} instead of {true[worst]:.4g}"


def outside(result, true):
    """Where no error can be stated, the interval must hold the truth, at the level of `OFF` errors, and say why."""
    interval = result.interval(1 - 2 * norm.sf(OFF))
    held = interval.low - 1e-9 <= true <= interval.high + 1e-9 and bool(result.warnings)
    return (0.0 if held else np.inf), f"{interval}, told {result.warnings}, instead of {true:.4g}"


def cell(name, draw, kind):
    """What comes of one analysis, and why."""
    _, _, group = contract.ANALYSES[name]
    told = ""
    for again in range(TIMES):
        reports, direct = draw(again, group)
        try:
            far, told = off(name, group, reports, direct, kind)
        except SlowError:
            return "slow", f"more than {SECONDS} s"
        except UndefinedError:
            return "refused", "undefined: not a number, and its error neither, or the people themselves have none"
        except DeniableError as error:
            return refusal(name, reports, error)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            return "crashed", f"{type(error).__name__}: {error}"
        if far <= 1:
            return "right", f"{far:.2f}"
    return "wrong", told


def refusal(name, reports, error):
    """Whether a refusal is a true one, with a way out."""
    said = f"{type(error).__name__}: {error}"
    if not re.search(LEADS_ON, str(error)):
        return "wrong", f"no way out in: {said}"
    together = not isinstance(error, NotCoveredError) or not reports.design.covers(list(reports.design.domain))
    return ("refused", said) if together else ("wrong", f"somebody was asked: {said}")


def survey(seed, number):
    """Make all analyses of one survey; a line for each."""
    domain, rng, epsilon, size, name = kinds(seed, number)
    kind = Kind(domain, rng)
    surveys = {}

    def draw(again, group, n=size):
        key = again, group == "Tests", n
        if key not in surveys:
            drawn = np.random.default_rng([seed, number, again])
            design = every_option(domain, n, block_size=max(20, n // 10), epsilon=epsilon)[name]
            people = answered(kind.people(n, drawn, related=group != "Tests"), design)
            truths, source = [c for c in people if c in design.domain], dn.Seeded(int(drawn.integers(1 << 30)))
            keep = ["z", "high", "w", "region"]
            surveys[key] = (
                design.randomize(people[[*truths, *keep]], keep=keep, source=source),
                dn.Joint(design.domain, 16.0).randomize(people[[*truths, *keep]], keep=keep, source=source),
            )
        return surveys[key]

    about = f"{name}, {' x '.join(str(len(v)) for v in domain.values())}, epsilon {epsilon}, n {size}"
    for analysis in contract.ANALYSES:
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            what, why = cell(analysis, partial(draw, n=OF.get(analysis, size)), kind)
        except SlowError:
            what, why = "slow", f"more than {SECONDS} s"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        yield {
            "survey": number,
            "design": name,
            "about": about,
            "analysis": analysis,
            "what": what,
            "why": why,
            "seconds": round(time.process_time() - began, 2),
        }


def main():
    """Make surveys, say how they go, and fail if something is wrong."""
    contract.ANALYSES |= REGIONS | NUMBERS  # only here: tests that look for modules' examples read this file too
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="another one is another matrix")
    parser.add_argument("--surveys", type=int, default=len(NAMES), help="designs come in turn")
    parser.add_argument("--only", help="surveys of one design")
    parser.add_argument("--keep", type=Path, default=Path("build/held_back.jsonl"), help="what is done, to go on from")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_slow)
    chosen.keep.parent.mkdir(parents=True, exist_ok=True)
    every = [json.loads(line) for line in chosen.keep.read_text().splitlines()] if chosen.keep.exists() else []
    every = [line for line in every if line["seed"] == chosen.seed]
    done = {line["survey"] for line in every}
    for number in range(chosen.surveys):
        if number in done or chosen.only not in (None, NAMES[number % len(NAMES)]):
            continue
        lines = [{"seed": chosen.seed, **line} for line in survey(chosen.seed, number)]
        with chosen.keep.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        every += lines
        counts = Counter(line["what"] for line in lines)
        say(f"{number + 1}/{chosen.surveys} {lines[0]['about']}: {told(counts)}")
        for line in lines:
            if line["what"] not in ("right", "refused"):
                say(f"    {line['what']}: {line['analysis']}: {line['why'][:300]} ({line['seconds']} s)")
    return conclude(every)


def _too_slow(*_):
    raise SlowError


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def told(counts):
    """Counts in words."""
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def conclude(every):
    """A table of designs, the reasons of refusals, and whether it is well."""
    say("\n" + told(Counter(line["what"] for line in every)))
    for design in NAMES:
        here = Counter(line["what"] for line in every if line["design"] == design)
        say(f"  {design}: {told(here)}")
    say("refused:")
    reasons = Counter(
        (line["analysis"].split()[0], re.sub(r"[\d.]+", "#", line["why"])[:110])
        for line in every
        if line["what"] == "refused"
    )
    for (analysis, why), count in reasons.most_common():
        say(f"  {count} x {analysis}: {why}")
    return int(any(line["what"] in ("wrong", "crashed") for line in every))


if __name__ == "__main__":
    sys.exit(main())
