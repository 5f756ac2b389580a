"""Every command that takes a file, and every public function that reads one, given each file nobody should be sent.

An error of ours and its exit code, on a line, within 3 GB of addresses: no traceback, and nothing grows with what a
file claims. A new command, a new option that takes a file and a new public reader fail here until they are named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click

import deniable as dn
from deniable.cli.app import app
from deniable.cli.terminal import Local, _Place

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)

from bombs import BOMBS  # noqa: E402

REPORTS = (".csv", ".parquet", ".sav", ".dta", ".sqlite")
TABLES = (".csv", ".parquet")
NEW = ("--epsilon", "1", "-o", "out.parquet")
# Of each command, the calls that read a file `{}`, and which kinds of files it may be.
CALLS = {
    "plan": [((".toml",), ("{}", "--n", "100", "--epsilon", "1")), ((".toml",), ("{}", "--n", "9", "-o", "s.toml"))],
    "compare": [
        (TABLES, ("{}", "--domain", "domain.toml", "--epsilon", "1", "--design", "joint", "--repeats", "2")),
        ((".toml",), ("people.csv", "--domain", "{}", "--epsilon", "1", "--design", "joint", "--repeats", "2")),
    ],
    "serve": [((".toml",), ("{}", "--data", "data"))],
    "close": [((".toml",), ("{}", "--data", "data"))],
    "delete": [((".toml",), ("{}", "--data", "data"))],
    "invite": [((".toml",), ("{}", "--n", "2", "--url", "https://a.example", "--data", "data"))],
    "issuer": [((".toml",), ("{}", "--data", "data"))],
    "new": [((".json", ".xlsx"), ("--from", "{}", "-o", "s.toml"))],
    "randomize": [
        (TABLES, ("{}", "--domain", "domain.toml", *NEW)),
        (TABLES, ("{}", "--infer-domain", *NEW)),
        (TABLES, ("{}", "--domain", "domain.toml", *NEW, "--design", "blocks", "--k", "1")),
        ((".toml",), ("people.csv", "--domain", "{}", *NEW)),
    ],
    "estimate": [(REPORTS, ("{}",)), ((".toml",), ("reports.parquet", "--words", "{}"))],
    "test": [(REPORTS, ("{}", "a", "b"))],
    "clusters": [(REPORTS, ("{}",))],
    "synthesize": [(REPORTS, ("{}", "-o", "s.csv"))],
    "report": [(REPORTS, ("{}", "-o", "r.html")), ((".toml",), ("{}", "--methods", "-o", "m.md"))],
    "export": [(REPORTS, ("{}", "-o", "e.csv"))],
    "audit": [((".json", ".parquet"), ("{}",))],
    "verify": [((".json", ".sqlite"), ("{}",))],
    "backup": [((".sqlite",), ("{}", "b.sqlite"))],
    "graph": [
        ((".npz", ".edges"), ("{}",)),
        ((".npz", ".edges"), ("{}", "--epsilon", "1", "-o", "g.npz")),
        ((".edges",), ("friends.edges", "--nodes", "{}", "--epsilon", "1", "-o", "g.npz")),
        ((".edges",), ("{}", "--row", "ann", "--nodes", "friends.edges", "--epsilon", "1", "-o", "r.json")),
        ((".json",), ("{}", "--rows", "--nodes", "friends.edges", "-o", "g.npz")),
    ],
}
READ_NOTHING = {
    "demo": "its survey comes with it",
    "simulate": "a server's address",
    "verify-page": "a server's address",
}
# What is written, folders of the collector, and an option that all who print words share (`estimate` is called).
WRITES = {"output", "plot", "table", "data", "path", "page", "full", "folder", "file", "words"}
READERS = {
    "read_survey": (".toml",),
    "read_reports": REPORTS[:-1],
    "open_reports": REPORTS[:-1],
}
OTHERS = {"read_wanted"}  # a text
RAN = """
import json, os, resource, shutil, sys, traceback
from pathlib import Path

sys.path.insert(0, sys.argv[1])
every = json.loads(sys.argv[2])
from bombs import BOMBS
from click.testing import CliRunner
import pyarrow as pa
import deniable as dn
from deniable.cli.app import app

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
domain = {"a": ["no", "yes"], "b": ["no", "yes"]}
people = pa.table({"a": ["no", "yes"] * 50, "b": ["no", "yes"] * 50})
reports = dn.Joint(domain, epsilon=1.0).randomize(people, source=dn.Seeded(1))
reports.write("reports.parquet")
reports.write("reports.csv")
Path("domain.toml").write_text('a = ["no", "yes"]\\nb = ["no", "yes"]\\n')
Path("people.csv").write_text("a,b\\nno,yes\\nyes,no\\n")
Path("friends.edges").write_text("a b\\n")
there = set(os.listdir())
found = []
for kind, name, calls, readers in every:
    file = f"bomb{kind}"
    BOMBS[kind][name](Path(file))
    shutil.copy("reports.csv.design.json", f"{file}.design.json")
    for call in calls:
        print(kind, name, call, file=sys.stderr, flush=True)
        done = CliRunner().invoke(app, [part.replace("{}", file) for part in call])
        odd = done.exception is not None and not isinstance(done.exception, SystemExit)
        found.append((kind, name, call, done.exit_code, repr(done.exception)[:300] if odd else "", done.output))
        for left in set(os.listdir()) - there - {file, f"{file}.design.json"}:
            shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)
    for reader in readers:
        try:
            getattr(dn, reader)(file)
            found.append((kind, name, [reader], 0, "", ""))
        except dn.DeniableError as error:
            found.append((kind, name, [reader], error.exit_code, "", error.message))
        except Exception as error:
            found.append((kind, name, [reader], 1, repr(error)[:300], ""))
    os.remove(file)
Path("found.json").write_text(json.dumps(found))
"""


def test_every_command_that_reads_a_file_is_called():
    assert isinstance(app, click.Group)
    names = app.list_commands(click.Context(app))
    assert {*names} == {*CALLS, *READ_NOTHING}
    for name, calls in CALLS.items():
        command = app.get_command(click.Context(app), name)
        assert command is not None
        files = {p.name for p in command.params if isinstance(p.type, Local | _Place)} - WRITES
        assert len(files) <= len(calls), (name, files)


def test_every_public_reader_is_called():
    assert {name for name in dn.__all__ if name.startswith(("read_", "open_"))} == {*READERS, *OTHERS}


def asked():
    """Of each file, the calls and functions that read its kind."""
    for kind in BOMBS:
        calls = [[name, *call] for name, every in CALLS.items() for kinds, call in every if kind in kinds]
        readers = [name for name, kinds in READERS.items() if kind in kinds]
        yield from ((kind, bomb, calls, readers) for bomb in BOMBS[kind])


def test_every_file_that_nobody_should_be_sent_is_refused(tmp_path):
    every = list(asked())
    done = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", "-c", RAN, HERE, json.dumps(every)],
        cwd=tmp_path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(found) == sum(len(calls) + len(readers) for _, _, calls, readers in every)
    for kind, name, call, code, odd, told in found:
        where = (kind, name, call, code, told[-500:])
        assert not odd, (where, odd)
        assert "Traceback" not in told, where
        assert code in ((1, 3, 4, 5, 6) if call[0] == "verify" else (3, 4, 5, 6)), where
        assert len(told) < 2000, where
