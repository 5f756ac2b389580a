"""What a checker must refuse. Behind each line stands what mypy has to call it; no other line may be called wrong."""

from __future__ import annotations

import deniable as dn
from deniable import no_such_thing  # wrong: attr-defined

domain = dn.Domain({"smokes": ["no", "yes"]})
reports = dn.read_reports("reports.parquet")
found = dn.estimate(reports, ["smokes"])

# Names that are not there.
dn.no_such_thing  # wrong: attr-defined
dn.import_module  # wrong: attr-defined
dn.joint(domain, epsilon=1.0)  # wrong: attr-defined
found.tabel  # wrong: attr-defined
found.plot().draw_me  # wrong: attr-defined
found.to_frame().group_by_everything()  # wrong: attr-defined
dn.estimate(reports, ["smokes"], by="region").table  # wrong: attr-defined
dn.prevalence([0, 1], dn.Warner(0.8), by=["a", "b"]).mle  # wrong: attr-defined
dn.independence(reports, "smokes", "sleep").p_value  # wrong: attr-defined

# Arguments that are not there, or are missing.
dn.Joint(domain, epslon=1)  # wrong: call-arg
dn.Joint()  # wrong: call-arg
dn.KRR(2, eps=1.0)  # wrong: call-arg
dn.independence(reports, "smokes", 5)  # wrong: arg-type
dn.plan(domain, epsilon=1.0, tabels=["smokes"], n=100)  # wrong: call-arg
dn.Client("http://127.0.0.1").answer({"smokes": "yes"}, publik=["region"])  # wrong: call-arg
dn.logit("y ~ x", None, chanel=dn.Warner(0.8))  # wrong: call-arg
dn.estimate(reports, ["smokes"], bye="region")  # wrong: call-overload

# Arguments of another kind.
dn.Joint(domain, epsilon="1.0")  # wrong: arg-type
dn.KRR("two", epsilon=1.0)  # wrong: arg-type
dn.Views(domain, answer="some")  # wrong: arg-type
dn.entropy(reports)  # wrong: arg-type
dn.Ledger([1.0])  # wrong: arg-type
dn.estimate(reports, ["smokes"], "likelihood")  # wrong: call-overload
dn.prevalence(7, dn.Warner(0.8))  # wrong: call-overload

# Results taken for something else.
epsilon: int = dn.KRR(2, epsilon=1.0).epsilon  # wrong: assignment
one: dn.Estimate = dn.estimate(reports, ["smokes"], by="region")  # wrong: assignment
dn.__version__ + 1  # wrong: operator
