"""The picture of a finding: one panel of the size of a card, stored under the name that the front page asks for."""

import matplotlib

matplotlib.use("Agg")

from lmc_helpers import figures
from lmc_helpers.figures import cards


def test_a_card_is_small_and_in_the_book_s_style(monkeypatch):
    figure, axes = figures.card()
    assert figure.axes == [axes] and figure.get_size_inches().max() < 4
    assert figure.dpi == 160 and not axes.spines["top"].get_visible()
    kept = []
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: kept.append((name, value, display)))
    figure, _ = figures.card()
    figures.keep(figure)
    assert kept == [(cards.NAME, figure, False)]
