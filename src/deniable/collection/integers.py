"""Are the integers of a channel sound? Every kind that devices run has its checks here, in the order of `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from deniable.channels.hadamard import MOST_CATEGORIES
from deniable.channels.hashing import MOST_VALUES, PRIME
from deniable.channels.masks import IN_ONE_NUMBER
from deniable.collection.messages import (
    AdaptiveWeights,
    DenseWeights,
    HadamardWeights,
    HashingWeights,
    KRRWeights,
    MixtureWeights,
    PairedWeights,
    SubsetWeights,
    TwoLevelWeights,
    UnaryWeights,
    Weights,
)
from deniable.designs.blocks.fakes import BITS
from deniable.errors import RefusedDesignError

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTHS = (16, 32)


def refuse(code: str, sentence: str) -> NoReturn:
    """Refuse a design, with the reason as a code and as a sentence."""
    raise RefusedDesignError(f"this design is refused ({code}): {sentence}", code=code)


def truths(weights: Weights, name: str) -> int:  # noqa: C901, PLR0911 - a line a kind, and mypy sees if one is missing
    """Check a channel's integers and return how many truths it has."""
    match weights:
        case KRRWeights():
            return _krr(weights, name)
        case MixtureWeights():
            _column([weights.keep, *weights.fakes], _draws(weights.bits, name), name)
            return len(weights.fakes)
        case DenseWeights():
            return _dense(weights, name)
        case AdaptiveWeights():
            return _adaptive(weights, name)
        case PairedWeights():
            return _paired(weights, name)
        case HadamardWeights():
            return _hadamard(weights, name)
        case UnaryWeights():
            return _unary(weights, name)
        case SubsetWeights():
            return _subset(weights, name)
        case HashingWeights():
            return _hashing(weights, name)
        case TwoLevelWeights():
            return _two_level(weights, name)


def _draws(bits: int, name: str) -> int:
    """How many different draws there are."""
    if bits not in _WIDTHS:
        refuse("wrong-bits", f"question {name!r} draws {bits} bits, not 16 or 32")
    return 1 << bits


def _share(weight: int, whole: int, name: str) -> None:
    """Check a number of draws that is neither none nor all of them."""
    if weight < 1 or weight == whole:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if weight > whole:
        refuse("wrong-sum", f"question {name!r}: {weight} draws are more than {whole}")


def _column(column: Sequence[int], whole: int, name: str) -> None:
    if not column or min(column) < 1:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if sum(column) != whole:
        refuse("wrong-sum", f"question {name!r}: weights sum to {sum(column)}, not to {whole}")


# -- reports that are categories --------------------------------------------------------------------------------------


def _krr(weights: KRRWeights, name: str) -> int:
    whole, k, other = _draws(weights.bits, name), weights.k, weights.other
    if k < 2:
        refuse("wrong-cells", f"question {name!r} has a channel with {k} truths")
    keep = whole - (k - 1) * other
    if other < 1 or keep == 0:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if keep < 0:
        refuse("wrong-sum", f"question {name!r}: {k - 1} times {other} draws are more than {whole}")
    if keep == other:
        refuse("tells-nothing", f"question {name!r}: every answer is reported alike")
    return k


def _dense(weights: DenseWeights, name: str) -> int:
    whole = _draws(weights.bits, name)
    for column in weights.columns:
        if len(column) != len(weights.columns[0]):
            refuse("wrong-sum", f"question {name!r}: the columns of weights have different lengths")
        _column(column, whole, name)
    return len(weights.columns)


def _adaptive(weights: AdaptiveWeights, name: str) -> int:
    whole = _draws(weights.bits, name)
    if weights.bits != BITS:
        refuse("wrong-bits", f"question {name!r}: blocks draw {BITS} bits, not {weights.bits}")
    if min(weights.most_kept, weights.least_fake) < 1:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if weights.most_kept + weights.cells * weights.least_fake > whole:
        refuse("wrong-sum", f"question {name!r}: its limits ask for more than {whole} draws")
    return weights.cells


def _paired(weights: PairedWeights, name: str) -> int:
    lies = _draws(weights.bits, name) - weights.truthful
    if weights.shift < 0 or lies - weights.shift < 0:
        refuse("wrong-sum", f"question {name!r}: the shared coin moves more draws than there are")
    if lies - weights.shift == 0:
        refuse("zero-weight", f"question {name!r}: whoever knows the coin would know some answers for certain")
    if weights.truthful <= lies:
        refuse("tells-nothing", f"question {name!r}: at least half of the answers would be lies")
    return 2


def _hadamard(weights: HadamardWeights, name: str) -> int:
    whole, k = _draws(weights.bits, name), weights.k
    if not 2 <= k <= MOST_CATEGORIES:
        refuse("wrong-cells", f"question {name!r}: a Hadamard matrix for {k} truths")
    both = 2 * whole >> k.bit_length()  # the draws of two columns, one liked and one not
    if weights.other < 1 or weights.other == both:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if weights.other > both:
        refuse("wrong-sum", f"question {name!r}: {weights.other} draws for a column are more than {both} for two")
    if 2 * weights.other >= both:
        refuse("tells-nothing", f"question {name!r}: columns that the truth likes come no more often than others")
    return k


# -- reports that are sets --------------------------------------------------------------------------------------------


def _fits_one_number(k: int, name: str) -> None:
    if not 2 <= k <= IN_ONE_NUMBER:
        refuse("wrong-cells", f"question {name!r}: sets of {k} categories; there are 2 to {IN_ONE_NUMBER}")


def _unary(weights: UnaryWeights, name: str) -> int:
    whole = _draws(weights.bits, name)
    _fits_one_number(weights.k, name)
    _share(weights.own, whole, name)
    _share(weights.other, whole, name)
    if weights.own == weights.other:
        refuse("tells-nothing", f"question {name!r}: every category is in the set alike, whatever the truth")
    return weights.k


def _subset(weights: SubsetWeights, name: str) -> int:
    whole, k, d = _draws(weights.bits, name), weights.k, weights.d
    _fits_one_number(k, name)
    if not 1 <= d < k:
        refuse("wrong-cells", f"question {name!r}: sets of {d} out of {k} categories")
    _share(weights.own, whole, name)
    if weights.own * k == d * whole:
        refuse("tells-nothing", f"question {name!r}: every category is in the set alike, whatever the truth")
    return k


def _hashing(weights: HashingWeights, name: str) -> int:
    values = _mostly_true(weights.value, name)
    if not 2 <= weights.k <= PRIME or values > MOST_VALUES:
        refuse("wrong-cells", f"question {name!r}: {weights.k} categories hashed to {values} values")
    return weights.k


def _two_level(weights: TwoLevelWeights, name: str) -> int:
    k = truths(weights.first, name)
    if _mostly_true(weights.again, name) != 2:
        refuse("wrong-cells", f"question {name!r}: a bit of a set has two values, not {weights.again.k}")
    return k


def _mostly_true(weights: KRRWeights, name: str) -> int:
    """Check the k-RR of a part of the report, which must keep what it is given more often than anything else."""
    k = _krr(weights, name)
    if k * weights.other > 1 << weights.bits:
        refuse("tells-nothing", f"question {name!r}: what is kept of a report comes less often than what is not")
    return k
