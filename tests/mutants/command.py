"""`make mutants`: tries every mutant of every module in the table, shows what goes on and keeps what was found.

What became of each mutant is written down at once, under `build/mutants`; interrupted and started again, it goes on
behind the last one, as long as neither the module nor its tests have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.mutation import Mutant, mutants, mutated
from mutants.table import SUBJECTS, Subject
from mutants.trial import Fate, Timed, fate, place_of, start, watched

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = "deniable"
MOST = 100  # mutants a module
ALLOWED = 0.05  # a module with this share of survivors, or more, fails
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


def main(arguments: Sequence[str]) -> int:
    """Try the named modules, or all of them; 1 when too much survives."""
    options = _options(arguments)
    failed = []
    for name in options.modules or SUBJECTS:
        run = Run(name, SUBJECTS[name], options.folder, options.most)
        run.go(options.workers, only_survivors=options.survivors)
        _tell(run.summary())
        if run.share >= ALLOWED:
            failed.append(name)
    if failed:
        _tell(f"{ALLOWED:.0%} or more survive in {', '.join(failed)}")
    return 1 if failed else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*SUBJECTS, []], metavar="module", help=", ".join(SUBJECTS))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutants tried at once")
    parser.add_argument("--most", type=int, default=MOST, help="mutants of a module")
    parser.add_argument("--survivors", action="store_true", help="try again only those that survived the last time")
    parser.add_argument("--folder", type=Path, default=Path("build/mutants"), help="where the log is kept")
    return parser.parse_args(arguments)


def chosen(source: str, name: str, most: int) -> list[Mutant]:
    """The mutants of a module that are tried: always the same, and a change elsewhere in it moves none of them."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(repr((SEED, name, mutant.key)).encode()).digest()

    return sorted(sorted(mutants(source), key=rank)[:most], key=lambda mutant: (mutant.node, mutant.variant))


def equivalents(place: Path = EQUIVALENT) -> dict[str, dict[tuple[str, str, str], str]]:
    """Mutants that change nothing, by module, with the reason."""
    read = tomllib.loads(place.read_text(encoding="utf-8"))
    return {
        name: {(one["where"], one["before"], one["after"]): one["reason"] for one in listed}
        for name, listed in read.items()
    }


class Run:
    """The mutants of one module, and what became of them."""

    def __init__(self, name: str, subject: Subject, folder: Path, most: int = MOST, listed: Path = EQUIVALENT) -> None:
        self.name, self.subject = name, subject
        self.source = place_of(subject.module).read_text(encoding="utf-8")
        self._folder, self._log = folder, folder / f"{name}.jsonl"
        picked = chosen(self.source, name, most)
        known = equivalents(listed).get(name, {})
        self.equivalent = [mutant for mutant in picked if mutant.key in known]
        self.tried = [mutant for mutant in picked if mutant.key not in known]
        self.fates: dict[tuple[str, str, str], str | None] = {}

    @property
    def survivors(self) -> list[Mutant]:
        """Those that no test noticed."""
        return [mutant for mutant in self.tried if self.fates.get(mutant.key, "") is None]

    @property
    def share(self) -> float:
        """How many of those that change something survive."""
        return len(self.survivors) / max(len(self.tried), 1)

    def go(self, workers: int, *, only_survivors: bool = False) -> None:
        """Try what was not tried yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._take_up(only_survivors=only_survivors)
        waiting = [mutant for mutant in self.tried if mutant.key not in self.fates]
        if not waiting:
            return
        _tell(f"{self.name}: running its tests as it is")
        tests = sorted(watched(self.subject, self._folder / f"{self.name}-whole"), key=lambda test: test.seconds)
        _tell(f"{self.name}: {len(tests)} tests, {sum(t.seconds for t in tests):.0f} s; {len(waiting)} mutants to try")
        self._try_all(waiting, tests, workers)

    def _try_all(self, waiting: list[Mutant], tests: list[Timed], workers: int) -> None:
        running: dict[int, tuple[Mutant, Path, float]] = {}
        while waiting or running:
            while waiting and len(running) < workers:
                mutant = waiting.pop(0)
                its = _touching(mutant, tests)
                if not its:
                    self._note(mutant, Fate(None, 0.0))
                    continue
                folder = self._folder / f"{self.name}-{mutant.node}-{mutant.variant}"
                child = start(self.subject, mutated(self.source, mutant), its, folder)
                running[child] = (mutant, folder, time.monotonic())
            if running:
                child, status = os.wait()
                mutant, folder, begun = running.pop(child)
                self._note(mutant, fate(child, status, folder, time.monotonic() - begun))
        shutil.rmtree(self._folder / f"{self.name}-whole", ignore_errors=True)

    def _note(self, mutant: Mutant, found: Fate) -> None:
        self.fates[mutant.key] = found.noticed_by
        line = {"mutant": mutant.key, "noticed_by": found.noticed_by, "seconds": round(found.seconds, 1)}
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        told = f"{self.name}: {len(self.fates)} of {len(self.tried)} tried, {len(self.survivors)} survived"
        _tell(told, end="\r" if sys.stdout.isatty() else "\n")

    def _take_up(self, *, only_survivors: bool) -> None:
        """Read what an earlier run found, if it was about the same module and the same tests."""
        changed = [place_of(self.subject.module), Path(__file__).parent / "mutation.py"]
        now = {"module": _hash(changed), "tests": _hash(map(Path, self.subject.tests))}
        lines = [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []
        kept = []
        if lines and lines[0]["module"] == now["module"]:
            kept = [line for line in lines[1:] if not only_survivors or line["noticed_by"] is not None]
            if lines[0]["tests"] != now["tests"] and not only_survivors:
                kept = []
        self._log.write_text("".join(json.dumps(line) + "\n" for line in [now, *kept]), encoding="utf-8")
        self.fates = {tuple(line["mutant"]): line["noticed_by"] for line in kept}

    def summary(self) -> str:
        """One line, and one for every survivor."""
        shown = [
            f"  {mutant.where}, line {mutant.lines[0] if mutant.lines else 'of the module'}:\n"
            f"    - {mutant.before}\n    + {mutant.after}"
            for mutant in self.survivors
        ]
        told = f"{self.name}: {len(self.tried)} mutants tried, {len(self.equivalent)} change nothing"
        return "\n".join([f"{told}, {len(self.survivors)} survived ({self.share:.1%})", *shown])


def _tell(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def _touching(mutant: Mutant, tests: list[Timed]) -> list[Timed]:
    """The tests that run the changed lines, quickest first; what runs when the module is loaded touches all."""
    if mutant.lines is None:
        return tests
    first, last = mutant.lines
    return [test for test in tests if any(first <= line <= last for line in test.lines)]


def _hash(places: object) -> str:
    digest = hashlib.sha256()
    for place in places:
        found = Path(str(place).partition("::")[0])
        files = sorted(found.rglob("*.py")) if found.is_dir() else [found]
        for file in files:
            digest.update(file.read_bytes())
    return digest.hexdigest()
