"""Tables: axes by name, projections, products, and how they show themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.table import cramers_v, independent, marginals, product, tally
from deniable.errors import DesignError, InputError, UnknownCategoryError

DOMAIN = dn.Domain({"a": ["x", "y"], "b": [0, 1, 2], "c": ["p", "q"]})


@pytest.fixture
def table():
    return dn.Table(DOMAIN, np.arange(12.0))


def test_projection_sums_and_follows_the_order_of_the_names(table):
    assert table.project(["a"]).values.tolist() == table.values.sum(axis=(1, 2)).tolist()
    swapped = table.project(["c", "a"])
    assert swapped.attributes == ("c", "a")
    assert np.array_equal(swapped.values, table.values.sum(axis=1).T)
    cycled = table.project(["b", "c", "a"])
    assert np.array_equal(cycled.values, np.transpose(table.values, (1, 2, 0)))


def test_projections_compose(table):
    assert table.project(["c", "b"]).project("b").allclose(table.project("b"))


def test_tables_are_aligned_by_name_never_by_position(table):
    turned = table.project(["c", "a", "b"])
    assert (table + turned).allclose(table * 2)
    assert np.abs((table - turned).values).max() == 0
    assert table.allclose(turned)


def test_tables_with_other_attributes_or_categories_are_refused(table):
    with pytest.raises(DesignError, match="do not have the same attributes"):
        table + table.project(["a"])
    renamed = dn.Table(dn.Domain({"a": ["x", "z"]}), [1, 2])
    with pytest.raises(UnknownCategoryError, match="'x', 'y' here and 'x', 'z' there"):
        renamed * table.project("a")


def test_the_product_of_marginals_is_the_outer_product(table):
    a, b = table.project("a"), table.project("b")
    assert np.array_equal((b * a).values, np.outer(b.values, a.values))
    assert (a * b).allclose(b * a)
    parts = list(marginals(table.normalize(), 1))
    expected = np.einsum("i,j,k->ijk", *(part.values for part in parts))
    assert np.allclose(product(parts).values, expected)
    assert independent(table).total == pytest.approx(table.total)


def test_normalizing_nothing_is_refused():
    with pytest.raises(InputError, match="total 0"):
        dn.Table({"a": [0, 1]}, [0, 0]).normalize()


def test_a_wrong_shape_names_both_shapes():
    with pytest.raises(InputError, match=r"the shape \(2, 3, 2\); these have shape \(2, 2\)"):
        dn.Table(DOMAIN, [[1, 2], [3, 4]])


def test_cells_are_read_by_category(table):
    assert table.at(c="q", a="y", b=1) == table.values[1, 1, 1]
    with pytest.raises(InputError, match="name a category for each"):
        table.at(a="x")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_counting_a_frame_and_writing_it_back_stays_in_its_library(library):
    frame = library({"a": ["x", "y", "y"], "b": [0, 2, 2], "c": ["p", "q", "q"]})
    counted = dn.Table.count(frame, DOMAIN)
    assert counted.total == 3
    assert counted.at(a="y", b=2, c="q") == 2
    assert isinstance(counted.to_frame(), type(frame))
    assert isinstance(counted.project(["c", "a"]).to_frame(), type(frame))


def test_a_table_without_origin_becomes_pyarrow(table):
    frame = table.to_frame()
    assert isinstance(frame, pa.Table)
    assert frame.column_names == ["a", "b", "c", "value"]
    assert frame["value"].to_pylist() == list(range(12))


def test_tally_counts_every_cell_without_overflow():
    rng = np.random.default_rng(0)
    shape = (7, 200, 3)  # 4200 cells: keys overflow the codes' own type
    codes = np.stack([rng.integers(0, size, 5000) for size in shape], axis=1).astype(np.uint8)
    expected = np.zeros(shape)
    np.add.at(expected, tuple(codes.T), 1)
    assert np.array_equal(tally(codes, shape), expected)
    assert tally(np.full((3, 1), 255, np.uint8), (256,))[255] == 3


def test_cramers_v_is_what_the_synthesizer_says():
    # (1 - v) l l' + v diag(l) has Cramer's V exactly v, whatever l.
    share = np.array([0.5, 0.3, 0.15, 0.05])
    domain = dn.Domain({"a": range(4), "b": range(4)})
    for v in (0, 0.25, 1):
        joint = (1 - v) * np.outer(share, share) + v * np.diag(share)
        assert cramers_v(dn.Table(domain, joint)) == pytest.approx(v, abs=1e-12)


def test_a_table_shows_itself(table):
    assert repr(table) == "Table(a x b x c: 12 cells, total 66)"
    assert "value" in str(table)
    assert str(table).splitlines()[1].split() == ["x", "0", "p", "0.0000"]
    html = dn.Table({"<a>": ["<&>", "y"]}, [1, 2])._repr_html_()
    assert "&lt;&amp;&gt;" in html
    assert "<&>" not in html


def test_long_tables_are_cut_and_say_so():
    assert str(dn.Table({"a": range(100)}, np.ones(100))).endswith("... and 40 more rows")


@pytest.mark.parametrize("attributes", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_plots_label_every_cell(table, attributes):
    from matplotlib.figure import Figure

    part = table.project(attributes)
    ax = part.plot(Figure().subplots())
    ticks = [text.get_text() for text in ax.get_yticklabels()]
    if len(attributes) == 2:
        assert ticks == ["x", "y"]
        assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]
    else:
        assert len(ticks) == part.values.size


def test_an_attribute_may_be_called_like_a_result_column():
    table = dn.Table({"value": ["low", "high"]}, [0.25, 0.75])
    assert table.to_frame().to_pydict() == {"value": ["low", "high"], "value_": [0.25, 0.75]}
