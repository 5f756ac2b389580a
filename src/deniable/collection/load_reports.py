"""Loading what was collected out of a store, as `Reports` to estimate from or to write to a file.

Rows come out sorted by what they say, so that an export tells nothing about who came when.
"""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from deniable.collection.report_cells import Cells, Memory, all_cells, in_order, of_texts
from deniable.collection.simulated_marks import origin_in
from deniable.collection.survey_messages import amendments_of, kept_aims, verified_design, words_mark
from deniable.collection.wordings import Wordings, wordings
from deniable.core.labels import Labels, bin_words
from deniable.designs.extension import extension_of
from deniable.designs.reports.reports import Reports
from deniable.device.protocol.form import read_form
from deniable.errors import InputError, SmallCellWarning
from deniable.files.reserved_columns import WORDS
from deniable.storage.open_store import FILE, find_store, is_address, is_store
from deniable.surveys.survey import FOLDER as PILOT
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.designs.design import Design
    from deniable.device.protocol.messages import Attribute, FormItem
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Readable, Store

# Of each store that is looked at again and again, what its sealed file says.
_MEMORY: WeakKeyDictionary[Readable, Memory] = WeakKeyDictionary()


_WORDS_SHOWN = {"en": "Under which words", "de": "Unter welchen Worten"}


def collected(place: str | Path, design: str | None = None) -> Reports | None:
    """Everything that a collector has stored at a place, or what was reported to one of its designs.

    Args:
        place: its folder, its SQLite file, or its PostgreSQL database as postgresql://user@host/survey.
        design: how the design's hash begins; needed where reports to several have come.

    Returns:
        None if there is no store at that place, which may be a file of reports.

    Raises:
        InputError: there is one of a pilot alone, or it is a database without any.
    """
    store = find_store(place)
    if store is None:
        _refuse_empty(place)
        return None
    with closing(store):
        return stored_reports(store, _chosen(store, design))


def _refuse_empty(place: str | Path) -> None:
    if is_address(place):
        from deniable.storage.postgres_connection import place as without_password

        raise InputError(
            f"there is no store in the database {without_password(str(place))}: no collector has been served with it. "
            f"Correct the address, or begin with deniable serve survey.toml --database"
        )
    tried = Path(place) / PILOT
    if is_store(tried / FILE):
        raise InputError(
            f"{place} holds the reports of a pilot and no others yet: the survey was tried out, and not served since. "
            f"To look at what the pilot brought, which never counts, name its own folder, {tried}",
            folder=str(place),
        )


def _chosen(store: Store, start: str | None) -> str:
    """The design whose hash begins like that; without a beginning, the one that there are reports to."""
    known = store.designs()
    if start is not None:
        found = [name for name in known if name.startswith(start)]
        wanted = f"whose hash begins with {start!r}"
    else:
        answered = [name for name, (number, _) in known.items() if store.total(number)]
        plans = {verified_design(known[name][1], name).plan_id: name for name in answered or known}
        found, wanted = list(plans.values()), "that reports came to"
    if len(found) != 1:
        told = f"this store has {len(found)} designs {wanted}"
        if known:
            told += f"; name one of {listed(f'{name[:12]}...' for name in known)} by the beginning of its hash"
        raise InputError(told, designs=sorted(known))
    return found[0]


def stored_reports(store: Readable, design_id: str, *, to_keep: bool = True) -> Reports:
    """Everything that was reported to a design and its amendments: they differ in their words alone.

    Args:
        store: where the reports are; or what of it is shown (`shown`), for whoever looks at a running survey.
        design_id: the design, or an amendment of it.
        to_keep: whether rows may be seen or written, and must come in the order of what they say. What is only
            estimated from need not be sorted, which takes as long as reading.
    """
    known = store.designs()
    if design_id not in known:
        raise InputError(f"this store has no design {design_id}; it has {sorted(known)}", design=design_id)
    together = amendments_of(store, design_id)
    words = wordings(store, together)
    verified = verified_design(known[words.newest][1], words.newest)
    extension = extension_of(verified.message.plan.kind)
    found = extension.collected(Stored(store, verified, together, words, to_keep))
    numbers = [number for number, _ in together.values()]
    found = found.with_origin(origin_in(store, numbers, verified.message.survey))
    return found.with_labels(replace(stored_labels(store, verified), corrections=words.corrections))


class Stored(NamedTuple):
    """What is stored of the reports to one plan, for whoever makes `Reports` of it."""

    store: Readable
    verified: VerifiedDesign
    together: Mapping[str, tuple[int, bytes]]  # its amendments: their numbers in the store, and their bytes
    words: Wordings
    to_keep: bool  # whether rows come in the order of what they say

    def reports(self, design: Design) -> Reports:
        """Each report by itself: a ballot and its answers, and what travels in clear."""
        memory = Memory() if self.to_keep else _MEMORY.setdefault(self.store, Memory())
        parts = [
            self.words.told(part, self.words.of.get(number, 0))
            for number, _ in self.together.values()
            for part in memory.decoded(self.store, number, self.verified)
        ]
        cells = all_cells(parts, self.verified)
        return _reports(self.verified, design, in_order(cells) if self.to_keep else cells, self.words)

    def counts(self) -> Counter[tuple[str, int]]:
        """How often each cell came under each words: reports that name something in common are counted as they are."""
        found: Counter[tuple[str, int]] = Counter()
        for number, _ in self.together.values():
            under = self.words.of.get(number, 0)
            found.update({(cell, under): times for cell, times in self.store.counts(number).items()})
        return found

    def of_counts(self, design: Design, counts: Mapping[tuple[str, int], int]) -> Reports:
        """The reports of these cells, in the order of what they say."""
        parts = []
        for under in range(len(self.words.names)):
            some = {cell: times for (cell, each), times in counts.items() if each == under}
            times = np.fromiter(some.values(), dtype=np.int64, count=len(some))
            parts.append(self.words.told(of_texts(list(some), times, self.verified), under))
        return _reports(self.verified, design, in_order(all_cells(parts, self.verified)), self.words)


def stored_labels(store: Readable, verified: VerifiedDesign) -> Labels:
    """The words that a design was served with, and what it is made for; at least under which hash it was served."""
    put_to_some = [coded for coded in verified.asked_coded if coded.rules]
    rules = {coded.name: {rule.attribute: rule.values for rule in coded.rules} for coded in put_to_some}
    aims, guess = kept_aims(store, verified.plan_id)
    served = Labels(design=verified.id, show_if=rules, aims=aims, guess=guess)
    body = store.saved(words_mark(verified.message.texts))
    if body is None:
        return served
    form = read_form(body, verified)
    edges = {coded.name: coded.edges for coded in (*verified.asked_coded, *verified.public_coded)}
    asked = [
        *zip(form.questions, verified.domain.values(), strict=True),
        *zip(form.public, verified.public, strict=True),
    ]
    return Labels(
        form.title,
        {item.name: item.text for item, _ in asked} | {WORDS: _WORDS_SHOWN},
        {item.name: _answers(item, known, form.languages, edges.get(item.name, ())) for item, known in asked},
        form.languages,
        design=verified.id,
        public=tuple(known.name for known in verified.public),
        show_if=rules,
        aims=aims,
        guess=guess,
    )


def _answers(
    item: FormItem, known: Attribute, languages: Sequence[str], edges: Sequence[str]
) -> Mapping[str, Mapping[str, str]]:
    """What is read beside each category; of bins, as each language says it."""
    said = dict(zip(map(str, known.categories), item.choices, strict=True))
    bins = list(said)[: len(edges) + 1] if edges else []
    return said | (dict(zip(bins, bin_words(edges, languages, bins), strict=True)) if bins else {})


def _reports(verified: VerifiedDesign, design: Design, cells: Cells, words: Wordings) -> Reports:
    import narwhals as nw
    import pyarrow as pa

    ballots = cells.ballots.astype(np.min_scalar_type(len(design.ballots) - 1))
    answers = np.asfortranarray(cells.answers, dtype=design.answer_dtype)
    clear = None
    listed_in = {variable.name: variable.categories for variable in verified.public}
    if words.corrections:
        listed_in[WORDS] = tuple(words.names)
    if listed_in:
        columns = {
            name: pa.array(categories).take(pa.array(np.repeat(cells.public[:, place], cells.times)))
            for place, (name, categories) in enumerate(listed_in.items())
        }
        clear = nw.from_native(pa.table(columns), eager_only=True)
    if (cells.times != 1).any():
        ballots, answers = np.repeat(ballots, cells.times), np.repeat(answers, cells.times, axis=0)
    with warnings.catch_warnings():
        # Respondents saw what travels in clear; the warning is for whoever chooses the columns.
        warnings.simplefilter("ignore", SmallCellWarning)
        return Reports.of_codes(design, ballots, answers, clear, "pyarrow")


def design_of(verified: VerifiedDesign) -> Design:
    """The design to estimate by: its questions and ballots, or what an extension makes of them."""
    return extension_of(verified.message.plan.kind).design_of(verified)
