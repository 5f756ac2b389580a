import numpy as np
import pandas as pd
import polars as pl
import pytest

import deniable as dn
from deniable.errors import InputError, MissingValueError, TooFewReportsError


def test_direct_columns_give_pearsons_r(survey):
    found = dn.correlate(survey, "age", "y", channels={})
    assert found.value == pytest.approx(np.corrcoef(survey.age, survey.y)[0, 1], rel=1e-12)


def test_two_disguised_answers_on_the_whole_population():
    # Every combination of reports, weighted by its probability: the estimate is then exactly the truth's correlation.
    first, second = dn.Warner(0.8), dn.KRR(3, epsilon=1.5)
    joint = np.array([[0.3, 0.2, 0.1], [0.05, 0.1, 0.25]])
    lam = first.matrix() @ joint @ second.matrix().T
    counts = np.rint(lam * 200_000).astype(int)
    rows = np.repeat(np.arange(6), counts.ravel())
    frame = pd.DataFrame({"x": rows // 3, "y": rows % 3})
    found = dn.correlate(pl.from_pandas(frame), "x", "y", channels={"x": first, "y": second})
    x, y = np.array([0, 1]), np.array([0, 1, 2])
    px, py = joint.sum(axis=1), joint.sum(axis=0)
    cov = x @ joint @ y - (px @ x) * (py @ y)
    truth = cov / np.sqrt((px @ x**2 - (px @ x) ** 2) * (py @ y**2 - (py @ y) ** 2))
    assert found.value == pytest.approx(truth, abs=1e-4)


def test_standard_errors_and_intervals_by_simulation():
    # 200 samples: the actual spread is known to 5%, so 30% is beyond 5 of these either way; coverage binomial, 3e-7.
    rng, device, values, errors, hits = np.random.default_rng(1), dn.Warner(0.8), [], [], []
    truth_r = 0.5 * np.sqrt(0.3 * 0.7) / np.sqrt(0.25 * 0.3 * 0.7 + 1)
    for seed in range(200):
        x = (rng.random(1500) < 0.3).astype(int)
        y = 0.5 * x + rng.normal(size=1500)
        frame = pd.DataFrame({"x": device.randomize(x, source=dn.Seeded(seed)), "y": y})
        found = dn.correlate(frame, "x", "y", channels={"x": device})
        values.append(found.value)
        errors.append(found.std_error)
        hits.append(bool(found.interval().contains(truth_r)))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.3)
    assert abs(np.mean(values) - truth_r) < 5.5 * np.std(values) / np.sqrt(200)
    assert np.sum(hits) > 171


def test_how_it_shows_itself_and_what_it_refuses(survey):
    device = dn.Warner(0.55)
    few = pd.DataFrame({"x": [0, 1, 1, 1, 0, 1], "y": [0.0, 1, 2, 1, 0, 2]})
    beyond = dn.correlate(few.iloc[[0, 1, 2, 3] * 3], "x", "y", channels={"x": dn.Warner(0.8)})
    assert beyond.value > 1
    assert "outside [-1, 1]" in str(beyond)
    assert beyond.interval().method == "Wald"
    assert "correlation" in beyond._repr_html_()
    with pytest.raises(TooFewReportsError, match="not positive"):
        dn.correlate(pd.DataFrame({"x": [1] * 9, "y": range(9)}), "x", "y", channels={"x": device})
    with pytest.raises(TooFewReportsError):
        dn.correlate(few.iloc[:3], "x", "y", channels={})
    with pytest.raises(InputError, match="not correlated"):
        dn.correlate(few, "x", "y", channels={"z": device})
    with pytest.raises(InputError, match="numbers"):
        dn.correlate(survey, "sex", "y", channels={})
    with pytest.raises(MissingValueError):
        dn.correlate(few.assign(y=[np.nan] * 6), "x", "y", channels={})


def test_the_error_is_that_of_the_five_means():
    rng, device = np.random.default_rng(2), dn.Warner(0.8)
    x = (rng.random(800) < 0.4).astype(int)
    y = x + rng.normal(size=800)
    said = device.randomize(x, source=dn.Seeded(2))
    found = dn.correlate(pd.DataFrame({"x": said, "y": y}), "x", "y", channels={"x": device})
    z = (said - 0.2) / 0.6  # the score of Warner's device; of a yes or no the square is the same
    five = np.stack([z, y, z * y, z, y**2])
    (ex, ey, exy, exx, eyy), spread = five.mean(axis=1), np.cov(five) / 800
    vx, vy = exx - ex**2, eyy - ey**2
    r, root = (exy - ex * ey) / np.sqrt(vx * vy), np.sqrt(vx * vy)
    slopes = [-ey / root + r * ex / vx, -ex / root + r * ey / vy, 1 / root, -r / (2 * vx), -r / (2 * vy)]
    assert found.value == pytest.approx(r, rel=1e-10)
    assert found.std_error == pytest.approx(np.sqrt(slopes @ spread @ slopes), rel=1e-10)


def test_weights_repeat_and_clusters_widen():
    rng, design = np.random.default_rng(3), dn.Joint({"a": [0, 1], "b": [0, 1]}, 3.0)
    village = np.repeat(np.arange(30), 20)
    lean = (0.2 + 0.6 * rng.random(30))[village]
    people = pd.DataFrame({name: (rng.random(600) < lean).astype(int) for name in "ab"}).assign(village=village)
    reports = design.randomize(people, keep=["village"], source=dn.Seeded(3))
    plain, even = dn.correlate(reports, "a", "b"), dn.correlate(reports, "a", "b", weights=np.full(600, 2.0))
    assert even.value == pytest.approx(plain.value, rel=1e-10)
    assert even.std_error == pytest.approx(plain.std_error, rel=1e-10)
    often = rng.integers(1, 3, 600)
    weighted = dn.correlate(reports, "a", "b", weights=often)
    table = dn.correlation(dn.estimate(reports, ["a", "b"], weights=often))
    assert weighted.value == pytest.approx(table.value, abs=1e-6)
    assert weighted.std_error == pytest.approx(table.std_error, rel=1e-3)
    clustered = dn.correlate(reports, "a", "b", clusters="village")
    assert clustered.std_error > plain.std_error
    assert clustered.freedom == 29


def test_reports_need_no_channels_and_something_disguised():
    design = dn.Joint({"a": [0, 1], "b": [0, 1]}, 3.0)
    people = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 1] * 20, "z": [0, 1] * 20, "w": [0, 1] * 20})
    reports = design.randomize(people, keep=["z", "w"], source=dn.Seeded(1))
    with pytest.raises(InputError, match="leave channels= out"):
        dn.correlate(reports, "a", "b", channels={"a": dn.Warner(0.8)})
    with pytest.raises(InputError, match="as a frame"):
        dn.correlate(reports, "z", "w")
