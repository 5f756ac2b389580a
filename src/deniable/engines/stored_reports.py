"""Reports that stay where they are: a file, a table of a database. Only counts are fetched.

They are `Reports` like any other: estimates and tests take them as they are. Whoever asks for the rows themselves
(`ballots`, `answers`, `public`) gets them loaded, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deniable.core.labels import UNKNOWN, Labels, fits
from deniable.core.provenance import PEOPLE, Origin
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.set_reports import has_few_kinds
from deniable.engines.query_engines import IbisEngine, ParquetEngine
from deniable.engines.read_reports import design_of, existing, read_beside, read_header, read_reports
from deniable.errors import DesignError, InputError, MissingColumnError
from deniable.files.header import Header
from deniable.files.object_storage import Object, parts_of, place_of
from deniable.files.reserved_columns import BALLOT, ORIGIN, SHARE, answer_columns, origin_of_rows, refuse_taken
from deniable.frozen import Frozen, fix, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from deniable.designs.design import Design
    from deniable.designs.marginal_channel import Column, Told
    from deniable.engines.query_engines import Engine, Keys, Where


@dataclass(frozen=True, eq=False, repr=False, init=False)
class StoredReports(Reports):
    """Reports counted by an engine.

    Every distinct GROUP BY runs once; what was counted is kept.
    """

    engine: Engine
    _where: Where
    _public: tuple[str, ...]

    def __init__(
        self,
        engine: Engine,
        design: Design,
        *,
        notes: tuple[str, ...] = (),
        where: Where | None = None,
        labels: Labels = UNKNOWN,
        origin: Origin = PEOPLE,
    ) -> None:
        """Take the engine that holds the reports, and the design they were made by."""
        if not design.one_by_one:
            raise DesignError(f"reports of a {design.title} need more than their counts; read them with read_reports")
        needed = [*([BALLOT] if len(design.ballots) > 1 else []), *answer_columns(design)]
        missing = [name for name in needed if name not in engine.columns]
        if missing:
            raise MissingColumnError(
                f"reports of this design need the columns {listed(needed)}; {listed(missing)} is missing among "
                f"{listed(engine.columns)}. Is it the design these reports were made by?",
                columns=missing,
            )
        public = [name for name in engine.columns if name not in (*needed, ORIGIN) and not name.startswith(SHARE)]
        refuse_taken(public, design)
        said = origin
        if not origin and ORIGIN in engine.columns:
            counted = {text: engine.rows({ORIGIN: text}) for text in engine.values(ORIGIN)}
            said = origin_of_rows({**counted, None: engine.rows({}) - sum(counted.values())})
        fix(self, engine=engine, design=design, notes=notes, labels=labels, origin=said, backend=None, among=None)
        fix(self, _where=dict(where or {}), _public=public, index=None)

    def _given(self) -> dict[str, Any]:
        parts = {"engine": self.engine, "design": self.design, "notes": self.notes}
        return {**parts, "where": self._where, "labels": self.labels, "origin": self.origin}

    __reduce__ = Frozen.__reduce__  # through this constructor: the rows are not here

    @cached_property
    def _counted(self) -> dict[tuple[str, ...], Keys]:
        """What was counted so far."""
        return {}

    def among_asked(self, attributes: Sequence[str]) -> Reports:
        """Those who were asked all of some attributes: where a condition decides, the rows are loaded."""
        return self.loaded.among_asked(attributes) if self.conditions(attributes) else self

    @cached_property
    def n(self) -> int:
        """How many respondents reported."""
        return self.engine.rows(self._where)

    def tabulate(self, attributes: Sequence[str] | None = None) -> list[Observation]:
        """Count into observations, as `Reports.tabulate` does, with one GROUP BY for all ballots."""
        if attributes is None:
            return super().tabulate(None)
        names = self.design.domain.project(attributes).names
        by_ballot = {b: told for b in range(len(self.design.ballots)) if (told := self.told(b, names))}
        sets = {ballot: told for ballot, told in by_ballot.items() if not has_few_kinds(told)}
        if sets:
            self._count_sets(sets)
        if len(sets) < len(by_ballot):
            rest = [told for ballot, told in by_ballot.items() if ballot not in sets]
            self._count_places(sorted({column.place for told in rest for column in told.columns}))
        found = [Observation(t.domain, t.channel, self.count(b, t), population=self.n) for b, t in by_ballot.items()]
        return [observation.coming_from(self.origin) for observation in merge(found) if observation.n > 0]

    def _count_sets(self, asked: Mapping[int, Told]) -> None:
        """Have the engine count what the sets of some ballots hold."""
        missing = {ballot: told for ballot, told in asked.items() if (ballot, told.columns) not in self._supports}
        if missing:
            counted = self.engine.support(missing, self.design, self._where)
            self._supports.update({(b, told.columns): readonly(counted[b]) for b, told in missing.items()})

    @cached_property
    def _supports(self) -> dict[tuple[int, tuple[Column, ...]], NDArray[np.int64]]:
        """What sets were counted to hold so far."""
        return {}

    def _count_places(self, places: Sequence[int]) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
        """Count the ballots and their answers at some places (or at more, where these were counted already)."""
        columns = answer_columns(self.design)
        sizes = {BALLOT: len(self.design.ballots)} if len(self.design.ballots) > 1 else {}
        for place in places:
            outputs = [self.design.questions[b[place]].channel.reports for b in self.design.ballots if place < len(b)]
            sizes[columns[place]] = max(outputs)
        kept = next((names for names in self._counted if set(sizes) <= set(names)), tuple(sizes))
        if kept not in self._counted:
            keys, counts = self.engine.count(sizes, self._where)
            self._counted[kept] = readonly(keys), readonly(counts)
        keys, counts = self._counted[kept]
        return dict(zip(kept, keys.T, strict=True)), counts

    def ballot_counts(self) -> NDArray[np.int64]:
        """How many respondents drew each ballot, counted where they lie."""
        if len(self.design.ballots) == 1:
            return np.array([self.n])
        keys, counts = self._count_places([])
        return np.bincount(keys[BALLOT], counts, len(self.design.ballots)).astype(np.int64)

    def distinct(self, ballot: int, told: Told) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The different things that a ballot's respondents told, counted where they lie."""
        keys, counts = self._count_places([column.place for column in told.columns])
        here = np.arange(len(counts)) if len(self.design.ballots) == 1 else np.flatnonzero(keys[BALLOT] == ballot)
        names = answer_columns(self.design)
        columns = []
        for column in told.columns:
            codes = keys[names[column.place]][here]
            limit = int(np.prod(column.collapsed[0])) if column.collapsed else column.channel.reports
            if len(codes) and codes.max() >= limit:
                raise InputError(
                    f"a ballot has the answer {int(codes.max())} to {' and '.join(column.attributes)}, which has only "
                    f"{limit}. Is it the design these reports were made by?"
                )
            columns.append(column.narrow(codes))
        different, back = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return different, np.bincount(back.ravel(), counts[here], len(different)).astype(np.int64)

    def count(self, ballot: int, told: Told) -> NDArray[Any]:
        """Count what the respondents of a ballot told."""
        if not has_few_kinds(told):
            self._count_sets({ballot: told})
            return self._supports[ballot, told.columns]
        codes, counts = self.distinct(ballot, told)
        if told.channel.is_support:
            return told.channel.tally(codes if codes.shape[1] > 1 else codes[:, 0], counts)
        total = np.zeros(tuple(column.channel.outputs for column in told.columns), dtype=np.int64)
        total[tuple(codes.T.astype(np.int64))] = counts
        return total

    def groups(self, by: str) -> Iterator[tuple[Any, Reports]]:
        """Split by the values of a public column; each part is counted where it lies."""
        if by not in self._public:
            yield from super().groups(by)  # says what there is instead
            return
        for value in self.engine.values(by):
            yield value, self._again(where={**self._where, by: value})

    def with_notes(self, *notes: str) -> Self:
        """The same reports with other notes."""
        return self._again(notes=notes)

    def with_labels(self, labels: Labels) -> Self:
        """The same reports with a survey's words."""
        fits(labels, self.design.domain)
        return self._again(labels=labels.of_reports(self.labels))

    def with_origin(self, origin: Origin) -> Self:
        """The same reports, known to be simulated, or a pilot's."""
        return self._again(origin=origin)

    def _again(self, **other: Any) -> Self:
        return type(self)(**{**self._given(), **other})

    # -- the rows themselves -----------------------------------------------------------------------------------

    @cached_property
    def loaded(self) -> Reports:
        """The same reports in memory."""
        rows = Reports(self.engine.table(self._where), self.design).with_notes(*self.notes)
        return rows.with_labels(self.labels).with_origin(self.origin)

    @property
    def public_names(self) -> tuple[str, ...]:
        """The public columns, without loading anything."""
        return self._public

    @property  # type: ignore[misc]
    def ballots(self) -> NDArray[Any]:
        """The ballot of every row."""
        return self.loaded.ballots

    @property  # type: ignore[misc]
    def answers(self) -> NDArray[Any]:
        """The answers of every row."""
        return self.loaded.answers

    @property  # type: ignore[misc]
    def public(self) -> nw.DataFrame[Any] | None:
        """The public columns; None, without loading anything, where there are none."""
        return self.loaded.public if self._public else None

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.describe()._repr_html_()}"  # nothing is fetched to be looked at

    def __repr__(self) -> str:
        return f"<StoredReports, counted by {self.engine.name}; {self.design!r}>"


def open_reports(
    place: Any,
    design: Design | str | Path | None = None,
    *,
    engine: str = "auto",
    progress: Callable[[int, int], object] | None = None,
) -> Reports:
    """Open reports without reading them: estimates count them where they are.

    Args:
        place: a file or folder that `deniable randomize` or `Reports.write` made, or the address of one in object
            storage (s3://bucket/reports.parquet); or an Ibis table; or a Spark frame.
        design: for tables, which cannot hold it: the design, or the JSON file that holds it.
        engine: for Parquet files, "bincount" (the default: NumPy, streaming) or "duckdb".
        progress: called while reports are counted, with the rows seen and those there are; where a database counts
            sets, with the queries done and those there are.

    Files that can only be read as a whole (CSV, SPSS, Stata; designs in blocks or pairs) are read.
    """
    if not isinstance(place, str | Path | Object):
        return _open_table(place, design, progress)
    path = existing(place)
    header = read_header(path)
    if design is not None and _header(design).design != header.design:
        raise DesignError(f"the reports in {path} were made by another design than the one given")
    made_by = design_of(header, str(path))
    stored = path.is_dir() or path.suffix.lower() == ".parquet"
    if not stored or not made_by.one_by_one:
        return read_reports(path)
    paths = parts_of(path, ".parquet") if path.is_dir() else [path]
    if engine not in ("auto", "bincount", "duckdb"):
        raise InputError(f'Parquet files are counted by "bincount" or "duckdb", not by {engine!r}', engine=engine)
    counting: Engine = IbisEngine.duckdb(paths) if engine == "duckdb" else ParquetEngine(paths, progress)
    labels = header.words or UNKNOWN
    return StoredReports(counting, made_by, notes=header.notes, labels=labels, origin=header.origin)


def _open_table(
    place: Any, design: Design | str | Path | None, progress: Callable[[int, int], object] | None
) -> Reports:
    if design is None:
        raise InputError("a table cannot hold the design of its reports: give design=, or the JSON file that holds it")
    if type(place).__module__.startswith("pyspark."):
        from deniable.engines.spark import as_ibis

        place = as_ibis(place)
    if not hasattr(place, "get_backend"):
        raise InputError(
            f"reports are opened from a file, an Ibis table or a Spark frame, not from {type(place).__name__}; a "
            f"frame in memory is deniable.Reports(frame, design)"
        )
    header = _header(design)
    made_by = design_of(header, "what was given")
    labels, engine = header.words or UNKNOWN, IbisEngine(place, progress)
    return StoredReports(engine, made_by, notes=header.notes, labels=labels, origin=header.origin)


def _header(given: Design | str | Path) -> Header:
    """A design as it is given, or out of a JSON file: the one beside reports, or the design alone."""
    return read_beside(place_of(given)) if isinstance(given, str | Path) else Header(given.canonical())
