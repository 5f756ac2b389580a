"""Blocks (RRBA): fakes are learned from earlier reports and published block by block. What common rooms ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deniable.core.untrusted_files import clipped, parse_json
from deniable.designs.extension import Extension
from deniable.device.fake_limits import WHOLE
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import BaseRoute

    from deniable.collection.collector import Collector
    from deniable.collection.load_reports import Stored
    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports
    from deniable.device.verified_design import VerifiedDesign
    from deniable.extensions.blocks.block_reports import BlockReports
    from deniable.extensions.blocks.served_blocks import Chain, ServedBlocks
    from deniable.extensions.designs.blocks import Blocks
    from deniable.files.header import Header
    from deniable.storage.store import Store


class InBlocks(Extension):
    """A block is published when the one before it is full; a report names its own, and is kept with all of them."""

    kinds = ("blocks",)
    fields = ("blocks",)
    named = "in blocks"

    def session(self, store: Store, verified: VerifiedDesign) -> Chain:
        """The chain of blocks."""
        from deniable.extensions.blocks.served_blocks import Chain

        return Chain(store, verified)

    def routes(self, collector: Collector) -> list[BaseRoute]:
        """The addresses of the open block and of the chain."""
        from deniable.extensions.blocks.block_endpoint import BlockApi

        return [*BlockApi(collector).routes()]

    def design_of(self, verified: VerifiedDesign) -> ServedBlocks:
        """The design with the limits that every block keeps."""
        from deniable.extensions.blocks.served_blocks import ServedBlocks

        return ServedBlocks(verified)

    def collected(self, stored: Stored) -> BlockReports:
        """The reports, each with its block."""
        from deniable.collection.report_cells import decode_cell
        from deniable.extensions.blocks.block_reports import BlockReports
        from deniable.extensions.blocks.served_blocks import kept_blocks
        from deniable.storage.store import block_of

        counts = stored.counts()  # before the blocks: every report's block is then among them
        design = self.design_of(stored.verified)
        published = kept_blocks(stored.store, design)
        at = {block.id: block.index for block in published}
        reports = stored.of_counts(design, counts)
        rows = sorted((*decode_cell(cell)[1:], words, at[block_of(cell)], n) for (cell, words), n in counts.items())
        index = np.repeat([position for *_, position, _ in rows], [times for *_, times in rows])
        return BlockReports.of_blocks(
            design, reports.ballots, reports.answers, index.astype(np.int64), published, public=reports.public
        )

    def read(self, frame: Any, design: Design, header: Header) -> Reports:
        """With the blocks that the header holds."""
        from deniable.device.protocol.fake_blocks import Block
        from deniable.extensions.blocks.block_reports import BlockReports

        if "blocks" not in header.more:
            return super().read(frame, design, header)
        try:
            published = parse_json(header.more["blocks"], "it", tuple[str, ...])
        except ValueError as error:
            raise InputError(f"the blocks that were published cannot be read: {clipped(error)}") from None
        return BlockReports(frame, cast("Blocks", design), [Block.parse(block.encode()) for block in published])

    def sentences(self, design: Blocks, number: Callable[[float], str], language: str) -> list[str]:  # noqa: ARG002
        """That there were blocks, and of which size."""
        return [_IN_BLOCKS[language].format(size=design.block_size)]

    def of_question(self, design: Blocks, place: int, number: Callable[[float], str], language: str) -> str:
        """The limits of its fakes."""
        limits = design.limits[place]
        words = _KEPT_AT_MOST if design.mode == "ldp" else _KEPT if limits.floor else _BARE
        told = {"keep": number(limits.keep / WHOLE), "floor": number(limits.floor / WHOLE)}
        return words[language].format(cells=limits.cells, **told)


_IN_BLOCKS = {
    "en": "Respondents came in blocks of {size}; the probabilities of false answers in a block were learned from the "
    "disguised reports of earlier blocks and published before it began (Imran and Meo 2024). Those of each block are "
    "kept beside its reports.",
    "de": "Die Befragten kamen in Blöcken von {size}; die Wahrscheinlichkeiten falscher Antworten in einem Block "
    "wurden aus den verschleierten Meldungen früherer Blöcke gelernt und vor seinem Beginn veröffentlicht (Imran und "
    "Meo 2024). Die jedes Blocks werden bei seinen Meldungen aufbewahrt.",
}
_KEPT_AT_MOST = {
    "en": "{cells} answers; the true one is kept with probability {keep} at most, otherwise an answer is drawn from "
    "the block's probabilities, each of which is {floor} at least.",
    "de": "{cells} Antworten; die wahre bleibt höchstens mit Wahrscheinlichkeit {keep} stehen, sonst wird eine nach "
    "den Wahrscheinlichkeiten des Blocks gezogen, deren jede mindestens {floor} ist.",
}
_KEPT = {
    "en": "{cells} answers; the true one is kept with probability {keep}, otherwise an answer is drawn from the "
    "block's probabilities, each of which is {floor} at least.",
    "de": "{cells} Antworten; die wahre bleibt mit Wahrscheinlichkeit {keep} stehen, sonst wird eine nach den "
    "Wahrscheinlichkeiten des Blocks gezogen, deren jede mindestens {floor} ist.",
}
_BARE = {
    "en": "{cells} answers; the true one is kept with probability {keep}, otherwise an answer is drawn from the "
    "block's probabilities, which may be 0: such an answer is disclosed when it is reported.",
    "de": "{cells} Antworten; die wahre bleibt mit Wahrscheinlichkeit {keep} stehen, sonst wird eine nach den "
    "Wahrscheinlichkeiten des Blocks gezogen, die 0 sein können: Eine solche Antwort ist preisgegeben, wenn sie "
    "gemeldet wird.",
}
