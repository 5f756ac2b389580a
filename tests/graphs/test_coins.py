import numpy as np
import pytest

from deniable.core.randomness import Seeded
from deniable.graphs import edges as coins
from deniable.graphs.edges import toss


class Planes:
    """A stream that hands out prepared words: the digits of every draw, last first."""

    def __init__(self, planes):
        self.planes = iter(planes)

    def fill(self, out):
        out[:] = next(self.planes)


@pytest.mark.parametrize("weight", [1, 2, 3, 1179, 17626, 32767, 32768, 65535])
def test_all_65536_draws_lead_where_the_weight_says(weight):
    draws = np.arange(1 << 16)
    planes = [np.packbits(1 - (draws >> place & 1), bitorder="little").view("<u8") for place in range(16)]
    skipped = (weight & -weight).bit_length() - 1
    (words,) = toss(1 << 16, weight, 16, Planes(planes[skipped:]))
    assert np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool).tolist() == (draws < weight).tolist()


@pytest.mark.parametrize("weight", [1, 77309411, (1 << 31) - 1, (1 << 32) - 1])
def test_wide_draws_split_at_the_weight(weight):
    draws = np.array([0, weight - 1, weight, (1 << 32) - 1] * 16, dtype=np.uint64)
    bits = [(draws >> np.uint64(place) & np.uint64(1)).astype(np.uint8) for place in range(32)]
    planes = [np.packbits(1 - bit, bitorder="little").view("<u8") for bit in bits]
    skipped = (weight & -weight).bit_length() - 1
    (words,) = toss(64, weight, 32, Planes(planes[skipped:]))
    assert np.unpackbits(words.view(np.uint8), bitorder="little").tolist() == (draws < weight).astype(int).tolist()


def test_the_coins_of_every_place_and_chunk_show_the_same_share(monkeypatch):
    monkeypatch.setattr(coins, "CHUNK", 1 << 10)
    monkeypatch.setattr(coins, "COINS", 1 << 16)
    chunks = [
        np.unpackbits(words.view(np.uint8), bitorder="little") for words in toss(1 << 22, 1179, 16, Seeded(1).stream())
    ]
    assert [len(chunk) for chunk in chunks] == [1 << 16] * 64
    shares = np.concatenate(chunks).reshape(-1, 64).mean(axis=0)
    q = 1179 / (1 << 16)
    # 64 places, 65536 coins each: 6.5 standard errors, a false alarm below 1e-8.
    assert np.abs(shares - q).max() < 6.5 * (q * (1 - q) / (1 << 16)) ** 0.5


def test_few_coins_take_few_words():
    assert [words.size for words in toss(65, 1, 16, Seeded(1).stream())] == [2]
