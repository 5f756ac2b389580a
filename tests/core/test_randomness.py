"""Random bits: uniform, never shared between workers, and seeded only where a simulation asks for it."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import deniable
from deniable.channels.krr import KRR
from deniable.core.randomness import SECURE, Seeded, Stream
from deniable.errors import DesignError

# Tests on the secure source cannot be seeded. This p-value is asked for at most about a hundred times, and a failure is
# drawn again once, so sound bits fail with probability below 100 x (1e-6)^2.
SUSPICIOUS = 1e-6
BLOCK = 16  # bytes of one AES block: a repeated block is a repeated stream


def plausible(pvalue):
    """Draw once more when the first p-value is suspicious."""
    return pvalue() >= SUSPICIOUS or pvalue() >= SUSPICIOUS


def uniform_pvalue(values, cells):
    return stats.chisquare(np.bincount(values, minlength=cells)).pvalue


def drawn(_=None):
    """Streams as long calls and short ones (which ask the operating system itself) draw them."""
    long = SECURE.stream().words(1 << 16, 8).tobytes()
    short = b"".join(SECURE.stream().words(BLOCK, 8).tobytes() for _ in range(100))
    return long + short


def randomized(_=None):
    return KRR(4, 1.0).randomize(np.zeros(5000, dtype=np.uint8)).tobytes()


def in_forks(work, count):
    """Run work in `count` children forked from this very process, whose state they inherit."""
    results = []
    for _ in range(count):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                pipe.write(work())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            results.append(pipe.read())
        os.waitpid(child, 0)
    return results


def in_pool(method):
    def run(work, count):
        with multiprocessing.get_context(method).Pool(count) as pool:
            return pool.map(work, range(count), chunksize=1)

    return run


def in_threads(work, count):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


WORKERS = {"os.fork": in_forks, "fork": in_pool("fork"), "threads": in_threads}
# Forking warns where threads are about; here that is the point.
forking = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


# Another test in this process may have imported JAX, which warns of every fork.
@pytest.mark.filterwarnings(r"ignore:os.fork\(\) was called:RuntimeWarning")
@forking
@pytest.mark.parametrize("workers", WORKERS.values(), ids=WORKERS)
def test_no_two_workers_share_a_stream(workers):
    before = drawn()
    streams = [before, *workers(drawn, 4), drawn()]
    blocks = [stream[i : i + BLOCK] for stream in streams for i in range(0, len(stream), BLOCK)]
    assert len(set(blocks)) == len(blocks) == 6 * len(before) // BLOCK


def test_spawned_workers_share_no_stream():
    # What a spawned worker runs must be importable, so methods of the library stand in for this file's functions.
    codes = np.zeros(5000, dtype=np.uint8)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        streams = [words.tobytes() for words in pool.starmap(Stream().words, [(1 << 16, 8)] * 4, chunksize=1)]
        reports = pool.map(KRR(4, 1.0).randomize, [codes, codes], chunksize=1)
    blocks = [stream[i : i + BLOCK] for stream in streams for i in range(0, len(stream), BLOCK)]
    assert len(set(blocks)) == len(blocks)
    assert np.mean(reports[0] == reports[1]) < 0.45


# Another test in this process may have imported JAX, which warns of every fork.
@pytest.mark.filterwarnings(r"ignore:os.fork\(\) was called:RuntimeWarning")
@forking
@pytest.mark.parametrize("workers", WORKERS.values(), ids=WORKERS)
def test_two_workers_disguise_the_same_answers_differently(workers):
    randomized()
    reports = workers(randomized, 2)
    assert reports[0] != reports[1]
    # Independent draws agree in about p^2 + 3 q^2 of the answers, not in nearly all of them.
    same = np.mean(np.frombuffer(reports[0], np.uint8) == np.frombuffer(reports[1], np.uint8))
    assert same < 0.45


def test_two_streams_of_the_secure_source_differ():
    assert drawn() != drawn()


# -- the seeded source ----------------------------------------------------------------------------------------------


def test_a_seed_repeats_exactly_and_continues():
    one, two = Seeded(7), Seeded(7)
    first = [one.stream().words(100, 16).tolist() for _ in range(3)]
    assert first == [two.stream().words(100, 16).tolist() for _ in range(3)]
    assert len({tuple(words) for words in first}) == 3
    assert Seeded(8).stream().words(100, 16).tolist() not in first


def test_a_seeds_stream_never_changes_between_releases():
    # Stored simulations depend on it: AES-128-CTR of zeros under SHA-256("deniable simulation 7 0")[:16].
    assert Seeded(7).stream().words(8, 8).tobytes().hex() == "a64461a3d6082f3f"


def test_one_stream_drawn_in_pieces_is_the_stream_drawn_at_once():
    sizes = [0, 1, 15, 16, 17, 1000, 65536, 3]
    pieces = Stream(bytes(16))
    together = b"".join(pieces.words(size, 8).tobytes() for size in sizes)
    assert together == Stream(bytes(16)).words(sum(sizes), 8).tobytes()


# -- every byte -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [SECURE, Seeded(10)], ids=repr)
def test_fill_reaches_every_byte_and_nothing_else(source):
    for size in [*range(2001), *range(65536 - 17, 65536 + 18), *range(131072 - 17, 131072 + 18)]:
        padded = np.zeros(size + 8, dtype=np.uint8)
        inside = padded[4 : size + 4]
        filled = np.zeros(size, dtype=bool)
        # A filled byte is still zero after eight fills with probability 2^-64: not one is, of a few million.
        for _ in range(8):
            source.stream().fill(inside)
            filled |= inside != 0
        assert filled.all()
        assert not padded[:4].any()
        assert not padded[size + 4 :].any()


@pytest.mark.parametrize("source", [SECURE, Seeded(11)], ids=repr)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_byte_of_a_word_is_uniform(bits, source):
    def pvalue():
        words = source.stream().words(1 << 17, bits)
        assert words.dtype.itemsize == bits // 8
        return min(uniform_pvalue(column, 256) for column in words.view(np.uint8).reshape(len(words), -1).T)

    assert plausible(pvalue)


@pytest.mark.parametrize("source", [SECURE, Seeded(12)], ids=repr)
def test_every_bit_is_set_half_the_time_and_independent_of_the_next(source):
    def pvalue():
        bits = np.unpackbits(source.stream().words(1 << 20, 8))
        ones = stats.binomtest(int(bits.sum()), len(bits)).pvalue
        changes = stats.binomtest(int((bits[1:] != bits[:-1]).sum()), len(bits) - 1).pvalue
        return min(ones, changes)

    assert plausible(pvalue)


# -- whole numbers below a bound ------------------------------------------------------------------------------------


class Scripted(Stream):
    """A stream that yields the given words."""

    def __init__(self, words):
        self.left = np.array(words, dtype=np.uint32)

    def words(self, count, bits):
        assert bits == 32
        now, self.left = self.left[:count], self.left[count:]
        return now


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**31 + 1, 2**32])
def test_below_accepts_a_multiple_of_the_bound_and_no_word_more(bound):
    limit = 2**32 // bound * bound
    assert Scripted([limit - 1, 0]).below(bound, 1).tolist() == [bound - 1]
    if limit < 2**32:
        for rejected in (limit, 2**32 - 1):
            assert Scripted([rejected, 0]).below(bound, 1).tolist() == [0]


def test_below_fills_up_after_rejections():
    limit = 2**32 // 3 * 3
    assert Scripted([0, limit, 1, 2, 4]).below(3, 4).tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000])
def test_below_is_uniform(bound):
    def pvalue():
        return uniform_pvalue(SECURE.stream().below(bound, 200 * bound + 5000), bound) if bound > 1 else 1.0

    assert plausible(pvalue)


def test_below_two_to_the_32_is_the_word_itself():
    words = Seeded(13).stream().words(1000, 32)
    np.testing.assert_array_equal(Seeded(13).stream().below(2**32, 1000), words)


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_a_bound_out_of_reach_is_refused(bound):
    with pytest.raises(DesignError, match=rf"below 1 to 2\^32, not below {bound}"):
        SECURE.stream().below(bound, 1)


# -- orders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_a_permutation_holds_everything_once(count):
    assert sorted(SECURE.stream().permutation(count).tolist()) == list(range(count))


def test_every_order_of_three_is_equally_likely():
    orders = {order: index for index, order in enumerate(permutations(range(3)))}

    def pvalue():
        stream = SECURE.stream()
        return uniform_pvalue([orders[tuple(stream.permutation(3).tolist())] for _ in range(6000)], 6)

    assert plausible(pvalue)


def test_equal_words_are_drawn_anew():
    class Tied(Stream):
        scripts = iter([[5, 5, 1], [3, 1, 2]])

        def words(self, *_):
            return np.array(next(self.scripts), dtype=np.uint64)

    assert Tied().permutation(3).tolist() == [1, 2, 0]


def test_a_simulations_generator_follows_the_seed():
    one, two = (Seeded(14).stream().generator().random(3).tolist() for _ in range(2))
    assert one == two


# -- where a seed may come in -----------------------------------------------------------------------------------------

# Where a function may take bits that somebody could repeat, by room. Channels and designs disguise answers, also in
# simulations: there, few functions. Analysis sees disguised answers only and resamples them: there, any function but
# another that disguises. Nowhere else: not in the client, the collector, the file engines, the survey, the web pages.
# Secure bits, or a seed where nobody is disguised; `resend` is the second level of what a panel keeps.
EITHER = {"randomize", "randomize_codes", "simulate", "answer", "run", "resend"}
# Of a whole made-up population: nobody is disguised.
COUNTS = {"draw", "draw_reports", "draw_sets", "multinomials", "independent_support"}
MAY_TAKE_A_SOURCE = {
    "channels": EITHER | COUNTS,
    "designs": EITHER
    | {
        "draw_ballots",
        "drawn_ballots",
        "drawn_observation",
        "drawn_tallies",
    },  # whose ballot is whose: both ways go through them
    "extensions": EITHER,  # pairs and blocks
    "core": {"check_source", "drawn_by", "Seeded"},  # where seeds are
    "cli": {"demo", "simulate"},
    "collection": {"Population"},  # made-up people: the seed is theirs, their devices disguise with secure bits
}
ANALYSIS = {"compliance", "datasets", "estimation", "graphs", "inference", "likelihood", "planning"}
ANALYSIS |= {"regression", "sampling"}
DISGUISES = {"randomize_in_clusters", "randomize", "randomize_row"}


def public_callables():
    """(room, name, function) of every public function, method and command of the package."""
    for found in pkgutil.walk_packages(deniable.__path__, "deniable."):
        module, room = import_module(found.name), found.name.split(".")[1]
        for name, value in vars(module).items():
            function = getattr(value, "callback", value)  # a command of the command line wraps its function
            if name.startswith("_") or getattr(function, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(value):
                for method, defined in vars(value).items():
                    if inspect.isfunction(defined) and (method == "__init__" or not method.startswith("_")):
                        yield room, name if method == "__init__" else method, defined
            elif inspect.isfunction(function):
                # A command's function is called `command`; the command is called like its file.
                yield room, found.name.rpartition(".")[2] if room == "cli" else name, function


def takes_a_source(function):
    parameters = inspect.signature(function).parameters.values()
    bits = [p for p in parameters if "Path" not in str(p.annotation)]  # a file may be called the source of something
    return any(p.name in {"source", "seed", "rng"} or "Source" in str(p.annotation) for p in bits)


def may_take_a_source(room, name):
    if room in ANALYSIS:
        return "randomize" not in name or name in DISGUISES
    return room == "randomness" or name in MAY_TAKE_A_SOURCE.get(room, ())


def test_only_simulation_and_analysis_take_a_source():
    taking = {(room, name) for room, name, function in public_callables() if takes_a_source(function)}
    assert {("channels", "randomize"), ("designs", "randomize"), ("designs", "simulate")} <= taking
    assert not {(room, name) for room, name in taking if not may_take_a_source(room, name)}
