"""Formulas: from "cheated ~ age + C(sex)" and any data frame to a matrix with named columns.

The right-hand side is formulaic's. The left-hand side is the name of a column.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deniable.errors import (
    FormulaError,
    InputError,
    MissingColumnError,
    MissingExtraError,
    MissingValueError,
    SingularDesignError,
    UnknownCategoryError,
)
from deniable.frozen import Frozen, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_BLOCK = 1 << 12


def load_formulaic() -> ModuleType:
    """Import formulaic, or say how to install it."""
    try:
        import formulaic
    except ImportError:
        raise MissingExtraError(
            "formulas need formulaic, which is not installed: pip install 'deniable[regression]'", extra="regression"
        ) from None
    return cast("ModuleType", formulaic)


def as_pandas(frame: Any) -> pd.DataFrame:
    """Any data frame as pandas, rows numbered from 0."""
    import narwhals as nw

    load_formulaic()  # which brings pandas
    try:
        return nw.from_native(frame, eager_only=True).to_pandas().reset_index(drop=True)
    except TypeError:
        raise InputError(f"a data frame is needed, not {type(frame).__name__}") from None


def split(formula: str) -> tuple[str, str]:
    """Part a formula into the outcome's column and the right-hand side.

    >>> split("cheated ~ age + C(sex)")
    ('cheated', 'age + C(sex)')
    """
    left, tilde, right = formula.partition("~")
    if not tilde or not left.strip() or not right.strip():
        raise FormulaError(f'a formula reads "outcome ~ predictors", not {formula!r}', formula=formula)
    return left.strip().strip("`"), right.strip()


def quoted(name: str) -> str:
    """A column's name as a formula takes it.

    >>> quoted("age"), quoted("my age")
    ('age', '`my age`')
    """
    return name if name.isidentifier() and not iskeyword(name) else f"`{name}`"


def _factors(right: str) -> list[dict[str, set[str]]]:
    """The terms of a right-hand side: for each the factors that it is the product of, with the columns they use."""
    formulaic = load_formulaic()
    try:
        return [
            {
                quoted(factor.expr) if factor.eval_method.value == "lookup" else factor.expr: set(
                    map(str, formulaic.Formula([type(term)([factor])]).required_variables)
                )
                for factor in term.factors
            }
            for term in formulaic.Formula(right)
        ]
    except formulaic.errors.FormulaicError as error:
        raise FormulaError(f"the formula {right!r} cannot be read: {_plain(error)}", formula=right) from None


def terms_of(right: str) -> dict[str, set[str]]:
    """The terms of a right-hand side, each with the columns it uses.

    >>> {term: sorted(used) for term, used in terms_of("age + C(sex):age").items()}
    {'1': [], 'age': ['age'], 'C(sex):age': ['age', 'sex']}
    """
    return {":".join(term): set().union(*term.values()) for term in _factors(right)}


def variables_of(right: str) -> set[str]:
    """The columns that a right-hand side uses."""
    return set().union(*terms_of(right).values())


def column_of(data: pd.DataFrame, name: str) -> pd.Series:
    """A column of a pandas frame, or an error that lists what there is."""
    if name not in data.columns:
        raise MissingColumnError(
            f"the frame has no column {name!r}; its columns are {listed(data.columns)}", columns=[name]
        )
    return data[name]


@dataclass(frozen=True, eq=False)
class Design(Frozen):
    """A design matrix, the names of its columns, and how to make the same columns out of other rows."""

    matrix: Array
    terms: tuple[str, ...]
    spec: Any

    @classmethod
    def of(cls, right: str, data: Any) -> Design:
        """Read the right-hand side of a formula on a frame."""
        formulaic = load_formulaic()
        if right.strip() == "1":  # asked for by every model of a disguised predictor
            return cls(readonly(np.ones((len(data), 1))), ("Intercept",), _intercept())
        made = _materialise(lambda: formulaic.model_matrix(right, data, na_action="raise", context={}), right, data)
        matrix, terms = _array(made), tuple(map(str, made.columns))
        infinite = [term for term, column in zip(terms, matrix.T, strict=True) if not np.isfinite(column).all()]
        if infinite:
            raise InputError(f"the predictors {listed(infinite)} are infinite in some rows", terms=infinite)
        return cls(readonly(matrix), terms, made.model_spec)

    def on(self, data: Any) -> Array:
        """The same columns for other rows."""
        if self.terms == ("Intercept",):
            return np.ones((len(data), 1))
        made = _materialise(
            lambda: self.spec.get_model_matrix(data, na_action="raise", context={}), str(self.spec.formula), data
        )
        return _array(made)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the frame that the formula uses, in the formula's order."""
        used = [str(name) for name in self.spec.required_variables]
        text = str(self.spec.formula)
        return tuple(sorted(used, key=text.find))


@cache
def _intercept() -> Any:
    """What formulaic knows of a formula that is an intercept alone."""
    import pandas as pd

    return load_formulaic().model_matrix("1", pd.DataFrame(index=range(1))).model_spec


def _materialise(make: Any, right: str, data: Any) -> Any:
    formulaic = load_formulaic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", formulaic.errors.DataMismatchWarning)
            return make()
    except formulaic.errors.DataMismatchWarning:
        raise UnknownCategoryError(
            f"a predictor in {right!r} holds categories that the model was not fitted with", formula=right
        ) from None
    except formulaic.errors.FormulaicError as error:
        raise FormulaError(
            f"the formula {right!r} cannot be evaluated: {_plain(error)} The frame's columns are "
            f"{listed(data.columns)}",
            formula=right,
        ) from None
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise MissingValueError(
            f"a predictor in {right!r} is missing in some rows; drop or impute these rows first: {error}", formula=right
        ) from None


def _plain(error: Exception) -> str:
    """What formulaic said, without the colours and marks it puts around the place."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[\u29db\u29da]", "", str(error)).split())


def _array(made: Any) -> Array:
    matrix = np.empty(made.shape)
    for place in range(made.shape[1]):  # column by column: pandas would lay all out the other way first
        matrix[:, place] = made.iloc[:, place].to_numpy(dtype=np.float64)
    return matrix


def check_rank(matrix: Array, terms: tuple[str, ...]) -> None:
    """Refuse predictors that are linear combinations of each other, naming them."""
    gram = sum(matrix[i : i + _BLOCK].T @ matrix[i : i + _BLOCK] for i in range(0, len(matrix), _BLOCK))
    scale = np.sqrt(np.diagonal(gram))
    empty = [term for term, size in zip(terms, scale, strict=True) if size == 0]
    if empty:
        raise SingularDesignError(
            f"the columns {listed(empty)} are zero in every row (a category that never occurs?); leave them out",
            terms=empty,
        )
    if np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] > 1e-9:
        return
    # The Gram matrix squares the condition number: decide on the matrix itself.
    _, sizes, right = np.linalg.svd(matrix / scale, full_matrices=False)
    if sizes[-1] > 1e-9 * sizes[0]:
        return
    involved = [term for term, part in zip(terms, right[-1], strict=True) if abs(part) > 1e-6]
    raise SingularDesignError(
        f"the columns {listed(involved)} are linear combinations of each other, so their coefficients cannot be told "
        "apart; leave one of them out",
        terms=involved,
    )


def terms_without(right: str, names: Sequence[str]) -> list[str]:
    """The formula's terms that use none of the named columns, and the intercept.

    A column that stands beside a named one only has a term of its own, as far as it can be parted from that one.

    >>> terms_without("age + x + x:C(sex) + I(x * age) + I(x * size)", ["x"])
    ['1', 'age', 'size', 'C(sex)']
    """
    hidden = set(names)
    free = {term: used for term, used in terms_of(right).items() if not used & hidden}
    known = set().union(*free.values())
    for term in _factors(right):
        for factor, used in term.items():
            left = used - hidden - known
            free |= {quoted(name): {name} for name in sorted(left)} if used & hidden else {factor: used} if left else {}
            known |= left
    return ["1", *(term for term in free if term != "1")]
