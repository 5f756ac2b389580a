"""Numbers that an independent recomputation of the papers found, beside ours.

It was made with other programs, other seeds and partly other readings, and rounded. So a number agrees when ours lies
within `within` of it (its rounding and Monte Carlo error, relative) and three standard errors of ours. Where it does
not, `why` says what the difference comes from, and names the line that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reproduction.record import Line

_SIGMAS = 3.0


@dataclass(frozen=True)
class Reference:
    """A number, the item and line it is compared with, how exact it is, and why ours is another one."""

    item: str
    line: str
    value: float
    within: float
    why: str = ""

    def agrees(self, ours: Line) -> bool:
        """Whether our number is the same one, within the errors of both.

        >>> from reproduction.record import Line
        >>> Reference("jrr heat-maps", "m = 0: over RR's", 0.661, 0.002).agrees(Line("m = 0: over RR's", 0.6610))
        True
        """
        return abs(ours.ours - self.value) <= self.within * abs(self.value) + _SIGMAS * ours.error


def _by_size(name: str, way: str, values: tuple[float, ...]) -> dict[str, float]:
    return {f"{name} {k}-way: {way}": value for k, value in enumerate(values, start=2)}


_TABLE_5 = {
    **_by_size("survey", "l2, pooled", (139, 164, 172)),
    **_by_size("survey", "l2, literal: last two blocks", (534, 695, 752)),
    **_by_size("survey", "l2, Laplace 2|T|/eps", (61, 174, 490)),
    **_by_size("survey", "l2, Laplace 2/eps, central", (13, 21, 31)),
    **_by_size("survey", "JS, pooled", (0.016, 0.025, 0.039)),
    "alarm 2-way: l2, pooled": 91,
    "alarm 2-way: l2, Laplace 2|T|/eps": 54,
}
_TABLE_6 = {
    **_by_size("survey", "l2, pooled", (104, 126, 135)),
    **_by_size("survey", "l2, literal: last two blocks", (500, 559, 594)),
    **_by_size("survey", "l2, Laplace 2|T|/eps", (40, 121, 364)),
    **_by_size("survey", "l2, Laplace 2/eps, central", (10, 15, 23)),
    **_by_size("survey", "JS, pooled", (0.011, 0.018, 0.029)),
    **_by_size("survey", "l2, subset selection at the true epsilon, closed form", (548, 876, 1328)),
    **_by_size("alarm", "l2, pooled", (67, 85, 95)),
    **_by_size("alarm", "l2, literal: last two blocks", (304, 370, 418)),
    **_by_size("alarm", "l2, Laplace 2|T|/eps", (39, 120, 356)),
    **_by_size("alarm", "l2, Laplace 2/eps, central", (10, 15, 22)),
    **_by_size("alarm", "JS, pooled", (0.013, 0.023, 0.034)),
}
_TABLE_4 = {
    f"{k}-way: {reading}, %": value
    for reading, values in {
        "pooled, p = .5": (96, 96, 96),
        "literal: last two blocks, p = .5": (56, 52, 52),
        "pooled, p = .221 (eq 6)": (72, 63, 60),
        "k-RR at the true epsilon": (52, 50, 50),
        "MCIndep with 2/eps (central)": (97, 98, 96),
    }.items()
    for k, value in enumerate(values, start=2)
}
_ZERO, _SURE = (
    f"each answers every table: {what}" for what in ("tables sent with a zero", "clients with a certain answer")
)
_TV = "total variation"
_SYNTHETIC = {
    f"epsilon {epsilon:g}, m = {m}, f = {f:g}: variance over RR's": value
    for (epsilon, m), values in {
        (0.1, 0): (0.095, 0.166, 0.421, 0.674, 0.855, 1.0),
        (1.0, 0): (0.632, 0.661, 0.765, 0.868, 0.941, 1.0),
        (1.0, 500): (0.709, 0.745, 0.875, 1, 1, 1),
    }.items()
    for f, value in zip((0, 0.02, 0.1, 0.2, 0.3, 0.5), values, strict=True)
}
_ESTIMATES = {
    f"{table}: MSE, {method}": value
    for table, values in {
        "sex x income": (4.1e-5, 4.1e-5, 4.1e-5, 2.0e-3, 5.6e-5),
        "education x occupation": (1.1e-3, 1.7e-4, 6.8e-5, 2.5e-5, 2.5e-5),
        "sex x income x race x education": (9.5e-4, 1.2e-4, 2.0e-5, 1.2e-5, 1.4e-5),
    }.items()
    for method, value in zip(("raw", "Norm-Sub", "likelihood", "product", "James-Stein"), values, strict=True)
}
_MAE = ("RR-Ind", "RR-Ind-Joint", "RR-Ind-Joint, projected", "RR-Ind-Joint, likelihood", "RR-Joint",
        "RR-Joint, projected")  # fmt: skip
_BY_N = {
    f"MAE of {method}, n = {n}": value
    for n, values in {
        1000: (0.012, 0.106, 0.017, 0.014, 0.041, 0.013),
        100_000: (0.0086, 0.0105, 0.0063, 0.0057, 0.0042, 0.0033),
    }.items()
    for method, value in zip(_MAE, values, strict=True)
}

# Item -> (relative error of the reference, its numbers by line).
_NUMBERS: Mapping[str, tuple[float, Mapping[str, float]]] = {
    "rrba views": (0.0, {"d = 37, k = 3: views": 666, "d = 37, k = 3: fewest possible": 648}),
    "rrba figure-4": (0.005, {f"p = .5, {t} cells: true epsilon": v for t, v in ((4, 1.61), (16, 2.83), (36, 3.61))}),
    "rrba true-epsilon": (
        0.05,
        {
            f"survey, blocks of 250, {_ZERO}": 0.16,
            f"alarm, blocks of 250, {_ZERO}": 0.70,
            f"alarm, blocks of 18, {_ZERO}": 0.91,
            f"survey, blocks of 250, {_SURE}": 0.008,
            f"alarm, blocks of 250, {_SURE}": 0.09,
            f"alarm, blocks of 18, {_SURE}": 0.57,
        },
    ),
    "rrba equal-epsilon": (1e-3, {"an adapted T improves on even fakes: least variance ratio in all cases": 1.00004}),
    "rrba one-or-all": (
        0.04,
        {
            **{
                f"survey, total epsilon {e:g}: MSE of all over MSE of one": v
                for e, v in ((0.5, 3.7), (1, 4.3), (2, 4.8), (4, 2.7))
            },
            "child, total epsilon 0.5: MSE of all over MSE of one": 14,
            "child, total epsilon 2: MSE of all over MSE of one": 30,
            "alarm, total epsilon 0.5: MSE of all over MSE of one": 26,
            "alarm, total epsilon 2: MSE of all over MSE of one": 58,
            **{
                f"alarm, 16 cells, epsilon {e:g}: MSE of subset selection over k-RR's": v
                for e, v in ((0.5, 0.36), (1, 0.52), (2, 0.88))
            },
            "9 even cells, epsilon 1: MSE of subset selection over k-RR's": 0.77,
        },
    ),
    "rrba block-estimators": (
        0.15,
        {
            "survey, 2-way, T from last: last two blocks over pooled": 21,
            "survey, 2-way, T from last: all reports, last T over pooled": 45,
            "survey, 3-way, T from last: all reports, last T over pooled": 45,
            "survey, 2-way: maximum likelihood over pooled": 0.93,
            "alarm, 2-way: maximum likelihood over pooled": 0.93,
        },
    ),
    "rrba consistency": (
        0.1,
        {
            "the quadratic program has a solution: share of cases without": 1,
            f"Survey, 1600 a pair: {_TV}, product, margins of all pairs": 0.039,
            f"Survey, 1600 a pair: {_TV}, qp, the best fit of smallest norm": 0.058,
            f"Survey, 1600 a pair: {_TV}, ipf": 0.054,
            f"Survey, 1600 a pair: {_TV}, graphical (mbi)": 0.048,
            f"Survey, 8000 a pair: {_TV}, product, margins of all pairs": 0.036,
            f"Survey, 8000 a pair: {_TV}, qp, the best fit of smallest norm": 0.036,
            f"Survey, 8000 a pair: {_TV}, ipf": 0.021,
            f"Survey, 8000 a pair: {_TV}, graphical (mbi)": 0.019,
            f"Alarm, families, n = 80000: {_TV}, product": 0.304,
            f"Alarm, families, n = 80000: {_TV}, qp, the best fit of smallest norm": 0.050,
            f"Alarm, families, n = 80000: {_TV}, ipf": 0.052,
            f"Alarm, families, n = 80000: {_TV}, one graphical model (mbi) of all attributes, junction tree of at "
            f"most 500 cells": 0.140,
        },
    ),
    "rrba table-3": (0.0, {"alarm: categories": 105}),
    "rrba figure-6": (
        0.05,
        {
            "p <= .095: no run converges: largest share surviving": 0,
            "p = .221: all converge with 150 and 250: least share surviving": 0.47,
            "p = .221: largest share surviving with 150 and 250": 1,
        },
    ),
    "rrba table-4": (0.04, _TABLE_4),
    "rrba table-5": (0.08, _TABLE_5),
    "rrba table-6": (0.08, _TABLE_6),
    "jrr example": (0.005, {"RR: variance of the number of yeses": 0.32, "JRR: variance of the number of yeses": 0.24}),
    "jrr utility-theorem": (0.0, {"the variance theorem: largest |z| of simulated variances": 1.9}),
    "jrr privacy-theorem": (
        0.005,
        {
            "n = 6, m = 2, corner: by enumeration": 1.735,
            "the same, against the actual partner": 1.83,
            "the same, against who knows the shared coin": 2.43,
            "corner, m = 500: delta at the claimed epsilon, colluders": 0.0142,
            "corner, m = 500: the same if they know the coin": 0.025,
            "claimed .1, n = 1000: who knows all other truths, delta 1e-6": 1.26,
            "claimed .1, n = 10000: who knows all other truths, delta 1e-6": 0.337,
            "one person, two items, epsilon 1 each, no correlation: epsilon of the person": 2.0,
            "one person, two items, epsilon 1 each, half of the corner: epsilon of the person": 2.62,
        },
    ),
    "jrr heat-maps": (
        0.002,
        {
            "m = 0: best p": 0.7311,
            "m = 0: best rho": -0.3679,
            "m = 0: variance": 6085,
            "m = 0: over RR's": 0.661,
            "m = 500: best p": 0.7169,
            "m = 500: best rho": -0.3949,
            "m = 500: variance": 6860,
            "m = 500: over RR's": 0.745,
            "m = 1000: over RR's": 0.854,
            "m = 2000: best rho": 0,
            "m = 2000: corner over RR's": 1.204,
        },
    ),
    "jrr synthetic": (0.006, _SYNTHETIC),
    "jrr public-data": (
        0.02,
        {
            "480 of 10000, 5 colluders, epsilon 0.1: variance over RR's, on the authors' grid": 0.69,
            "480 of 10000, 5 colluders, epsilon 0.1: variance over RR's, optimum": 0.26,
        },
    ),
    "jrr categories": (0.02, {"k = 8, f = 0.03, epsilon 1: ratio of a rare category, about": 0.47}),
    "wang design-matrices": (
        0.005,
        {
            "binary Laplace, nominal epsilon 1: true epsilon": 0.832,
            "binary Laplace, nominal epsilon 5: true epsilon": 3.15,
            "eq 21 as printed, t = 6, epsilon 1: true epsilon": 23.1,
            **{
                f"t = 6, even shares, true epsilon {e}: trace of dispersion, Laplace over RR": v
                for e, v in ((1, 181), (2, 97), (5, 16.4))
            },
        },
    ),
    "wang theorems-2-4": (
        0.002,
        {
            "epsilon 1, share .3: error of a guess drawn from the posterior": 0.342,
            "epsilon 1, share .3: error of the likeliest": 0.269,
            "Theorem 4, half in either end category: error of RR": 0.449,
            "Theorem 4, half in either end category: error of LM": 0.415,
        },
    ),
    "wang figure-2": (0.03, {f"LM over RR, epsilon {e}": v for e, v in ((1, 202), (2, 120), (5, 25), (8, 7))}),
    "wang figure-3": (
        0.03,
        {
            f"delta method at the true shares over the real error, n = 248, epsilon {e}": v
            for e, v in ((1, 1.59), (2, 1.11), (5, 0.96))
        },
    ),
    "wang figure-4": (
        0.02,
        {"no association, Adult's margins, half of the truths kept: mean chi-square, likelihood": 6176},
    ),
    "wang denser-graph": (
        0.05,
        {
            "triangles: error of answering none at all": 13.9,
            **{
                f"degrees, epsilon {e}: {method}": v
                for e, values in ((2, (3.87, 4.21, 4.52, 3.05, 1.0)), (4, (1.97, 3.34, 1.45, 1.37, 0.5)))
                for method, v in zip(
                    ("RR, resampled", "LM, resampled", "RR, unbiased", "RR, shrunk", "LM-global (central)"),
                    values,
                    strict=True,
                )
            },
            "triangles, epsilon 4: RR, resampled": 8.66,
            "triangles, epsilon 4: LM, resampled": 12.4,
            "triangles, epsilon 4: RR, unbiased": 1.69,
            "triangles, epsilon 4: LM-smooth as one number (no guarantee)": 19.5,
            "triangles, epsilon 4: LM-global (central)": 134,
        },
    ),
    "rr-ind-joint section-3-3": (
        0.001,
        {"estimate of a1 b1": 0.45, "estimate of a1 b2": 0.05, "MAE of RR-Ind-Joint": 0.075},
    ),
    "rr-ind-joint section-3-4": (0.002, {"true epsilon, literal q, d = 2": 1.86}),
    "rr-ind-joint figure-7": (0.03, {**_BY_N, "slope of log MAE in log n beyond 1000": -0.499}),
    "rr-ind-joint break-even": (
        0.03,
        {f"respondents at which MAE is equal, d = {d}": v for d, v in ((2, 78), (5, 4.1e3), (10, 1.5e5), (20, 7e6))},
    ),
    "rr-ind-joint table-1": (
        0.03,
        {
            "sex x income: V": 0.2159802,
            "sex x race: V": 0.1181155,
            "education x occupation: V": 0.1873341,
            "sex x income: MSE of RR-Ind, no sampling": 1.888e-3,
            "sex x race: MSE of RR-Ind, no sampling": 1.105e-4,
            "education x occupation: MSE of RR-Ind, no sampling": 2.148e-5,
            "sex x income: MSE of RR-Ind-Joint, coins tossed": 4.0e-5,
            "sex x race: MSE of RR-Ind-Joint, coins tossed": 2.3e-5,
            "education x occupation: MSE of RR-Ind-Joint, coins tossed": 1.7e-6,
        },
    ),
    "rr-ind-joint adult-estimators": (0.05, _ESTIMATES),
    "rr-ind-joint equal-budget": (0.01, {"margin, 10 x 10, total epsilon 1: RR-Joint's MSE over ours": 13}),
    "choose association": (
        0.05,
        {
            "2x2: noncentrality of one channel for the pair over two channels of their own": 25,
            "3x4: noncentrality of one channel for the pair over two channels of their own": 25,
            "6x8, n = 40,000: power of Wald's test for large n, k-RR of the pair": 0.19,
            "6x8, n = 40,000: power of Wald's test for large n, unary encoding of the pair": 0.93,
            "2x2 with shares .05 and .1, n = 2000: plugged-in odds ratio undefined": 0.47,
            "3x2x2, 500 a pair, any population: reconciled pairs are the margins of no table": 0.53,
        },
    ),
}

# Why ours is another number, by item and the beginning of the line.
_WHY: Mapping[tuple[str, str], str] = {
    ("rrba views", "d = 37"): "another greedy order; both lie within 5% of the fewest possible",
    ("rrba true-epsilon", ""): "floats compared with 0 miss zeros that a projection leaves as 1e-17: so counted (the "
    "next line of the item) ours is smaller than theirs, counted rightly larger",
    ("rrba true-epsilon", f"survey, blocks of 250, {_SURE}"): "a few clients in a thousand, in clusters of the same "
    "table: surveys of 8000 differ from each other by about as much",
    ("rrba true-epsilon", f"alarm, blocks of 250, {_SURE}"): "follows the zeros",
    ("rrba true-epsilon", f"alarm, blocks of 18, {_SURE}"): "follows the zeros",
    ("rrba block-estimators", "survey"): "theirs is a range over tables, 18 to 24, 40 to 50 and .87 to .98",
    ("rrba block-estimators", "alarm"): "theirs is a range over tables, .87 to .98",
    ("rrba consistency", "Survey, 1600"): "one survey's triples share their noise",
    ("rrba consistency", "Survey, 8000"): "the nearest of the graphical fits differ by the number of their steps; the "
    "log-linear line is the same model fitted by likelihood",
    ("rrba consistency", "Alarm"): "which two parents are taken, and how many pairs the tree of one model can hold",
    ("rrba figure-6", "p = .221"): "a share of survivors at the edge of stability; theirs is .47 to 1 over block sizes",
    ("rrba table-4", ""): "their number rests on 100 + 100 decisions: a standard error of 1.5 to 3.5 points",
    ("rrba table-5", ""): "which tables are drawn: distances vary between tables by a factor of two",
    ("rrba table-6", ""): "which tables are drawn: distances vary between tables by a factor of two",
    ("jrr utility-theorem", ""): "the largest of 21 |z| in other draws; 3 or more would be rare",
    ("wang figure-2", ""): "theirs is rounded to a whole number",
    ("wang denser-graph", ""): "another graph with the same numbers of nodes, edges and triangles",
    ("rr-ind-joint figure-7", ""): "theirs has two digits",
    ("rr-ind-joint break-even", "respondents at which MAE is equal, d = 2"): "without the sampling noise of RR-Ind "
    "itself it is 85; with it the two are equal at 78 (last line of the item)",
    ("rr-ind-joint adult-estimators", "sex x income"): "the closed form is 5.4e-5; a survey's error varies as much as "
    "it is large, so that a mean over few surveys may well be 4.1e-5",
    ("rr-ind-joint adult-estimators", "education x occupation: MSE, likelihood"): "theirs is an EM that stopped on its "
    "way: plain EM until a step moves less than 5e-5 gives 7e-5 (a line of the item), the certified optimum 8.9e-5",
    ("rr-ind-joint adult-estimators", "sex x income x race x education: MSE, likelihood"): "theirs is an EM that "
    "stopped on its way: plain EM until a step moves less than 5e-5 gives 2.1e-5 (a line of the item)",
    ("rr-ind-joint adult-estimators", "education x occupation: MSE, Norm-Sub"): "few surveys there; ours is a mean "
    "of 60",
    ("choose association", "2x2:"): "theirs is 'about 25' over both tables",
    ("choose association", "6x8"): "theirs does not state the association; ours moves every cell, so that k-RR has "
    "about their power",
    ("choose association", "3x2x2"): "theirs does not state the population; ours draws one each time",
}


def references() -> Iterator[Reference]:
    """All of them, in the order of the papers."""
    for item, (within, numbers) in _NUMBERS.items():
        for line, value in numbers.items():
            told = [why for (of, start), why in _WHY.items() if of == item and line.startswith(start)]
            yield Reference(item, line, value, within, told[-1] if told else "")
