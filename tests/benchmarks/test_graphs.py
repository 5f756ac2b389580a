from benchmarks.speed import graphs

SMALL = graphs.Size(nodes=2000, edges=5000, triangle_nodes=200, repetitions=40, error_repetitions=5)


def test_the_measurements_run_on_small_graphs():
    # How many seconds it takes is said by `make bench`, not here.
    assert all(claim.met for claim in graphs.measure_size(SMALL).claims if claim.unit != "s")
    assert graphs.measure_errors(SMALL).met
    variances = graphs.measure_variances(SMALL)
    ratios, errors = variances.rows["Monte Carlo / closed form"], variances.rows["its std error"]
    judged = [name in {"degree", "triangles"} for name in variances.rows["estimate"]]
    assert all(abs(r - 1) < 6 * e for r, e, j in zip(ratios, errors, judged, strict=True) if j)


def test_the_command_returns_its_verdict(monkeypatch, capsys):
    outcome = graphs.Measurement("t", {"a": [1]}, [graphs.Claim("c", 1.0, 2.0)])
    for name in ("measure_size", "measure_variances", "measure_errors"):
        monkeypatch.setattr(graphs, name, lambda _: outcome)
    assert graphs.main() == 1
    assert capsys.readouterr().out.count("NO") == 3


def test_a_random_graph_has_the_asked_size():
    assert len(graphs.random_graph(30, 400).pairs) == 400
