"""New axes have the package's style and leave every other setting alone."""

from __future__ import annotations

import matplotlib.pyplot as plt

from deniable.plotting import axes


def test_the_first_figure_leaves_on_what_loading_the_back_end_turned_on(monkeypatch):
    """In a notebook the back end is loaded with the first figure and turns drawing on, which must stay on."""
    made = plt.subplots

    def loading(*arguments, **options):
        plt.rcParams["interactive"] = True
        return made(*arguments, **options)

    before = plt.rcParams["interactive"]
    monkeypatch.setattr(plt, "subplots", loading)
    try:
        sizes = plt.rcParams["font.size"]
        axes()
        assert plt.rcParams["interactive"]
        assert plt.rcParams["font.size"] == sizes
    finally:
        plt.rcParams["interactive"] = before
        plt.close("all")
