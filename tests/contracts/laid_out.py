"""Surveys without chance: every report comes exactly as often as a known population makes one expect.

What an analysis finds in such a survey is the truth, up to the rounding of counts: far less than a standard error. So a
bias of a fraction of a standard error shows, in one small survey, and no seed decides. Designs whose reports cannot be
listed (hash functions, blocks that follow from the answers before, pairs) are drawn instead, with a fixed seed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import narwhals as nw
import numpy as np

import deniable as dn
from deniable.designs.reports.reports import Reports
from deniable.errors import SmallCellWarning
from every_design import answered

MOST = 4096  # reports to a question, and to a ballot, that are listed
NEAR = 0.3  # standard errors: how far a laid-out survey may be from the truth
FAR = 6.0  # the same for a drawn one: a false alarm in 2e-9 of all seeds


@dataclass(frozen=True)
class Population:
    """Shares of everything: a row for each combination of public values, a column for each cell of the domain."""

    domain: dn.Domain
    public: object  # a pandas frame
    shares: np.ndarray

    def table(self, *names):
        """The true joint table of some attributes."""
        every = self.shares.sum(axis=0).reshape(self.domain.shape)
        return dn.Table(self.domain, every).project(names).values

    def counted(self, *names):
        """Cells of public columns and attributes, with their shares as sizes, as a frame."""
        cells = np.indices(self.domain.shape).reshape(len(self.domain), -1)
        every = self.public.loc[self.public.index.repeat(self.domain.cells)].reset_index(drop=True)
        truths = {
            name: np.tile(np.array(v.categories)[cells[i]], len(self.public))
            for i, (name, v) in enumerate(self.domain.items())
        }
        every = every.assign(**truths, size=self.shares.ravel())
        return every.groupby(list(names), as_index=False)["size"].sum()

    def expected(self, design):
        """For every ballot: the answers that can come, a row each, and how often with which public values; or None."""
        cells = np.indices(self.domain.shape).reshape(len(self.domain), -1)
        for ballot, drawn in zip(design.ballots, design.chances, strict=True):
            chance, answers = np.ones((1, self.domain.cells)), np.zeros((1, 0), dtype=np.int64)
            for question in (design.questions[index] for index in ballot):
                axes = self.domain.axes(question.attributes)
                shape = tuple(self.domain.shape[axis] for axis in axes)
                every = question.channel.every_report(MOST)
                if every is None or len(every) * len(answers) > MOST:
                    return
                rows = question.channel.likelihood(every)[:, np.ravel_multi_index(tuple(cells[list(axes)]), shape)]
                chance = (chance[:, None] * rows).reshape(-1, self.domain.cells)
                answers = np.column_stack([np.repeat(answers, len(every), 0), np.tile(every, len(answers))])
            yield answers, drawn * (self.shares @ chance.T)

    def people(self, n):
        """The truths of n respondents, shuffled, as a frame."""
        times = in_whole_numbers(self.shares.ravel(), n)
        at = np.random.default_rng(1).permutation(np.repeat(np.arange(self.shares.size), times))
        point, cell = np.divmod(at, self.domain.cells)
        codes = np.stack(np.unravel_index(cell, self.domain.shape), axis=1)
        truths = {name: np.array(v.categories)[codes[:, i]] for i, (name, v) in enumerate(self.domain.items())}
        return self.public.iloc[point].reset_index(drop=True).assign(**truths)


def in_whole_numbers(expected, n):
    """Counts that follow the expected ones so closely that no sum of neighbours is off by more than one."""
    return np.diff(np.round(n * np.cumsum(expected)), prepend=0).astype(int)


def can_be_laid_out(design, population):
    """Whether all reports can be listed, and come from respondents who do not depend on each other."""
    alone = design.kind not in ("blocks", "paired", "paired_items")
    return alone and len(list(population.expected(design))) == len(design.ballots)


def survey(design, population, n):
    """Reports of n respondents, laid out or drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # nobody is behind these rows
        if not can_be_laid_out(design, population):
            keep = list(population.public.columns)
            return design.randomize(answered(population.people(n), design), keep=keep, source=dn.Seeded(5))
        listed = list(population.expected(design))
        times = in_whole_numbers(np.concatenate([share.ravel() for _, share in listed]), n)
        rows, done = [], 0
        for ballot, (answers, share) in enumerate(listed):
            points, reports = np.indices(share.shape).reshape(2, -1)
            often = times[done : done + share.size]
            whole = np.zeros((share.size, 2 + design.width), dtype=np.int64)
            whole[:, 0], whole[:, 1], whole[:, 2 : 2 + answers.shape[1]] = ballot, points, answers[reports]
            rows.append(np.repeat(whole, often, axis=0))
            done += share.size
        every = np.concatenate(rows)
        public = nw.from_native(population.public.iloc[every[:, 1]].reset_index(drop=True), eager_only=True)
        ballots = every[:, 0].astype(np.min_scalar_type(len(listed) - 1))
        answers = np.asfortranarray(every[:, 2:].astype(design.answer_dtype))
        return Reports.of_codes(design, ballots, answers, public, "pandas")
