"""The device room needs no array library: a whole answer, and every kind of channel, where none can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VECTORS = Path(__file__).parent.parent / "vectors"

PROGRAM = """
import hashlib, json, sys
for name in ("numpy", "scipy", "pyarrow", "pandas", "narwhals", "matplotlib"):
    sys.modules[name] = None  # importing it fails
from deniable.device.client import Client
from deniable.device.channels import KINDS, kind_from_dict
from deniable.device.protocol.http_transport import Response

vector = json.load(open(sys.argv[1] + "/forms.json"))[0]
design = {**json.loads(vector["design"]), "admission": "open", "issuer": None}
served = json.dumps(design, sort_keys=True, separators=(",", ":"))
name = hashlib.sha256(served.encode()).hexdigest()
received = []

class Server:
    def request(self, method, path, body=None, *, most):
        if method == "POST":
            received.append(json.loads(body))
            return Response(204, b"", stored=True)
        found = {"survey": json.dumps({"version": 2, "design": name}), "forms": vector["body"]}
        return Response(200, found.get(path.split("/")[2], served).encode())

client = Client(design["audience"][0], transport=Server())
answers = {"drinks": 3, "drives": "yes", "age": "18 and older", "wave": 1}
assert client.answer(answers, public=["age", "wave"]).delivered
assert [report["design"] for report in received] == [name]
for vector in json.load(open(sys.argv[1] + "/outcomes.json")):
    kind = kind_from_dict(vector["channel"])
    kind.check("question")
    kind.check_told("question")
    for truth, draws, report in vector["outcomes"][:20]:
        left = iter(draws)
        assert kind.disguise(truth, lambda _bits: next(left)) == report
"""


def test_a_survey_is_answered_where_there_is_no_numpy():
    command = [sys.executable, "-c", PROGRAM, str(VECTORS)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
