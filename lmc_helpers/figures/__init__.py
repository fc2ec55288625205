"""One look for every figure: panels, error bars, the glue to captions and prose, and surfaces that a reader can turn.

:mod:`~lmc_helpers.figures.style` draws and stores figures, ``book.mplstyle`` is their style, and
:mod:`~lmc_helpers.figures.turntable` makes surfaces that turn.
"""

from lmc_helpers.figures.style import BAND, COLOURS, band, legend, numbers, panels, show

__all__ = ["BAND", "COLOURS", "band", "legend", "numbers", "panels", "show"]
