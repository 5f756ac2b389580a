"""Where the limits of what a device checks lie, to the last number; reasons and messages are in the vectors."""

from __future__ import annotations

import pytest

from deniable.device.channels.krr import KRRWeights
from deniable.device.protocol.messages import MOST_DESIGN_BYTES, Asked, Attribute, design_id
from deniable.device.verify import _question, verify
from deniable.errors import RefusedDesignError


def asked(first, second):
    domain = {name: Attribute(name, tuple(range(size))) for name, size in (("a", first), ("b", second))}
    return _question(Asked(("a", "b"), KRRWeights(first * second, 1, 32)), domain)


def test_a_question_has_at_most_a_million_possible_answers():
    largest = asked(1024, 1024)
    assert largest.ratio == 2**32 - (2**20 - 1)
    assert tuple(largest.domain) == ("a", "b")
    with pytest.raises(RefusedDesignError, match="more than 1048576 possible answers") as caught:
        asked(1024, 1025)
    assert caught.value.code == "wrong-cells"


@pytest.mark.parametrize(("more", "code"), [(0, "malformed"), (1, "too-large")])
def test_a_device_reads_so_many_bytes_and_no_more(more, code):
    body = b"x" * (MOST_DESIGN_BYTES + more)
    with pytest.raises(RefusedDesignError) as caught:
        verify(body, design_id(body))
    assert caught.value.code == code
