"""Every exception of the package, and the exit code each one gives the command line.

::

    DeniableError                   1   anything this package raises on purpose
    |-- InputError                  3   the data does not fit what was declared
    |   |-- MissingColumnError          a column of the domain is not in the frame
    |   |-- MissingValueError           a cell is empty
    |   |-- UnknownCategoryError        a value is not among the declared categories
    |   `-- UnknownAttributeError       a name is not an attribute of the domain
    |-- DesignError                 4   a channel or design cannot be what was asked for
    |   |-- ProbabilityError            a probability or weight is out of range, a column does not sum
    |   |-- SingularChannelError        the reports carry no information about the truth
    |   |-- NotExecutableError          a channel with a zero weight was to be run by our code
    |   `-- PrecisionError              the requested epsilon cannot be met with 32-bit integers
    |-- EstimationError             5   the reports do not determine what was asked for
    |   |-- NotCoveredError             no question covers the asked attributes together
    |   |-- TooFewReportsError          there are too few reports to estimate from
    |   `-- ConvergenceError            an iteration stopped before its certificate
    |-- PrivacyError                6   a privacy promise would be broken
    |   |-- OverdrawnError              a respondent's budget does not allow this charge
    |   `-- UnknownEventError           a ledger was given an event it has no rule for
    `-- MissingExtraError           7   an optional dependency is not installed

A message says what is wrong, what was expected and what to do about it. The offending objects are attributes of the
exception, so that a program need not read the prose.
"""

from __future__ import annotations


class DeniableError(Exception):
    """Anything this package raises on purpose. Keyword arguments become attributes."""

    exit_code = 1

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __getattr__(self, name: str) -> object:
        # Only reached when normal look-up fails: serve the details as attributes.
        details = self.__dict__.get("details", {})
        if name in details:
            return details[name]
        raise AttributeError(name)


class InputError(DeniableError, ValueError):
    """The data does not fit what was declared."""

    exit_code = 3


class MissingColumnError(InputError):
    """A column of the domain is not in the frame."""


class MissingValueError(InputError):
    """A cell is empty; skipping a question must be a category of its own, or it would be visible."""


class UnknownCategoryError(InputError):
    """A value is not among the declared categories."""


class UnknownAttributeError(InputError, KeyError):
    """A name is not an attribute of the domain."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class DesignError(DeniableError, ValueError):
    """A channel or design cannot be what was asked for."""

    exit_code = 4


class ProbabilityError(DesignError):
    """A probability or weight is out of range, or a column does not sum to the whole."""


class SingularChannelError(DesignError):
    """The reports carry no information about the truth, so nothing can be recovered."""


class NotExecutableError(DesignError):
    """A channel with a zero weight was to be run by our code: its epsilon is infinite."""


class PrecisionError(DesignError):
    """The requested epsilon cannot be met with 32-bit integer weights."""


class EstimationError(DeniableError, ValueError):
    """The reports do not determine what was asked for."""

    exit_code = 5


class NotCoveredError(EstimationError):
    """No question covers the asked attributes together."""


class TooFewReportsError(EstimationError):
    """There are too few reports to estimate from."""


class ConvergenceError(EstimationError):
    """An iteration stopped before its certificate was reached."""


class PrivacyError(DeniableError):
    """A privacy promise would be broken."""

    exit_code = 6


class OverdrawnError(PrivacyError):
    """A respondent's budget does not allow this charge."""


class UnknownEventError(PrivacyError, TypeError):
    """A ledger was given an event it has no rule for."""


class MissingExtraError(DeniableError, ImportError):
    """An optional dependency is not installed; the message names the command that installs it."""

    exit_code = 7


class SmallCellWarning(UserWarning):
    """Public columns single out so few respondents that these could be recognised."""
