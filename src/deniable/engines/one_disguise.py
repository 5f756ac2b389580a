"""One source, one disguise: the resumable, locked job behind all that disguises one file into another.

Two disguises of the same answer tell more than one. So before the first row is drawn, a run claims its source in the
record of this account, by its content, and its target by a folder beside it, which is locked while somebody is at work
in it. A source that was disguised before is refused; whoever wants a second disguise says so, and its statement then
says what they tell together.

What is drawn goes into that folder in parts that nobody can read until they are finished (`sealed_parts`). A run that
is taken up again keeps all that are, and the target is made of them: so whatever can be read of a run that was killed
is what its next run writes. A run that failed before its first finished part has shown nothing, and claims nothing.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from deniable.device.privacy_statement import rounded_up
from deniable.engines.disguise_record import Claim, Record, held
from deniable.engines.sealed_parts import KEY, SEALED, is_finished, seal
from deniable.engines.source_marks import of_bytes, state
from deniable.errors import InputError, PrivacyError
from deniable.files.object_storage import Object
from deniable.files.publish_file import give_name, is_same, publish
from deniable.files.write_files import write_whole
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from deniable.engines.disguise_record import Terms

FOLDER = ".unfinished"  # reports.parquet is made in reports.parquet.unfinished/
_JOB, _PART, _WHOLE = "job.json", "part-{:06d}", "whole"
_OURS = re.compile(r"part-\d{6}\.(sealed|key)|whole(\.\w+)?")  # names that a run gives
_TOLD = 5  # files that a refusal names
_DRAFT = re.compile(r"\.(job\.json|whole(\.\w+)?(\.[0-9a-f]{16})?)\.unfinished(\.\w+)?")


class Words(NamedTuple):
    """What is said of a source: of what epsilon is, and what one that was written anew has in common with it."""

    unit: str
    same: str
    alike: str
    others: str


OF_TABLE = Words(
    "a respondent",
    "The same answers were",
    "holds the same answers, row by row, as a table that was",
    "If these are other people who answered alike, or if",
)
OF_GRAPH = Words(
    "of an edge",
    "The same edges were",
    "holds the same edges, whatever its nodes are called, as a graph that was",
    "If these are other people whose edges look alike, or if",
)


class _Marker(msgspec.Struct, forbid_unknown_fields=True):
    """What lies in the folder: which claim it belongs to, and nothing that tells of the source."""

    claim: str


@dataclass(frozen=True)
class Original:
    """A file to disguise, as it was when it was claimed."""

    place: Path | Object
    state: tuple[int, ...]
    bytes: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """A claimed run: its folder, its claim, and where its reports go."""

    folder: Path
    goal: Path | Object
    original: Original
    record: Record
    name: str
    claim: Claim

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reports' statement must say of disguises before this one."""
        return (self.claim.note,) if self.claim.note else ()

    @property
    def _whole(self) -> Path:
        return self.folder / f"{_WHOLE}{self.goal.suffix}"

    @property
    def is_made(self) -> bool:
        """Whether all is drawn and put together; what is left to do is to give it its name."""
        return self.claim.is_done or self._whole.exists()

    def finished(self) -> list[Path]:
        """The parts that are finished."""
        parts: list[Path] = []
        while is_finished(part := self._part(len(parts))):
            parts.append(part)
        return parts

    def _part(self, number: int) -> Path:
        return self.folder / _PART.format(number)

    @contextmanager
    def part(self, number: int) -> Iterator[BinaryIO]:
        """Write a part."""
        with seal(self._part(number)) as file:
            yield file
            self._same_still()  # before anybody can read the part

    def put_together(self, write: Callable[[Path], object]) -> None:
        """Make the file of reports, if the source is still the one that was claimed."""
        self._same_still()
        publish(self._whole, write)

    def _same_still(self) -> None:
        now = state(self.original.place)
        if now != self.original.state and of_bytes(self.original.place, self.record.key) != self.original.bytes:
            raise PrivacyError(
                f"{self.original.place} was changed while it was disguised, and rows of one table must not be mixed "
                f"with another's. Bring it back as it was before it changed, and run again",
                file=str(self.original.place),
            )

    def deliver(self) -> None:
        """Give the reports their name, and clear up. Done already by a run that was killed, it is no harm."""
        if not self.goal.exists():
            if isinstance(self.goal, Object):
                self.goal.put(self._whole)
            else:
                give_name(self._whole, self.goal)
        elif not self.claim.is_done:
            self._refuse_other()
        if not self.claim.is_done:
            with self.record.alone():
                self.record.write(self.name, msgspec.structs.replace(self.claim, is_done=True))
        _clear(self.folder)

    def _refuse_other(self) -> None:
        """Refuse a target that appeared while this run was unfinished, and that it has not made."""
        if not (self._whole.exists() and is_same(self._whole, self.goal)):
            raise PrivacyError(
                f"{self.goal} is there, and the unfinished run in {self.folder} has not made it. Move it away and run "
                f"this again, which keeps the finished rows",
                file=str(self.goal),
            )


@contextmanager
def once(
    place: Path | Object,
    answers: Callable[[bytes], tuple[str, ...]],
    goal: Path | Object,
    terms: Terms,
    epsilon: float,
    *,
    again: bool = False,
    words: Words = OF_TABLE,
) -> Iterator[Job]:
    """Claim a source and a target before the first row is disguised; give the reports their name after the block.

    Args:
        place: the source.
        answers: its answers' marks, out of the record's key; reads all of it.
        goal: the target.
        terms: how it is disguised.
        epsilon: what that may tell of one respondent.
        again: whether a source that was disguised before may be.
        words: what is said of such a source.
    """
    folder = _folder(goal)
    _refuse_second(folder, goal)
    record, before = Record(), state(place)
    original = Original(place, before, of_bytes(place, record.key), answers(record.key))
    wanted = Claim(original.bytes, original.answers, _told(goal), str(folder.absolute()), terms, epsilon)
    with held(folder):
        try:
            _refuse_second(folder, goal)  # another program may have finished meanwhile
            with record.alone():
                name, claim = _claimed(record, folder, goal, original, wanted, again=again, words=words)
        except BaseException:
            with suppress(OSError):
                folder.rmdir()  # only if nothing is in it
            raise
        job = Job(folder, goal, original, record, name, claim)
        try:
            yield job
        except BaseException:
            if not _shown(folder):
                with record.alone():
                    record.withdraw(name)
                _clear(folder)
            raise
        job.deliver()


def refuse_second(goal: Path | Object) -> None:
    """Refuse a target that is there."""
    if goal.exists() or (isinstance(goal, Path) and goal.is_symlink()):
        raise PrivacyError(
            f"{goal} is already there. Disguising the same people a second time would spend their epsilon a second "
            f"time: what the two disguises tell adds up. If these are other people, choose another name",
            file=str(goal),
        )


def _refuse_second(folder: Path, goal: Path | Object) -> None:
    """Refuse a target that is there, with nothing left to say by what run: what says so goes last."""
    if not (folder / _JOB).exists():
        try:
            refuse_second(goal)
        except PrivacyError:
            with suppress(OSError):
                folder.rmdir()  # all that a killed run has left
            raise


def _folder(goal: Path | Object) -> Path:
    """Where unfinished work lies: beside a file; for an object in the current folder, under a name of its address."""
    if isinstance(goal, Path):
        return goal.with_name(goal.name + FOLDER)
    return Path(f"{goal.name}.{hashlib.sha256(str(goal).encode()).hexdigest()[:8]}{FOLDER}")


def _told(goal: Path | Object) -> str:
    return str(goal.absolute() if isinstance(goal, Path) else goal)


# -- claiming ----------------------------------------------------------------------------------------------------------


def _claimed(
    record: Record, folder: Path, goal: Path | Object, original: Original, wanted: Claim, *, again: bool, words: Words
) -> tuple[str, Claim]:
    """The claim that this folder was begun with, if it says the same; else a new one."""
    claims = record.claims()
    begun = _begun(folder)
    found = claims.get(begun or "")
    # Done, and nothing of it here any more: what is left is the claim, which bars the source.
    moved = found is not None and found.is_done and not goal.exists() and not _wholes(folder)
    if begun is not None and not moved and (_shown(folder) or (found is not None and found.is_done)):
        if found is None:
            raise PrivacyError(
                f"{folder} holds an unfinished run that the record in {record.folder} knows nothing of. Run it again "
                f"on the account where it was begun; or, if nobody has seen it, delete that folder",
                folder=str(folder),
            )
        if other := _differences(found, wanted):
            raise _other_terms(folder, other)
        return begun, found
    if begun is not None and not moved:  # it has shown nothing
        record.withdraw(begun)
        claims.pop(begun, None)
    _clear(folder, keep=True)
    before = [claim for claim in claims.values() if _is_same(claim, original)]
    if before:
        note = _together(before, original, wanted.epsilon, words)
        if not again:
            raise _second(original, before, note, words)
        wanted = msgspec.structs.replace(wanted, note=note)
    name = secrets.token_hex(8)
    marker = msgspec.json.encode(_Marker(name))
    write_whole(folder / _JOB, lambda place: place.write_bytes(marker))
    record.write(name, wanted)
    return name, wanted


def _is_same(claim: Claim, original: Original) -> bool:
    return claim.source == original.bytes or bool({*claim.answers} & {*original.answers} - {""})


def _begun(folder: Path) -> str | None:
    """The claim that a folder belongs to."""
    place = folder / _JOB
    if not place.exists():
        if found := [each for each in sorted(folder.iterdir()) if _OURS.fullmatch(each.name)]:
            raise InputError(
                f"{folder} holds {listed([each.name for each in found[:_TOLD]])}, and {_JOB} is gone, which says of "
                f"what run. Nothing is written over or deleted that may be yours: bring {_JOB} back, move these files "
                f"away, or choose another name for the reports",
                file=str(place),
            )
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=_Marker).claim
    except msgspec.DecodeError as error:
        raise InputError(f"{place} cannot be read: {error}", file=str(place)) from None


def _shown(folder: Path) -> bool:
    """Whether a row's disguise can be read here, or could before it was given its name."""
    return any(place.suffix == KEY for place in _parts(folder)) or bool(_wholes(folder))


def _differences(begun: Claim, now: Claim) -> list[str]:
    words = {
        "the table as it was before it changed, or another one": begun.source == now.source,
        "another domain, design or epsilon": begun.terms.design == now.terms.design,
        "other kept columns": begun.terms.keep == now.terms.keep,
        "another statement": begun.terms.notes == now.terms.notes,
    }
    return [told for told, same in words.items() if not same]


def _other_terms(folder: Path, other: list[str]) -> PrivacyError:
    return PrivacyError(
        f"{folder} holds an unfinished run with {' and '.join(other)}. Its finished rows must not be disguised again "
        f"under other terms. Run it again as it was begun; or, if nobody has seen them, delete that folder and say "
        f"--again (again=True)",
        folder=str(folder),
    )


def _together(before: list[Claim], original: Original, epsilon: float, words: Words) -> str:
    total = rounded_up(math.fsum([epsilon, *(claim.epsilon for claim in before)]))
    times = "once" if len(before) == 1 else f"{len(before)} times"
    is_file = all(claim.source == original.bytes for claim in before)
    what = "The same file was" if is_file else words.same
    return f"{what} disguised {times} before; together these disguises tell epsilon {total} {words.unit}."


def _second(original: Original, before: list[Claim], note: str, words: Words) -> PrivacyError:
    alike = all(claim.source != original.bytes for claim in before)
    known = words.alike if alike else "was"
    others = words.others if alike else "If"
    begun = [claim for claim in before if not claim.is_done and (Path(claim.folder) / _JOB).exists()]
    finish = f" The run in {begun[0].folder} is unfinished; run again as it was begun, it goes on." if begun else ""
    return PrivacyError(
        f"{original.place} {known} disguised before, into {listed([claim.target for claim in before])}, and what two "
        f"disguises of the same people tell adds up. {note}{finish} {others} you mean it, say --again "
        f"(again=True), and the statement says that sum",
        file=str(original.place),
    )


# -- what lies in the folder -------------------------------------------------------------------------------------------


def _parts(folder: Path) -> list[Path]:
    """The files of parts that a run has put here, each after the one before; a gap is where it came to."""
    every = ((folder / _PART.format(number)).with_suffix for number in count())
    files = ([place for ending in (SEALED, KEY) if (place := named(ending)).exists()] for named in every)
    return [place for these in takewhile(bool, files) for place in these]


def _wholes(folder: Path) -> list[Path]:
    """The file of reports before it has its name; its ending is the target's."""
    return [place for place in folder.glob(f"{_WHOLE}*") if place.stem == _WHOLE]


def _drafts(folder: Path) -> list[Path]:
    """What a killed run leaves of a file that it did not finish (`publish`, `write_whole`)."""
    return [place for place in folder.glob(".*.unfinished*") if _DRAFT.fullmatch(place.name)]


def _clear(folder: Path, *, keep: bool = False) -> None:
    """Remove what runs have put here, and the folder unless somebody else put something; the description goes last."""
    if (folder / _JOB).exists():
        # The last part first: of a run that is killed meanwhile, parts without a gap remain, which the next one finds.
        parts = sorted(_parts(folder), key=lambda place: place.stem, reverse=True)
        for left in (*parts, *_wholes(folder), *_drafts(folder), folder / _JOB):
            left.unlink()
    if not keep:
        with suppress(OSError):
            folder.rmdir()
