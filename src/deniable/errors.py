"""Every exception of the package, and the exit code each one gives the command line.

::

    DeniableError                   1   anything this package raises on purpose
    |-- InputError                  3   the data does not fit what was declared
    |   |-- MissingColumnError          a column of the domain is not in the frame
    |   |-- MissingValueError           a cell is empty
    |   |-- UnknownCategoryError        a value is not among the declared categories
    |   |-- FormulaError                a regression formula cannot be read
    |   |-- SurveyError                 a survey file does not say what it must; names the key path
    |   |-- MessageError                bytes from the network are not the message they should be
    |   `-- UnknownAttributeError       a name is not an attribute of the domain
    |-- DesignError                 4   a channel or design cannot be what was asked for
    |   |-- ProbabilityError            a probability or weight is out of range, a column does not sum
    |   |-- SingularChannelError        the reports carry no information about the truth
    |   |-- NotExecutableError          a channel with a zero weight was to be run by our code
    |   `-- PrecisionError              the requested epsilon cannot be met with 32-bit integers
    |-- EstimationError             5   the reports do not determine what was asked for
    |   |-- NotCoveredError             no question covers the asked attributes together
    |   |-- TooFewReportsError          there are too few reports to estimate from
    |   |-- InvalidTestError            the test would not hold its level on these reports
    |   |-- SingularDesignError         predictors are linear combinations of each other
    |   |-- SeparationError             predictors tell the reports apart without error
    |   |-- DivergenceError             the likelihood is highest at infinity, though nothing is separated
    |   |-- NotIdentifiedError          the channels leave the model's parameters undetermined
    |   `-- ConvergenceError            an iteration stopped before its certificate
    |-- PrivacyError                6   a privacy promise would be broken
    |   |-- OverdrawnError              a respondent's budget does not allow this charge
    |   |-- RefusedDesignError          a served design would not keep its promise; carries a reason code
    |   `-- UnknownEventError           a ledger was given an event it has no rule for
    |-- CollectorError              8   client and collector could not come together
    |   |-- UnreachableError            no answer from the collector; the report is kept and can be sent again
    |   `-- RejectedError               the collector refused the report for good; carries its problem
    |-- StoreError                  9   reports could not be stored, so none was acknowledged
    |   |-- StoreFullError              there is no space left
    |   `-- BusyError                   more reports are waiting than the store can take now
    `-- MissingExtraError           7   an optional dependency is not installed

A message says what is wrong, what was expected and what to do about it. The offending objects are attributes of the
exception, so that a program need not read the prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


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


class FormulaError(InputError):
    """A regression formula cannot be read, or names something that is not there."""


class SurveyError(InputError):
    """A survey file does not say what it must; `path` names the key."""


class MessageError(InputError):
    """Bytes from the network are not the message they should be; `code` says why in one word."""


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


class SingularDesignError(EstimationError):
    """Some predictors are linear combinations of others, so their coefficients cannot be told apart."""


class SeparationError(EstimationError):
    """Some combination of predictors tells the reports apart without error, so a coefficient runs to infinity."""


class DivergenceError(EstimationError):
    """The likelihood is highest at infinity although no predictor separates the reports: noise can do that."""


class NotIdentifiedError(EstimationError):
    """Different parameters give the reports the same distribution."""


class InvalidTestError(EstimationError):
    """The test would not hold its level on these reports; the message names one that does."""


class ConvergenceError(EstimationError):
    """An iteration stopped before its certificate was reached."""


class PrivacyError(DeniableError):
    """A privacy promise would be broken."""

    exit_code = 6


class OverdrawnError(PrivacyError):
    """A respondent's budget does not allow this charge."""


class RefusedDesignError(PrivacyError):
    """A served design would not keep its promise, so this device does not answer it; `code` says why in one word."""


class UnknownEventError(PrivacyError, TypeError):
    """A ledger was given an event it has no rule for."""


class CollectorError(DeniableError):
    """Client and collector could not come together."""

    exit_code = 8


class UnreachableError(CollectorError, ConnectionError):
    """No answer came from the collector; a finished report is kept and can be sent again."""


class RejectedError(CollectorError):
    """The collector refused the report for good; `problem` is what it said."""


class StoreError(DeniableError):
    """Reports could not be stored, so none of them was acknowledged."""

    exit_code = 9


class StoreFullError(StoreError):
    """There is no space left to store reports in."""


class BusyError(StoreError):
    """More reports are waiting than the store can take now; they can be sent again in a moment."""


class MissingExtraError(DeniableError, ImportError):
    """An optional dependency is not installed; the message names the command that installs it."""

    exit_code = 7


class SourcesDifferWarning(UserWarning):
    """Several sources are taken for one population, and their reports say that they are not."""


class SmallCellWarning(UserWarning):
    """Public columns single out so few respondents that these could be recognised."""


def tried(call: Callable[[], T], *kinds: type[Exception]) -> T | Exception:
    """What a call gives, or the exception of one of these kinds that it raises.

    For what handles true answers: a library's message may quote one, and an error raised while another is handled keeps
    it in `__context__`, whatever it was raised from. Raised after this, it does not.

    >>> tried(lambda: int("HIV"), ValueError).args[0][:15]
    'invalid literal'
    """
    try:
        return call()
    except kinds as error:
        return error
