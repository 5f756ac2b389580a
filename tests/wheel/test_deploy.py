"""The files under `deploy`: their scripts do what they say, and what they start can be started so.

The image itself is not built here, and no unit is started: what is checked are the lines, and every script they call.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

from deniable.cli.collect.serve import command as serve_command
from deniable.version import __version__

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def instructions():
    """(word, rest) of every line of the container file."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line and not line.startswith("#")]


def unit(name):
    found = configparser.RawConfigParser(strict=False, interpolation=None)
    found.optionxform = str
    found.read_string((DEPLOY / name).read_text(encoding="utf-8").replace("\\\n", " "))
    return found


def started(words):
    """What `deniable serve` makes of a command line; one that it does not know fails."""
    program, name, *arguments = words
    assert (program, name) == ("/opt/deniable/bin/deniable", "serve")
    return serve_command.make_context("serve", arguments).params


NOBODY = 65534


@pytest.fixture
def elsewhere():
    """An empty folder of another user, and how to run something as that user there; oneself, where one is not root."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-"))
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    folder.chmod(0o755)
    if other:
        os.chown(folder, NOBODY, NOBODY)

    def as_other(words, **options):
        return {"args": words, "cwd": folder, **other, **options}

    pythons = (sys.executable, "/usr/bin/python3")
    for python in pythons:  # root's own may be closed to others
        try:
            asked = subprocess.run(
                **as_other([python, "-c", "import sys; print(sys.version_info >= (3, 11))"]),
                capture_output=True,
                check=False,
            )
        except OSError:
            continue
        if asked.stdout.strip() == b"True":
            break
    else:
        pytest.fail(f"another user can run none of {pythons}")
    yield (
        folder,
        lambda words, **options: as_other(words, env={**os.environ, "HOME": str(folder), "PYTHON": python}, **options),
    )
    shutil.rmtree(folder)


@pytest.mark.slow
def test_every_run_line_calls_a_script_that_works_in_an_empty_folder_as_another_user(elsewhere, wheel):
    folder, as_other = elsewhere
    lines = [json.loads(rest) for word, rest in instructions() if word == "RUN"]
    assert [line[:2] for line in lines] == [["sh", "-c"]]
    for source in (rest.split()[0] for word, rest in instructions() if word == "COPY" and "--from" not in rest):
        for path in [wheel] if source.startswith("dist/") else [ROOT / source]:
            place = folder / (f"dist/{path.name}" if path == wheel else source)
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place)
            place.chmod(0o755)
    for *shell, line in lines:
        assert (folder / line.split()[0]).parent == folder / "deploy"
        here = line.replace("/opt/deniable", "environment").replace(" /data", " data")
        done = subprocess.run(**as_other([*shell, here]), check=False, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"deniable {__version__}\n"), done.stderr
    assert (folder / "data").stat().st_mode & 0o777 == 0o700
    assert os.geteuid() != 0 or (folder / "data").stat().st_uid == NOBODY
    program = folder / "environment" / "bin" / "deniable"
    subprocess.run(**as_other([program, "new", "survey.toml"]), check=True, capture_output=True)
    command = [program, "serve", "survey.toml", "--port", "0", "--data", "data"]
    with subprocess.Popen(**as_other(command), stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().rpartition(":")[2].strip()
            assert subprocess.run([sys.executable, DEPLOY / "health", port], check=False).returncode == 0
        finally:
            server.terminate()
            server.communicate()


def test_the_installing_script_says_what_is_missing(tmp_path):
    for arguments, status, told in (
        ([], 2, "usage:"),
        (["no.whl", "no.lock", "env", "data"], 1, "no.whl is not there"),
    ):
        done = subprocess.run(
            [DEPLOY / "install", *arguments], check=False, cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.returncode, told in done.stderr) == (status, True)
    assert list(tmp_path.iterdir()) == []


def test_the_health_check_tells_whether_reports_can_be_stored(collector):
    def asked(port):
        return subprocess.run([sys.executable, DEPLOY / "health", str(port)], check=False, capture_output=True)

    assert asked(collector.url.rpartition(":")[2]).returncode == 0
    with socket.socket() as nobody:  # bound, and does not listen
        nobody.bind(("127.0.0.1", 0))
        away = asked(nobody.getsockname()[1])
    assert (away.returncode, away.stderr.startswith(b"not ready: ")) == (1, True)


def test_the_container_runs_as_nobody_in_particular_and_is_asked_whether_it_is_well():
    words = [word for word, _ in instructions()]
    last = dict(instructions())
    assert set(words) <= {
        "FROM",
        "WORKDIR",
        "COPY",
        "ENV",
        "RUN",
        "USER",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "ENTRYPOINT",
    }
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    assert "RUN" not in words[words.index("USER") :]
    assert all(re.match(r"\S+:\d", rest) for word, rest in instructions() if word == "FROM")  # never "latest"
    assert json.loads(last["HEALTHCHECK"].partition("CMD ")[2]) == [
        "/opt/deniable/bin/python",
        "/opt/deniable/bin/health",
    ]
    assert json.loads(last["VOLUME"]) == ["/data"]
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest and not rest.startswith("dist/"):
            assert (ROOT / rest.split()[0]).is_file()


def test_what_is_composed_is_read_only_and_starts():
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]["collector"]
    assert (service["read_only"], service["cap_drop"], service["tmpfs"]) == (True, ["ALL"], ["/tmp"])  # noqa: S108
    assert service["user"] == dict(instructions())["USER"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    params = started([*json.loads(dict(instructions())["ENTRYPOINT"]), *service["command"]])
    assert (params["host"], params["data"], params["urls"]) == (
        "0.0.0.0", Path("/data"), ("https://survey.example.org",)  # noqa: S104 - of the container
    )  # fmt: skip


def test_the_first_start_and_what_is_composed_have_the_same_survey_and_the_same_volume():
    page = (ROOT / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^docker run .+$", page, re.MULTILINE)
    words = shlex.split(line)
    by_hand = [words[at + 1] for at, word in enumerate(words) if word == "-v"]
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    service = composed["services"]["collector"]

    def mounts(told, folder):
        """By path inside: what is there, a folder of this machine or a volume, and how."""
        parts = [one.split(":") for one in told]
        return {to: (str((folder / what).resolve()) if "/" in what else what, *how) for what, to, *how in parts}

    assert mounts(by_hand, ROOT) == mounts(service["volumes"], DEPLOY)  # the page is read at the top of the repository
    # Its name is not changed by that of a project, and nobody but the first start makes it: it shows the token.
    assert composed["volumes"] == {"deniable-data": {"external": True}}
    assert words[words.index("deniable") + 1 :] == service["command"]


def test_the_service_is_handed_its_socket_and_may_write_nowhere_else():
    service, port = unit("deniable.service"), unit("deniable.socket")["Socket"]["ListenStream"]
    params = started(shlex.split(service["Service"]["ExecStart"]))
    assert port == f"{params['host']}:{params['port']}"
    assert params["data"] == Path("/var/lib") / service["Service"]["StateDirectory"]
    assert "deniable.socket" in service["Unit"]["Requires"]
    wanted = {"User": "deniable", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "",
              "StandardOutput": "null", "KillMode": "mixed"}  # fmt: skip
    assert {name: service["Service"][name] for name in wanted} == wanted
    assert "ExecReload" not in service["Service"]  # one process would end
